"""The engine: requests in, replies out, whatever the family."""

from collections.abc import Callable, Iterator, Sequence

import torch

from clearhead.decoding import (
    Beam,
    BeamResult,
    DecodingSettings,
    Event,
    Row,
    Stepper,
    TextStream,
    beam_search,
    decode,
)
from clearhead.decoding.processors import forbidden
from clearhead.engine.batching import MOST_ROWS, MOST_TOKENS, buckets
from clearhead.engine.kernels.quick_run import Follower, quick_beam_search, quick_greedy
from clearhead.engine.kernels.quick_writer import quick_writer
from clearhead.engine.kernels.ready import kernels
from clearhead.engine.kernels.rows_of import lead
from clearhead.engine.limits import Overflow, check_fits, context_of, fitted
from clearhead.engine.prepare import prepare
from clearhead.engine.request import Answer, Reply, Request, answer_of
from clearhead.engine.side_by_side import pays, side_by_side
from clearhead.engine.steppers import DecoderOnlyStepper, EncoderDecoderStepper, RecurrentStepper
from clearhead.engine.weight_format import WeightFormat
from clearhead.errors import DecodingError, TextError
from clearhead.models import DecoderOnly, EncoderDecoder, Recurrent
from clearhead.probe import present

Writer = DecoderOnly | EncoderDecoder | Recurrent
_UNREADABLE = "\N{REPLACEMENT CHARACTER}"


