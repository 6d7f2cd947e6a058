"""A long text in pieces that are short enough for a model, divided where a reader would divide it.

Takes: a text, how long a piece may be, and how length is measured: in characters, in tokens.
Gives: pieces, without the white space between them.
Uses:  errors, sentences.
Never: divides a sentence that fits, a word that fits, or what a reader sees as one character where that fits;
       measures much more than a piece at a time.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from unicodedata import category

from clearhead.errors import TextError
from clearhead.text.sentences import split_sentences

__all__ = ["split_passages"]

_FIRST_REACH = 256
_NON_JOINER, _JOINER = "\u200c", "\u200d"
# Viramas, which bind consonants as in Hindi, and Arabic signs that stand under the number after them.
_BINDERS = frozenset("\u094d\u09cd\u0acd\u0b4d\u0c4d\u0d4d\u0600\u0601\u0602\u0603\u0604\u0605\u06dd")
_TAILS = frozenset("\u0e33\u0eb3")  # vowels of Thai and Lao that are written as letters
_Span = tuple[int, int]


def split_passages(text: str, *, limit: int, length: Callable[[str], int] = len) -> list[str]:
    """The pieces of a text, each as many whole sentences as fit.

    A sentence that is too long is divided between words, a word that is too long between characters.

    Args:
        text: Any text.
        limit: How long a piece may be.
        length: Measures a piece. More text should not measure less; where it does, pieces may be shorter
            than they need be, but never too long.

    Raises:
        TextError: A single character is longer than the limit.
    """
    if limit < 1:
        raise TextError("a limit that no piece can keep", got=limit, expected="1 or more")
    spans: list[_Span] = []
    place = 0
    for segment in split_sentences(text):
        end = place + len(segment.text)
        if segment.is_sentence:
            spans.append((place, end))
        place = end
    return list(_packed(text, spans, (_words, _characters, _code_points), lambda piece: length(piece) <= limit))


_Divide = Callable[[str, int, int], Sequence[_Span]]


def _packed(text: str, spans: Sequence[_Span], finer: Sequence[_Divide], fits: Callable[[str], bool]) -> Iterator[str]:
    """Neighbouring spans joined as long as they fit; one that does not fit alone is divided more finely."""
    ends = [end for _, end in spans]
    reach = _FIRST_REACH
    first = 0
    while first < len(spans):
        start = spans[first][0]
        last = _last_that_fits(text, start, ends, first=first, reach=reach, fits=fits)
        if last >= first:
            yield text[start : ends[last]]
            reach = ends[last] - start
            first = last + 1
            continue
        if not finer:
            raise TextError("a limit that is too small for a single character", got=repr(text[start : ends[first]]))
        yield from _packed(text, finer[0](text, start, ends[first]), finer[1:], fits)
        first += 1


def _last_that_fits(
    text: str, start: int, ends: Sequence[int], *, first: int, reach: int, fits: Callable[[str], bool]
) -> int:
    """The last span that fits into a piece from `start` on, or `first` − 1.

    The reach in characters is doubled until a piece is too long, so that a short piece before a giant span
    does not cost a measurement of the giant for every step.
    """
    good, bad = first - 1, len(ends)
    while bad == len(ends) and good + 1 < bad:
        tried = max(good + 1, bisect_right(ends, start + reach, good + 1, bad) - 1)
        if fits(text[start : ends[tried]]):
            good = tried
            reach = 2 * max(reach, ends[tried] - start)
        else:
            bad = tried
    while good + 1 < bad:
        tried = (good + bad) // 2
        if fits(text[start : ends[tried]]):
            good = tried
        else:
            bad = tried
    return good


def _words(text: str, start: int, end: int) -> list[_Span]:
    spans: list[_Span] = []
    place = start
    for word in text[start:end].split():
        place = text.index(word, place)
        spans.append((place, place + len(word)))
        place += len(word)
    return spans


def _characters(text: str, start: int, end: int) -> list[_Span]:
    """What a reader sees as single characters: letters with their marks, joined emoji, flags, Korean syllables."""
    spans: list[_Span] = []
    begun = start
    is_half_flag = _is_flag_letter(text[start])
    for place in range(start + 1, end):
        before, after = text[place - 1], text[place]
        if after < "\u0300" or not (_is_joined(before, after) or (is_half_flag and _is_flag_letter(after))):
            spans.append((begun, place))
            begun = place
            is_half_flag = _is_flag_letter(after)
        elif _is_flag_letter(after):
            is_half_flag = False
    spans.append((begun, end))
    return spans


def _is_joined(before: str, after: str) -> bool:
    """Whether a reader sees two code points as parts of one character; more are kept together than need be."""
    return (
        category(after)[0] == "M"
        or after in (_JOINER, _NON_JOINER)
        or before in (_JOINER, _NON_JOINER)
        or "\U0001f3fb" <= after <= "\U0001f3ff"  # skin tones
        or "\U000e0020" <= after <= "\U000e007f"  # tags, of regional flags
        or ("\u1160" <= after <= "\u11ff" and _is_korean(before))  # a syllable's vowel or end
        or ("\u1100" <= before <= "\u115f" and _is_korean(after))  # its beginning
        or ("\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff")  # halves of a pair
        or before in _BINDERS
        or after in _TAILS
    )


def _is_korean(mark: str) -> bool:
    return "\u1100" <= mark <= "\u11ff" or "\uac00" <= mark <= "\ud7a3"


def _is_flag_letter(mark: str) -> bool:
    return "\U0001f1e6" <= mark <= "\U0001f1ff"


def _code_points(text: str, start: int, end: int) -> list[_Span]:
    del text
    return [(place, place + 1) for place in range(start, end)]
