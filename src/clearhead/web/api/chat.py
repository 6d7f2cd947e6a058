"""`/v1/chat/completions`: the next message of a conversation."""

from collections.abc import AsyncIterator, Sequence

from clearhead.decoding import Event
from clearhead.engine import Request
from clearhead.tasks.conversation import chat_request
from clearhead.text import Tokenizer
from clearhead.web.api.completions import draws, header, note_read, reason_of, usage_of
from clearhead.web.api.endpoint import Call, Endpoint
from clearhead.web.api.openai_shapes import (
    ChatAsked,
    ChatChoice,
    ChatChunk,
    ChatCompletion,
    ChatDelta,
    MessageScores,
    Said,
    ScoredToken,
)
from clearhead.web.api.streams import EventStream
from clearhead.web.api.writing import Writing


def chat_endpoint() -> Endpoint:
    """The endpoint."""
    return Endpoint(
        path="/v1/chat/completions",
        summary="Writes the next message of a conversation.",
        answer=_chat,
        asked=ChatAsked,
        gives=ChatCompletion,
        chunk=ChatChunk,
    )


async def _chat(call: Call, asked: ChatAsked) -> ChatCompletion | EventStream:
    n = asked.n or 1
    writing = Writing(call=call, model=asked.model)

    def start() -> list[Request]:
        model = call.desk.model(asked.model)
        requests = draws(chat_request(model.loaded, asked.said(), **asked.options()), n)
        writing.start(call.desk.scheduler(model), requests, scored=bool(asked.logprobs))
        return requests

    requests = await call.start(start)
    note_read(call, asked.model, len(requests[0].ids), text=asked.said())
    messages = _Messages(n=n, tokenizer=call.desk.model(asked.model).tokenizer)
    if asked.stream:
        events = _streamed(asked, messages, writing, requests)
        return EventStream(events=events, errand=call.errand, path="/v1/chat/completions")
    deltas: list[list[ChatDelta]] = [[] for _ in range(n)]
    async for place, event in writing.events():
        deltas[place].append(messages.take(place, event))
    writing.note()
    return ChatCompletion(
        **header("chatcmpl", asked.model),
        choices=[_joined(parts) for parts in deltas],
        usage=usage_of(requests, n, writing.n_written),
    )


async def _streamed(
    asked: ChatAsked, messages: "_Messages", writing: Writing, requests: Sequence[Request]
) -> AsyncIterator[str]:
    same = header("chatcmpl", asked.model)
    begun = [ChatDelta(index=place, delta=Said(role="assistant", content="")) for place in range(len(requests))]
    yield ChatChunk(**same, choices=begun).model_dump_json()
    async for place, event in writing.events():
        yield ChatChunk(**same, choices=[messages.take(place, event)]).model_dump_json()
    writing.note()
    if asked.with_usage:
        usage = usage_of(requests, len(requests), writing.n_written)
        yield ChatChunk(**same, choices=[], usage=usage).model_dump_json()


class _Messages:
    """Messages as they grow; each begins with its first letter."""

    def __init__(self, *, n: int, tokenizer: Tokenizer) -> None:
        self._begun = [False] * n
        self._tokenizer = tokenizer.target

    def take(self, place: int, event: Event) -> ChatDelta:
        """The piece that an event adds to a message."""
        text = event.text if self._begun[place] else event.text.lstrip()
        self._begun[place] = self._begun[place] or bool(text)
        scores = None
        if event.log_probability is not None:
            token = self._tokenizer.name_of(event.id)
            scored = ScoredToken(
                token=token, logprob=event.log_probability, bytes=list(token.encode("utf-8")), top_logprobs=[]
            )
            scores = MessageScores(content=[scored])
        return ChatDelta(index=place, delta=Said(content=text), logprobs=scores, finish_reason=reason_of(event.finish))


def _joined(parts: Sequence[ChatDelta]) -> ChatChoice:
    scores = [one for part in parts if part.logprobs is not None for one in part.logprobs.content]
    reason = parts[-1].finish_reason
    assert reason is not None
    return ChatChoice(
        index=parts[0].index,
        message=Said(role="assistant", content="".join(part.delta.content or "" for part in parts)),
        logprobs=MessageScores(content=scores) if scores else None,
        finish_reason=reason,
    )
