"""`clearhead train`: from a file of text to a model of your own.

Takes: files of pairs, texts or labels; a folder for the run.
Gives: a folder that opens everywhere, with the run's log and report beside it.
Uses:  training, data.
Never: a run that a crash can lose; the same command goes on with it.
"""

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from clearhead.cli.lines import INTERRUPTED
from clearhead.cli.options import MOST_THREADS
from clearhead.cli.processes import in_processes, prepare_torch, together
from clearhead.cli.sources import sources

__all__ = ["app"]

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_EPILOG = (
    "FILE may say more: train.en+train.de (aligned lines), pairs.tsv@to=fr (the language written, where one model "
    "writes several), pairs.tsv@weight=2, sts.tsv@columns=5:6:4, book.txt@document (one long text, not a text a line). "
    "Any setting of config.yaml can be given as --train.lr 3e-4 or --model.n_layers 6."
)
_TASKS = "translate, language-model, masked-language-model, classify or similarity."
_OVERRIDE = re.compile(r"--((?:data|tokenizer|model|train|evaluation|teacher)(?:\.[\w.]+)?)(?:=(.*))?", re.DOTALL)


@app.command(
    help="Train a model of your own: pairs, texts or labels in, a folder that opens everywhere out.",
    epilog=_EPILOG,
    context_settings={"ignore_unknown_options": True},
)
def train(
    files: Annotated[
        list[str] | None, typer.Argument(metavar="FILE", help="Text, .tsv, .csv, .jsonl; .gz works.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FOLDER", help="The run's folder, and the model's.")
    ] = None,
    task: Annotated[str | None, typer.Option("--task", metavar="TASK", help=_TASKS)] = None,
    validation: Annotated[
        list[str] | None, typer.Option("--validation", metavar="FILE", help="Measure by these, not a held-out part.")
    ] = None,
    preset: Annotated[
        str | None, typer.Option("--preset", metavar="SIZE", help="The size: tiny, small or base; small by default.")
    ] = None,
    time_budget: Annotated[
        str | None, typer.Option("--time-budget", metavar="TIME", help="How long it may take: 60m, 1h30m.")
    ] = None,
    start: Annotated[str | None, typer.Option("--start", metavar="MODEL", help="Begin with its weights.")] = None,
    config: Annotated[
        Path | None, typer.Option("--config", metavar="YAML", help="Settings, as a run's config.yaml has them.")
    ] = None,
    threads: Annotated[
        int | None, typer.Option("--threads", metavar="N", min=1, max=MOST_THREADS, help="All by default.")
    ] = None,
    processes: Annotated[
        int | None, typer.Option("--processes", metavar="N", min=1, max=MOST_THREADS, help="To share every batch.")
    ] = None,
    shard: Annotated[bool, typer.Option("--shard", help="Divide the model too among the processes.")] = False,
    plan: Annotated[bool, typer.Option("--plan", help="Only say what it would take: time, memory, cost.")] = False,
    cluster: Annotated[
        str, typer.Option("--cluster", metavar="DEVICES", help="What to plan for: 8xA100, h100, 2xcpu.")
    ] = "cpu",
    price: Annotated[
        float | None, typer.Option("--price", metavar="USD", min=0, help="An hour of one device, for the plan.")
    ] = None,
) -> None:
    """Train, or go on with the run in the folder."""
    given = dict(locals())
    prepare_torch(processes, threads)
    files, overrides = _overrides(files or [])
    job = _job(task, preset, config, [*overrides, *_named(time_budget, start)])
    if plan:
        typer.echo(_planned(job, cluster, price))
    elif not files:
        raise typer.BadParameter("no file to learn from", param_hint="FILE")
    elif out is None:
        raise typer.BadParameter("a folder for the run", param_hint="--out")
    elif processes is not None and processes > 1:
        raise typer.Exit(in_processes("train", given, n_processes=processes))
    else:
        raise typer.Exit(together(lambda world: _train(job, files, validation or [], out, world), shard=shard))


def _job(task: str | None, preset: str | None, config: Path | None, overrides: list[str]) -> Any:
    from clearhead.data import Task
    from clearhead.training import make_job, read_yaml

    known = None if task is None else Task(_choice(task, [each.value for each in Task], "--task"))
    return make_job(known, preset=preset, given=read_yaml(config) if config else None, overrides=overrides)


def _train(job: Any, files: list[str], validation: list[str], out: Path, world: Any) -> int:
    from clearhead.training.report import write_report

    finished = _trained(job, files, validation, out, world)
    if world.is_first:
        typer.echo(str(finished.outcome))
        if finished.outcome.interrupted_by is None:
            _tell(finished, job.task, write_report(out))
    return finished.outcome.exit_code


def _named(time_budget: str | None, start: str | None) -> list[str]:
    """The settings that have options of their own, as overrides."""
    found: list[str] = []
    if time_budget is not None:
        found.append(f"train.time_budget={time_budget if not time_budget.isdigit() else time_budget + 's'}")
    if start is not None:
        found.append(f"model.start={start}")
    return found


def _tell(finished: Any, task: Any, report: Path) -> None:
    for name, value in finished.outcome.metrics.items():
        typer.echo(f"  {name:12} {value:.4f}")
    typer.echo(f"wrote {report}")
    if finished.folder is not None:
        typer.echo(f"wrote {finished.folder}: try {_example(task, finished.folder)}")


def _planned(job: Any, cluster: str, price: float | None) -> str:
    from clearhead.training.planner import parse_cluster, plan, printed, workload_of

    work, devices = workload_of(job), parse_cluster(cluster, price=price)
    return printed(work, devices, plan(work, devices))


def _trained(job: Any, files: list[str], validation: list[str], out: Path, world: Any) -> Any:
    from clearhead.training import LiveProgress, Progress
    from clearhead.training.distributed.launch import n_restarts
    from clearhead.training.train import train as run_job

    progress = LiveProgress() if world.is_first else Progress()
    if n_restarts() and not world.is_alone:
        progress.say(f"a process was lost; all start again from the last checkpoint (restart {n_restarts()})")
    try:
        return run_job(
            job,
            sources=sources(files, job.task),
            validation=sources(validation, job.task),
            folder=out,
            progress=progress,
            world=world,
        )
    except KeyboardInterrupt:
        typer.echo("\nclearhead: stopped at once; the same command goes on from what is saved", err=True)
        raise typer.Exit(INTERRUPTED) from None


def _example(task: Any, folder: Path) -> str:
    verbs = {
        "translate": 'translate "Hello."',
        "language-model": 'complete "Once"',
        "masked-language-model": 'fill "It is a [MASK]."',
        "classify": 'classify "A text."',
        "similarity": 'embed "A text."',
    }
    return f"clearhead {verbs[str(task)]} --model {folder}"


def _choice(value: str, known: list[str], option: str) -> str:
    if value not in known:
        raise typer.BadParameter(f"{value!r} is not one of {', '.join(known)}", param_hint=option)
    return value


def _overrides(arguments: list[str]) -> tuple[list[str], list[str]]:
    """The files, and apart from them `--train.lr 3e-4` and `--train.lr=3e-4` as `train.lr=3e-4`."""
    files: list[str] = []
    found: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        match = _OVERRIDE.fullmatch(argument)
        if match is None and argument.startswith("-"):
            raise typer.BadParameter(f"no such option: {argument}")
        if match is None:
            files.append(argument)
            continue
        value = match[2] if match[2] is not None else next(rest, None)
        if value is None:
            raise typer.BadParameter(f"{argument} needs a value")
        found.append(f"{match[1]}={value}")
    return files, found
