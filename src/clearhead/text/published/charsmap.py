"""SentencePiece's compiled rules for characters: which run of characters becomes which.

Takes: the rules as a model file holds them.
Gives: the longest rule that a text begins with at a place.
Uses:  errors.
Never: a look outside the file, however its links point.

    file = size of the trie (four bytes) · trie · replacements, each ended by a zero byte

The trie is a double array (Aoe 1989) over the bytes of UTF-8, one 32-bit unit a node. A node's children lie around a
base: the child for byte b at `base XOR b`, marked with the label b; a rule that ends at a node is at the base itself.
"""

import struct
import sys
from array import array
from pathlib import Path

from clearhead.errors import TextError

__all__ = ["Charsmap"]

_UNIT_BYTES = 4
_LABEL = 0x8000_00FF
_VALUE = 0x7FFF_FFFF
# The longest that Unicode knows is a phrase in one Arabic character, a fraction of this.
_MAX_REPLACEMENT_BYTES = 256


class Charsmap:
    """The rules of a normaliser.

    Args:
        blob: The compiled rules; empty for none.
        name: The file that they came from, for errors.
    """

    def __init__(self, *, blob: bytes, name: Path) -> None:
        self._units = array("I")
        self._replacements = b""
        if not blob:
            return
        size = struct.unpack_from("<I", blob)[0] if len(blob) >= _UNIT_BYTES else 0
        if not 0 < size <= len(blob) - _UNIT_BYTES or size % _UNIT_BYTES:
            raise TextError(
                "a SentencePiece model that cannot be used",
                got=f"{name}: rules for characters whose table is {size} of {len(blob)} bytes",
                expected="rules as SentencePiece compiles them",
            )
        self._units.frombytes(blob[_UNIT_BYTES : _UNIT_BYTES + size])
        if sys.byteorder == "big":
            self._units.byteswap()
        self._replacements = blob[_UNIT_BYTES + size :]

    def is_final(self, letter: str) -> bool:
        """Whether no rule goes on behind a character, so that what becomes of it never depends on what follows."""
        step = self._step(self._base(0), letter) if self._units else None
        if step is None:
            return True
        children = ((byte, step[0] ^ byte) for byte in range(1, 256))
        return not any(place < len(self._units) and self._units[place] & _LABEL == byte for byte, place in children)

    def match(self, text: str, start: int) -> tuple[int, str] | None:
        """How many characters the longest rule at a place takes, and what it puts there; None where there is none."""
        if not self._units:
            return None
        step, longest = self._step(self._base(0), text[start]), None
        n_taken = 1
        while step is not None:
            base, replacement = step
            if replacement is not None:
                longest = (n_taken, replacement)
            if start + n_taken == len(text):
                break
            step = self._step(base, text[start + n_taken])
            n_taken += 1
        return longest

    def _step(self, base: int, letter: str) -> tuple[int, str | None] | None:
        """From one node's base to the next by a character, and the rule that ends there; None where no rule goes on."""
        ends = False
        for byte in letter.encode("utf-8"):
            place = base ^ byte
            if place >= len(self._units) or self._units[place] & _LABEL != byte:
                return None
            ends = bool(self._units[place] >> 8 & 1)
            base = place ^ self._base(place)
        return base, self._replacement(base) if ends else None

    def _base(self, place: int) -> int:
        """How far a node's children lie from it; far ones are stored without their low bits."""
        unit = self._units[place]
        return unit >> 10 << (8 if unit >> 9 & 1 else 0)

    def _replacement(self, base: int) -> str | None:
        start = self._units[base] & _VALUE if base < len(self._units) else len(self._replacements)
        end = self._replacements.find(b"\0", start, start + _MAX_REPLACEMENT_BYTES)
        return self._replacements[start:end].decode("utf-8", "replace") if end >= 0 else None
