"""Steps of beam searches in one call: what is found is what steps by themselves find."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
import torch

from clearhead.config import SIZES, architecture
from clearhead.decoding import DecodingSettings, EarlyStopping, Finish
from clearhead.engine import Engine, Reply, Request, WeightFormat
from clearhead.engine import engine as engine_module
from clearhead.engine.kernels import quick_stack, ready
from clearhead.engine.kernels.quick_search import QuickSearches
from clearhead.engine.kernels.quick_writer import QuickWriter
from clearhead.errors import TextError
from clearhead.models import EncoderDecoder, build

SOURCES = [(5, 9, 3), (7,), (11, 4, 20, 8, 33, 2, 17), (6, 6), (30, 12, 5, 8)]
SETTINGS = DecodingSettings(beams=4, n_best=3, end_ids=(1,), max_new_tokens=24)


@pytest.fixture(autouse=True, scope="module")
def kernels() -> None:
    assert ready.load() is not None


@pytest.fixture(params=[1, 2])
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)


def engine(name: str, weights: WeightFormat, *, vocab_size: int = 90) -> Engine:
    size = replace(SIZES["tiny"], n_layers=2, n_heads=2, width=32, feedforward_width=40, max_length=64)
    network = build(architecture(name, size=size, vocab_size=vocab_size), seed=2)
    assert isinstance(network, EncoderDecoder)
    letters = "".join(map(chr, range(0x4E00, 0x4E00 + vocab_size)))
    return Engine(
        network=network.eval(),
        to_text=lambda ids: "".join(letters[index] for index in ids),
        weights=weights,
        start_id=0,
    )


def step_by_step(monkeypatch: pytest.MonkeyPatch, made: Engine, requests: list[Request]) -> list[Reply]:
    with monkeypatch.context() as patch:
        patch.setattr(engine_module, "quick_writer", lambda _, stepper: stepper)
        return made.generate(requests)


def count_calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    taken: list[int] = []
    follow = QuickWriter.follow

    def counted(self: QuickWriter, searches: QuickSearches) -> None:
        taken.append(len(searches.ids))
        follow(self, searches)

    monkeypatch.setattr(QuickWriter, "follow", counted)
    return taken


@pytest.mark.parametrize("prefix", [(), (4,)])
@pytest.mark.parametrize("weights", WeightFormat)
@pytest.mark.parametrize("name", ["marian", "original", "t5", "flan-t5"])
def test_the_same_beams_as_by_steps(
    name: str, weights: WeightFormat, prefix: tuple[int, ...], threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = engine(name, weights)
    requests = [Request(ids=source, prefix=prefix, settings=SETTINGS) for source in SOURCES]
    wanted, taken = step_by_step(monkeypatch, made, requests), count_calls(monkeypatch)
    found = made.generate(requests)
    if weights is WeightFormat.INT8 and made.network.decoder.final_norm is not None:
        assert not taken  # the last norm is a part's
    else:
        assert taken[0] == (4 if prefix else 1) * len(SOURCES)  # from one id on, the first step goes the same way
        assert len(taken) == 2  # more steps than one call takes
    for one, other in zip(found, wanted, strict=True):
        assert [answer.ids for answer in one.answers] == [answer.ids for answer in other.answers]
        for answer, like in zip(one.answers, other.answers, strict=True):
            assert answer.score == pytest.approx(like.score, abs=1e-5)


@pytest.mark.parametrize("forbids", [False, True])
@pytest.mark.parametrize("weights", WeightFormat)
@pytest.mark.parametrize("name", ["marian", "t5"])
def test_the_likeliest_ids_are_those_of_steps_with_their_log_probabilities(
    name: str, weights: WeightFormat, forbids: bool, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = engine(name, weights)
    ends = {"t5": (7, 15), "marian": (1,)}[name]
    settings = replace(SETTINGS, beams=1, n_best=1, early_stopping=EarlyStopping.NEVER, end_ids=ends)
    if forbids:  # what would come otherwise
        first = made.generate([Request(ids=SOURCES[0], settings=settings)])[0].best.ids[:2]
        settings = replace(settings, bad_words=tuple((index,) for index in first))
    requests = [Request(ids=source, settings=settings) for source in SOURCES]
    with monkeypatch.context() as patch:
        patch.setattr(engine_module, "quick_writer", lambda _, stepper: stepper)
        wanted = made.generate(requests, scored=True)
    taken = count_calls(monkeypatch)
    found, plain = made.generate(requests, scored=True), made.generate(requests)
    assert bool(taken) == (weights is WeightFormat.FLOAT32 or made.network.decoder.final_norm is None)
    for one, other, unscored in zip(found, wanted, plain, strict=True):
        assert one.best.ids == other.best.ids == unscored.best.ids
        assert (one.best.finish, one.best.text) == (other.best.finish, other.best.text)
        assert len(one.best.text) == len(one.best.ids) - (one.best.finish is Finish.END)
        assert not {index for (index,) in settings.bad_words} & set(one.best.ids) - set(ends)
        assert one.best.log_probabilities == pytest.approx(other.best.log_probabilities, abs=2e-5)
        assert one.best.score == pytest.approx(other.best.score, abs=1e-4)
        assert unscored.best.score is None and not unscored.best.log_probabilities


def test_rows_of_likeliest_ids_leave_when_they_end(monkeypatch: pytest.MonkeyPatch) -> None:
    made = engine("t5", WeightFormat.FLOAT32)
    alone = [made.generate([Request(ids=source, settings=DecodingSettings(max_new_tokens=24))]) for source in SOURCES]
    ends = tuple({reply.best.ids[2 + 3 * place] for place, (reply,) in enumerate(alone)})
    settings = DecodingSettings(max_new_tokens=24, end_ids=ends)
    requests = [Request(ids=source, settings=settings) for source in SOURCES]
    wanted, taken = step_by_step(monkeypatch, made, requests), count_calls(monkeypatch)
    found = made.generate(requests, scored=True)
    assert taken and Finish.END in {reply.best.finish for reply in found}
    assert len({len(reply.best.ids) for reply in found}) > 1
    assert [reply.best.ids for reply in found] == [reply.best.ids for reply in wanted]
    assert all(len(reply.best.log_probabilities) == len(reply.best.ids) for reply in found)


def test_rows_of_likeliest_ids_can_be_stopped_between_calls() -> None:
    made = engine("marian", WeightFormat.FLOAT32)
    asked = itertools.count()
    requests = [Request(ids=source, settings=DecodingSettings(max_new_tokens=60)) for source in SOURCES]
    replies = made.generate(requests, scored=True, cancelled=lambda: next(asked) > 1)
    for reply in replies:
        assert reply.best.finish is Finish.CANCELLED
        assert 1 < len(reply.best.ids) == len(reply.best.log_probabilities) < 60


@pytest.mark.parametrize("unreadable", [False, True])
def test_bytes_that_are_no_characters_are_shown_as_they_are_when_they_come_one_by_one(
    unreadable: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = engine("marian", WeightFormat.FLOAT32)

    def text(ids: Sequence[int]) -> str:
        """Bytes, all of which are lost where one is too many."""
        whole = "".join(chr(97 + index % 26) for index in ids)
        return whole if not unreadable or len(ids) % 5 else "\N{REPLACEMENT CHARACTER}" * len(ids)

    monkeypatch.setattr(made, "_to_text", text)
    settings = DecodingSettings(max_new_tokens=10)
    requests = [Request(ids=source, settings=settings) for source in SOURCES]
    wanted = [reply.best.text for reply in step_by_step(monkeypatch, made, requests)]
    assert [reply.best.text for reply in made.generate(requests)] == wanted


@pytest.mark.parametrize("n_most", [0, 1, 17])
def test_rows_of_likeliest_ids_may_be_as_short_as_they_like(n_most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    made = engine("marian", WeightFormat.FLOAT32)
    settings = DecodingSettings(max_new_tokens=n_most, end_ids=(1,))
    requests = [Request(ids=source, settings=settings) for source in SOURCES]
    taken = count_calls(monkeypatch)
    found = made.generate(requests)
    assert bool(taken) == (n_most > 0)
    for one, other in zip(found, step_by_step(monkeypatch, made, requests), strict=True):
        assert (one.best.ids, one.best.finish, one.best.text) == (other.best.ids, other.best.finish, other.best.text)


@pytest.mark.parametrize("early", list(EarlyStopping))
@pytest.mark.parametrize("penalty", [0.0, 0.7, 2.0])
@pytest.mark.parametrize("vocab_size", [3, 5, 9])
def test_beams_may_be_few_at_first_and_end_at_any_step(
    vocab_size: int, penalty: float, early: EarlyStopping, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = engine("marian", WeightFormat.FLOAT32, vocab_size=vocab_size)
    settings = replace(SETTINGS, beams=6, early_stopping=early, length_penalty=penalty, max_new_tokens=19)
    requests = [Request(ids=(2, 1 + place % 2), settings=settings) for place in range(4)]
    found = made.generate(requests)
    for one, other in zip(found, step_by_step(monkeypatch, made, requests), strict=True):
        assert [answer.ids for answer in one.answers] == [answer.ids for answer in other.answers]
        assert [answer.finish for answer in one.answers] == [answer.finish for answer in other.answers]


@pytest.mark.parametrize("weights", WeightFormat)
@pytest.mark.parametrize("vocab_size", [512, 513, 700, 1600])
def test_vocabularies_of_many_chunks(
    vocab_size: int, weights: WeightFormat, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = engine("marian", weights, vocab_size=vocab_size)
    requests = [Request(ids=source, settings=replace(SETTINGS, max_new_tokens=9)) for source in SOURCES]
    wanted, taken = step_by_step(monkeypatch, made, requests), count_calls(monkeypatch)
    found = made.generate(requests)
    assert taken
    for one, other in zip(found, wanted, strict=True):
        assert [answer.ids for answer in one.answers] == [answer.ids for answer in other.answers]
        for answer, like in zip(one.answers, other.answers, strict=True):
            assert answer.score == pytest.approx(like.score, abs=1e-6)
    assert max(index for reply in found for index in reply.best.ids) > vocab_size // 2


def test_a_search_can_be_stopped_between_calls() -> None:
    made = engine("marian", WeightFormat.FLOAT32)
    settings = replace(SETTINGS, end_ids=(), max_new_tokens=60)
    asked: list[None] = []

    def cancelled() -> bool:
        asked.append(None)
        return len(asked) > 2

    reply = made.generate([Request(ids=SOURCES[0], settings=settings)], cancelled=cancelled)[0]
    assert reply.best.finish is Finish.CANCELLED
    assert 1 < len(reply.best.ids) < 60


def test_more_rows_than_kernels_are_good_for_go_by_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    made = engine("marian", WeightFormat.FLOAT32)
    requests = [Request(ids=source, settings=SETTINGS) for source in SOURCES]
    wanted = step_by_step(monkeypatch, made, requests)
    monkeypatch.setattr(quick_stack, "_MOST_ROWS", dict.fromkeys(quick_stack._MOST_ROWS, 3))
    monkeypatch.setattr(quick_stack, "_MOST_SHORT_ROWS", 3)
    taken = count_calls(monkeypatch)
    found = made.generate(requests)
    assert len(taken) > 2  # one step at a time
    assert [reply.best.ids for reply in found] == [reply.best.ids for reply in wanted]


@pytest.mark.parametrize("n_ids", [62, 63, 64, 100])
def test_a_long_beginning_fills_the_memory_that_a_cache_begins_with(
    n_ids: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = engine("t5", WeightFormat.FLOAT32)
    prefix = tuple(2 + place % 80 for place in range(n_ids))
    requests = [Request(ids=SOURCES[0], prefix=prefix, settings=SETTINGS)]
    wanted, taken = step_by_step(monkeypatch, made, requests), count_calls(monkeypatch)
    assert made.generate(requests)[0].best.ids == wanted[0].best.ids
    assert taken


def test_an_id_outside_the_vocabulary_is_told_as_ever() -> None:
    made = engine("marian", WeightFormat.FLOAT32)
    made._start_id = 90
    with pytest.raises(TextError, match="outside the vocabulary"):
        made.generate([Request(ids=SOURCES[0], settings=SETTINGS)])


def test_a_text_is_what_it_would_be_alone() -> None:
    made = engine("marian", WeightFormat.INT8)
    requests = [Request(ids=source, settings=SETTINGS) for source in SOURCES]
    for together, request in zip(made.generate(requests), requests, strict=True):
        assert together == made.generate([request])[0]


def test_many_rows_near_and_far() -> None:
    made = engine("marian", WeightFormat.INT8)
    requests = [Request(ids=(3 + place % 50, 9, place % 7 + 2), settings=SETTINGS) for place in range(40)]
    found = made.generate(requests)
    assert [made.generate([request])[0] for request in requests[::13]] == found[::13]


def test_prompts_of_several_lengths_go_by_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    made, taken = engine("marian", WeightFormat.FLOAT32), count_calls(monkeypatch)
    requests = [Request(ids=SOURCES[0], prefix=prefix, settings=SETTINGS) for prefix in ((), (4, 5))]
    assert len(made.generate(requests)) == 2
    assert not taken
