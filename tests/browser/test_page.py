"""The page in a real browser: views, numbers, keyboard, edits."""

import re

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from clearhead.web import Shelf

MODELS = ["marian", "gpt2", "bert"]


def opened(page: Page, address: str, model: str, view: str = "flow") -> None:
    page.goto(f"{address}#/{view}?model={model}&text=the%20cat")
    page.wait_for_selector("nav a[aria-current='page']")
    expect(page.locator("#status")).to_contain_text("sites recorded", timeout=20_000)


@pytest.mark.parametrize("model", MODELS)
def test_the_flow_is_drawn_from_the_configuration(page: Page, address: str, model: str) -> None:
    opened(page, address, model)
    n_stacks = 2 if model == "marian" else 1
    expect(page.locator(".stack")).to_have_count(n_stacks)
    expect(page.locator(".block")).to_have_count(2 * n_stacks)
    expect(page.locator(".cross")).to_have_count(2 if model == "marian" else 0)


@pytest.mark.parametrize("model", MODELS)
def test_a_number_on_the_page_is_the_number_of_the_run(page: Page, address: str, shelf: Shelf, model: str) -> None:
    opened(page, address, model)
    page.locator(".part", has_text="self-attention").first.click()
    page.locator(".card", has_text="self.pattern").click()
    canvas = page.locator(".matrix canvas")
    canvas.focus()
    for _ in range(20):
        page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    said = page.locator("#why .big")
    expect(said).to_be_visible()
    key = list(shelf._runs)[-1]
    stack = "decoder" if model == "gpt2" else "encoder"
    value = float(shelf.run(key)[f"{stack}.0.self.pattern"][0, 0, 1, 0])
    assert float(said.inner_text()) == pytest.approx(value, rel=1e-5)
    expect(page.locator("#why .good")).to_contain_text("✓")
    expect(page.locator("#why pre mark")).to_contain_text("probe(")


def test_why_leads_back_to_the_embedding(page: Page, address: str) -> None:
    opened(page, address, "gpt2")
    page.locator(".bars .word").first.click()
    names: list[str] = []
    for _ in range(40):
        expect(page.locator("#why .good, #why .formula").first).to_be_visible()
        names.append(page.locator("#why .quiet").first.inner_text())
        terms = page.locator("#why .term:not([disabled])")
        if not terms.count():
            break
        before = page.locator("#why .crumbs li").count()
        terms.first.click()
        expect(page.locator("#why .crumbs li")).to_have_count(before + 1)
    assert any("embed." in name for name in names), names
    page.locator("#why .crumbs button").first.click()
    expect(page.locator("#why .quiet").first).to_have_text(names[0])


def test_a_head_that_is_switched_off_changes_what_comes(page: Page, address: str) -> None:
    opened(page, address, "gpt2", "whatif")
    page.locator(".headgrid button").first.click()
    expect(page.locator("code")).to_contain_text("ablate:decoder.0.self:head=0")
    moved = page.locator(".panel .bars .number").first
    expect(moved).to_contain_text("→")
    before, after = (float(one) for one in moved.inner_text().split("→"))
    assert not np.isclose(before, after)
    page.get_by_role("button", name="undo everything").click()
    expect(page.locator(".panel")).to_contain_text("Nothing is changed")


def test_steps_of_decoding(page: Page, address: str) -> None:
    opened(page, address, "marian")
    page.get_by_role("button", name="next →").click()
    expect(page.locator(".stepper .quiet")).to_contain_text("step 2 of")
    assert "step=1" in page.url or page.locator(".token.here").count() == 1
    page.get_by_text("the beam tree").click()
    expect(page.locator(".tree svg rect").first).to_be_visible()


def test_attention_as_cells_and_as_lines(page: Page, address: str) -> None:
    opened(page, address, "marian", "attention")
    expect(page.locator(".headgrid canvas")).to_have_count(4)
    page.get_by_label("as lines between words").check()
    word = page.locator(".lines text").first
    word.hover()
    expect(page.locator(".lines .readout")).to_contain_text("looks at")


def test_typing_runs_at_once_and_errors_are_said(page: Page, address: str, allowed: list[str]) -> None:
    opened(page, address, "gpt2")
    allowed.append("status of 400")
    page.fill("#text", "another text")
    expect(page.locator(".tokens")).to_contain_text("x")
    page.fill("#text", "a" * 200)
    expect(page.locator("#status.error")).to_contain_text("longer", timeout=10_000)


def test_the_keyboard_alone_is_enough(page: Page, address: str) -> None:
    opened(page, address, "gpt2")
    page.locator("#text").focus()
    for _ in range(12):
        page.keyboard.press("Tab")
        if "Attention" in page.evaluate("document.activeElement.textContent"):
            break
    page.keyboard.press("Enter")
    expect(page.locator(".headgrid")).to_be_visible()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.tagName") in ("SELECT", "BUTTON", "INPUT")


def test_the_course_computes(page: Page, address: str) -> None:
    page.goto(f"{address}#/course")
    expect(page.locator("h2", has_text="Worked examples")).to_be_visible(timeout=20_000)
    page.get_by_role("button", name="E4", exact=True).click()
    expect(page.locator("main")).to_contain_text(re.compile("masked", re.IGNORECASE))


@pytest.mark.parametrize("view", ["flow", "attention", "whatif", "course"])
def test_nothing_is_wider_than_a_phone(page: Page, address: str, view: str) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    opened(page, address, "marian", view)
    page.wait_for_timeout(300)
    assert page.evaluate("document.documentElement.scrollWidth") <= 392
