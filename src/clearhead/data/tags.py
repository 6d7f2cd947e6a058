"""The pieces that name a target language, such as >>fr<<, as Marian's models of several languages have them.

Takes: tags such as fr or pt-br, and pieces of a vocabulary.
Gives: the piece that spells a tag, and the tag that a piece spells.
Uses:  errors.
Never: a tag that a finished model could not be asked for.
"""

import re
from collections.abc import Mapping

from clearhead.errors import TextError

__all__ = ["check_tag", "read_tag", "spell_tag", "tags_among"]

_TAG = re.compile(r"[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8})*")
_OPENING = ">>"
_PIECE = re.compile(f"{_OPENING}({_TAG.pattern})<<")


def check_tag(tag: str) -> str:
    """The same tag, or a TextError where it does not look like a language's."""
    if not _TAG.fullmatch(tag):
        raise TextError("a tag that is not a language's", got=repr(tag[:60]), expected="letters such as fr or pt-br")
    return tag


def spell_tag(tag: str) -> str:
    """The piece that names a target language."""
    return f">>{tag}<<"


def read_tag(piece: str) -> str | None:
    """The target language that a piece names, if it names one."""
    found = _PIECE.fullmatch(piece)
    return None if found is None else found[1]


def tags_among(vocabulary: Mapping[str, int]) -> dict[str, int]:
    """The target languages that the pieces of a vocabulary name, and the ids of these pieces, in their order."""
    likely = sorted((index, piece) for piece, index in vocabulary.items() if piece.startswith(_OPENING))
    return {tag: index for index, piece in likely if (tag := read_tag(piece)) is not None}
