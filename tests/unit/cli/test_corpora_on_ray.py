"""The command with Ray's workers: the file of one process byte for byte, also where somebody is killed on the way."""

import gzip
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import psutil
import pytest

SECONDS = 240
PHRASES = ["the cat sat on the mat .", "le chat est sur le tapis .", "die Katze sitzt auf der Matte ."]


class Command:
    """A run of the command line in a process of its own, whose Ray keeps its folder where it can be looked at."""

    def __init__(self, *arguments: object, home: Path) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="c", dir=home))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "clearhead", *map(str, arguments)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**os.environ, "OMP_NUM_THREADS": "1", "TMPDIR": str(self.home)},
            start_new_session=True,
        )
        self.family: set[psutil.Process] = set()

    def __enter__(self) -> "Command":
        return self

    def __exit__(self, *_: object) -> None:
        for one in {*self.family, *self._children()}:
            if one.is_running():
                one.kill()
        self.process.kill()
        self.process.communicate()

    def _children(self) -> list[psutil.Process]:
        try:
            return psutil.Process(self.process.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return []

    def until(self, path: Path, *, seconds: float = SECONDS) -> None:
        """Waits until a file is there, and takes note of all processes."""
        end = time.monotonic() + seconds
        while not path.exists():
            assert self.process.poll() is None, self.process.stderr.read().decode()
            assert time.monotonic() < end, f"{path} never came"
            time.sleep(0.02)
        self.family.update(self._children())

    def kill_a_worker(self) -> None:
        """Kills a process that works on chunks; one that still loads its model has none."""
        titles = {one: "".join(one.cmdline()) for one in self._children()}
        victim = next(one for one, title in titles.items() if "MapWorker" in title and "__init__" not in title)
        victim.kill()
        victim.wait(30)

    def end(self, *, seconds: float = SECONDS) -> tuple[int, str]:
        """Waits until it has ended; gives its code and what it said."""
        _, said = self.process.communicate(timeout=seconds)
        return self.process.returncode, said.decode()

    def left(self) -> list[str]:
        """What still runs a while after the end."""
        _, alive = psutil.wait_procs(self.family, timeout=120)
        return [" ".join(one.cmdline()) for one in alive]


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder with a short name: Ray makes sockets in it, whose names have a limit."""
    with tempfile.TemporaryDirectory(prefix="t", ignore_cleanup_errors=True) as name:
        yield Path(name)


def alone(*arguments: object) -> None:
    """The same command in one process."""
    command = [sys.executable, "-m", "clearhead", *map(str, arguments)]
    subprocess.run(command, env={**os.environ, "OMP_NUM_THREADS": "1"}, check=True, stderr=subprocess.DEVNULL)


def test_a_worker_killed_in_the_middle_changes_no_byte(folders: Path, tmp_path: Path, home: Path) -> None:
    lines, one, two = (tmp_path / name for name in ("lines.txt", "one.txt", "two.txt"))
    lines.write_text("".join(f"{PHRASES[number % 3]} {number}\n" for number in range(160)))
    given = ("translate", "-m", folders / "polyglot", "--to", "fr", "--file", lines, "--chunk", 2, "--threads", 1)
    alone(*given, "--out", one)
    with Command(*given, "--engine", "ray", "--workers", 2, "--out", two, home=home) as command:
        command.until(tmp_path / "two.txt.progress")
        command.kill_a_worker()
        assert not two.exists(), "it was killed in the middle"
        code, said = command.end()
        assert code == 0, said
        assert "160 texts; 160 in " in said
        assert " by 2 workers, " in said
        assert two.read_bytes() == one.read_bytes()
        assert command.left() == []
        assert list(command.home.iterdir()) == []


def test_ctrl_c_leaves_nothing_behind_and_the_run_goes_on(folders: Path, tmp_path: Path, home: Path) -> None:
    lines, one, two = (tmp_path / name for name in ("lines.txt", "one.npy", "two.npy"))
    lines.write_text("".join(f"the cat is on the mat {'a ' * (number % 7)}.\n" for number in range(600)))
    given = ("embed", "-m", folders / "bert", "--file", lines, "--chunk", 2, "--threads", 1)
    alone(*given, "--out", one)
    given = (*given, "--engine", "ray", "--workers", 1, "--out", two)
    with Command(*given, home=home) as command:
        command.until(tmp_path / "two.npy.progress")
        command.process.send_signal(signal.SIGINT)
        code, said = command.end()
        assert code == 130, said
        assert f"kept in {two}.unfinished; the same command goes on from there" in said
        assert command.left() == []
        assert list(command.home.iterdir()) == []
        assert not two.exists()
    with Command(*given, home=home) as command:
        code, said = command.end()
        assert code == 0, said
        assert " were there, " in said
    assert two.read_bytes() == one.read_bytes()


@pytest.mark.long
def test_five_thousand_lines_by_two_workers_are_the_file_of_one_process(
    tmp_path: Path, home: Path, shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Greedy, one thread each, the embedded translator; a worker is killed, then the driver, and the run goes on."""
    lines, one, two = (tmp_path / name for name in ("lines.txt", "one.txt", "two.txt"))
    names = [f"en-{to}.{part}.tsv.gz" for part in ("test", "dev") for to in ("fr", "de", "hi")]
    texts = (
        row.partition("\t")[0]
        for name in names
        for row in gzip.decompress((shared / "data/tatoeba" / name).read_bytes()).decode().splitlines()
    )
    lines.write_text("".join(f"{text}\n" for text in islice(texts, 5000)))
    assert lines.read_bytes().count(b"\n") == 5000
    given = ("translate", "--to", "fr", "--beams", 1, "--file", lines, "--chunk", 32, "--threads", 1)
    alone(*given, "--out", one)
    given = (*given, "--engine", "ray", "--workers", 2, "--out", two)
    with Command(*given, home=home) as command:
        command.until(tmp_path / "two.txt.progress", seconds=1800)
        command.process.send_signal(signal.SIGKILL)
        command.end()
        assert command.left() == []
    seen = (tmp_path / "two.txt.progress").stat().st_mtime_ns
    with Command(*given, home=home) as command:
        while (tmp_path / "two.txt.progress").stat().st_mtime_ns == seen:
            assert command.process.poll() is None, command.process.stderr.read().decode()
            time.sleep(0.02)
        command.kill_a_worker()
        assert not two.exists(), "it was killed in the middle"
        code, said = command.end(seconds=3000)
    assert code == 0, said
    assert " were there, " in said
    assert two.read_bytes() == one.read_bytes()
    assert two.read_bytes().count(b"\n") == 5000
    with capsys.disabled():
        sys.stdout.write(f"\n{said.strip()}\n")
