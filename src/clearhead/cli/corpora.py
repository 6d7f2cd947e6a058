"""A verb on a whole corpus: chunk by chunk, here or on Ray, into an output that goes on where it was stopped.

Takes: an errand whose options name a file.
Gives: results in order, each once; how fast they come and when they will be done; what is kept when it stops.
Uses:  cli.chunked, cli.errand, cli.harmless, cli.lines, cli.options, cli.usage, corpora, errors, tasks, weights; rich.
Never: begins a finished chunk again.
"""

import json
import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from io import TextIOBase
from pathlib import Path
from typing import Any, Protocol, cast, runtime_checkable

import typer

from clearhead import __version__
from clearhead.cli.chunked import Chunked
from clearhead.cli.errand import Errand
from clearhead.cli.harmless import harmless
from clearhead.cli.lines import INTERRUPTED, heeding
from clearhead.cli.options import EngineName
from clearhead.cli.usage import check_usage
from clearhead.corpora import Done, Growing, cluster, map_here, map_on_ray
from clearhead.errors import ClearheadError

__all__ = ["process_corpus"]


@runtime_checkable
class _Output(Protocol):
    n_chunks: int
    n_texts: int
    n_texts_before: int

    def append(self, payload: bytes, *, number: int, n_texts: int) -> None: ...
    def finish(self) -> None: ...


@dataclass(kw_only=True)
class _Through:
    """What cannot go on later: standard output, or a pipe with a name."""

    write: Callable[[bytes], object]
    n_chunks: int = 0
    n_texts: int = 0
    n_texts_before: int = 0

    def append(self, payload: bytes, *, number: int, n_texts: int) -> None:
        del number
        self.write(payload)
        self.n_chunks, self.n_texts = self.n_chunks + 1, self.n_texts + n_texts

    def finish(self) -> None:
        """Nothing is left to do."""


@dataclass(kw_only=True)
class _Tally:
    """Who took part, and how long it took."""

    n_workers: int = 1
    seen: set[str] = field(default_factory=set[str])
    begun: float = field(default_factory=time.monotonic)

    def said(self, output: _Output) -> str:
        """What has been done, in words."""
        seconds = time.monotonic() - self.begun
        n_texts = output.n_texts - output.n_texts_before
        before = f"{output.n_texts_before} were there, " if output.n_texts_before else ""
        workers = "one worker" if self.n_workers == 1 else f"{self.n_workers} workers"
        n_lost = len(self.seen) - self.n_workers
        lost = f"; lost and replaced: {n_lost}" if n_lost > 0 else ""
        return (
            f"{output.n_texts} texts; {before}{n_texts} in {seconds:.1f} s by {workers}, "
            f"{n_texts / max(seconds, 1e-9):.1f} a second{lost}"
        )


def process_corpus(errand: Errand) -> int:
    """Does an errand on its whole file; gives how many texts there were.

    Raises:
        ClearheadError: A text that cannot be read or worked on; those before it are kept.
    """
    check_usage(errand.given)
    errand, folder = _ready(errand)
    job, tally = Chunked(errand=errand), _Tally()
    with _output(job, folder) as output:
        try:
            with _bar(job) as report, _results(job, output.n_chunks, tally) as results, heeding() as check:
                for one in results:
                    _take(one, output)
                    tally.seen.add(one.worker)
                    report(one.reached, output.n_texts - output.n_texts_before)
                    check()
            output.finish()
        except KeyboardInterrupt:
            typer.echo(f"\nclearhead: stopped; {_kept(output)}", err=True)
            raise typer.Exit(INTERRUPTED) from None
        except ClearheadError:
            if output.n_texts:
                typer.echo(f"clearhead: {_kept(output)}", err=True)
            raise
    place = "" if errand.given.out is None else f"wrote {errand.given.out}: "
    typer.echo(f"{place}{tally.said(output)}", err=True)
    return output.n_texts


def _ready(errand: Errand) -> tuple[Errand, Path]:
    """The errand with a model that is here, downloaded if need be, and named so that workers find it; its folder."""
    from clearhead.tasks.defaults import default_model
    from clearhead.weights import resolve

    name = errand.given.model or default_model(errand.task)
    folder = resolve(name)
    named = str(folder.resolve()) if folder == Path(name).expanduser() else name
    threads = errand.given.threads or (1 if errand.given.engine == EngineName.RAY else None)
    return replace(errand, given=replace(errand.given, model=named, threads=threads)), folder


