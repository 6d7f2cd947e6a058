"""Every view on real models of the three families: the embedded ones and a published one."""

from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from clearhead.explain import Run
from clearhead.explain.numbers import softmax
from clearhead.web import Shelf

from .places import TEXTS

Visit = Callable[..., Page]
Shown = Callable[[], Run]
SECOND = "The dog sat on the bank."


def test_every_view_of_a_model(visit: Visit, shelf: Shelf, shown: Shown, model: str) -> None:
    config = shelf.model(model).config
    page = visit(model, text=TEXTS[model])
    stacks = {name: stack for name, stack in (("encoder", config.encoder), ("decoder", config.decoder)) if stack}
    run = shown()
    _flow(page, run, stacks, crosses=len(stacks) == 2)
    _attention(page, run, stacks)
    _what_if(page, run, shelf)
    _compare(page, run, shelf)
    _train(page)
    _quiz(page)


def _flow(page: Page, run: Run, stacks: dict, *, crosses: bool) -> None:  # type: ignore[type-arg]
    expect(page.locator(".stack")).to_have_count(len(stacks))
    expect(page.locator(".block")).to_have_count(sum(stack.n_layers for stack in stacks.values()))
    expect(page.locator(".part.cross")).to_have_count(stacks["decoder"].n_layers if crosses else 0)
    _looked_at(page, run, "decoder" if "decoder" in stacks else "encoder", crosses=crosses)
    page.locator(".part", has_text="self-attention").first.click()
    page.locator(".card[data-site$='self.pattern']").click()
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
    _candidates(page.locator(".decoding .bars"), run)
    page.keyboard.press("Escape")
    expect(page.locator("#why")).to_be_hidden()


def _looked_at(page: Page, run: Run, stack: str, *, crosses: bool) -> None:
    """What a step looks at, as the page shades it, is the mean of the last layer's heads."""
    site = [
        one for one in run if one.startswith(stack) and one.endswith("cross.pattern" if crosses else "self.pattern")
    ][-1]
    pattern = run[site][0]
    row = pattern.shape[1] - len(run["logits"][0]) if stack == "decoder" else 0
    expected = np.nan_to_num(pattern[:, row].mean(axis=0))
    words = page.locator(".looked .chip small")
    expect(words.first).to_be_visible()
    shown = [float(one) for one in words.all_inner_texts()]
    assert shown == pytest.approx(list(expected[: len(shown)]), rel=6e-2, abs=1e-6)
    assert np.all(expected[len(shown) :] == 0), "what is left out is closed"


def _candidates(bars: Locator, run: Run) -> None:
    """The probabilities that the page shows are the softmax of the recorded logits."""
    best = np.sort(softmax(run["logits"][0][0].astype(np.float64)))[::-1]
    said = [float(one) for one in bars.locator(".number").all_inner_texts()[:3]]
    assert said == pytest.approx(list(best[:3]), rel=6e-3)


def _attention(page: Page, run: Run, stacks: dict) -> None:  # type: ignore[type-arg]
    page.get_by_role("link", name="Attention").click()
    last = list(stacks.values())[-1]
    expect(page.locator(".headgrid canvas")).to_have_count(last.n_layers * last.attention.n_heads)
    page.get_by_role("button", name="lines", exact=True).click()
    _pointed(page, ".lines text", ".lines .readout")
    page.get_by_role("button", name="text", exact=True).click()
    _pointed(page, ".reading .chip", ".reading .readout")
    page.get_by_label("overview").select_option("entropy")
    numbers = page.locator(".headgrid.numbers button")
    expect(numbers).to_have_count(last.n_layers * last.attention.n_heads)
    kind = "cross" if len(stacks) == 2 else "self"
    patterns = [run[f"{list(stacks)[-1]}.{layer}.{kind}.pattern"][0] for layer in range(last.n_layers)]
    expected = [_entropy(head) for layer in patterns for head in layer]
    assert [float(one) for one in numbers.all_inner_texts()] == pytest.approx(expected, rel=6e-2, abs=6e-3)


def _entropy(pattern_QK: np.ndarray) -> float:
    """How undecided a head is, in bits: the mean over its queries."""
    shares = np.nan_to_num(pattern_QK.astype(np.float64))
    return float(-np.sum(shares * np.log2(np.where(shares > 0, shares, 1)), axis=-1).mean())


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


