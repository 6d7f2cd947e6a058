"""Records on their way into token stores: encoded many at a time, each written to its side.

Takes: records with the store that each belongs to.
Gives: nothing; the stores grow.
Uses:  errors, data.{encode,record,report,store_writer}; numpy.
Never: more records at once than a small batch.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any

import numpy as np
from jaxtyping import Float

from clearhead.data.encode import Encoded, Part, RecordEncoder
from clearhead.data.record import Record
from clearhead.data.report import CleaningReport
from clearhead.data.store_writer import StoreWriter
from clearhead.errors import TextError

__all__ = ["RecordWriter", "Routed", "Teacher"]

Teacher = Callable[[Sequence[str]], Float[np.ndarray, "B D"]]
"""What gives the vectors that a student learns from, one for the source of each record."""

_RECORDS_AT_ONCE = 1000
_CHARACTERS_AT_ONCE = 2**20


@dataclass(frozen=True, kw_only=True, slots=True)
class Routed:
    """A record, the number of the source it came from, and the store that it goes to; None where it is left out."""

    record: Record
    origin: int
    store: StoreWriter | None


class RecordWriter:
    """What encodes records and writes them.

    Args:
        encoder: Makes rows of them.
        labels: The classes in order; a record's label is written as its number.
        teacher: Gives each record's vector.
        progress: Told after each batch how many records have passed.
    """

    def __init__(
        self,
        *,
        encoder: RecordEncoder,
        labels: Sequence[str] = (),
        teacher: Teacher | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        self._encoder = encoder
        self._numbers = {label: number for number, label in enumerate(labels)}
        self._teacher = teacher
        self._progress = progress
        self._n_passed = 0

    def write(self, records: Iterable[Routed], report: CleaningReport) -> None:
        """Encode records and append them to their stores; the report learns which did not fit."""
        for batch in _batches(_joined(records)):
            encoded = self._encoder([part for _, part in batch])
            vectors = self._vectors([routed.record.source for routed, _ in batch])
            for place, ((routed, _), found) in enumerate(zip(batch, encoded, strict=True)):
                if found.fault is not None:
                    report.withdraw(found.fault, routed.record)
                    continue
                if found.truncated:
                    report.truncate()
                self._append(routed, found, None if vectors is None else vectors[place])
            self._n_passed += len(batch)
            if self._progress is not None:
                self._progress(self._n_passed)

    def _append(self, routed: Routed, found: Encoded, vector: Any) -> None:
        record, store = routed.record, routed.store
        assert store is not None, "what is left out was left out before it was encoded"
        values: dict[str, Any] = {"origin": routed.origin}
        if self._numbers:
            values["label"] = self._numbers[record.label or ""]
        if record.score is not None:
            values["score"] = record.score
        if vector is not None:
            values["teacher"] = vector
        for row in found.rows:
            store.append(row, **values)

    def _vectors(self, texts: Sequence[str]) -> Float[np.ndarray, "B D"] | None:
        if self._teacher is None:
            return None
        vectors_BD = self._teacher(texts)
        if len(vectors_BD) != len(texts) or not np.isfinite(vectors_BD).all():
            raise TextError(
                "a teacher's vectors that cannot be learned from",
                got=f"{len(vectors_BD)} vectors for {len(texts)} texts",
                expected="one for each text, of finite numbers",
            )
        return vectors_BD


def _joined(records: Iterable[Routed]) -> Iterator[tuple[Routed, Part]]:
    """Each record that goes to a store, with whether a text starts and ends with it.

    A text that was cut because of its length ends, too, where its next part goes elsewhere or is left out, and with the
    source that it came from.
    """
    starts = True
    for routed, following in pairwise(chain(records, [None])):
        assert routed is not None, "only the very last has nothing behind it"
        ends = not _goes_on(routed, following)
        if routed.store is not None:
            yield routed, Part(record=routed.record, starts=starts, ends=ends)
        starts = ends


def _goes_on(routed: Routed, following: Routed | None) -> bool:
    """Whether the next record goes on with the text of this one."""
    if following is None or not routed.record.continued:
        return False
    return (routed.store, routed.origin) == (following.store, following.origin)


def _batches(records: Iterable[tuple[Routed, Part]]) -> Iterator[list[tuple[Routed, Part]]]:
    batch: list[tuple[Routed, Part]] = []
    n_characters = 0
    for routed, part in records:
        batch.append((routed, part))
        n_characters += len(routed.record.source)
        if len(batch) >= _RECORDS_AT_ONCE or n_characters >= _CHARACTERS_AT_ONCE:
            yield batch
            batch, n_characters = [], 0
    if batch:
        yield batch
