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
    page.set_default_timeout(60_000)
    page.wait_for_selector("#status:has-text('recorded')")
    page.wait_for_load_state("networkidle")
    return page


def _why(page: Page) -> None:
    page.locator(".bars .word").first.click()
    page.wait_for_selector("#why .term")


def _opened(page: Page) -> None:
    """A probability, then the number under it that weighs most, then what that one is made of."""
    _why(page)
    for place in range(1, 3):
        page.locator("#why button.operand, #why button.box").first.click()
        page.locator("#why .crumbs li").nth(place - 1).wait_for()


def _zoom(page: Page) -> None:
    page.locator(".part.cross").last.click()
    page.locator(".card[data-site$='cross.pattern']").click()
    page.wait_for_selector(".zoom .matrix canvas")
    page.locator(".zoom").scroll_into_view_if_needed()


def _beams(page: Page) -> None:
    page.get_by_text("The beam tree").click()
    page.get_by_role("button", name="next →").click()
    page.wait_for_selector(".tree svg")


def _off(page: Page) -> None:
    page.locator(".headgrid button").last.click()
    page.wait_for_selector("#after")
    page.wait_for_selector(".before-after canvas")


def _board(page: Page) -> None:
    page.wait_for_selector(".before-after canvas", timeout=60_000)


def _heads(page: Page) -> None:
    page.wait_for_selector(".headgrid canvas", timeout=60_000)
    page.wait_for_selector(".matrix canvas, .lines svg", timeout=60_000)


def _chips(page: Page) -> None:
    page.locator(".chip").nth(3).hover()


def _learn(page: Page) -> None:
    """Trains both networks once; they stay for the pictures after it."""
    page.get_by_label("network").select_option("both")
    if not page.locator("main polyline").count():
        page.get_by_role("button", name="Train", exact=True).click()
    page.wait_for_selector("#training-status:has-text('all ended')", timeout=600_000)


def _example(page: Page) -> None:
    page.get_by_text("Worked example E4").click()
    page.wait_for_selector(".result table")


def _lines(page: Page) -> None:
    page.wait_for_selector(".chapter .lines svg", timeout=60_000)


TRANSLATE = f"model=translator&to=fr&text={SENTENCE.replace(' ', '%20')}"
LONG = "%20".join(["The quick brown fox jumps over a lazy dog near the bank of the river."] * 16).replace(" ", "%20")
LETTERS = "a%20b%20c%20d%20e%20f%20g"
VIEWS: dict[str, tuple[str, Callable[[Page], None] | None]] = {
    "flow": (f"flow?{TRANSLATE}", None),
    "zoom": (f"flow?{TRANSLATE}", _zoom),
    "beams": (f"flow?{TRANSLATE}", _beams),
    "why": (f"flow?{TRANSLATE}", _why),
    "why-deeper": (f"flow?{TRANSLATE}", _opened),
    "attention": (f"attention?as=lines&{TRANSLATE}", _heads),
    "attention-hindi": (f"attention?{TRANSLATE.replace('to=fr', 'to=hi')}", _heads),
    "attention-long": (f"attention?part=encoder%20self&model=translator&to=fr&text={LONG}", _heads),
    "attention-text": (f"attention?as=text&part=encoder%20self&{TRANSLATE}", _chips),
    "what-if": (f"whatif?{TRANSLATE}", _off),
    "compare": ("compare?model=reader-meaning&text=She%20deposited%20money%20in%20the%20bank.", _board),
    "train": ("train?model=reader&text=a", _learn),
    "compare-recurrent": (
        f"compare?model=trained:%20Transformer&text={LETTERS}"
        f"&with=trained:%20RNN%20with%20Bahdanau%20attention&second={LETTERS}",
        _board,
    ),
    "course": (f"course?chapter=B6&{TRANSLATE}", _lines),
    "course-example": (f"course?chapter=B4&{TRANSLATE}", _example),
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
                page = opened(browser, address, query, **options)
                if then is not None:
                    then(page)
                page.wait_for_load_state("networkidle")
                page.wait_for_timeout(300)
                page.screenshot(path=HERE / f"page-{name}{kind}.png")
                print("wrote", HERE / f"page-{name}{kind}.png")
                page.context.close()
        browser.close()


if __name__ == "__main__":
    main()
