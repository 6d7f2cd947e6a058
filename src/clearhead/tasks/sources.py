"""Texts as models are given them: sources that end, prompts that do not, and texts that fit.

What a user writes is literal: the spelling of a special token or of a language's tag in it is ordinary text.
"""

from collections.abc import Sequence
from dataclasses import replace

from clearhead.config import Family
from clearhead.errors import TextError
from clearhead.tasks.loaded import Loaded
from clearhead.text import Encoding
from clearhead.text.passages import split_passages


def source_ids(
    loaded: Loaded, texts: Sequence[str], *, prefix: str = "", tag: int | None = None
) -> list[tuple[int, ...]]:
    """The ids of sources for an encoder-decoder, each with one end.

    Args:
        loaded: The model.
        texts: The sources.
        prefix: What tells the model its task, in words.
        tag: The id that names the target language.
    """
    tokenizer = loaded.tokenizer
    tags = set(loaded.tags.values())
    found = tokenizer.encode_batch([prefix + text for text in texts], literal=True)
    ends = tokenizer.special.end
    if ends is None and loaded.config.tokens.end:
        ends = loaded.config.tokens.end[0]
    sources: list[tuple[int, ...]] = []
    for text, encoding in zip(texts, found, strict=True):
        ids = encoding.ids
        if not tags.isdisjoint(ids):
            # A tag counts only as the very first piece of a text, so that a space in front makes it ordinary.
            ids = tuple(index for index in tokenizer.encode(f" {prefix}{text}", literal=True).ids if index not in tags)
        if ends is not None and ids[-1:] != (ends,):
            ids = (*ids, ends)
        sources.append(ids if tag is None else (tag, *ids))
    return sources


def source_pieces(
    loaded: Loaded, text: str, ids: tuple[int, ...], *, prefix: str = "", tag: int | None = None
) -> list[str]:
    """A source in pieces that fit the model, each as many whole sentences as can be; one piece where all of it fits."""
    if len(ids) <= loaded.source_limit:
        return [text]
    return split_passages(
        text,
        limit=loaded.source_limit,
        length=lambda piece: len(source_ids(loaded, [piece], prefix=prefix, tag=tag)[0]),
    )


def prompt_ids(loaded: Loaded, text: str) -> tuple[int, ...]:
    """The ids of a text that a decoder goes on with: with the start that its tokenizer adds, without an end."""
    if loaded.config.family is Family.ENCODER_DECODER:
        return source_ids(loaded, [text])[0]
    encoding = loaded.tokenizer.encode(text, literal=True)
    length = len(encoding)
    while length and encoding.special[length - 1] and encoding.ids[length - 1] != loaded.config.tokens.start:
        length -= 1
    return encoding.ids[:length]


def whole_texts(loaded: Loaded, texts: Sequence[str], *, truncate: bool) -> list[Encoding]:
    """Texts for an encoder, each within its context.

    Args:
        loaded: The model.
        texts: The texts.
        truncate: Whether the end of a text that is too long is cut off.

    Raises:
        TextError: A text is too long, and may not be cut.
    """
    encodings = loaded.tokenizer.encode_batch(texts, literal=True)
    limit = loaded.source_limit
    for place, encoding in enumerate(encodings):
        if not len(encoding):
            raise TextError("a text without a single token", got=repr(texts[place][:60]), expected="some text")
        if len(encoding) > limit:
            if not truncate:
                raise TextError(
                    "a text is longer than the model's context",
                    got=f"text {place + 1} of {len(texts)}: {len(encoding)} tokens",
                    expected=f"at most {limit}",
                    advice="shorter pieces, or truncate=True, which cuts off the end",
                )
            encodings[place] = shortened(encoding, limit)
    return encodings


def shortened(encoding: Encoding, limit: int) -> Encoding:
    """An encoding without the end of its text; the special tokens behind it stay."""
    n_after = 0
    while n_after < len(encoding) and encoding.special[-1 - n_after]:
        n_after += 1
    n_before = max(0, limit - n_after)
    first_after = len(encoding) - n_after
    return replace(
        encoding,
        ids=encoding.ids[:n_before] + encoding.ids[first_after:],
        pieces=encoding.pieces[:n_before] + encoding.pieces[first_after:],
        offsets=encoding.offsets[:n_before] + encoding.offsets[first_after:],
        special=encoding.special[:n_before] + encoding.special[first_after:],
        segments=encoding.segments[:n_before] + encoding.segments[first_after:],
    )
