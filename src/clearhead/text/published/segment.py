"""SentencePiece's two ways to cut a prepared text into pieces, run by the library `tokenizers`.

Takes: a SentencePiece file; texts.
Gives: for each text its pieces, and where in the text each came from.
Uses:  published.normalise, published.spm, tokenizer; tokenizers.
Never: ids; the same pieces have other ids in other vocabularies.

    BPE       join the neighbours whose union scores best, until no union is a piece    (Sennrich et al. 2016)
    Unigram   the pieces whose scores add up to most                                    (Kudo 2018)

Only pieces that a text can hold are given to the library. Control pieces and bytes are left out, or a text that spells
"</s>" would be read as the end of a text.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import tokenizers
from tokenizers import AddedToken, models

from clearhead.text.published.normalise import Normalised, Normaliser
from clearhead.text.published.spm import BYTE_PIECES, Algorithm, Piece, PieceKind, SpmFile
from clearhead.text.tokenizer import translated

__all__ = ["Found", "Segmenter"]

# A prepared text has no spaces, so no text is mistaken for this.
_UNKNOWN = " "


class Found(NamedTuple):
    """A piece in a text; None for a run of characters that no piece covers."""

    piece: str | None
    start: int
    end: int


class Segmenter:
    """The pieces that one SentencePiece file finds in a text.

    Args:
        model: The file.
    """

    def __init__(self, *, model: SpmFile) -> None:
        self._normalise = Normaliser(model=model)
        self._byte_fallback = model.byte_fallback
        normal = [piece for piece in model.pieces if piece.kind is PieceKind.NORMAL and _UNKNOWN not in piece.spelling]
        with translated("a SentencePiece model that cannot be used", where=f"{model.name}: "):
            self._cutter = tokenizers.Tokenizer(_bpe(normal) if model.algorithm is Algorithm.BPE else _unigram(normal))
            self._unknown_id = self._cutter.token_to_id(_UNKNOWN)
            kept = [AddedToken(piece, normalized=False) for piece in model.spellings(PieceKind.USER_DEFINED)]
            cast(Any, self._cutter).add_tokens(kept)

    def __call__(self, texts: Sequence[str], *, first: Sequence[bool]) -> list[list[Found]]:
        """The pieces of many texts.

        Args:
            texts: The texts.
            first: For each, whether a space is put before it where the file asks for one.
        """
        prepared = [self._normalise(text, first=flag) for text, flag in zip(texts, first, strict=True)]
        with translated("a text that this tokenizer cannot read"):
            cuts = self._cutter.encode_batch([text.text for text in prepared], add_special_tokens=False)
        return [self._placed(text, cut) for text, cut in zip(prepared, cuts, strict=True)]

    def _placed(self, text: Normalised, cut: tokenizers.Encoding) -> list[Found]:
        """The pieces with their places in the original text."""
        found: list[Found] = []
        for index, piece, (start, end) in zip(cut.ids, cut.tokens, cut.offsets, strict=True):
            if index == self._unknown_id and self._byte_fallback:
                for place in range(start, end):
                    found += (Found(BYTE_PIECES[byte], *text.spans[place]) for byte in text.text[place].encode("utf-8"))
            else:
                known = None if index == self._unknown_id else piece
                found.append(Found(known, text.spans[start][0], text.spans[end - 1][1]))
        return found


def _bpe(pieces: list[Piece]) -> models.BPE:
    """Merges from scores: a union is tried in the order of its score, whatever its two halves are.

    Two merges to one and the same piece can compete for their middle, as in ab·a·ba. SentencePiece takes the left one;
    that is the one whose right half also begins the piece.
    """
    vocabulary = {piece.spelling: index for index, piece in enumerate(pieces)}
    merges: list[tuple[str, str]] = []
    for spelling, _, _ in sorted(pieces, key=lambda piece: -piece.score):
        halves = ((spelling[:place], spelling[place:]) for place in range(1, len(spelling)))
        known = [(left, right) for left, right in halves if left in vocabulary and right in vocabulary]
        merges += (pair for pair in known if spelling.startswith(pair[1]))
        merges += (pair for pair in known if not spelling.startswith(pair[1]))
    vocabulary[_UNKNOWN] = len(vocabulary)
    return models.BPE(vocabulary, merges, unk_token=_UNKNOWN, fuse_unk=True)


def _unigram(pieces: list[Piece]) -> models.Unigram:
    """Scores as they are; the unknown piece takes the lowest, from which the library counts down its penalty."""
    scored = [(piece.spelling, piece.score) for piece in pieces]
    lowest = min(piece.score for piece in pieces)
    return models.Unigram([*scored, (_UNKNOWN, lowest)], unk_id=len(scored), byte_fallback=False)
