"""The server itself: endpoints, page and doors as one application, on a socket, until it is told to stop."""

import asyncio
import contextlib
import math
import signal
import socket
import threading
from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from clearhead.errors import ServerError
from clearhead.web.api.bounds import ServeSettings
from clearhead.web.api.chat import chat_endpoint
from clearhead.web.api.completions import completion_endpoint
from clearhead.web.api.desk import Desk
from clearhead.web.api.embeddings import embedding_endpoints
from clearhead.web.api.endpoint import Endpoint
from clearhead.web.api.faults import not_let_in, nowhere
from clearhead.web.api.logs import log_to_stderr, report
from clearhead.web.api.looking import looking_endpoints
from clearhead.web.api.openapi import openapi
from clearhead.web.api.patience import PatientProtocol
from clearhead.web.api.state import state_endpoints
from clearhead.web.api.texts import text_endpoints
from clearhead.web.api.translation import translation_endpoints
from clearhead.web.api.watch import Watch
from clearhead.web.app import assembled, page_routes
from clearhead.web.guard import Guard
from clearhead.web.shelf import Shelf

_MOST_CONNECTIONS = 2000
_LAST_SECONDS = 1.0


def endpoints() -> list[Endpoint]:
    """All that can be asked, beside the page."""
    return [
        *embedding_endpoints(),
        completion_endpoint(),
        chat_endpoint(),
        *translation_endpoints(),
        *text_endpoints(),
        *looking_endpoints(),
        *state_endpoints(),
    ]


def make_server_app(shelf: Shelf, settings: ServeSettings | None = None) -> Starlette:
    """The server for a shelf of models, with its page.

    Args:
        shelf: The models that may be asked for.
        settings: What whoever starts it decides.
    """
    settings = settings or ServeSettings()
    desk = Desk(shelf=shelf, settings=settings)
    asked = endpoints()
    document = openapi(asked)

    async def tell(_: Request) -> JSONResponse:
        return JSONResponse(document)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        yield
        desk.stopping = True
        await asyncio.to_thread(desk.close, grace=_LAST_SECONDS)

    doors = [
        Middleware(
            Guard, hosts=settings.hosts, origins=settings.origins, most_bytes=settings.body_bytes, refuse=not_let_in
        ),
        Middleware(Watch, desk=desk, paths=[one.path for one in asked] + ["/openapi.json"]),
    ]
    if settings.origins:
        headers = ["Authorization", "Content-Type", "Accept"]
        doors.insert(
            1, Middleware(CORSMiddleware, allow_origins=list(settings.origins), allow_methods=["GET", "POST"],
                          allow_headers=headers)
        )  # fmt: skip
    routes = [*(one.route() for one in asked), Route("/openapi.json", tell), *page_routes()]
    app = assembled(shelf, routes=routes, doors=doors, lifespan=lifespan)
    for status in (404, 405):
        app.add_exception_handler(status, nowhere)
    app.state.desk = desk
    return app


def serve(
    shelf: Shelf,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    settings: ServeSettings | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> int:
    """Serves until SIGTERM or SIGINT; gives how many requests were cut off in the end.

    Args:
        shelf: The models.
        host: Where to listen.
        port: At which port; 0 for one that is free.
        settings: What whoever starts it decides.
        say: Told where it is, and how it ended.

    Raises:
        ServerError: The place is taken, or is not ours.
        WeightsError: A model is not there.
    """
    settings = settings or ServeSettings()
    shelf.find()
    app = make_server_app(shelf, settings)
    desk: Desk = app.state.desk
    with _listening(host, port) as listener:
        log_to_stderr()
        config = uvicorn.Config(
            app,
            http=PatientProtocol.waiting(settings.body_seconds),
            ws="none",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=_MOST_CONNECTIONS,
            timeout_graceful_shutdown=math.ceil(settings.grace + _LAST_SECONDS),
        )
        place = listener.getsockname()
        name = f"[{place[0]}]" if ":" in place[0] else place[0]
        say(f"http://{name}:{place[1]}/  (Ctrl-C ends)")
        report("started", models=shelf.names, port=place[1])
        server = _Server(config=config, desk=desk)
        server.run(sockets=[listener])
        server.wait()
    report("stopped", unfinished=desk.unfinished)
    done = "every request was answered" if not desk.unfinished else f"{desk.unfinished} requests were cut off"
    say(f"stopped: {done}")
    return desk.unfinished


class _Server(uvicorn.Server):
    """Uvicorn's server, which ends by itself when it is told to, and not by the signal that told it."""

    def __init__(self, *, config: uvicorn.Config, desk: Desk) -> None:
        super().__init__(config)
        self._desk = desk
        self._winding_up = threading.Thread(target=desk.wind_up, name="wind up", daemon=True)

    def wait(self) -> None:
        """Waits until all who were not answered are counted."""
        if self._winding_up.is_alive():
            self._winding_up.join(_LAST_SECONDS)

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Listens to signals, where this is the thread that hears them."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {one: signal.signal(one, self.handle_exit) for one in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Begins to stop; a second signal stops at once."""
        if self.should_exit:
            self.force_exit = True
        elif not self._desk.stopping:
            # Whatever is not written by then is told so, while there is still a connection to tell it on.
            self._winding_up.start()
        self._desk.stopping = True
        super().handle_exit(sig, frame)


def _listening(host: str, port: int) -> socket.socket:
    """A socket at a place.

    Raises:
        ServerError: It is taken, or is not ours.
    """
    listener: socket.socket | None = None
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen()  # at once: whoever reads the address may be here before the first request can be answered
    except OSError as error:
        if listener is not None:
            listener.close()
        got = f"{host}:{port}: {error.strerror or error}"
        raise ServerError("no server can listen there", got=got, advice="another --host or --port") from None
    return listener
