import pytest
import torch

from clearhead.decoding import BeamResult, DecodingSettings, EarlyStopping, Fate, Finish, beam_search
from clearhead.errors import DecodingError

from .table_stepper import TableStepper, random_table

ENDS = (1, 4)


def search(settings: DecodingSettings, *, seed: int = 0, size: int = 11, prompts: int = 1) -> list[BeamResult]:
    starts = [(2 + place,) for place in range(prompts)]
    return beam_search(TableStepper(random_table(size, seed), starts), starts, settings=settings, record=True)


def exhaustive(table: torch.Tensor, first: int, length: int) -> list[tuple[float, tuple[int, ...]]]:
    """Every text of at most this length, by its sum of log-probabilities."""
    log_p = table.log_softmax(-1)
    texts: list[tuple[float, tuple[int, ...]]] = []
    open_texts = [(0.0, ())]
    for place in range(length):
        longer = [
            (total + float(log_p[ids[-1] if ids else first, index]), (*ids, index))
            for total, ids in open_texts
            for index in range(len(table))
        ]
        done = [text for text in longer if text[1][-1] in ENDS or place == length - 1]
        texts += done
        open_texts = [text for text in longer if text not in done]
    return sorted(texts, reverse=True)


def test_with_enough_beams_nothing_better_exists() -> None:
    settings = DecodingSettings(
        beams=200, n_best=5, max_new_tokens=3, end_ids=ENDS, length_penalty=0.0, early_stopping=EarlyStopping.NEVER
    )
    for seed in range(3):
        found = search(settings, seed=seed, size=6)[0]
        best = exhaustive(random_table(6, seed), 2, 3)[:5]
        assert [beam.ids for beam in found.beams] == [ids for _, ids in best]
        assert [beam.score for beam in found.beams] == pytest.approx([total for total, _ in best], abs=1e-4)


@pytest.mark.parametrize("early", EarlyStopping)
@pytest.mark.parametrize("penalty", [-1.0, 0.6, 2.0])
def test_the_record_replays_the_search(early: EarlyStopping, penalty: float) -> None:
    settings = DecodingSettings(
        beams=3, n_best=3, max_new_tokens=6, end_ids=ENDS, length_penalty=penalty, early_stopping=early
    )
    finishes = set()
    for seed in range(6):
        result = search(settings, seed=seed)[0]
        log_p = random_table(11, seed).log_softmax(-1)
        running: list[tuple[tuple[int, ...], float]] = [((), 0.0)]
        finished: dict[tuple[int, ...], float] = {}
        for step in result.steps:
            after: dict[int, tuple[tuple[int, ...], float]] = {}
            totals = [one.log_probability for one in step]
            assert totals == sorted(totals, reverse=True)
            for one in step:
                ids, total = running[one.parent]
                total += float(log_p[ids[-1] if ids else 2, one.id])
                ids = (*ids, one.id)
                assert one.log_probability == pytest.approx(total, abs=1e-4)
                assert (one.fate is Fate.RUNNING) == (one.place is not None)
                if one.place is not None:
                    assert one.score == one.log_probability
                    after[one.place] = (ids, one.log_probability)
                elif one.fate is Fate.FINISHED:
                    assert one.score == pytest.approx(total / len(ids) ** penalty, abs=1e-4)
                    finished[ids] = one.score
            assert list(after) == list(range(len(after)))
            running = list(after.values())
        # Of all that ever finished, the best are the result, and nothing else is.
        best = sorted(finished.items(), key=lambda pair: -pair[1])[:3]
        assert [(beam.ids, beam.score) for beam in result.beams] == best
        finishes |= {beam.finish for beam in result.beams}
        for beam in result.beams:
            assert (beam.finish is Finish.END) == (beam.ids[-1] in ENDS)
    assert Finish.END in finishes


def test_without_a_record_nothing_is_kept() -> None:
    stepper = TableStepper(random_table(5), [(2,)])
    assert beam_search(stepper, [(2,)], settings=DecodingSettings(beams=2, max_new_tokens=3))[0].steps == ()


