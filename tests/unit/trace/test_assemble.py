"""Sites that were kept together are put together as each by itself would be."""

import weakref
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from clearhead.config import Family
from clearhead.trace import Tape
from clearhead.trace.assemble import Assembly, Later, Wholes, together

PATTERNS = tuple(f"decoder.{layer}.self.pattern" for layer in range(3))
QUERIES = tuple(f"decoder.{layer}.self.query" for layer in range(3))
ROWS = [0, 0, 2, 1]


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(shape).normal(size=shape).astype(np.float32)


def tape_of(*, at_once: bool, out: Path | None = None, upto: int = 6) -> Tape:
    """A prompt of two, and steps of three beams: a site by itself, or all of a kind at once."""
    tape = Tape(sites=("*",), out=out)
    tape.expect((*PATTERNS, *QUERIES))
    for step in range(upto):
        tape.step = step
        n_rows, n_new, n_keys = (1, 2, 2) if step == 0 else (3, 1, step + 2)
        for sites, values in (
            (PATTERNS, numbers(3, n_rows, 4, n_new, n_keys)),
            (QUERIES, numbers(3, n_rows, 4, n_new, 5)),
        ):
            if at_once and step > 0:
                tape.keep_all(sites, values, values.shape[1:])
            else:
                for site, value in zip(sites, values, strict=True):
                    tape.keep(site, value)
            values[:] = np.inf
    return tape


def put_together(tape: Tape, rows: Sequence[int] | None = ROWS) -> dict[str, np.ndarray]:
    found = [Assembly.of(tape, sites, family=Family.DECODER_ONLY, rows=rows) for sites in together(tape)]
    return {site: values for one in found if one is not None for site, values in one.put_together(tape.value).items()}


@pytest.mark.parametrize("stored", [False, True])
def test_together_or_alone_is_the_same(stored: bool, tmp_path: Path) -> None:
    out = tmp_path / "trace.safetensors" if stored else None
    one, other = tape_of(at_once=True, out=out), tape_of(at_once=False)
    found, wanted = put_together(one), put_together(other)
    assert found.keys() == wanted.keys() == {*PATTERNS, *QUERIES}
    for site, values in wanted.items():
        assert values.shape[:3] == (1, 4, 5)
        np.testing.assert_array_equal(found[site], values)
        assert found[site].flags.c_contiguous


def test_the_row_of_the_text_is_taken_at_each_step() -> None:
    found = put_together(tape_of(at_once=True))
    for layer, site in enumerate(QUERIES):
        for step, row in enumerate(ROWS[1:], start=1):
            np.testing.assert_array_equal(found[site][0, :, step + 1], numbers(3, 3, 4, 1, 5)[layer, row, :, 0])


def test_what_was_kept_together_stays_together() -> None:
    assert together(tape_of(at_once=True)) == [PATTERNS, QUERIES]
    assert together(tape_of(at_once=False)) == [(site,) for site in (*PATTERNS, *QUERIES)]


def test_a_site_that_passed_otherwise_before_is_measured_by_itself() -> None:
    tape = tape_of(at_once=True)
    tape.pieces[PATTERNS[1]].pop(0)
    assert together(tape) == [(PATTERNS[1],), (PATTERNS[0], PATTERNS[2]), QUERIES]
    whole = put_together(tape_of(at_once=True))
    found = put_together(tape)
    np.testing.assert_array_equal(found[PATTERNS[2]], whole[PATTERNS[2]])
    np.testing.assert_array_equal(found[PATTERNS[1]], whole[PATTERNS[1]][:, :, 2:])


def test_one_reading_is_given_as_it_is() -> None:
    tape = Tape(sites=("*",))
    tape.expect(PATTERNS)
    values = numbers(3, 2, 4, 6, 6)
    tape.keep_all(PATTERNS, values, values.shape[1:])
    found = put_together(tape, rows=None)
    for value, site in zip(values, PATTERNS, strict=True):
        np.testing.assert_array_equal(found[site], value)


def test_wholes_are_put_together_when_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    tape, asked = tape_of(at_once=True), []
    wanted = put_together(tape)
    found = [Assembly.of(tape, sites, family=Family.DECODER_ONLY, rows=ROWS) for sites in together(tape)]
    wholes = Wholes(assemblies={site: one for one in found if one is not None for site in one.sites})
    plain = Assembly.put_together
    monkeypatch.setattr(Assembly, "put_together", lambda one: asked.append(one.sites) or plain(one))
    assert len(wholes) == 6 and list(wholes) == [*PATTERNS, *QUERIES]
    assert not asked
    for _ in range(2):
        for site in QUERIES:
            np.testing.assert_array_equal(wholes[site], wanted[site])
    assert asked == [QUERIES]
    assert wholes[QUERIES[0]] is wholes[QUERIES[0]]
    with pytest.raises(KeyError):
        wholes["logits"]


def test_what_is_made_later_is_made_once_and_lets_its_maker_go() -> None:
    tape, calls = tape_of(at_once=True), list[str]()
    gone = weakref.ref(tape)

    def make(tape: Tape = tape) -> dict[str, int]:
        calls.append("made")
        return {site: len(pieces) for site, pieces in tape.pieces.items()}

    later = Later(make=make)
    del make, tape
    assert not calls and gone() is not None
    assert len(later) == 6 and list(later) == [*PATTERNS, *QUERIES] and later[PATTERNS[0]] == 6
    assert calls == ["made"] and gone() is None
