"""Engines to serve with, and ears."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from clearhead.config import RecurrentConfig
from clearhead.decoding import DecodingSettings, Event
from clearhead.engine import Engine, Request
from clearhead.engine.serving import Failure, Limits, Scheduler
from clearhead.models import build
from clearhead.testing import ByteTokenizer, TinyModel

BYTES = ByteTokenizer()
PATIENCE = 120.0


class Ear:
    """Hears what a scheduler tells, until the last word."""

    def __init__(self) -> None:
        self.notes: list[Event | Failure] = []
        self._first, self._last = threading.Event(), threading.Event()

    def __call__(self, note: Event | Failure) -> None:
        self.notes.append(note)
        self._first.set()
        if isinstance(note, Failure) or note.finish is not None:
            self._last.set()

    def began(self) -> None:
        """Waits for the first word."""
        assert self._first.wait(PATIENCE), "nothing was told"

    def ended(self) -> list[Event | Failure]:
        """Waits for the last word; all words."""
        assert self._last.wait(PATIENCE), "the last word was not told"
        return self.notes

    def error(self) -> Exception:
        """Waits for a failure."""
        last = self.ended()[-1]
        assert isinstance(last, Failure)
        return last.error


@pytest.fixture
def ear() -> type[Ear]:
    """What hears."""
    return Ear


@pytest.fixture
def engine_of() -> Callable[..., Engine]:
    """Makes a small engine of any family."""

    def make(name: str, **options: Any) -> Engine:
        if name == "recurrent":
            network = build(RecurrentConfig(vocab_size=BYTES.vocab_size, width=16, n_layers=1), seed=0)
        else:
            network = TinyModel(name).model
        return Engine(network=network, to_text=BYTES.decode, start_id=1, **options)

    return make


@pytest.fixture
def request_of() -> Callable[..., Request]:
    """Makes a request of a text and settings."""

    def make(text: str = "Hello", **asked: Any) -> Request:
        ids = tuple(4 + byte for byte in text.encode())
        return Request(ids=ids, settings=DecodingSettings(**{"max_new_tokens": 4} | asked))

    return make


@pytest.fixture
def open_scheduler() -> Iterator[Callable[..., Scheduler]]:
    """Opens schedulers, and closes them in the end."""
    opened: list[Scheduler] = []

    def make(engine: Engine, **limits: int) -> Scheduler:
        opened.append(Scheduler(engine=engine, limits=Limits(**limits)))
        return opened[-1]

    yield make
    for scheduler in opened:
        scheduler.close(grace=0.0)
