"""The server for other programs: its answers are those of the tasks, and it keeps to its limits."""

import base64
import json
import re
import socket
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from prometheus_client.parser import text_string_to_metric_families

import clearhead
from clearhead import tasks
from clearhead.explain import ablate
from clearhead.trace import load_trace

from .live_server import LiveServer, eventually, live_server

CAT = "The cat sat on the mat."
SAFETENSORS = {"accept": "application/vnd.safetensors"}


def given(response: httpx.Response) -> Any:
    assert response.status_code == 200, response.text
    return response.json()


def test_translations_in_every_form(server: LiveServer) -> None:
    translator = clearhead.load("translator")
    texts = [CAT, "Good morning."]
    one = given(server.post("/translate", {"q": CAT, "source": "en", "target": "fr"}))
    assert one == {"translatedText": translator.translate(CAT, to="fr")}
    many = given(server.post("/translate", {"q": texts, "source": "auto", "target": "German"}))
    assert many == {"translatedText": translator.translate(texts, to="de")}
    found = given(server.post("/translate", {"q": CAT, "target": "fr", "alternatives": 2}))
    ways = tasks.translate(translator.loaded, [CAT], to="fr", beams=4, n_best=3)[0].alternatives
    assert [found["translatedText"], *found["alternatives"]] == [way.text for way in ways]
    by_form = httpx.post(f"{server.url}/translate", data={"q": texts, "source": "en", "target": "fr"}, timeout=60)
    assert given(by_form) == {"translatedText": translator.translate(texts, to="fr")}


def test_what_encoders_do(server: LiveServer) -> None:
    text = "The cat sat on the mat. The dog ran into the garden. It was a sunny day. They played until night."
    assert given(server.post("/summarize", {"text": [text], "sentences": 2}))["results"] == [
        clearhead.load("reader-meaning").summarize(text, sentences=2)
    ]
    answers = given(server.post("/answer", {"question": "Where did the dog run?", "passage": text, "n": 2}))["answers"]
    assert [text[one["start"] : one["end"]] for one in answers] == [one["text"] for one in answers]
    assert answers[0]["text"] == "The dog ran into the garden."
    labels = given(server.post("/classify", {"text": "a wonderful, moving film"}))
    assert labels["model"] == "reader-sentiment" and labels["results"][0][0]["label"] == "positive"
    own = given(server.post("/classify", {"text": ["a goal in the last minute"], "labels": ["football", "cooking"]}))
    assert own["model"] == "reader-meaning" and own["results"][0][0]["label"] == "football"
    filled = given(server.post("/fill", {"text": "He opened the [MASK] and walked in.", "n": 3}))["results"]
    assert [one["token"] for one in filled[0][0]] == [
        one.token for one in clearhead.load("reader").fill("He opened the [MASK] and walked in.", n=3)[0]
    ]
    found = given(server.post("/search", {"query": "an animal", "texts": ["a train", "a dog", "a house"], "n": 2}))
    assert found["results"][0]["place"] == 1 and len(found["results"]) == 2


