"""Vocabularies in files of their own: vocab.json, and tokens added to what a file holds.

Takes: a JSON object from pieces to ids; added tokens with the ids that the files beside it give them.
Gives: the vocabulary, every id once and none left out; a tokenizer with its added tokens.
Uses:  errors, files, published.settings, tokenizer; tokenizers.
Never: moves an id.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

import tokenizers
from tokenizers import AddedToken, processors

from clearhead.errors import TextError
from clearhead.text.files import read_bounded
from clearhead.text.published.settings import Added
from clearhead.text.special import SpecialTokens

__all__ = ["MARIAN_FILES", "MAX_VOCABULARY_BYTES", "add_tokens", "check_vocabulary", "read_vocabulary", "surround"]

MAX_VOCABULARY_BYTES = 64 * 2**20
MARIAN_FILES = ("source.spm", "target.spm")
"""The pieces that one vocab.json numbers where it is Marian's, of either side."""


def read_vocabulary(path: Path) -> dict[str, int]:
    """Pieces and their ids from a JSON file."""
    try:
        content: Any = json.loads(read_bounded(path, limit=MAX_VOCABULARY_BYTES))
    except (ValueError, RecursionError) as error:
        raise TextError("a vocabulary that is not JSON", got=f"{path}: {error}") from None
    if not isinstance(content, dict):
        raise TextError("a vocabulary that is not a JSON object", got=path, expected="pieces and their ids")
    return check_vocabulary(cast(dict[str, object], content), path)


def check_vocabulary(vocabulary: dict[str, object], path: Path) -> dict[str, int]:
    """The same vocabulary, or a TextError where its ids are not 0, 1, 2 and so on, each once."""
    if not vocabulary:
        raise TextError("a vocabulary without pieces", got=path)
    seen: dict[int, str] = {}
    for piece, index in vocabulary.items():
        if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < len(vocabulary):
            raise TextError(
                "an id that cannot be right",
                got=f"{path}: {piece!r:.40} has {index!r:.40}",
                expected=f"the {len(vocabulary)} pieces numbered from 0 to {len(vocabulary) - 1}",
            )
        if index in seen:
            raise TextError("one id for two pieces", got=f"{path}: {index} for {seen[index]!r:.40} and {piece!r:.40}")
        seen[index] = piece
    return cast(dict[str, int], vocabulary)


def add_tokens(inner: tokenizers.Tokenizer, special: SpecialTokens, added: Iterable[Added], *, where: Path) -> None:
    """Tell a tokenizer which tokens to find before anything else, and hold it to the ids that the files give them."""
    known = set(inner.get_added_tokens_decoder())
    roles = special.spellings()
    for entry in added:
        token = entry.token
        if token.content in roles:
            token.special = True
        if entry.index is None and inner.token_to_id(token.content) is None:
            continue  # special_tokens_map.json may name tokens that this vocabulary never had
        if inner.token_to_id(token.content) not in known:
            cast(Any, inner).add_tokens([token])
        found = inner.token_to_id(token.content)
        if entry.index is not None and found != entry.index:
            raise TextError(
                "an added token with another id than its files say",
                got=f"{where}: {token.content!r:.40} has {found}, not {entry.index}",
                expected="a vocabulary and added tokens that belong together",
            )
    absent = [token for token in roles if inner.token_to_id(token) not in set(inner.get_added_tokens_decoder())]
    cast(Any, inner).add_special_tokens([AddedToken(token, special=True, normalized=False) for token in absent])


def surround(inner: tokenizers.Tokenizer, *, start: str | None, end: str | None) -> None:
    """Put a start before each text, an end after it, or both."""
    before, after = [[token] if token else [] for token in (start, end)]
    second = [f"{token}:1" for token in before], [f"{token}:1" for token in after]
    inner.post_processor = processors.TemplateProcessing(
        single=[*before, "$A", *after],
        pair=[*before, "$A", *after, *second[0], "$B:1", *second[1]],
        special_tokens=[(token, inner.token_to_id(token)) for token in dict.fromkeys((*before, *after))],
    )