def _what_if(page: Page, run: Run, shelf: Shelf) -> None:
    page.get_by_role("link", name="What if?").click()
    first = page.locator(".headgrid button").first
    with page.expect_response(lambda answer: answer.url.endswith("/api/runs")) as answer:
        first.click()
    after = shelf.run(answer.value.json()["run"])
    expect(page.locator("code").last).to_contain_text("self:head=0")
    expect(first).to_have_attribute("aria-pressed", "true")
    moved = page.locator(".panel .bars .number").filter(has_text="→")
    expect(moved.first).to_be_visible()
    pairs = [tuple(float(one) for one in text.split("→")) for text in moved.all_inner_texts()]
    was, now = (softmax(one["logits"][0][0]) for one in (run, after))
    assert np.abs(was - now).max() > 1e-4 and any(before != after for before, after in pairs), pairs
    ids = [int(one) for one in np.argsort(-was)[:6]]
    for pair, index in zip(pairs, ids, strict=False):
        assert pair == (pytest.approx(was[index], rel=6e-3), pytest.approx(now[index], rel=6e-3))
    site = next(one for one in run if one.endswith("self.mixed"))
    assert np.any(run[site][0, 0]) and not np.any(after[site][0, 0]), "the head that was switched off brings nothing"
    if run.text:
        said = [page.locator(one).inner_text().removesuffix(" (the same)") for one in ("#before", "#after")]
        assert said == [run.text.strip(), after.text.strip()]
    page.get_by_role("button", name="undo everything").click()
    expect(page.locator("main")).to_contain_text("Nothing is changed")


def _compare(page: Page, run: Run, shelf: Shelf) -> None:
    page.get_by_role("link", name="Compare").click()
    page.get_by_label("Second text").fill(SECOND)
    wanted = f'"text":"{SECOND}"'
    with page.expect_response(lambda answer: wanted in (answer.request.post_data or "")) as answer:
        page.get_by_role("button", name="Compare", exact=True).click()
    sides = page.locator(".before-after > section")
    expect(sides.nth(1)).to_contain_text(SECOND)
    expect(sides.locator(".matrix canvas, .overview canvas")).to_have_count(2)
    for side, one in enumerate((run, shelf.run(answer.value.json()["run"]))):
        _candidates(sides.nth(side).locator(".bars"), one)
        if one.text:
            expect(sides.nth(side).locator(".said strong")).to_have_text(one.text)


def _train(page: Page) -> None:
    page.get_by_role("link", name="Train", exact=True).click()
    expect(page.get_by_role("button", name="Train", exact=True)).to_be_visible()


def _quiz(page: Page) -> None:
    """The course from here: a question is judged, and what was answered is counted."""
    page.get_by_role("link", name="Course", exact=True).click()
    expect(page.locator("article h2")).to_be_visible()
    expect(page.get_by_role("region", name="Live")).to_be_visible()
    page.locator("[data-chapter=B4]").click()
    question = page.locator("[data-question=sees]")
    for choice, said in (("5", "Not quite. Right is: 3"), ("3", "Right.")):
        question.get_by_label(choice, exact=True).check()
        question.get_by_role("button", name="Check").click()
        expect(question).to_contain_text(said)
    expect(page.locator("#progress")).to_contain_text("1 of")


# The browser forbids what `expect` could ask more quickly; a promise of the page's own answers as soon as it is drawn.
TRAILED = """n => new Promise(done => {
    const look = () => document.querySelectorAll("#why .crumbs li").length === n ? done() : requestAnimationFrame(look);
    look();
})"""


def test_the_trail_of_a_probability_ends_at_an_embedding(visit: Visit) -> None:
    """Back along the stream of the numbers, from a probability of the last layer to the row of the first."""
    page = visit("storyteller", text=TEXTS["storyteller"])
    page.locator(".bars .word").first.click()
    expect(page.locator("#why .big")).to_be_visible()
    names: list[str] = []
    for step in range(40):
        page.evaluate(TRAILED, step)
        names.append(page.locator("#why .why-name").inner_text())
        if "embed" in names[-1]:
            break
        terms = page.locator("#why button.operand, #why button.box")
        titles = terms.evaluate_all("all => all.map(one => one.title)")
        stream = [place for place, title in enumerate(titles) if "embed" in title or "resid_" in title]
        terms.nth(stream[0] if stream else 0).click()
    assert "embed" in names[-1], names
    page.locator("#why .crumbs button").first.click()
    expect(page.locator("#why .why-name")).to_have_text(names[0])
