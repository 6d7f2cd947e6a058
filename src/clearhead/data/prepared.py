"""What preparing data made: two token stores and an account of them.

Takes: a folder that `prepare` wrote.
Gives: Prepared.
Uses:  errors, text.files, data.{record,report,store}.
Never: a folder whose account is missing; it is written last.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from clearhead.data.record import Task
from clearhead.data.report import CleaningReport
from clearhead.data.store import TokenStore
from clearhead.errors import TextError
from clearhead.text.files import read_bounded, replacing

__all__ = ["Prepared", "open_prepared"]

FILE_NAME = "prepared.json"
TRAIN, VALIDATION = "train", "validation"
_MAX_BYTES = 16 * 2**20


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """Data that is ready to train on.

    Attributes:
        task: What it is for.
        train: The records to learn from.
        validation: The records to measure by.
        report: What cleaning did to the training files.
        validation_report: What it did to the validation files; nothing where there are none.
        labels: The classes in the order of their numbers.
        tags: The target languages.
        weights: How often an epoch draws the records of each origin.
        fingerprints: What every source was, those of the validation last.
    """

    task: Task
    train: TokenStore
    validation: TokenStore
    report: CleaningReport
    validation_report: CleaningReport
    labels: tuple[str, ...]
    tags: tuple[str, ...]
    weights: tuple[float, ...]
    fingerprints: tuple[dict[str, Any], ...]

    def save(self) -> None:
        """Write the account beside the stores."""
        content = {
            "task": str(self.task),
            "report": self.report.to_dict(),
            "validation_report": self.validation_report.to_dict(),
            "labels": list(self.labels),
            "tags": list(self.tags),
            "weights": list(self.weights),
            "fingerprints": list(self.fingerprints),
        }
        with replacing(self.train.folder.parent / FILE_NAME) as stream:
            stream.write(json.dumps(content, ensure_ascii=False, indent=2).encode("utf-8"))


def open_prepared(folder: Path) -> Prepared:
    """Data that was prepared before."""
    path = folder / FILE_NAME
    if not path.is_file():
        raise TextError("a folder without prepared data", got=folder, expected=f"a {FILE_NAME} in it")
    try:
        content = cast(dict[str, Any], json.loads(read_bounded(path, limit=_MAX_BYTES)))
        return Prepared(
            task=Task(content["task"]),
            train=TokenStore(folder=folder / TRAIN),
            validation=TokenStore(folder=folder / VALIDATION),
            report=CleaningReport.from_dict(content["report"]),
            validation_report=CleaningReport.from_dict(content["validation_report"]),
            labels=tuple(map(str, content["labels"])),
            tags=tuple(map(str, content["tags"])),
            weights=tuple(map(float, content["weights"])),
            fingerprints=tuple(dict(each) for each in content["fingerprints"]),
        )
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise TextError(
            "an account of prepared data that cannot be read",
            got=f"{path}: {error!r:.100}",
            advice="delete the folder and prepare the data again",
        ) from None
