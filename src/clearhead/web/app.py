"""The server as one value: routes, the page's files, and the door in front."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route

from clearhead.errors import ClearheadError, ServerError
from clearhead.web.files import Files
from clearhead.web.guard import LOCAL, Guard
from clearhead.web.lab import Lab
from clearhead.web.routes.arithmetic import arithmetic_routes
from clearhead.web.routes.course import course_routes
from clearhead.web.routes.models import model_routes
from clearhead.web.routes.runs import run_routes
from clearhead.web.routes.start import Opening, start_routes
from clearhead.web.routes.training import training_routes
from clearhead.web.shelf import Shelf

STATIC = Path(__file__).parent / "static"


def make_app(shelf: Shelf, *, hosts: Collection[str] = LOCAL) -> Starlette:
    """The server for a shelf of models.

    Args:
        shelf: The models that may be opened.
        hosts: The names that it is called by, without ports.
    """
    return assembled(shelf, routes=[*page_routes(), Route("/health", _health)], doors=[Middleware(Guard, hosts=hosts)])


def page_routes() -> list[BaseRoute]:
    """The page, its files, and what its scripts ask."""
    api = [*start_routes(), *model_routes(), *run_routes(), *arithmetic_routes(), *course_routes(), *training_routes()]
    files = Files(folder=STATIC)

    async def page(request: Request) -> Response:
        return files.answer("index.html", request)

    return [Route("/", page), Mount("/api", routes=api), files.route("/static")]


def assembled(
    shelf: Shelf, *, routes: Sequence[BaseRoute], doors: Sequence[Middleware], lifespan: Any = None
) -> Starlette:
    """A server of routes behind doors; errors are told as this room tells them.

    Args:
        shelf: The models that may be opened.
        routes: What can be asked.
        doors: What every request passes, the outermost first.
        lifespan: What happens when the server starts and ends.
    """
    app = Starlette(
        routes=routes,
        middleware=doors,
        exception_handlers={ClearheadError: _explained, 404: _nowhere, 405: _nowhere, 500: _mistake},
        lifespan=lifespan,
    )
    app.state.shelf = shelf
    app.state.lab = Lab()
    app.state.opening = Opening(shelf=shelf)
    return app


async def _health(_: Request) -> JSONResponse:
    return JSONResponse({"status": "ok"})


def _explained(_: Request, error: Exception) -> JSONResponse:
    """What a user caused, in the words that the command line would have."""
    assert isinstance(error, ClearheadError)
    said = {"problem": error.problem, "got": error.got, "expected": error.expected, "advice": error.advice}
    status = 404 if isinstance(error, ServerError) and "gone" in error.problem else 400
    return JSONResponse({name: None if value is None else str(value) for name, value in said.items()}, status)


def _nowhere(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    said = {"problem": "nothing here", "got": f"{request.method} {request.scope['path']}"[:200]}
    return JSONResponse(said, error.status_code, headers=error.headers)


def _mistake(_: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"problem": "a mistake in clearhead itself", "got": type(error).__name__}, 500)
