"""Runs: made on request, kept on the shelf, given out as JSON and as plain numbers."""

from typing import Any

import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from clearhead.config import Family
from clearhead.errors import TraceError
from clearhead.explain import HeadSummary, Run, align, parse_edit, word_similarity
from clearhead.explain.numbers import softmax
from clearhead.model import Model
from clearhead.probe import listen
from clearhead.trace import Token, Trace
from clearhead.web.asked import RunAsked, SimilarityAsked, read
from clearhead.web.shelf import Shelf
from clearhead.web.students import Student

_CANDIDATES = 12
_MOST_TOKENS = 600
_MOST_CELLS = 4_000_000


def run_routes() -> list[Route]:
    """The routes."""
    return [
        Route("/runs", _make, methods=["POST"]),
        Route("/runs/{key}/values", _values),
        Route("/runs/{key}/lens", _lens),
        Route("/runs/{key}/heads", _heads),
        Route("/runs/{key}/alignment", _alignment),
        Route("/similarity", _similarity, methods=["POST"]),
    ]


async def _similarity(request: Request) -> JSONResponse:
    """How alike one word's vectors are in two sentences, layer by layer."""
    asked = await read(request, SimilarityAsked)
    return JSONResponse({"layers": await run_in_threadpool(_alike, request.app.state.shelf, asked)})


def _alike(shelf: Shelf, asked: SimilarityAsked) -> list[tuple[str, float]]:
    loaded = shelf.model(asked.model).loaded
    with shelf.busy:
        return word_similarity(loaded, asked.first, asked.second, word=asked.word, to=asked.to)


async def _make(request: Request) -> JSONResponse:
    asked = await read(request, RunAsked)
    student = request.app.state.lab.students.get(asked.model)
    return JSONResponse(await run_in_threadpool(made, request.app.state.shelf, asked, student))


def made(shelf: Shelf, asked: RunAsked, student: Student | None) -> dict[str, Any]:
    """Makes a run and keeps it; gives what it is known by, and how the page draws it."""
    edits = [parse_edit(text) for text in asked.edits]
    if student is not None:
        with shelf.busy, listen(*edits):
            run = student.write(asked.text, **asked.decoding.given())
    else:
        model = shelf.model(asked.model)
        with shelf.busy, model.edit(*edits):
            run = _recorded(model, asked)
    trace = run.trace
    if max(len(trace.source), len(trace.target)) > _MOST_TOKENS:
        raise TraceError("a text that is too long to look into here", got=len(trace.target), expected=_MOST_TOKENS)
    return {"run": shelf.keep(run), **account(run)}


def _recorded(model: Model, asked: RunAsked) -> Run:
    options = asked.decoding.given()
    writes = model.family is Family.ENCODER_DECODER and asked.second is None
    if writes or (asked.write and model.family is Family.DECODER_ONLY):
        return model.generate(asked.text, to=asked.to, trace="*", **options)
    return model.trace(asked.text, asked.second, to=asked.to)


def account(run: Run) -> dict[str, Any]:
    """A run as the page draws it, without its numbers."""
    trace = run.trace
    return {
        "text": run.text,
        "family": trace.family.value,
        "source": _tokens(trace.source),
        "target": _tokens(trace.target),
        "written": _tokens(trace.written),
        "nPrompt": trace.n_prompt,
        "scores": trace.scores,
        "score": trace.score,
        "lengthPenalty": trace.length_penalty,
        "beams": [[_candidate(run, one) for one in step] for step in trace.beams],
        "candidates": _candidates(run),
        "sites": {
            site: {
                "axes": record.axes,
                "shape": record.shape,
                "operation": record.operation,
                "inputs": record.inputs,
                "parameters": record.parameters,
                "line": None if record.line is None else vars(record.line),
            }
            for site, record in trace.sites.items()
        },
    }


def _tokens(tokens: tuple[Token, ...]) -> list[dict[str, Any]]:
    return [{"id": token.id, "piece": token.piece, "shown": token.shown} for token in tokens]


def _candidate(run: Run, one: Any) -> dict[str, Any]:
    piece = run.book.piece_of(one.id)
    return {
        "parent": one.parent,
        "id": one.id,
        "shown": Token(id=one.id, piece=piece).shown,
        "logProbability": one.log_probability,
        "score": one.score,
        "fate": one.fate.value,
        "place": one.place,
    }


