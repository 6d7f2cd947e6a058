"""The ramp from little to much: light to dark, so that grey printing and any colour vision keep its order."""

from collections.abc import Sequence

__all__ = ["INK", "PAPER", "ansi", "ink_on", "luminance", "shade"]

PAPER = "#ffffff"
INK = "#1c1c28"

# Pale sand, mint, teal, steel, indigo, night: each darker than the one before it.
_ANCHORS = ("#fbf8ec", "#cfe6cd", "#86c5bd", "#4394b4", "#2d5f9b", "#231f5c")

# The terminal's own numbers for shades like the anchors'.
_ANSI = (230, 194, 151, 115, 73, 67, 61, 60, 54, 17)


def shade(share: float) -> str:
    """The colour of a value, given as its share of the way from the lowest to the highest."""
    place = _clamp(share) * (len(_ANCHORS) - 1)
    left = min(int(place), len(_ANCHORS) - 2)
    part = place - left
    pairs = zip(_channels(_ANCHORS[left]), _channels(_ANCHORS[left + 1]), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * part):02x}" for a, b in pairs)


def ansi(share: float) -> tuple[int, int]:
    """Background and foreground of a value among the 256 colours of a terminal."""
    step = min(int(_clamp(share) * len(_ANSI)), len(_ANSI) - 1)
    return _ANSI[step], 16 if step < len(_ANSI) // 2 else 231


def luminance(colour: str) -> float:
    """How light a colour is, from 0 for black to 1 for white (WCAG's relative luminance)."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in _shares(colour)]
    red, green, blue = linear
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def ink_on(colour: str) -> str:
    """Dark or light ink, whichever reads better on a colour."""
    light = luminance(colour)
    on_dark_ink = (light + 0.05) / (luminance(INK) + 0.05)
    on_paper = (luminance(PAPER) + 0.05) / (light + 0.05)
    return INK if on_dark_ink >= on_paper else PAPER


def _clamp(share: float) -> float:
    return min(max(share, 0.0), 1.0)


def _channels(colour: str) -> Sequence[int]:
    return [int(colour[start : start + 2], 16) for start in (1, 3, 5)]


def _shares(colour: str) -> Sequence[float]:
    return [channel / 255 for channel in _channels(colour)]
