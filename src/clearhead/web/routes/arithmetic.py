"""Why: one number of a run, opened; and the code that computed it."""

from functools import cache
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

import clearhead
from clearhead.errors import ServerError, TraceError
from clearhead.explain import Node, Run, as_data
from clearhead.explain.show import sign
from clearhead.web.asked import WalkAsked, WhyAsked, read
from clearhead.web.walk import walk

_HOME = Path(clearhead.__file__).parent


def arithmetic_routes() -> list[Route]:
    """The routes."""
    return [
        Route("/runs/{key}/why", _why, methods=["POST"]),
        Route("/runs/{key}/walk", _walk, methods=["POST"]),
        Route("/runs/{key}/picture", _picture),
        Route("/source", _source),
    ]


async def _walk(request: Request) -> Response:
    """All that was looked at, as one page that opens by itself."""
    asked = await read(request, WalkAsked)
    run: Run = request.app.state.shelf.run(request.path_params["key"])
    content = await run_in_threadpool(lambda: walk(run, [_found(run, one) for one in asked.questions]))
    headers = {"Content-Disposition": 'attachment; filename="walk.html"'}
    return Response(content, media_type="text/html; charset=utf-8", headers=headers)


async def _picture(request: Request) -> Response:
    """A site as a picture of its own."""
    run: Run = request.app.state.shelf.run(request.path_params["key"])
    given = request.query_params
    head = given.get("head", "")
    if head and not (head.isdigit() and len(head) < 6):
        raise TraceError("a head that is not there", got=head[:20], expected="a number")
    figure = await run_in_threadpool(lambda: run.heatmap(given.get("site", ""), head=int(head) if head else None))
    kind = "png" if given.get("kind") == "png" else "svg"
    content = await run_in_threadpool(lambda: figure.png if kind == "png" else figure.svg.encode("utf-8"))
    headers = {"Content-Disposition": f'attachment; filename="picture.{kind}"'}
    return Response(content, media_type="image/png" if kind == "png" else "image/svg+xml", headers=headers)


async def _why(request: Request) -> JSONResponse:
    asked = await read(request, WhyAsked)
    run: Run = request.app.state.shelf.run(request.path_params["key"])
    return JSONResponse(await run_in_threadpool(opened, run, asked))


def opened(run: Run, asked: WhyAsked) -> dict[str, Any]:
    """One number, and what it is made of: the terms that weigh most, and the rest together."""
    return described(_found(run, asked), most=asked.most)


def _found(run: Run, asked: WhyAsked) -> Node:
    node = run.why(asked.site, by=asked.by, **asked.index)
    for step in asked.path:
        if step >= len(node.ranked):
            raise TraceError("a term that is not there", got=step, expected=f"0 to {len(node.ranked) - 1}")
        node = node.ranked[step]
    return node


def described(node: Node, *, most: int) -> dict[str, Any]:
    """A number with its children, each of which can be opened in turn."""
    data = as_data(node, depth=0)
    children = node.ranked
    data["sign"] = sign(node)
    data["recomputed"] = node.recomputed
    data["children"] = [{**as_data(child, depth=0), "sign": sign(child)} for child in children[:most]]
    data["rest"] = {"count": len(children[most:]), "sum": sum(child.value for child in children[most:])}
    data["plus"] = sum(child.value for child in children if child.value > 0)
    data["minus"] = sum(child.value for child in children if child.value < 0)
    # Products of two are shown as a row: their factors save a click each.
    for child, told in zip(children[:most], data["children"], strict=True):
        if child.operation == "product" and len(child.children) == 2:
            told["factors"] = [as_data(factor, depth=0) for factor in child.children]
    return data


async def _source(request: Request) -> JSONResponse:
    """A file of this package, by the name that a source line gives it."""
    name = request.query_params.get("file", "")
    if name not in _files():
        raise ServerError("no such file of this package", got=name[:100])
    return JSONResponse({"file": name, "code": (_HOME / name).read_text(encoding="utf-8")})


@cache
def _files() -> frozenset[str]:
    return frozenset(path.relative_to(_HOME).as_posix() for path in _HOME.rglob("*.py"))
