"""The folder of a run.

    config.yaml       all settings, for people
    run.json          the same and what the data was, for the next process of the run
    metrics.jsonl     the log
    checkpoints/      a few of the last, and the best

A folder that holds a run is gone on with, if nothing changed that the run depends on.
"""

import json
import os
import shutil
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from io import TextIOWrapper
from pathlib import Path
from typing import Any, cast

import torch

import clearhead
from clearhead.config.checks import short
from clearhead.errors import TextError, TrainingError, WeightsError
from clearhead.text.files import replacing
from clearhead.training.clock import Clock
from clearhead.training.safe_folder import sweep
from clearhead.training.settings_file import write_yaml
from clearhead.training.world import World
from clearhead.weights.strict_json import read_object

try:
    import fcntl
except ImportError:  # Windows, where nothing keeps two processes out of one folder
    fcntl = None

CONFIG = "config.yaml"
RUN = "run.json"
METRICS = "metrics.jsonl"
CHECKPOINTS = "checkpoints"
DATA = "data"
LOCK = ".lock"
_MODEL = ("config.json", "model.safetensors", "model.safetensors.index.json", "tokenizer.json")
_MAX_RUN_BYTES = 16 * 2**20
_MOST_SHOWN = 10
_MOST_COUNTED = 65_536


@dataclass(frozen=True, kw_only=True)
class RunFolder:
    """A run's place on the disk.

    Attributes:
        path: The folder.
        n_threads: Threads of each process of the run; sums are added up in another order with another number.
        clock: Counts its seconds, preparation included.
    """

    path: Path
    n_threads: int
    clock: Clock = field(default_factory=Clock)

    @property
    def metrics(self) -> Path:
        """The log."""
        return self.path / METRICS

    @property
    def checkpoints(self) -> Path:
        """The folder of checkpoints."""
        return self.path / CHECKPOINTS


@contextmanager
def open_run(
    path: Path,
    *,
    config: Mapping[str, Any],
    data: Mapping[str, Any],
    say: Callable[[str], None] = lambda _: None,
    clock: Clock | None = None,
    world: World | None = None,
) -> Generator[RunFolder]:
    """A run's folder, new or gone on with, that no other run can open meanwhile.

    Args:
        path: The folder.
        config: All settings that the run depends on, as plain data.
        data: What tells its data from other data: names, sizes, digests.
        say: Told what a user should know.
        clock: What counts the seconds; by default one that starts now.
        world: Which process this is; the first opens the folder for all.

    Raises:
        TrainingError: The folder holds something else, a run with other settings or data, or a run that is
            being trained by another process; or it cannot be written.
    """
    world = world or World()
    wanted: dict[str, Any] = json.loads(json.dumps({"config": config, "data": data}))
    with ExitStack() as stack:
        n_threads = world.on_first(lambda: _open(stack, path, wanted, n_processes=world.n_ranks, say=say))
        run = RunFolder(path=path, n_threads=n_threads)
        yield run if clock is None else replace(run, clock=clock)


