from typing import Any

import pytest
import torch
from torch import Tensor

from clearhead.decoding import DecodingSettings, Finish, Row, choose, decode
from clearhead.errors import DecodingError

from .table_stepper import TableStepper, random_table


def row(name: int = 0, prompt: tuple[int, ...] = (2,), *, draw: int = 0, scored: bool = False, **asked: Any) -> Row:
    settings = DecodingSettings(**{"max_new_tokens": 6} | asked)
    return Row(name=name, prompt=prompt, settings=settings, draw=draw, scored=scored)


def logits(batch: int = 1, size: int = 40, seed: int = 0) -> Tensor:
    return torch.randn(batch, size, generator=torch.Generator().manual_seed(seed)) * 3


def ids_of(table: Tensor, rows: list[Row]) -> list[list[int]]:
    stepper = TableStepper(table, [tuple(one.ids) for one in rows])
    for _ in decode(stepper, rows):
        pass
    return [one.ids[one.prompt_length :] for one in rows]


def test_the_likeliest_is_taken_unless_drawn() -> None:
    found = logits(3)
    for asked in ({}, {"sample": True, "temperature": 0.0}, {"sample": True, "temperature": 1e-9, "seed": 1}):
        chosen = choose(found, [row(**asked) for _ in range(3)])
        assert [index for index, _ in chosen] == found.argmax(-1).tolist()


def test_almost_cold_is_the_likeliest_too() -> None:
    found = logits(1)
    for seed in range(20):
        assert choose(found, [row(sample=True, temperature=1e-5, seed=seed)])[0][0] == int(found.argmax())


def test_rows_of_all_kinds_choose_as_if_alone() -> None:
    table = random_table(30)
    kinds: list[dict[str, Any]] = [
        {},
        {"sample": True, "seed": 7},
        {"sample": True, "seed": 8, "top_k": 5, "temperature": 1.4},
        {"sample": True, "seed": 7, "top_p": 0.9},
        {"repetition_penalty": 1.5, "no_repeat_ngram": 2},
        {"sample": True, "seed": 9, "min_p": 0.05, "bad_words": ((1,), (2, 3))},
        {"end_ids": tuple(range(12))},
    ]
    together = ids_of(table, [row(n, (2 + n,), **asked) for n, asked in enumerate(kinds)])
    for n, asked in enumerate(kinds):
        assert ids_of(table, [row(n, (2 + n,), **asked)]) == [together[n]]


def test_one_seed_one_text_another_draw_another_text() -> None:
    table = random_table(30)
    same = [ids_of(table, [row(sample=True, seed=5)]) for _ in range(2)]
    assert same[0] == same[1]
    draws = ids_of(table, [row(n, sample=True, seed=5, draw=n) for n in range(6)])
    assert len({tuple(ids) for ids in draws}) > 3
    unseeded = ids_of(table, [row(n, sample=True) for n in range(6)])
    assert len({tuple(ids) for ids in unseeded}) > 3


def test_log_probabilities_are_the_models_own() -> None:
    """Whatever the settings made of them before choosing."""
    found = logits(2)
    asked: dict[str, Any] = {"sample": True, "seed": 1, "temperature": 0.3, "top_k": 3, "repetition_penalty": 2.0}
    chosen = choose(found, [row(scored=True, **asked), row(**asked)])
    index, value = chosen[0]
    assert value == pytest.approx(float(found.log_softmax(-1)[0, index]), abs=1e-5)
    assert chosen[1][1] is None


def test_the_likeliest_has_its_log_probability_too() -> None:
    found = logits(3)
    plain = choose(found, [row(), row(), row()])
    chosen = choose(found, [row(scored=True), row(), row(scored=True)])
    assert [index for index, _ in chosen] == [index for index, _ in plain] == found.argmax(-1).tolist()
    assert [value for _, value in plain] == [None, None, None]
    log_p = found.log_softmax(-1)
    assert [value for _, value in chosen] == [float(log_p[0].max()), None, float(log_p[2].max())]


