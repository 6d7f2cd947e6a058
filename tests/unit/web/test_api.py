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
from clearhead.web.routes.runs import in_blocks

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
    legend = client.get("/api/start").json()
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


def test_an_example_with_other_numbers(client: TestClient) -> None:
    plain = client.get("/api/examples/E11").json()
    assert [one["key"] for one in plain["inputs"]] == ["x", "w"]
    other = client.post("/api/examples/E11", json={"given": {"x": [[1, 0], [0, 1], [0, 0]]}}).json()
    assert other["results"][0]["computed"] == [[3, 1, 5], [6, 9, 7], [0, 0, 0]]
    assert client.post("/api/examples/E11", json={"given": {"x": [["a"]]}}).status_code == 400
    assert client.post("/api/examples/E99", json={"given": {}}).status_code == 400


def test_blocks_of_a_pattern_still_sum_to_one() -> None:
    pattern = np.random.default_rng(0).dirichlet(np.ones(100), size=(2, 70)).astype(np.float32)
    found = in_blocks(pattern, most=16, shares=True)
    assert found.shape == (2, 14, 15)
    np.testing.assert_allclose(found.sum(-1), 1, atol=1e-5)
    np.testing.assert_allclose(found[1, 2, 3], pattern[1, 10:15, 21:28].sum(-1).mean(), atol=1e-6)
    scores = np.zeros((4, 40), dtype=np.float32)
    scores[1, 3], scores[1, 2], scores[0, 0] = -5, 2, np.nan
    assert in_blocks(scores, most=10, shares=False)[1, 0] == -5
    assert in_blocks(scores, most=10, shares=False)[0, 0] == 0


def test_one_word_in_two_sentences(client: TestClient) -> None:
    asked = {"model": "bert", "first": "the cat", "second": "the mat", "word": "the"}
    layers = client.post("/api/similarity", json=asked).json()["layers"]
    assert [site for site, _ in layers] == ["encoder.0.resid_pre", "encoder.0.resid_post", "encoder.1.resid_post"]
    assert client.post("/api/similarity", json={**asked, "word": "dog"}).status_code == 400


def test_tiny_trainings_learn_are_watched_and_opened(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab, "_SETTINGS", (*lab._SETTINGS, "train.steps=12", "train.evaluate_every=4"))
    assert client.get("/api/training").json() == {"status": "none", "lessons": []}
    assert client.get("/api/training/gradient").status_code == 400
    assert client.post("/api/training", json={"task": "pairs", "pairs": "one line"}).status_code == 400
    asked = {"task": "copy", "architectures": ["transformer", "recurrent-attention", "recurrent"]}
    assert client.post("/api/training", json=asked).status_code == 200
    assert client.post("/api/training", json=asked).status_code == 400
    found = settled(client)
    assert [one["status"] for one in found["lessons"]] == ["done"] * 3
    for lesson in found["lessons"]:
        assert len(lesson["glimpses"]) == 3
        assert lesson["losses"][-1][1] < lesson["losses"][0][1]
        pattern = lesson["glimpses"][-1]["pattern"]
        assert (pattern is None) == (lesson["architecture"] == "recurrent")
        if pattern is not None:
            assert np.shape(pattern) == tuple(len(lesson["glimpses"][-1][side]) for side in ("rows", "columns"))
            np.testing.assert_allclose(np.array(pattern).sum(-1), 1, atol=1e-5)
    opened = client.get("/api/training/gradient").json()
    assert opened["gradient"]["recomputed"] == pytest.approx(opened["gradient"]["value"], abs=1e-5)
    later = client.get("/api/training", params={"since": "2,1"}).json()["lessons"]
    assert [len(one["glimpses"]) for one in later] == [1, 2, 3]
    _students_are_models(client, [one["name"] for one in found["lessons"]])


def _students_are_models(client: TestClient, names: list[str]) -> None:
    """What was trained is listed, described, run, opened and edited like any other model."""
    assert set(names) <= set(client.get("/api/models").json()["models"])
    for name in names:
        assert client.get(f"/api/models/{name}").json()["trained"]
        run = client.post("/api/runs", json={"model": name, "text": "a b c"}).json()
        assert [token["shown"] for token in run["source"]][:3] == ["a", "b", "c"]
        why = client.post(f"/api/runs/{run['run']}/why", json={"site": "logits", "index": {"T": 0, "V": 5}}).json()
        assert why["recomputed"] == pytest.approx(why["value"], abs=1e-4)
        assert why["plus"] + why["minus"] == pytest.approx(why["recomputed"], abs=1e-6)
    blind = {"model": names[1], "text": "a b c", "edits": ["ablate:decoder.cross"]}
    run = client.post("/api/runs", json=blind).json()
    values = client.get(f"/api/runs/{run['run']}/values", params={"site": "decoder.cross.mixed", "head": 0})
    assert not np.frombuffer(values.content, "<f4").any()


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
