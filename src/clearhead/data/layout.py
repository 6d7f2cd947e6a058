"""The order of a vocabulary, as the programs that will read it expect it.

Takes: a trained tokenizer.
Gives: the same pieces under other ids, with tokens added, and with what is put around a text.
Uses:  text; tokenizers.
Never: another way of cutting a text.

    translator           </s> <unk> >>fr<< … pieces … <pad>     as Marian has it; CTranslate2 looks for padding last
    two vocabularies     </s> <unk> <pad> >>fr<< … pieces …     one id pads both
"""

import json
import tempfile
from collections.abc import Sequence
from typing import Any, cast

import tokenizers

from clearhead.text.published.vocabulary_file import surround
from clearhead.text.special import SpecialTokens
from clearhead.text.tokenizer import Tokenizer

__all__ = ["arrange"]

_NEVER = -1e4
"""A Unigram score that no text is ever cut for: literal text must not be read as a special token."""


def arrange(
    tokenizer: Tokenizer,
    *,
    special: SpecialTokens,
    first: Sequence[str] = (),
    last: Sequence[str] = (),
    around: tuple[str | None, str | None] = (None, None),
    target: Tokenizer | None = None,
) -> Tokenizer:
    """A tokenizer with its vocabulary in another order.

    Args:
        tokenizer: One that was just trained.
        special: Its special tokens by role.
        first: The pieces that come first; those that are not there are added as special tokens.
        last: The pieces that come last.
        around: The tokens before and after every text.
        target: The tokenizer of what the model writes, where that is another one.
    """
    whole = _content(tokenizer)
    model = whole["model"]
    listed = isinstance(model["vocab"], list)
    scores: dict[str, float] = dict(model["vocab"]) if listed else {}
    pieces = list(scores) if listed else sorted(model["vocab"], key=model["vocab"].__getitem__)
    ends = {*first, *last}
    order = [*first, *(piece for piece in pieces if piece not in ends), *last]
    tokens = [piece for piece in order if piece in {*special.spellings(), *ends}]
    ids = {piece: index for index, piece in enumerate(order)}
    if listed:
        model["vocab"] = [[piece, _NEVER if piece in set(tokens) else scores[piece]] for piece in order]
        model["unk_id"] = ids[special.unknown] if special.unknown else None
    else:
        model["vocab"] = ids
    whole["added_tokens"] = [_added(piece, ids[piece], tag=piece not in special.spellings()) for piece in tokens]
    inner = tokenizers.Tokenizer.from_str(json.dumps(whole))
    start, end = around
    if start or end:
        surround(inner, start=start, end=end)
    return Tokenizer(inner=inner, special=special, target=target)


def _content(tokenizer: Tokenizer) -> dict[str, Any]:
    """A tokenizer as its file has it, the one form in which all of it can be seen."""
    with tempfile.TemporaryDirectory() as folder:
        return cast(dict[str, Any], json.loads(tokenizer.save(folder).read_bytes()))


def _added(piece: str, index: int, *, tag: bool) -> dict[str, Any]:
    # The space between a tag and the text behind it belongs to neither, so that a tag changes nothing in the text.
    spacing = {"single_word": False, "lstrip": False, "rstrip": tag, "normalized": False}
    return {"id": index, "content": piece, **spacing, "special": True}
