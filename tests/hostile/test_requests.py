"""Requests that nobody means well: each is refused in words, and the server goes on."""

import json
import socket
from collections.abc import Iterator

import httpx
import pytest

from ..unit.cli.tiny_folders import make_folders
from ..unit.web.live_server import LiveServer, live_server

PATHS = (
    "/v1/completions",
    "/v1/chat/completions",
    "/v1/embeddings",
    "/translate",
    "/summarize",
    "/answer",
    "/classify",
    "/fill",
    "/search",
    "/trace",
    "/attention",
    "/why",
    "/edit",
)
BODIES = {
    "nothing": b"",
    "not JSON": b"{'model': 1}",
    "cut off": b'{"model": "gpt2", "prompt": "a',
    "a list": b"[]",
    "a string": b'"gpt2"',
    "null": b"null",
    "deep lists": b"[" * 100_000,
    "deep objects": b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
    "not UTF-8": b'{"model": "gpt2", "prompt": "\xff\xfe"}',
    "UTF-16": '{"model": "gpt2", "prompt": "a"}'.encode("utf-16"),
    "a zero byte": b'{"model": "gpt2", "prompt": "a"}\x00',
    "half a pair": b'{"model": "gpt2", "prompt": "\\ud800", "text": "\\udfff", "q": "\\ud800"}',
    "a number as large as a book": b'{"model": "gpt2", "prompt": "a", "seed": ' + b"9" * 200_000 + b"}",
    "every key": json.dumps({f"key-{place}": place for place in range(20_000)}).encode(),
    "one key many times": b"{" + b'"model": "gpt2", ' * 10_000 + b'"odd": 1}',
}
COMPLETION = {"model": "gpt2", "prompt": "a", "max_tokens": 2}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    root = make_folders(tmp_path_factory.mktemp("models"))
    (root / "secret.txt").write_text("nobody may read this", encoding="utf-8")
    with live_server(*(root / name for name in ("gpt2", "polyglot", "bert-masks", "bert")), "--patience", 5) as server:
        yield server
        assert server.get("/health").json() == {"status": "ok"}
        assert not [line for line in server.lines if line["event"] == "mistake"]


