"""The tokens of a run, each with what people read in its place.

A piece of bytes may end inside a letter: one of Devanagari takes three bytes. Such a piece says nothing by itself. The
piece that completes the letter shows it, and those before it show a sign that they lead there.
"""

from collections.abc import Callable, Sequence
from weakref import WeakKeyDictionary

from clearhead.text import Tokenizer
from clearhead.trace.trace import Token

Pieces = Callable[[int], str]
PART = "…"
"""What stands for bytes that are no letter yet."""
_HALF = "\ufffd"  # what decoding puts there
_MOST_PIECES = 64
_known: WeakKeyDictionary[Tokenizer, dict[int, Token]] = WeakKeyDictionary()


def named(ids: Sequence[int], names: Tokenizer | Pieces) -> tuple[Token, ...]:
    """Ids as tokens.

    Args:
        ids: The ids, in order.
        names: Their tokenizer, or what turns an id into its piece.
    """
    numbers = [int(index) for index in ids]
    if not isinstance(names, Tokenizer):
        return tuple(Token(id=index, piece=names(index)) for index in numbers)
    known = _known.setdefault(names, {})
    tokens = [known.get(index) or _alone(index, names) for index in numbers]
    start = 0
    while start < len(tokens):
        start = _complete(tokens, start, names) if tokens[start].text.endswith(PART) else start + 1
    return tuple(tokens)


def read_alone(index: int, names: Tokenizer) -> str:
    """What people read in the place of one id, whatever stands around it."""
    text = _alone(index, names).text
    return f"{PART}#{index}" if text == PART else text


def _alone(index: int, names: Tokenizer) -> Token:
    """The token of an id by itself, made once: runs are short, and naming would be a part of what they cost."""
    known = _known.setdefault(names, {})
    token = known.get(index)
    if token is None:
        text = names.readable(index)
        if index < names.vocab_size:
            read = names.decode([index], skip_special=False).strip(" ")
            text = _shown(read) if _HALF in read else text
        token = known[index] = Token(id=index, piece=names.name_of(index), text=text)
    return token


def _complete(tokens: list[Token], start: int, names: Tokenizer) -> int:
    """Gives pieces that end inside a letter, and those that go on with it, their letters; the place after them."""
    end, n_read = start, 0
    while end < min(len(tokens), start + _MOST_PIECES):
        read = names.decode([token.id for token in tokens[start : end + 1]], skip_special=False).lstrip(" ")
        whole = read.rstrip(_HALF)
        new = _shown(whole[n_read:] + (_HALF if whole != read else "")).strip(" ")
        token = tokens[end]
        tokens[end] = Token(id=token.id, piece=token.piece, text=new or token.text)
        n_read, end = len(whole), end + 1
        if whole == read:
            break
    return end


def _shown(read: str) -> str:
    """What was decoded, with one sign for all bytes in a row that are no letter."""
    parts = read.split(_HALF)
    kept = [part for place, part in enumerate(parts) if part or place in (0, len(parts) - 1)]
    return PART.join(kept)
