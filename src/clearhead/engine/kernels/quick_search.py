"""Beam searches of a batch whose steps are ranked by a kernel.

Beams are followed as rows: a step keeps, for every row, the row that it goes on with and its id, and a text is read
back along them once it has ended.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from clearhead.decoding import Beam, BeamResult, DecodingSettings, EarlyStopping, Finish
from clearhead.decoding.beam import BeamSearch, hopes, n_kept, nothing_left
from clearhead.decoding.leaders import Ranking
from clearhead.decoding.processors import check_known, forbidden
from clearhead.engine.kernels import fields as at
from clearhead.engine.kernels.fleet import fleet
from clearhead.engine.kernels.ready import Kernels

Tables = tuple[Any, ...]
"""What a kernel takes of searches; the last six are where it leaves what it found, and the prompts of searches."""


class Several(NamedTuple):
    """What a kernel takes of searches to go several steps: how far it is, what it leaves, and what it reads."""

    state: np.ndarray
    live: np.ndarray
    counts: np.ndarray
    trail: np.ndarray
    said: np.ndarray
    endings: np.ndarray
    ending_scores: np.ndarray
    plan: np.ndarray
    divisors: np.ndarray
    others: Tables


class _Ended(NamedTuple):
    """A beam that ended: how many ids it had before its last, the row that had them, that last id, and its score."""

    n_before: int
    row: int
    id: int
    score: float


class QuickSearches:
    """The searches of several prompts, all of them together.

    Args:
        found: The kernels.
        prompts: The ids that are there before the first new one.
        settings: How to search; nothing that changes logits, but for a few ids that are left out.
        record: Whether to keep every candidate of every step.
    """

    def __init__(
        self, *, found: Kernels, prompts: Sequence[tuple[int, ...]], settings: DecodingSettings, record: bool = False
    ) -> None:
        self._kernel = found.search_on
        self._settings = settings
        self._most = [settings.n_new(prompt_length=len(prompt)) for prompt in prompts]
        self._ended: list[list[_Ended]] = [[] for _ in prompts]
        self.live = np.array([place for place, most in enumerate(self._most) if most > 0], dtype=np.int64)
        self._searches = np.zeros((len(self.live), at.SEARCH_SIZE), dtype=np.int64)
        self._searches[:, at.FIRST_ROW] = np.arange(len(self.live))
        self._searches[:, at.N_BEAMS] = 1  # all beams are alike before the first step
        self._searches[:, at.MOST_IDS] = [self._most[place] for place in self.live]
        self._finished = np.zeros((len(self.live), settings.beams))
        self._totals = np.zeros(len(self.live), dtype=np.float32)
        self._first_ids = np.array([prompts[place][-1] for place in self.live], dtype=np.int64)
        self._trail: list[np.ndarray] = []
        self._said: list[np.ndarray] = []  # for each step and prompt, what its likeliest candidate added
        self._left_out = forbidden(settings) or ()
        self._end_ids = np.array(settings.end_ids, dtype=np.int64)
        self.hopeful = hopes(settings)
        most = [float(each**settings.length_penalty) for each in self._most if each > 0]
        self._hopes = np.array(most, dtype=np.float64)
        again = [BeamSearch(prompt=prompt, settings=settings, record=True) for prompt in prompts]
        self._again = again if record else []  # these go the way of the kernel once more, along its candidates

    def advance(self, logits_BV: Tensor) -> tuple[Tensor, Tensor]:
        """Takes all searches one step further; gives the rows to go on with and their ids, none where all have ended.

        Raises:
            DecodingError: A search has nothing left to go on with.
        """
        assert logits_BV.dtype is torch.float32 and logits_BV.device.type == "cpu"
        logits_BV = logits_BV if logits_BV.stride(1) == 1 else logits_BV.contiguous()
        tables = self.tables(logits_BV)
        fleet().run(self._kernel, *tables)
        return self.took(tables)

    def tables(self, logits_BV: Tensor) -> Tables:
        """What a kernel takes to go one step further, with logits that are there or will be."""
        settings, n_live = self._settings, len(self.live)
        length, size = len(self._trail) + 1, logits_BV.shape[1]
        plan = np.zeros(at.PLAN_SIZE, dtype=np.int64)
        plan[at.LOGITS], plan[at.LOGITS_ROW], plan[at.N_LOGITS] = logits_BV.data_ptr(), 4 * logits_BV.stride(0), size
        check_known(self._left_out, size)
        n_each = n_kept(settings) + len(self._left_out)
        plan[at.N_KEPT], plan[at.N_EACH] = n_kept(settings), min(n_each, size)
        plan[at.BEAMS], plan[at.LENGTH] = settings.beams, length
        plan[at.FIRST_ENDED_WINS] = settings.early_stopping is EarlyStopping.ALWAYS
        divisor = self._divisor(length)
        divisors = self._hopes if self.hopeful else np.full(n_live, divisor)
        running, ended = np.empty((2, n_live, settings.beams, 2), dtype=np.int64)
        scores = np.empty((n_live, 3, settings.beams))
        ids = self._end_ids, np.array(self._left_out, dtype=np.int64)
        ranked, rankers = self._room_for_candidates(1)
        before = plan, divisor, self._searches, divisors, *ids, self._totals, self._finished
        return *before, running, ended, scores, self.live, ranked[0], rankers[0]

    def several(self, n_steps: int, logits_BV: Tensor) -> Several:
        """What a kernel takes to go several steps further."""
        plan, _, *others, _, _, _ = self.tables(logits_BV)
        length, n_live, beams = int(plan[at.LENGTH]), len(self.live), self._settings.beams
        totals = np.zeros(n_live * beams, dtype=np.float32)
        totals[: len(self._totals)] = self._totals
        others[4] = totals
        trail = np.empty((n_steps + 1, 2, n_live * beams), dtype=np.int64)
        trail[0, 1, : len(self._totals)] = self.ids
        state = np.zeros(at.STATE_SIZE, dtype=np.int64)
        state[at.N_LIVE], state[at.HOPEFUL] = n_live, self.hopeful
        return Several(
            state=state,
            live=self.live.copy(),
            counts=np.zeros(n_steps, dtype=np.int64),
            trail=trail,
            said=np.empty((n_steps, len(self._most))),
            endings=np.empty((n_steps * n_live * beams, 4), dtype=np.int64),
            ending_scores=np.empty(n_steps * n_live * beams),
            plan=plan,
            divisors=np.array([self._divisor(length + step) for step in range(n_steps)]),
            others=(*others, *self._room_for_candidates(n_steps)),
        )

    def took_several(self, several: Several) -> None:
        """Goes on from what a kernel has left of several steps.

        Raises:
            DecodingError: A search has nothing left to go on with.
        """
        state, trail = several.state, several.trail
        n_live, n_steps = int(state[at.N_LIVE]), int(state[at.N_STEPS])
        if n_live < 0:
            raise nothing_left(len(self._trail) + n_steps - 1)
        n_endings = int(state[at.N_ENDINGS])
        scores: list[float] = several.ending_scores[:n_endings].tolist()
        endings: list[list[int]] = several.endings[:n_endings].tolist()
        for (which, n_before, row, index), score in zip(endings, scores, strict=True):
            self._ended[which].append(_Ended(n_before, row, index, score))
        for step, count in enumerate(several.counts[:n_steps].tolist()):
            self._trail.append(trail[step + 1, :, :count].copy())
            self._said.append(several.said[step])
        searches, hopes, _, _, totals, finished, *_, ranked, rankers = several.others
        for step in range(n_steps if self._again else 0):
            self._go_again(ranked[step], rankers[step])
        self.live, self._searches, self._finished = several.live[:n_live], searches[:n_live], finished[:n_live]
        self._hopes = hopes[:n_live] if self.hopeful else self._hopes[:n_live]
        self._totals = totals[: int(state[at.N_ROWS_LEFT])]

    @property
    def ids(self) -> np.ndarray:
        """The last id of every row."""
        return self._trail[-1][1] if self._trail else self._first_ids

    @property
    def most_rows(self) -> int:
        """Rows that there may be from now on."""
        return len(self.live) * self._settings.beams

    def _divisor(self, length: int) -> float:
        """What the sum of a text that ends with so many ids is divided by."""
        return float(length**self._settings.length_penalty)

    def took(self, tables: Tables) -> tuple[Tensor, Tensor]:
        """What has become of the searches now that a kernel has been through their tables; as `advance` gives it."""
        *_, running, ended, scores, _, ranked, rankers = tables
        searches = self._searches
        states = searches[:, at.STATE]
        if (states == at.NOTHING_LEFT).any():
            raise nothing_left(len(self._trail))
        if searches[:, at.N_ENDED].any():
            self._take_ended(ended, scores)
        if self._again:
            self._go_again(ranked, rankers)
        said = np.empty(len(self._most))
        said[self.live] = scores[:, 2, 0]
        self._said.append(said)
        self._go_on(states == at.RUNS, running, scores)
        rows = torch.as_tensor(self._trail[-1])
        return rows[0], rows[1]

    def results(self) -> list[BeamResult]:
        """The best beams that ended; where a search was cancelled before any did, those that ran."""
        if self._again:
            return [search.result() for search in self._again]
        settings = self._settings
        found = [sorted(beams, key=lambda one: -one.score)[: settings.n_best] for beams in self._ended]
        best = [[self._beam(one) for one in some] for some in found]
        for search, place in zip(self._searches, self.live, strict=True):
            if not best[place]:
                best[place] = self._cut_off(int(search[at.FIRST_ROW]), int(search[at.N_BEAMS]))[: settings.n_best]
        for place, most in enumerate(self._most):
            if most <= 0:
                best[place] = [Beam(ids=(), score=0.0, finish=Finish.LENGTH)]
        return [BeamResult(beams=tuple(beams)) for beams in best]

    def said(self, place: int, n_ids: int) -> tuple[float, ...]:
        """The log-probability of each of so many ids, where a search follows one beam alone."""
        return tuple(float(each[place]) for each in self._said[:n_ids])

    def _room_for_candidates(self, n_steps: int) -> tuple[np.ndarray, np.ndarray]:
        """Where a kernel leaves the candidates of each step and prompt: their sums, and their beams and ids."""
        shape = (n_steps, len(self._again), n_kept(self._settings) if self._again else 0)
        return np.full(shape, -np.inf, dtype=np.float32), np.zeros((*shape, 2), dtype=np.int64)

    def _go_again(self, ranked: np.ndarray, rankers: np.ndarray) -> None:
        """Takes the searches that still run one step further along the candidates that a kernel found."""
        for search, totals, where in zip(self._again, ranked, rankers, strict=True):
            if not search.done:
                search.follow(Ranking(totals.tolist(), where[:, 0].tolist(), where[:, 1].tolist()))

    def _beam(self, one: _Ended) -> Beam:
        why = Finish.END if one.id in self._settings.end_ids else Finish.LENGTH
        return Beam(ids=(*self._ids(one.n_before, one.row), one.id), score=one.score, finish=why)

    def _cut_off(self, first: int, n_beams: int) -> list[Beam]:
        """The beams of a search that was cancelled."""
        length = len(self._trail)
        divisor = max(1, length) ** self._settings.length_penalty
        return [
            Beam(ids=self._ids(length, row), score=float(self._totals[row]) / divisor, finish=Finish.CANCELLED)
            for row in range(first, first + n_beams)
        ]

    def _take_ended(self, ended: np.ndarray, scores: np.ndarray) -> None:
        """Takes note of the beams that ended in this step."""
        for which in np.flatnonzero(self._searches[:, at.N_ENDED]).tolist():
            n_ended = int(self._searches[which, at.N_ENDED])
            both = zip(ended[which, :n_ended].tolist(), scores[which, 1, :n_ended].tolist(), strict=True)
            some = [_Ended(len(self._trail), row, index, score) for (row, index), score in both]
            self._ended[self.live[which]] += some

    def _go_on(self, runs: np.ndarray, running: np.ndarray, scores: np.ndarray) -> None:
        """Keeps the searches that run, and the rows of their beams."""
        n_running = self._searches[:, at.N_RUNNING] * runs
        beams: np.ndarray = np.less(np.arange(self._settings.beams), n_running[:, None])
        self._trail.append(np.ascontiguousarray(running[beams].T))
        self._totals = scores[:, 0][beams].astype(np.float32)
        if not runs.all():
            self.live, self._finished, self._hopes = self.live[runs], self._finished[runs], self._hopes[runs]
            self._searches = self._searches[runs]
        searches = self._searches
        searches[:, at.N_BEAMS] = searches[:, at.N_RUNNING]
        searches[:, at.FIRST_ROW] = np.cumsum(searches[:, at.N_BEAMS]) - searches[:, at.N_BEAMS]

    def _ids(self, n_ids: int, row: int) -> tuple[int, ...]:
        """The ids of the text that a row stood for after so many steps."""
        ids: list[int] = []
        for rows in reversed(self._trail[:n_ids]):
            before, index = rows[:, row].tolist()
            ids.append(index)
            row = before
        return tuple(reversed(ids))
