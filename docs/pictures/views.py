"""What is pictured of the page: where each view is, and what is done there before it is taken."""

from collections.abc import Callable
from urllib.parse import quote, urlencode

from playwright.sync_api import Page

Then = Callable[[Page], None]
SENTENCE = "The cat sat on the mat."
STORY = "Once upon a time, there was a little"
LONG = " ".join(["The quick brown fox jumps over a lazy dog near the bank of the river."] * 16)
LETTERS = "a b c d e f g"
TRAINED = ("trained: Transformer", "trained: RNN with Bahdanau attention")
TRAINING = 600_000


def place(view: str, model: str = "translator", text: str = SENTENCE, **where: str) -> str:
    """The address of a view, without that of the server."""
    given = {"model": model, "text": text, **({"to": "fr"} if model == "translator" else {}), **where}
    return f"#/{view}?{urlencode(given, quote_via=quote)}"


def top(page: Page, selector: str) -> None:
    """Puts something at the top of the window, below the header."""
    page.locator(selector).first.evaluate("element => element.scrollIntoView({block: 'start'})")


def drawn(*selectors: str, first: str = "") -> Then:
    """Waits until something is drawn; puts something at the top."""

    def then(page: Page) -> None:
        for selector in selectors:
            page.wait_for_selector(selector)
        if first:
            top(page, first)

    return then


def why(page: Page) -> None:
    """The likeliest output, opened."""
    page.locator(".bars .word").first.click()
    page.wait_for_selector("#why .term")


def deeper(page: Page) -> None:
    """A share of a pattern, then the score under it: what a query and a key make of each other, number by number."""
    cell(page)
    for step, words in enumerate(("exp(score", "score - greatest", ".score[", "query · key")):
        page.locator(f"#why button[title*='{words}']").first.click()
        page.locator("#why .crumbs li").nth(step).wait_for()
    page.wait_for_selector("#why .term")


def cell(page: Page) -> None:
    """One cell of a pattern, asked why."""
    canvas = page.locator(MATRIX)
    canvas.wait_for()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight", "ArrowRight", "Enter"):
        canvas.press(key)
    page.wait_for_selector("#why .expression")
    top(page, ".zoom")


def beams(page: Page) -> None:
    """The beam tree, opened."""
    page.get_by_text("The beam tree").click()
    page.wait_for_selector(".tree svg")
    top(page, ".beams")


def off(page: Page) -> None:
    """Three of the heads that look at the source last, switched off."""
    heads = page.locator(".headgrid button")
    for behind in (1, 2, 4):
        heads.nth(heads.count() - behind).click()
        page.wait_for_selector("#after")
    page.wait_for_selector(".before-after canvas")


def chips(page: Page) -> None:
    """A word, pointed at."""
    page.locator(".reading .chip").nth(3).hover()
    page.wait_for_selector(".reading .asks")


def learn(page: Page) -> None:
    """Both networks, trained once; they stay for the pictures after it."""
    page.get_by_label("network").select_option("both")
    page.wait_for_load_state("networkidle")
    if not page.locator("#training-status").count():
        page.get_by_role("button", name="Train", exact=True).click()
    page.wait_for_selector("#training-status:has-text('all ended')", timeout=TRAINING)


def quiz(page: Page) -> None:
    """A question, answered wrongly, with what it then explains."""
    page.wait_for_selector(LIVE)
    question = page.locator("[data-question=sees]")
    question.get_by_label("2", exact=True).check()
    question.get_by_role("button", name="Check").click()
    question.get_by_text("Not quite").wait_for()
    top(page, "[data-question=sees]")


def example(page: Page) -> None:
    """A worked example, opened."""
    page.wait_for_selector(LIVE)
    page.get_by_text("Worked example E4").click()
    page.wait_for_selector(".result table")
    top(page, "[data-example=E4]")


PATTERN = {"block": "decoder.1.cross", "site": "decoder.1.cross.pattern"}
MATRIX = ".zoom .matrix canvas"
LIVE = "[aria-label=Live] .bars"  # it grows when it has run, and moves what stands below it
VIEWS: dict[str, tuple[str, Then]] = {
    "flow": (place("flow"), drawn(".looked .chip")),
    "steps": (place("flow", step="4"), drawn(".looked .chip", first=".decoding")),
    "beams": (place("flow", step="2"), beams),
    "why": (place("flow", step="2"), why),
    "why-deeper": (place("flow", **PATTERN, head="1"), deeper),
    "zoom-block": (place("flow", block="decoder.1.cross"), drawn(".card canvas", first=".zoom")),
    "zoom-head": (place("flow", **PATTERN, head="1"), drawn(MATRIX, first=".zoom")),
    "zoom-matrix": (place("flow", block="decoder.1.cross", site="decoder.1.cross.score"), drawn(MATRIX, first=".zoom")),
    "zoom-cell": (place("flow", **PATTERN, head="1"), cell),
    "attention": (place("attention", **{"as": "lines"}), drawn(".headgrid canvas", ".lines svg")),
    "attention-cells": (
        place("attention", part="encoder self", by="entropy"),
        drawn(".headgrid.numbers", ".matrix canvas"),
    ),
    "attention-hindi": (
        place("attention", to="hi"),
        drawn("[aria-label=Alignment] canvas", first="[aria-label=Alignment]"),
    ),
    "attention-text": (place("attention", part="encoder self", **{"as": "text"}), chips),
    "attention-long": (place("attention", text=LONG, part="encoder self"), drawn(".headgrid canvas", ".matrix canvas")),
    "what-if": (place("whatif"), off),
    "story": (place("flow", "storyteller", STORY), drawn(".looked .chip")),
    "reader": (place("flow", "reader", "The cat drank some [MASK].", step="5"), drawn(".looked .chip")),
    "compare": (place("compare", "reader-meaning", "She deposited money in the bank."), drawn(".before-after canvas")),
    "train": (place("train"), learn),
    "compare-recurrent": (
        place("compare", TRAINED[0], LETTERS, second=LETTERS, **{"with": TRAINED[1]}),
        drawn(".before-after canvas"),
    ),
    "course": (place("course", chapter="B6"), drawn(".chapter .lines svg")),
    "quiz": (place("course", chapter="B4"), quiz),
    "example": (place("course", chapter="B4"), example),
}
NEEDS_TRAINING = "compare-recurrent"
