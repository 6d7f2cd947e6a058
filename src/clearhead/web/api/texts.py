"""`/summarize`, `/answer`, `/classify`, `/fill` and `/search`: each a thin call into its task."""

import dataclasses
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from clearhead import tasks
from clearhead.model import Model
from clearhead.tasks import Label, Loaded, Span, Written
from clearhead.tasks.index.nearest import unit_rows
from clearhead.web.api.endpoint import Call, Endpoint
from clearhead.web.api.shape import listed
from clearhead.web.api.task_shapes import (
    AnswerAsked,
    Answers,
    Classified,
    ClassifyAsked,
    FillAsked,
    Filled,
    FilledGap,
    Found,
    FoundAnswer,
    FoundText,
    ScoredLabel,
    SearchAsked,
    Summaries,
    SummarizeAsked,
)

Result = TypeVar("Result")


def text_endpoints() -> list[Endpoint]:
    """The endpoints."""
    return [
        Endpoint(
            path="/summarize", summary="Summarises texts.", answer=_summarize, asked=SummarizeAsked, gives=Summaries
        ),
        Endpoint(path="/answer", summary="Answers a question.", answer=_answer, asked=AnswerAsked, gives=Answers),
        Endpoint(
            path="/classify",
            summary="Says which labels fit texts.",
            answer=_classify,
            asked=ClassifyAsked,
            gives=Classified,
        ),
        Endpoint(path="/fill", summary="Fills in masked words.", answer=_fill, asked=FillAsked, gives=Filled),
        Endpoint(path="/search", summary="Finds texts by meaning.", answer=_search, asked=SearchAsked, gives=Found),
    ]


async def _done(
    call: Call, model: str | None, verbs: tuple[str, ...], job: Callable[[Model, Loaded], Result], *, text: object
) -> tuple[str, Result]:
    """Does a job for a model on a thread, in common batches with others."""

    def work() -> tuple[str, Result]:
        found = call.desk.model_for(model, *verbs)
        found.loaded.require(verbs[-1])
        return found.name, job(found, call.desk.served(found))

    name, result = await call.work(work)
    call.note(model=name, **({"text": text} if call.desk.settings.log_text else {}))
    return name, result


async def _summarize(call: Call, asked: SummarizeAsked) -> Summaries:
    options = {**asked.decoding.options(), "sentences": asked.sentences}
    texts = listed(asked.text)
    name, found = await _done(
        call,
        asked.model,
        ("summarize",),
        lambda _, loaded: tasks.summarize(loaded, texts, **options),
        text=asked.text,
    )
    return Summaries(model=name, results=[one.text for one in found])


async def _answer(call: Call, asked: AnswerAsked) -> Answers:
    options = {**asked.decoding.options(), **({} if asked.longest is None else {"longest": asked.longest})}
    name, found = await _done(
        call,
        asked.model,
        ("answer",),
        lambda _, loaded: tasks.answer(loaded, asked.question, asked.passage, n=asked.n, **options),
        text=[asked.question, asked.passage],
    )
    return Answers(model=name, answers=[_told(one) for one in found])


def _told(one: Span | Written) -> FoundAnswer:
    if isinstance(one, Span):
        return FoundAnswer(text=one.text, score=one.score, start=one.start, end=one.end)
    return FoundAnswer(text=one.text, score=one.score)


async def _classify(call: Call, asked: ClassifyAsked) -> Classified:
    texts = listed(asked.text)
    verbs = ("classify",) if asked.labels is None else ("choose", "classify")

    def classify(_: Model, loaded: Loaded) -> list[list[Label]]:
        return tasks.classify(loaded, texts, labels=asked.labels, hypothesis=asked.hypothesis, truncate=asked.truncate)

    name, found = await _done(call, asked.model, verbs, classify, text=asked.text)
    return Classified(model=name, results=[[ScoredLabel(**vars(one)) for one in labels] for labels in found])


async def _fill(call: Call, asked: FillAsked) -> Filled:
    texts = listed(asked.text)
    name, found = await _done(
        call,
        asked.model,
        ("fill",),
        lambda _, loaded: tasks.fill(loaded, texts, n=asked.n, truncate=asked.truncate),
        text=asked.text,
    )
    results = [[[FilledGap(**dataclasses.asdict(one)) for one in gap] for gap in gaps] for gaps in found]
    return Filled(model=name, results=results)


async def _search(call: Call, asked: SearchAsked) -> Found:
    def search(model: Model, loaded: Loaded) -> list[FoundText]:
        if asked.texts is None:
            hits = call.desk.index(model).search(asked.query, asked.n)
            return [FoundText(text=hit.passage, score=hit.score, path=hit.path, line=hit.line) for hit in hits]
        units_KD = unit_rows(tasks.embed(loaded, [asked.query, *asked.texts], truncate=asked.truncate))
        scores_K: np.ndarray = units_KD[1:] @ units_KD[0]
        best = [int(place) for place in np.argsort(-scores_K, kind="stable")[: asked.n]]
        return [FoundText(text=asked.texts[place], score=float(scores_K[place]), place=place) for place in best]

    name, found = await _done(call, asked.model, ("search",), search, text=asked.query)
    return Found(model=name, results=found)
