"""Many texts, one encoder: what comes within a moment is read together, like lengths side by side."""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from contextvars import Context
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Int
from torch import Tensor
from torch.nn import functional

from clearhead.decoding.numbers import integers
from clearhead.engine.batching import MOST_ROWS, buckets
from clearhead.engine.limits import check_fits, context_of
from clearhead.engine.padding import pad_right
from clearhead.engine.serving.fair_queue import FairQueue
from clearhead.errors import Busy, Closed, TextError
from clearhead.models import EncoderOnly, EncoderOutput

_MOMENT = 0.002
_PAUSE = 0.05
_AT_ONCE = 2 * MOST_ROWS
_MOST_TOKENS = 4096


@dataclass(frozen=True, kw_only=True, eq=False)
class _Waiting:
    """A text that waits to be read."""

    ids: tuple[int, ...]
    segments: tuple[int, ...]
    answer: Future[EncoderOutput]


class ReadingQueue:
    """Runs one encoder in a thread of its own; texts of many clients are read in common batches.

    Args:
        network: The encoder, prepared.
        most_waiting: Texts that wait; beyond, new ones are refused.
        moment: Seconds that a text waits for company.
    """

    def __init__(self, *, network: EncoderOnly, most_waiting: int = 4096, moment: float = _MOMENT) -> None:
        self._network = network
        self._most_waiting = most_waiting
        self._moment = moment
        self._queue = FairQueue[_Waiting]()
        self._changed = threading.Condition()
        self._closed = False
        self._n_threads = torch.get_num_threads()
        self._thread = threading.Thread(target=Context().run, args=(self._run,), name="reading", daemon=True)
        self._thread.start()

    def __len__(self) -> int:
        return len(self._queue)

    def submit(self, ids: Sequence[int], *, segments: Sequence[int] = (), client: str = "") -> Future[EncoderOutput]:
        """Hands in a text; the answer is a batch of one row, without padding. It can be cancelled while it waits.

        Args:
            ids: The ids of the text.
            segments: Which segment each id is in; the first, if not given.
            client: On whose account it is read: clients take turns.

        Raises:
            Busy: Too many wait already.
            Closed: The queue was closed.
            DecodingError: The text is longer than the context.
            TextError: The text has no token.
        """
        if not ids:
            raise TextError("an empty text", advice="a text to read, or none at all")
        context = context_of(self._network.config.encoder)
        check_fits(len(ids), context=context, what="the text", advice="a shorter text")
        answer: Future[EncoderOutput] = Future()
        waiting = _Waiting(ids=tuple(ids), segments=tuple(segments) or (0,) * len(ids), answer=answer)
        with self._changed:
            if self._closed:
                raise Closed("the server is closing", advice="another server, or this one when it is back")
            if len(self._queue) >= self._most_waiting:
                raise Busy("too many texts are waiting to be read", retry_after=1.0, got=f"{len(self._queue)} waiting")
            self._queue.push(waiting, client=client)
            self._changed.notify()
        return answer

    def close(self) -> None:
        """Takes nothing new, reads what was taken, and ends the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        torch.set_num_threads(self._n_threads)
        with torch.inference_mode():
            while batch := self._next():
                for places in buckets([len(one.ids) for one in batch], most_tokens=_MOST_TOKENS):
                    self._read([batch[place] for place in places])

    def _next(self) -> list[_Waiting]:
        """The texts to read next, after a moment for more to come; none once the queue is closed and empty."""
        with self._changed:
            while not self._queue and not self._closed:
                self._changed.wait()
            until = time.monotonic() + self._moment
            while len(self._queue) < _AT_ONCE and not self._closed and (left := until - time.monotonic()) > 0:
                self._changed.wait(left)
        return [self._queue.pop() for _ in range(min(_AT_ONCE, len(self._queue)))]

    def _read(self, batch: list[_Waiting]) -> None:
        """Reads texts together; where that fails, each by itself, so that only those fail whose fault it is."""
        batch = [one for one in batch if one.answer.running() or one.answer.set_running_or_notify_cancel()]
        if not batch:
            return
        try:
            ids_BS, mask_BS = pad_right([one.ids for one in batch], pad_id=self._network.config.tokens.pad or 0)
            segments = pad_right([one.segments for one in batch])[0] if self._network.n_segments else None
            output = self._network(ids_BS, mask_BS=mask_BS, segment_ids_BS=segments)
        except Exception as error:  # noqa: BLE001  (told to whoever asked)
            if len(batch) == 1:
                batch[0].answer.set_exception(error)
                return
            for one in batch:
                self._read([one])
            return
        for row, one in enumerate(batch):
            one.answer.set_result(_row(output, row, len(one.ids)))


class QueuedEncoder(EncoderOnly):
    """Stands in for an encoder where many threads use it: each text of a batch goes through a queue.

    It runs in the queue's thread: a caller's recorder hears nothing, and no gradient flows.

    Args:
        network: The encoder that it stands for; its parts are shared.
        queue: What reads.
        client: Says on whose account the calling thread reads.
        check: Raises where nobody waits for the calling thread any more; what it handed in is withdrawn then.
    """

    def __init__(
        self,
        *,
        network: EncoderOnly,
        queue: ReadingQueue,
        client: Callable[[], str] = lambda: "",
        check: Callable[[], None] = lambda: None,
    ) -> None:
        vars(self).update(vars(network))
        self._queue = queue
        self._client = client
        self._check_wanted = check

    def forward(
        self,
        ids_BS: Int[Tensor, "B S"],
        *,
        mask_BS: Bool[Tensor, "B S"] | None = None,
        segment_ids_BS: Int[Tensor, "B S"] | None = None,
    ) -> EncoderOutput:
        """The last hidden state, and what the head reads off it."""
        real_BS = torch.ones_like(ids_BS, dtype=torch.bool) if mask_BS is None else mask_BS
        answers: list[Future[EncoderOutput]] = []
        client = self._client()
        try:
            for row, real_S in enumerate(real_BS):
                segments = () if segment_ids_BS is None else integers(segment_ids_BS[row][real_S])
                answers.append(self._queue.submit(integers(ids_BS[row][real_S]), segments=segments, client=client))
            return _together([self._result(answer) for answer in answers], width=ids_BS.shape[1])
        finally:
            for answer in answers:
                answer.cancel()

    def _result(self, answer: Future[EncoderOutput]) -> EncoderOutput:
        while not wait((answer,), timeout=_PAUSE).done:
            self._check_wanted()
        return answer.result()


def _row(output: EncoderOutput, row: int, length: int) -> EncoderOutput:
    """One text's part of an output, in memory of its own."""
    logits = output.logits
    if logits is not None:
        logits = (logits[row : row + 1, :length] if logits.ndim == 3 else logits[row : row + 1]).clone()
    return EncoderOutput(
        hidden_BSD=output.hidden_BSD[row : row + 1, :length].clone(),
        logits=logits,
        vector_BD=None if output.vector_BD is None else output.vector_BD[row : row + 1].clone(),
        pooled_BD=None if output.pooled_BD is None else output.pooled_BD[row : row + 1].clone(),
    )


def _together(rows: Sequence[EncoderOutput], *, width: int) -> EncoderOutput:
    """Outputs of single texts as the output of a batch, zeros where a text has ended."""

    def joined(name: str) -> Tensor | None:
        values: list[Tensor] = [value for row in rows if (value := getattr(row, name)) is not None]
        if not values:
            return None
        wide = [functional.pad(one, (0, 0, 0, width - one.shape[1])) if one.ndim == 3 else one for one in values]
        return torch.cat(wide)

    hidden_BSD = joined("hidden_BSD")
    assert hidden_BSD is not None
    return replace(
        EncoderOutput(hidden_BSD=hidden_BSD),
        logits=joined("logits"),
        vector_BD=joined("vector_BD"),
        pooled_BD=joined("pooled_BD"),
    )
