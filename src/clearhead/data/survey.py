"""A first look through the data: what there is, before any of it is written.

Takes: cleaned records.
Gives: how many, which labels and languages, what every record has, and what to hold out.
Uses:  errors, data.{record,split}.
Never: keeps a record.
"""

from math import inf

from clearhead.data.record import Record, Task
from clearhead.data.split import SmallestHashes, Split, sources_of
from clearhead.errors import TextError

__all__ = ["Survey"]

MAX_LABELS = 1000
MAX_TAGS = 1000
_MOST_DIGITS = 18


class Survey:
    """What a corpus holds.

    Args:
        task: What it is for.
        split: How much of it is to be held out.
    """

    def __init__(self, *, task: Task, split: Split) -> None:
        self._task = task
        self._hashes = SmallestHashes(split=split)
        self._labels: set[str] = set()
        self._tags: set[str] = set()
        self._n_with = {"target": 0, "score": 0, "tag": 0}
        self._scores = (inf, -inf)
        self.n_characters = 0

    def see(self, record: Record) -> None:
        """Look at one record."""
        self._hashes.add(*sources_of(record, self._task))
        self.n_characters += len(record.source)
        for name in self._n_with:
            self._n_with[name] += getattr(record, name) is not None
        if record.label is not None:
            _add(self._labels, record.label, most=MAX_LABELS, what="labels")
        if record.score is not None:
            lowest, highest = self._scores
            self._scores = min(lowest, record.score), max(highest, record.score)
        if record.tag is not None:
            _add(self._tags, record.tag, most=MAX_TAGS, what="languages")

    @property
    def n_records(self) -> int:
        """How many records passed."""
        return self._hashes.n_records

    @property
    def labels(self) -> tuple[str, ...]:
        """The classes, numbers in order of size, other names in order of the alphabet."""
        if self._task is Task.CLASSIFY and len(self._labels) < 2:
            raise TextError(
                "a single class, which leaves nothing to tell apart",
                got=", ".join(self._labels),
                expected="at least two different labels",
            )
        labels = sorted(self._labels)
        if all(label.isdecimal() and len(label) <= _MOST_DIGITS for label in labels):
            labels.sort(key=int)
        return tuple(labels)

    @property
    def tags(self) -> tuple[str, ...]:
        """The target languages."""
        self.has("tag")
        return tuple(sorted(self._tags))

    def require_scores_that_differ(self) -> None:
        """Raises where scores are all alike: such a scale has no ends to learn."""
        lowest, highest = self._scores
        if self.has("score") and lowest == highest:
            raise TextError(
                "scores that are all alike, which leaves nothing to learn",
                got=f"{lowest:g} for all of {self.n_records}",
                expected="at least two different scores",
                advice="pairs without a score, if all of them are alike in meaning",
            )

    def has(self, name: str) -> bool:
        """Whether records have a target, a score or a tag: all of them, or none."""
        n_with = self._n_with[name]
        if 0 < n_with < self.n_records:
            raise TextError(
                f"a {name} for some examples only",
                got=f"{n_with} of {self.n_records}",
                expected=f"a {name} in every source, or in none",
            )
        return n_with > 0

    def share(self) -> float:
        """The share to hold out."""
        return self._hashes.share()


def _add(names: set[str], name: str, *, most: int, what: str) -> None:
    names.add(name)
    if len(names) > most:
        raise TextError(
            f"too many different {what}",
            got=f"more than {most}, such as {name[:60]!r}",
            expected=f"at most {most}",
            advice="check which column is which, and name the columns",
        )
