"""Texts that go on, at once and as a stream."""

import pytest

from clearhead.config import HeadKind
from clearhead.errors import ConfigError, DecodingError, TextError
from clearhead.tasks import complete, stream

from .conftest import Make


@pytest.mark.parametrize("name", ["gpt2", "llama", "marian", "t5"])
@pytest.mark.parametrize("text", ["Once upon", "", "x\n "])
def test_a_stream_tells_the_same_as_the_whole(writer: Make, name: str, text: str) -> None:
    loaded = writer(name)
    options = {"seed": 5, "max_new_tokens": 12, "sample": True}
    ((whole,),) = complete(loaded, [text], **options)
    pieces = list(stream(loaded, text, **options))
    assert "".join(pieces) == whole.text
    assert len(pieces) > 1


def test_a_decoder_draws_where_nobody_says_otherwise(writer: Make) -> None:
    loaded = writer("gpt2")
    draws = {complete(loaded, ["a"], seed=seed, max_new_tokens=8)[0][0].tokens for seed in range(4)}
    greedy = {complete(loaded, ["a"], temperature=0, seed=seed, max_new_tokens=8)[0][0].tokens for seed in range(4)}
    assert len(draws) > 1
    assert len(greedy) == 1


def test_several_draws_differ_and_can_be_had_again(writer: Make) -> None:
    loaded = writer("gpt2")
    (first,) = complete(loaded, ["a"], n=3, seed=1, max_new_tokens=8)
    assert len({one.tokens for one in first}) == 3
    assert complete(loaded, ["b", "a"], n=3, seed=1, max_new_tokens=8)[1] == first


def test_several_without_drawing_are_beams(writer: Make) -> None:
    ((best, second),) = complete(writer("gpt2"), ["a"], n=2, sample=False, max_new_tokens=5)
    assert best.score > second.score


def test_scores_are_there_where_asked_for(writer: Make) -> None:
    ((plain,),) = complete(writer("gpt2"), ["a"], max_new_tokens=4)
    ((scored,),) = complete(writer("gpt2"), ["a"], max_new_tokens=4, scored=True)
    assert plain.score is None
    assert scored.score == pytest.approx(sum(scored.log_probabilities))
    assert len(scored.log_probabilities) == len(scored.tokens) == 4


def test_a_folder_that_asks_for_more_than_fits_is_capped_and_a_user_is_told(writer: Make) -> None:
    loaded = writer("gpt2", generation={"max_new_tokens": 1000})
    ((found,),) = complete(loaded, ["abc"], sample=False, min_new_tokens=45)
    assert len(found.tokens) == 45
    assert found.finish == "length"
    with pytest.raises(DecodingError, match="max_new_tokens=45"):
        complete(loaded, ["abc"], max_new_tokens=1000)


def test_a_prompt_that_is_too_long_is_refused_with_advice(writer: Make) -> None:
    with pytest.raises(DecodingError, match="slide"):
        complete(writer("gpt2"), ["x" * 100])
    assert complete(writer("gpt2", overflow="slide"), ["x" * 100], max_new_tokens=3)[0][0].tokens


def test_mistakes_show_when_a_stream_is_asked_for(writer: Make, reader: Make) -> None:
    with pytest.raises(DecodingError):
        stream(writer("gpt2"), "a", beams=0)
    with pytest.raises(ConfigError, match="it can embed"):
        stream(reader(HeadKind.NONE), "a")
    with pytest.raises(TextError):
        complete(writer("gpt2"), "one text")
    with pytest.raises(DecodingError, match="number of texts"):
        complete(writer("gpt2"), ["a"], n=0)


def test_a_stream_can_be_closed(writer: Make) -> None:
    pieces = stream(writer("gpt2"), "a", max_new_tokens=40)
    assert next(pieces)
    pieces.close()
    assert list(pieces) == []
