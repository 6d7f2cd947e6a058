"""The server as one value: routes, the page's files, and the door in front."""

from collections.abc import Collection
from pathlib import Path

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from clearhead.errors import ClearheadError, ServerError
from clearhead.web.guard import LOCAL, Guard
from clearhead.web.lab import Lab
from clearhead.web.routes.arithmetic import arithmetic_routes
from clearhead.web.routes.course import course_routes
from clearhead.web.routes.models import model_routes
from clearhead.web.routes.runs import run_routes
from clearhead.web.routes.training import training_routes
from clearhead.web.shelf import Shelf

STATIC = Path(__file__).parent / "static"


def make_app(shelf: Shelf, *, hosts: Collection[str] = LOCAL) -> Starlette:
    """The server for a shelf of models.

    Args:
        shelf: The models that may be opened.
        hosts: The names that it is called by, without ports.
    """
    api = [*model_routes(), *run_routes(), *arithmetic_routes(), *course_routes(), *training_routes()]
    app = Starlette(
        routes=[
            Route("/", _page),
            Mount("/api", routes=api),
            Mount("/static", app=_Files(directory=STATIC)),
            Route("/health", _health),
        ],
        middleware=[Middleware(Guard, hosts=hosts)],
        exception_handlers={ClearheadError: _explained, 404: _nowhere, 405: _nowhere, 500: _mistake},
    )
    app.state.shelf = shelf
    app.state.lab = Lab()
    return app


class _Files(StaticFiles):
    """The page's files; a browser asks each time whether they changed, and is told in a few bytes."""

    def file_response(self, *arguments: object, **options: object) -> Response:
        response = super().file_response(*arguments, **options)  # type: ignore[arg-type]  # pyright: ignore
        response.headers["Cache-Control"] = "no-cache"
        return response


async def _page(_: Request) -> FileResponse:
    return FileResponse(STATIC / "index.html", headers={"Cache-Control": "no-cache"})


async def _health(_: Request) -> JSONResponse:
    return JSONResponse({"status": "ok"})


def _explained(_: Request, error: Exception) -> JSONResponse:
    """What a user caused, in the words that the command line would have."""
    assert isinstance(error, ClearheadError)
    said = {"problem": error.problem, "got": error.got, "expected": error.expected, "advice": error.advice}
    status = 404 if isinstance(error, ServerError) and "gone" in error.problem else 400
    return JSONResponse({name: None if value is None else str(value) for name, value in said.items()}, status)


def _nowhere(request: Request, _: Exception) -> JSONResponse:
    return JSONResponse({"problem": "nothing here", "got": f"{request.method} {request.url.path}"[:200]}, 404)


def _mistake(_: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"problem": "a mistake in clearhead itself", "got": type(error).__name__}, 500)
