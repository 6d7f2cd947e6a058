"""A real server in a process of its own, on a free port of this computer."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

SECONDS = 120


class LiveServer:
    """A server that runs, and what it has said so far."""

    def __init__(self, process: subprocess.Popen[str], url: str, log: Path) -> None:
        self.process = process
        self.url = url
        self._log = log

    @property
    def port(self) -> int:
        return int(self.url.rsplit(":", 1)[1])

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The lines of its log."""
        return [json.loads(line) for line in self._log.read_text(encoding="utf-8").splitlines()]

    @property
    def n_bytes(self) -> int:
        """The memory that it holds."""
        text = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        return int(re.search(r"VmRSS:\s+(\d+) kB", text)[1]) * 1024

    @property
    def n_files(self) -> int:
        """The files and connections that it has open."""
        return len(list(Path(f"/proc/{self.process.pid}/fd").iterdir()))

    def metric(self, name: str, **labels: str) -> float:
        """The sum of a metric over all its lines that have these labels."""
        found = 0.0
        for line in httpx.get(f"{self.url}/metrics", timeout=SECONDS).text.splitlines():
            fits = all(f'{label}="{value}"' in line for label, value in labels.items())
            if re.match(rf"{name}(\{{|\s)", line) and fits:
                found += float(line.rsplit(" ", 1)[1])
        return found

    def post(self, path: str, body: Any, **options: Any) -> httpx.Response:
        return httpx.post(self.url + path, json=body, timeout=SECONDS, **options)

    def get(self, path: str, **options: Any) -> httpx.Response:
        return httpx.get(self.url + path, timeout=SECONDS, **options)

    def stop(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """Tells it to stop; gives its exit code and what it said in the end."""
        self.process.send_signal(number)
        out, _ = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, out


@contextmanager
def live_server(*arguments: object, environment: dict[str, str] | None = None) -> Iterator[LiveServer]:
    """Runs `clearhead serve` with these arguments until the block ends."""
    command = ["-m", "clearhead", "serve", *map(str, arguments), "--port", "0", "--threads", "1"]
    with live_python(*command, environment=environment) as server:
        yield server


@contextmanager
def live_python(*command: str, environment: dict[str, str] | None = None) -> Iterator[LiveServer]:
    """Runs a program that says on its first line where it serves, until the block ends."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.jsonl"
        with log.open("w", encoding="utf-8") as stream:
            process = subprocess.Popen(
                [sys.executable, *command],
                stdout=subprocess.PIPE,
                stderr=stream,
                text=True,
                env={**os.environ, **(environment or {})},
            )
        try:
            first = process.stdout.readline()
            found = re.match(r"(http://\S+?)/ ", first)
            assert found, f"{first}{log.read_text(encoding='utf-8')}"
            yield LiveServer(process, found[1], log)
        finally:
            if process.poll() is None:
                process.kill()
            process.communicate()


def eventually(fact: Any, seconds: float = 30) -> bool:
    """Whether something becomes true before long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if fact():
            return True
        time.sleep(0.05)
    return bool(fact())
