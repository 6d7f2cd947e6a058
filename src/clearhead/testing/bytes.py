"""A tokenizer that needs no training: one piece a byte."""

from typing import Any, cast

import tokenizers
from tokenizers import decoders, models, pre_tokenizers

from clearhead.text import SpecialTokens, Tokenizer

_SPECIAL = SpecialTokens(pad="<pad>", start="<s>", end="</s>", mask="<mask>")


class ByteTokenizer(Tokenizer):
    """Every byte is a piece: the special tokens have the first ids, then come the bytes in their order.

    A real tokenizer like any other: it has offsets, it saves, and it reads every text without loss.
    """

    def __init__(self) -> None:
        n_special = len(_SPECIAL.spellings())
        alphabet = {chr(code): n_special + byte for byte, code in enumerate(_byte_characters())}
        specials = {spelling: index for index, spelling in enumerate(_SPECIAL.spellings())}
        inner = tokenizers.Tokenizer(models.BPE(vocab=specials | alphabet, merges=[]))
        inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        inner.decoder = decoders.ByteLevel()
        # The library's stubs leave the type of the list open.
        cast(Any, inner).add_special_tokens(_SPECIAL.spellings())
        super().__init__(inner=inner, special=_SPECIAL)


def _byte_characters() -> list[int]:
    """The character that byte-level pieces write for each byte: itself if it can be seen, one beyond 255 if not."""
    visible = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    spare = iter(range(0x100, 0x200))
    return [byte if byte in visible else next(spare) for byte in range(256)]
