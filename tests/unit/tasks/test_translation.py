"""Translation puts sentences where they were."""

import pytest

from clearhead.errors import DecodingError
from clearhead.tasks import Loaded, translate
from clearhead.text.sentences import join_segments, split_sentences

from .conftest import Make

QUICK = {"max_new_tokens": 4, "beams": 2}


def test_white_space_stays_where_it_was(writer: Make) -> None:
    text = "\n\tThe cat.  It sat!\n\n  - On a mat\r\n"
    (found,) = translate(writer("marian"), [text], **QUICK)
    segments = split_sentences(text)
    assert len(found.sentences) == 3
    assert found.text == join_segments(segments, [one.text for one in found.sentences])
    assert [way.text for way in found.alternatives] == [found.text]
    assert found.text.startswith("\n\t")
    assert found.text.endswith("\r\n")


def test_all_sentences_of_all_texts_are_as_if_alone(writer: Make) -> None:
    loaded = writer("marian")
    texts = ["The cat sat.", "", "Who? Me! And a much longer one.", " \n "]
    together = translate(loaded, texts, **QUICK)
    assert [one.text for one in together] == [translate(loaded, [text], **QUICK)[0].text for text in texts]
    assert together[2].sentences[0].tokens == translate(loaded, ["Who?"], **QUICK)[0].sentences[0].tokens
    assert [one.alternatives for one in (together[1], together[3])] == [(), ()]
    assert [one.text for one in (together[1], together[3])] == ["", " \n "]


def test_the_best_ways_of_a_single_sentence_are_given(writer: Make) -> None:
    (found,) = translate(writer("marian"), ["  The cat sat.\n"], n_best=3, max_new_tokens=4)
    scores = [way.score for way in found.alternatives]
    assert len(scores) == 3
    assert scores == sorted(scores, reverse=True)
    assert found.alternatives[0].text == found.text
    assert all(way.text.startswith("  ") and way.text.endswith("\n") for way in found.alternatives)


def test_a_sentence_that_is_too_long_is_divided(writer: Make) -> None:
    loaded = writer("marian")
    text = "word " * 50 + "end."
    (found,) = translate(loaded, [text], **QUICK)
    (sentence,) = found.sentences
    assert len(sentence.tokens) > 4  # more than one piece was translated
    assert found.text == sentence.text


def test_the_tag_of_the_target_changes_what_is_read(polyglot: Loaded) -> None:
    french, german = (translate(polyglot, ["the cat sat ."], to=to, **QUICK)[0] for to in ("French", "de"))
    assert french.sentences[0].score != german.sentences[0].score


def test_a_text_of_one_enormous_line_is_translated_by_pieces(polyglot: Loaded) -> None:
    (found,) = translate(polyglot, ["x" * 3000], to="fr", max_new_tokens=1, beams=1)
    assert found.sentences[0].tokens


def test_nothing_to_translate_is_nothing(writer: Make) -> None:
    assert translate(writer("marian"), []) == []


def test_an_impossible_number_of_beams_is_refused(writer: Make) -> None:
    with pytest.raises(DecodingError, match="beams"):
        translate(writer("marian"), ["a"], beams=0)


def test_a_sentence_that_comes_again_is_written_the_same(writer: Make) -> None:
    (found,) = translate(writer("marian"), ["The cat.\nA dog.\nThe cat."], **QUICK)
    first, other, again = found.sentences
    assert first == again != other
