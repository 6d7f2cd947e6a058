"""Training a tokenizer on your own text.

Takes: texts, one at a time; what kind of pieces, and at most how many.
Gives: a Tokenizer; the same texts give the same file, byte for byte.
Uses:  errors, kinds, special, tokenizer, vocabulary, words.
Never: holds the corpus in memory, or prints.
"""

from collections.abc import Iterable, Iterator

from clearhead.errors import TextError, nearest
from clearhead.text.kinds import TokenizerKind, default_tokens, needs_unknown, untrained
from clearhead.text.special import SpecialTokens
from clearhead.text.tokenizer import Tokenizer
from clearhead.text.vocabulary import learn
from clearhead.text.words import check_text

__all__ = ["DEFAULT_VOCAB_SIZE", "train_tokenizer"]

DEFAULT_VOCAB_SIZE = 8000
# The library reserves room for the whole vocabulary at once, and aborts the process where it cannot.
MAX_VOCAB_SIZE = 10_000_000
_N_BYTES = 256


def train_tokenizer(
    texts: Iterable[str],
    *,
    kind: TokenizerKind | str = TokenizerKind.BPE,
    vocab_size: int = DEFAULT_VOCAB_SIZE,
    special: SpecialTokens | None = None,
    lowercase: bool = False,
) -> Tokenizer:
    """Learn a vocabulary from texts.

    Args:
        texts: The corpus, one text at a time; read once.
        kind: What the pieces are: word, character, bpe, wordpiece or unigram.
        vocab_size: The most pieces to have, special tokens included. A corpus that does not hold that many gives
            fewer, and the result's own `vocab_size` says how many. Words are cut to the most frequent; the other
            kinds must have room for every character, and refuse otherwise.
        special: The special tokens, which get the first ids; by default those that the kind usually has.
        lowercase: Whether case is forgotten.
    """
    kind = _known_kind(kind)
    special = default_tokens(kind) if special is None else special
    _check_special(kind, special)
    _check_size(kind, vocab_size, special)
    corpus = _Corpus(texts=texts)
    tokenizer = untrained(kind, special=special, lowercase=lowercase)
    try:
        learn(tokenizer, corpus, kind=kind, vocab_size=vocab_size, special=special)
    except Exception as error:
        # Unigram looks before it learns; everything else comes from the texts' own iterator.
        if "vocabulary is not large enough" in str(error):
            raise _too_small(kind, vocab_size, needed="at least one piece for each character") from None
        raise
    n_pieces = tokenizer.get_vocab_size(with_added_tokens=True)
    if corpus.n_characters == 0 or n_pieces <= len(special.spellings()):
        raise TextError("a corpus with nothing to learn from", got=f"{corpus.n_texts} texts, no words in them")
    if n_pieces > vocab_size:
        raise _too_small(kind, vocab_size, needed=f"at least {n_pieces} for this corpus")
    return Tokenizer(inner=tokenizer, special=special)


class _Corpus:
    """Texts that are checked and counted as they pass."""

    def __init__(self, *, texts: Iterable[str]) -> None:
        if isinstance(texts, str):
            raise TextError("one text where many are needed", got=repr(texts[:60]), advice="a list that holds the text")
        self._texts = texts
        self.n_texts = 0
        self.n_characters = 0

    def __iter__(self) -> Iterator[str]:
        for text in self._texts:
            self.n_characters += len(check_text(text))
            self.n_texts += 1
            yield text


def _known_kind(kind: TokenizerKind | str) -> TokenizerKind:
    known = [str(member) for member in TokenizerKind]
    if kind not in known:
        raise TextError(
            "a kind of tokenizer that does not exist",
            got=repr(kind),
            expected="one of " + ", ".join(known),
            advice=nearest(str(kind), known),
        )
    return TokenizerKind(kind)


def _check_special(kind: TokenizerKind, special: SpecialTokens) -> None:
    if needs_unknown(kind) and special.unknown is None:
        raise TextError(f"a {kind} tokenizer without an unknown token", expected="special tokens with `unknown` set")
    for token in special.spellings():
        if not check_text(token).strip():
            raise TextError("a special token without letters", got=repr(token), expected="something like <pad>")


def _check_size(kind: TokenizerKind, vocab_size: int, special: SpecialTokens) -> None:
    needed = len(special.spellings()) + (_N_BYTES if kind is TokenizerKind.BPE else 1)
    if vocab_size < needed:
        raise _too_small(kind, vocab_size, needed=f"at least {needed}")
    if vocab_size > MAX_VOCAB_SIZE:
        raise TextError("a vocabulary that is too large", got=vocab_size, expected=f"at most {MAX_VOCAB_SIZE} pieces")


def _too_small(kind: TokenizerKind, vocab_size: int, *, needed: str) -> TextError:
    return TextError(
        "a vocabulary that is too small for its alphabet and special tokens",
        got=f"{vocab_size} pieces, kind {kind}",
        expected=needed,
        advice="a larger vocabulary, or kind bpe, whose alphabet is the 256 bytes",
    )
