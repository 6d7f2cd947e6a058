"""Who waits how long, counted in turns of the worker, not in seconds."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from clearhead.config import RotaryScaling, RotaryScalingKind
from clearhead.decoding import Event
from clearhead.engine import Engine, Request
from clearhead.engine.serving import Failure, Limits
from clearhead.engine.serving.jobs import Asked, new_job
from clearhead.engine.serving.ticket import Ticket
from clearhead.engine.serving.worker import Worker
from clearhead.testing import TinyModel
from clearhead.testing.tiny import tiny_config

Make = Callable[..., Any]


class Desk:
    """A worker that is driven turn by turn."""

    def __init__(self, engine: Engine, **limits: int) -> None:
        self.engine, self.worker = engine, Worker(engine=engine, limits=Limits(**limits))
        self.turn = 0
        self.heard: dict[str, list[tuple[int, Event | Failure]]] = {}
        self.tickets: dict[str, Ticket] = {}

    def ask(self, name: str, request: Request, *, client: str = "") -> None:
        self.heard[name] = []
        self.tickets[name] = Ticket(number=0, wake=lambda: None)
        asked = Asked(
            request=self.engine.fitted(request),
            ticket=self.tickets[name],
            notify=lambda note: self.heard[name].append((self.turn, note)),
            client=client,
        )
        self.worker.admission.fresh.push(new_job(asked, self.engine), client=client)

    def turns(self, n: int | None = None) -> None:
        end = None if n is None else self.turn + n
        with torch.inference_mode():
            while self.turn != end and not (end is None and self.worker.idle):
                self.worker.turn()
                self.turn += 1

    def last(self, name: str) -> int:
        turn, note = self.heard[name][-1]
        assert isinstance(note, Event) and note.finish is not None
        return turn


def test_long_texts_give_way_to_short_ones_and_come_back(engine_of: Make, request_of: Make) -> None:
    desk = Desk(engine_of("t5"), most_rows=2, slice_tokens=4)
    for n in range(4):
        desk.ask(f"long {n}", request_of(f"long {n}", max_new_tokens=20), client="greedy")
    desk.turns(6)
    desk.ask("short", request_of("short", max_new_tokens=3), client="modest")
    desk.turns()
    assert desk.last("short") <= 6 + 4 + 3 + 2  # a slice, its own ids, and its reading
    for n in range(4):
        alone = desk.engine.generate([request_of(f"long {n}", max_new_tokens=20)])[0].best.ids
        assert tuple(note.id for _, note in desk.heard[f"long {n}"]) == alone
    assert max(desk.last(f"long {n}") for n in range(4)) <= 4 * 20 / 2 + 3 + 10


def test_clients_take_turns(engine_of: Make, request_of: Make) -> None:
    desk = Desk(engine_of("gpt2"), most_rows=1)
    for n in range(5):
        desk.ask(f"many {n}", request_of(max_new_tokens=3), client="many")
    desk.ask("one", request_of(max_new_tokens=3), client="one")
    desk.turns()
    assert sorted(desk.heard, key=desk.last)[:3] == ["many 0", "one", "many 1"]


def test_a_wide_search_is_not_passed_by_for_ever(engine_of: Make, request_of: Make) -> None:
    desk = Desk(engine_of("gpt2"), most_rows=4, slice_tokens=4)
    for n in range(4):
        desk.ask(f"before {n}", request_of(max_new_tokens=12))
    desk.turns(2)
    desk.ask("wide", request_of(max_new_tokens=3, beams=4))
    for n in range(6):
        desk.ask(f"after {n}", request_of(max_new_tokens=4), client=str(n))
    desk.turns()
    assert desk.last("wide") < min(desk.last(f"after {n}") for n in range(6))


def test_a_long_prompt_is_read_in_pieces_while_others_write(engine_of: Make, request_of: Make) -> None:
    desk = Desk(engine_of("gpt2"), prompt_tokens=8)
    desk.ask("writes", request_of("a", max_new_tokens=16))
    desk.turns(2)
    desk.ask("long", request_of("x" * 48, max_new_tokens=2))
    desk.turns(1)
    desk.ask("joins", request_of("b", max_new_tokens=2))
    desk.turns()
    turns = [turn for turn, _ in desk.heard["writes"]]
    assert len(turns) == 16 and turns[2:] == list(range(turns[2], turns[2] + 14))  # an id every turn
    assert desk.heard["long"][0][0] >= 2 + 48 / 8 - 1
    assert desk.last("joins") < desk.heard["long"][0][0]


def test_what_gave_way_is_forgotten_where_memory_is_short_and_read_again(engine_of: Make, request_of: Make) -> None:
    # Room for two texts that run: what is remembered of the third must go when both have grown.
    desk = Desk(engine_of("gpt2"), most_rows=2, slice_tokens=3, most_cache_tokens=50)
    names = {name: request_of(name, max_new_tokens=20) for name in ("first", "other", "third", "fifth")}
    for name, request in names.items():
        desk.ask(name, request)
    desk.turns()
    for name, request in names.items():
        assert tuple(note.id for _, note in desk.heard[name]) == desk.engine.generate([request])[0].best.ids
    assert desk.worker.load.cache_tokens == 0


def test_a_model_whose_rotations_stretch_writes_one_text_at_a_time(request_of: Make) -> None:
    """The stretch depends on the longest text of a batch, so that company would change a text."""
    config = tiny_config("llama", vocab_size=260)
    stack = config.decoder
    scaling = RotaryScaling(kind=RotaryScalingKind.DYNAMIC, factor=4.0, original_length=8)
    stack = replace(stack, position=replace(stack.position, scaling=scaling))
    model = TinyModel(config=replace(config, decoder=stack)).model
    desk = Desk(Engine(network=model), prompt_tokens=4, slice_tokens=2)
    names = {name: request_of(name, max_new_tokens=12) for name in ("short", "a much longer text", "x")}
    for name, request in names.items():
        desk.ask(name, request)
    desk.turns(3)
    assert desk.worker.load.rows == 1
    desk.turns()
    for name, request in names.items():
        assert tuple(note.id for _, note in desk.heard[name]) == desk.engine.generate([request])[0].best.ids
