"""Every view on real models of the three families: the embedded ones and a published one."""

from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from clearhead.web import Shelf

from .places import EMBEDDED, STORIES

Visit = Callable[..., Page]
TEXTS = {
    "translator": "The cat sat on the mat.",
    "storyteller": "Once upon a time, there was a little",
    "reader": "The cat drank some [MASK].",
    STORIES.name: "Once upon a time, there was a little",
}
MODELS = [*EMBEDDED, STORIES.name]


@pytest.fixture(params=MODELS)
def model(request: pytest.FixtureRequest) -> str:
    if request.param == STORIES.name and not STORIES.is_dir():
        pytest.skip(f"no {STORIES}: set CLEARHEAD_SHARED")
    return request.param


def test_every_view_of_a_model(visit: Visit, shelf: Shelf, model: str) -> None:
    config = shelf.model(model).config
    page = visit(model, text=TEXTS[model])
    stacks = {name: stack for name, stack in (("encoder", config.encoder), ("decoder", config.decoder)) if stack}
    _flow(page, shelf, stacks, crosses=len(stacks) == 2)
    _attention(page, stacks)
    _what_if(page)
    _compare(page)


def _flow(page: Page, shelf: Shelf, stacks: dict, *, crosses: bool) -> None:  # type: ignore[type-arg]
    expect(page.locator(".stack")).to_have_count(len(stacks))
    expect(page.locator(".block")).to_have_count(sum(stack.n_layers for stack in stacks.values()))
    expect(page.locator(".part.cross")).to_have_count(stacks["decoder"].n_layers if crosses else 0)
    page.locator(".part", has_text="self-attention").first.click()
    page.locator(".card[data-site$='self.pattern']").click()
    run = shelf.run(list(shelf._runs)[-1])
    first = next(iter(stacks))
    page.locator(".heads button").nth(1).click()
    expect(page.locator(".heads button").nth(1)).to_have_attribute("aria-pressed", "true")
    canvas = page.locator(".matrix canvas")
    canvas.focus()
    for _ in range(len(run[f"{first}.0.self.pattern"][0, 0])):
        page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    said = page.locator("#why .big")
    expect(said).to_be_visible()
    expected = float(run[f"{first}.0.self.pattern"][0, 1, 1, 0])
    assert float(said.inner_text()) == pytest.approx(expected, rel=1e-5)
    expect(page.locator("#why .good")).to_contain_text("✓")
    expect(page.locator("#why pre mark")).to_contain_text("probe(")
    _candidates(page, run["logits"][0])
    page.keyboard.press("Escape")
    expect(page.locator("#why")).to_be_hidden()


def _candidates(page: Page, logits: np.ndarray) -> None:
    """The probabilities that the page shows are the softmax of the recorded logits."""
    powers = np.exp(logits[0].astype(np.float64) - logits[0].max())
    best = np.sort(powers / powers.sum())[::-1]
    shown = [float(one) for one in page.locator(".bars .number").all_inner_texts()[:3]]
    assert shown == pytest.approx(list(best[:3]), rel=6e-3)


def _attention(page: Page, stacks: dict) -> None:  # type: ignore[type-arg]
    page.get_by_role("link", name="Attention").click()
    last = list(stacks.values())[-1]
    expect(page.locator(".headgrid canvas")).to_have_count(last.n_layers * last.attention.n_heads)
    page.get_by_role("button", name="lines", exact=True).click()
    _pointed(page, ".lines text", ".lines .readout")
    page.get_by_role("button", name="text", exact=True).click()
    _pointed(page, ".reading .chip", ".reading .readout")
    page.get_by_label("overview").select_option("entropy")
    expect(page.locator(".headgrid.numbers button")).to_have_count(last.n_layers * last.attention.n_heads)


def _pointed(page: Page, word: str, said: str) -> None:
    """Points at the first word until the page says what it looks at: a view that is drawn anew forgets the pointer."""
    for attempt in range(6):
        page.mouse.move(0, 0)
        page.locator(word).first.hover()
        try:
            expect(page.locator(said).first).to_contain_text("looks at", timeout=4_000)
        except AssertionError:
            if attempt == 5:
                raise
        else:
            return


def _what_if(page: Page) -> None:
    page.get_by_role("link", name="What if?").click()
    page.locator(".headgrid button").first.click()
    expect(page.locator("code").last).to_contain_text("self:head=0")
    expect(page.locator(".headgrid button").first).to_have_attribute("aria-pressed", "true")
    moved = page.locator(".panel .bars .number").filter(has_text="→")
    expect(moved.first).to_be_visible()
    pairs = [tuple(float(one) for one in text.split("→")) for text in moved.all_inner_texts()]
    assert any(before != after for before, after in pairs), pairs
    page.get_by_role("button", name="undo everything").click()
    expect(page.locator("main")).to_contain_text("Nothing is changed")


def _compare(page: Page) -> None:
    page.get_by_role("link", name="Compare").click()
    page.get_by_label("Second text").fill("The dog sat on the bank.")
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.locator(".before-after .matrix canvas, .before-after .overview canvas")).to_have_count(2)
    expect(page.locator(".before-after")).to_contain_text("The dog sat on the bank.")


def test_the_trail_of_a_probability_ends_at_an_embedding(visit: Visit) -> None:
    page = visit("storyteller", text=TEXTS["storyteller"])
    page.locator(".bars .word").first.click()
    names: list[str] = []
    for _ in range(80):
        expect(page.locator("#why .big")).to_be_visible()
        names.append(page.locator("#why .why-name").inner_text())
        terms = page.locator("#why button.operand, #why button.box")
        if "embed" in names[-1] or not terms.count():
            break
        before = page.locator("#why .crumbs li").count()
        terms.first.click()
        expect(page.locator("#why .crumbs li")).to_have_count(before + 1)
    assert any("embed" in name for name in names), names
    page.locator("#why .crumbs button").first.click()
    expect(page.locator("#why .why-name")).to_have_text(names[0])
