"""Files of examples as arguments name them, for every verb that reads some.

Takes: arguments such as pairs.tsv, train.en+train.de or sts.tsv@columns=5:6:4, and the task.
Gives: sources.
Uses:  data, errors.
Never: opens a file.

    FILE              a name that exists is taken as it is, whatever signs it holds
    FILE+FILE         two files whose lines belong together
    FILE@to=fr        the target language; @weight=2, @columns=5:6:4 and @document likewise, several with commas between
"""

import re
from pathlib import Path
from typing import Any

from clearhead.errors import ConfigError

__all__ = ["sources"]

_SETTINGS = re.compile(r"[a-z]+(?:=.*)?", re.DOTALL)
_ANSWERS = {"": True, "yes": True, "no": False}


def sources(files: list[str], task: Any) -> list[Any]:
    """The sources that the arguments name; two plain files of a translation are the two sides of one."""
    from clearhead.data import Source, Task
    from clearhead.data.tables import FileKind, kind_of

    plain = [Path(each) for each in files if _exists(each) or ("@" not in each and "+" not in each)]
    tables = (FileKind.TSV, FileKind.CSV, FileKind.JSONL)
    if task is Task.TRANSLATE and len(files) == len(plain) == 2 and all(kind_of(each) not in tables for each in plain):
        return [Source(paths=tuple(plain), task=task)]
    return [_source(each, task) for each in files]


def _source(text: str, task: Any) -> Any:
    from clearhead.data import Source

    names, settings = _divided(text)
    options: dict[str, Any] = {}
    for setting in settings.split(",") if settings else []:
        key, _, value = setting.partition("=")
        match key:
            case "to":
                options["tag"] = value
            case "weight":
                options["weight"] = _number(value, text)
            case "columns":
                options["columns"] = tuple(value.split(";" if ";" in value else ":"))
            case "document" if value in _ANSWERS:
                options["document"] = _ANSWERS[value]
            case "document":
                raise ConfigError("a document that is neither yes nor no", got=text, expected="FILE@document=yes")
            case _:
                raise ConfigError(
                    "a file with an unknown setting", got=text, expected="@to=, @weight=, @columns= or @document="
                )
    paths = [names] if _exists(names) else names.split("+")
    return Source(paths=tuple(map(Path, paths)), task=task, **options)


def _divided(text: str) -> tuple[str, str]:
    """The names and the settings behind the last @; a name may hold that sign, too."""
    names, _, settings = text.rpartition("@")
    if _exists(text) or not names or not _SETTINGS.fullmatch(settings):
        return text, ""
    return names, settings


def _exists(name: str) -> bool:
    try:
        return Path(name).exists()
    except OSError:  # longer than any name can be
        return False


def _number(value: str, text: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise ConfigError("a weight that is no number", got=text, expected="FILE@weight=2") from None
