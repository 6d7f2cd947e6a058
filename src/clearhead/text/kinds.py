"""The five kinds of tokenizer: how each cuts a text, and how it puts one together again.

Takes: a kind, its special tokens, and whether to lowercase.
Gives: an untrained `tokenizers.Tokenizer` with every part but the vocabulary.
Uses:  special, words; tokenizers.
Never: training.

    kind        "Don't panic."              decode(encode(text))
    word        Don't · panic · .           words kept; spacing becomes the usual one
    character   D · o · n · ' · t · …       the text itself, if every character was seen in training
    bpe         Don · 't · Ġpan · ic · .    the text itself, always: the smallest pieces are the 256 bytes
    wordpiece   Don · ' · t · pan · ##ic    words kept; spacing becomes the usual one (Devlin et al. 2018)
    unigram     ▁Don · 't · ▁pan · ic · .   the text itself but for a space in front (Kudo 2018)

Lowercasing loses case in every kind, and an unknown word or character is lost. A special token that the text itself
spells out is read as that token, unless `encode` is told that the text is literal.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from types import MappingProxyType

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from clearhead.text.special import BERT_TOKENS, PLAIN_TOKENS, SpecialTokens
from clearhead.text.words import word_splitter

__all__ = ["TokenizerKind", "default_tokens", "frame", "needs_unknown", "untrained"]


class TokenizerKind(StrEnum):
    """What a tokenizer's pieces are."""

    WORD = "word"
    CHARACTER = "character"
    BPE = "bpe"
    WORDPIECE = "wordpiece"
    UNIGRAM = "unigram"


_BYTE_LEVEL_WORDS = (
    r"'(?:[sdmt]|ll|ve|re)| ?[\p{L}\p{M}\u200c\u200d]+| ?\p{N}+| ?[^\s\p{L}\p{M}\p{N}\u200c\u200d]+|\s+(?!\S)|\s+"
)


def needs_unknown(kind: TokenizerKind) -> bool:
    """Whether a text can hold something that the vocabulary lacks; bytes are all known."""
    return kind is not TokenizerKind.BPE


def default_tokens(kind: TokenizerKind) -> SpecialTokens:
    """The special tokens that a kind usually has."""
    if kind is TokenizerKind.WORDPIECE:
        return BERT_TOKENS
    plain = PLAIN_TOKENS
    return (
        plain
        if needs_unknown(kind)
        else SpecialTokens(pad=plain.pad, start=plain.start, end=plain.end, mask=plain.mask)
    )


def untrained(kind: TokenizerKind, *, special: SpecialTokens, lowercase: bool) -> Tokenizer:
    """A tokenizer of a kind before it has learned its vocabulary."""
    tokenizer = _BUILDERS[kind](special.unknown)
    if kind is TokenizerKind.WORDPIECE:
        # Accents stay even in lowercase: stripping them takes the vowel signs off Hindi.
        tokenizer.normalizer = normalizers.BertNormalizer(strip_accents=False, lowercase=lowercase)
    elif lowercase:
        tokenizer.normalizer = normalizers.Lowercase()
    return tokenizer


def frame(tokenizer: Tokenizer, special: SpecialTokens) -> None:
    """Put start and end around one text, and an end after each of two, as BERT does."""
    if special.start is None or special.end is None:
        return
    start, end = special.start, special.end
    ids = [(token, tokenizer.token_to_id(token)) for token in dict.fromkeys((start, end))]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=[start, "$A", end],
        pair=[start, "$A", end, "$B:1", f"{end}:1"],
        special_tokens=ids,
    )


def _word(unknown: str | None) -> Tokenizer:
    tokenizer = Tokenizer(models.WordLevel({}, unk_token=unknown))
    tokenizer.pre_tokenizer = word_splitter()
    tokenizer.decoder = decoders.Sequence(
        [
            decoders.Replace(Regex(r"\A"), " "),
            decoders.Fuse(),
            decoders.Replace(Regex(r" (?=[.,;:!?…।)\]}»”%])"), ""),
            decoders.Replace(Regex(r"(?<=[(\[{«“¿¡]) "), ""),
            decoders.Strip(" ", 1, 0),
        ]
    )
    return tokenizer


def _character(unknown: str | None) -> Tokenizer:
    tokenizer = Tokenizer(models.WordLevel({}, unk_token=unknown))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    tokenizer.decoder = decoders.Fuse()
    return tokenizer


def _bpe(unknown: str | None) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE(unk_token=unknown))
    # Letters with their marks: a vowel sign of Hindi is a mark, and a word must not fall apart at each.
    words = pre_tokenizers.Split(Regex(_BYTE_LEVEL_WORDS), "isolated")
    bytewise = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([words, bytewise])
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def _wordpiece(unknown: str | None) -> Tokenizer:
    tokenizer = Tokenizer(models.WordPiece({}, unk_token=unknown))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer


def _unigram(unknown: str | None) -> Tokenizer:  # noqa: ARG001  (training sets it by id)
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer


_BUILDERS: Mapping[TokenizerKind, Callable[[str | None], Tokenizer]] = MappingProxyType(
    {
        TokenizerKind.WORD: _word,
        TokenizerKind.CHARACTER: _character,
        TokenizerKind.BPE: _bpe,
        TokenizerKind.WORDPIECE: _wordpiece,
        TokenizerKind.UNIGRAM: _unigram,
    }
)
