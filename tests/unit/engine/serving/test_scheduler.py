import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import clearhead
from clearhead.decoding import DecodingSettings, Event, Finish
from clearhead.engine import Engine, Request
from clearhead.engine.serving import Failure, Limits, Scheduler
from clearhead.errors import Busy, Closed, ConfigError, DecodingError, Late, TextError, Withdrawn
from clearhead.probe import Recorder, listen

Make = Callable[..., Any]


@pytest.mark.parametrize("name", ["gpt2", "llama", "t5", "marian", "recurrent"])
def test_many_threads_get_what_each_would_get_alone(
    name: str, engine_of: Make, request_of: Make, open_scheduler: Make, ear: Make
) -> None:
    engine = engine_of(name)
    kinds: list[dict[str, Any]] = [
        {"max_new_tokens": 8},
        {"sample": True, "seed": 3, "temperature": 1.5, "max_new_tokens": 7, "stop": ("a", "\x07")},
        {"beams": 3, "n_best": 2, "max_new_tokens": 5},
        {"repetition_penalty": 1.4, "no_repeat_ngram": 2, "max_new_tokens": 7},
    ]
    asked = [request_of("Hello there, everybody"[: 3 + 4 * n], **kinds[n % 4]) for n in range(5)]
    scheduler = open_scheduler(engine, most_rows=4, prompt_tokens=8, slice_tokens=3)
    ears, tickets = [ear() for _ in asked], [None] * len(asked)

    def ask(place: int) -> None:
        tickets[place] = scheduler.submit(asked[place], notify=ears[place], scored=True, client=str(place % 2))

    threads = [threading.Thread(target=ask, args=(place,)) for place in range(len(asked))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for request, one, ticket in zip(asked, ears, tickets, strict=True):
        notes, alone = one.ended(), engine.generate([request], scored=True)[0]
        assert [answer.ids for answer in ticket.reply.answers] == [answer.ids for answer in alone.answers]
        assert [answer.text for answer in ticket.reply.answers] == [answer.text for answer in alone.answers]
        assert "".join(note.text for note in notes) == alone.best.text
        assert notes[-1].finish is alone.best.finish
        assert ticket.reply.best.score == pytest.approx(alone.best.score, abs=1e-4)
        if request.settings.beams == 1:
            assert tuple(note.id for note in notes) == alone.best.ids
    load = scheduler.load()
    assert (load.running, load.waiting, load.rows, load.cache_tokens) == (0, 0, 0, 0)
    assert load.tokens >= sum(len(ticket.reply.best.ids) for ticket in tickets if ticket.reply.answers[1:] == ())


def test_what_is_withdrawn_leaves_and_gives_its_memory_back(
    engine_of: Make, request_of: Make, open_scheduler: Make, ear: Make
) -> None:
    scheduler = open_scheduler(engine_of("t5"))
    long, short = ear(), ear()
    ticket = scheduler.submit(request_of(max_new_tokens=5000), notify=long)
    long.began()
    assert scheduler.load().cache_tokens > 0
    scheduler.submit(request_of(), notify=short)
    assert short.ended()[-1].finish is Finish.LENGTH  # it joined beside the long one
    ticket.cancel()
    assert isinstance(long.error(), Withdrawn)
    assert ticket.reply is None
    load = scheduler.load()
    assert (load.running, load.rows, load.cache_tokens) == (0, 0, 0)
    ticket.cancel()  # too late, and no harm


def test_a_deadline_ends_a_text_and_says_how_far_it_came(
    engine_of: Make, request_of: Make, open_scheduler: Make, ear: Make
) -> None:
    scheduler = open_scheduler(engine_of("t5"), most_rows=1)
    late, waits, free = ear(), ear(), ear()
    scheduler.submit(request_of(max_new_tokens=5000), notify=late, deadline=0.5)
    scheduler.submit(request_of(max_new_tokens=5000), notify=waits, deadline=0.0)
    scheduler.submit(request_of(), notify=free, deadline=10_000.0)
    assert isinstance(late.error(), Late) and "new tokens in" in str(late.error())
    assert isinstance(waits.error(), Late)
    assert free.ended()[-1].finish is Finish.LENGTH


def test_a_full_queue_says_when_to_come_back(
    engine_of: Make, request_of: Make, open_scheduler: Make, ear: Make
) -> None:
    scheduler = open_scheduler(engine_of("t5"), most_rows=1, most_waiting=2, slice_tokens=10_000)
    first = ear()
    scheduler.submit(request_of(max_new_tokens=5000), notify=first)
    first.began()
    for _ in range(2):
        scheduler.submit(request_of(), notify=ear())
    with pytest.raises(Busy) as caught:
        scheduler.submit(request_of(), notify=ear())
    assert 1.0 <= caught.value.retry_after <= 60.0
    assert scheduler.load().waiting == 2


def test_free_rows_are_taken_where_nobody_may_wait(
    engine_of: Make, request_of: Make, open_scheduler: Make, ear: Make
) -> None:
    """However quickly they are handed in: those on their way to a row do not wait for one."""
    scheduler = open_scheduler(engine_of("t5"), most_rows=4, most_waiting=0)
    ears = [ear() for _ in range(4)]
    for one in ears:
        scheduler.submit(request_of(max_new_tokens=5000), notify=one)
    for one in ears:
        one.began()
    with pytest.raises(Busy):
        scheduler.submit(request_of(), notify=ear())


def test_closing_finishes_what_it_can_and_tells_the_rest(engine_of: Make, request_of: Make, ear: Make) -> None:
    finished, cut, asked = ear(), [ear() for _ in range(3)], request_of(max_new_tokens=5000)
    scheduler = Scheduler(engine=engine_of("t5"), limits=Limits(most_rows=2))
    scheduler.submit(request_of(), notify=finished)
    assert scheduler.close(grace=1000.0) == 0
    assert finished.ended()[-1].finish is Finish.LENGTH
    with pytest.raises(Closed):
        scheduler.submit(request_of(), notify=ear())
    scheduler = Scheduler(engine=engine_of("t5"), limits=Limits(most_rows=2))
    for one in cut:
        scheduler.submit(asked, notify=one)
    cut[0].began()
    assert scheduler.close(grace=0.0) == 3
    assert [type(one.error()) for one in cut] == [Closed] * 3
    assert scheduler.close(grace=0.0) == 3
    assert scheduler.load().cache_tokens == 0


def test_a_listener_that_fails_harms_nobody_else(
    engine_of: Make, request_of: Make, open_scheduler: Make, ear: Make
) -> None:
    scheduler = open_scheduler(engine_of("gpt2"))
    fine, heard = ear(), []

    def fails(note: object) -> None:
        heard.append(note)
        raise ValueError("a listener's own fault")

    scheduler.submit(request_of(max_new_tokens=30), notify=fails)
    scheduler.submit(request_of(max_new_tokens=30), notify=fine)
    assert len(fine.ended()) == 30
    assert isinstance(heard[0], Event)
    assert isinstance(heard[-1], Failure) and isinstance(heard[-1].error, Withdrawn)
    assert len(heard) <= 3  # what a turn brought, and that it was withdrawn


@pytest.mark.parametrize("name", ["gpt2", "marian"])
def test_what_one_request_breaks_it_breaks_for_itself(
    name: str, engine_of: Make, request_of: Make, open_scheduler: Make, ear: Make
) -> None:
    engine = engine_of(name)
    scheduler = open_scheduler(engine)
    unknown_text = replace(request_of(), ids=(5, 99_999))
    unknown_setting = request_of(bad_words=((99_999,),))
    no_way_out = request_of(bad_words=tuple((index,) for index in range(260)))
    asked = [request_of(max_new_tokens=20), unknown_text, unknown_setting, request_of("other"), no_way_out]
    ears = [ear() for _ in asked]
    for request, one in zip(asked, ears, strict=True):
        scheduler.submit(request, notify=one)
    assert isinstance(ears[1].error(), TextError)
    assert isinstance(ears[2].error(), DecodingError) and isinstance(ears[4].error(), DecodingError)
    for place in (0, 3):
        alone = engine.generate([asked[place]])[0].best.ids
        assert tuple(note.id for note in ears[place].ended()) == alone
    assert scheduler.load().cache_tokens == 0


def test_a_step_that_fails_is_taken_apart(engine_of: Make, request_of: Make, open_scheduler: Make, ear: Make) -> None:
    engine = engine_of("gpt2")
    asked = [request_of("abc", max_new_tokens=20), request_of("def", max_new_tokens=20)]
    alone = [engine.generate([request])[0].best.ids for request in asked]
    poison = next(index for index in alone[0][3:-1] if index not in alone[1])

    def fails(_: torch.nn.Module, inputs: tuple[torch.Tensor]) -> None:
        if inputs[0].shape[1] == 1 and poison in inputs[0]:
            raise MemoryError("out of memory, as it were")

    handle = engine.network.decoder.embedding.token.register_forward_pre_hook(fails)
    scheduler = open_scheduler(engine)
    ears = [ear(), ear()]
    for request, one in zip(asked, ears, strict=True):
        scheduler.submit(request, notify=one)
    assert isinstance(ears[0].error(), MemoryError)
    assert tuple(note.id for note in ears[1].ended()) == alone[1]
    handle.remove()


def test_numbers_that_are_none_stay_in_their_row(
    engine_of: Make, request_of: Make, open_scheduler: Make, ear: Make
) -> None:
    engine = engine_of("llama")
    with torch.no_grad():
        engine.network.decoder.embedding.token.weight[4 + ord("x")] = torch.nan
    scheduler = open_scheduler(engine, most_rows=2)
    never = {"bad_words": ((4 + ord("x"),),), "max_new_tokens": 15}
    asked = [request_of("xxxxxxxxxx"), *(request_of("fine" * n, **never) for n in range(1, 5))]
    ears = [ear() for _ in asked]
    for request, one in zip(asked, ears, strict=True):
        scheduler.submit(request, notify=one)
    assert isinstance(ears[0].error(), DecodingError)
    for request, one in zip(asked[1:], ears[1:], strict=True):
        assert tuple(note.id for note in one.ended()) == engine.generate([request])[0].best.ids


def test_what_cannot_be_done_is_refused_at_once(
    engine_of: Make, request_of: Make, open_scheduler: Make, ear: Make
) -> None:
    scheduler = open_scheduler(engine_of("gpt2"), most_rows=4, most_cache_tokens=100)
    for asked, words in [
        (request_of(max_new_tokens=500), "context"),
        (request_of(max_new_tokens=0), "nothing to write"),
        (request_of(beams=5), "beams"),
        (request_of(beams=4, max_new_tokens=30), "memory"),
    ]:
        with pytest.raises(DecodingError, match=words):
            scheduler.submit(asked, notify=ear())
    plain = open_scheduler(Engine(network=engine_of("gpt2").network))
    with pytest.raises(DecodingError, match="no tokenizer"):
        plain.submit(request_of(stop=("x",)), notify=ear())
    with pytest.raises(TextError, match="empty"):
        plain.submit(Request(ids=()), notify=ear())
    with pytest.raises(ConfigError, match="most_rows"):
        Limits(most_rows=0)


def test_probes_of_the_caller_hear_nothing(engine_of: Make, request_of: Make, open_scheduler: Make, ear: Make) -> None:
    recorder, one = Recorder("*"), ear()
    with listen(recorder):
        open_scheduler(engine_of("gpt2")).submit(request_of(), notify=one)
        one.ended()
    assert len(recorder) == 0


def test_a_published_model_serves_as_it_writes(shared: Path, open_scheduler: Make, ear: Make) -> None:
    folder = shared / "models/stories15M"
    if not folder.is_dir():
        pytest.skip(f"no stories15M at {folder}")
    model = clearhead.load(folder)
    engine = model.loaded.engine
    texts = ["Once upon a time", "The cat", "Lily and Tom went to the park. They saw a"]
    kinds: list[dict[str, Any]] = [{}, {"sample": True, "seed": 5, "top_p": 0.9}, {"beams": 2}]
    asked = [
        Request(ids=model.tokenizer.encode(text).ids, settings=DecodingSettings(max_new_tokens=8 + 4 * n, **kind))
        for n, (text, kind) in enumerate(zip(texts, kinds, strict=True))
    ]
    scheduler = open_scheduler(engine, prompt_tokens=6, slice_tokens=4, most_rows=3)
    ears = [ear() for _ in asked]
    tickets = [scheduler.submit(request, notify=one) for request, one in zip(asked, ears, strict=True)]
    for request, one, ticket in zip(asked, ears, tickets, strict=True):
        one.ended()
        assert ticket.reply == engine.generate([request])[0] or request.settings.beams > 1
        assert ticket.reply.best.ids == engine.generate([request])[0].best.ids
