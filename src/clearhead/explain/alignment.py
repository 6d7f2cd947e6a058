"""Which source word each target word comes from, read off cross-attention; and how right that is.

AER = 1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|)        (Och and Ney 2003; A found, S sure, P possible, S ⊆ P)
"""

import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from clearhead.config import Family
from clearhead.errors import TraceError
from clearhead.trace import Token, Trace

Link = tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class WordAlignment:
    """The words of a pair, and which belong together.

    Attributes:
        source: The source's words.
        target: The target's words.
        weights: How much each target word looks at each source word.
        links: Pairs of places: source word, target word.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    weights: np.ndarray
    links: frozenset[Link]


def align(trace: Trace, *, site: str | None = None, head: int | None = None) -> WordAlignment:
    """Links each target word to the source word that it looks at most.

    The position that is given a token decides the next one; so a word's row is that of the position before it.

    Args:
        trace: A run of an encoder-decoder that wrote, or read a pair, with patterns of cross-attention.
        site: Whose pattern; by default the one whose queries look most sharply.
        head: Which head; the mean of all by default.

    Raises:
        TraceError: No cross-attention was recorded.
    """
    patterns = [name for name in trace if name.endswith("cross.pattern")]
    if trace.family is not Family.ENCODER_DECODER or not patterns:
        raise TraceError("no cross-attention was recorded", expected="a run with decoder.*.cross.pattern")
    name = site or max(patterns, key=lambda one: float(trace[one][0].mean(0).max(-1).mean()))
    pattern_HQK = trace[name][0]
    if head is not None and not -len(pattern_HQK) <= head < len(pattern_HQK):
        raise TraceError("a head that is not there", got=head, expected=f"0 to {len(pattern_HQK) - 1}")
    table = pattern_HQK.mean(0) if head is None else pattern_HQK[head]
    after = (*trace.target[1:], *(trace.written[-1:] if trace.written else ()))
    table = table[: len(after)]
    source_words, source_groups = _words(trace.source)
    target_words, target_groups = _words(after)
    weights = np.array(
        [[table[np.ix_(rows, columns)].sum(1).mean() for columns in source_groups] for rows in target_groups]
    ).reshape(len(target_groups), len(source_groups))
    links = frozenset((int(row.argmax()), place) for place, row in enumerate(weights) if row.size)
    return WordAlignment(source=source_words, target=target_words, weights=weights, links=links)


def alignment_error_rate(found: Collection[Link], *, sure: Collection[Link], possible: Collection[Link] = ()) -> float:
    """How wrong an alignment is: 0 where it is right, 1 where nothing is."""
    a, s = set(found), set(sure)
    p = s | set(possible)
    if not a and not s:
        return 0.0
    return 1 - (len(a & s) + len(a & p)) / (len(a) + len(s))


def _is_letter(character: str) -> bool:
    """Whether a character is part of a word; the signs of vowels are, in scripts that have such."""
    return character.isalnum() or (character != "" and unicodedata.category(character)[0] == "M")


def _words(tokens: Sequence[Token]) -> tuple[tuple[str, ...], list[list[int]]]:
    """Words from pieces: a piece that begins with the mark of a space begins one; tags and ends are none."""
    words: list[str] = []
    groups: list[list[int]] = []
    for place, token in enumerate(tokens):
        piece = token.piece
        if (piece.startswith("<") and piece.endswith(">")) or piece.startswith(">>"):
            continue
        begins = piece.startswith(("▁", "Ġ"))
        bare = token.shown
        if begins or not groups or not _is_letter(bare[:1]) or not _is_letter(words[-1][-1:]):
            words.append(bare)
            groups.append([place])
        else:
            words[-1] += bare
            groups[-1].append(place)
    return tuple(words), groups
