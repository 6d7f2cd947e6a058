"""Those who behave badly, and what breaks: the server answers /health throughout, and nothing is left behind."""

import json
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from .live_server import LiveServer, eventually, live_python, live_server

ASKED = {"model": "storyteller", "prompt": "Once upon a time", "max_tokens": 200, "temperature": 1.5}
MEGABYTE = 2**20


@contextmanager
def healthy(server: LiveServer) -> Iterator[list[float]]:
    """The server answers /health all the time that the block takes; gives how long each answer took."""
    done = threading.Event()
    failures: list[object] = []
    seconds: list[float] = []

    def ask() -> None:
        while not done.is_set():
            began = time.monotonic()
            try:
                status = httpx.get(f"{server.url}/health", timeout=20).status_code
            except httpx.HTTPError as error:
                failures.append(error)
            else:
                failures.extend([status] if status != 200 else [])
            seconds.append(time.monotonic() - began)
            time.sleep(0.1)

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield seconds
    finally:
        done.set()
        thread.join()
    assert failures == [] and seconds


@pytest.fixture(scope="module")
def storyteller() -> Iterator[LiveServer]:
    """A server of one model that is slow enough to be left in the middle, and warm."""
    with live_server("storyteller") as server:
        assert server.post("/v1/completions", {**ASKED, "max_tokens": 1}).status_code == 200
        yield server


def stream_a_little(server: LiveServer, seed: int) -> None:
    """Reads some of a stream, and is gone: without a word, or even without having read what was sent."""
    body = {**ASKED, "seed": seed, "stream": True}
    with httpx.stream("POST", f"{server.url}/v1/completions", json=body, timeout=120) as response:
        if response.status_code == 200:
            lines = response.iter_lines()
            for _ in range(seed % 6):
                next(lines, None)


