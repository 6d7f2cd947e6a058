"""An errand as a job on chunks: what a worker opens, and the bytes that it sends back.

Takes: an errand whose options name a file.
Gives: for each chunk, its results as the output holds them.
Uses:  cli.errand, cli.lines, cli.output, corpora, errors.
Never: a result after one that failed.
"""

import gzip
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from clearhead.cli.errand import Errand
from clearhead.cli.lines import loaded_for, settle, worked
from clearhead.cli.output import Outcome, lines_of, rows_of
from clearhead.cli.usage import TEXT_COLUMN
from clearhead.corpora import Array, Chunk, Corpus, Failure, Layout, Lines, Table, batch_bytes
from clearhead.errors import ClearheadError

__all__ = ["CHUNK", "Chunked"]

CHUNK = 64
"""Lines that a worker takes at once where nobody says how many."""


@dataclass(frozen=True, kw_only=True)
class Chunked:
    """An errand, chunk by chunk."""

    errand: Errand

    @property
    def corpus(self) -> Corpus:
        """The file as chunks."""
        given = self.errand.given
        assert given.file is not None
        return Corpus(path=given.file, size=given.chunk or CHUNK, column=given.column or TEXT_COLUMN)

    @property
    def layout(self) -> Layout:
        """How results are laid out in a file."""
        if self.errand.is_array:
            return Array()
        return Table(columns=self._columns) if self.errand.given.writes_table else Lines()

    def open(self) -> Callable[[Chunk], tuple[bytes, int, Failure | None]]:
        """What works on a chunk, with the model loaded and its kernels ready."""
        loaded = loaded_for(self.errand.given, self.errand.verb, default=self.errand.task)
        settle()
        return partial(self._on_chunk, loaded)

    def _on_chunk(self, loaded: Any, chunk: Chunk) -> tuple[bytes, int, Failure | None]:
        results: list[tuple[str, Outcome]] = []
        failure: Failure | None = None
        work = partial(self.errand.outcomes, loaded)
        try:
            for result in worked(chunk.texts, work, self.corpus.where, before=chunk.first):
                results.append(result)  # noqa: PERF402  (what came before an error is kept)
        except ClearheadError as error:
            failure = Failure.of(error)
        return self._encoded(results), len(results), failure

    def _encoded(self, results: Sequence[tuple[str, Outcome]]) -> bytes:
        """Results as the output holds them."""
        given = self.errand.given
        match self.layout:
            case Array():
                return rows_of(outcome for _, outcome in results)
            case Table():
                rows = [{self.corpus.column: text, **self.errand.row(outcome)} for text, outcome in results]
                return batch_bytes(self._columns, rows)
            case _:
                # A cell may hold line breaks; its result is one line nevertheless.
                texts = (("" if given.reads_table else text, outcome) for text, outcome in results)
                lines = lines_of(texts, as_json=given.as_json)
                # Zipped files one after another are a zipped file; without a time in them, they are always the same.
                return gzip.compress(lines, mtime=0) if given.writes_zipped else lines

    @property
    def _columns(self) -> Mapping[str, str]:
        return {self.corpus.column: "string", **self.errand.columns}
