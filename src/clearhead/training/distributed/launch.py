"""Starting the processes of this machine, by torchrun's own launcher, which also starts them again.

A process that dies takes the others with it; then all are started anew, and go on from the last checkpoint. One that
ends on purpose (the run is over, was interrupted, or cannot be trained at all) would be started again too if it said
so by its exit code; so it leaves that with the launcher, as its verdict, and ends well.
"""

import logging
import os
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast
from uuid import uuid4

from clearhead.errors import TrainingError

RESTARTS = 3
"""How often the processes are started again."""
_VERDICT = "CLEARHEAD_VERDICT"
_RESTARTED = "TORCHELASTIC_RESTART_COUNT"
_THREADS = "OMP_NUM_THREADS"
_LEAVE = 300
"""Seconds for the processes to end their step and save it, when they are asked to stop."""


def launch(arguments: Sequence[str], *, n_processes: int) -> int:
    """Runs `clearhead` with these arguments in several processes of this machine; gives the exit code.

    Raises:
        TrainingError: The processes died more often than they are started again.
    """
    from torch.distributed.elastic.multiprocessing.api import SignalException  # noqa: PLC0415  (only when asked for)
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError  # noqa: PLC0415
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch  # noqa: PLC0415

    os.environ.setdefault(_THREADS, str(max(1, (os.cpu_count() or 1) // n_processes)))
    config = LaunchConfig(
        min_nodes=1,
        max_nodes=1,
        nproc_per_node=n_processes,
        run_id=uuid4().hex,
        rdzv_backend="c10d",
        rdzv_endpoint="localhost:0",
        max_restarts=RESTARTS,
        shutdown_timeout=_LEAVE,
    )
    with TemporaryDirectory() as folder, _quiet():
        verdict = Path(folder) / "verdict"
        os.environ[_VERDICT] = str(verdict)
        code = 0
        try:
            elastic_launch(config, sys.executable)("-m", "clearhead", *arguments)
        except SignalException as stopped:
            code = 128 + int(cast(Any, stopped).sigval)
        except ChildFailedError as error:
            _, failure = error.get_first_failure()
            raise TrainingError(
                f"the processes died {RESTARTS + 1} times",
                got=f"process {failure.local_rank}, exit code {failure.exitcode}",
                advice="the same command, which goes on from the last checkpoint; smaller batches, if memory ran out",
            ) from None
        finally:
            del os.environ[_VERDICT]
        return int(verdict.read_text(encoding="utf-8")) if verdict.is_file() else code


def exit_code(code: int, *, is_first: bool) -> int:
    """What a process that ends on purpose must exit with; the launcher, where there is one, hears the code itself."""
    verdict = os.environ.get(_VERDICT)
    if verdict is None:
        return code
    if is_first:
        Path(verdict).write_text(str(code), encoding="utf-8")
    return 0


def n_restarts() -> int:
    """How often the processes were started again before this one."""
    return int(os.environ.get(_RESTARTED, "0"))


@contextmanager
def _quiet() -> Generator[None]:
    """Without the launcher's own log: what it does, we say."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)
