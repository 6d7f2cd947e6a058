"""Many at once, and those who behave badly: every text is whole and its own, and the server goes on."""

import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

import clearhead
from clearhead.config import TokenIds, architecture
from clearhead.models import build
from clearhead.testing import ByteTokenizer
from clearhead.weights import Checkpoint, save_checkpoint

from ..cli.tiny_folders import SIZE
from .live_server import LiveServer, eventually, live_server

ROOT = Path(__file__).parents[3]
ASKED = {"model": "storyteller", "prompt": "Once upon a time", "max_tokens": 200, "temperature": 1.5}

pytestmark = pytest.mark.long


@contextmanager
def healthy(server: LiveServer) -> Iterator[None]:
    """The server answers /health all the time that the block takes."""
    done = threading.Event()
    failures: list[object] = []

    def ask() -> None:
        while not done.is_set():
            try:
                status = httpx.get(f"{server.url}/health", timeout=20).status_code
            except httpx.HTTPError as error:
                failures.append(error)
            else:
                failures.extend([status] if status != 200 else [])
            time.sleep(0.1)

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
    assert failures == []


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("model", ["storyteller", "stories15M"])
def test_two_hundred_clients_for_a_minute(model: str, shared: Path) -> None:
    place = str(shared / "models" / model) if model == "stories15M" else model
    command = [sys.executable, "benchmarks/load.py", "--clients", "200", "--seconds", "60", "--model", place, "--json"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1500, check=False)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    print(f"\n{model}: {ran.stdout.strip()}")  # noqa: T201  (the log of the long tests keeps it)
    for account in (found["alone"], found["together"]):
        assert account["wrong"] == 0 and account["answers"] > 0
        assert set(account["statuses"]) <= {"200", "429"}


def stream_a_little(server: LiveServer, seed: int) -> None:
    """Reads some of a stream, and is gone."""
    body = {**ASKED, "seed": seed, "stream": True}
    with httpx.stream("POST", f"{server.url}/v1/completions", json=body, timeout=120) as response:
        if response.status_code == 200:
            lines = response.iter_lines()
            for _ in range(1 + seed % 6):
                next(lines, None)


def test_clients_that_vanish_leave_nothing_behind() -> None:
    with live_server("storyteller") as server, healthy(server):
        stream_a_little(server, 0)
        assert eventually(lambda: server.metric("clearhead_rows") == 0)
        before: int | None = None
        for round_ in range(4):
            threads = [threading.Thread(target=stream_a_little, args=(server, seed)) for seed in range(50)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert eventually(lambda: server.metric("clearhead_rows") + server.metric("clearhead_rows_waiting") == 0)
            assert eventually(lambda: server.metric("clearhead_requests_running") <= 2)
            before = server.n_bytes if round_ == 1 else before
        assert before is not None and server.n_bytes < before + 48 * 2**20
        assert server.post("/v1/completions", {**ASKED, "max_tokens": 5}).status_code == 200


def test_a_model_that_fails_fails_alone(tmp_path: Path) -> None:
    """Weights that are damaged after the start, and an id that the network has no row for; the others go on."""
    clearhead.load("storyteller").save_pretrained(tmp_path / "damaged")
    tokenizer = ByteTokenizer()
    config = architecture("gpt2", size=SIZE, vocab_size=tokenizer.vocab_size - 60)
    narrow = build(replace(config, tokens=TokenIds(pad=0, start=1, end=(2,))), seed=0)
    tokenizer.save(tmp_path / "narrow")
    save_checkpoint(Checkpoint(model=narrow, family="gpt2", foreign={}, generation={}), tmp_path / "narrow")
    with live_server("storyteller", tmp_path / "damaged", tmp_path / "narrow") as server, healthy(server):
        short = {"model": "narrow", "max_tokens": 3, "temperature": 0}
        for _ in range(3):
            assert server.post("/v1/completions", {**short, "prompt": "\U0010ffff"}).status_code == 500
            assert server.post("/v1/completions", {**short, "prompt": "abc"}).status_code == 200
        assert any(line["event"] == "mistake" for line in server.lines)
        weights = tmp_path / "damaged" / "model.safetensors"
        weights.write_bytes(weights.read_bytes()[:1000])
        broken = server.post("/v1/completions", {**ASKED, "model": "damaged"})
        assert broken.status_code == 500 and str(tmp_path) not in broken.text
        assert server.post("/v1/completions", {**ASKED, "max_tokens": 5}).status_code == 200
        assert any("problem" in line for line in server.lines)


def test_sigterm_under_load() -> None:
    with live_server("storyteller", "--grace", "3") as server:
        server.post("/v1/completions", {**ASKED, "max_tokens": 1})
        outcomes: list[str] = []

        def ask(seed: int) -> None:
            try:
                body = {**ASKED, "seed": seed, "stream": True}
                text = httpx.post(f"{server.url}/v1/completions", json=body, timeout=120).text
            except httpx.HTTPError:
                outcomes.append("cut off")
            else:
                outcomes.append("whole" if text.endswith("data: [DONE]\n\n") else "told")

        threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(100)]
        for thread in threads:
            thread.start()
        assert eventually(lambda: server.metric("clearhead_rows") > 8)
        began = time.monotonic()
        code, out = server.stop()
        assert time.monotonic() - began < 3 + 30
        for thread in threads:
            thread.join()
        assert len(outcomes) == 100
        print(f"\n{out.strip()}; clients: { {kind: outcomes.count(kind) for kind in set(outcomes)} }")  # noqa: T201
        assert code == (0 if set(outcomes) == {"whole"} else 1)


def test_a_gigabyte_and_many_slow_connections() -> None:
    with live_server("storyteller", "--patience", "5") as server, healthy(server):
        server.post("/v1/completions", {**ASKED, "max_tokens": 1})
        before = server.n_bytes
        slow = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(300)]
        for place, one in enumerate(slow):
            one.sendall(
                b"POST /fill HTTP/1.1\r\nHost: 127.0.0.1\r\n" + (b"Content-Length: 9\r\n\r\n{" if place % 2 else b"X: ")
            )
        chunk = b"100000\r\n" + b"a" * 2**20 + b"\r\n"
        n_sent = 0
        with socket.create_connection(("127.0.0.1", server.port), timeout=120) as one, suppress(OSError):
            one.sendall(b"POST /fill HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n")
            for n_sent in range(1024):  # noqa: B007  (it ends where nobody takes more)
                one.sendall(chunk)
        assert n_sent < 64
        assert server.post("/v1/completions", {**ASKED, "max_tokens": 5}).status_code == 200
        for one in slow:
            one.settimeout(60)
            assert one.recv(4096)[:12] in (b"", b"HTTP/1.1 408")
            one.close()
        assert server.n_bytes - before < 64 * 2**20
