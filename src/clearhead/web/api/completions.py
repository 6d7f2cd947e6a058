"""`/v1/completions` and `/v1/chat/completions`: texts that go on, whole or as they come."""

import secrets
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any

from clearhead.decoding import Event, Finish
from clearhead.engine import Request
from clearhead.errors import TextError
from clearhead.model import Model
from clearhead.tasks.completion import capped, writing_settings
from clearhead.tasks.sources import prompt_ids
from clearhead.text.words import check_text
from clearhead.web.api.endpoint import Call, Endpoint
from clearhead.web.api.openai_shapes import (
    Completion,
    CompletionAsked,
    CompletionChoice,
    TokenScores,
    Usage,
)
from clearhead.web.api.streams import EventStream
from clearhead.web.api.writing import Writing

_REASONS: dict[Finish, Any] = {Finish.END: "stop", Finish.STOP: "stop", Finish.LENGTH: "length"}


def completion_endpoint() -> Endpoint:
    """The endpoint."""
    return Endpoint(
        path="/v1/completions",
        summary="Goes on with texts.",
        answer=_complete,
        asked=CompletionAsked,
        gives=Completion,
        chunk=Completion,
    )


def reason_of(finish: Finish | None) -> Any:
    """Why a text ended, in OpenAI's words."""
    return None if finish is None else _REASONS.get(finish, "length")


def header(kind: str, model: str) -> dict[str, Any]:
    """What every answer and every piece of one begins with."""
    return {"id": f"{kind}-{secrets.token_hex(12)}", "created": int(time.time()), "model": model}


def usage_of(requests: Sequence[Request], n_choices: int, n_written: int) -> Usage:
    """How many tokens there were; a prompt counts once, however often it is gone on with."""
    n_read = sum(len(request.ids) for request in requests[::n_choices])
    return Usage(prompt_tokens=n_read, completion_tokens=n_written, total_tokens=n_read + n_written)


def draws(request: Request, n: int) -> list[Request]:
    """The same request as often as it is asked for, each draw another."""
    return [replace(request, draw=place) for place in range(n)]


def prompt_request(model: Model, prompt: str | Sequence[int], options: dict[str, Any]) -> Request:
    """A text, or its ids, to go on with.

    Raises:
        TextError: Ids that the model does not have.
    """
    loaded = model.loaded
    if isinstance(prompt, str):
        ids = prompt_ids(loaded, check_text(prompt))
    else:
        ids, n_known = tuple(prompt), loaded.config.output_stack.embedding.vocab_size
        if max(ids) >= n_known:
            raise TextError("an id that the model does not have", got=max(ids), expected=f"0 to {n_known - 1}")
    return Request(ids=ids, settings=capped(loaded, writing_settings(loaded, options), ids, options))


async def _complete(call: Call, asked: CompletionAsked) -> Completion | EventStream:
    n = asked.n or 1
    prompts = _prompts(asked)
    writing = Writing(call=call, model=asked.model)

    def start() -> list[Request]:
        model = call.desk.model(asked.model)
        model.loaded.require("complete")
        requests = [one for prompt in prompts for one in draws(prompt_request(model, prompt, asked.options()), n)]
        writing.start(call.desk.scheduler(model), requests, scored=asked.logprobs is not None)
        return requests

    requests = await call.start(start)
    model = call.desk.model(asked.model)
    note_read(call, asked.model, sum(len(request.ids) for request in requests), text=asked.prompt)
    shown = [_shown(model, prompt) if asked.echo else "" for prompt in prompts for _ in range(n)]
    pieces = _Pieces(asked=asked, model=model, shown=shown)
    if asked.stream:
        events = _streamed(pieces, writing, requests, n)
        return EventStream(events=events, errand=call.errand, path="/v1/completions")
    async for place, event in writing.events():
        pieces.take(place, event)
    writing.note()
    return Completion(
        **header("cmpl", asked.model), choices=pieces.whole(), usage=usage_of(requests, n, writing.n_written)
    )


async def _streamed(pieces: "_Pieces", writing: Writing, requests: Sequence[Request], n: int) -> AsyncIterator[str]:
    same = header("cmpl", pieces.asked.model)
    async for place, event in writing.events():
        yield Completion(**same, choices=[pieces.take(place, event)]).model_dump_json()
    writing.note()
    if pieces.asked.with_usage:
        yield Completion(**same, choices=[], usage=usage_of(requests, n, writing.n_written)).model_dump_json()


def note_read(call: Call, model: str, n_tokens: int, *, text: object) -> None:
    """Counts what was read, and tells the log."""
    call.desk.metrics.tokens.labels(model=model, kind="read").inc(n_tokens)
    call.note(model=model, tokens_read=n_tokens)
    if call.desk.settings.log_text:
        call.note(text=text)


class _Pieces:
    """The texts of a completion as they grow."""

    def __init__(self, *, asked: CompletionAsked, model: Model, shown: Sequence[str]) -> None:
        self.asked = asked
        self._piece_of = model.tokenizer.target.name_of
        self._texts = list(shown)
        self._begun = [False] * len(shown)
        self._choices: dict[int, list[CompletionChoice]] = {place: [] for place in range(len(shown))}

    def take(self, place: int, event: Event) -> CompletionChoice:
        """The piece that an event adds to a text; the first has what was asked to be shown before it."""
        text = event.text if self._begun[place] else self._texts[place] + event.text
        scores = None
        if event.log_probability is not None:
            offset = len(self._texts[place])
            scores = TokenScores(
                tokens=[self._piece_of(event.id)], token_logprobs=[event.log_probability], text_offset=[offset]
            )
        self._begun[place] = True
        self._texts[place] += event.text
        choice = CompletionChoice(index=place, text=text, logprobs=scores, finish_reason=reason_of(event.finish))
        if not self.asked.stream:
            self._choices[place].append(choice)
        return choice

    def whole(self) -> list[CompletionChoice]:
        """All texts, whole."""
        return [_joined(place, parts) for place, parts in self._choices.items()]


def _joined(place: int, parts: Sequence[CompletionChoice]) -> CompletionChoice:
    scores = [part.logprobs for part in parts if part.logprobs is not None]
    together = TokenScores(
        tokens=[token for one in scores for token in one.tokens],
        token_logprobs=[score for one in scores for score in one.token_logprobs],
        text_offset=[offset for one in scores for offset in one.text_offset],
    )
    return CompletionChoice(
        index=place,
        text="".join(part.text for part in parts),
        logprobs=together if scores else None,
        finish_reason=parts[-1].finish_reason,
    )


def _prompts(asked: CompletionAsked) -> list[str | list[int]]:
    prompt = asked.prompt
    if isinstance(prompt, str):
        return [prompt]
    ids = [one for one in prompt if isinstance(one, int)]
    return [ids] if ids else [one for one in prompt if not isinstance(one, int)]


def _shown(model: Model, prompt: str | list[int]) -> str:
    return prompt if isinstance(prompt, str) else model.tokenizer.decode(prompt)