def test_an_index_is_searched(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("The train was late.\nA cat slept in the sun.\nPrices fell.\n", encoding="utf-8")
    model = clearhead.load("reader-meaning")
    model.index(corpus, tmp_path / "index")
    with live_server("reader-meaning", "--index", tmp_path / "index") as server:
        (hit,) = given(server.post("/search", {"query": "an animal is asleep", "n": 1}))["results"]
    assert hit["text"] == "A cat slept in the sun." and hit["line"] == 2 and hit["path"].endswith("corpus.txt")


def test_a_trace_holds_the_numbers_of_the_run(server: LiveServer, tmp_path: Path) -> None:
    asked = {"text": CAT, "to": "fr", "sites": ["decoder.*.cross.pattern", "logits"]}
    run = clearhead.load("translator").trace(CAT, to="fr", sites=asked["sites"])
    as_json = given(server.post("/trace", {**asked, "sites": ["decoder.*.cross.pattern"], "values": True}))
    assert as_json["text"] == run.text and as_json["model"] == "translator"
    for site, told in as_json["sites"].items():
        np.testing.assert_allclose(np.array(told["values"], dtype=np.float32), run[site], atol=1e-5)
    file = tmp_path / "run.safetensors"
    response = server.post("/trace", asked, headers=SAFETENSORS)
    assert response.headers["content-type"] == SAFETENSORS["accept"]
    file.write_bytes(response.content)
    trace = load_trace(file)
    assert list(trace) == list(run)
    np.testing.assert_allclose(trace["logits"], run["logits"], atol=1e-4)
    too_many = server.post("/trace", {**asked, "text": " ".join([CAT] * 8), "sites": ["*"], "values": True})
    assert too_many.status_code == 400 and "safetensors" in too_many.json()["advice"]


def test_attention_why_and_edits(server: LiveServer) -> None:
    translator = clearhead.load("translator")
    run = translator.trace(CAT, to="fr")
    seen = given(server.post("/attention", {"text": CAT, "to": "fr", "sites": ["decoder.1.cross.pattern"]}))
    (pattern,) = seen["patterns"]
    np.testing.assert_allclose(np.array(pattern["heads"]), run["decoder.1.cross.pattern"][0], atol=1e-5)
    assert pattern["columns"] == run.trace.labels("decoder.1.cross.pattern", "K")
    why = given(server.post("/why", {"text": CAT, "to": "fr", "index": {"T": 0, "V": 5}, "depth": 1, "most": 3}))
    node = run.why("logits", T=0, V=5)
    assert why["number"]["value"] == pytest.approx(node.value, abs=1e-4)
    assert why["number"]["rest"]["count"] == len(node.children) - 3
    edited = given(server.post("/edit", {"text": CAT, "to": "fr", "edits": ["ablate:decoder.1.cross"]}))
    with translator.edit(ablate("decoder.1.cross")):
        assert edited["after"] == translator.generate(CAT, to="fr").text
    assert edited["before"] == run.text and edited["changed"]
    # What one request changes, no other sees.
    assert given(server.post("/translate", {"q": CAT, "target": "fr"}))["translatedText"] == run.text
    assert server.post("/edit", {"text": CAT, "to": "fr", "edits": ["skip:decoder.9"]}).status_code == 400
    assert server.post("/why", {"text": CAT, "to": "fr", "depth": 8, "most": 1000}).status_code == 400


def test_tiny_models_of_every_family_answer(tiny_server: LiveServer) -> None:
    post = tiny_server.post
    assert given(post("/v1/completions", {"model": "gpt2", "prompt": "the", "max_tokens": 4, "temperature": 0}))
    assert given(post("/v1/completions", {"model": "t5", "prompt": "the cat", "max_tokens": 4}))
    chat = {"model": "t5", "messages": [{"role": "user", "content": "the"}], "max_tokens": 4, "stream": True}
    assert post("/v1/chat/completions", chat).text.endswith("data: [DONE]\n\n")
    assert given(post("/summarize", {"text": "the cat", "model": "t5", "decoding": {"max_new_tokens": 4}}))
    assert given(post("/answer", {"question": "who", "passage": "the cat sat", "model": "bert-answers", "longest": 2}))
    assert given(post("/answer", {"question": "who", "model": "gpt2", "decoding": {"max_new_tokens": 3}}))
    assert given(post("/fill", {"text": "the [MASK] sat", "model": "bert-masks"}))
    assert given(post("/classify", {"text": "the cat", "model": "bert-labels"}))
    assert given(post("/v1/embeddings", {"model": "bert", "input": "the cat"}))["data"][0]["index"] == 0
    assert given(post("/trace", {"text": "the cat", "second": "sat", "model": "bert-masks"}))["sites"]
    assert given(post("/attention", {"text": "the cat", "model": "gpt2", "write": True}))["patterns"]
    assert given(post("/translate", {"q": "the cat", "target": "fr", "decoding": {"max_new_tokens": 4}}))
    codes = [one["code"] for one in given(tiny_server.get("/languages"))]
    assert "en" in codes


def test_the_page_is_there_too_and_says_what_it_forbids(server: LiveServer) -> None:
    page = server.get("/")
    assert (
        "text/html" in page.headers["content-type"] and "default-src 'self'" in page.headers["content-security-policy"]
    )
    assert "translator" in given(server.get("/api/models"))["models"]
    for path in ("/health", "/v1/models", "/nowhere"):
        assert server.get(path).headers["x-content-type-options"] == "nosniff"
    wrong = httpx.put(f"{server.url}/v1/completions", timeout=60)
    assert wrong.status_code == 405 and wrong.headers["allow"] == "POST"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 421),
        ({"origin": "https://evil.example"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"origin": "http://127.0.0.1:1"}, 403),
        ({"origin": "null"}, 403),
        ({"host": "localhost"}, 200),
        ({"host": "localhost", "origin": "https://localhost:8443"}, 200),
    ],
)
def test_only_this_computer_is_answered(server: LiveServer, headers: dict[str, str], status: int) -> None:
    found = server.get("/v1/models", headers=headers)
    assert found.status_code == status
    assert status == 200 or set(found.json()["error"]) == {"message", "type", "param", "code"}


