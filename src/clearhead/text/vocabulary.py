"""Learning a vocabulary, one function for each kind of tokenizer.

Takes: an untrained tokenizer, texts, a size.
Gives: the tokenizer, trained in place, the same every time.
Uses:  kinds, special; tokenizers.
Never: checks what a user asked for; `train` does.

The library counts in hash tables whose order changes from run to run. Byte-level BPE and word counts come out the same
all the same; WordPiece and Unigram do not, and are steadied here.
"""

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from io import BufferedIOBase
from types import MappingProxyType
from typing import Any, cast

from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers, trainers

from clearhead.text.kinds import TokenizerKind, frame
from clearhead.text.special import SpecialTokens

__all__ = ["learn"]

_N_CODE_POINTS = 0x110000
_SCORE_DIGITS = 6
_HAIR = 1e-4
_LENGTH_BYTES = 8


def learn(
    tokenizer: Tokenizer, texts: Iterable[str], *, kind: TokenizerKind, vocab_size: int, special: SpecialTokens
) -> None:
    """Give a tokenizer its vocabulary, special tokens first."""
    _LEARNERS[kind](tokenizer, texts, vocab_size, special)


def _learn_words(tokenizer: Tokenizer, texts: Iterable[str], vocab_size: int, special: SpecialTokens) -> None:
    trainer = trainers.WordLevelTrainer(vocab_size=vocab_size, special_tokens=_added(special), show_progress=False)
    tokenizer.train_from_iterator(iter(texts), trainer)


def _learn_characters(tokenizer: Tokenizer, texts: Iterable[str], vocab_size: int, special: SpecialTokens) -> None:  # noqa: ARG001
    # Without the size: cutting rare characters would quietly lose text. `train` says when they do not fit.
    _learn_words(tokenizer, texts, _N_CODE_POINTS, special)


def _learn_bpe(tokenizer: Tokenizer, texts: Iterable[str], vocab_size: int, special: SpecialTokens) -> None:
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=_added(special),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(iter(texts), trainer)


def _learn_wordpiece(tokenizer: Tokenizer, texts: Iterable[str], vocab_size: int, special: SpecialTokens) -> None:
    """Learn in two passes, because equally good merges are ordered by the ids of the single letters.

    The library numbers the letters inside words (##a, ##b, …) in the order in which it meets the words, which is
    random. The first pass finds the letters, the second is given them in alphabetical order.
    """
    scratch = Tokenizer(models.WordPiece({}))
    scratch.normalizer = tokenizer.normalizer
    scratch.pre_tokenizer = tokenizer.pre_tokenizer
    with tempfile.TemporaryFile() as store:
        _write_texts(store, texts)
        scratch.train_from_iterator(_read_texts(store), trainers.WordPieceTrainer(vocab_size=0, show_progress=False))
        letters = sorted(scratch.get_vocab(with_added_tokens=False))
        first: Any = list(dict.fromkeys([*special.spellings(), *letters]))
        trainer = trainers.WordPieceTrainer(vocab_size=vocab_size, special_tokens=first, show_progress=False)
        scratch.train_from_iterator(_read_texts(store), trainer)
    vocabulary = scratch.get_vocab(with_added_tokens=False)
    tokenizer.model = models.WordPiece(vocabulary, unk_token=special.unknown or "")
    cast(Any, tokenizer).add_special_tokens(_added(special))
    frame(tokenizer, special)


def _learn_unigram(tokenizer: Tokenizer, texts: Iterable[str], vocab_size: int, special: SpecialTokens) -> None:
    """Learn, then steady the scores and order the pieces by them.

    The library adds up probabilities in a random order, so the last digits of its scores differ between runs; and it
    hands the letters that it keeps only to have them all scores a hair apart, in a random order again.
    """
    trainer = trainers.UnigramTrainer(
        vocab_size=vocab_size,
        special_tokens=_added(special),
        unk_token=special.unknown,
        show_progress=False,
    )
    tokenizer.train_from_iterator(iter(texts), trainer)
    model = json.loads(tokenizer.to_str())["model"]
    scored = cast(list[tuple[str, float]], [tuple(entry) for entry in model["vocab"]])
    n_special = len(special.spellings())
    learned = _steady(scored[n_special:])
    tokenizer.model = models.Unigram([*scored[:n_special], *learned], unk_id=model["unk_id"], byte_fallback=False)


def _steady(scored: list[tuple[str, float]]) -> list[tuple[str, float]]:
    """The same pieces with rounded scores, the rarest letters sharing the lowest, in one order."""
    lowest = min((score for _, score in scored), default=0.0)
    shared = lowest + _HAIR * sum(len(piece) == 1 for piece, _ in scored)
    steady = (
        (piece, round(lowest if len(piece) == 1 and score <= shared else score, _SCORE_DIGITS))
        for piece, score in scored
    )
    return sorted(steady, key=lambda entry: (-entry[1], entry[0]))


_Learner = Callable[[Tokenizer, Iterable[str], int, SpecialTokens], None]
_LEARNERS: Mapping[TokenizerKind, _Learner] = MappingProxyType(
    {
        TokenizerKind.WORD: _learn_words,
        TokenizerKind.CHARACTER: _learn_characters,
        TokenizerKind.BPE: _learn_bpe,
        TokenizerKind.WORDPIECE: _learn_wordpiece,
        TokenizerKind.UNIGRAM: _learn_unigram,
    }
)


def _added(special: SpecialTokens) -> list[AddedToken]:
    return [AddedToken(token, special=True, normalized=False) for token in special.spellings()]


def _write_texts(store: BufferedIOBase, texts: Iterable[str]) -> None:
    for text in texts:
        content = text.encode("utf-8")
        store.write(len(content).to_bytes(_LENGTH_BYTES, "little"))
        store.write(content)


def _read_texts(store: BufferedIOBase) -> Iterator[str]:
    store.seek(0)
    while length := store.read(_LENGTH_BYTES):
        yield store.read(int.from_bytes(length, "little")).decode("utf-8")
