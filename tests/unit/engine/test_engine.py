from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

from clearhead.config import HeadConfig, HeadKind, RecurrentConfig
from clearhead.decoding import DecodingSettings, Event, Fate, Finish
from clearhead.engine import Engine, Overflow, Request, WeightFormat
from clearhead.engine import engine as engine_module
from clearhead.errors import DecodingError, TextError
from clearhead.models import build
from clearhead.probe import Recorder, listen
from clearhead.testing import ByteTokenizer, TinyModel

FAMILIES = ["gpt2", "llama", "t5", "marian", "recurrent"]
BYTES = ByteTokenizer()
TEXTS = [b"Hello there", b"a", b"four", b"The cat sat."]


def engine_of(name: str, **options: Any) -> Engine:
    if name == "recurrent":
        config = RecurrentConfig(vocab_size=BYTES.vocab_size, width=16, n_layers=1)
        return Engine(network=build(config, seed=0), to_text=BYTES.decode, start_id=1, **options)
    return Engine(network=TinyModel(name).model, to_text=BYTES.decode, start_id=1, **options)


def requests(**asked: Any) -> list[Request]:
    settings = DecodingSettings(**{"max_new_tokens": 4} | asked)
    ids = [tuple(4 + byte for byte in text) for text in TEXTS]
    return [Request(ids=one, settings=settings, draw=place) for place, one in enumerate(ids)]


def joined(steps: list[list[Event]], row: int) -> str:
    return "".join(event.text for step in steps for event in step if event.row == row)


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize(
    "asked",
    [{"sample": True, "seed": 3}, {"beams": 3, "n_best": 2, "end_ids": tuple(range(60))}],
    ids=["drawn", "beams"],
)
def test_a_batch_is_a_loop(name: str, asked: dict[str, Any]) -> None:
    engine = engine_of(name)
    together = engine.generate(requests(**asked), scored=True)
    for request, reply in zip(requests(**asked), together, strict=True):
        alone = engine.generate([request], scored=True)[0]
        assert [answer.ids for answer in alone.answers] == [answer.ids for answer in reply.answers]
        assert [answer.text for answer in alone.answers] == [answer.text for answer in reply.answers]
        scores = [answer.score for answer in alone.answers]
        assert scores == pytest.approx([answer.score for answer in reply.answers], abs=1e-4)


def test_whole_numbers_write_in_company_as_alone() -> None:
    engine = engine_of("llama", weights=WeightFormat.INT8)
    together = engine.generate(requests())
    assert [engine.generate([request])[0].best.ids for request in requests()] == [reply.best.ids for reply in together]


@pytest.mark.parametrize("name", ["llama", "marian", "recurrent"])
def test_a_stream_joined_is_the_text(name: str) -> None:
    engine = engine_of(name)
    asked = {"sample": True, "seed": 1, "max_new_tokens": 12, "temperature": 2.0, "stop": ("\x07", "ab")}
    steps = list(engine.stream(requests(**asked), scored=True))
    for row, reply in enumerate(engine.generate(requests(**asked), scored=True)):
        events = [event for step in steps for event in step if event.row == row]
        assert joined(steps, row) == reply.best.text
        assert tuple(event.id for event in events) == reply.best.ids
        assert events[-1].finish is reply.best.finish
        assert [event.log_probability for event in events] == pytest.approx(reply.best.log_probabilities, abs=1e-5)


def test_a_stream_of_beams_is_one_event_a_text() -> None:
    engine = engine_of("marian")
    [events] = list(engine.stream(requests(beams=2)))
    best = [reply.best for reply in engine.generate(requests(beams=2))]
    assert [event.row for event in events] == [0, 1, 2, 3]
    assert [event.text for event in events] == [answer.text for answer in best]
    assert [event.finish for event in events] == [answer.finish for answer in best]


def test_a_stop_string_ends_the_text() -> None:
    engine = engine_of("gpt2")
    asked: dict[str, Any] = {"max_new_tokens": 12, "sample": True, "seed": 1}
    free = engine.generate(requests(**asked))[0].best
    stop = next(letter for letter in free.text[2:] if letter.isascii())
    stopped = engine.generate(requests(**asked, stop=(stop,)))[0].best
    assert stopped.finish is Finish.STOP
    assert stopped.text == free.text[: free.text.index(stop)]
    assert len(stopped.ids) < len(free.ids)


def test_a_stop_string_that_shows_only_at_the_end_is_one_too() -> None:
    """Half characters are held back, so that a stop string made of them is found when nothing can follow."""
    engine = engine_of("gpt2")
    free = engine.generate(requests())[0].best
    assert free.text == "\ufffd" * 4
    stopped = engine.generate(requests(stop=("\ufffd\ufffd",)))[0].best
    assert (stopped.text, stopped.finish) == ("", Finish.STOP)


