"""Lines in, lines out: what every verb that processes text does the same.

Takes: texts, a file or standard input, and what to do with a few of them at once.
Gives: one result a line, in order; progress on a terminal; what was finished, whatever happens.
Uses:  cli.corpus, cli.loading, cli.options, cli.output, cli.usage, corpora, errors; tasks, to load a model; engine, for
       its kernels.
Never: a finished line that gets lost.
"""

import signal
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any

import typer

from clearhead.cli.corpus import STDIN, from_keyboard, progress, read_corpus, segments
from clearhead.cli.loading import uncollected
from clearhead.cli.options import Given
from clearhead.cli.output import Outcome, Output, lines_out
from clearhead.cli.usage import check_usage
from clearhead.errors import ClearheadError

__all__ = ["INTERRUPTED", "Outcome", "heeding", "loaded_for", "opened", "process_lines", "settle", "worked"]

INTERRUPTED = 130
_MOST_AT_ONCE = 256
_LONG_SECONDS = 2.0


def process_lines(
    given: Given,
    work: Callable[[Sequence[str]], Iterable[Outcome]],
    *,
    label: str,
    output: AbstractContextManager[Output] | None = None,
) -> int:
    """Does the work on all texts, a growing number at once, so that the first result comes soon.

    Gives how many there were.

    Args:
        given: Which texts, and where results go.
        work: What to do with some of them: one outcome for each, in order.
        label: What that is, for the progress bar.
        output: Where results go if not as lines to where `given` says.

    Raises:
        ClearheadError: A text that cannot be processed; those before it are, and the message says which it was.
    """
    written: Output | None = None
    try:
        with (
            output or lines_out(given.out, as_json=given.as_json) as written,
            _reading(given, label) as texts,
            heeding() as check,
        ):
            alone = not given.texts and given.file is None and from_keyboard()
            for chunk in _chunks(texts, alone=alone) if given.chunk is None else _fixed(texts, given.chunk):
                for text, outcome in worked(chunk, work, partial(_where, given), before=written.n_written):
                    written.write(text, outcome)
                written.flush()
                check()
    except KeyboardInterrupt:
        typer.echo(f"\nclearhead: stopped; {_finished(given, written)}", err=True)
        raise typer.Exit(INTERRUPTED) from None
    except ClearheadError:
        if written is not None and written.n_written and given.out is not None:
            typer.echo(f"clearhead: {_finished(given, written)}", err=True)
        raise
    return written.n_written


def opened(given: Given, verb: str, *, default: str | None = None, **options: Any) -> Any:
    """The model that a verb works with, on as many threads as were asked for; wrong usage is said before it loads.

    Args:
        given: Which model, and how.
        verb: What it must be able to do.
        default: The task whose embedded model is taken where none is named, if not the verb's.
        **options: Options of loading.

    Raises:
        typer.BadParameter: Options that exclude each other, or one out of range.
        ClearheadError: A file that is not there, or no such model.
    """
    check_usage(given)
    return loaded_for(given, verb, default=default, **options)


def loaded_for(given: Given, verb: str, *, default: str | None = None, **options: Any) -> Any:
    """The same where usage has been checked already, on whatever machine that was."""
    with uncollected():
        import torch

        from clearhead.tasks.defaults import default_model
        from clearhead.tasks.loaded import Loaded

        if given.threads is not None:
            torch.set_num_threads(given.threads)
        loaded = Loaded.open(given.model or default_model(default or verb), weights=given.weights, **options)
    loaded.require(verb)
    return loaded


def settle() -> None:
    """Loads kernels now, where they would come once they are worth it: a product's last digits tell who made it."""
    from clearhead.engine.kernels.ready import load

    load()


@contextmanager
def heeding() -> Generator[Callable[[], None]]:
    """What raises an interrupt once more: one that is raised where Python ignores exceptions would be lost."""
    heard: list[int] = []

    def note(number: int, _: object) -> None:
        heard.append(number)
        raise KeyboardInterrupt

    def check() -> None:
        if heard:
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield check
        return
    before = signal.signal(signal.SIGINT, note)
    try:
        yield check
    finally:
        signal.signal(signal.SIGINT, before)


def _finished(given: Given, written: Output | None) -> str:
    """What is kept, in words."""
    n_lines = 0 if written is None else written.n_written
    if n_lines == 0:
        return "no line was finished"
    lines = "the one finished line is" if n_lines == 1 else f"the {n_lines} finished lines are"
    return f"{lines} {'kept' if given.out is None else f'kept in {given.out}'}"


@contextmanager
def _reading(given: Given, label: str) -> Generator[Iterator[str]]:
    if given.file is None:
        if not given.texts and from_keyboard():
            typer.echo("clearhead: one text a line; Ctrl-D ends", err=True)
        yield segments(given.texts)
        return
    # Results that scroll by are progress enough, and a bar would stand in their midst.
    seen = given.out is None and sys.stdout.isatty()
    with progress(label, [] if seen else [given.file], reads_ahead=False) as report:
        yield read_corpus([given.file], report=report, every=1)


def _fixed(texts: Iterator[str], size: int) -> Iterator[list[str]]:
    """Texts as every engine cuts and reckons them."""
    from clearhead.corpora import fixed_chunks

    settle()
    return fixed_chunks(texts, size)


def _chunks(texts: Iterator[str], *, alone: bool) -> Iterator[list[str]]:
    """Texts in numbers that grow as long as they take little time; one at a time where somebody types them.

    Raises:
        ClearheadError: A text that cannot be read, after those before it.
    """
    size, chunk = 1, list[str]()
    failure: ClearheadError | None = None
    begun = time.monotonic()
    while True:
        try:
            chunk.append(next(texts))
        except StopIteration:
            break
        except ClearheadError as error:
            failure = error
            break
        if len(chunk) < size:
            continue
        read = time.monotonic()
        yield chunk
        done = time.monotonic()
        if alone or read - begun > _LONG_SECONDS:
            size = 1
        else:
            size = min(2 * size, _MOST_AT_ONCE) if done - read < _LONG_SECONDS else max(1, size // 2)
        begun, chunk = done, []
    if chunk:
        yield chunk
    if failure is not None:
        raise failure


def worked(
    chunk: list[str],
    work: Callable[[Sequence[str]], Iterable[Outcome]],
    where: Callable[[int], str],
    *,
    before: int,
) -> Iterator[tuple[str, Outcome]]:
    """The outcomes of a chunk; where it fails, of all texts before the one that fails.

    Args:
        chunk: The texts.
        work: What to do with them.
        where: How an error names a text by its number, from one.
        before: How many texts are before the chunk.

    Raises:
        ClearheadError: A text that fails; the message says which.
    """
    try:
        outcomes = list(zip(chunk, work(chunk), strict=True))
    except ClearheadError as error:
        if len(chunk) == 1:
            error.problem = where(before + 1) + error.problem
            raise
        for place, text in enumerate(chunk):
            yield from worked([text], work, where, before=before + place)
        return
    yield from outcomes


def _where(given: Given, number: int) -> str:
    """Which text it is, as a message begins; nothing where there is only one."""
    if given.texts:
        return f"text {number}: " if len(given.texts) > 1 else ""
    return f"{STDIN if given.file is None or str(given.file) == '-' else given.file}, line {number}: "
