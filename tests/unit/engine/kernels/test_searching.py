"""Beam searches ranked by a kernel find what searches by parts find, to the last bit."""

import itertools
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from clearhead.decoding import BeamResult, DecodingSettings, EarlyStopping, Finish, beam, beam_search
from clearhead.engine.kernels import ready
from clearhead.engine.kernels.quick_run import quick_beam_search
from clearhead.engine.kernels.rows_of import lead
from clearhead.errors import DecodingError

N_STATES = 23


class Wanderer:
    """A stepper whose logits depend on all ids of a row: a row that goes on with the wrong one is found out."""

    def __init__(self, table_SV: Tensor, n_rows: int) -> None:
        self._table_SV = table_SV
        self._state_B = torch.arange(n_rows) % N_STATES

    def start(self) -> Tensor:
        return self._table_SV[self._state_B]

    def step(self, ids_B: Tensor) -> Tensor:
        self._state_B = (3 * self._state_B + ids_B + 1) % N_STATES
        return self._table_SV[self._state_B]

    def select(self, rows_B: Tensor) -> None:
        self._state_B = self._state_B[rows_B]


def table(seed: int, *, vocab_size: int, step: float = 0.0, closed: float = 0.0) -> Tensor:
    """Random logits; with a step there are ties, and a share of them may be closed."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(N_STATES, vocab_size)) * 2
    logits = np.round(logits / step) * step if step else logits
    logits[rng.random(logits.shape) < closed] = -np.inf
    return torch.tensor(logits, dtype=torch.float32)


Found = list[BeamResult] | str


def both(
    table_SV: Tensor,
    prompts: list[tuple[int, ...]],
    settings: DecodingSettings,
    *,
    n_steps: int = 1000,
    records: bool = True,
) -> tuple[Found, Found]:
    """By kernel and by parts: the results, or what was said against them; with a record both have the same, too."""
    found = ready.load()
    assert found is not None

    def quick(stepper: Wanderer, cancelled: Callable[[], bool], record: bool) -> list[BeamResult]:
        return quick_beam_search(found, stepper, prompts, settings=settings, record=record, cancelled=cancelled)

    def slow(stepper: Wanderer, cancelled: Callable[[], bool], record: bool) -> list[BeamResult]:
        return beam_search(stepper, prompts, settings=settings, record=record, cancelled=cancelled, lead=lead)

    def outcome(run: Callable[[Wanderer, Callable[[], bool], bool], list[BeamResult]], *, record: bool) -> Found:
        steps = itertools.count()
        try:
            return run(Wanderer(table_SV, len(prompts)), lambda: next(steps) >= n_steps, record)
        except DecodingError as error:
            return str(error)

    by_kernel = outcome(quick, record=False)
    if records:
        recorded = outcome(quick, record=True)
        assert recorded == outcome(slow, record=True)
        if isinstance(recorded, list) and isinstance(by_kernel, list):
            assert [result.beams for result in recorded] == [result.beams for result in by_kernel]
    return by_kernel, outcome(slow, record=False)


@pytest.mark.parametrize("vocab_size", [6, 80])
@pytest.mark.parametrize("bad", [(3,), (0, 2), (0, 1, 2, 3, 4), (3, 17, 60, 61, 79)])
def test_ids_that_are_left_out_are_as_impossible_as_in_changed_logits(
    bad: tuple[int, ...], vocab_size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(6):
        words = tuple((index,) for index in bad if index < vocab_size)
        settings = DecodingSettings(beams=3, n_best=3, end_ids=(0,), max_new_tokens=9, bad_words=words)
        logits = table(seed, vocab_size=vocab_size, closed=0.1 * (seed % 2))
        by_kernel, by_parts = both(logits, [(7,)] * 9, settings)
        with monkeypatch.context() as patch:
            patch.setattr(beam, "_leaders", lambda *_: None)
            _, changed = both(logits, [(7,)] * 9, settings, records=False)  # its last digits are others
        for one, other, wanted in zip(by_kernel, by_parts, changed, strict=True):
            if isinstance(by_kernel, str):
                assert by_kernel == by_parts == changed
                break
            assert one == other
            assert not {index for each in one.beams for index in each.ids} & {index for index in bad if index}
            assert [each.score for each in one.beams] == pytest.approx([each.score for each in wanted.beams], abs=1e-6)


def test_an_id_that_is_not_in_the_vocabulary_cannot_be_left_out() -> None:
    settings = DecodingSettings(beams=2, end_ids=(0,), max_new_tokens=9, bad_words=((17,),))
    by_kernel, by_parts = both(table(0, vocab_size=17), [(7,)], settings)
    assert by_kernel == by_parts and "does not have" in str(by_kernel)


@pytest.mark.parametrize("early", list(EarlyStopping))
@pytest.mark.parametrize("penalty", [-1.0, 0.0, 0.7, 2.0])
@pytest.mark.parametrize(("beams", "end_ids"), [(2, (0,)), (4, (0,)), (3, (0, 5)), (5, (1, 2, 3))])
def test_searches_end_with_the_same_beams(
    early: EarlyStopping, penalty: float, beams: int, end_ids: tuple[int, ...]
) -> None:
    for seed in range(4):
        settings = DecodingSettings(
            beams=beams,
            n_best=beams,
            length_penalty=penalty,
            early_stopping=early,
            end_ids=end_ids,
            max_new_tokens=3 + 5 * seed,
        )
        by_kernel, by_parts = both(table(seed, vocab_size=17 + 60 * seed), [(7,)] * 9, settings)
        assert by_kernel == by_parts


@pytest.mark.parametrize("step", [0.5, 2.0])
def test_of_equals_the_first_is_taken(step: float) -> None:
    settings = DecodingSettings(beams=4, n_best=4, end_ids=(0,), max_new_tokens=9)
    for seed in range(5):
        by_kernel, by_parts = both(table(seed, vocab_size=70, step=step), [(1,)] * 5, settings)
        assert by_kernel == by_parts


def test_where_few_ids_are_open_there_are_fewer_beams() -> None:
    settings = DecodingSettings(beams=4, n_best=4, end_ids=(0,), max_new_tokens=12)
    kinds: set[type] = set()
    for seed in range(30):
        by_kernel, by_parts = both(table(seed, vocab_size=9, closed=0.75), [(1,)] * 3, settings)
        assert by_kernel == by_parts
        kinds.add(type(by_kernel))
    assert kinds == {list, str}  # some are found, and some have nothing left


@pytest.mark.parametrize("vocab_size", [2, 3, 5, 7])
@pytest.mark.parametrize("penalty", [0.0, 1.0, 2.0])
def test_small_vocabularies_have_fewer_candidates(vocab_size: int, penalty: float) -> None:
    for beams, early in itertools.product((2, 4, 6), EarlyStopping):
        settings = DecodingSettings(
            beams=beams, n_best=2, end_ids=(0,), max_new_tokens=8, length_penalty=penalty, early_stopping=early
        )
        by_kernel, by_parts = both(table(beams, vocab_size=vocab_size), [(1,)] * 5, settings)
        assert by_kernel == by_parts


def test_what_is_no_number_ends_the_search_with_an_error() -> None:
    table_SV = table(0, vocab_size=40)
    table_SV[3, 5] = torch.nan
    by_kernel, by_parts = both(table_SV, [(1,)] * 9, DecodingSettings(beams=3, end_ids=(0,), max_new_tokens=9))
    assert by_kernel == by_parts
    assert isinstance(by_kernel, str) and "no id is left" in by_kernel


@pytest.mark.parametrize("n_steps", [0, 1, 4])
def test_a_cancelled_search_gives_what_ran(n_steps: int) -> None:
    settings = DecodingSettings(beams=3, n_best=2, end_ids=(0,), max_new_tokens=50, length_penalty=0.5)
    by_kernel, by_parts = both(table(1, vocab_size=300), [(1,)] * 4, settings, n_steps=n_steps)
    assert by_kernel == by_parts
    assert isinstance(by_kernel, list)
    assert any(result.beams[0].finish is Finish.CANCELLED for result in by_kernel)


def test_prompts_with_room_for_nothing_end_at_once() -> None:
    settings = DecodingSettings(beams=2, end_ids=(0,), max_new_tokens=None, max_length=3)
    by_kernel, by_parts = both(table(2, vocab_size=30), [(1, 2, 3), (1,), (1, 2)], settings)
    assert by_kernel == by_parts
    assert isinstance(by_kernel, list)
    assert by_kernel[0].beams[0].ids == ()


def test_threads_share_the_searches() -> None:
    settings = DecodingSettings(beams=4, n_best=2, end_ids=(0,), max_new_tokens=15)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(3)
        by_kernel, by_parts = both(table(5, vocab_size=200), [(1,)] * 7, settings)
    finally:
        torch.set_num_threads(before)
    assert by_kernel == by_parts
