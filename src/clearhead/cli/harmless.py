"""Text as a terminal may show it: nothing in it that the terminal would obey.

Takes: text from files, models and strangers.
Gives: the same text, its control characters as symbols.
Uses:  figures, where there is something to replace.
Never: changes a tab or a line break.
"""

import re

__all__ = ["harmless"]

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def harmless(text: str) -> str:
    """The same text, with a symbol for each character that moves the cursor, colours or rings."""
    return _CONTROL.sub(_symbol, text)


def _symbol(found: re.Match[str]) -> str:
    from clearhead.figures.words import visible

    return visible(found[0])
