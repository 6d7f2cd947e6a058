"""Eight bytes that stand for a text, and a table of those that were seen.

Takes: texts.
Gives: numbers that are the same on every machine and in every process, and whether one was there before.
Uses:  nothing of ours.
Never: the texts themselves; a table's memory is that of its numbers.
"""

import unicodedata
from array import array
from hashlib import blake2b

__all__ = ["MAX_SEED", "Seen", "hash_text", "normal_form"]

MAX_SEED = 2**63 - 1
"""The largest seed of this room: eight bytes hold it, with or without a sign."""

_EMPTY = 0
_FIRST_SIZE = 1024
_BETWEEN_WORDS = "PSZC"
"""Unicode's categories of punctuation, symbols, spaces and controls. Marks are no part: in Hindi they are vowels."""


class _Spaces(dict[int, str]):
    """What each character becomes in a normal form; a table for `str.translate` that fills itself."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        self[code] = " " if unicodedata.category(letter)[0] in _BETWEEN_WORDS else letter
        return self[code]


_SPACES = _Spaces()


def hash_text(text: str, *, seed: int = 0) -> int:
    """A text as a whole number of eight bytes."""
    digest = blake2b(text.encode("utf-8"), digest_size=8, key=seed.to_bytes(8, "little")).digest()
    return int.from_bytes(digest, "little")


def normal_form(text: str) -> str:
    """A text without case, punctuation and spacing, so that what differs in nothing else counts as the same."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(plain.translate(_SPACES).split()) or " ".join(plain.split())


class Seen:
    """A set of hashes in one flat array, at most two thirds full, so 12 to 24 bytes each.

    Python's own set takes several times that. Two texts of a hundred million share a hash by chance in one corpus of
    thousands.
    """

    def __init__(self) -> None:
        self._slots = array("Q", bytes(8 * _FIRST_SIZE))
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __contains__(self, number: int) -> bool:
        return self._slots[self._place(number or 1)] != _EMPTY

    def add(self, number: int) -> bool:
        """Remember a hash; whether it is new."""
        number = number or 1
        place = self._place(number)
        if self._slots[place] != _EMPTY:
            return False
        self._slots[place] = number
        self._count += 1
        if 3 * self._count > 2 * len(self._slots):
            self._grow()
        return True

    def _place(self, number: int) -> int:
        """Where a hash is, or the free slot where it belongs."""
        slots = self._slots
        last = len(slots) - 1
        place = number & last
        while (found := slots[place]) != _EMPTY and found != number:
            place = (place + 1) & last
        return place

    def _grow(self) -> None:
        before = self._slots
        self._slots = array("Q", bytes(16 * len(before)))
        for number in before:
            if number != _EMPTY:
                self._slots[self._place(number)] = number
