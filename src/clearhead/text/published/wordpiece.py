"""BERT's file: vocab.txt, one piece a line.

Takes: a folder with it.
Gives: a Tokenizer of WordPiece, with [CLS] and [SEP] around a text.
Uses:  errors, files, kinds, special, tokenizer, published.{settings,template,vocabulary_file}; tokenizers.
Never: guesses about case; tokenizer_config.json says whether it is kept, and without one it is not.
"""

from pathlib import Path

import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers

from clearhead.errors import TextError
from clearhead.text.files import read_bounded, read_lines
from clearhead.text.kinds import frame
from clearhead.text.published.settings import Settings
from clearhead.text.published.template import read_template
from clearhead.text.published.vocabulary_file import MAX_VOCABULARY_BYTES, add_tokens
from clearhead.text.special import BERT_TOKENS
from clearhead.text.tokenizer import Tokenizer, translated

__all__ = ["load_wordpiece"]


def load_wordpiece(folder: Path, settings: Settings) -> Tokenizer:
    """A tokenizer from vocab.txt."""
    settings.check_family("bert", "distilbert")
    path = folder / "vocab.txt"
    vocabulary = _read_lines(path)
    known = {*vocabulary, *(entry.token.content for entry in settings.added if entry.index is not None)}
    special = settings.roles(BERT_TOKENS, known=known)
    if special.unknown not in vocabulary:
        raise TextError("a vocabulary without a piece for the unknown", got=path, expected=BERT_TOKENS.unknown)
    with translated("a vocabulary that cannot be used", where=f"{path}: "):
        inner = tokenizers.Tokenizer(models.WordPiece(vocabulary, unk_token=special.unknown))
    inner.normalizer = normalizers.BertNormalizer(
        clean_text=True,
        handle_chinese_chars=settings.flag("tokenize_chinese_chars", default=True),
        strip_accents=settings.choice("strip_accents"),
        lowercase=settings.flag("do_lower_case", default=True),
    )
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    inner.decoder = decoders.WordPiece()
    settings.check_size(inner)
    add_tokens(inner, special, settings.added, where=folder)
    frame(inner, special)
    return Tokenizer(inner=inner, special=special, chat_template=read_template(folder))


def _read_lines(path: Path) -> dict[str, int]:
    """Pieces by line; a piece is what stands before the line's end, spaces and all."""
    read_bounded(path, limit=MAX_VOCABULARY_BYTES)
    vocabulary: dict[str, int] = {}
    for number, piece in enumerate(read_lines(path)):
        if piece in vocabulary:
            raise TextError(
                "a piece that stands twice in a vocabulary",
                got=f"{path}: {piece!r:.40} on lines {vocabulary[piece] + 1} and {number + 1}",
                expected="each piece once",
            )
        vocabulary[piece] = number
    return vocabulary
