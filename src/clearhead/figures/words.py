"""Words as a picture needs them: visible, short enough, and of a known width."""

import unicodedata

__all__ = ["short_number", "shorten", "visible", "width"]

_NARROW = frozenset("fijlrtI.,:;'|!()[]{}1 ‘’")
_WIDE = frozenset("mwMWQO@%&—…")


def visible(text: str) -> str:
    """The same text with every character that XML forbids or no eye can see written as a symbol."""
    return "".join(map(_symbol, text))


def shorten(text: str, *, most: int) -> str:
    """A text of at most so many letters, cut with an ellipsis and never between a letter and its sign."""
    clusters = _clusters(text)
    return text if len(clusters) <= most else "".join(clusters[: most - 1]) + "…"


def short_number(value: float) -> str:
    """A number in few characters: exact where it is 0 or 1, rounded otherwise."""
    if value in (0, 1, -1):
        return f"{value:.0f}"
    if abs(value) >= 0.995:
        return f"{value:.4g}" if abs(value) >= 99.5 else f"{value:.1f}"
    return f"{value:.2f}".replace("0.", ".", 1)


def width(text: str, *, size: float) -> float:
    """About how wide a text is in a sans-serif face of this size; rather too wide than too narrow."""
    return size * sum(map(_em, text))


def _symbol(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if 0x80 <= code < 0xA0 or 0xD800 <= code <= 0xDFFF or code in (0xFFFE, 0xFFFF):
        return "\ufffd"
    return character


def _clusters(text: str) -> list[str]:
    """Letters, each with the signs that belong to it."""
    clusters: list[str] = []
    for character in text:
        joins = clusters and (clusters[-1].endswith(("\u200d", "\u094d")) or _is_sign(character))
        if joins:
            clusters[-1] += character
        else:
            clusters.append(character)
    return clusters


def _is_sign(character: str) -> bool:
    return unicodedata.category(character) in ("Mn", "Mc", "Me", "Cf")


def _em(character: str) -> float:
    category = unicodedata.category(character)
    if category in ("Mn", "Me", "Cf"):
        return 0.0
    if category == "Mc":
        return 0.4
    if unicodedata.east_asian_width(character) in "WF":
        return 1.05
    if character in _NARROW:
        return 0.36
    if character in _WIDE:
        return 0.95
    return 0.7 if category == "Lu" else 0.6
