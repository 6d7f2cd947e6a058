"""Beam search: several texts are followed at once, and the best that ends wins.

    score(y) = sum_t log p(y_t | y_<t) / length^penalty

Each step continues every running beam by every id and keeps the likeliest candidates: those that end go to
the finished beams, the others run on. The rules of ranking and ending are those of the reference
implementation, so that published models give the texts that they were published with.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from clearhead.decoding.beam_record import Beam, BeamCandidate, BeamResult, Fate
from clearhead.decoding.leaders import Lead, Leaders, Ranking, leading, likeliest, rank
from clearhead.decoding.processors import check_known, forbidden, process
from clearhead.decoding.row import Finish
from clearhead.decoding.settings import DecodingSettings, EarlyStopping
from clearhead.decoding.steps import Stepper
from clearhead.errors import DecodingError


class _Running(NamedTuple):
    """A beam on its way: its new ids and the sum of their log-probabilities."""

    ids: tuple[int, ...]
    total: float


class BeamSearch:
    """The search of one prompt, a step at a time.

    Args:
        prompt: The ids that are there before the first new one.
        settings: How to search.
        record: Whether to keep every candidate of every step.
        lead: Finds the likeliest ids of rows of logits.
    """

    def __init__(
        self, *, prompt: tuple[int, ...], settings: DecodingSettings, record: bool = False, lead: Lead = leading
    ) -> None:
        self.prompt = prompt
        self._lead = lead
        self.settings = settings
        self.n_most = settings.n_new(prompt_length=len(prompt))
        # All beams are alike before the first step, so that one row is enough to begin with.
        self._running: list[_Running] = [_Running((), 0.0)]
        self._finished: list[Beam] = []
        self._steps: list[tuple[BeamCandidate, ...]] | None = [] if record else None
        self.done = self.n_most <= 0

    @property
    def running(self) -> list[tuple[int, ...]]:
        """The new ids of every beam on its way, the likeliest first: each is a row of the next logits."""
        return [beam.ids for beam in self._running]

    @property
    def totals(self) -> list[float]:
        """The sums of their log-probabilities."""
        return [beam.total for beam in self._running]

    def advance(self, logits_BV: Float[Tensor, "B V"]) -> list[int]:
        """Takes every running beam one step further; gives the place of the parent of each beam that runs on.

        Raises:
            DecodingError: Nothing is left to go on with.
        """
        count = n_kept(self.settings)
        leaders = _leaders(logits_BV, self.settings, self._lead)
        if leaders is None:
            leaders = likeliest(self._log_probabilities(logits_BV), count)
        return self.follow(rank(leaders, self.totals, [len(self._running)], count)[0])

    def follow(self, ranking: Ranking) -> list[int]:
        """Takes every running beam one step further, as `advance` does, along its likeliest candidates.

        Raises:
            DecodingError: Nothing is left to go on with.
        """
        settings, before, length = self.settings, self._running, len(self._running[0].ids) + 1
        best, n_most = ranking.totals, settings.beams
        if math.isnan(best[0]):
            raise nothing_left(length - 1)
        is_last = length >= self.n_most
        n_possible = sum(map(math.isfinite, best))
        candidates: list[BeamCandidate] = []
        running: list[_Running] = []
        ended: dict[int, Beam] = {}
        parents: list[int] = []
        for place, (total, parent, index) in enumerate(zip(*ranking, strict=True)):
            if place == n_possible or (self._steps is None and place >= n_most and len(running) == n_most):
                break  # what comes now can neither run nor finish
            at, score = None, total
            if index in settings.end_ids or is_last:
                score = total / length**settings.length_penalty
                # Only candidates as good as a running beam may finish; the others are there to run on.
                if place < n_most:
                    why = Finish.END if index in settings.end_ids else Finish.LENGTH
                    ended[place] = Beam(ids=(*before[parent].ids, index), score=score, finish=why)
            elif len(running) < n_most:
                at = len(running)
                running.append(_Running((*before[parent].ids, index), total))
                parents.append(parent)
            if self._steps is not None:
                fate = Fate.DROPPED if at is None else Fate.RUNNING
                candidates.append(
                    BeamCandidate(parent=parent, id=index, log_probability=total, score=score, fate=fate, place=at)
                )
        if not n_possible and not (self._finished and best[0] == -math.inf):
            raise nothing_left(length - 1)
        if ended:
            self._finished = sorted([*self._finished, *ended.values()], key=lambda beam: -beam.score)[: settings.beams]
        self._running = running
        self.done = not running or self._is_enough(n_new=length)
        self._keep(candidates, ended)
        return [] if self.done else parents

    def result(self) -> BeamResult:
        """The best finished beams; where a search was cancelled before any finished, those that ran."""
        why = Finish.LENGTH if self.n_most <= 0 else Finish.CANCELLED
        penalty = self.settings.length_penalty
        beams = self._finished or [
            Beam(ids=beam.ids, score=beam.total / max(1, len(beam.ids)) ** penalty, finish=why)
            for beam in self._running
        ]
        return BeamResult(beams=tuple(beams[: self.settings.n_best]), steps=tuple(self._steps or ()))

    def _log_probabilities(self, logits_BV: Tensor) -> Tensor:
        """The processed log-probabilities of every running beam."""
        log_p_BV = logits_BV.log_softmax(-1)
        for log_p_V, beam in zip(log_p_BV, self._running, strict=True):
            ids = [*self.prompt, *beam.ids]
            process(log_p_V, ids=ids, n_new=len(beam.ids), n_most=self.n_most, settings=self.settings)
        return log_p_BV

    def _is_enough(self, *, n_new: int) -> bool:
        """Whether nothing that still runs can be worth waiting for."""
        settings = self.settings
        if len(self._finished) < settings.beams:
            return False
        if settings.early_stopping is EarlyStopping.ALWAYS:
            return True
        best = self._running[0].total / (self.n_most if hopes(settings) else n_new) ** settings.length_penalty
        return best <= self._finished[-1].score

    def _keep(self, candidates: list[BeamCandidate], ended: dict[int, Beam]) -> None:
        """Takes note of what became of every candidate, where that is asked for."""
        if self._steps is None:
            return
        for place, beam in ended.items():
            if any(beam is best for best in self._finished):
                candidates[place] = replace(candidates[place], fate=Fate.FINISHED)
        self._steps.append(tuple(candidates))


def beam_search(
    stepper: Stepper,
    prompts: Sequence[tuple[int, ...]],
    *,
    settings: DecodingSettings,
    record: bool = False,
    cancelled: Callable[[], bool] = lambda: False,
    lead: Lead = leading,
) -> list[BeamResult]:
    """Searches for the best continuation of every prompt; none depends on another.

    Args:
        stepper: The model, with one row for each prompt.
        prompts: The ids that are there before the first new one.
        settings: How to search.
        record: Whether to keep every candidate of every step.
        cancelled: Asked before every step; what has finished by then is the result.
        lead: Finds the likeliest ids of rows of logits.

    Raises:
        DecodingError: A prompt has nothing left to go on with.
    """
    searches = [BeamSearch(prompt=prompt, settings=settings, record=record) for prompt in prompts]
    live = [search for search in searches if not search.done]
    started = False
    while live and not cancelled():
        if started:
            logits_BV = stepper.step(torch.tensor([ids[-1] for search in live for ids in search.running]))
        else:
            if len(live) < len(searches):
                stepper.select(torch.tensor([place for place, search in enumerate(searches) if not search.done]))
            logits_BV = stepper.start()
            started = True
        widths = [len(search.running) for search in live]
        parents = _advanced(live, widths, logits_BV, settings=settings, lead=lead)
        firsts = accumulate(widths, initial=0)
        origins = [first + parent for first, some in zip(firsts, parents, strict=False) for parent in some]
        live = [search for search in live if not search.done]
        if live:
            stepper.select(torch.tensor(origins))
    return [search.result() for search in searches]


def _advanced(
    live: Sequence[BeamSearch], widths: Sequence[int], logits_BV: Tensor, *, settings: DecodingSettings, lead: Lead
) -> list[list[int]]:
    """Takes all searches one step further; gives the parents of each, counted from its first row."""
    leaders = _leaders(logits_BV, settings, lead)
    if leaders is None:
        rows = logits_BV.split_with_sizes(list(widths))
        return [search.advance(own_BV) for search, own_BV in zip(live, rows, strict=True)]
    totals = [total for search in live for total in search.totals]
    ranked = rank(leaders, totals, widths, n_kept(settings))  # all at once
    return [search.follow(ranking) for search, ranking in zip(live, ranked, strict=True)]


def _leaders(logits_BV: Tensor, settings: DecodingSettings, lead: Lead) -> Leaders | None:
    """The likeliest ids of rows that may be chosen; None where settings ask for changed logits."""
    left_out, count = forbidden(settings), n_kept(settings)
    if left_out is None:
        return None
    if not left_out:
        return lead(logits_BV, count)
    check_known(left_out, logits_BV.shape[1])
    return lead(logits_BV, count + len(left_out)).without(left_out, count)


def n_kept(settings: DecodingSettings) -> int:
    """Candidates that are looked at in a step: enough to run on with, should some of them end."""
    return max(2, 1 + len(settings.end_ids)) * settings.beams


def hopes(settings: DecodingSettings) -> bool:
    """Whether a running beam is given the benefit of the length that it may still reach."""
    return settings.early_stopping is EarlyStopping.NEVER and settings.length_penalty > 0


def nothing_left(n_new: int) -> DecodingError:
    """What to say of a search that cannot go on."""
    return DecodingError(
        "no id is left to choose from, or the model's logits are not numbers",
        got=f"after {n_new} new ids",
        advice="fewer bad words, a smaller no_repeat_ngram, or a look at the weights: `clearhead verify`",
    )
