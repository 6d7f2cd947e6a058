"""The course, its questions and its worked examples; and a training that is watched from the page."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from clearhead.lessons import EXAMPLES
from clearhead.lessons.course import CHAPTERS, QUESTIONS
from clearhead.web import lab

Visit = Callable[..., Page]


def chapter(page: Page, address: str, key: str) -> None:
    page.goto(f"{address}#/course?model=gpt2&text=the&chapter={key}")
    expect(page.locator("article h2")).to_contain_text(f"{key}.")
    stands(page)


def stands(page: Page) -> None:
    """Waits until nothing comes any more that would move what is clicked."""
    expect(page.locator("#view")).to_have_attribute("aria-busy", "false")
    expect(page.locator("#view [aria-busy=true]")).to_have_count(0)


def test_there_are_questions_enough() -> None:
    assert len(QUESTIONS) >= 30
    assert {key for one in CHAPTERS for key in one.examples} == set(EXAMPLES)


def test_a_quiz_explains_itself_and_is_remembered(page: Page, address: str) -> None:
    chapter(page, address, "B4")
    page.evaluate("localStorage.clear()")
    page.reload()
    expect(page.locator("#progress")).to_contain_text("0 of")
    stands(page)
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
    expect(page.locator("#progress")).to_contain_text(f"1 of {len(QUESTIONS)}")


def test_the_notes_figure_stands_beside_the_right_one(page: Page, address: str) -> None:
    chapter(page, address, "B4")
    page.get_by_text("Worked example E4").click()
    product = page.locator(".result", has_text="Q Kᵀ").first
    expect(product).to_contain_text("the notes print")
    expect(product.locator("table").nth(0)).to_contain_text("0.94")
    expect(product.locator("table").nth(1)).to_contain_text("0.63")


def test_other_numbers_are_worked_out(page: Page, address: str, allowed: list[str]) -> None:
    allowed.append("status of 400")
    chapter(page, address, "B3")
    page.get_by_text("Worked example E11").click()
    first = page.get_by_label("X", exact=True).first
    expect(page.locator(".result")).to_contain_text("33")
    first.fill("10")
    first.press("Tab")
    expect(page.locator(".result")).to_contain_text(str(10 * 3 + 4 * 6))
    expect(page.locator(".result")).not_to_contain_text("as the notes print")
    first.fill("99999")
    first.press("Tab")
    expect(page.locator("[data-example=E11]")).to_contain_text("a number out of range")
    page.get_by_role("button", name="back to the notes' numbers").click()
    expect(page.locator(".result")).to_contain_text("as the notes print")


def test_the_thing_itself_is_beside_the_text(page: Page, address: str) -> None:
    page.goto(f"{address}#/course?model=gpt2&text=the&chapter=B6")
    live = page.get_by_role("region", name="Live")
    expect(live.locator(".lines svg")).to_be_visible()
    words = live.get_by_role("textbox")
    words.fill("Thank you.")
    words.press("Tab")
    expect(live.locator(".lines")).to_contain_text("Thank")


def test_networks_are_trained_watched_and_compared(
    visit: Visit, page: Page, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lab, "_SETTINGS", (*lab._SETTINGS, "train.steps=20", "train.evaluate_every=10"))
    visit("gpt2", "train")
    page.get_by_label("task").select_option("copy")
    page.get_by_label("network").select_option("both")
    page.get_by_role("button", name="Train", exact=True).click()
    expect(page.locator("#training-status")).to_contain_text("all ended", timeout=240_000)
    expect(page.locator("#training-status")).to_contain_text("Bahdanau attention: done")
    expect(page.locator("main polyline")).to_have_count(2)
    expect(page.get_by_text("teacher forcing")).to_have_count(2)
    expect(page.get_by_text("running free")).to_have_count(2)
    expect(page.locator("main .matrix canvas")).to_have_count(2)
    page.get_by_text("one gradient").click()
    expect(page.locator("details.branch summary").first).to_contain_text("d loss / d")
    looks = page.get_by_label("Which look").get_attribute("max")
    page.get_by_role("link", name="Course", exact=True).click()
    expect(page.locator("article h2")).to_be_visible()
    page.get_by_role("link", name="Train", exact=True).click()
    expect(page.locator("main .matrix canvas")).to_have_count(2)
    expect(page.get_by_label("Which look")).to_have_attribute("max", looks or "")  # none is counted twice
    page.get_by_role("link", name="compare them").click()
    expect(page.locator(".before-after h3", has_text="RNN with Bahdanau attention")).to_be_visible()
    expect(page.locator(".before-after canvas")).to_have_count(2)
    page.locator("#model").select_option("trained: RNN with Bahdanau attention")
    page.get_by_role("link", name="Flow").click()
    expect(page.locator(".part.cross")).to_have_count(1)
    expect(page.locator(".part.cross")).to_contain_text("Bahdanau")
    page.locator(".part.cross").click()
    page.locator(".card[data-site$='cross.pattern']").click()
    page.locator(".zoom .matrix canvas").press("Enter")
    expect(page.locator("#why .good")).to_contain_text("✓")


def test_pairs_that_cannot_be_learned_from_are_refused(visit: Visit, page: Page, allowed: list[str]) -> None:
    allowed.append("status of 400")
    visit("gpt2", "train")
    page.get_by_label("task").select_option("pairs")
    page.get_by_label(re.compile("Pairs: source")).fill("no tab here\nnor here")
    page.get_by_role("button", name="Train", exact=True).click()
    expect(page.locator("#status.error")).to_contain_text("pairs that cannot be learned from")