def _candidates(run: Run) -> list[list[dict[str, Any]]]:
    """At each position that has logits, the likeliest outputs."""
    if "logits" not in run:
        return []
    logits = run["logits"][0]
    rows = logits if logits.ndim == 2 else logits[None]
    found: list[list[dict[str, Any]]] = []
    for row, shares in zip(rows, softmax(rows), strict=True):
        best = np.argsort(-shares)[:_CANDIDATES]
        found.append(
            [
                {
                    "id": int(index),
                    "shown": Token(id=int(index), piece=run.book.output_name(int(index))).shown,
                    "logit": float(row[index]),
                    "p": float(shares[index]),
                }
                for index in best
            ]
        )
    return found


async def _values(request: Request) -> Response:
    """The numbers of a site, of one head or one row of it, as little-endian float32; the shape is in a header."""
    run: Run = request.app.state.shelf.run(request.path_params["key"])
    site = request.query_params.get("site", "")
    values = run.trace[site][0]
    head = request.query_params.get("head")
    if head is not None:
        if not head.isdigit() or values.ndim != 3 or int(head) >= len(values):
            raise TraceError("a head that is not there", got=head[:20], expected=f"0 to {len(values) - 1}")
        values = values[int(head)]
    row = request.query_params.get("row")
    if row is not None:
        if not (row.isdigit() and len(row) < 6) or values.ndim != 2 or int(row) >= len(values):
            raise TraceError("a row that is not there", got=row[:20], expected=f"0 to {len(values) - 1}")
        values = values[int(row)]
    most = request.query_params.get("most")
    if most is not None:
        if not most.isdigit() or not 8 <= int(most) <= 512:
            raise TraceError("a size that cannot be drawn", got=most[:20], expected="8 to 512")
        values = in_blocks(values, most=int(most), shares=site.endswith(".pattern"))
    if values.size > _MOST_CELLS:
        raise TraceError("more numbers than a page can show", got=values.size, expected=_MOST_CELLS, advice="one head")
    shape = ",".join(str(length) for length in values.shape)
    content = np.ascontiguousarray(values, dtype="<f4").tobytes()
    return Response(content, media_type="application/octet-stream", headers={"X-Shape": shape})


def in_blocks(values: np.ndarray, *, most: int, shares: bool) -> np.ndarray:
    """A table whose rows and columns are blocks of the last two axes' places.

    Shares of a pattern add up along keys and are averaged over queries, so that rows still sum to 1. Of other numbers
    the one that is farthest from nothing stands for its block. What was never computed counts as nothing.

    Args:
        values: Any array of at least one axis.
        most: How many blocks an axis may have.
        shares: Whether it is a pattern.
    """
    for axis in range(max(0, values.ndim - 2), values.ndim):
        length = values.shape[axis]
        size = -(-length // most)
        if size == 1:
            continue
        starts = np.array(range(0, length, size), dtype=np.int64)
        known = np.nan_to_num(values)
        if shares:
            found = np.add.reduceat(known, starts, axis=axis)
            counts = np.diff(np.append(starts, length)).reshape(
                [-1 if one == axis else 1 for one in range(values.ndim)]
            )
            values = found if axis == values.ndim - 1 else found / counts
        else:
            greatest = np.maximum.reduceat(known, starts, axis=axis)
            least = np.minimum.reduceat(known, starts, axis=axis)
            values = np.where(greatest >= -least, greatest, least)
    return values


async def _lens(request: Request) -> JSONResponse:
    run: Run = request.app.state.shelf.run(request.path_params["key"])
    found = await run_in_threadpool(run.lens)
    return JSONResponse(
        {
            "layers": found.layers,
            "positions": found.positions,
            "words": found.words,
            "shares": found.shares.tolist(),
        }
    )


async def _heads(request: Request) -> JSONResponse:
    run: Run = request.app.state.shelf.run(request.path_params["key"])
    found: list[HeadSummary] = await run_in_threadpool(run.heads)
    return JSONResponse({"heads": [{**vars(one), "kind": one.kind} for one in found]})


async def _alignment(request: Request) -> JSONResponse:
    trace: Trace = request.app.state.shelf.run(request.path_params["key"]).trace
    found = await run_in_threadpool(align, trace)
    return JSONResponse({"source": found.source, "target": found.target, "weights": found.weights.tolist()})
