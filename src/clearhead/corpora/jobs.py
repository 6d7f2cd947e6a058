"""A job on chunks, and what comes of each."""

import os
import platform
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from clearhead.corpora.chunks import Chunk, Corpus, read_chunks
from clearhead.corpora.failure import Failure


@dataclass(frozen=True, kw_only=True)
class Done:
    """What came of a chunk.

    Attributes:
        number: Which chunk.
        n_texts: How many of its texts are finished: all of them, unless there is a failure.
        payload: Their results, as the output holds them.
        reached: How much of the corpus's extent had been read.
        worker: Who did it.
        failure: Why nothing follows.
    """

    number: int
    n_texts: int
    payload: bytes
    reached: int
    worker: str
    failure: Failure | None = None


Work = Callable[[Chunk], tuple[bytes, int, Failure | None]]
"""Gives the results of a chunk, how many of its texts they are of, and why there are no more."""


@runtime_checkable
class Job(Protocol):
    """What is to be done with each chunk; small enough to be sent to every worker."""

    def open(self) -> Work:
        """What does it, made where it will be done: models are loaded here.

        Raises:
            ClearheadError: It cannot be made.
        """
        ...


def worker_name() -> str:
    """This process among all that work."""
    return f"{platform.node()}:{os.getpid()}"


def done(chunk: Chunk, work: Work) -> Done:
    """What comes of a chunk; one that says why nothing follows is not worked on."""
    payload, n_texts, failure = work(chunk) if chunk.texts else (b"", 0, None)
    return Done(
        number=chunk.number,
        n_texts=n_texts,
        payload=payload,
        reached=chunk.reached,
        worker=worker_name(),
        failure=failure or chunk.failure,
    )


def map_here(job: Job, corpus: Corpus, *, skip: int = 0) -> Iterator[Done]:
    """The results of every chunk, one after another in this process."""
    work = job.open()
    for chunk in read_chunks(corpus, skip=skip):
        yield done(chunk, work)