@contextmanager
def _results(job: Chunked, skip: int, tally: _Tally) -> Generator[Iterator[Done]]:
    given = job.errand.given
    if given.engine != EngineName.RAY:
        yield map_here(job, job.corpus, skip=skip)
        return
    threads = given.threads or 1
    with (
        cluster(address=given.address, workers=given.workers, threads=threads) as n_workers,
        # Closed before Ray is, also where somebody stops it between two results.
        closing(map_on_ray(job, job.corpus, workers=n_workers, threads=threads, skip=skip)) as results,
    ):
        tally.n_workers = n_workers
        yield results


@contextmanager
def _output(job: Chunked, folder: Path) -> Generator[_Output]:
    out = job.errand.given.out
    if out is None:
        yield _Through(write=partial(_show, cast(TextIOBase, sys.stdout)))
    elif out.exists() and not out.is_file():
        with out.open("wb", buffering=0) as stream:
            yield _Through(write=stream.write)
    else:
        with Growing(path=out, layout=job.layout, terms=_terms(job, folder)) as growing:
            yield growing


def _show(stream: TextIOBase, payload: bytes) -> None:
    text = payload.decode("utf-8")
    stream.write(harmless(text) if stream.isatty() else text)
    stream.flush()


def _take(one: Done, output: _Output) -> None:
    """Adds a chunk that is whole; one that is not is done again when the run goes on."""
    if one.failure is None:
        output.append(one.payload, number=one.number, n_texts=one.n_texts)
        return
    if one.payload and isinstance(output, _Through):
        output.append(one.payload, number=one.number, n_texts=one.n_texts)
    raise one.failure.error()


def _terms(job: Chunked, folder: Path) -> dict[str, Any]:
    """What results depend on, as far as it can be told without reading it all."""
    errand, corpus = job.errand, job.corpus
    given, about = errand.given, corpus.path.stat()
    own = {name: value for name, value in vars(errand).items() if name != "given"}
    options = {**own, **given.decoding, "json": given.as_json, "weights": given.weights}
    weights = sorted(folder.glob("*.safetensors"))
    terms = {
        "version": __version__,
        "verb": errand.verb,
        "options": options,
        "model": given.model,
        "files of the model": [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in weights],
        "file": str(corpus.path.resolve()),
        "bytes of the file": about.st_size,
        "time of the file": about.st_mtime_ns,
        "chunk": corpus.size,
        "column": corpus.column if corpus.is_table else None,
    }
    return json.loads(json.dumps(terms))


def _kept(output: _Output) -> str:
    """What is kept, in words."""
    n_texts = output.n_texts
    if n_texts == 0:
        return "no text was finished"
    finished = "the one finished text is" if n_texts == 1 else f"the {n_texts} finished texts are"
    if isinstance(output, Growing):
        return f"{finished} kept in {output.partial}; the same command goes on from there"
    return f"{finished} written"


@contextmanager
def _bar(job: Chunked) -> Generator[Callable[[int, int], None]]:
    """How far it is, how fast, and how long it will take; nothing where nobody looks, or where results scroll by."""
    if not sys.stderr.isatty() or (job.errand.given.out is None and sys.stdout.isatty()):
        yield _tell_nobody
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    pace, total = _Pace(), job.corpus.extent
    words = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[pace]}"), TimeElapsedColumn())
    with Progress(*words, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(job.errand.label, total=total, pace="")

        def report(reached: int, n_texts: int) -> None:
            bar.update(task, completed=reached, pace=pace.said(reached, n_texts, total=total))

        yield report


@dataclass(kw_only=True)
class _Pace:
    """How fast results come since the first: what was there before, and the workers' start, count for nothing."""

    first: tuple[float, int, int] | None = None

    def said(self, reached: int, n_texts: int, *, total: int) -> str:
        """Texts a second and the time left, in words; nothing after the first results."""
        now = time.monotonic()
        if self.first is None:
            self.first = (now, reached, n_texts)
        begun, reached_then, n_texts_then = self.first
        if reached == reached_then:
            return ""
        left = (total - reached) * (now - begun) / (reached - reached_then)
        rate = (n_texts - n_texts_then) / max(now - begun, 1e-9)
        return f"{rate:.1f} texts/s, {timedelta(seconds=round(left))} left"


def _tell_nobody(reached: int, n_texts: int) -> None:
    del reached, n_texts
