"""What all endpoints share: turns between clients, one time to end in, and work that nobody waits for any more."""

import asyncio
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clearhead.decoding import DecodingSettings
from clearhead.engine import Request
from clearhead.engine.limits import Overflow
from clearhead.engine.serving import Scheduler
from clearhead.errors import Closed
from clearhead.explain import compare
from clearhead.model import Model
from clearhead.web import Shelf
from clearhead.web.api import ServeSettings
from clearhead.web.api.desk import Desk
from clearhead.web.api.errand import Errand
from clearhead.web.api.faults import Refusal
from clearhead.web.api.looking import Budget
from clearhead.web.api.workers import Workers

Make = Callable[..., Model]


def test_clients_take_turns_at_the_threads() -> None:
    order: list[str] = []
    free = threading.Event()

    def job(name: str) -> None:
        assert free.wait(60)
        order.append(name)

    async def ask() -> None:
        workers = Workers(threads=1, waiting=10)
        asked = [asyncio.create_task(workers.run(lambda: job("a"), Errand(seconds=60.0, client="a"))) for _ in range(4)]
        await asyncio.sleep(0.05)
        asked.append(asyncio.create_task(workers.run(lambda: job("b"), Errand(seconds=60.0, client="b"))))
        await asyncio.sleep(0.05)
        free.set()
        await asyncio.gather(*asked)
        assert workers.pending == 0

    asyncio.run(ask())
    assert order.index("b") <= 2  # one runs, one is next, and then it is another's turn


def test_all_models_end_in_one_time_and_nothing_begins_afterwards(tiny_folders: Path, tmp_path: Path) -> None:
    other = shutil.copytree(tiny_folders / "gpt2", tmp_path / "other")
    desk = Desk(shelf=Shelf(names=[str(tiny_folders / "gpt2"), str(other)]), settings=ServeSettings())
    endless = Request(ids=(5, 6), settings=DecodingSettings(max_new_tokens=10**6))
    schedulers: list[Scheduler] = []
    for name in desk.shelf.names:
        model = desk.model(name)
        model.loaded.engine.overflow = Overflow.SLIDE
        schedulers.append(desk.scheduler(model))
    for scheduler in schedulers:
        scheduler.submit(endless, notify=lambda _: None)
    began = time.monotonic()
    assert desk.close(grace=1.5) == len(schedulers)
    assert time.monotonic() - began < 2.9
    with pytest.raises(Closed):
        desk.scheduler(model)
    with pytest.raises(Closed):
        desk.served(model)


def test_a_run_that_nobody_waits_for_ends_between_two_steps(tiny_model: Make) -> None:
    class Leaver:
        """Leaves at the third step."""

        only_copies = True
        n_steps = 0

        def wants(self, site: str) -> bool:
            return site == "logits"

        def hear(self, site: str, value: Any) -> Any:
            del site
            self.n_steps += 1
            if self.n_steps == 3:
                errand.leave()
            return value

    errand, leaver, model = Errand(seconds=60.0), Leaver(), tiny_model("gpt2")
    with pytest.raises(Refusal, match="nobody waits"), model.edit(Budget(sites=(), errand=errand), leaver):
        compare(model.loaded, "the cat", [], max_new_tokens=20)
    assert leaver.n_steps in (3, 4)
