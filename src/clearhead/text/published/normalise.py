"""How SentencePiece prepares a text: rules for characters, spaces made visible, and where each character came from.

Takes: a text, and what a SentencePiece file says about it.
Gives: the text as the pieces spell it, and for each of its characters the span of the original.
Uses:  published.charsmap, published.spm.
Never: segments.

    "Ｈｉ  there "    ->   ▁Hi▁there      (widths folded, a space before, one inside, none after)

The library `tokenizers` has these rules too, but asks them about whole visible characters of a few bytes; SentencePiece
takes the longest rule wherever it stands. They differ on decomposed Hangul or stacked accents, and the models were
trained with SentencePiece.
"""

import re
from typing import NamedTuple

from clearhead.text.published.charsmap import Charsmap
from clearhead.text.published.spm import PieceKind, SpmFile

__all__ = ["SPACE", "Normalised", "Normaliser"]

SPACE = "▁"
_PLAIN = re.compile(r"[!-~]+(?: [!-~]+)*")


class Normalised(NamedTuple):
    """A text as the pieces spell it; `spans` has for each of its characters where it stood in the original."""

    text: str
    spans: list[tuple[int, int]]


class Normaliser:
    """The preparation that one SentencePiece file asks for.

    Args:
        model: The file.
    """

    def __init__(self, *, model: SpmFile) -> None:
        self._charsmap = Charsmap(blob=model.charsmap, name=model.name)
        self._dummy_prefix = model.dummy_prefix
        self._remove_spaces = model.remove_spaces
        kept = sorted(model.spellings(PieceKind.USER_DEFINED), key=len, reverse=True)
        self._kept = re.compile("|".join(map(re.escape, kept))) if kept else None
        self._kept_starts = {piece[0] for piece in kept}
        # What becomes of each character met so far, None where that depends on what follows it.
        self._alone: dict[str, str | None] = {}
        ascii_rules = any(self._charsmap.match(chr(code), 0) for code in range(0x20, 0x7F))
        self._plain_is_unchanged = not (ascii_rules or kept)

    def __call__(self, text: str, *, first: bool = True) -> Normalised:
        """Prepare a text.

        Args:
            text: Any text.
            first: Whether a space is put before it, where the file asks for one.
        """
        prefix = SPACE if first and self._dummy_prefix else ""
        if self._plain_is_unchanged and _PLAIN.fullmatch(text):
            spans = [(place, place + 1) for place in range(len(text))]
            return Normalised(prefix + text.replace(" ", SPACE), [(0, 0)] * len(prefix) + spans)
        start = self._skip_spaces(text) if self._remove_spaces else 0
        if start == len(text):
            return Normalised("", [])
        letters, spans = list(prefix), [(start, start)] * len(prefix)
        after_space = self._remove_spaces
        while start < len(text):
            if text[start] not in self._alone:
                self._alone[text[start]] = self._learn(text[start])
            n_taken, replacement = 1, self._alone[text[start]]
            if replacement is None:
                n_taken, replacement = self._rule(text, start)
            if after_space:
                replacement = replacement.lstrip(" ")
            letters += replacement.replace(" ", SPACE)
            spans += [(start, start + n_taken)] * len(replacement)
            if replacement:
                after_space = self._remove_spaces and replacement.endswith(" ")
            start += n_taken
        if self._remove_spaces:
            while letters and letters[-1] == SPACE:
                letters.pop()
        return Normalised("".join(letters), spans[: len(letters)])

    def _skip_spaces(self, text: str) -> int:
        """Where the first character stands that does not become a space."""
        start = 0
        while start < len(text):
            n_taken, replacement = self._rule(text, start)
            if replacement != " ":
                break
            start += n_taken
        return start

    def _learn(self, letter: str) -> str | None:
        """What becomes of a character wherever it stands, or None."""
        fixed = letter not in self._kept_starts and self._charsmap.is_final(letter)
        return self._rule(letter, 0)[1] if fixed else None

    def _rule(self, text: str, start: int) -> tuple[int, str]:
        """How many characters are taken at a place, and what stands there instead."""
        if self._kept and (kept := self._kept.match(text, start)):
            return len(kept[0]), kept[0]
        return self._charsmap.match(text, start) or (1, text[start])