def test_clients_that_vanish_leave_nothing_behind(storyteller: LiveServer) -> None:
    server, held = storyteller, list[int]()
    with healthy(server):
        for _ in range(4):
            threads = [threading.Thread(target=stream_a_little, args=(server, seed)) for seed in range(40)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert eventually(lambda: server.metric("clearhead_rows") + server.metric("clearhead_rows_waiting") == 0)
            assert eventually(lambda: server.metric("clearhead_requests_running") <= 2)  # this one, and /health
            assert eventually(lambda: server.metric("clearhead_jobs_pending") == 0)
            held.append(server.n_bytes)
    written = server.metric("clearhead_tokens_total", kind="written")
    assert written < 0.8 * 160 * ASKED["max_tokens"]  # they were not written to the end
    assert held[-1] < held[0] + 32 * MEGABYTE, held
    assert server.post("/v1/completions", {**ASKED, "max_tokens": 5}).status_code == 200


def test_a_client_that_leaves_while_it_sends_is_no_mistake_of_ours(storyteller: LiveServer) -> None:
    for _ in range(3):
        with socket.create_connection(("127.0.0.1", storyteller.port)) as one:
            one.sendall(b"POST /fill HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{")
            time.sleep(0.1)
    fill = [line for line in storyteller.lines if line.get("endpoint") == "/fill"]
    assert eventually(lambda: len([line for line in storyteller.lines if line.get("endpoint") == "/fill"]) == 3), fill
    assert {line["status"] for line in storyteller.lines if line.get("endpoint") == "/fill"} == {499}
    assert not [line for line in storyteller.lines if line["event"] == "mistake"]


FAILING = """
import sys

from clearhead.web import Shelf
from clearhead.web.api import serve

shelf = Shelf(names=sys.argv[1:])
model = shelf.model("gpt2")
poison = model.tokenizer.encode("Z", add_special=False).ids[0]

def fail(_, inputs):
    if (inputs[0] == poison).any():
        raise MemoryError("nobody may read this")

model.loaded.engine.network.decoder.embedding.token.register_forward_pre_hook(fail)
serve(shelf, port=0, say=lambda line: print(line, flush=True))
"""


def test_a_worker_that_fails_fails_for_one_alone(tiny_folders: Path, tmp_path: Path) -> None:
    """No memory for one text, read in company with others; and weights that are damaged after the start."""
    damaged = shutil.copytree(tiny_folders / "t5", tmp_path / "damaged")
    with live_python("-c", FAILING, str(tiny_folders / "gpt2"), str(damaged)) as server, healthy(server):
        short = {"model": "gpt2", "max_tokens": 30, "temperature": 0, "prompt": "abc"}
        alone = server.post("/v1/completions", short).json()["choices"][0]["text"]
        found: list[tuple[int, str]] = []

        def ask(place: int) -> None:
            broken = place % 3 == 0
            response = server.post("/v1/completions", {**short, "prompt": "aZc"} if broken else short)
            found.append((response.status_code, "" if broken else response.json()["choices"][0]["text"]))

        threads = [threading.Thread(target=ask, args=(place,)) for place in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(found) == [(200, alone)] * 8 + [(500, "")] * 4
        told = server.post("/v1/completions", {**short, "prompt": "aZc", "stream": True}).text
        assert '"type":"server_error"' in told and "[DONE]" not in told and "MemoryError" in told
        mistakes = [line for line in server.lines if line["event"] == "mistake"]
        assert len(mistakes) == 5 and "nobody may read this" not in json.dumps(server.lines) + told
        weights = damaged / "model.safetensors"
        weights.write_bytes(weights.read_bytes()[:1000])
        broken = server.post("/v1/completions", {**short, "model": "damaged"})
        assert broken.status_code == 500 and str(tmp_path) not in broken.text
        assert server.post("/v1/completions", short).json()["choices"][0]["text"] == alone
        assert any("problem" in line for line in server.lines)
        assert server.metric("clearhead_rows") + server.metric("clearhead_rows_waiting") == 0


def test_sigterm_under_load() -> None:
    """Everybody is answered to the end, or told that it is cut off; and the exit code says which."""
    outcomes: list[str] = []
    with live_server("storyteller", "--grace", "2", "--waiting", "16") as server:
        server.post("/v1/completions", {**ASKED, "max_tokens": 1})

        def ask(seed: int) -> None:
            body = {**ASKED, "seed": seed, "stream": True, "max_tokens": 5 if seed % 4 == 0 else 200}
            try:
                response = httpx.post(f"{server.url}/v1/completions", json=body, timeout=120)
            except httpx.HTTPError:
                outcomes.append("no answer")
                return
            last = response.text.strip()
            if response.status_code == 429:
                outcomes.append("busy")
            elif last.endswith("data: [DONE]"):
                outcomes.append("whole")
            else:
                outcomes.append("told" if last.endswith("}}") else "no end")

        threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(60)]
        with healthy(server):
            for thread in threads:
                thread.start()
            assert eventually(lambda: server.metric("clearhead_rows") > 8 and "whole" in outcomes)
        began = time.monotonic()
        code, out = server.stop()
        seconds = time.monotonic() - began
        for thread in threads:
            thread.join()
    counts = {kind: outcomes.count(kind) for kind in sorted(set(outcomes))}
    print(f"\nSIGTERM under load: {seconds:.1f} seconds; clients: {counts}; {out.strip()}")  # noqa: T201
    assert len(outcomes) == 60 and {"whole", "told"} <= set(outcomes) <= {"whole", "told", "busy"}
    assert code == 1 and f"stopped: {counts['told']} requests were cut off" in out
    assert seconds < 2 + 60


def test_many_connections_that_say_little_keep_nobody_out(tiny_folders: Path) -> None:
    """More than the server takes at once: slow headers, slow bodies, and nothing at all."""
    said = (
        b"",
        b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ",
        b"POST /fill HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n{",
    )
    with live_server(tiny_folders / "gpt2", "--patience", "60") as server:
        asked = {"model": "gpt2", "prompt": "a", "max_tokens": 3}
        assert server.post("/v1/completions", asked).status_code == 200
        before, slow = server.n_files, list[socket.socket]()
        with healthy(server) as seconds:
            for place in range(1300):
                slow.append(socket.create_connection(("127.0.0.1", server.port)))
                with suppress(OSError):  # an older one may have had to make room already
                    slow[-1].sendall(said[place % 3])
            assert server.post("/v1/completions", asked).status_code == 200
            time.sleep(0.5)
        assert max(seconds) < 20  # none had to wait until the others were given up
        for one in slow:
            one.close()
        assert eventually(lambda: server.n_files <= before + 2)


@pytest.fixture
def impatient() -> Iterator[LiveServer]:
    """A server that does not wait long."""
    with live_server("storyteller", "--patience", "3") as server:
        yield server


def test_an_answer_that_is_not_taken_is_given_up(impatient: LiveServer) -> None:
    """It would be kept in memory as long as the connection stands."""
    body = b'{"model": "storyteller", "text": "' + b"One day a cat sat. " * 20 + b'"}'
    head = (
        b"POST /trace HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        b"Accept: application/vnd.safetensors\r\nContent-Length: %d\r\n\r\n" % len(body)
    )
    headers = {"accept": "application/vnd.safetensors", "content-type": "application/json"}
    whole = httpx.post(f"{impatient.url}/trace", content=body, headers=headers, timeout=120)
    assert whole.status_code == 200 and len(whole.content) > 8 * MEGABYTE
    assert eventually(lambda: impatient.metric("clearhead_jobs_pending") == 0)
    before = impatient.n_files
    deaf = [socket.socket() for _ in range(3)]
    with healthy(impatient):
        for one in deaf:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            one.connect(("127.0.0.1", impatient.port))
            one.sendall(head + body)
        assert eventually(lambda: impatient.n_files >= before + 3)
        assert eventually(lambda: impatient.n_files <= before + 1, seconds=60)
    for one in deaf:
        one.close()


def test_a_gigabyte_is_not_taken(storyteller: LiveServer) -> None:
    """Neither one that is announced nor one that comes in pieces."""
    before, head = storyteller.n_bytes, b"POST /fill HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    with healthy(storyteller):
        n_sent = _sent(storyteller, head + b"Content-Length: 1073741824\r\n\r\n", b"a" * MEGABYTE)
        assert n_sent < 64
        n_sent = _sent(
            storyteller, head + b"Transfer-Encoding: chunked\r\n\r\n", b"100000\r\n" + b"a" * MEGABYTE + b"\r\n"
        )
        assert n_sent < 64
    assert storyteller.n_bytes - before < 48 * MEGABYTE


def _sent(server: LiveServer, head: bytes, piece: bytes) -> int:
    """How many of 1024 pieces are taken."""
    n_sent = 0
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as one, suppress(OSError):
        one.sendall(head)
        for _ in range(1024):
            one.sendall(piece)
            n_sent += 1
    return n_sent
