"""The page's server: it gives what the run computed, and nothing to strangers."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from clearhead.model import Model
from clearhead.web import Shelf, lab, make_app
from clearhead.web import shelf as shelf_module
from clearhead.web.guard import MOST_BYTES

Make = Callable[..., Model]
SHORT = {"max_new_tokens": 4}


@pytest.fixture(scope="module")
def shelf(tiny_model: Make, tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    folder = tmp_path_factory.mktemp("models")
    names = [str(tiny_model(kind).save_pretrained(folder / kind)) for kind in ("gpt2", "bert", "marian")]
    return Shelf(names=names)


@pytest.fixture
def client(shelf: Shelf) -> Iterator[TestClient]:
    with TestClient(make_app(shelf), base_url="http://127.0.0.1:8420", raise_server_exceptions=False) as client:
        yield client


def made(client: TestClient, model: str = "gpt2", **asked: Any) -> dict[str, Any]:
    writes = model != "bert"
    request = {"model": model, "text": "the cat", **({"write": True, "decoding": SHORT} if writes else {}), **asked}
    if model == "gpt2":
        request["decoding"] = {**SHORT, "temperature": 0}
    response = client.post("/api/runs", json=request)
    assert response.status_code == 200, response.text
    return response.json()


def test_models_are_described(client: TestClient) -> None:
    assert client.get("/api/models").json() == {"models": ["gpt2", "bert", "marian"]}
    found = client.get("/api/models/marian").json()
    assert found["family"] == "encoder-decoder" and found["stacks"]["decoder"]["layers"] == 2
    legend = client.get("/api/legend").json()
    assert {"letter": "H", "name": "head", "colour": "#cc79a7"} in legend["axes"] and len(legend["ramp"]) == 64


@pytest.mark.parametrize("model", ["gpt2", "bert", "marian"])
def test_the_numbers_are_those_of_the_run(client: TestClient, shelf: Shelf, model: str) -> None:
    found = made(client, model)
    run = shelf.run(found["run"])
    for site, record in found["sites"].items():
        response = client.get(f"/api/runs/{found['run']}/values", params={"site": site})
        shape = [int(n) for n in response.headers["x-shape"].split(",")]
        values = np.frombuffer(response.content, dtype="<f4").reshape(shape)
        np.testing.assert_array_equal(values, run[site][0])
        assert list(record["shape"]) == [1, *shape]
    row = found["candidates"][0]
    assert row == sorted(row, key=lambda one: -one["p"])
    assert row[0]["logit"] == pytest.approx(float(run["logits"][0, 0].max()))


def test_one_head_alone(client: TestClient) -> None:
    key = made(client)["run"]
    whole = client.get(f"/api/runs/{key}/values", params={"site": "decoder.0.self.pattern"}).content
    one = client.get(f"/api/runs/{key}/values", params={"site": "decoder.0.self.pattern", "head": 1}).content
    assert one == whole[len(whole) // 2 :]
    for head in ("9", "-1", "x"):
        query = {"site": "decoder.0.self.pattern", "head": head}
        assert client.get(f"/api/runs/{key}/values", params=query).status_code == 400


@pytest.mark.parametrize("model", ["gpt2", "bert", "marian"])
def test_every_number_opens_down_to_weights(client: TestClient, model: str) -> None:
    key = made(client, model)["run"]
    question: dict[str, Any] = {"site": "logits", "index": {"S" if model == "bert" else "T": 0, "V": 5}, "path": []}
    for _ in range(300):
        node = client.post(f"/api/runs/{key}/why", json=question).json()
        assert node["recomputed"] == pytest.approx(node["value"], abs=1e-5 * max(1, abs(node["value"])))
        opens = [(place, child) for place, child in enumerate(node["children"]) if child["opens"]]
        if not opens:
            break
        place, child = opens[0]
        if child["address"] and child["address"]["axes"]:
            index = dict(zip(child["address"]["axes"], child["address"]["index"], strict=True))
            question = {"site": child["address"]["name"], "index": index, "path": []}
        else:
            question["path"] = [*question["path"], place]
    else:
        pytest.fail("it never ended")


def test_an_edit_changes_the_run_and_says_what_is_wrong(client: TestClient) -> None:
    before, after = made(client), made(client, edits=["skip:decoder.0"])
    assert before["candidates"][0] != after["candidates"][0]
    response = client.post("/api/runs", json={"model": "gpt2", "text": "a", "edits": ["skip:decoder.7"]})
    assert response.status_code == 400 and "changed nothing" in response.json()["problem"]


def test_lens_heads_alignment_source_and_examples(client: TestClient) -> None:
    key = made(client, "marian")["run"]
    assert len(client.get(f"/api/runs/{key}/lens").json()["words"]) == 2
    assert client.get(f"/api/runs/{key}/heads").json()["heads"][0]["kind"]
    assert client.get(f"/api/runs/{key}/alignment").json()["weights"]
    assert "def attend" in client.get("/api/source", params={"file": "nn/attention/attend.py"}).json()["code"]
    for name in ("../pyproject.toml", "/etc/passwd", "nn/../../../LICENSE", ""):
        assert client.get("/api/source", params={"file": name}).status_code == 400
    assert "E4" in client.get("/api/examples").json()["examples"]
    assert client.get("/api/examples/E4").json()["results"]
    assert client.get("/api/examples/E99").status_code == 400


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 421),
        ({"host": "127.0.0.1.evil.example:8420"}, 421),
        ({"host": ""}, 421),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"host": "localhost:9999"}, 200),
        ({"origin": "http://127.0.0.1:8420"}, 200),
    ],
)
def test_only_this_page_is_answered(client: TestClient, headers: dict[str, str], status: int) -> None:
    assert client.get("/api/models", headers=headers).status_code == status


def test_every_answer_forbids_what_the_page_does_not_need(client: TestClient) -> None:
    for path in ("/", "/static/main.js", "/api/models", "/nowhere"):
        headers = client.get(path).headers
        assert "default-src 'self'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{",
        b'{"model": "gpt2"}',
        b'{"model": "gpt2", "text": 5}',
        b'{"model": "gpt2", "text": "a", "odd": 1}',
        b'{"model": "../gpt2", "text": "a"}',
        b'{"model": "gpt2", "text": "a", "decoding": {"beams": 10000}}',
        b'{"model": "gpt2", "text": "a", "edits": ["' + b"x" * 3000 + b'"]}',
        b'{"model": "bert", "text": ""}',
    ],
)
def test_requests_that_cannot_be_read_are_refused(client: TestClient, body: bytes) -> None:
    response = client.post("/api/runs", content=body)
    assert response.status_code == 400 and response.json()["problem"]


def test_large_bodies_are_refused(client: TestClient) -> None:
    assert client.post("/api/runs", content=b"x" * (MOST_BYTES + 1)).status_code == 413

    def pieces() -> Iterator[bytes]:
        for _ in range(8):
            yield b"x" * (MOST_BYTES // 4)

    assert client.post("/api/runs", content=pieces()).status_code >= 400


def test_old_runs_are_forgotten(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelf_module, "MOST_RUNS", 2)
    keys = [made(client)["run"] for _ in range(3)]
    assert client.get(f"/api/runs/{keys[0]}/heads").status_code == 404
    assert client.get(f"/api/runs/{keys[2]}/heads").status_code == 200


def test_paths_do_not_leave_the_page(client: TestClient) -> None:
    for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static//etc/passwd"):
        assert client.get(path).status_code == 404


def test_a_walk_and_a_picture_open_by_themselves(client: TestClient) -> None:
    key = made(client, "marian")["run"]
    questions = [{"site": "decoder.0.cross.pattern", "index": {"H": 0, "Q": 0, "K": 0}}, {"site": "score"}]
    page = client.post(f"/api/runs/{key}/walk", json={"questions": questions})
    assert page.status_code == 200 and "attachment" in page.headers["content-disposition"]
    assert "<details" in page.text and "<svg" in page.text and "src=" not in page.text and "<script" not in page.text
    picture = client.get(f"/api/runs/{key}/picture", params={"site": "decoder.0.cross.pattern", "head": "1"})
    assert picture.text.startswith("<svg")
    query = {"site": "decoder.0.cross.pattern", "kind": "png"}
    assert client.get(f"/api/runs/{key}/picture", params=query).content.startswith(b"\x89PNG")
    for site, head in (("nothing", ""), ("decoder.0.cross.pattern", "9"), ("decoder.0.cross.pattern", "x")):
        assert client.get(f"/api/runs/{key}/picture", params={"site": site, "head": head}).status_code == 400


def test_the_course_asks_and_judges(client: TestClient) -> None:
    chapters = client.get("/api/course").json()["chapters"]
    assert len(chapters) > 10 and "right" not in str(chapters[0]["questions"][0]["choices"])
    found = client.post("/api/course/sees/answer", json={"chosen": [1]}).json()
    assert found["right"] and "[1, 2, 3, 4, 5]" in found["shown"]
    assert not client.post("/api/course/sees/answer", json={"chosen": [0]}).json()["right"]
    assert client.post("/api/course/nothing/answer", json={"chosen": [0]}).status_code == 400
    assert client.post("/api/course/sees/answer", json={"chosen": ["x"]}).status_code == 400


def test_one_word_in_two_sentences(client: TestClient) -> None:
    asked = {"model": "bert", "first": "the cat", "second": "the mat", "word": "the"}
    layers = client.post("/api/similarity", json=asked).json()["layers"]
    assert [site for site, _ in layers] == ["encoder.0.resid_pre", "encoder.0.resid_post", "encoder.1.resid_post"]
    assert client.post("/api/similarity", json={**asked, "word": "dog"}).status_code == 400


def test_a_tiny_training_learns_is_watched_and_opened(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab, "_SETTINGS", (*lab._SETTINGS, "train.steps=30", "train.evaluate_every=10"))
    assert client.get("/api/training").json() == {"status": "none"}
    assert client.get("/api/training/gradient").status_code == 400
    assert client.post("/api/training", json={"task": "pairs", "pairs": "one line"}).status_code == 400
    assert client.post("/api/training", json={"task": "copy"}).status_code == 200
    assert client.post("/api/training", json={"task": "copy"}).status_code == 400
    found = settled(client)
    assert found["status"] == "done" and len(found["glimpses"]) == 3
    assert found["losses"][-1][1] < found["losses"][0][1]
    glimpse = found["glimpses"][-1]
    np.testing.assert_allclose(np.array(glimpse["pattern"]).sum(-1), 1, atol=1e-5)
    opened = client.get("/api/training/gradient").json()
    assert opened["gradient"]["recomputed"] == pytest.approx(opened["gradient"]["value"], abs=1e-5)
    assert client.get("/api/training", params={"since": 2}).json()["total"] == 3


def test_a_training_can_be_stopped(client: TestClient) -> None:
    assert client.post("/api/training", json={"task": "reverse"}).status_code == 200
    client.post("/api/training/stop", json={})
    assert settled(client)["status"] == "stopped"


def settled(client: TestClient) -> dict[str, Any]:
    for _ in range(600):
        found: dict[str, Any] = client.get("/api/training").json()
        if found["status"] != "running":
            return found
        time.sleep(0.1)
    raise AssertionError("it never ended")
