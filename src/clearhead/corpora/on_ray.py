"""Chunks worked on by Ray Data: one process reads, a pool of workers works, results come back in order.

Ray keeps the pool alive: a worker that dies is started again, and what it had in hand is done again. The reader runs
on the machine that asked, so that only models must be where the workers are.
"""

import gc
import logging
import os
import re
import shutil
import signal
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager, redirect_stdout
from dataclasses import asdict
from functools import partial
from importlib import import_module
from io import TextIOBase
from typing import Any

from clearhead.corpora.chunks import Chunk, Corpus, read_chunks
from clearhead.corpora.failure import Failure
from clearhead.corpora.jobs import Done, Job, Work, done
from clearhead.errors import ClearheadError, ConfigError, ServerError

_STORE_BYTES = 256 * 2**20
_TRIES = 3
_PATIENCE = 20.0
"""Seconds that threads of Ray Data have to end."""
_IDLE = "Prefetcher"
"""The one that never ends: it waits for what to fetch ahead, of which there is nothing, and holds no result."""
_HABITS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_BACKEND_LOG_LEVEL": "fatal",
    "RAY_DATA_DISABLE_PROGRESS_BARS": "1",
}
_ALONE = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}  # on every system, it makes Ray listen to this machine alone


@contextmanager
def cluster(*, address: str | None, workers: int | None, threads: int) -> Generator[int]:
    """Ray, running until the block ends; gives how many workers there is room for.

    Without an address, Ray is started on this machine, listens to it alone, and is gone afterwards. Where this
    process has started Ray already, that is what is used.

    Args:
        address: Where a cluster is, as host:port.
        workers: How many workers; None for as many as there are processors.
        threads: How many processors each of them takes.

    Raises:
        ConfigError: Ray is not installed.
        ServerError: Nothing answers at that address.
    """
    ray = _ray(alone=address is None)
    if ray.is_initialized():
        yield workers or _room(ray, threads)
        return
    if address is None:
        wanted = workers or max(1, (os.cpu_count() or 1) // threads)
        folder = tempfile.mkdtemp(prefix="ray-")
        how = {"num_cpus": wanted * threads, "object_store_memory": _STORE_BYTES, "_temp_dir": folder}
        address, how = "local", {**how, "include_dashboard": False}
    else:
        wanted, folder, how = workers, None, {}
    with redirect_stdout(_Nowhere()):  # Ray tells its driver about lost workers there
        try:
            _start(ray, address, how)
            with _ended_well(), _alone_at_the_end():
                yield wanted or _room(ray, threads)
        finally:
            _stop(ray)
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)


def map_on_ray(job: Job, corpus: Corpus, *, workers: int, threads: int, skip: int = 0) -> Generator[Done]:
    """The results of every chunk, in order, each once; inside `cluster`, and closed before that ends.

    Args:
        job: What to do with each.
        corpus: The file, which only this machine must have.
        workers: How many processes work at once.
        threads: How many processors each of them takes.
        skip: How many chunks are done already.

    Raises:
        ServerError: Ray gives up.
    """
    data: Any = import_module("ray.data")
    ray = _ray(alone=False)
    context = data.DataContext.get_current()
    context.execution_options.preserve_order = True
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    context.target_max_block_size = 1  # one chunk, one block: nothing waits until a larger one is full
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)
    here = ray.get_runtime_context().get_node_id()
    chunks = data.read_datasource(
        _source(data, partial(_blocks, corpus, skip)),
        override_num_blocks=1,
        num_cpus=0,
        label_selector={"ray.io/node-id": here},
    )
    results = chunks.map_batches(
        _Worker,
        batch_size=1,
        batch_format="pyarrow",
        compute=data.ActorPoolStrategy(size=workers),
        num_cpus=threads,
        fn_constructor_kwargs={"job": job},
    )
    with closing(iter(results.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=0))) as tables:
        while (table := _next(tables)) is not None:
            for row in table.to_pylist():
                yield Done(**_restored(row))


def _next(tables: Iterator[Any]) -> Any:
    try:
        return next(tables, None)
    except Exception as error:  # Ray's own errors have no root in common
        lines = [line for line in str(error).splitlines() if re.match(r"[\w.]+: ", line)]  # the first cause is first
        raise ServerError(
            "Ray could not finish the work",
            got=(lines or [type(error).__name__])[0],
            expected="workers that have the same clearhead and its models",
            advice="--engine local shows whether it is Ray",
        ) from error