def test_text_that_goes_on_begins_with_its_space_and_an_answer_does_not() -> None:
    def words(ids: Any) -> str:
        return " ".join(f"w{index}" for index in ids)

    goes_on = Engine(network=TinyModel("gpt2").model, to_text=words)
    answers = Engine(network=TinyModel("marian").model, to_text=words, start_id=1)
    for beams in (1, 2):
        assert goes_on.generate(requests(beams=beams))[0].best.text.startswith(" w")
        assert answers.generate(requests(beams=beams))[0].best.text.startswith("w")


@pytest.mark.parametrize("asked", [{}, {"beams": 2}], ids=["rows", "beams"])
def test_cancelling_ends_everything_where_it_is(asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module, "MOST_ROWS", 1)  # every request is a batch
    monkeypatch.setattr(engine_module, "pays", lambda n_batches: False)  # one after the other, whatever the machine
    engine = engine_of("gpt2")
    for after, lengths in [(0, [0, 0, 0, 0]), (2, [0, 0, 0, 2]), (6, [2, 0, 0, 4])]:
        asks = iter(range(100))
        found = engine.generate(requests(**asked), cancelled=lambda asks=asks, after=after: next(asks) >= after)
        assert [len(reply.best.ids) for reply in found] == lengths  # the longest text comes first
        assert [reply.best.finish is Finish.CANCELLED for reply in found] == [length < 4 for length in lengths]


def test_a_cancelled_text_keeps_what_was_held_back() -> None:
    engine = engine_of("gpt2")
    free = engine.generate(requests(max_new_tokens=6))[0].best
    asks = iter(range(100))
    cut = engine.generate(
        requests(max_new_tokens=6, stop=(free.text[2:4] + "\x00never",)), cancelled=lambda: next(asks) >= 4
    )
    assert cut[0].best.finish is Finish.CANCELLED
    assert cut[0].best.text == BYTES.decode(cut[0].best.ids)


def test_closing_a_stream_ends_it() -> None:
    stream = engine_of("gpt2").stream(requests(max_new_tokens=40))
    assert len(next(stream)) == 4
    stream.close()
    assert list(stream) == []


def test_a_stream_gives_each_step_as_it_is_made() -> None:
    engine = engine_of("gpt2")
    recorder = Recorder("logits")
    stream = engine.stream(requests())
    with listen(recorder):
        next(stream)
    assert len(recorder.history["logits"]) == 1


@pytest.mark.parametrize("name", ["gpt2", "marian", "recurrent"])
def test_nothing_to_write_is_an_empty_answer(name: str) -> None:
    engine = engine_of(name)
    for asked in ({"max_new_tokens": 0}, {"max_new_tokens": 0, "beams": 2}):
        for reply in engine.generate(requests(**asked)):
            assert (reply.best.ids, reply.best.text, reply.best.finish) == ((), "", Finish.LENGTH)
    assert engine.generate([]) == []
    assert list(engine.stream([])) == []


def test_some_rows_may_have_nothing_to_write() -> None:
    engine = engine_of("gpt2")
    mixed = [replace(one, settings=DecodingSettings(max_new_tokens=n)) for n, one in enumerate(requests())]
    assert [len(reply.best.ids) for reply in engine.generate(mixed)] == [0, 1, 2, 3]


def test_requests_of_all_kinds_come_back_in_their_order() -> None:
    engine = engine_of("gpt2")
    kinds: list[dict[str, Any]] = [{"beams": 2}, {}, {"beams": 3}, {"sample": True, "seed": 4}]
    mixed = [
        replace(one, settings=DecodingSettings(max_new_tokens=3, **kind))
        for one, kind in zip(requests(), kinds, strict=True)
    ]
    together = engine.generate(mixed, record=True)
    for request, reply in zip(mixed, together, strict=True):
        assert engine.generate([request])[0].best.ids == reply.best.ids
        assert bool(reply.steps) == (request.settings.beams > 1)
    assert any(one.fate is Fate.FINISHED for one in together[0].steps[-1])


def test_scores_are_sums_of_what_the_model_thought() -> None:
    engine = engine_of("llama")
    best = engine.generate(requests(), scored=True)[0].best
    ids = requests()[0].ids
    with torch.no_grad():
        logits = engine.network(torch.tensor([[*ids, *best.ids]])).logits_BTV[0].log_softmax(-1)
    wanted = [float(logits[len(ids) - 1 + n, index]) for n, index in enumerate(best.ids)]
    assert best.log_probabilities == pytest.approx(wanted, abs=1e-4)
    assert best.score == pytest.approx(sum(wanted), abs=1e-4)
    assert engine.generate(requests())[0].best.score is None


