"""What every request must be, and what every answer says: this computer only, this site only, nothing large.

A page on the internet can make a browser send requests to localhost. It cannot choose the Host that it is served
under, nor forge Origin; so both are checked, and nothing is served to a name that is not ours.
"""

from collections.abc import Collection
from typing import Protocol, runtime_checkable

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES = 256 * 1024
POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
LOCAL = ("127.0.0.1", "localhost", "[::1]")


class TooLarge(Exception):
    """A body that grew beyond what is taken."""


@runtime_checkable
class Refuse(Protocol):
    """Makes the answer to a request that is not let in."""

    def __call__(self, status: int, problem: str, *, got: str, expected: str, path: str) -> Response:
        """The answer, in the shape that clients of a path know."""
        ...


class Guard:
    """The door of the server.

    Args:
        app: What stands behind it.
        hosts: The names that this server is called by, without ports; "*" for any.
        origins: Other sites whose pages may ask, each as https://name.
        most_bytes: How large a request may be.
        refuse: Makes the answer to what is not let in.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts: Collection[str] = LOCAL,
        origins: Collection[str] = (),
        most_bytes: int = MOST_BYTES,
        refuse: Refuse | None = None,
    ) -> None:
        self._app = app
        self._hosts = frozenset(hosts)
        self._origins = frozenset(origins)
        self._most_bytes = most_bytes
        self._refuse: Refuse = refuse or _no

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Lets a request in, or says why not."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = self._refusal(headers, scope["path"])
        if refusal is not None:
            await refusal(scope, receive, _headed(send))
            return
        try:
            await self._app(scope, _bounded(receive, self._most_bytes), _headed(send))
        except TooLarge:
            await self._too_large("more than it said", scope["path"])(scope, receive, _headed(send))

    def _refusal(self, headers: Headers, path: str) -> Response | None:
        no, host = self._refuse, _bare(headers.get("host", ""))
        if host not in self._hosts and "*" not in self._hosts:
            expected = ", ".join(sorted(self._hosts))
            return no(421, "this server is not called so", got=host, expected=expected, path=path)
        origin = headers.get("origin")
        if origin is None or origin not in self._origins:
            # Where any name will do, a page is from here if it is from the name that it asks.
            ours = {host} if "*" in self._hosts else self._hosts
            if origin is not None and not _is_ours(origin.partition("://")[2], headers.get("host", ""), ours):
                return no(403, "a request from another site", got=origin, expected="this page", path=path)
            if headers.get("sec-fetch-site") == "cross-site":
                return no(403, "a request from another site", got="cross-site", expected="this page", path=path)
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdigit() and len(length) < 20) or int(length) > self._most_bytes:
            return self._too_large(length, path)
        return None

    def _too_large(self, got: str, path: str) -> Response:
        expected = f"at most {self._most_bytes} bytes"
        refusal = self._refuse(413, "a request that is too large", got=got, expected=expected, path=path)
        refusal.headers["Connection"] = "close"  # what is left of it is not read
        return refusal


def _bare(host: str) -> str:
    """A host without its port."""
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0].lower()


def _port(host: str) -> str:
    """The port of a host; nothing where it says none, or one that need not be said."""
    port = host.rpartition("]")[2].partition(":")[2]
    return "" if port in ("80", "443") else port


def _is_ours(origin: str, host: str, names: Collection[str]) -> bool:
    """Whether a page is this server's: of one of its names, and of the same port, which another server may listen at.

    A server in front may leave the port out.
    """
    return _bare(origin) in names and _port(host) in ("", _port(origin))


def _no(status: int, problem: str, *, got: str, expected: str, path: str) -> Response:
    del path  # the page knows one shape
    return JSONResponse({"problem": problem, "got": got[:200], "expected": expected}, status_code=status)


def _headed(send: Send) -> Send:
    async def headed(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return headed


def _bounded(receive: Receive, most_bytes: int) -> Receive:
    """A body that is given up where it grows too large, whatever length it claimed."""
    taken = 0

    async def bounded() -> Message:
        nonlocal taken
        message = await receive()
        if message["type"] == "http.request":
            taken += len(message.get("body", b""))
            if taken > most_bytes:
                raise TooLarge
        return message

    return bounded
