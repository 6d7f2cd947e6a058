"""Summaries, of texts of any length."""

from collections.abc import Sequence
from typing import Any

from clearhead.config import Family
from clearhead.decoding import DecodingSettings
from clearhead.engine import Request
from clearhead.errors import DecodingError
from clearhead.tasks.loaded import Loaded
from clearhead.tasks.nearness import summary_sentences
from clearhead.tasks.options import settings_of, task_settings
from clearhead.tasks.sources import source_ids, source_pieces
from clearhead.tasks.written import Written, as_written, check_texts, joined

_USUAL = {"beams": 4, "no_repeat_ngram": 3}
_TASKS = ("summarization",)
_T5_PREFIX = "summarize: "
_MOST_ROUNDS = 8


def summarize(loaded: Loaded, texts: Sequence[str], **options: Any) -> list[Written]:
    """Summarises texts.

    A text that is longer than the model's context is divided into pieces of whole sentences that fit; each piece is
    summarised, and the summaries in their order are the summary. Where they together are still longer than the
    context, they are summarised once more in the same way, as long as that makes them shorter. A text of white
    space alone stays as it is. An encoder, which cannot write, picks sentences of the text instead.

    Args:
        loaded: The model.
        texts: The texts.
        **options: How to decode, by the names of DecodingSettings. For an encoder, `sentences`: how many to pick.

    Raises:
        ConfigError: A model that does not summarise.
    """
    loaded.require("summarize")
    current = check_texts(texts)
    n_sentences = options.pop("sentences", None)
    if loaded.config.family is Family.ENCODER_ONLY:
        if unknown := [name for name, value in options.items() if value is not None]:
            problem = "this model picks sentences of the text, and writes none"
            raise DecodingError(problem, got=", ".join(unknown), expected="sentences")
        return [summary_sentences(loaded, text, n=n_sentences) for text in current]
    if n_sentences is not None:
        problem = "this model writes its summaries; it does not pick sentences"
        raise DecodingError(problem, got="sentences", expected="options of decoding, such as max_new_tokens")
    settings = settings_of(loaded, usual=_USUAL, asked=options, tasks=_TASKS)
    prefix = _prefix(loaded)
    found = [Written(text=text, score=None, tokens=(), finish="end") for text in current]
    waiting = [place for place, text in enumerate(current) if text.strip()]
    for _ in range(_MOST_ROUNDS):
        ids = source_ids(loaded, [current[place] for place in waiting], prefix=prefix)
        pieces = [
            source_pieces(loaded, current[place].strip(), one, prefix=prefix)
            for place, one in zip(waiting, ids, strict=True)
        ]
        results = iter(_round(loaded, [piece for several in pieces for piece in several], settings, prefix))
        longer: list[int] = []
        for place, several in zip(waiting, pieces, strict=True):
            parts = [next(results) for _ in several]
            text = " ".join(part.text.strip() for part in parts) if len(parts) > 1 else parts[0].text
            found[place] = joined(parts, text)
            n_tokens = len(source_ids(loaded, [text], prefix=prefix)[0])
            if len(parts) > 1 and n_tokens > loaded.source_limit and len(text) < len(current[place]):
                longer.append(place)
                current[place] = text
        waiting = longer
        if not waiting:
            break
    return found


def _round(loaded: Loaded, pieces: list[str], settings: DecodingSettings, prefix: str) -> list[Written]:
    requests = [Request(ids=ids, settings=settings) for ids in source_ids(loaded, pieces, prefix=prefix)]
    return [as_written(loaded, reply.best) for reply in loaded.engine.generate(requests, scored=True)]


def _prefix(loaded: Loaded) -> str:
    """The words that ask this model for a summary."""
    said: Any = task_settings(loaded, _TASKS).get("prefix")
    if isinstance(said, str):
        return said
    return _T5_PREFIX if loaded.checkpoint.family == "t5" else ""
