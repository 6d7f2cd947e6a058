"""The scrambler: "fi yuo cna raed tihs".

Takes: a text and a seed.
Gives: the text with the inner letters of each word shuffled.
Uses:  words (for the check).
Never: touches a word's first or last letter, a digit, a mark or a space.
"""

import random
import unicodedata
from itertools import groupby

from clearhead.text.words import check_text

__all__ = ["scramble_words"]

_JOINERS = "\u200c\u200d"


def scramble_words(text: str, *, seed: int = 0) -> str:
    """Shuffle the inner letters of every word; a word that can change does change.

    A letter moves together with the marks that sit on it, so that Hindi stays readable letter by letter.
    """
    chance = random.Random(seed)  # noqa: S311  (a game, not a secret)
    runs = groupby(_letters(check_text(text)), key=lambda letter: letter[0].isalpha())
    return "".join("".join(_shuffle_inside(list(run), chance) if is_word else run) for is_word, run in runs)


def _letters(text: str) -> list[str]:
    """A text letter by letter, each with its marks."""
    letters: list[str] = []
    for character in text:
        if letters and (character in _JOINERS or unicodedata.category(character).startswith("M")):
            letters[-1] += character
        else:
            letters.append(character)
    return letters


def _shuffle_inside(word: list[str], chance: random.Random) -> list[str]:
    inside = word[1:-1]
    if len(set(inside)) < 2:
        return word
    shuffled = inside.copy()
    while shuffled == inside:
        chance.shuffle(shuffled)
    return [word[0], *shuffled, word[-1]]
