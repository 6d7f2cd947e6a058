"""Published models: what the cache has costs no network, and what it lacks is announced before it comes."""

import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import torch

from clearhead.weights.hub import FILES
from clearhead.weights.shards import INDEX, SINGLE
from clearhead.weights.tensors import write_tensors

COMMIT = "0123456789abcdef0123456789abcdef01234567"
OLDER = "f" * 40
PROGRAM = """
import json, sys
from clearhead.errors import WeightsError
from clearhead.weights.locate import resolve
for name in sys.argv[1:]:
    try:
        print(json.dumps(["folder", str(resolve(name))]))
    except WeightsError as error:
        print(json.dumps([type(error).__name__, str(error)]))
"""


class Hub(ThreadingHTTPServer):
    """The few routes of a hub that a download asks for, and a record of who asked for what."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Routes)
        self.models: dict[str, dict[str, bytes]] = {}
        self.asked: list[str] = []
        self.tokens: set[str | None] = set()
        self.stderr: Path | None = None
        self.said_before_the_first_file = ""
        self.broken = False

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Routes(BaseHTTPRequestHandler):
    server: Hub

    def do_HEAD(self) -> None:
        self.answer()

    def do_GET(self) -> None:
        self.answer()

    def log_message(self, *_: Any) -> None:
        pass

    def answer(self) -> None:
        path = self.path.partition("?")[0].strip("/")
        self.server.asked.append(f"{self.command} {path}")
        about_a_model = path.startswith("api/models/")
        if about_a_model or "/resolve/" in path:
            self.server.tokens.add(self.headers.get("authorization"))
        if about_a_model:
            self.answer_about(path.removeprefix("api/models/"))
        elif "/resolve/" in path:
            self.answer_file(*path.split("/resolve/"))
        else:
            self.send(404, b"{}")

    def answer_about(self, path: str) -> None:
        word = "/revision/" if "/revision/" in path else "/tree/"
        name, _, revision = path.partition(word)
        if name == "owner/gated":
            self.send(403, b"{}", {"X-Error-Code": "GatedRepo"})
        elif name not in self.server.models:
            self.send(404, b"{}", {"X-Error-Code": "RepoNotFound"})
        elif revision not in ("main", COMMIT):
            self.send(404, b"{}", {"X-Error-Code": "RevisionNotFound"})
        elif word == "/revision/":
            files = [{"rfilename": file} for file in self.server.models[name]]
            self.send(200, json.dumps({"id": name, "modelId": name, "sha": COMMIT, "siblings": files}).encode())
        else:
            tree = [
                {"type": "file", "path": file, "size": len(content), "oid": hashlib.sha1(content).hexdigest()}  # noqa: S324
                for file, content in self.server.models[name].items()
            ]
            self.send(200, json.dumps(tree).encode())

    def answer_file(self, name: str, rest: str) -> None:
        content = self.server.models[name][rest.partition("/")[2]]
        if self.command == "GET":
            if not self.server.said_before_the_first_file and self.server.stderr:
                self.server.said_before_the_first_file = self.server.stderr.read_text()
            if self.server.broken:
                self.send(404, b"", {"X-Error-Code": "EntryNotFound"})
                return
        self.send(200, content, {"X-Repo-Commit": COMMIT, "ETag": f'"{hashlib.sha256(content).hexdigest()}"'})

    def send(self, status: int, content: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for key, value in {"Content-Length": str(len(content)), **(headers or {})}.items():
            self.send_header(key, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)


@pytest.fixture
def hub() -> Iterator[Hub]:
    server = Hub()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def files(tmp_path: Path) -> dict[str, bytes]:
    """A small model, with more in its repository than anybody needs."""
    folder = tmp_path / "published"
    write_tensors(folder, {f"w{n}": torch.ones(25) for n in range(4)}, max_shard_bytes=200)
    weights = {path.name: path.read_bytes() for path in folder.iterdir()}
    others = {"pytorch_model.bin": b"\x80\x04.", "onnx/model.onnx": b"x" * 999, "training_args.bin": b"\x80\x04."}
    wanted = {"config.json": b'{"model_type": "gpt2"}', "tokenizer.json": b"{}", "1_Pooling/config.json": b"{}"}
    return {**weights, **others, **wanted, "README.md": b"---\nlicense: mit\n---\n", "LICENSE": b"as it is"}


def lay_out(home: Path, name: str, files: dict[str, bytes], *, commit: str = COMMIT, ref: str = "main") -> Path:
    """A model as huggingface_hub keeps it: blobs, and snapshots made of links to them."""
    place = home / "hub" / f"models--{name.replace('/', '--')}"
    snapshot = place / "snapshots" / commit
    for file, content in files.items():
        blob = place / "blobs" / hashlib.sha256(content).hexdigest()
        blob.parent.mkdir(parents=True, exist_ok=True)
        blob.write_bytes(content)
        link = snapshot / file
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(os.path.relpath(blob, link.parent))
    (place / "refs" / ref).parent.mkdir(parents=True, exist_ok=True)
    (place / "refs" / ref).write_text(commit)
    return snapshot


def ask(home: Path, hub: Hub | str, *names: str, **environment: str) -> tuple[list[list[str]], str]:
    """What each name resolves to in a fresh process, and what that wrote to standard error."""
    said = home.parent / "stderr.txt"
    address = hub
    if isinstance(hub, Hub):
        hub.stderr, address = said, hub.address
    plain = {key: value for key, value in os.environ.items() if not key.startswith("HF_")}
    settings = {"HF_HOME": str(home), "HF_ENDPOINT": str(address), "HF_HUB_DISABLE_XET": "1"}
    with said.open("w") as stderr:
        run = subprocess.run(
            [sys.executable, "-W", "error", "-c", PROGRAM, *names],
            env={**plain, **settings, **environment},
            cwd=home.parent,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            check=False,
        )
    assert run.returncode == 0, said.read_text()
    return [json.loads(line) for line in run.stdout.splitlines()], said.read_text()


def test_a_cached_model_costs_no_network(tmp_path: Path, hub: Hub, files: dict[str, bytes]) -> None:
    home = tmp_path / "home"
    snapshot = lay_out(home, "owner/model", files)
    older = lay_out(home, "owner/model", files, commit=OLDER, ref="refs/pr/7")
    flat = lay_out(home, "flat", files)
    names = ("owner/model", "owner/model@main", "owner/model@refs/pr/7", f"owner/model@{OLDER}", "flat")
    found, said = ask(home, hub, *names)
    assert found == [["folder", str(path)] for path in (snapshot, snapshot, older, older, flat)]
    assert said == ""
    assert hub.asked == []
    assert ask(home, hub, "owner/model", HF_HUB_OFFLINE="1")[0] == found[:1]


def test_offline_and_not_cached(tmp_path: Path, hub: Hub, files: dict[str, bytes]) -> None:
    home = tmp_path / "home"
    lay_out(home, "owner/partial", {"config.json": b"{}"})
    lay_out(home, "owner/sharded", {name: files[name] for name in ("config.json", INDEX)})
    found, said = ask(home, hub, "owner/model", "owner/partial", "owner/sharded", HF_HUB_OFFLINE="1")
    for (kind, message), name in zip(found, ("owner/model", "owner/partial", "owner/sharded"), strict=True):
        assert kind == "WeightsError"
        assert f"{name}, with HF_HUB_OFFLINE set" in message
        assert "without HF_HUB_OFFLINE" in message
    assert (said, hub.asked) == ("", [])


def test_a_download_is_announced_and_brings_only_what_is_needed(
    tmp_path: Path, hub: Hub, files: dict[str, bytes]
) -> None:
    home = tmp_path / "home"
    hub.models["owner/model"] = {**files, "vocab.json": b" " * 3_000_000}
    found, said = ask(home, hub, "owner/model", HF_TOKEN="hf_secret")  # noqa: S106
    assert found[0][0] == "folder", found
    folder = Path(found[0][1])
    unneeded = {"pytorch_model.bin", "onnx/model.onnx", "training_args.bin"}
    wanted = hub.models["owner/model"].keys() - unneeded
    assert {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} == wanted
    assert not any(name in request for request in hub.asked for name in unneeded)
    total = sum(len(hub.models["owner/model"][name]) for name in wanted)
    announcement = f"downloading owner/model from {hub.address}: {len(wanted)} files, {total / 1e6:.1f} MB, into "
    assert hub.said_before_the_first_file == said == f"{announcement}{home / 'hub'}\n"
    assert hub.tokens == {"Bearer hf_secret"}
    hub.asked.clear()
    assert ask(home, hub, "owner/model", HF_HUB_OFFLINE="1") == (found, "")
    assert hub.asked == []


def test_a_download_that_breaks_off_goes_on_later(tmp_path: Path, hub: Hub, files: dict[str, bytes]) -> None:
    home = tmp_path / "home"
    hub.models["owner/model"] = files
    hub.broken = True
    [(kind, message)], _ = ask(home, hub, "owner/model")
    assert (kind, "a download that failed" in message) == ("WeightsError", True), message
    assert "Traceback" not in message
    [(kind, _)], _ = ask(home, hub, "owner/model", HF_HUB_OFFLINE="1")
    assert kind == "WeightsError"
    hub.broken = False
    [(kind, folder)], _ = ask(home, hub, "owner/model")
    assert kind == "folder", folder
    assert (Path(folder) / INDEX).is_file()


def test_what_the_hub_refuses(tmp_path: Path, hub: Hub, files: dict[str, bytes]) -> None:
    home = tmp_path / "home"
    hub.models["owner/model"] = files
    hub.models["owner/pickled"] = {"config.json": b"{}", "pytorch_model.bin": b"\x80\x04."}
    hub.models["owner/pictures"] = {"cat.png": b"x", "README.md": b"x"}
    (tmp_path / "pictured").mkdir()
    names = ("owner/nothing", "owner/gated", "owner/model@v9", "owner/pickled", "owner/pictures", "pictures")
    found, said = ask(home, hub, *names)
    kinds, messages = zip(*found, strict=True)
    assert kinds == ("WeightsError",) * 3 + ("UnsafeFile",) + ("WeightsError",) * 2
    for message, part in zip(
        messages,
        (
            "neither this computer nor the hub knows",
            f"accept its terms at {hub.address}/owner/gated",
            "owner/model has no 'v9'",
            "t.AutoModel.from_pretrained('owner/pickled')",
            "not a model of this kind",
            "did you mean pictured?",
        ),
        strict=True,
    ):
        assert part in message
    assert "downloading" not in said
    assert not any(request.startswith("GET owner") for request in hub.asked)


def test_a_hub_out_of_reach(tmp_path: Path) -> None:
    [(kind, message)], said = ask(tmp_path / "home", "http://127.0.0.1:9", "owner/model")
    assert kind == "WeightsError"
    assert "a download that failed" in message
    assert "downloading" not in said


def test_nothing_that_hides_a_program_is_ever_asked_for() -> None:
    assert not any(
        name.endswith((".bin", ".pt", ".ckpt", ".h5", ".msgpack", ".pkl", ".py", "*")) for name in FILES[:-1]
    )
    assert {SINGLE, INDEX, "config.json"} <= set(FILES)
