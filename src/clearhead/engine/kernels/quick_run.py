"""Searches from their start to their end: of beams, or of the likeliest ids."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from clearhead.decoding import Beam, BeamResult, DecodingSettings, EarlyStopping, Stepper
from clearhead.engine.kernels.quick_search import QuickSearches
from clearhead.engine.kernels.ready import Kernels


@runtime_checkable
class Follower(Stepper, Protocol):
    """A stepper that takes searches along, several steps at a time."""

    def begin(self, searches: QuickSearches) -> bool:
        """Makes ready to follow searches from their first step on; False where `start` has to come before."""
        ...

    def follow(self, searches: QuickSearches) -> None:
        """Takes all searches some steps further: till their end, or till it is time to ask whether to go on."""
        ...


def quick_beam_search(
    found: Kernels,
    stepper: Stepper,
    prompts: Sequence[tuple[int, ...]],
    *,
    settings: DecodingSettings,
    record: bool = False,
    cancelled: Callable[[], bool],
) -> list[BeamResult]:
    """What `beam_search` finds, with steps ranked by a kernel."""
    searches = QuickSearches(found=found, prompts=prompts, settings=settings, record=record)
    _search(searches, stepper, cancelled, n_prompts=len(prompts))
    return searches.results()


def quick_greedy(
    found: Kernels,
    stepper: Follower,
    prompts: Sequence[tuple[int, ...]],
    *,
    settings: DecodingSettings,
    cancelled: Callable[[], bool],
) -> list[tuple[Beam, tuple[float, ...]]]:
    """The likeliest id after the likeliest: a search with one beam that ends where it first can.

    Gives the log-probabilities of the ids, too.
    """
    one_beam = replace(settings, early_stopping=EarlyStopping.ALWAYS, length_penalty=0.0)
    searches = QuickSearches(found=found, prompts=prompts, settings=one_beam)
    _search(searches, stepper, cancelled, n_prompts=len(prompts))
    best = [result.beams[0] for result in searches.results()]
    return [(beam, searches.said(place, len(beam.ids))) for place, beam in enumerate(best)]


def _search(searches: QuickSearches, stepper: Stepper, cancelled: Callable[[], bool], *, n_prompts: int) -> None:
    """Takes searches to their end, or as far as they may go."""
    if len(searches.live) < n_prompts and len(searches.live):
        stepper.select(torch.as_tensor(searches.live))
    ids_B: Tensor | None = None
    follower = stepper if isinstance(stepper, Follower) else None
    follows = False
    while len(searches.live) and not cancelled():
        if follower is not None and follows:
            follower.follow(searches)
        elif follower is not None and follower.begin(searches):
            follows = True
        else:
            rows_B, ids_B = searches.advance(stepper.start() if ids_B is None else stepper.step(ids_B))
            if len(searches.live):
                stepper.select(rows_B)
            follows = follower is not None
