"""A walk on real models with the keyboard alone, saved, and opened again without the server."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from clearhead.explain import Run

from .places import TEXTS

Visit = Callable[..., Page]
SAID = "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent"
# Every number of the file that says what it is, and every cell of every picture.
NUMBERS = (
    """() => [...document.querySelectorAll(".value")].map(one => [one.textContent, one.nextSibling.textContent])"""
)
CELLS = """() => Object.fromEntries([...document.querySelectorAll("svg[aria-label$='.pattern']")].map(svg =>
    [svg.getAttribute("aria-label"), [...svg.querySelectorAll(".cell title")].map(one => one.textContent)]))"""
PLACE = re.compile(r"^ ([\w.]+)\[((?:[A-Z]=\d+(?:, )?)+)\]")


def test_a_walk_by_keyboard_is_kept_in_one_file(
    visit: Visit, shown: Callable[[], Run], browser: Browser, tmp_path: Path, model: str
) -> None:
    page = visit(model, text=TEXTS[model])
    run = shown()
    value = _walk(page)
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    path = tmp_path / "walk.html"
    download.value.save_as(path)
    wanted: list[str] = []
    opened = browser.new_page()
    opened.on("request", lambda request: wanted.append(request.url))
    opened.goto(path.as_uri())
    _same_numbers(opened, run, value)
    assert wanted == [path.as_uri()], "it needs nothing else"
    opened.close()


def _walk(page: Page) -> float:
    """From the top of the page to a number and to what it is made of, then to where it is saved; gives the number."""
    page.locator("body").press("Home")
    _reach(page, "Skip to the view")
    page.keyboard.press("Enter")
    _reach(page, "self-attention")
    page.keyboard.press("Enter")
    expect(page.locator(".card").first).to_be_visible()
    _reach(page, "self.patternB")
    page.keyboard.press("Enter")
    expect(page.locator(".zoom .matrix canvas")).to_be_visible()
    _reach(page, "Arrow keys move")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#why .big")).to_be_visible()
    value = float(page.locator("#why .big").inner_text())
    assert page.evaluate("document.activeElement.textContent") == "Why?"
    _reach(page, "score", most=6)
    page.keyboard.press("Enter")
    expect(page.locator("#why .crumbs li")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.locator("#why")).to_be_hidden()
    assert page.evaluate("document.activeElement.tagName") == "CANVAS", "the keyboard goes back where it asked"
    _reach(page, "Save walk", key="Shift+Tab")
    return value


def _reach(page: Page, words: str, *, most: int = 160, key: str = "Tab") -> None:
    for _ in range(most):
        page.keyboard.press(key)
        if words in page.evaluate(SAID):
            return
    raise AssertionError(f"{words} was not reached")


def _same_numbers(opened: Page, run: Run, value: float) -> None:
    """What the file says of the run is the run's: its text, its scores, the numbers that were opened, its patterns."""
    numbers = opened.evaluate(NUMBERS)
    assert float(numbers[0][0]) == pytest.approx(value, rel=1e-5)
    found = [(float(said), PLACE.match(name)) for said, name in numbers]
    recorded = [(said, place) for said, place in found if place and place[1] in run]
    assert recorded, numbers
    for said, place in recorded:
        index = [int(one.partition("=")[2]) for one in place[2].split(", ")]
        expected = float(run[place[1]][0][tuple(index)])
        assert said == pytest.approx(expected, rel=1e-5), place[0]
    pictures = opened.evaluate(CELLS)
    assert set(pictures) <= set(run) and len(pictures) >= 4
    for site, titles in pictures.items():
        cells = [float(title.rpartition(": ")[2]) for title in titles]
        assert cells == pytest.approx(list(run[site][~np.isnan(run[site])]), rel=6e-4), site
    if run.text:
        expect(opened.locator("strong").first).to_have_text(run.text.strip())
        scores = [float(row) for row in opened.locator("table td:nth-child(2)").all_inner_texts()]
        assert scores == pytest.approx(list(run.trace.scores), abs=6e-5)
