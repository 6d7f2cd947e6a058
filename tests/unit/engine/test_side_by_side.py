"""Batches side by side: the same replies, and nothing that goes on after an end."""

import itertools
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch

from clearhead.decoding import DecodingSettings
from clearhead.engine import Engine, Request, WeightFormat
from clearhead.engine.kernels import ready
from clearhead.engine.side_by_side import pays, side_by_side
from clearhead.errors import DecodingError
from clearhead.models import EncoderDecoder
from clearhead.probe import Recorder, listen
from clearhead.testing import TinyModel


@pytest.fixture(autouse=True, scope="module")
def kernels() -> None:
    assert ready.load() is not None


def engine_of(weights: WeightFormat = WeightFormat.FLOAT32) -> Engine:
    network = TinyModel("marian").model
    assert isinstance(network, EncoderDecoder)
    return Engine(network=network, weights=weights, start_id=0)


def requests(beams: int) -> list[Request]:
    settings = DecodingSettings(max_new_tokens=6, beams=beams, end_ids=(3,))
    return [
        Request(ids=tuple(5 + (place * step) % 11 for step in range(1 + place % 9)), settings=settings)
        for place in range(100)
    ]


@pytest.mark.parametrize("beams", [1, 3])
@pytest.mark.parametrize("weights", WeightFormat)
def test_replies_are_those_of_one_batch_after_the_other(beams: int, weights: WeightFormat, two_threads: None) -> None:
    engine = engine_of(weights)
    found = engine.generate(requests(beams))
    torch.set_num_threads(1)
    wanted = engine.generate(requests(beams))
    assert [reply.best.ids for reply in found] == [reply.best.ids for reply in wanted]


def test_who_listens_hears_batches_in_their_order(two_threads: None) -> None:
    engine = engine_of()
    names = set()

    class Names(Recorder):
        def hear(self, site: str, value: object) -> object:
            names.add(threading.current_thread().name)
            return super().hear(site, value)

    with listen(Names("logits")):
        engine.generate(requests(1))
    assert names == {threading.current_thread().name}


def test_threads_are_as_many_afterwards_as_before(two_threads: None) -> None:
    seen = side_by_side(lambda item, _: (item, torch.get_num_threads()), range(5), cancelled=lambda: False)
    assert seen == [(item, 1) for item in range(5)]
    assert torch.get_num_threads() == 2
    later: list[int] = []
    thread = threading.Thread(target=lambda: later.append(torch.get_num_threads()))
    thread.start()
    thread.join()
    assert later == [2]


def test_threads_stay_for_the_next_batches(two_threads: None) -> None:
    def who(item: int, _: Callable[[], bool]) -> threading.Thread:
        time.sleep(0.01)  # so that no thread takes all
        return threading.current_thread()

    first, second = (set(side_by_side(who, range(6), cancelled=lambda: False)) for _ in range(2))
    assert first == second and len(first) == 2


def test_what_was_begun_is_waited_for_where_the_rest_cannot_begin(
    two_threads: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, ended = set[int](), set[int]()

    def work(item: int, stop: Callable[[], bool]) -> None:
        begun.add(item)
        time.sleep(0.2)
        ended.add(item)

    side_by_side(lambda item, _: item, range(2), cancelled=lambda: False)  # so that the threads are there
    submit, given = ThreadPoolExecutor.submit, itertools.count()

    def some(self: ThreadPoolExecutor, *args: Any) -> Any:
        if next(given) == 2:
            time.sleep(0.05)  # the two that were taken have begun
            raise RuntimeError("can't start new thread")
        return submit(self, *args)

    monkeypatch.setattr(ThreadPoolExecutor, "submit", some)
    with pytest.raises(RuntimeError):
        side_by_side(work, range(4), cancelled=lambda: False)
    assert begun == ended == {0, 1}  # and nothing goes on behind one's back


def test_the_first_that_fails_stops_all(two_threads: None) -> None:
    ended: list[str] = []

    def work(item: str, stop: Callable[[], bool]) -> None:
        if item == "fails":
            raise DecodingError("no")
        until = time.monotonic() + 60
        while not stop() and time.monotonic() < until:
            time.sleep(0.001)
        ended.append(item)

    begun = time.monotonic()
    with pytest.raises(DecodingError):
        side_by_side(work, ["long", "fails", "never begun"], cancelled=lambda: False)
    assert time.monotonic() - begun < 30
    assert "long" in ended


def test_cancelling_reaches_all(two_threads: None) -> None:
    asked = threading.Event()
    engine = engine_of()
    asked.set()
    replies = engine.generate(requests(1), cancelled=asked.is_set)
    assert all(len(reply.best.ids) == 0 for reply in replies)


def test_few_batches_and_many_threads_share_out_products(two_threads: None) -> None:
    assert pays(2) and pays(100) and not pays(1)
    torch.set_num_threads(8)
    assert not pays(100)
    torch.set_num_threads(1)
    assert not pays(100)


@pytest.mark.parametrize("n_threads", [2, 3])
def test_every_thread_multiplies_by_itself_however_late_it_asks(n_threads: int) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(n_threads)
    try:
        side_by_side(lambda item, _: time.sleep(0.01), range(4 * n_threads), cancelled=lambda: False)
        found = side_by_side(
            lambda item, _: (time.sleep(0.01), torch.get_num_threads())[1],
            range(4 * n_threads),
            cancelled=lambda: False,
        )
        assert found == [1] * (4 * n_threads)
        assert torch.get_num_threads() == n_threads
    finally:
        torch.set_num_threads(before)
