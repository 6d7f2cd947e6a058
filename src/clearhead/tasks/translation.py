"""Translation: a text sentence by sentence, with every space and line break where it was."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from clearhead.decoding import DecodingSettings
from clearhead.engine import Request
from clearhead.tasks.language_pairs import Instruction, instruction
from clearhead.tasks.loaded import Loaded
from clearhead.tasks.options import settings_of
from clearhead.tasks.sources import source_ids, source_pieces
from clearhead.tasks.written import Written, as_written, check_texts, joined
from clearhead.text.sentences import Segment, join_segments, split_sentences

USUAL = {"beams": 4}


@dataclass(frozen=True, kw_only=True)
class Translation:
    """A text in another language.

    Attributes:
        text: The translation, with the white space of the original.
        alternatives: The whole text in the ways that were asked for, the best first; the best alone where the text
            has several sentences; none where it has nothing to translate.
        sentences: The best translation of each sentence.
    """

    text: str
    alternatives: tuple[Written, ...]
    sentences: tuple[Written, ...]


def translate(
    loaded: Loaded, texts: Sequence[str], *, to: str | None = None, source: str | None = None, **options: Any
) -> list[Translation]:
    """Translates texts, all their sentences in common batches.

    A sentence that is longer than the model's context is divided between words. A text of white space alone
    stays as it is.

    Args:
        loaded: The model.
        texts: The texts.
        to: The language to write, by code or English name; None for the only one that the model writes.
        source: The language of the texts; None for the one that the model expects.
        **options: How to decode, by the names of DecodingSettings.

    Raises:
        ConfigError: A model that does not translate.
        TextError: A language that it does not know.
    """
    loaded.require("translate")
    texts = check_texts(texts)
    told = instruction(loaded, to=to, source=source)
    settings = settings_of(loaded, usual=USUAL, asked=options, tasks=told.tasks)
    segments = [split_sentences(text) for text in texts]
    sentences = [segment.text for parts in segments for segment in parts if segment.is_sentence]
    pieces = _pieces(loaded, sentences, told)
    written = iter(_written(loaded, [piece for several in pieces for piece in several], told, settings))
    results = [[next(written) for _ in several] for several in pieces]
    rest = iter(results)
    return [_assembled(parts, [next(rest) for segment in parts if segment.is_sentence]) for parts in segments]


def _pieces(loaded: Loaded, sentences: Sequence[str], told: Instruction) -> list[list[str]]:
    """Each sentence, or its pieces where it is too long."""
    ids = source_ids(loaded, sentences, prefix=told.prefix, tag=told.tag)
    return [
        source_pieces(loaded, sentence, found, prefix=told.prefix, tag=told.tag)
        for sentence, found in zip(sentences, ids, strict=True)
    ]


def _written(
    loaded: Loaded, pieces: Sequence[str], told: Instruction, settings: DecodingSettings
) -> list[tuple[Written, ...]]:
    """The ways to write each piece; a piece that comes again is translated once, unless chance has a part in it."""
    sources = source_ids(loaded, pieces, prefix=told.prefix, tag=told.tag)
    keys = [(ids, place if settings.draws else 0) for place, ids in enumerate(sources)]
    unlike = list(dict.fromkeys(keys))
    replies = loaded.engine.generate([Request(ids=ids, settings=settings) for ids, _ in unlike], scored=True)
    found = {
        key: tuple(as_written(loaded, one) for one in reply.answers) for key, reply in zip(unlike, replies, strict=True)
    }
    return [found[key] for key in keys]


def _assembled(segments: Sequence[Segment], results: Sequence[Sequence[tuple[Written, ...]]]) -> Translation:
    """A text from the translations of its sentences: for each, its pieces, and the ways to write each piece."""
    best = [_whole([ways[0] for ways in pieces]) for pieces in results]
    text = join_segments(segments, [one.text for one in best])
    if len(results) == 1 and len(results[0]) == 1:
        ways = results[0][0]
        alternatives = tuple(replace(way, text=join_segments(segments, [way.text])) for way in ways)
    else:
        alternatives = (joined(best, text),) if best else ()
    return Translation(text=text, alternatives=alternatives, sentences=tuple(best))


def _whole(pieces: Sequence[Written]) -> Written:
    return pieces[0] if len(pieces) == 1 else joined(pieces, " ".join(piece.text for piece in pieces))
