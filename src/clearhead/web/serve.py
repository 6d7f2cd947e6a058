"""The server on a port of this computer, and a browser that opens on it."""

import socket
import threading
import webbrowser
from collections.abc import Callable, Sequence

import uvicorn

from clearhead.errors import ServerError
from clearhead.web.app import make_app
from clearhead.web.shelf import Shelf

HOST = "127.0.0.1"
_TRIES = 20


def serve_page(
    names: Sequence[str] = (),
    *,
    port: int = 8420,
    browser: bool = True,
    say: Callable[[str], None] = lambda _: None,
) -> None:
    """Serves the page until Ctrl-C.

    Args:
        names: The models that may be opened; the embedded ones by default.
        port: Where; the next free one where it is taken.
        browser: Whether to open a browser.
        say: Told where it is.

    Raises:
        ServerError: No port is free.
        WeightsError: A model that was named is not there, or cannot be loaded.
    """
    shelf = Shelf(names=names)
    for name in shelf.names if names else ():
        say(f"loading {name}")
        shelf.model(name)
    with bound(port) as listener:
        address = f"http://{HOST}:{listener.getsockname()[1]}/"
        app = make_app(shelf)
        config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=2)
        say(f"{address}  (Ctrl-C ends)")
        threading.Thread(target=app.state.opening.prepare, daemon=True).start()
        if browser:
            threading.Timer(0.5, webbrowser.open, (address,)).start()
        uvicorn.Server(config).run(sockets=[listener])


def bound(port: int) -> socket.socket:
    """A socket of this computer alone, on a port or on the next one that is free.

    Raises:
        ServerError: None is.
    """
    for place in range(port, port + _TRIES):
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, place))
            listener.listen()  # until it does, another process could bind the same port
        except OSError:
            listener.close()
        else:
            return listener
    raise ServerError("no port is free", got=f"{port} to {port + _TRIES - 1} are taken", advice="--port N")
