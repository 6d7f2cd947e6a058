r"""Where a text divides into sentences, so that each can be translated and put back in its place.

Takes: a text of any length, in most scripts.
Gives: its sentences and the white space between them, which together are the text.
Uses:  nothing.
Never: loses or moves a character; looks far back or ahead, so that time grows with the text and no faster.

    "One.  Two!\n\n\tThree"  ->  [One.] "  " [Two!] "\n\n\t" [Three]

Where a rule is in doubt it does not divide: two sentences in one are translated well, half a sentence is not.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from clearhead.errors import TextError

__all__ = ["Segment", "join_segments", "split_sentences"]

# Marks that end a sentence only before white space, and those that need none: danda, Arabic, Ethiopic, East Asian.
_NARROW = ".!?…‼⁇⁈⁉"
_WIDE = "।॥؟۔։።。｡！？"
_CLOSERS = "\"'”’»›)]}」』】》〉）］｝"
_OPENERS = "\"'“‘„‚«‹([{¿¡「『【《〈（［｛*_-–—"
_BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"

# A line without the white space around it.
_LINE = re.compile(rf"\S(?:[^{_BREAKS}]*\S)?")
# Marks match whatever follows them, so that no text makes this go over the same characters again.
_END = re.compile(
    rf"([{_NARROW}{_WIDE}]+)"
    rf"((?:[{re.escape(_CLOSERS)}]|\[\d{{1,3}}\])*)"  # [12] is a note's number
    rf"(\s*)"
)
_NEXT = re.compile(rf"[{re.escape(_OPENERS)}]{{0,4}}(\w{{0,16}})")
_DOTTED = re.compile(r"(?:[^\W\d_]{1,2}\.-?)+[^\W\d_]{1,3}")
_LONGEST_ABBREVIATION = 16


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


_ABBREVIATIONS = _listed("""
    mr mrs ms mx messrs dr drs prof rev hon st mt ft gen col capt cpt lt sgt sen rep gov pres supt
    vs viz cf al approx dept univ ed eds e.g i.e
    hr fr hl ca bzw ggf vgl inkl exkl zzgl evtl geb gest sog bspw dipl ing str z.b d.h u.a i.d.r o.ä s.o
    mme mlle mgr av env c.-à-d p.ex sr sra srta ud uds avda p.ej sig sigg dott avv exmo dhr mevr
    ул проф стр т.е डॉ प्रो पं श्री
""")
_BEFORE_NUMBERS = _listed("""
    no nos nr nrs fig figs vol vols pp ch chap sec art arts eq eqs abb bd kap tab ref núm nº ст рис
    jan feb mar apr jun jul aug sep sept oct nov dec
""")
# These come in the middle and at the end; then only a word that often begins a sentence tells.
_EITHER = _listed("inc ltd co corp jr plc bros ave blvd")
_BEGINNERS = _listed("""
    the a an in on at it he she they we you i this that these those there but and so if when then after however
    his her its their our my what who why how
    der die das ein eine er sie es wir ich im le la les un une il elle nous el los las
""")
_MONTHS = _listed("""
    januar jänner februar märz april mai juni juli august september oktober november dezember
    januari februari maart juin juillet août
""")


class Segment(NamedTuple):
    """A sentence, or the white space beside one."""

    text: str
    is_sentence: bool


def split_sentences(text: str) -> list[Segment]:
    """The sentences of a text and what stands between them; a line break always ends a sentence.

    A sentence neither begins nor ends with white space. Two of them touch where a script writes no space.
    """
    segments: list[Segment] = []
    place = 0
    for line in _LINE.finditer(text):
        start, line_end = line.span()
        if start > place:
            segments.append(Segment(text[place:start], is_sentence=False))
        for found in _END.finditer(text, start, line_end):
            marks, _, gap = found.groups()
            if not gap and marks[-1] not in _WIDE:  # inside a number, a word, an address
                continue
            after = found.end()
            if after < line_end and _is_end(text, start, found):
                segments.append(Segment(text[start : after - len(gap)], is_sentence=True))
                if gap:
                    segments.append(Segment(gap, is_sentence=False))
                start = after
        segments.append(Segment(text[start:line_end], is_sentence=True))
        place = line_end
    if place < len(text):
        segments.append(Segment(text[place:], is_sentence=False))
    return segments


def join_segments(segments: Sequence[Segment], sentences: Sequence[str] | None = None) -> str:
    """The text again, with other sentences in the places of its own.

    Args:
        segments: What split_sentences gave.
        sentences: One for each sentence, in order; by default the same, which gives back the very text.
    """
    if sentences is None:
        return "".join(segment.text for segment in segments)
    n_places = sum(segment.is_sentence for segment in segments)
    if len(sentences) != n_places:
        raise TextError("sentences that do not fit the text", got=len(sentences), expected=f"{n_places} sentences")
    parts: list[str] = []
    fresh = iter(sentences)
    needs_space = False
    for segment in segments:
        part = next(fresh) if segment.is_sentence else segment.text
        if needs_space and segment.is_sentence and part:
            parts.append(" ")
        parts.append(part)
        # Sentences that touched in Chinese do not touch in English.
        needs_space = segment.is_sentence and part not in ("", segment.text) and part[-1] not in _WIDE
    return "".join(parts)


def _is_end(text: str, start: int, found: re.Match[str]) -> bool:
    """Whether marks in the middle of a line end the sentence that began at `start`."""
    marks, closers, gap = found.groups()
    if marks[-1] in _WIDE:
        # After a closing quote without a space the sentence often goes on: 「行こう。」と言った。
        return bool(gap) or not closers
    following = _NEXT.match(text, found.end())
    word = following[1] if following else ""
    if word[:1].islower():
        return False
    return marks != "." or bool(closers) or _is_full_stop(text, start, found.start(), word)


def _is_full_stop(text: str, start: int, dot: int, following: str) -> bool:
    """Whether the dot at `dot` is more than a part of the word before it."""
    before = text[max(start, dot - _LONGEST_ABBREVIATION) : dot]
    if not before or before[-1].isspace():
        return True
    word = before.rsplit(None, 1)[-1].lstrip(_OPENERS).lower()
    if len(word) == 1 and word.upper() != word:  # an initial
        return False
    if word.isdigit():
        is_listed = len(word) <= 3 and dot - len(word) == start
        is_date = len(word) <= 2 and (following.isdigit() or following.lower() in _MONTHS)
        return not (is_listed or is_date)
    if word in _BEFORE_NUMBERS:
        return not following[:1].isdigit()
    if word in _EITHER or (word not in _ABBREVIATIONS and "." in word and _DOTTED.fullmatch(word)):
        return following.lower() in _BEGINNERS
    return word not in _ABBREVIATIONS
