"""Training from the page: begin, watch, stop, and open one step."""

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from clearhead.web.asked import TrainAsked, read


def training_routes() -> list[Route]:
    """The routes."""
    return [
        Route("/training", _begin, methods=["POST"]),
        Route("/training", _account),
        Route("/training/stop", _stop, methods=["POST"]),
        Route("/training/gradient", _gradient),
    ]


async def _begin(request: Request) -> JSONResponse:
    asked = await read(request, TrainAsked)
    await run_in_threadpool(request.app.state.lab.start, asked.task, asked.pairs, asked.architectures)
    return JSONResponse({"status": "running"})


async def _account(request: Request) -> JSONResponse:
    since = request.query_params.get("since", "").split(",")
    known = [int(one) if one.isdigit() and len(one) < 7 else 0 for one in since[:8]]
    return JSONResponse(request.app.state.lab.account(known))


async def _stop(request: Request) -> JSONResponse:
    request.app.state.lab.stop()
    return JSONResponse({"status": "stopping"})


async def _gradient(request: Request) -> JSONResponse:
    return JSONResponse(await run_in_threadpool(request.app.state.lab.gradient))
