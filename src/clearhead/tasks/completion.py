"""Texts that go on: what a decoder writes after a prompt, or an encoder-decoder for a source."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

from clearhead.config import Family
from clearhead.decoding import DecodingSettings
from clearhead.engine import Overflow, Request
from clearhead.engine.limits import context_of
from clearhead.errors import DecodingError
from clearhead.tasks.loaded import Loaded
from clearhead.tasks.options import settings_of
from clearhead.tasks.sources import prompt_ids
from clearhead.tasks.written import Written, as_written, check_texts
from clearhead.text.words import check_text

_USUAL = {"sample": True, "temperature": 0.8, "top_p": 0.95}
_MOST_TEXTS = 256


def complete(
    loaded: Loaded, texts: Sequence[str], *, n: int = 1, scored: bool = False, **options: Any
) -> list[tuple[Written, ...]]:
    """Goes on with texts.

    An encoder-decoder takes a text for its source and writes the target. An empty text begins with the model's
    start token.

    Args:
        loaded: The model.
        texts: The texts to go on with.
        n: How many continuations of each: as many draws where it draws, as many beams where it does not.
        scored: Whether continuations have log-probabilities.
        **options: How to decode, by the names of DecodingSettings. Where nobody says otherwise a decoder draws,
            and an encoder-decoder takes the likeliest.

    Raises:
        ConfigError: A model that does not write.
    """
    loaded.require("complete")
    prompts = [prompt_ids(loaded, text) for text in check_texts(texts)]
    return continuations(loaded, prompts, n=n, scored=scored, **options)


def continuations(
    loaded: Loaded,
    prompts: Sequence[tuple[int, ...]],
    *,
    n: int = 1,
    scored: bool = False,
    **options: Any,
) -> list[tuple[Written, ...]]:
    """Goes on with prompts whose ids are known already."""
    if not 1 <= n <= _MOST_TEXTS:
        raise DecodingError("an impossible number of texts", got=n, expected=f"1 to {_MOST_TEXTS}")
    settings = writing_settings(loaded, options)
    n_draws = 1
    if n > 1 and settings.draws:
        n_draws = n
    elif n > 1:
        settings = writing_settings(loaded, {**options, "n_best": n})
    requests = [
        Request(ids=ids, settings=capped(loaded, settings, ids, options), draw=draw)
        for ids in prompts
        for draw in range(n_draws)
    ]
    replies = iter(loaded.engine.generate(requests, scored=scored))
    return [
        tuple(as_written(loaded, answer) for _ in range(n_draws) for answer in next(replies).answers) for _ in prompts
    ]


def stream(loaded: Loaded, text: str, **options: Any) -> Iterator[str]:
    """Goes on with a text and gives the continuation piece by piece, as it comes; closing it cancels.

    The pieces together are what `complete` writes with the same seed. Beams are known only in the end, so that
    they come in one piece.

    Args:
        loaded: The model.
        text: The text to go on with; the source of an encoder-decoder.
        **options: How to decode, as for `complete`.
    """
    # Checked here and not in the generator below: mistakes show at the call, not at the first piece.
    loaded.require("complete")
    return stream_ids(loaded, prompt_ids(loaded, check_text(text)), **options)


def stream_ids(loaded: Loaded, ids: tuple[int, ...], **options: Any) -> Iterator[str]:
    """Goes on with ids that are known already, piece by piece."""
    settings = capped(loaded, writing_settings(loaded, options), ids, options)
    return _stream(loaded, Request(ids=ids, settings=settings))


def _stream(loaded: Loaded, request: Request) -> Iterator[str]:
    steps: Any = loaded.engine.stream([request])
    with closing(steps):
        for events in steps:
            for event in events:
                if event.text:
                    yield event.text


def writing_settings(loaded: Loaded, options: Mapping[str, Any]) -> DecodingSettings:
    """How a text goes on where nobody says otherwise."""
    usual = _USUAL if loaded.config.family is Family.DECODER_ONLY else {}
    return settings_of(loaded, usual=usual, asked=options)


def capped(
    loaded: Loaded, settings: DecodingSettings, ids: tuple[int, ...], options: Mapping[str, Any]
) -> DecodingSettings:
    """Settings whose length fits the context, where only the folder asks for more."""
    context = context_of(loaded.config.decoder)
    most = settings.max_new_tokens
    if most is None or context is None or options.get("max_new_tokens") is not None:
        return settings
    if loaded.overflow is Overflow.SLIDE and loaded.config.family is Family.DECODER_ONLY:
        return settings
    length = max(1, len(ids)) if loaded.config.family is Family.DECODER_ONLY else 1
    return replace(settings, max_new_tokens=max(1, min(most, context - length)))
