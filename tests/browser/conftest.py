"""A real browser on a real server; nothing but that server can be reached, and any error of the page is a failure."""

import shutil
import threading
from collections.abc import Callable, Iterator

import pytest
import uvicorn
from playwright.sync_api import Browser, Page, Route, sync_playwright

from clearhead.model import Model
from clearhead.web import Shelf, make_app
from clearhead.web.serve import bound

Make = Callable[..., Model]


@pytest.fixture(scope="session")
def shelf(tiny_model: Make, tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    folder = tmp_path_factory.mktemp("models")
    return Shelf(names=[str(tiny_model(kind).save_pretrained(folder / kind)) for kind in ("marian", "gpt2", "bert")])


@pytest.fixture(scope="session")
def address(shelf: Shelf) -> Iterator[str]:
    listener = bound(8600)
    server = uvicorn.Server(uvicorn.Config(make_app(shelf), log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
    server.should_exit = True
    thread.join(10)
    listener.close()


@pytest.fixture(scope="module")  # while it is open an event loop runs here, which other tests must not find
def browser() -> Iterator[Browser]:
    path = shutil.which("chromium")
    assert path, "no chromium: .ci/browser installs it"
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
        browser = playwright.chromium.launch(executable_path=path, args=flags)
        yield browser
        browser.close()


@pytest.fixture
def allowed() -> list[str]:
    """What the browser may complain of: a test that provokes a refusal adds it here."""
    return []


@pytest.fixture
def page(browser: Browser, address: str, allowed: list[str]) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: problems.append(str(error)))

    def only_ours(route: Route) -> None:
        if route.request.url.startswith((address, "data:", "blob:")):
            route.continue_()
        else:
            problems.append(f"reached for {route.request.url}")
            route.abort()

    context.route("**/*", only_ours)
    yield page
    context.close()
    unexpected = [one for one in problems if not any(known in one for known in allowed)]
    assert not unexpected, unexpected