def test_choosing_leaves_the_logits_alone() -> None:
    found = logits(1)
    before = found.clone()
    choose(found, [row(sample=True, seed=0, repetition_penalty=2.0, bad_words=((3,),), top_p=0.5)])
    assert torch.equal(found, before)


@pytest.mark.parametrize("asked", [{}, {"sample": True, "seed": 0}, {"sample": True, "seed": 0, "top_p": 0.9}], ids=str)
@pytest.mark.parametrize("value", [float("nan"), float("-inf"), float("inf")])
def test_logits_that_are_no_numbers_are_an_error(value: float, asked: dict[str, Any]) -> None:
    with pytest.raises(DecodingError, match="no id is left"):
        choose(torch.full((1, 6), value), [row(**asked)])


def test_bad_words_that_leave_nothing_are_an_error_that_says_when() -> None:
    with pytest.raises(DecodingError) as caught:
        ids_of(random_table(4), [row(bad_words=tuple((n,) for n in range(4)))])
    assert caught.value.got == "after 0 new ids"


@pytest.mark.parametrize(
    "asked",
    [
        {"bad_words": ((99,),)},
        {"forced_start": (99,)},
        {"forced_end": 99, "max_new_tokens": 1},
        {"min_new_tokens": 2, "end_ids": (99,)},
    ],
    ids=str,
)
def test_an_id_beyond_the_vocabulary_is_named(asked: dict[str, Any]) -> None:
    with pytest.raises(DecodingError) as caught:
        ids_of(random_table(4), [row(**asked)])
    assert caught.value.got == 99
    assert caught.value.expected == "0 to 3"


def test_forced_ids_come_first_and_last() -> None:
    rows = [row(forced_start=(3, 3, 1), forced_end=0, max_new_tokens=6), row(1, forced_start=(5,), max_new_tokens=1)]
    found = ids_of(random_table(8), rows)
    assert found[0][:3] == [3, 3, 1]
    assert found[0][-1] == 0
    assert found[1] == [5]


def test_ends_are_put_off_and_why_it_ended_is_said() -> None:
    table = torch.zeros(3, 3)
    table[:, 1] = 5.0
    for asked, length, finish in [
        ({"end_ids": (1,)}, 1, Finish.END),
        ({"end_ids": (1,), "min_new_tokens": 4}, 5, Finish.END),
        ({"end_ids": (1,), "min_new_tokens": 9}, 6, Finish.LENGTH),
        ({"max_length": 3}, 2, Finish.LENGTH),
        ({"max_new_tokens": 0}, 0, Finish.LENGTH),
        ({"max_length": 1}, 0, Finish.LENGTH),
    ]:
        one = row(**asked)
        assert len(ids_of(table, [one])[0]) == length
        assert one.finish is finish


def test_rows_that_have_ended_leave_the_batch() -> None:
    rows = [row(n, max_new_tokens=n + 1) for n in range(3)]
    stepper = TableStepper(random_table(9), [(2,)] * 3)
    events = [[event.row for event in step] for step in decode(stepper, rows)]
    assert events == [[0, 1, 2], [1, 2], [2]]
    assert stepper.sizes == [3, 2, 1]


def test_a_row_that_is_cancelled_ends_and_the_others_go_on() -> None:
    rows = [row(n) for n in range(3)]
    counts = [0, 0, 0]
    for step in decode(TableStepper(random_table(9), [(2,)] * 3), rows):
        for event in step:
            counts[event.row] += 1
        if counts[1] == 2:
            rows[1].cancel()
    assert counts == [6, 2, 6]
    assert [one.finish for one in rows] == [Finish.LENGTH, Finish.CANCELLED, Finish.LENGTH]


def test_rows_without_room_need_no_model() -> None:
    stepper = TableStepper(random_table(5), [(2,)])
    assert list(decode(stepper, [row(max_new_tokens=0)])) == []
    assert not stepper.sizes