def test_what_is_not_there_is_told_in_the_shape_of_its_path(tiny_server: LiveServer) -> None:
    missing = tiny_server.get("/v1/nothing")
    assert missing.status_code == 404 and missing.json()["error"]["code"] == "not_found"
    assert "nothing here" in tiny_server.get("/nothing").json()["error"]
    wrong = httpx.put(f"{tiny_server.url}/v1/completions", timeout=60)
    assert wrong.status_code == 405 and wrong.headers["allow"] == "POST" and "PUT" in wrong.json()["error"]["message"]


def test_more_texts_than_there_is_ever_room_for_are_refused_for_good(tiny_folders: Path) -> None:
    asked = {"model": "gpt2", "prompt": ["a"] * 3, "max_tokens": 1}
    with live_server(tiny_folders / "gpt2", "--rows", 4, "--waiting", 0) as server:
        assert server.post("/v1/completions", {**asked, "n": 1}).status_code == 200
        refused = server.post("/v1/completions", {**asked, "n": 2})
        assert refused.status_code == 400 and "at most 4" in refused.json()["error"]["message"]


def test_named_sites_may_ask_and_no_others(tiny_folders: Path) -> None:
    ours = {"origin": "https://ours.example", "sec-fetch-site": "cross-site"}
    with live_server(
        tiny_folders / "gpt2", "--allow-origin", "https://ours.example", "--allow-host", "Ours.example"
    ) as server:
        allowed = server.get("/v1/models", headers=ours)
        assert allowed.status_code == 200
        assert allowed.headers["access-control-allow-origin"] == "https://ours.example"
        before = httpx.options(
            f"{server.url}/v1/completions",
            headers={**ours, "access-control-request-method": "POST", "access-control-request-headers": "content-type"},
        )
        assert before.status_code == 200
        assert server.get("/v1/models", headers={"origin": "https://theirs.example"}).status_code == 403
        assert server.get("/v1/models", headers={"host": "ours.example:8000"}).status_code == 200