def test_an_empty_prompt_begins_with_the_start_token_or_is_refused() -> None:
    started = engine_of("gpt2")
    empty = Request(ids=(), settings=DecodingSettings(max_new_tokens=3))
    explicit = Request(ids=(1,), settings=DecodingSettings(max_new_tokens=3))
    assert started.generate([empty])[0].best.ids == started.generate([explicit])[0].best.ids
    with pytest.raises(TextError, match="empty"):
        Engine(network=TinyModel("gpt2").model).generate([empty])
    for name in ("marian", "recurrent"):
        with pytest.raises(TextError, match="empty"):
            engine_of(name).generate([empty])


def refused(call: Callable[[], object], *words: str) -> None:
    with pytest.raises(DecodingError) as caught:
        call()
    for word in words:
        assert word in str(caught.value)


def test_what_cannot_be_done_is_refused_with_a_reason() -> None:
    marian = TinyModel("marian").model
    refused(lambda: Engine(network=marian).generate(requests()), "start token")
    plain = Engine(network=TinyModel("gpt2").model)
    refused(lambda: plain.generate(requests(stop=("x",))), "no tokenizer")
    refused(lambda: plain.generate([Request(ids=(1,), prefix=(2,))]), "prefix")
    config = TinyModel("gpt2").config
    bare = build(replace(config, head=HeadConfig(kind=HeadKind.NONE)), seed=0)
    refused(lambda: Engine(network=bare), "no output layer")


def test_ids_alone_can_be_streamed_without_a_tokenizer() -> None:
    plain = Engine(network=TinyModel("gpt2").model)
    ids = [event.id for step in plain.stream(requests()[:1]) for event in step]
    assert tuple(ids) == plain.generate(requests()[:1])[0].best.ids


def test_a_text_that_outgrows_the_context_is_refused_or_slides() -> None:
    ids = tuple(5 + n % 50 for n in range(60))  # the context of a tiny model is 64
    long = [Request(ids=ids, settings=DecodingSettings(max_new_tokens=20))]
    refused(
        lambda: engine_of("gpt2").generate(long), "60 tokens and 20 new ones", "at most 64", "max_new_tokens=4", "slide"
    )
    refused(lambda: engine_of("gpt2").generate([Request(ids=ids * 2)]), "121 tokens", "slide")
    refused(lambda: engine_of("marian").generate([Request(ids=ids * 2)]), "the source", "120 tokens", "at most 64")
    assert len(engine_of("gpt2").generate([Request(ids=ids)])[0].best.ids) == 4
    slides = engine_of("gpt2", overflow=Overflow.SLIDE)
    found = slides.generate([*long, replace(long[0], ids=ids[:3]), replace(long[0], ids=ids * 2)])
    assert [len(reply.best.ids) for reply in found] == [20, 20, 20]
    assert slides.generate(long)[0].best.ids == found[0].best.ids


@pytest.mark.parametrize("name", ["marian", "recurrent"])
def test_targets_may_begin_with_prefixes_of_any_length(name: str) -> None:
    engine = engine_of(name)
    prefixes = [(), (9, 9, 30), (7,), (50, 60)]
    with_prefix = [replace(one, prefix=prefix) for one, prefix in zip(requests(), prefixes, strict=True)]
    together = engine.generate(with_prefix, scored=True)
    assert [engine.generate([one])[0].best.ids for one in with_prefix] == [reply.best.ids for reply in together]
    assert together[1].best.score != pytest.approx(engine.generate(requests(), scored=True)[1].best.score, abs=1e-3)


def test_the_encoder_runs_once() -> None:
    recorder = Recorder("encoder.0.resid_pre", "decoder.0.cross.key", "decoder.0.self.query")
    with listen(recorder):
        engine_of("marian").generate(requests(beams=2)[:2])
    assert len(recorder.history["encoder.0.resid_pre"]) == 1
    assert len(recorder.history["decoder.0.cross.key"]) == 1
    assert len(recorder.history["decoder.0.self.query"]) == 4


def test_a_stepper_can_be_had_for_requests_as_they_are() -> None:
    engine = engine_of("gpt2")
    stepper = engine.stepper([engine.fitted(Request(ids=(5, 6)))])
    logits = stepper.start()
    for _ in range(5):
        logits = stepper.step(logits.argmax(-1))
    assert logits.shape == (1, BYTES.vocab_size)
