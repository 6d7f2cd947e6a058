"""Chunks of a corpus: so many texts in a row, whoever works on them.

What a network computes for a text may differ in its last digits with the texts beside it. Chunks are therefore cut by
count alone, and every engine cuts them here.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clearhead.corpora.failure import Failure
from clearhead.corpora.tables import count_rows, read_column
from clearhead.errors import ClearheadError
from clearhead.text.files import decode_lines, reading


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """A file of texts.

    Attributes:
        path: Lines of text, zipped where its name ends in .gz; or a Parquet file where it ends in .parquet.
        size: How many texts make a chunk.
        column: Which column of a Parquet file holds the texts.
    """

    path: Path
    size: int
    column: str = "text"

    @property
    def is_table(self) -> bool:
        """Whether it is a Parquet file."""
        return self.path.suffix == ".parquet"

    @property
    def extent(self) -> int:
        """How much there is to read: rows of a table, bytes of any other file."""
        return count_rows(self.path) if self.is_table else self.path.stat().st_size

    def where(self, number: int) -> str:
        """How an error names a text, counted from one."""
        return f"{self.path}, {'row' if self.is_table else 'line'} {number}: "


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """Some texts of a corpus.

    Attributes:
        number: Its place among the chunks, from zero.
        first: How many texts are before it.
        texts: The texts.
        reached: How much of the corpus's extent had been read when it was full.
        failure: Why nothing follows, where what follows cannot be read.
    """

    number: int
    first: int
    texts: list[str]
    reached: int
    failure: Failure | None = None


def fixed_chunks(texts: Iterator[str], size: int) -> Iterator[list[str]]:
    """Texts, so many at a time, and then the rest.

    Raises:
        ClearheadError: A text that cannot be read, after those before it.
    """
    chunk: list[str] = []
    try:
        for text in texts:
            chunk.append(text)
            if len(chunk) == size:
                yield chunk
                chunk = []
    except ClearheadError:
        if chunk:
            yield chunk
        raise
    if chunk:
        yield chunk


def read_chunks(corpus: Corpus, *, skip: int = 0) -> Iterator[Chunk]:
    """The chunks of a corpus, read as they are asked for.

    A text that cannot be read ends them; the last chunk says why, and may have no texts.

    Args:
        corpus: The file.
        skip: How many chunks to leave out at the beginning.
    """
    number, first, reached = 0, 0, 0
    source = _texts(corpus)

    def texts() -> Iterator[str]:
        nonlocal reached
        for text, place in source:
            reached = place
            yield text

    try:
        for chunk in fixed_chunks(texts(), corpus.size):
            if number >= skip:
                yield Chunk(number=number, first=first, texts=chunk, reached=reached)
            number, first = number + 1, first + len(chunk)
    except ClearheadError as error:
        yield Chunk(number=number, first=first, texts=[], reached=reached, failure=Failure.of(error))


def _texts(corpus: Corpus) -> Iterator[tuple[str, int]]:
    """Every text, and how much has been read with it."""
    if corpus.is_table:
        yield from ((text, place) for place, text in enumerate(read_column(corpus.path, corpus.column), start=1))
        return
    with reading(corpus.path) as stream:
        raw: Any = getattr(stream, "fileobj", stream)
        yield from ((line, raw.tell()) for line in decode_lines(stream, name=corpus.path))
