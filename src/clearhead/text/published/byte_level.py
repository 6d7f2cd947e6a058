"""GPT-2's files: vocab.json with the pieces, merges.txt with the order in which they were joined.

Takes: a folder with both.
Gives: a Tokenizer of byte-level BPE.
Uses:  errors, files, special, tokenizer, published.{settings,template,vocabulary_file}; tokenizers.
Never: loses a character; the smallest pieces are the 256 bytes (Radford et al. 2019).
"""

from pathlib import Path

import tokenizers
from tokenizers import decoders, models, pre_tokenizers, processors

from clearhead.errors import TextError
from clearhead.text.files import read_bounded, read_lines
from clearhead.text.published.settings import Settings
from clearhead.text.published.template import read_template
from clearhead.text.published.vocabulary_file import MAX_VOCABULARY_BYTES, add_tokens, read_vocabulary, surround
from clearhead.text.special import SpecialTokens
from clearhead.text.tokenizer import Tokenizer, translated

__all__ = ["load_byte_level"]

_END = "<|endoftext|>"
_USUAL = SpecialTokens(unknown=_END, start=_END, end=_END)


def load_byte_level(folder: Path, settings: Settings) -> Tokenizer:
    """A tokenizer from vocab.json and merges.txt."""
    settings.check_family("gpt2")
    vocabulary = read_vocabulary(folder / "vocab.json")
    merges = _read_merges(folder / "merges.txt", vocabulary)
    with translated("a vocabulary that cannot be used", where=f"{folder / 'vocab.json'}: "):
        inner = tokenizers.Tokenizer(models.BPE(vocabulary, merges))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=settings.flag("add_prefix_space", default=False))
    inner.decoder = decoders.ByteLevel()
    inner.post_processor = processors.ByteLevel(trim_offsets=False)
    settings.check_size(inner)
    known = {*vocabulary, *(entry.token.content for entry in settings.added if entry.index is not None)}
    special = settings.roles(_USUAL, known=known)
    add_tokens(inner, special, settings.added, where=folder)
    if special.start and settings.flag("add_bos_token", default=False):
        surround(inner, start=special.start, end=None)
    return Tokenizer(inner=inner, special=special, chat_template=read_template(folder))


def _read_merges(path: Path, vocabulary: dict[str, int]) -> list[tuple[str, str]]:
    """The merges in order; each joins two known pieces into a third."""
    read_bounded(path, limit=MAX_VOCABULARY_BYTES)
    merges: list[tuple[str, str]] = []
    for number, line in enumerate(read_lines(path), start=1):
        if not line or (number == 1 and line.startswith("#version")):
            continue
        left, space, right = line.partition(" ")
        if not space or " " in right or {left, right, left + right} - vocabulary.keys():
            raise TextError(
                "a merge that cannot be right",
                got=f"{path}, line {number}: {line[:60]!r}",
                expected="two pieces of vocab.json that make a third",
            )
        merges.append((left, right))
    return merges