def raw(server: LiveServer, *parts: bytes) -> bytes:
    """What the server says to these bytes; what it does not want to hear any more is not said."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        try:
            for part in parts:
                connection.sendall(part)
        except OSError:
            pass
        heard = b""
        try:
            while piece := connection.recv(65536):
                heard += piece
        except ConnectionResetError:
            pass
        return heard


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("path", PATHS)
def test_a_body_that_cannot_be_read_is_refused(server: LiveServer, path: str, name: str) -> None:
    response = httpx.post(
        server.url + path, content=BODIES[name], headers={"content-type": "application/json"}, timeout=60
    )
    assert response.status_code == 400, response.text
    said = response.json()
    assert (said["error"]["message"] if path.startswith("/v1") else said["problem"]) and len(response.content) < 4000


@pytest.mark.parametrize(
    "change",
    [
        {"max_tokens": 10**30},
        {"max_tokens": -1},
        {"max_tokens": 0},
        {"max_tokens": 1.5},
        {"max_tokens": True},
        {"max_tokens": "5"},
        {"temperature": 1e308},
        {"temperature": -0.1},
        {"top_p": 0},
        {"seed": 2**63},
        {"n": 10**9},
        {"n": 9},
        {"stop": [""]},
        {"stop": ["a"] * 5},
        {"prompt": None},
        {"prompt": []},
        {"prompt": [""] * 1000},
        {"prompt": [10**9]},
        {"prompt": [-1]},
        {"prompt": [[[1]]]},
        {"prompt": "a" * 60_000},
        {"prompt": "a" * 40_000},
        {"prompt": {"a": 1}},
        {"logit_bias": {"5": 100}},
        {"logprobs": 5},
        {"best_of": 100},
        {"suffix": "b"},
        {"stream_options": {"odd": 1}},
        {"__class__": "x"},
    ],
    ids=lambda change: json.dumps(change)[:40],
)
def test_a_wrong_value_is_refused(server: LiveServer, change: dict[str, object]) -> None:
    response = server.post("/v1/completions", {**COMPLETION, **change})
    assert response.status_code == 400, response.text
    assert response.json()["error"]["type"] == "invalid_request_error" and len(response.content) < 4000


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "1e999", "01", "0x10", "+1", "1_000"])
def test_numbers_that_are_none(server: LiveServer, word: str) -> None:
    body = f'{{"model": "gpt2", "prompt": "a", "max_tokens": 2, "temperature": {word}}}'.encode()
    response = httpx.post(
        f"{server.url}/v1/completions", content=body, headers={"content-type": "application/json"}, timeout=60
    )
    assert response.status_code == 400


@pytest.mark.parametrize(
    "name",
    [
        "../gpt2",
        "/etc/passwd",
        "gpt2/../secret.txt",
        "gpt2/config.json",
        "..%2Fgpt2",
        "file:///etc/passwd",
        "owner/name",
        "gpt2\x00",
        "C:\\gpt2",
        "~/gpt2",
        "$HOME",
        "a" * 200,
    ],
)
def test_a_model_is_a_name_and_never_a_path(server: LiveServer, name: str) -> None:
    for path, body in (
        ("/v1/completions", {**COMPLETION, "model": name}),
        ("/v1/embeddings", {"model": name, "input": "a"}),
        ("/translate", {"q": "a", "target": "fr", "model": name}),
        ("/trace", {"text": "a", "model": name}),
    ):
        response = server.post(path, body)
        assert response.status_code == 404, response.text
        assert "nobody may read this" not in response.text and "root:" not in response.text
    assert server.get(f"/v1/models/{name}").status_code in (400, 404) if name.isprintable() else True


@pytest.mark.parametrize(
    "path", ["/../secret.txt", "/static/../../errors.py", "/static/%2e%2e/%2e%2e/errors.py", "//etc"]
)
def test_no_path_leads_out(server: LiveServer, path: str) -> None:
    said = raw(server, f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
    assert said.split(b" ")[1] in (b"404", b"400") and b"class ClearheadError" not in said


@pytest.mark.parametrize(
    ("asked", "path"),
    [
        ({"text": "a", "edits": ["ablate:" + "*a" * 900]}, "/edit"),
        ({"text": "a", "edits": ["__import__('os')"]}, "/edit"),
        ({"text": "a", "edits": ["scale:decoder.0.self:factor=" + "9" * 500]}, "/edit"),
        ({"text": "a", "sites": ["../../etc/passwd"]}, "/trace"),
        ({"text": "a", "sites": ["[" * 100]}, "/trace"),
        ({"text": "a", "sites": ["a"] * 65}, "/trace"),
        ({"text": "a", "index": {"T": 10**30, "V": 0}}, "/why"),
        ({"text": "a", "index": {"T": "x" * 200, "V": 0}}, "/why"),
        ({"text": "a", "site": "@ids"}, "/why"),
        ({"text": "a" * 49, "model": "gpt2"}, "/trace"),
        ({"text": "a", "model": "gpt2", "write": True, "decoding": {"max_new_tokens": 4096}}, "/trace"),
        ({"q": "a", "target": "fr", "decoding": {"beams": 9}}, "/translate"),
        ({"q": "a", "target": "fr", "format": "html"}, "/translate"),
        ({"q": "a", "target": "xx"}, "/translate"),
        ({"q": ["a"] * 129, "target": "fr"}, "/translate"),
        ({"text": "no gap", "model": "bert-masks"}, "/fill"),
        ({"text": "a", "labels": [], "model": "bert"}, "/classify"),
        ({"text": "a", "labels": ["b", "b"], "model": "bert"}, "/classify"),
        ({"text": "a", "labels": ["b"], "hypothesis": "none", "model": "bert"}, "/classify"),
        ({"query": "a"}, "/search"),
        ({"question": " ", "passage": "a", "model": "bert"}, "/answer"),
    ],
)
def test_what_no_model_can_do_is_refused(server: LiveServer, asked: dict[str, object], path: str) -> None:
    response = server.post(path, asked)
    assert response.status_code == 400, response.text
    assert response.json()["problem"]


def test_a_body_of_a_gigabyte_is_not_taken(server: LiveServer) -> None:
    head = b"POST /fill HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    before = server.n_bytes
    claimed = raw(server, head + b"Content-Length: 1073741824\r\n\r\n", *[b"a" * 2**16] * 64)
    assert b" 413 " in claimed.split(b"\r\n")[0] or claimed == b""
    chunk = b"10000\r\n" + b"a" * 2**16 + b"\r\n"
    streamed = raw(server, head + b"Transfer-Encoding: chunked\r\n\r\n", *[chunk] * 2**14)
    assert b" 413 " in streamed.split(b"\r\n")[0] or streamed == b""
    assert server.n_bytes - before < 64 * 2**20


@pytest.mark.parametrize(
    "head",
    [
        b"POST /fill HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n\r\n",
        b"POST /fill HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na",
        b"POST /fill HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99999999999999999999999\r\n\r\n",
        b"POST /fill HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: odd\r\n\r\n",
        b"GET /health HTTP/1.1\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n\r\n",
        b"GET /health HTTQ/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET /health\x00 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"a" * 200_000,
    ],
)
def test_what_is_no_request_is_refused(server: LiveServer, head: bytes) -> None:
    said = raw(server, head)
    assert said == b"" or 400 <= int(said.split(b" ")[1]) < 500


def test_nothing_of_a_request_becomes_a_header(server: LiveServer) -> None:
    name = "gpt2\r\nX-Injected: yes"
    for response in (
        server.post("/v1/completions", {**COMPLETION, "model": name}),
        server.post("/translate", {"q": "a", "target": "fr\r\nX-Injected: yes"}),
        server.get("/v1/models/gpt2%0d%0aX-Injected:%20yes"),
    ):
        assert response.status_code in (400, 404) and "x-injected" not in response.headers


@pytest.mark.parametrize("kind", ["text/plain", "multipart/form-data; boundary=x", "application/xml", "garbage", ";;;"])
def test_a_body_of_another_kind_is_refused(server: LiveServer, kind: str) -> None:
    response = httpx.post(f"{server.url}/fill", content=b'{"text": "a"}', headers={"content-type": kind}, timeout=60)
    assert response.status_code == 415


@pytest.mark.parametrize(
    "form",
    [
        b"q=%ff&target=fr",
        b"q=a&q=b&target=fr&target=de",
        b"=&=&=",
        b"&" * 5000 + b"q=a",
        b"a=1&" * 200,
        b"q=a&target=%00",
    ],
)
def test_a_form_that_cannot_be_read_is_refused(server: LiveServer, form: bytes) -> None:
    headers = {"content-type": "application/x-www-form-urlencoded"}
    response = httpx.post(f"{server.url}/translate", content=form, headers=headers, timeout=60)
    assert response.status_code == 400 and response.json()["problem"]
