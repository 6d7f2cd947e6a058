"""A real browser on a real server; nothing but that server can be reached, and any error of the page is a failure."""

import shutil
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

import jaxtyping
import pytest
import uvicorn
from playwright.sync_api import Browser, Page, Request, expect, sync_playwright
from starlette.applications import Starlette

from clearhead.explain import Run
from clearhead.model import Model
from clearhead.web import Shelf, make_app
from clearhead.web.serve import bound

from .places import EMBEDDED, MODELS, STORIES

Make = Callable[..., Model]
PATIENCE = 60_000
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]


@pytest.fixture(scope="module", autouse=True)
def speed_of_a_users() -> Iterator[None]:
    """Shapes are checked by the tests of every room; here the server answers as quickly as it does for its users.

    A function inside another is made at every call of it, and would be wrapped anew each time: hundreds for one number.
    """
    wrapped = jaxtyping.jaxtyped

    def outermost(*, typechecker: Any) -> Callable[..., Any]:
        checked = wrapped(typechecker=typechecker)
        return lambda one: one if "<locals>" in one.__qualname__ else checked(one)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jaxtyping.config, "jaxtyping_disable", True)
        patch.setattr(jaxtyping, "jaxtyped", outermost)
        yield


@pytest.fixture(scope="session")
def shelf(tiny_model: Make, tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    folder = tmp_path_factory.mktemp("models")
    tiny = [str(tiny_model(kind).save_pretrained(folder / kind)) for kind in ("marian", "gpt2", "bert")]
    return Shelf(names=[*tiny, *EMBEDDED, *([str(STORIES)] if STORIES.is_dir() else [])])


@pytest.fixture(scope="session")
def app(shelf: Shelf) -> Starlette:
    return make_app(shelf)


@pytest.fixture(scope="session")
def address(app: Starlette) -> Iterator[str]:
    listener = bound(8600)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
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

    def only_ours(request: Request) -> None:  # others cannot be found: see FLAGS
        if not request.url.startswith((address, "data:", "blob:", "about:")):
            desk.problems.append(f"reached for {request.url}")

    context.on("request", only_ours)
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


@pytest.fixture(params=MODELS)
def model(request: pytest.FixtureRequest) -> str:
    """A real model of each family, and a published one."""
    if request.param == STORIES.name and not STORIES.is_dir():
        pytest.skip(f"no {STORIES}: set CLEARHEAD_SHARED")
    return request.param


@pytest.fixture
def shown(page: Page, shelf: Shelf) -> Callable[[], Run]:
    """The run that the page shows now, as the server holds it."""

    def shown() -> Run:
        return shelf.run(page.evaluate("import('/static/state.js').then(({state}) => state.run.run)"))

    return shown


@pytest.fixture
def visit(page: Page, address: str) -> Callable[..., Page]:
    """Opens a view with a model and a text, and waits until it has run and is drawn."""

    def visit(model: str, view: str = "flow", text: str = "the cat", **where: str) -> Page:
        query = urlencode({"model": model, "text": text, **where}, quote_via=quote)
        page.goto(f"{address}#/{view}?{query}")
        expect(page.locator("#status")).to_contain_text("sites recorded")
        expect(page.locator("#view")).to_have_attribute("aria-busy", "false")
        return page

    return visit