def test_ties_in_the_record_are_told_apart() -> None:
    """All ids are as likely as all others: only those that finished are marked so."""
    settings = DecodingSettings(beams=2, n_best=2, max_new_tokens=2, early_stopping=EarlyStopping.NEVER)
    result = beam_search(TableStepper(torch.zeros(4, 4), [(0,)]), [(0,)], settings=settings, record=True)[0]
    assert sum(one.fate is Fate.FINISHED for one in result.steps[-1]) == 2
    assert len({beam.ids for beam in result.beams}) == 2


def test_prompts_do_not_know_each_other() -> None:
    settings = DecodingSettings(beams=3, n_best=2, max_new_tokens=5, end_ids=ENDS)
    together = search(settings, prompts=5)
    for place, result in enumerate(together):
        starts = [(2 + place,)]
        alone = beam_search(TableStepper(random_table(11), starts), starts, settings=settings, record=True)[0]
        assert [beam.ids for beam in alone.beams] == [beam.ids for beam in result.beams]
        assert [len(step) for step in alone.steps] == [len(step) for step in result.steps]


def test_a_search_that_is_done_leaves_the_batch() -> None:
    starts = [(2 + place,) for place in range(5)]
    stepper = TableStepper(random_table(11), starts)
    beam_search(stepper, starts, settings=DecodingSettings(beams=3, max_new_tokens=8, end_ids=ENDS))
    assert stepper.sizes[0] == 5  # one row is enough before the first step
    assert stepper.sizes[1] == 15
    assert min(stepper.sizes[1:]) < 15


def test_nothing_to_write_needs_no_model() -> None:
    starts = [(2, 3), (3, 4, 5)]
    stepper = TableStepper(random_table(11), starts)
    found = beam_search(stepper, starts, settings=DecodingSettings(beams=2, max_length=2))
    assert [beam.ids for result in found for beam in result.beams] == [(), ()]
    assert all(result.beams[0].finish is Finish.LENGTH for result in found)
    assert not stepper.sizes


def test_some_prompts_may_have_no_room_where_others_do() -> None:
    starts = [(2, 3, 4), (3, 4)]
    found = beam_search(
        TableStepper(random_table(11), starts), starts, settings=DecodingSettings(beams=2, max_length=3)
    )
    assert [len(result.beams[0].ids) for result in found] == [0, 1]


@pytest.mark.parametrize("after", [0, 1, 3])
def test_what_is_cancelled_gives_what_it_has(after: int) -> None:
    stepper = TableStepper(random_table(11), [(2,)])
    asked = iter(range(100))
    result = beam_search(
        stepper,
        [(2,)],
        settings=DecodingSettings(beams=2, n_best=2, max_new_tokens=8),
        cancelled=lambda: next(asked) >= after,
    )[0]
    assert len(stepper.sizes) == after
    assert {len(beam.ids) for beam in result.beams} == {after}
    assert all(beam.finish is Finish.CANCELLED for beam in result.beams)


def test_where_no_id_is_left_what_finished_is_the_result() -> None:
    # From 0 to 1, which ends, or to 2, which leads nowhere.
    table = torch.full((3, 3), -torch.inf)
    table[0, 1] = table[0, 2] = 0.0
    table[2] = torch.tensor([1.0, 0.0, 0.0])
    settings = DecodingSettings(beams=2, max_new_tokens=4, end_ids=(1,), bad_words=((0,), (2, 1), (2, 2)))
    assert beam_search(TableStepper(table, [(0,)]), [(0,)], settings=settings)[0].beams[0].ids == (1,)


@pytest.mark.parametrize("value", [float("nan"), float("-inf"), float("inf")])
def test_logits_that_are_no_numbers_are_an_error(value: float) -> None:
    with pytest.raises(DecodingError) as caught:
        beam_search(TableStepper(torch.full((5, 5), value), [(0,)]), [(0,)], settings=DecodingSettings(beams=2))
    assert "0 new ids" in str(caught.value.got)


def test_one_beam_whose_logits_are_no_numbers_is_an_error_too() -> None:
    table = torch.zeros(5, 5)
    table[0, 1], table[0, 2] = 5.0, 4.0
    table[2] = torch.nan
    with pytest.raises(DecodingError) as caught:
        beam_search(TableStepper(table, [(0,)]), [(0,)], settings=DecodingSettings(beams=2, max_new_tokens=3))
    assert "1 new ids" in str(caught.value.got)
