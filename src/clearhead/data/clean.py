"""Cleaning: which records are worth learning from.

Takes: records, rules, and the report to write into.
Gives: the records that remain, one at a time.
Uses:  config, data.{hashes,record,report}.
Never: keeps text to find duplicates; eight-byte hashes do.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from clearhead.config.checks import require_positive, require_size, require_types
from clearhead.config.record import RECORD
from clearhead.data.hashes import Seen, hash_text
from clearhead.data.record import Record, Task
from clearhead.data.report import CleaningReport, Reason
from clearhead.errors import ConfigError

__all__ = ["CleaningRules", "clean"]

_RATIO_SLACK = 10
"""Added to both lengths before they are divided: two short texts may differ much in length and still be right."""


@dataclass(frozen=True, kw_only=True)
class CleaningRules:
    """What a record must be to stay. `for_task` gives what suits each task.

    Attributes:
        max_characters: The longest that a text may be; None for no limit.
        min_ratio: The shortest that a target may be, in characters for one of the source.
        max_ratio: The longest that it may be.
        deduplicate: Whether only the first of equal records stays.
        drop_copies: Whether a target that is its source goes.
        strip: Whether space around a text goes.
    """

    __pydantic_config__ = RECORD

    max_characters: int | None = None
    min_ratio: float | None = None
    max_ratio: float | None = None
    deduplicate: bool = True
    drop_copies: bool = False
    strip: bool = True

    def __post_init__(self) -> None:
        require_types(self)
        if self.max_characters is not None:
            require_size("max_characters", self.max_characters)
        for name, value in (("min_ratio", self.min_ratio), ("max_ratio", self.max_ratio)):
            if value is not None:
                require_positive(name, value)
        if self.min_ratio is not None and self.max_ratio is not None and self.min_ratio > self.max_ratio:
            raise ConfigError("ratios that no pair can have", got=f"from {self.min_ratio} to {self.max_ratio}")

    @classmethod
    def for_task(cls, task: Task) -> "CleaningRules":
        """The rules that suit a task."""
        if task is Task.TRANSLATE:
            return cls(max_characters=1000, min_ratio=0.25, max_ratio=4.0, drop_copies=True)
        return cls(strip=not task.reads_running_text)


def clean(records: Iterable[Record], rules: CleaningRules, report: CleaningReport) -> Iterator[Record]:
    """The records that keep the rules; the report counts these and the others.

    Parts of a text that was cut because of its length stay as they are: without one of them, what stands before it and
    what stands behind it would read as one.
    """
    seen = Seen()
    goes_on = False
    for found in records:
        is_part, goes_on = goes_on or found.continued, found.continued
        if is_part:
            report.keep()
            yield found
            continue
        record = _stripped(found) if rules.strip else found
        reason = _fault(record, rules)
        if reason is None and rules.deduplicate and not seen.add(_identity(record)):
            reason = Reason.DUPLICATE
        if reason is None:
            report.keep()
            yield record
        else:
            report.drop(reason, record)


def _stripped(record: Record) -> Record:
    source, target, label = (text and text.strip() for text in (record.source, record.target, record.label))
    if (source, target, label) == (record.source, record.target, record.label):
        return record
    return replace(record, source=source or "", target=target, label=label)


def _fault(record: Record, rules: CleaningRules) -> Reason | None:
    source, target = record.source, record.target
    texts = [text for text in (source, target, record.label) if text is not None]
    if not all(text and not text.isspace() for text in texts):
        return Reason.EMPTY
    if rules.max_characters is not None and max(map(len, texts)) > rules.max_characters:
        return Reason.TOO_LONG
    if target is None:
        return None
    if rules.drop_copies and source == target:
        return Reason.COPY
    ratio = (len(target) + _RATIO_SLACK) / (len(source) + _RATIO_SLACK)
    too_short = rules.min_ratio is not None and ratio < rules.min_ratio
    too_long = rules.max_ratio is not None and ratio > rules.max_ratio
    return Reason.BAD_RATIO if too_short or too_long else None


def _identity(record: Record) -> int:
    """What makes two records the same: every text of theirs, whatever the spacing."""
    texts = (record.source, record.target, record.label, record.tag)
    return hash_text("\0".join("\1" if text is None else " ".join(text.split()) for text in texts))
