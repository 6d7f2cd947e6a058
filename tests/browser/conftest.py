"""A real browser on a real server; nothing but that server can be reached, and any error of the page is a failure."""

import shutil
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from urllib.parse import quote, urlencode

import pytest
import uvicorn
from playwright.sync_api import Browser, Page, Route, expect, sync_playwright

from clearhead.model import Model
from clearhead.web import Shelf, make_app
from clearhead.web.serve import bound

from .places import EMBEDDED, STORIES

Make = Callable[..., Model]
PATIENCE = 60_000
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def shelf(tiny_model: Make, tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    folder = tmp_path_factory.mktemp("models")
    tiny = [str(tiny_model(kind).save_pretrained(folder / kind)) for kind in ("marian", "gpt2", "bert")]
    return Shelf(names=[*tiny, *EMBEDDED, *([str(STORIES)] if STORIES.is_dir() else [])])


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
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@dataclass
class Desk:
    """A window that the tests of a module share, and what went wrong in it."""

    page: Page
    problems: list[str] = field(default_factory=list[str])


@pytest.fixture(scope="module")
def desk(browser: Browser, address: str) -> Iterator[Desk]:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    context.set_default_timeout(PATIENCE)
    desk = Desk(page=context.new_page())

    def only_ours(route: Route) -> None:
        if route.request.url.startswith((address, "data:", "blob:")):
            route.continue_()
        else:
            desk.problems.append(f"reached for {route.request.url}")
            route.abort()

    context.route("**/*", only_ours)
    page, problems = desk.page, desk.problems
    page.on("console", lambda message: problems.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    yield desk
    context.close()


@pytest.fixture
def allowed() -> list[str]:
    """What the browser may complain of: a test that provokes a refusal adds it here."""
    return []


@pytest.fixture
def page(desk: Desk, allowed: list[str]) -> Iterator[Page]:
    expect.set_options(timeout=PATIENCE)
    page = desk.page
    page.goto("about:blank")
    page.set_viewport_size({"width": 1280, "height": 900})
    page.emulate_media(color_scheme="light")
    desk.problems.clear()
    yield page
    unexpected = [one for one in desk.problems if not any(known in one for known in allowed)]
    assert not unexpected, unexpected


@pytest.fixture
def visit(page: Page, address: str) -> Callable[..., Page]:
    """Opens a view with a model and a text, and waits until it has run."""

    def visit(model: str, view: str = "flow", text: str = "the cat", **where: str) -> Page:
        query = urlencode({"model": model, "text": text, **where}, quote_via=quote)
        page.goto(f"{address}#/{view}?{query}")
        expect(page.locator("#status")).to_contain_text("sites recorded")
        return page

    return visit
