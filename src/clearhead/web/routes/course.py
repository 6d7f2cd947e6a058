"""The course: worked examples, computed when they are asked for."""

from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from clearhead.errors import ServerError
from clearhead.lessons import EXAMPLES


def course_routes() -> list[Route]:
    """The routes."""
    return [Route("/examples", _examples), Route("/examples/{key}", _example)]


async def _examples(_: Request) -> JSONResponse:
    return JSONResponse({"examples": list(EXAMPLES)})


async def _example(request: Request) -> JSONResponse:
    key = request.path_params["key"]
    if key not in EXAMPLES:
        raise ServerError("no such example", got=key[:20], expected=", ".join(EXAMPLES))
    return JSONResponse(await run_in_threadpool(_worked, key))


def _worked(key: str) -> dict[str, Any]:
    example = EXAMPLES[key]()
    return {
        "key": example.key,
        "title": example.title,
        "shows": example.shows,
        "results": [
            {
                "name": one.name,
                "computed": one.computed,
                "printed": one.printed,
                "agrees": one.agrees,
                "remark": one.remark,
                "rows": one.rows,
                "columns": one.columns,
                "digits": one.digits,
            }
            for one in example.results
        ],
        "figures": {name: figure.svg for name, figure in example.figures.items()},
    }
