"""Take every picture that the pages of this project show: drawn by the models and the page as they are now.

python docs/pictures/take.py [--only NAME...]
"""

import argparse
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from playwright.sync_api import Browser, Page, sync_playwright

import clearhead
from clearhead.explain import similarity_figure, word_similarity
from clearhead.explain.pictures import draw_sites
from clearhead.web import Shelf, make_app
from clearhead.web.serve import bound

HERE = Path(__file__).parent
SENTENCE = "The cat sat on the mat."
BANKS = {
    "money · river": ("She deposited money in the bank.", "They walked along the bank of the river."),
    "money · money": ("She deposited money in the bank.", "He took cash from the bank."),
    "river · river": ("They walked along the bank of the river.", "We sat on the bank of the stream."),
}
PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1280, "height": 900}


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
        return (
            clearhead.load("storyteller")
            .trace("Once upon a time, there was a little dog")
            .lens()
            .figure()
            .save(HERE / "lens.svg")
        )

    return {
        "align": looked("fr", "align.svg"),
        "align-hindi": looked("hi", "align-hindi.png"),
        "beams": beams,
        "bank": bank,
        "lens": lens,
    }


@contextmanager
def served() -> Iterator[str]:
    """The page on a port."""
    listener = bound(8700)
    server = uvicorn.Server(uvicorn.Config(make_app(Shelf()), log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
    server.should_exit = True
    thread.join(10)


def opened(browser: Browser, address: str, query: str, *, dark: bool = False, phone: bool = False) -> Page:
    """A view, drawn."""
    context = browser.new_context(viewport=PHONE if phone else DESKTOP, color_scheme="dark" if dark else "light")
    page = context.new_page()
    page.goto(f"{address}#/{query}")
    page.wait_for_selector("#status:has-text('recorded')", timeout=30_000)
    page.wait_for_timeout(600)
    return page


def _why(page: Page) -> None:
    page.locator(".bars .word").first.click()
    page.wait_for_selector("#why .term")
    page.get_by_role("button", name="as the sum of what every block wrote").click()
    page.wait_for_timeout(500)


def _zoom(page: Page) -> None:
    page.locator(".cross").last.click()
    page.wait_for_selector(".card canvas")
    page.locator(".card", has_text="cross.pattern").click()
    page.wait_for_selector(".matrix canvas")
    page.wait_for_timeout(300)


def _off(page: Page) -> None:
    page.locator(".headgrid button").last.click()
    page.wait_for_selector("#after")
    page.wait_for_timeout(400)


def _learn(page: Page) -> None:
    page.get_by_role("button", name="Train", exact=True).click()
    page.wait_for_selector("#training-status:has-text('done')", timeout=240_000)
    page.wait_for_timeout(400)


TRANSLATE = f"model=translator&to=fr&text={SENTENCE.replace(' ', '%20')}"
VIEWS: dict[str, tuple[str, Callable[[Page], None] | None]] = {
    "flow": (f"flow?{TRANSLATE}", _zoom),
    "why": (f"flow?{TRANSLATE}", _why),
    "attention": (f"attention?{TRANSLATE.replace('to=fr', 'to=hi')}", None),
    "what-if": (f"whatif?{TRANSLATE}", _off),
    "compare": ("compare?model=reader-meaning&text=She%20deposited%20money%20in%20the%20bank.", None),
    "train": (f"train?{TRANSLATE}", _learn),
    "course": (f"course?{TRANSLATE}", None),
}


def main() -> None:
    """Take them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[])
    only: list[str] = parser.parse_args().only
    for name, draw in drawings().items():
        if not only or name in only:
            print("wrote", draw())
    wanted = {name: view for name, view in VIEWS.items() if not only or name in only}
    if not wanted:
        return
    path = shutil.which("chromium")
    assert path, "no chromium: .ci/browser installs it"
    with served() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        for name, (query, then) in wanted.items():
            for kind, options in (("", {}), ("-dark", {"dark": True}), ("-phone", {"phone": True})):
                if kind and name == "train":
                    continue
                page = opened(browser, address, query, **options)
                if then is not None:
                    then(page)
                page.screenshot(path=HERE / f"page-{name}{kind}.png")
                print("wrote", HERE / f"page-{name}{kind}.png")
                page.context.close()
        browser.close()


if __name__ == "__main__":
    main()