class Engine:
    """A model that writes, ready to run.

    Args:
        network: The model; its parameters are shared, not copied.
        to_text: Turns ids into text; None where only ids are wanted.
        weights: How the weights are held.
        overflow: What happens where a text outgrows the context.
        start_id: What an empty text, or a target, begins with.
    """

    def __init__(
        self,
        *,
        network: Writer,
        to_text: Callable[[Sequence[int]], str] | None = None,
        weights: WeightFormat = WeightFormat.FLOAT32,
        overflow: Overflow = Overflow.ERROR,
        start_id: int | None = None,
    ) -> None:
        one = next(network.parameters())
        self._is_plain = one.dtype is torch.float32 and one.device.type == "cpu"
        self.network: Writer = prepare(network, weights=weights)
        self.overflow = overflow
        self._to_text = to_text
        self._start_id = start_id
        if not isinstance(network, Recurrent) and network.head is None:
            raise DecodingError(
                "this model has no output layer to write with",
                got="a checkpoint of hidden states alone",
                expected="a language model",
            )

    def generate(
        self,
        requests: Sequence[Request],
        *,
        scored: bool = False,
        record: bool = False,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> list[Reply]:
        """Answers requests in batches of like length; the replies are in the order of the requests.

        Args:
            requests: What to answer.
            scored: Whether answers have log-probabilities.
            record: Whether replies keep every candidate of a beam search.
            cancelled: Asked before every step, or every few where one call takes several; once True, everything
                ends where it is.
        """
        requests = [self.fitted(request) for request in requests]

        def answer(places: list[int], cancelled: Callable[[], bool]) -> list[Reply]:
            batch = [requests[place] for place in places]
            if batch[0].settings.beams > 1:
                return self._beams(batch, record=record, cancelled=cancelled)
            return self._rows(batch, scored=scored, cancelled=cancelled)

        batches = self._batches(requests)
        if pays(len(batches)) and not present():
            found = side_by_side(answer, batches, cancelled=cancelled)
        else:
            found = [answer(places, cancelled) for places in batches]
        replies = {
            place: reply
            for places, some in zip(batches, found, strict=True)
            for place, reply in zip(places, some, strict=True)
        }
        return [replies[place] for place in range(len(requests))]

    def stream(self, requests: Sequence[Request], *, scored: bool = False) -> Iterator[list[Event]]:
        """Answers requests together and gives the events of each step as they come; closing it cancels.

        A row of an event is the place of its request. Beams are known only in the end: they come as one event.
        """
        requests = [self.fitted(request) for request in requests]
        if not requests:
            return
        if any(request.settings.beams > 1 for request in requests):
            yield [
                Event(row=place, id=best.ids[-1], log_probability=best.score, text=best.text, finish=best.finish)
                for place, best in enumerate(reply.best for reply in self.generate(requests, scored=scored))
                if best.ids
            ]
            return
        yield from decode(self.stepper(requests), self._new_rows(requests, scored=scored))

    def stepper(self, requests: Sequence[Request]) -> Stepper:
        """The model as decoding sees it, with these requests, which are `fitted`, as its rows."""
        n_new = max(request.settings.max_new_tokens or 0 for request in requests)
        network = self.network
        if isinstance(network, DecoderOnly):
            window = context_of(network.config.decoder) if self.overflow is Overflow.SLIDE else None
            return DecoderOnlyStepper(
                network=network, prompts=[request.ids for request in requests], n_new=n_new, window=window
            )
        sources, prompts = [request.ids for request in requests], [self.prompt(request) for request in requests]
        if isinstance(network, EncoderDecoder):
            pad_id = network.config.tokens.pad or 0
            return EncoderDecoderStepper(network=network, sources=sources, prompts=prompts, n_new=n_new, pad_id=pad_id)
        return RecurrentStepper(network=network, sources=sources, prompts=prompts)

    def fitted(self, request: Request) -> Request:
        """The request with its ids made whole and its length made definite.

        Raises:
            DecodingError: It does not fit the model.
            TextError: It has no text.
        """
        network = self.network
        if isinstance(network, DecoderOnly):
            if request.prefix:
                raise DecodingError(
                    "this model goes on with its text, and has no target that could begin", got="prefix"
                )
            ids = self.prompt(request)
            if not ids:
                raise TextError("an empty text, and the model has no start token", advice="a text to go on with")
            context, overflow = context_of(network.config.decoder), self.overflow
            settings = fitted(request.settings, prompt_length=len(ids), context=context, overflow=overflow)
            return Request(ids=ids, settings=settings, draw=request.draw)
        if not request.ids:
            raise TextError("an empty source", advice="a text to read")
        stacks = (None, None) if isinstance(network, Recurrent) else (network.config.encoder, network.config.decoder)
        check_fits(
            len(request.ids),
            context=context_of(stacks[0]),
            what="the source",
            advice="shorter pieces; `translate` and `summarize` split long texts themselves",
        )
        settings = fitted(
            request.settings,
            prompt_length=len(self.prompt(request)),
            context=context_of(stacks[1]),
            overflow=None,
        )
        return Request(ids=request.ids, prefix=request.prefix, settings=settings, draw=request.draw)

    def prompt(self, request: Request) -> tuple[int, ...]:
        """What the decoder has before its first new id."""
        if isinstance(self.network, DecoderOnly):
            return request.ids or (() if self._start_id is None else (self._start_id,))
        if self._start_id is None:
            raise DecodingError("this model has no start token for its targets", expected="decoder_start_token_id")
        return (self._start_id, *request.prefix)

    def _batches(self, requests: Sequence[Request]) -> list[list[int]]:
        """Batches of requests that can run together: those with beams share their settings."""
        kinds: dict[DecodingSettings | None, list[int]] = {}
        for place, request in enumerate(requests):
            kinds.setdefault(request.settings if request.settings.beams > 1 else None, []).append(place)
        batches: list[list[int]] = []
        for settings, places in kinds.items():
            beams = settings.beams if settings else 1
            lengths = [len(requests[place].ids) for place in places]
            found = buckets(lengths, most_rows=MOST_ROWS, most_tokens=max(1, MOST_TOKENS // beams))
            batches += [[places[i] for i in batch] for batch in found]
        return batches

    def new_row(self, request: Request, *, name: int, scored: bool) -> Row:
        """The text of a request that fits, before its first new id."""
        return Row(
            name=name,
            prompt=self.prompt(request),
            settings=request.settings,
            text=self._new_text(request),
            scored=scored,
            draw=request.draw,
        )

    def _new_rows(self, batch: Sequence[Request], *, scored: bool) -> list[Row]:
        return [self.new_row(request, name=place, scored=scored) for place, request in enumerate(batch)]

    def _new_text(self, request: Request) -> TextStream | None:
        """What will write the text; a text that goes on with another begins in its company."""
        stop = request.settings.stop
        if self._to_text is None:
            if stop:
                raise DecodingError("text is asked for, and the engine has no tokenizer", advice="a Tokenizer")
            return None
        goes_on = isinstance(self.network, DecoderOnly)
        return TextStream(decode=self._to_text, stop=stop, after=request.ids if goes_on else request.prefix)

    def _rows(self, batch: Sequence[Request], *, scored: bool, cancelled: Callable[[], bool]) -> list[Reply]:
        found = self._likeliest(batch, scored=scored, cancelled=cancelled)
        if found is not None:
            return found
        rows = self._new_rows(batch, scored=scored)
        events: list[list[Event]] = [[] for _ in rows]
        steps = decode(self.stepper(batch), rows)
        while any(row.finish is None for row in rows) and not cancelled():
            for event in next(steps):
                events[event.row].append(event)
        for row in rows:
            row.cancel()
        return [Reply(answers=(answer_of(row, found),)) for row, found in zip(rows, events, strict=True)]

    def _likeliest(
        self, batch: Sequence[Request], *, scored: bool, cancelled: Callable[[], bool]
    ) -> list[Reply] | None:
        """The replies where all take the likeliest id, and one call of a kernel can take many steps; otherwise None."""
        settings, quick = batch[0].settings, kernels()
        plain = not settings.draws and not settings.stop and forbidden(settings) is not None
        if quick is None or not self._is_plain or not plain or any(one.settings != settings for one in batch):
            return None
        writer = quick_writer(quick, self.stepper(batch))
        if not isinstance(writer, Follower):
            return None
        prompts = [self.prompt(request) for request in batch]
        found = quick_greedy(quick, writer, prompts, settings=settings, cancelled=cancelled)
        return [
            Reply(answers=(self._answer(beam, request, said if scored else None),))
            for (beam, said), request in zip(found, batch, strict=True)
        ]

    def _answer(self, beam: Beam, request: Request, said: tuple[float, ...] | None) -> Answer:
        """What a row of likeliest ids comes to."""
        text = self._text(beam.ids, request)
        if _UNREADABLE in text:  # what bytes come to that are no characters depends on when they come
            text = self._text(beam.ids, request, one_by_one=True)
        score = None if said is None else sum(said)
        return Answer(ids=beam.ids, text=text, finish=beam.finish, score=score, log_probabilities=said or ())

    def _beams(self, batch: Sequence[Request], *, record: bool, cancelled: Callable[[], bool]) -> list[Reply]:
        settings = batch[0].settings
        prompts = [self.prompt(request) for request in batch]
        stepper, quick = self.stepper(batch), kernels()
        if quick is not None and self._is_plain and forbidden(settings) is not None:
            writer = quick_writer(quick, stepper)
            found = quick_beam_search(quick, writer, prompts, settings=settings, record=record, cancelled=cancelled)
        else:
            found = beam_search(stepper, prompts, settings=settings, record=record, cancelled=cancelled, lead=lead)
        return [self.beam_reply(result, request) for result, request in zip(found, batch, strict=True)]

    def beam_reply(self, result: BeamResult, request: Request) -> Reply:
        """The reply to a request with what a beam search found for it."""
        answers = [
            Answer(ids=beam.ids, text=self._text(beam.ids, request), finish=beam.finish, score=beam.score)
            for beam in result.beams
        ]
        return Reply(answers=tuple(answers), steps=result.steps)

    def _text(self, ids: tuple[int, ...], request: Request, *, one_by_one: bool = False) -> str:
        text = self._new_text(request)
        if text is None:
            return ""
        shown = ids[:-1] if ids and ids[-1] in request.settings.end_ids else ids
        return "".join(map(text.push, shown)) + text.close() if one_by_one else text.all(shown)