class _Worker:
    """A process of the pool: it opens the job once, and works on one chunk after another.

    Args:
        job: What to do.
    """

    def __init__(self, *, job: Job) -> None:
        self._work: Work
        try:
            self._work = job.open()
        except ClearheadError as error:
            # Ray would start the worker again and again; the driver is told, and ends it.
            failure = Failure.of(error)
            self._work = lambda _: (b"", 0, failure)

    def __call__(self, batch: Any) -> Any:
        """The results of the chunks in a table, as a table."""
        rows = [asdict(done(Chunk(**_restored(row)), self._work)) for row in batch.to_pylist()]
        kinds = {"number": "int64", "n_texts": "int64", "payload": "large_binary", "reached": "int64"}
        return _table(rows, {**kinds, "worker": "string", "failure": "string"})


def _blocks(corpus: Corpus, skip: int) -> Iterator[Any]:
    """Each chunk of a corpus as a table of one row."""
    kinds = {"number": "int64", "first": "int64", "texts": "texts", "reached": "int64", "failure": "string"}
    for chunk in read_chunks(corpus, skip=skip):
        yield _table([asdict(chunk)], kinds)


def _restored(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "failure": row["failure"] and Failure.read(row["failure"])}


def _table(rows: list[dict[str, Any]], kinds: dict[str, str]) -> Any:
    pa: Any = import_module("pyarrow")
    made = {"texts": pa.large_list(pa.large_string()), "large_binary": pa.large_binary()}
    schema = pa.schema([(name, made.get(kind) or pa.type_for_alias(kind)) for name, kind in kinds.items()])
    plain = [{**row, "failure": row["failure"] and Failure(**row["failure"]).written} for row in rows]
    return pa.Table.from_pylist(plain, schema=schema)


def _source(data: Any, read: Callable[[], Iterator[Any]]) -> Any:
    """What Ray Data reads from: one task, whose blocks it takes as they come."""
    block: Any = import_module("ray.data.block")
    about = block.BlockMetadata(num_rows=None, size_bytes=None, input_files=None, exec_stats=None)

    class Source(data.Datasource):
        """A corpus, by one reader."""

        def estimate_inmemory_data_size(self) -> None:
            """Unknown: it is never in memory."""

        def get_read_tasks(self, parallelism: int, **_: Any) -> list[Any]:
            """The reader."""
            del parallelism
            return [data.ReadTask(read, about)]

    return Source()


def _ray(*, alone: bool) -> Any:
    """Ray, with its habits of reporting and listening put off where nobody has chosen otherwise."""
    for name, value in {**_HABITS, **(_ALONE if alone else {})}.items():
        os.environ.setdefault(name, value)
    try:
        return import_module("ray")
    except ImportError:
        raise ConfigError(
            "the engine ray needs Ray", got="it is not installed", advice="pip install 'clearhead[ray]'"
        ) from None


def _start(ray: Any, address: str, how: dict[str, Any]) -> None:
    n_tries = _TRIES if address == "local" else 1
    while True:
        n_tries -= 1
        try:
            with _hushed():
                ray.init(address=address, logging_level=logging.ERROR, log_to_driver=False, **how)
        except Exception as error:  # noqa: BLE001  (Ray's own have no root in common)
            if n_tries:  # a machine that is busy starts Ray too slowly for Ray
                _stop(ray)
                continue
            raise ServerError(
                "no Ray that can be used",
                got=f"{address}: {[*str(error).strip().splitlines(), type(error).__name__][0]}",
                expected="the address of a cluster's head, as host:port, on a machine of the cluster",
                advice="RAY_AUTH_MODE=token in the environment, if it asks for one; no --address, for workers here",
            ) from None
        return


def _stop(ray: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # Ray forgets the processes that it has ended
        ray.shutdown()
        gc.collect()


@contextmanager
def _ended_well() -> Generator[None]:
    """Lets SIGTERM unwind the block: Ray's core takes it for a crash, and would leave its folder behind."""

    def leave(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _alone_at_the_end() -> Generator[None]:
    """Waits for the threads that Ray Data started in the block.

    Once Ray is gone, one that still lets go of a result ends the whole process, at once and without a word.
    """
    before = set(threading.enumerate())
    try:
        yield
    finally:
        gc.collect()
        end = time.monotonic() + _PATIENCE
        for thread in set(threading.enumerate()) - before:
            if thread.name != _IDLE:
                thread.join(max(0.0, end - time.monotonic()))


@contextmanager
def _hushed() -> Generator[None]:
    """Keeps the core of Ray from saying on standard error that it will say nothing there."""
    try:
        spoken = os.dup(2)
    except OSError:  # it is closed
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(spoken, 2)
        os.close(spoken)
        os.close(nowhere)


def _room(ray: Any, threads: int) -> int:
    return max(1, int(ray.cluster_resources().get("CPU", 1)) // threads)


class _Nowhere(TextIOBase):
    """Where nobody reads."""

    def write(self, s: str, /) -> int:
        return len(s)
