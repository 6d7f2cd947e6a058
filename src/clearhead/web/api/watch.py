"""What happens to every request: it gets a number, is let in or not, counted, timed and written down."""

import secrets
import time
from collections.abc import Collection

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from clearhead.web.api.desk import Desk
from clearhead.web.api.faults import Refusal, fault_response
from clearhead.web.api.logs import report

_FREE = frozenset({"/health", "/ready"})
"""What anybody may ask, as often as it pleases."""
_OPEN = frozenset({"/languages"})
"""What needs no token: it tells nothing that is worth keeping."""
_LATER = frozenset({"/translate"})
"""Where a token may come with the body."""
_QUIET = frozenset({"/health", "/ready", "/metrics"})


class Watch:
    """Stands behind the door and before the routes.

    Args:
        app: What stands behind it.
        desk: What the server shares.
        paths: The paths of the endpoints, by which requests are counted.
    """

    def __init__(self, app: ASGIApp, *, desk: Desk, paths: Collection[str]) -> None:
        self._app = app
        self._desk = desk
        self._paths = frozenset(paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Lets a request pass, and takes note of it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        facts: dict[str, object] = {}
        scope["clearhead"] = facts
        began, number = time.monotonic(), secrets.token_hex(8)
        facts["status"] = None
        metrics = self._desk.metrics
        metrics.running.inc()
        try:
            app = self._refused(scope) or self._app
            await app(scope, receive, _noted(send, facts, number))
        except BaseException:
            facts["status"] = facts["status"] or 500
            facts["cut_off"] = True
            if self._desk.stopping:
                self._desk.unfinished += 1
            raise
        finally:
            metrics.running.dec()
            self._write_down(scope, facts, number, time.monotonic() - began)

    def _refused(self, scope: Scope) -> ASGIApp | None:
        """What answers in the stead of the server, where a request may not pass."""
        path: str = scope["path"]
        if path in _FREE:
            return None
        keys, facts = self._desk.keys, scope["clearhead"]
        client = ""
        if keys.needed and path not in _OPEN:
            client = keys.of_header(Headers(scope=scope).get("authorization", "")) or ""
            if not client and path in _LATER:
                return None
            if not client:
                return _locked(path)
            facts["client"] = client
        wait = self._desk.rates.take(client or (scope.get("client") or ("", 0))[0])
        if wait is None:
            return None
        busy = Refusal(status=429, problem="too many requests", expected="fewer a minute", retry_after=wait)
        return fault_response(busy, path=path)

    def _write_down(self, scope: Scope, facts: dict[str, object], number: str, seconds: float) -> None:
        endpoint, method = self._endpoint(scope["path"]), str(scope["method"])
        method = method if method in ("GET", "POST", "OPTIONS", "HEAD") else "other"
        metrics = self._desk.metrics
        metrics.requests.labels(endpoint=endpoint, method=method, status=str(facts["status"])).inc()
        metrics.seconds.labels(endpoint=endpoint).observe(seconds)
        if endpoint not in _QUIET:
            report("request", id=number, method=method, endpoint=endpoint, seconds=round(seconds, 4), **facts)

    def _endpoint(self, path: str) -> str:
        """What a path counts as; never the path itself, which a user chose."""
        if path in self._paths:
            return path
        parts = ("/v1/models/", "/api/", "/static/")
        return next((part for part in parts if path.startswith(part)), "/" if path == "/" else "other")


def _locked(path: str) -> ASGIApp:
    """Asks for a token; a browser asks its user, who gives it as a password."""
    problem, expected = "a token is needed", "a header: Authorization: Bearer …"
    response = fault_response(Refusal(status=401, problem=problem, expected=expected), path=path)
    is_page = path == "/" or path.startswith(("/api/", "/static/"))
    response.headers["WWW-Authenticate"] = 'Basic realm="clearhead"' if is_page else "Bearer"
    return response


def _noted(send: Send, facts: dict[str, object], number: str) -> Send:
    async def noted(message: Message) -> None:
        if message["type"] == "http.response.start":
            facts["status"] = facts["status"] or message["status"]
            MutableHeaders(scope=message)["X-Request-Id"] = number
        await send(message)

    return noted
