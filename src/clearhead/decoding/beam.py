"""Beam search: several texts are followed at once, and the best that ends wins.

    score(y) = sum_t log p(y_t | y_<t) / length^penalty

Each step continues every running beam by every id and keeps the likeliest candidates: those that end go to
the finished beams, the others run on. The rules of ranking and ending are those of the reference
implementation, so that published models give the texts that they were published with.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

import torch
from jaxtyping import Float
from torch import Tensor

from clearhead.decoding.beam_record import Beam, BeamCandidate, BeamResult, Fate
from clearhead.decoding.numbers import floats, integers
from clearhead.decoding.processors import needed, process
from clearhead.decoding.row import Finish
from clearhead.decoding.settings import DecodingSettings, EarlyStopping
from clearhead.decoding.steps import Stepper
from clearhead.errors import DecodingError


@dataclass(frozen=True, kw_only=True)
class _Running:
    """A beam on its way: its new ids and the sum of their log-probabilities."""

    ids: tuple[int, ...]
    total: float


@dataclass(kw_only=True)
class _Item:
    """The search of one prompt."""

    prompt: tuple[int, ...]
    n_most: int
    running: list[_Running]
    finished: list[Beam] = field(default_factory=list[Beam])
    steps: list[tuple[BeamCandidate, ...]] = field(default_factory=list[tuple[BeamCandidate, ...]])
    done: bool = False


def beam_search(
    stepper: Stepper,
    prompts: Sequence[tuple[int, ...]],
    *,
    settings: DecodingSettings,
    record: bool = False,
    cancelled: Callable[[], bool] = lambda: False,
) -> list[BeamResult]:
    """Searches for the best continuation of every prompt; none depends on another.

    Args:
        stepper: The model, with one row for each prompt.
        prompts: The ids that are there before the first new one.
        settings: How to search.
        record: Whether to keep every candidate of every step.
        cancelled: Asked before every step; what has finished by then is the result.

    Raises:
        DecodingError: A prompt has nothing left to go on with.
    """
    items = [_new_item(prompt, settings) for prompt in prompts]
    live = [item for item in items if not item.done]
    started = False
    while live and not cancelled():
        if started:
            logits_BV = stepper.step(torch.tensor([beam.ids[-1] for item in live for beam in item.running]))
        else:
            # All beams of a prompt are alike before the first step, so that one row is enough to begin with.
            if len(live) < len(items):
                stepper.select(torch.tensor([place for place, item in enumerate(items) if not item.done]))
            logits_BV = stepper.start()
            started = True
        origins: list[int] = []
        first = 0
        for item, log_p in zip(live, _log_probabilities(logits_BV, live, settings), strict=True):
            parents = _advance(item, log_p, settings, record=record)
            origins += [] if item.done else [first + parent for parent in parents]
            first += log_p.shape[0]
        live = [item for item in live if not item.done]
        if live:
            stepper.select(torch.tensor(origins))
    return [_result(item, settings) for item in items]


def _new_item(prompt: tuple[int, ...], settings: DecodingSettings) -> _Item:
    n_most = settings.n_new(prompt_length=len(prompt))
    return _Item(prompt=prompt, n_most=n_most, running=[_Running(ids=(), total=0.0)], done=n_most <= 0)


def _log_probabilities(logits_BV: Float[Tensor, "B V"], live: list[_Item], settings: DecodingSettings) -> list[Tensor]:
    """The processed log-probabilities of every item: one row for each of its running beams."""
    log_p_BV = logits_BV.log_softmax(-1)
    if needed(settings):
        beams = [(item, beam) for item in live for beam in item.running]
        for log_p_V, (item, beam) in zip(log_p_BV, beams, strict=True):
            ids = [*item.prompt, *beam.ids]
            process(log_p_V, ids=ids, n_new=len(beam.ids), n_most=item.n_most, settings=settings)
    ends = accumulate(len(item.running) for item in live)
    return [log_p_BV[end - len(item.running) : end] for item, end in zip(live, ends, strict=True)]


def _advance(item: _Item, log_p: Tensor, settings: DecodingSettings, *, record: bool) -> list[int]:
    """Takes an item one step further; gives the place of the parent of each beam that runs on."""
    vocab_size = log_p.shape[1]
    totals = log_p + log_p.new_tensor([[beam.total] for beam in item.running])
    n_kept = max(2, 1 + len(settings.end_ids)) * settings.beams
    kept = totals.flatten().topk(min(n_kept, totals.numel()))
    length = len(item.running[0].ids) + 1
    candidates: list[BeamCandidate] = []
    running: list[_Running] = []
    ended: dict[int, Beam] = {}
    parents: list[int] = []
    for rank, (total, place) in enumerate(zip(floats(kept.values), integers(kept.indices), strict=True)):
        if not math.isfinite(total):
            break
        parent, index = divmod(place, vocab_size)
        ids = (*item.running[parent].ids, index)
        ends = index in settings.end_ids
        score, at = total, None
        if ends or length >= item.n_most:
            score = total / length**settings.length_penalty
            # Only candidates as good as a running beam may finish; the others are there to run on.
            if rank < settings.beams:
                ended[rank] = Beam(ids=ids, score=score, finish=Finish.END if ends else Finish.LENGTH)
        elif len(running) < settings.beams:
            at = len(running)
            running.append(_Running(ids=ids, total=total))
            parents.append(parent)
        fate = Fate.DROPPED if at is None else Fate.RUNNING
        candidates.append(
            BeamCandidate(parent=parent, id=index, log_probability=total, score=score, fate=fate, place=at)
        )
    if not candidates and not (item.finished and kept.values[0] == -math.inf):
        raise DecodingError(
            "no id is left to choose from, or the model's logits are not numbers",
            got=f"after {length - 1} new ids",
            advice="fewer bad words, a smaller no_repeat_ngram, or a look at the weights: `clearhead verify`",
        )
    item.finished = sorted([*item.finished, *ended.values()], key=lambda beam: -beam.score)[: settings.beams]
    item.running = running
    item.done = not running or _is_done(item, settings, n_new=length)
    if record:
        for rank, beam in ended.items():
            if any(beam is best for best in item.finished):
                candidates[rank] = replace(candidates[rank], fate=Fate.FINISHED)
        item.steps.append(tuple(candidates))
    return parents


def _is_done(item: _Item, settings: DecodingSettings, *, n_new: int) -> bool:
    """Whether nothing that still runs can be worth waiting for."""
    if len(item.finished) < settings.beams:
        return False
    if settings.early_stopping is EarlyStopping.ALWAYS:
        return True
    hopeful = settings.early_stopping is EarlyStopping.NEVER and settings.length_penalty > 0
    best = item.running[0].total / (item.n_most if hopeful else n_new) ** settings.length_penalty
    return best <= item.finished[-1].score


def _result(item: _Item, settings: DecodingSettings) -> BeamResult:
    """The best finished beams; where a search was cancelled before any finished, those that ran."""
    beams = item.finished or [
        Beam(ids=beam.ids, score=beam.total / max(1, len(beam.ids)) ** settings.length_penalty, finish=_why(item))
        for beam in item.running
    ]
    return BeamResult(beams=tuple(beams[: settings.n_best]), steps=tuple(item.steps))


def _why(item: _Item) -> Finish:
    return Finish.LENGTH if item.n_most <= 0 else Finish.CANCELLED
