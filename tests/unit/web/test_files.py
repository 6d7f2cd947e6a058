"""The page's files: all that the first view needs is asked for at once, and what did not change is not sent again."""

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest
from starlette.testclient import TestClient

from clearhead.web import Shelf, make_app
from clearhead.web.app import STATIC


@pytest.fixture
def client() -> Iterator[TestClient]:
    with TestClient(make_app(Shelf(names=["reader"])), base_url="http://127.0.0.1:8420") as client:
        yield client


def imported(name: str) -> list[str]:
    """The modules that a module imports, by their names in the folder."""
    code = (STATIC / name).read_text(encoding="utf-8")
    here = PurePosixPath("/") / PurePosixPath(name).parent
    wanted = re.findall(r'^import [^;]*? from "([^"]+)";', code, flags=re.MULTILINE)
    return [Path(str(here / one)).resolve().as_posix()[1:] for one in wanted]


def test_every_module_of_the_first_view_is_asked_for_at_once() -> None:
    needed: set[str] = set()
    waiting = ["main.js"]
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            waiting += imported(name)
    assert len(needed) > 10
    page = (STATIC / "index.html").read_text(encoding="utf-8")
    hinted = re.findall(r'rel="modulepreload" href="/static/([^"]+)"', page)
    assert sorted(hinted) == sorted(needed)


def test_a_file_that_did_not_change_is_not_sent_again(client: TestClient) -> None:
    for path, kind in (("/", "text/html"), ("/static/main.js", "text/javascript"), ("/static/style.css", "text/css")):
        first = client.get(path)
        assert first.headers["content-type"].startswith(kind) and first.headers["cache-control"] == "no-cache"
        again = client.get(path, headers={"if-none-match": first.headers["etag"]})
        assert again.status_code == 304 and not again.content
    assert client.get("/static/none.js").status_code == 404


def test_the_first_view_comes_in_one_answer_once_it_was_made(client: TestClient) -> None:
    before = client.get("/api/start").json()
    assert before["ready"] is None and before["first"] == "reader" and before["models"] == ["reader"]
    opening = client.app.state.opening  # type: ignore[attr-defined]
    opening.prepare()
    ready = client.get("/api/start").json()["ready"]
    assert ready["model"] == client.get("/api/models/reader").json()
    asked = {"model": "reader", "text": ready["model"]["examples"][0]}
    own = client.post("/api/runs", json=asked).json()
    assert {**own, "run": ""} == {**ready["run"], "run": ""}
    for _ in range(40):
        client.post("/api/runs", json={**asked, "text": "a"})
    assert client.get("/api/start").json()["ready"] is None, "a run that is gone is not given out"
