"""What went wrong, as a status and a body: OpenAI's shape under /v1, our own elsewhere."""

import math

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from clearhead.errors import Busy, ClearheadError, Closed, Late, ServerError, WeightsError, Withdrawn
from clearhead.web.api.state_shapes import Fault, OpenAIFault, OpenAIFaultDetail

JSON = "application/json"
LEFT = 499
"""The status of a request whose client left: only logs and metrics ever see it."""
_STATUSES = {Busy: 429, Closed: 503, Late: 504, Withdrawn: LEFT, WeightsError: 500}
_KINDS = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}
_CODES = {401: "invalid_api_key", 404: "not_found", 413: "request_too_large", 429: "rate_limit_exceeded"}


class Refusal(ServerError):
    """A request that is not answered, with the status that says so.

    Args:
        status: The status of HTTP.
        problem: What was wrong.
        got: What was found.
        expected: What is allowed.
        advice: What to do about it.
        retry_after: Seconds after which it may be asked again.
        param: The field of the request that is at fault.
    """

    def __init__(
        self,
        *,
        status: int,
        problem: str,
        got: object = None,
        expected: object = None,
        advice: str | None = None,
        retry_after: float | None = None,
        param: str | None = None,
    ) -> None:
        super().__init__(problem, got=got, expected=expected, advice=advice)
        self.status = status
        self.retry_after = retry_after
        self.param = param


def too_busy(*, waiting: int, retry_after: float) -> Refusal:
    """The refusal of a server that has enough to do."""
    return Refusal(
        status=429,
        problem="too many requests are waiting",
        got=waiting,
        advice="again after the seconds that Retry-After says",
        retry_after=retry_after,
    )


def took_too_long(seconds: float) -> Refusal:
    """The refusal of a request that was given up."""
    return Refusal(
        status=504,
        problem="the request took longer than this server allows",
        expected=f"at most {seconds:g} seconds",
        advice="a shorter text, or fewer new tokens",
    )


def not_let_in(status: int, problem: str, *, got: str, expected: str, path: str) -> Response:
    """The answer to a request that the door refuses."""
    advice = "whoever runs the server may allow it: --allow-host, --allow-origin" if status in (403, 421) else None
    refusal = Refusal(status=status, problem=problem, got=got, expected=expected, advice=advice)
    return fault_response(refusal, path=path)


def nowhere(request: Request, error: Exception) -> Response:
    """The answer where there is nothing, or nothing of that method."""
    assert isinstance(error, HTTPException)
    asked = f"{request.method} {request.scope['path']}"[:200]
    refusal = Refusal(
        status=error.status_code, problem="nothing here", got=asked, advice="/openapi.json says what there is"
    )
    response = fault_response(refusal, path=request.scope["path"])
    response.headers.update(error.headers or {})
    return response


def status_of(error: ClearheadError) -> int:
    """The status that tells whose fault it is."""
    if isinstance(error, Refusal):
        return error.status
    return next((status for kind, status in _STATUSES.items() if isinstance(error, kind)), 400)


def fault_response(error: ClearheadError, *, path: str) -> Response:
    """An error as an answer."""
    status = status_of(error)
    headers: dict[str, str] = {}
    retry_after = error.retry_after if isinstance(error, (Refusal, Busy)) else None
    if retry_after is not None or status == 503:
        headers["Retry-After"] = str(max(1, math.ceil(retry_after or 1)))
    if status in (408, 413):
        headers["Connection"] = "close"  # what is left of the request is not read
    return Response(fault_body(error, path=path), status, headers=headers, media_type=JSON)


def fault_body(error: ClearheadError, *, path: str) -> str:
    """An error as JSON, in the shape that clients of this path know."""
    status = status_of(error)
    if isinstance(error, WeightsError):  # its message tells of folders, which are nobody's business
        error = Refusal(status=status, problem="the model cannot be used as it is", advice="the server's log says why")
    if path.startswith("/v1/"):
        detail = OpenAIFaultDetail(
            message=_clean(str(error)) or "",
            type=_KINDS.get(status, "server_error" if status >= 500 else "invalid_request_error"),
            param=error.param if isinstance(error, Refusal) else None,
            code=_CODES.get(status),
        )
        return OpenAIFault(error=detail).model_dump_json()
    return Fault(
        error=_clean(str(error)) or "",
        problem=_clean(error.problem) or "",
        got=_clean(error.got),
        expected=_clean(error.expected),
        advice=_clean(error.advice),
    ).model_dump_json()


def mistake(error: BaseException) -> ClearheadError:
    """Our own mistake, without what it was about."""
    return Refusal(status=500, problem="a mistake in clearhead itself", got=type(error).__name__)


def _clean(value: object) -> str | None:
    """A value as text that UTF-8 can hold, and not too long."""
    if value is None:
        return None
    return str(value)[:1000].encode("utf-8", "backslashreplace").decode("utf-8")
