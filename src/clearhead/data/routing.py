"""Which store each record goes to: the one to train on, the one to measure by, or neither.

Takes: cleaned records, each with the number of its source.
Gives: the same records with their stores.
Uses:  data.{hashes,record,record_writer,report,split,store_writer}.
Never: a source in both stores, nor one that the validation files have.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from clearhead.data.hashes import Seen
from clearhead.data.record import Record, Task
from clearhead.data.record_writer import Routed
from clearhead.data.report import CleaningReport, Reason
from clearhead.data.split import Split, is_held_out, source_hash, sources_of
from clearhead.data.store_writer import StoreWriter

__all__ = ["Held", "Route"]


class Held:
    """The sources of the validation files.

    Args:
        task: What the records are for.
    """

    def __init__(self, *, task: Task) -> None:
        self._task = task
        self._seen = Seen()

    def add(self, record: Record) -> None:
        """Remember the sources of a record."""
        for text in sources_of(record, self._task):
            self._seen.add(source_hash(text, seed=0))

    def __contains__(self, record: Record) -> bool:
        if not self._seen:
            return False
        return any(source_hash(text, seed=0) in self._seen for text in sources_of(record, self._task))


@dataclass(kw_only=True)
class Route:
    """What sends each record to its store.

    Attributes:
        task: What the records are for.
        held: The sources of the validation files, or of what is held out.
        split: How a part is held out.
        share: The share of the sources that is; 0 for nothing.
        n_characters: Of all sources, where the last part of all text is held out.
    """

    task: Task
    held: Held
    split: Split
    share: float
    n_characters: int
    _passed: int = field(default=0, init=False)

    def __call__(
        self, pairs: Iterable[tuple[int, Record]], stores: tuple[StoreWriter, StoreWriter], report: CleaningReport
    ) -> Iterator[Routed]:
        """The records with their stores.

        Args:
            pairs: The records, each with the number of its source.
            stores: The one to train on and the one to measure by.
            report: Learns which records are in the validation files.
        """
        train, measured = stores
        for origin, record in pairs:
            if self.holds_out(record):
                yield Routed(record=record, origin=origin, store=measured)
            elif record in self.held:
                report.withdraw(Reason.SHARED if self.share else Reason.HELD_OUT, record)
                yield Routed(record=record, origin=origin, store=None)
            else:
                yield Routed(record=record, origin=origin, store=train)

    def holds_out(self, record: Record) -> bool:
        """Whether the hash of a record says so, or its place, where the last part of all text is held out."""
        if self.share == 0:
            return False
        if not self.split.tail:
            return is_held_out(*sources_of(record, self.task), share=self.share, seed=self.split.seed)
        self._passed += len(record.source)
        return self._passed > (1 - self.split.share) * self.n_characters
