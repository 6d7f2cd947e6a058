"""What a run's folder holds, read as far as it can be read.

Takes: the folder, whatever somebody or something did to it.
Gives: plain data, and a line for everything that is missing or damaged.
Uses:  training.{run,train} for the names of files; weights, text to read them; errors.
Never: raises for a damaged file, or reads without a bound.
"""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

from clearhead.errors import ClearheadError, TextError
from clearhead.text.files import numbered_lines, read_bounded, reading
from clearhead.training.run import CONFIG, METRICS, RUN
from clearhead.training.train import EVALUATION, SAMPLES, SUMMARY
from clearhead.weights.strict_json import read_object

__all__ = ["EVALUATION", "Evaluation", "RunContents", "SampleLine", "integer", "mapping", "read_contents", "real"]

_MAX_BYTES = 16 * 2**20
_MAX_SETTINGS_BYTES = 2**16
_MAX_LINE_BYTES = 2**18
_MAX_LINES = 200_000
_MAX_SAMPLES = 20_000
_LARGEST = 1e100

Points = list[tuple[float, float]]
_Kind = TypeVar("_Kind")


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """One evaluation of the log."""

    step: int
    metrics: Mapping[str, float]
    best: bool


@dataclass(frozen=True, kw_only=True)
class SampleLine:
    """One output of one evaluation."""

    step: int
    source: str
    output: str
    expected: str | None


@dataclass(frozen=True, kw_only=True)
class RunContents:
    """What a run's folder holds.

    Attributes:
        name: What the folder is called.
        settings: The text of its settings.
        run: What it was begun with.
        summary: What it came to.
        later: What was measured afterwards.
        training: The numbers of its steps by name: the step and the value.
        evaluations: Its evaluations, in their order.
        samples: What it wrote, in its order.
        faults: What is missing or damaged, by the name of the file.
        absent: The names of the files that are missing.
    """

    name: str
    settings: str
    run: Mapping[str, Any]
    summary: Mapping[str, Any]
    later: Mapping[str, Any]
    training: Mapping[str, Points]
    evaluations: list[Evaluation]
    samples: list[SampleLine]
    faults: Mapping[str, str]
    absent: frozenset[str]


def read_contents(folder: Path) -> RunContents:
    """What the folder holds; what cannot be read is empty and among the faults."""
    names = (CONFIG, RUN, METRICS, SAMPLES, SUMMARY, EVALUATION)
    # A pipe that nobody writes to would never end: only files are read.
    absent = frozenset(name for name in names if not (folder / name).is_file())
    faults = {name: f"There is no {name} in the folder." for name in absent}

    def read(name: str, how: Callable[[Path], _Kind], otherwise: _Kind) -> _Kind:
        path = folder / name
        if name in absent:
            return otherwise
        try:
            return how(path)
        except (ClearheadError, OSError) as error:
            problem = error.problem if isinstance(error, ClearheadError) else str(error.strerror)
            faults[name] = f"{name} is left out: {problem}."
            return otherwise

    log = _read_lines(folder / METRICS, most=_MAX_LINES, faults=faults)
    samples = _read_lines(folder / SAMPLES, most=_MAX_SAMPLES, faults=faults)
    return RunContents(
        name=folder.resolve().name,
        settings=read(CONFIG, _read_text, ""),
        run=read(RUN, _read_object, {}),
        summary=read(SUMMARY, _read_object, {}),
        later=read(EVALUATION, _read_object, {}),
        training=_training(log),
        evaluations=[found for line in log if (found := _evaluation(line)) is not None],
        samples=[found for line in samples if (found := _sample(line)) is not None],
        faults=faults,
        absent=absent,
    )


def real(value: object) -> float | None:
    """A number that can be drawn, or None."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) <= _LARGEST:
        return None
    return float(value) if math.isfinite(value) else None


def integer(value: object) -> int | None:
    """A whole number of a size that a run can have, or None."""
    return value if type(value) is int and abs(value) < 2**63 else None


def mapping(value: object) -> Mapping[str, Any]:
    """A JSON object, or an empty one in place of anything else."""
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _read_text(path: Path) -> str:
    return read_bounded(path, limit=_MAX_SETTINGS_BYTES).decode("utf-8", errors="replace")


def _read_object(path: Path) -> Mapping[str, Any]:
    return read_object(path, limit=_MAX_BYTES)


def _read_lines(path: Path, *, most: int, faults: dict[str, str]) -> list[dict[str, Any]]:
    """The JSON objects of a log; the faults say what of it is left out."""
    if path.name in faults:
        return []
    found: list[dict[str, Any]] = []
    n_bad = 0
    try:
        with reading(path) as stream:
            for number, line in numbered_lines(stream, name=path, limit=_MAX_LINE_BYTES):
                if number > most:
                    faults[path.name] = f"Of {path.name}, only the first {most:,} lines are shown."
                    break
                content = _parse(line)
                if content is None:
                    n_bad += 1
                else:
                    found.append(content)
    except TextError as error:
        faults[path.name] = f"{path.name} is left out from line {len(found) + n_bad + 1} on: {error.problem}."
    if n_bad and path.name not in faults:
        faults[path.name] = f"{path.name} has damaged lines, which are left out: {n_bad:,}."
    return found


def _parse(line: bytes) -> dict[str, Any] | None:
    try:
        content: object = json.loads(line)
    except (ValueError, RecursionError):
        return None
    fields = cast("dict[str, Any]", content) if isinstance(content, dict) else {}
    return fields if integer(fields.get("step")) is not None else None


def _training(log: list[dict[str, Any]]) -> dict[str, Points]:
    points: dict[str, Points] = {}
    for line in log:
        if "evaluation" not in line:
            for name in ("loss", "accuracy", "lr", "gradient_norm", "tokens_per_second"):
                value = real(line.get(name))
                if value is not None:
                    points.setdefault(name, []).append((float(line["step"]), value))
    return points


def _evaluation(line: dict[str, Any]) -> Evaluation | None:
    numbers = {name: real(value) for name, value in mapping(line.get("evaluation")).items()}
    metrics = {name: value for name, value in numbers.items() if value is not None}
    return Evaluation(step=line["step"], metrics=metrics, best=line.get("best") is True) if metrics else None


def _sample(line: dict[str, Any]) -> SampleLine | None:
    source, output, expected = line.get("source"), line.get("output"), line.get("expected")
    if not isinstance(source, str) or not isinstance(output, str):
        return None
    wanted = expected if isinstance(expected, str) else None
    return SampleLine(step=line["step"], source=source, output=output, expected=wanted)
