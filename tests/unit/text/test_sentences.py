"""Where sentences end, where they do not, and how they are put back."""

import pytest

from clearhead.errors import TextError
from clearhead.text.sentences import Segment, join_segments, split_sentences


def sentences(text: str) -> list[str]:
    return [segment.text for segment in split_sentences(text) if segment.is_sentence]


DIVIDED = {
    "plain": "One. |Two! |Three? |Four… |Five",
    "runs of marks": "What?! |No... |Yes.",
    "closing quotes and brackets": "“Go.” |(He went.) |«Oui !» |She said 'no.' |Then",
    "a note's number": "It is known.[12] |It is old.",
    "Hindi": "नमस्ते। |आप कैसे हैं? |मैं ठीक हूँ।",
    "Hindi without a space": "वह गया।|मैं भी।",
    "Chinese": "你好。|再见！|是吗？|是。",
    "Arabic and Urdu": "كيف حالك؟ |بخير. |ٹھیک ہے۔ |شکریہ",
    "Spanish": "¿Qué? |¡Nada! |Bueno.",
    "an address at the end": "See http://a.org/b?c=d. |It is good.",
    "a year": "It was in 1995. |Then came more.",
    "a word like an abbreviation": "She said no. |He left.",
    "an abbreviation at the end": "I live in the U.S. |The end came at 3 p.m. |Then we left Apple Inc. |They stayed.",
}


@pytest.mark.parametrize("case", DIVIDED)
def test_sentences_end(case: str) -> None:
    parts = DIVIDED[case].split("|")
    assert sentences("".join(parts)) == [part.strip() for part in parts]


WHOLE = {
    "titles": "Mr. Smith, Mrs. Jones and Dr. Who met Prof. Plum in St. Ives.",
    "initials": "J. R. R. Tolkien knew C. S. Lewis.",
    "French": "M. Dupont et Mme. Curie parlent.",
    "German": "Das gilt z.B. Montag, d.h. Herr Dr. Müller kommt, vgl. Abb. 3 und Nr. 7.",
    "German, spaced": "Das ist z. B. Berlin.",
    "German dates": "Am 3. Oktober 1990 und am 4. 11. 1991 war es so.",
    "ordinals": "Le 2. étage, das 19. jahrhundert.",
    "Latin": "Fruit, e.g. Apples, i.e. Malus, cf. Linné et al. Systema.",
    "numbers": "It costs 3.50 or 1.000.000 today, No. 5 even more, see Fig. 2 and p. 12.",
    "months": "On Jan. 5 it snowed.",
    "dots inside": "Node.js reads config.json from www.example.com/a.b?c!d and ends",
    "speech that goes on": "“Why?” she asked.",
    "lower case goes on": "Well... maybe! or not.",
    "a quote in Japanese": "「行こう。」と言った。",
    "a nation": "The U.S. Army and the U.K. Parliament met.",
    "a numbered heading": "1. Introduction",
    "only marks": "...",
}


@pytest.mark.parametrize("case", WHOLE)
def test_sentences_go_on(case: str) -> None:
    assert sentences(WHOLE[case]) == [WHOLE[case]]


def test_line_breaks_and_white_space_are_kept_apart() -> None:
    text = "\n  One\r\n\r\n\tTwo.  Three \u2028- four\n"
    assert split_sentences(text) == [
        Segment("\n  ", is_sentence=False),
        Segment("One", is_sentence=True),
        Segment("\r\n\r\n\t", is_sentence=False),
        Segment("Two.", is_sentence=True),
        Segment("  ", is_sentence=False),
        Segment("Three", is_sentence=True),
        Segment(" \u2028", is_sentence=False),
        Segment("- four", is_sentence=True),
        Segment("\n", is_sentence=False),
    ]


def test_nothing_and_white_space_alone() -> None:
    assert split_sentences("") == []
    assert split_sentences(" \n ") == [Segment(" \n ", is_sentence=False)]


def test_other_sentences_take_the_places() -> None:
    segments = split_sentences("One.  Two.\n\n\tThree.\n")
    assert join_segments(segments, ["Un.", "Deux.", "Trois."]) == "Un.  Deux.\n\n\tTrois.\n"


def test_sentences_that_touched_get_a_space_where_the_language_needs_one() -> None:
    segments = split_sentences("你好。再见！\n好。")
    assert join_segments(segments, ["Hello.", "Bye!", "Good."]) == "Hello. Bye!\nGood."
    assert join_segments(segments, ["こんにちは。", "じゃね！", "よし。"]) == "こんにちは。じゃね！\nよし。"
    assert join_segments(segments, ["", "Bye!", ""]) == "Bye!\n"


def test_too_few_sentences_are_refused() -> None:
    with pytest.raises(TextError, match="2 sentences"):
        join_segments(split_sentences("One. Two."), ["Un."])
