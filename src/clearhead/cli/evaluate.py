"""`clearhead evaluate`: how good a model is, in numbers that can be compared.

Takes: a model; files of pairs, texts, labels or scores.
Gives: measures with their signatures, the same by length, and the worst examples; a table, or JSON.
Uses:  cli.sources; tasks, data, training.assessment.
Never: a score without how it was computed.
"""

import json
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from clearhead.cli.options import Weights
from clearhead.cli.sources import sources

__all__ = ["app"]

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_EPILOG = (
    "FILE is what `clearhead train` reads: test.tsv, test.en+test.de (aligned lines), pairs.tsv@to=fr, "
    "sts.tsv@columns=5:6:4, book.txt@document (one long text, not a text a line). Translations are measured by BLEU, "
    "chrF and perplexity; decoders by perplexity; masked language models by pseudo-perplexity; classifiers by accuracy "
    "and F1; sentence encoders by Spearman."
)
_TASKS = "translate, language-model, masked-language-model, classify or similarity; by default what the model is for."


@app.command(help="Measure how good a model is on a file that it has not seen.", epilog=_EPILOG)
def evaluate(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A folder, an embedded model's name or a hub id.")],
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="Text, .tsv, .csv, .jsonl; .gz works.")],
    task: Annotated[str | None, typer.Option("--task", help=_TASKS)] = None,
    to: Annotated[str | None, typer.Option("--to", metavar="LANG", help="The language to write: fr, German.")] = None,
    source: Annotated[str | None, typer.Option("--from", metavar="LANG", help="The language of the sources.")] = None,
    columns: Annotated[
        str | None, typer.Option("--columns", metavar="A,B", help="Columns of a table, by name or number from 0.")
    ] = None,
    beams: Annotated[int, typer.Option("--beams", metavar="N", min=1, max=64, help="Beams of translations.")] = 5,
    whole: Annotated[bool, typer.Option("--whole", help="Read segments of several sentences at once.")] = False,
    batch: Annotated[int, typer.Option("--batch", metavar="N", min=1, help="Examples at a time.")] = 64,
    worst: Annotated[int, typer.Option("--worst", metavar="N", min=0, help="Worst examples to show.")] = 5,
    limit: Annotated[int | None, typer.Option("--limit", metavar="N", min=1, help="Read only so many.")] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", min=0, help="What chooses the masked tokens.")] = 0,
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write the results here.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
    weights: Annotated[Weights, typer.Option("--weights", help="How weights are held.")] = Weights.FLOAT32,
    threads: Annotated[int | None, typer.Option("--threads", metavar="N", min=1, help="All by default.")] = None,
) -> None:
    """Measure, and say what was found."""
    import torch

    from clearhead.tasks.loaded import Loaded
    from clearhead.training.assessment import AssessmentSettings, assess, printed, task_of

    asked = _task(task)
    settings = AssessmentSettings(to=to, source=source, beams=beams, whole=whole, batch=batch, worst=worst, seed=seed)
    if threads is not None:
        torch.set_num_threads(threads)
    loaded = Loaded.open(model, weights=weights.value)
    given = _with_columns(sources(files, task_of(loaded, asked)), columns)
    with _progress() as report:
        assessment = assess(loaded, given, settings=settings, limit=limit, report=report)
    found = assessment.to_dict()
    # Printed first: a file that cannot be written must not cost hours of work.
    typer.echo(json.dumps(found, ensure_ascii=False, allow_nan=False) if as_json else printed(assessment))
    if out is not None:
        _write(out, found)
        typer.echo(f"wrote {out}", err=True)


def _task(name: str | None) -> Any:
    from clearhead.data import Task

    if name is not None and name not in list(Task):
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(Task)}", param_hint="--task")
    return None if name is None else Task(name)


def _with_columns(given: list[Any], columns: str | None) -> list[Any]:
    from dataclasses import replace

    if columns is None:
        return given
    return [replace(each, columns=tuple(name.strip() for name in columns.split(","))) for each in given]


def _write(path: Path, found: dict[str, Any]) -> None:
    from clearhead.text.files import replacing

    with replacing(path) as stream:
        stream.write(json.dumps(found, ensure_ascii=False, allow_nan=False, indent=2).encode("utf-8") + b"\n")


@contextmanager
def _progress() -> Generator[Callable[[str, int, int], None]]:
    """A bar on standard error with the time left; nothing where that is no terminal."""
    if not sys.stderr.isatty():
        yield lambda _label, _done, _all: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, Any] = {}

        def report(label: str, done: int, total: int) -> None:
            if label not in tasks:
                tasks[label] = bar.add_task(label, total=total)
            bar.update(tasks[label], completed=done, total=total)

        yield report