def test_tokens_and_rates(tiny_folders: Path, tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text("# ours\nann a-secret-of-sixteen\nanother-secret-of-more\n", encoding="utf-8")
    with live_server(tiny_folders / "gpt2", "--tokens", file, "--rate", 3) as server:
        assert server.get("/health").status_code == server.get("/ready").status_code == 200
        for wrong in ({}, {"authorization": "Bearer nobody"}, {"authorization": "Basic ÿ".encode("latin-1")}):
            refused = server.get("/v1/models", headers=wrong)
            assert refused.status_code == 401 and refused.json()["error"]["code"] == "invalid_api_key"
        assert server.get("/").headers["www-authenticate"].startswith("Basic")
        assert [server.get("/languages").status_code for _ in range(4)] == [200, 200, 200, 429]
        bearer = {"authorization": "Bearer a-secret-of-sixteen"}
        assert [server.get("/v1/models", headers=bearer).status_code for _ in range(4)] == [200, 200, 200, 429]
        limited = server.get("/v1/models", headers=bearer)
        assert int(limited.headers["retry-after"]) >= 1 and limited.json()["error"]["type"] == "rate_limit_error"
        password = base64.b64encode(b"me:another-secret-of-more").decode()
        assert server.get("/", headers={"authorization": f"Basic {password}"}).status_code == 200
        assert eventually(lambda: {"ann", "token-2"} <= {line.get("client") for line in server.lines})
        assert "a-secret-of-sixteen" not in json.dumps(server.lines)


def test_logs_hold_no_text_unless_asked(tiny_folders: Path) -> None:
    secret = "nobody may know this"  # noqa: S105
    asked = {"model": "gpt2", "prompt": secret, "max_tokens": 2}
    for options in ((), ("--log-text",)):
        with live_server(tiny_folders / "gpt2", *options) as server:
            given(server.post("/v1/completions", asked))
            server.get(f"/{secret}", params={"q": secret})
            assert eventually(lambda server=server: len(server.lines) >= 3)
            (line,) = [line for line in server.lines if line.get("endpoint") == "/v1/completions"]
            assert line["status"] == 200 and line["tokens_written"] == 2 and line["model"] == "gpt2"
            assert (secret in json.dumps(server.lines)) == bool(options)


def test_counts_are_in_the_form_that_prometheus_reads(tiny_server: LiveServer) -> None:
    before = tiny_server.metric("clearhead_tokens_total", model="gpt2", kind="written")
    given(tiny_server.post("/v1/completions", {"model": "gpt2", "prompt": "a", "max_tokens": 5, "temperature": 0}))
    assert tiny_server.metric("clearhead_tokens_total", model="gpt2", kind="written") > before
    families = {one.name for one in text_string_to_metric_families(tiny_server.get("/metrics").text)}
    assert {"clearhead_requests", "clearhead_request_seconds", "clearhead_first_token_seconds"} <= families
    assert given(tiny_server.get("/ready"))["status"] == "ready"


def test_a_client_that_leaves_frees_its_place(tiny_folders: Path) -> None:
    asked = {"model": "storyteller", "prompt": "Once", "max_tokens": 240, "temperature": 1.9, "seed": 1}
    with live_server() as server:
        given(server.post("/v1/completions", {**asked, "max_tokens": 1}))
        # In the middle of a stream, and while it waits for the whole.
        with httpx.stream("POST", f"{server.url}/v1/completions", json={**asked, "stream": True}) as stream:
            next(stream.iter_lines())
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(f"{server.url}/v1/completions", json={**asked, "n": 8}, timeout=httpx.Timeout(60, read=0.3))
        assert eventually(lambda: server.metric("clearhead_rows") == 0)
        written = server.metric("clearhead_tokens_total", kind="written")
        time.sleep(0.3)
        assert server.metric("clearhead_tokens_total", kind="written") == written < 9 * 240
        assert eventually(lambda: [line["status"] for line in server.lines if "status" in line].count(499) == 2)


def test_too_many_are_told_when_to_come_again_and_health_answers_meanwhile() -> None:
    asked = {"model": "storyteller", "prompt": "Once upon a time", "max_tokens": 200, "temperature": 1.5}
    statuses: list[int] = []
    with live_server("storyteller", "--rows", 2, "--waiting", 2) as server:
        given(server.post("/v1/completions", {**asked, "max_tokens": 1}))

        def ask(seed: int) -> None:
            response = server.post("/v1/completions", {**asked, "seed": seed})
            statuses.append(response.status_code)
            if response.status_code == 429:
                assert 1 <= int(response.headers["retry-after"]) <= 60

        threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(12)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            assert server.get("/health").json() == {"status": "ok"}
        assert set(statuses) == {200, 429} and len(statuses) == 12


def test_a_deadline_ends_a_request_whole_or_in_pieces() -> None:
    asked = {"model": "storyteller", "prompt": "Once", "max_tokens": 250, "temperature": 1.9, "n": 8}
    with live_server("storyteller", "--deadline", "0.4") as server:
        eventually(lambda: server.post("/v1/completions", {**asked, "max_tokens": 1, "n": 1}).status_code == 200)
        late = server.post("/v1/completions", asked)
        assert late.status_code == 504 and "0.4 seconds" in late.json()["error"]["message"]
        events = server.post("/v1/completions", {**asked, "stream": True}).text
        last = events.strip().split("\n\n")[-1]
        assert "choices" in events and "0.4 seconds" in json.loads(last.removeprefix("data: "))["error"]["message"]


@pytest.mark.parametrize(("grace", "code"), [("60", 0), ("1", 1)])
def test_it_stops_when_told_to_and_says_what_it_did_not_finish(grace: str, code: int) -> None:
    n, length = (1, 40) if code == 0 else (8, 250)
    asked = {"model": "storyteller", "prompt": "Once", "max_tokens": length, "temperature": 1.9, "n": n, "stream": True}
    with live_server("storyteller", "--grace", grace) as server:
        given(server.post("/v1/completions", {**asked, "max_tokens": 1, "n": 1, "stream": False}))
        streams = [httpx.stream("POST", f"{server.url}/v1/completions", json=asked, timeout=60) for _ in range(4)]
        opened = [stream.__enter__() for stream in streams]
        lines = [response.iter_lines() for response in opened]
        for line in lines:
            next(line)
        server.process.terminate()
        rest = [list(line)[-2] for line in lines]
        out, _ = server.process.communicate(timeout=60)
        assert server.process.returncode == code, out
        if code == 0:
            assert rest == ["data: [DONE]"] * 4 and "every request was answered" in out
        else:
            assert all(json.loads(last.removeprefix("data: "))["error"]["type"] == "server_error" for last in rest)
            assert re.search(r"\d+ requests were cut off", out)
        for stream in streams:
            stream.__exit__(None, None, None)


def test_a_connection_that_says_little_is_closed(tiny_folders: Path) -> None:
    """Slow headers, a slow body, and none at all; the others are answered meanwhile."""
    with live_server(tiny_folders / "gpt2", "--patience", "1") as server:
        said = [
            b"",
            b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ",
            b"POST /fill HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{",
        ]
        sockets = [socket.create_connection(("127.0.0.1", server.port)) for _ in said]
        for one, words in zip(sockets, said, strict=True):
            one.sendall(words)
            one.settimeout(30)
        assert server.get("/health").status_code == 200
        answers = [one.recv(4096) for one in sockets]
        assert answers[:2] == [b"", b""] and b" 408 " in answers[2]
        for one in sockets:
            one.close()