def _open(
    stack: ExitStack, path: Path, wanted: Mapping[str, Any], *, n_processes: int, say: Callable[[str], None]
) -> int:
    """Takes a folder until the stack ends, and makes it a run's; gives the threads of each process."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        _take(stack.enter_context((path / LOCK).open("a", encoding="utf-8")), path)
        sweep(path)
        if (path / RUN).exists():
            return _resume(path, wanted, n_processes, say)
        return _begin(path, wanted, n_processes)
    except (TextError, WeightsError) as error:
        raise TrainingError("the run's folder cannot be used", got=error.got, advice=error.advice) from None
    except OSError as error:
        raise TrainingError("the run's folder cannot be used", got=f"{path}: {error.strerror or error}") from None


def _take(lock: TextIOWrapper, path: Path) -> None:
    if fcntl is None:
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise TrainingError(
            "another process trains in this folder", got=path, advice="wait for it, stop it, or use another folder"
        ) from None


def _begin(path: Path, wanted: Mapping[str, Any], n_processes: int) -> int:
    foreign = [name for name in (METRICS, CHECKPOINTS) if (path / name).exists()]
    if foreign:
        raise TrainingError(
            "a folder with parts of a run and nothing that says which",
            got=f"{path} has {' and '.join(foreign)} but no {RUN}",
            advice="another folder",
        )
    model = [name for name in _MODEL if (path / name).exists()]
    if model:
        raise TrainingError(
            "a folder that holds a model already, which a run would replace",
            got=f"{path} has {' and '.join(model)}",
            advice="another folder",
        )
    n_threads = torch.get_num_threads()
    content = {
        "format": 1,
        "clearhead": clearhead.__version__,
        "torch": torch.__version__,
        "threads": n_threads,
        "processes": n_processes,
        **wanted,
    }
    write_yaml(path / CONFIG, wanted["config"])
    with replacing(path / RUN) as stream:  # the last: with it, the run has begun
        stream.write(json.dumps(content, indent=2, ensure_ascii=False).encode("utf-8") + b"\n")
    return n_threads


def _resume(path: Path, wanted: Mapping[str, Any], n_processes: int, say: Callable[[str], None]) -> int:
    found = read_object(path / RUN, limit=_MAX_RUN_BYTES)
    changes = differences(found.get("config"), wanted["config"], "") + differences(
        found.get("data"), wanted["data"], "data"
    )
    if changes and not any((path / name).exists() for name in (METRICS, CHECKPOINTS)):
        say("nothing was trained in this folder yet: begun anew with the settings and data of now")
        shutil.rmtree(path / DATA, ignore_errors=True)
        return _begin(path, wanted, n_processes)
    if changes:
        more = f" and {len(changes) - _MOST_SHOWN} more" if len(changes) > _MOST_SHOWN else ""
        raise TrainingError(
            "the run in this folder was begun with other settings or data",
            got="; ".join(changes[:_MOST_SHOWN]) + more,
            expected=f"what {path / CONFIG} says, and the same files",
            advice="the settings of before to go on with it, or another folder for a new run",
        )
    if found.get("torch") != torch.__version__:
        say(f"begun with torch {found.get('torch')}, now {torch.__version__}: results may differ in the last digits")
    n_threads, n_before = _count(path, found, "threads"), _count(path, {"processes": 1, **found}, "processes")
    if n_before != n_processes:
        say(f"begun in {_spelled(n_before)}, now in {_spelled(n_processes)}: results may differ in the last digits")
        return max(1, n_threads * n_before // n_processes)
    if n_threads > (os.cpu_count() or 1):
        say(f"begun with {n_threads} threads, more than this machine has: slower, but the same numbers")
    return n_threads


def _count(path: Path, found: Mapping[str, Any], name: str) -> int:
    value = found.get(name)
    if type(value) is not int or not 1 <= value <= _MOST_COUNTED:
        raise TrainingError("a run file that is damaged", got=f"{name}={short(value)} in {path / RUN}")
    return value


def _spelled(n_processes: int) -> str:
    return "one process" if n_processes == 1 else f"{n_processes} processes"


def differences(before: object, now: object, name: str) -> list[str]:
    """What differs between two pieces of plain data, each as `key: before -> now`."""
    if isinstance(before, list) and isinstance(now, list):
        before = {str(place): item for place, item in enumerate(cast("list[object]", before))}
        now = {str(place): item for place, item in enumerate(cast("list[object]", now))}
    if isinstance(before, dict) and isinstance(now, dict):
        first, second = cast("dict[str, object]", before), cast("dict[str, object]", now)
        keys = [*first, *(key for key in second if key not in first)]
        inner = [differences(first.get(key), second.get(key), f"{name}.{key}".lstrip(".")) for key in keys]
        return [line for lines in inner for line in lines]
    return [] if before == now else [f"{name}: {short(cast(object, before))} -> {short(now)}"]


@contextmanager
def threads(n_threads: int) -> Generator[None]:
    """Lets torch compute with so many threads until the block ends."""
    before = torch.get_num_threads()
    torch.set_num_threads(n_threads)
    try:
        yield
    finally:
        with suppress(RuntimeError):
            torch.set_num_threads(before)
