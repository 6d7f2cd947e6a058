"""Files of examples as arguments name them, for every verb that reads some.

Takes: arguments such as pairs.tsv, train.en+train.de or sts.tsv@columns=5;6;4, and the task.
Gives: sources.
Uses:  data, errors.
Never: opens a file.
"""

from pathlib import Path
from typing import Any

from clearhead.errors import ConfigError

__all__ = ["sources"]


def sources(files: list[str], task: Any) -> list[Any]:
    """The sources that the arguments name; two plain files of a translation are the two sides of one."""
    from clearhead.data import Source, Task
    from clearhead.data.tables import FileKind, kind_of

    plain = [Path(each) for each in files if "@" not in each and "+" not in each]
    tables = (FileKind.TSV, FileKind.CSV, FileKind.JSONL)
    if task is Task.TRANSLATE and len(files) == len(plain) == 2 and all(kind_of(each) not in tables for each in plain):
        return [Source(paths=tuple(plain), task=task)]
    return [_source(each, task) for each in files]


def _source(text: str, task: Any) -> Any:
    from clearhead.data import Source

    names, _, settings = text.partition("@")
    options: dict[str, Any] = {}
    for setting in settings.split(",") if settings else []:
        key, _, value = setting.partition("=")
        match key:
            case "to":
                options["tag"] = value
            case "weight":
                options["weight"] = _number(value, text)
            case "columns":
                options["columns"] = tuple(value.split(";"))
            case "document":
                options["document"] = value != "no"
            case _:
                raise ConfigError(
                    "a file with an unknown setting", got=text, expected="@to=, @weight=, @columns= or @document="
                )
    return Source(paths=tuple(Path(name) for name in names.split("+")), task=task, **options)


def _number(value: str, text: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise ConfigError("a weight that is no number", got=text, expected="FILE@weight=2") from None
