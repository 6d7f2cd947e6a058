"""Take every picture that the pages of this project show: drawn by the models and the page as they are now.

python docs/pictures/take.py [--only NAME...] [--kind light|dark|phone|phone-dark...]

A picture of the page is taken at the width of a desktop and of a phone, in light and in dark. Where one cannot be
taken the others still are; the command says which, and fails. An error of the page is a failure too.
"""

import argparse
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright
from playwright.sync_api import Error as BrowserError
from small import small
from views import NEEDS_TRAINING, SENTENCE, VIEWS

import clearhead
from clearhead.explain import similarity_figure, word_similarity
from clearhead.explain.pictures import draw_sites
from clearhead.web import Shelf, make_app
from clearhead.web.serve import bound

HERE = Path(__file__).parent
BANKS = {
    "money · river": ("She deposited money in the bank.", "They walked along the bank of the river."),
    "money · money": ("She deposited money in the bank.", "He took cash from the bank."),
    "river · river": ("They walked along the bank of the river.", "We sat on the bank of the stream."),
}
PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1280, "height": 900}
KINDS = {
    "light": (DESKTOP, "light"),
    "dark": (DESKTOP, "dark"),
    "phone": (PHONE, "light"),
    "phone-dark": (PHONE, "dark"),
}
PATIENCE = 90_000


def drawings() -> dict[str, Callable[[], object]]:
    """The pictures that need no browser."""

    def looked(to: str, name: str) -> Callable[[], object]:
        def draw() -> object:
            run = clearhead.load("translator").trace(SENTENCE, to=to, sites="decoder.*.cross.pattern")
            return draw_sites(run, "decoder.*.cross.pattern", title=run.text).save(HERE / name)

        return draw

    def beams() -> object:
        run = clearhead.load("translator").generate("They walked along the bank of the river.", to="fr", beams=4)
        return run.beams().save(HERE / "beams.svg")

    def bank() -> object:
        loaded = clearhead.load("reader-meaning").loaded
        found = {name: word_similarity(loaded, *pair, word="bank") for name, pair in BANKS.items()}
        return similarity_figure(found, title="“bank” in two sentences").save(HERE / "bank.svg")

    def lens() -> object:
        story = "Once upon a time, there was a little dog"
        return clearhead.load("storyteller").trace(story).lens().figure().save(HERE / "lens.svg")

    return {
        "align": looked("fr", "align.svg"),
        "align-hindi": looked("hi", "align-hindi.png"),
        "beam-search": beams,
        "bank": bank,
        "lens": lens,
    }


@contextmanager
def served() -> Iterator[str]:
    """The page on a port, its first run made."""
    app = make_app(Shelf())
    app.state.opening.prepare()
    listener = bound(8700)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
    server.should_exit = True
    thread.join(10)


def window(browser: Browser, kind: str) -> BrowserContext:
    """A window of a width, in a scheme."""
    size, scheme = KINDS[kind]
    context = browser.new_context(viewport=size, color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
    context.set_default_timeout(PATIENCE)
    return context


def taken(page: Page, address: str, name: str) -> bytes:
    """A view, drawn and pictured.

    Raises:
        BrowserError: It could not be drawn, or the page complained.
    """
    query, then = VIEWS[name]
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
    page.goto(f"{address}{query}")
    page.wait_for_selector("#status:has-text('recorded')")
    then(page)
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(150)
    if complaints:
        raise BrowserError(f"the page complained: {complaints}")
    return page.screenshot()


def pictures(browser: Browser, address: str, names: list[str], kinds: list[str]) -> Iterator[tuple[str, str | None]]:
    """Takes views; gives the name of each with what went wrong."""
    desk = browser.new_page()
    for kind in kinds:
        context = window(browser, kind)
        for name in names:
            page, file = context.new_page(), f"page-{name}{'' if kind == 'light' else f'-{kind}'}.png"
            try:
                (HERE / file).write_bytes(small(desk, taken(page, address, name)))
                yield file, None
            except BrowserError as error:
                yield file, str(error).partition("\n")[0]
            finally:
                page.close()
        context.close()


def main() -> int:
    """Take them; gives 1 where one could not be taken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME", help=", ".join([*drawings(), *VIEWS]))
    parser.add_argument("--kind", nargs="*", default=list(KINDS), choices=list(KINDS))
    given = parser.parse_args()
    only: list[str] = given.only
    if unknown := sorted(set(only) - {*drawings(), *VIEWS}):
        parser.error(f"no such picture: {', '.join(unknown)}")
    for name, draw in drawings().items():
        if not only or name in only:
            print("wrote", draw())
    names = [name for name in VIEWS if not only or name in only]
    if NEEDS_TRAINING in names and "train" not in names:
        names.insert(names.index(NEEDS_TRAINING), "train")
    if not names:
        return 0
    path = shutil.which("chromium")
    assert path, "no chromium: .ci/browser installs it"
    wrong = 0
    with served() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        for file, problem in pictures(browser, address, names, given.kind):
            print("wrote" if problem is None else "FAILED", HERE / file, problem or "", flush=True)
            wrong += problem is not None
        browser.close()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
