"""An endpoint as data: what it is asked, what it gives, and what does the work.

Routes and the document at /openapi.json are both made from these, so that they cannot disagree.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import parse_qs

from pydantic import BaseModel, TypeAdapter, ValidationError
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from clearhead.errors import ClearheadError, WeightsError
from clearhead.web.api.desk import Desk
from clearhead.web.api.errand import Errand
from clearhead.web.api.faults import JSON, LEFT, Refusal, fault_response, mistake, took_too_long
from clearhead.web.api.logs import report_mistake
from clearhead.web.guard import TooLarge

FORM = "application/x-www-form-urlencoded"
EVENTS = "text/event-stream"
SAFETENSORS = "application/vnd.safetensors"
_MOST_FIELDS = 64
_LARGE = 32 * 1024


@dataclass(frozen=True, kw_only=True)
class Call:
    """A request that is being answered."""

    request: Request
    desk: Desk
    errand: Errand

    @property
    def wants_safetensors(self) -> bool:
        """Whether the client would rather have numbers than JSON."""
        accepted = self.request.headers.get("accept", "")
        return "safetensors" in accepted or "application/octet-stream" in accepted

    def note(self, **facts: object) -> None:
        """Tells the log of this request something."""
        self.request.scope["clearhead"].update(facts)

    async def work(self, job: Callable[[], Any]) -> Any:
        """Does a job on a thread."""
        return await self.desk.workers.run(job, self.errand)

    async def start(self, job: Callable[[], Any]) -> Any:
        """Does a job that is soon done on a thread."""
        return await self.desk.starters.run(job, self.errand)

    async def look(self, job: Callable[[], Any]) -> Any:
        """Does a job on a thread of those that look inside."""
        return await self.desk.lookers.run(job, self.errand)


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """One thing that can be asked.

    Attributes:
        path: Where.
        summary: What it does, in a sentence.
        answer: Does it: takes the call and what was asked; gives a response, or what `gives` says.
        method: How.
        asked: The shape of a request; None where it has no body.
        gives: The shape of an answer in JSON; None where it is text.
        forms: The shape of a request that comes as a form; None where none may.
        chunk: The shape of an event, where the answer may come as a stream.
        safetensors: Whether the answer may be a file of numbers.
        statuses: Other statuses than 200 that come in the same shape.
    """

    path: str
    summary: str
    answer: Callable[[Call, Any], Awaitable[Any]]
    method: str = "POST"
    asked: type[BaseModel] | None = None
    gives: Any = None
    forms: type[BaseModel] | None = None
    chunk: type[BaseModel] | None = None
    safetensors: bool = False
    statuses: tuple[int, ...] = ()

    def route(self) -> Route:
        """The endpoint as a route."""
        adapter: TypeAdapter[Any] | None = None if self.gives is None else TypeAdapter(self.gives)

        async def endpoint(request: Request) -> Response:
            desk: Desk = request.app.state.desk
            errand = Errand(seconds=desk.settings.deadline, client=_who(request))
            call = Call(request=request, desk=desk, errand=errand)
            try:
                asked = await _read(request, self, seconds=desk.settings.body_seconds)
                result = await _attended(call, cast("Coroutine[Any, Any, Any]", self.answer(call, asked)))
            except ClearheadError as error:
                if isinstance(error, WeightsError):
                    call.note(problem=str(error))
                return fault_response(error, path=self.path)
            except Exception as error:  # noqa: BLE001  (our own mistake, and not the client's: the server goes on)
                report_mistake(error)
                return fault_response(mistake(error), path=self.path)
            if isinstance(result, Response):
                return result
            assert adapter is not None
            return Response(adapter.dump_json(result, exclude_none=self.path.startswith("/translate")), media_type=JSON)

        return Route(self.path, endpoint, methods=[self.method])


def _who(request: Request) -> str:
    """On whose account a request runs: its token's holder, or else where it comes from."""
    address = request.client.host if request.client else ""
    return request.scope["clearhead"].get("client") or address


async def _read(request: Request, endpoint: Endpoint, *, seconds: float) -> BaseModel | None:
    """What a request asks for.

    Raises:
        Refusal: It does not arrive in time, or is something else than can be asked for.
    """
    if endpoint.asked is None:
        return None
    kind = request.headers.get("content-type", JSON).partition(";")[0].strip().lower()
    is_form = endpoint.forms is not None and kind == FORM
    if kind != JSON and not is_form:
        expected = f"{JSON}, or {FORM}" if endpoint.forms else JSON
        raise Refusal(status=415, problem="a request of another kind", got=kind[:100], expected=expected)
    try:
        async with asyncio.timeout(seconds):
            body = await request.body()
    except TimeoutError:
        problem = "the request took too long to arrive"
        raise Refusal(status=408, problem=problem, expected=f"at most {seconds:g} seconds") from None
    except ClientDisconnect:
        raise Refusal(status=LEFT, problem="the client left") from None
    except TooLarge:
        raise Refusal(status=413, problem="a request that is too large", got="more than it said") from None
    if len(body) > _LARGE:  # many small mistakes in a large body take their time to be listed
        return await asyncio.to_thread(_parsed, endpoint, body, is_form=is_form)
    return _parsed(endpoint, body, is_form=is_form)


def _parsed(endpoint: Endpoint, body: bytes, *, is_form: bool) -> BaseModel:
    assert endpoint.asked is not None
    try:
        if is_form:
            assert endpoint.forms is not None
            return endpoint.forms.model_validate(_form(body), strict=False)
        return endpoint.asked.model_validate_json(body)
    except ValidationError as error:
        raise _unreadable(error) from None


def _form(body: bytes) -> dict[str, str | list[str]]:
    """The fields of a form; one that comes several times is a list."""
    try:
        fields = parse_qs(body.decode("utf-8"), keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict")
    except ValueError as error:
        raise Refusal(status=400, problem="a form that cannot be read", got=str(error)[:100]) from None
    return {name: values[0] if len(values) == 1 else values for name, values in fields.items()}


def _unreadable(error: ValidationError) -> Refusal:
    first = error.errors(include_url=False, include_context=False)[0]
    where = ".".join(str(step) for step in first["loc"])[:100]
    got = f"{where}: {first.get('input')!r}"[:160]
    problem = "a request that cannot be read"
    return Refusal(status=400, problem=problem, got=got, expected=first["msg"][:300], param=where or None)


async def _attended(call: Call, work: Coroutine[Any, Any, Any]) -> Any:
    """Does the work while somebody waits for it, and no longer.

    Raises:
        Refusal: The client left, or the time was over.
    """
    task = asyncio.create_task(work)
    watcher = asyncio.create_task(left(call.request))
    try:
        await asyncio.wait({task, watcher}, timeout=call.errand.remaining, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            result = task.result()
            if not isinstance(result, Response):  # a stream goes on by itself
                call.errand.leave()
            return result
        if watcher.done():
            raise Refusal(status=LEFT, problem="the client left")
        raise took_too_long(call.errand.seconds)
    finally:
        watcher.cancel()
        if not task.done():
            task.cancel()
            call.errand.leave()


async def left(request: Request) -> None:
    """Waits until the client has left."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
