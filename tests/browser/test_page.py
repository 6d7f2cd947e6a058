"""What one can do on the page: step, type, change, link, hear, and go without a mouse."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Request, expect
from starlette.applications import Starlette

Visit = Callable[..., Page]


def test_the_first_view_needs_one_answer(page: Page, address: str, app: Starlette) -> None:
    app.state.opening.prepare()
    asked: list[str] = []

    def note(request: Request) -> None:
        asked.append(request.url.removeprefix(address))

    page.on("request", note)
    page.goto(address)
    expect(page.locator(".stack .part").first).to_be_visible()
    page.remove_listener("request", note)
    assert [one for one in asked if one.startswith("api/") and "/values" not in one] == ["api/start"]
    expect(page.locator("#status")).to_contain_text("sites recorded")
    page.get_by_role("link", name="Who looks at whom").click()
    expect(page.locator(".headgrid canvas").first).to_be_visible()


def test_a_number_is_told_in_words(visit: Visit) -> None:
    page = visit("marian", site="decoder.0.cross.pattern", block="decoder.0.cross")
    expect(page.locator(".zoom .in-words")).to_contain_text("Who looks at whom")
    page.locator(".zoom .matrix canvas").press("Enter")
    expect(page.locator("#why .in-words")).to_contain_text("Of all its attention in head 0")
    expect(page.locator(".zoom")).to_be_visible()  # the table stays beside the answer
    share = float(page.locator("#why .big").inner_text())
    told = float(page.locator("#why .in-words").inner_text().partition("share: ")[2].partition(" %")[0])
    assert told == pytest.approx(100 * share, rel=6e-3)


def test_steps_of_decoding(visit: Visit) -> None:
    page = visit("marian")
    page.get_by_role("button", name="next →").click()
    expect(page.locator(".stepper .quiet")).to_contain_text("step 2 of")
    assert page.evaluate("document.activeElement.textContent") == "next →", "the keyboard lost its place"
    expect(page.locator(".decoding .token.here")).to_have_count(1)
    expect(page.locator(".decoding .token").nth(1)).to_have_class(re.compile("here"))
    expect(page.locator(".cache .cache-fresh")).to_have_count(2)
    expect(page.locator(".cache .cache-full")).to_have_count(2)
    page.get_by_text("The beam tree").click()
    expect(page.locator(".tree svg rect").first).to_be_visible()
    page.get_by_role("button", name="← back").click()
    expect(page.locator(".stepper .quiet")).to_contain_text("step 1 of")
    expect(page.locator(".tree svg rect").first).to_be_visible()
    page.get_by_role("button", name="play").click()
    page.keyboard.press("Enter")  # the same button, which says pause now and has kept the keyboard
    expect(page.get_by_role("button", name="play")).to_be_visible()
    page.get_by_role("button", name="play").click()
    expect(page.locator(".stepper .quiet")).not_to_contain_text("step 1 of")


def test_temperature_changes_what_may_be_drawn_at_once(visit: Visit) -> None:
    page = visit("gpt2")
    slider = page.get_by_label("temperature")
    slider.focus()
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    moved = page.locator(".bars .number").first
    expect(moved).to_contain_text("→")
    before, after = (float(one) for one in moved.inner_text().split("→"))
    assert after > before, "half the temperature makes the likeliest likelier"
    page.get_by_label("top-k").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".bars .number").nth(2)).to_contain_text("→ 0")


def test_typing_runs_at_once_and_errors_are_said(visit: Visit, allowed: list[str]) -> None:
    page = visit("gpt2")
    allowed.append("status of 400")
    page.fill("#text", "x")
    expect(page.locator(".decoding .token").first).to_have_text("x")
    page.fill("#text", "a" * 200)
    expect(page.locator("#status.error")).to_contain_text("longer")
    page.fill("#text", "b")
    expect(page.locator("#status")).to_contain_text("sites recorded")


def test_an_address_leads_back_to_the_number(visit: Visit, address: str) -> None:
    page = visit("gpt2")
    page.locator(".bars .word").nth(1).click()
    value = page.locator("#why .big").inner_text()
    expect(page).to_have_url(re.compile("why=logits"))
    link = page.url
    page.goto("about:blank")
    page.goto(link)
    expect(page.locator("#why .big")).to_have_text(value)
    page.get_by_role("link", name="Attention").click()
    expect(page.locator(".headgrid")).to_be_visible()
    page.go_back()
    expect(page.locator(".stack")).to_be_visible()


def test_a_cell_of_a_pattern_is_dragged(visit: Visit) -> None:
    page = visit("marian", "whatif", pattern="decoder.1.cross.pattern")
    canvas = page.locator(".before-after canvas").first
    canvas.focus()
    page.keyboard.press("ArrowDown")
    share = float(page.locator(".before-after .readout").first.inner_text().rpartition(":")[2])
    page.keyboard.press("+")
    expect(page.locator("code").last).to_contain_text("look:decoder.1.cross:head=0,query=1,weights=")
    after = page.locator(".before-after canvas").nth(1)
    after.focus()
    page.keyboard.press("ArrowDown")
    moved = float(page.locator(".before-after .readout").nth(1).inner_text().rpartition(":")[2])
    assert moved == pytest.approx(share + 0.1, abs=1e-4)


@pytest.mark.parametrize(
    ("does", "edit"),
    [
        ("leave out decoder.1", "skip:decoder.1"),
        ("open the causal mask", "open-mask:decoder"),
    ],
)
def test_other_changes(visit: Visit, does: str, edit: str) -> None:
    page = visit("gpt2", "whatif")
    page.get_by_label(does).check()
    expect(page.locator("code").last).to_contain_text(edit)
    expect(page.locator("#after")).to_be_visible()


def test_scores_and_positions_are_changed(visit: Visit) -> None:
    page = visit("bert", "whatif")
    page.get_by_label("factor of the scores").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("code").last).to_contain_text("scale:encoder.*.self:factor=1.41")
    page.get_by_label("first position").select_option("1")
    page.get_by_label("second position").select_option("3")
    expect(page.locator("code").last).to_contain_text("swap:encoder:first=1,second=3")


def test_two_texts_are_compared_by_layer(visit: Visit) -> None:
    page = visit("bert", "compare")
    page.get_by_label("Second text").fill("the mat")
    page.get_by_label("A word that both have").fill("the")
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.locator("main .curve circle")).to_have_count(3)
    expect(page.locator(".before-after canvas")).to_have_count(2)


def test_five_hundred_tokens_stay_usable(visit: Visit) -> None:
    text = " ".join(["the quick brown fox jumps over a lazy dog near the river bank"] * 24)
    page = visit("translator", "attention", text, to="fr", part="encoder self")
    n_tokens = int(page.locator("#status").inner_text().split()[0])
    assert n_tokens > 400
    overview = page.locator(".overview canvas")
    expect(overview).to_be_visible()
    expect(page.locator(".explore .matrix canvas")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 1282
    overview.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".overview")).to_contain_text("rows 16 to 47")
    box = overview.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page.locator(".overview")).not_to_contain_text("rows 16 to 47")
    page.get_by_role("button", name="text", exact=True).click()
    expect(page.locator(".chip").nth(400)).to_be_visible()


@pytest.mark.parametrize("view", ["flow", "attention", "whatif", "compare", "train", "course"])
def test_nothing_is_wider_than_a_phone(visit: Visit, page: Page, view: str) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    visit("translator", view, "The cat sat on the mat.", to="fr")
    expect(page.locator("main h2").first).to_be_visible()
    if view == "course":
        expect(page.get_by_role("region", name="Live").locator(".live-text")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 392
