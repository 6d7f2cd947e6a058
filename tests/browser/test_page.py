"""The page in a real browser: views, numbers, keyboard, edits."""

import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from clearhead.web import Shelf, lab

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
    expect(page.locator(".token.here")).to_have_count(1)
    expect(page.locator(".token").nth(1)).to_have_class(re.compile("here"))
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
    page.get_by_role("button", name=re.compile("^B4")).click(timeout=20_000)
    page.get_by_text("Worked example E4").click()
    expect(page.locator("main")).to_contain_text(re.compile("masked", re.IGNORECASE))
    expect(page.locator("table").first).to_be_visible()


def test_a_saved_walk_opens_without_the_server(page: Page, address: str, browser: Browser, tmp_path: Path) -> None:
    opened(page, address, "marian")
    page.locator(".bars .word").first.click()
    expect(page.locator("#why .term").first).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save", exact=True).click()
    path = tmp_path / "walk.html"
    download.value.save_as(path)
    alone = browser.new_page()
    wanted: list[str] = []
    alone.on("request", lambda request: wanted.append(request.url))
    alone.goto(path.as_uri())
    expect(alone.locator("h2", has_text="why")).to_be_visible()
    expect(alone.locator("svg").first).to_be_visible()
    assert wanted == [path.as_uri()]
    alone.close()


def test_a_quiz_explains_itself(page: Page, address: str) -> None:
    page.goto(f"{address}#/course")
    page.get_by_role("button", name=re.compile("^B4")).click(timeout=20_000)
    question = page.locator("[data-question=sees]")
    question.get_by_role("button", name="Check").click()
    expect(question).to_contain_text("Choose an answer first")
    question.get_by_label("2", exact=True).check()
    question.get_by_role("button", name="Check").click()
    expect(question).to_contain_text("Not quite. Right is: 3")
    expect(question).to_contain_text("[1, 2, 3, 4, 5]")
    question.get_by_label("3", exact=True).check()
    question.get_by_role("button", name="Check").click()
    expect(question.locator(".good")).to_have_text("Right.")
    page.reload()
    expect(page.locator("#progress")).to_contain_text("1 of", timeout=20_000)


def test_two_texts_are_compared_by_layer(page: Page, address: str) -> None:
    opened(page, address, "bert", "compare")
    page.get_by_label("Second text").fill("the mat")
    page.get_by_label("A word that both have").fill("the")
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.locator("main svg circle")).to_have_count(3)
    expect(page.locator(".before-after canvas")).to_have_count(2)


def test_a_training_is_watched(page: Page, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    short = (*lab._SETTINGS, "train.steps=20", "train.evaluate_every=10")
    monkeypatch.setattr(lab, "_SETTINGS", short)
    opened(page, address, "gpt2", "train")
    page.get_by_label("task").select_option("copy")
    page.get_by_role("button", name="Train", exact=True).click()
    expect(page.locator("#training-status")).to_contain_text("done", timeout=60_000)
    expect(page.locator("main polyline")).to_be_visible()
    page.get_by_text("one gradient").click()
    expect(page.locator("details details summary").first).to_contain_text("d loss / d")


@pytest.mark.parametrize("view", ["flow", "attention", "whatif", "compare", "train", "course"])
def test_nothing_is_wider_than_a_phone(page: Page, address: str, view: str) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    opened(page, address, "marian", view)
    page.wait_for_timeout(300)
    assert page.evaluate("document.documentElement.scrollWidth") <= 392
