"""What comes too late changes nothing: a click on a view that one has left, an answer that nobody waits for."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import FloatRect, Page, Route, expect

from clearhead.explain import Run

Visit = Callable[..., Page]
Shown = Callable[[], Run]
MOMENT = 120


class Held:
    """Requests that wait until they are let go, in any order."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.routes: list[Route] = []
        self.gone: set[int] = set()

    def arrived(self, count: int) -> None:
        """Waits until so many wait."""
        for _ in range(600):
            if len(self.routes) >= count:
                return
            self.page.wait_for_timeout(20)
        raise AssertionError(f"{len(self.routes)} of {count} requests were made")

    def let_go(self, place: int) -> None:
        """Answers one, and gives the page a moment to do what it must not."""
        route = self.routes[place]
        self.gone.add(place)
        with self.page.expect_response(lambda answer: answer.request == route.request):
            route.continue_()
        self.page.wait_for_timeout(MOMENT)

    def let_all_go(self) -> None:
        """Answers those that still wait."""
        for place, route in enumerate(self.routes):
            if place not in self.gone:
                self.gone.add(place)
                route.continue_()


@contextmanager
def held(page: Page, address: str | re.Pattern[str]) -> Iterator[Held]:
    """Holds back what the page asks of an address; those still held at the end are answered then."""
    held = Held(page)
    page.route(address, lambda route: held.routes.append(route))  # noqa: PLW0108 (a method of a list cannot be named)
    try:
        yield held
    finally:
        held.let_all_go()
        page.unroute(address)
        held.let_all_go()


def box(page: Page, selector: str) -> FloatRect:
    found = page.locator(selector).first.bounding_box()
    assert found is not None
    return found


def press(page: Page, where: FloatRect) -> None:
    """A click at a place of the window, whatever stands there."""
    page.mouse.click(where["x"] + where["width"] / 2, where["y"] + where["height"] / 2)


def test_a_view_that_one_left_takes_no_clicks(visit: Visit) -> None:
    page = visit("marian", "attention")
    where = box(page, ".headgrid button >> nth=-1")
    with held(page, re.compile("/values")) as answers:
        page.locator(".headgrid button").last.focus()
        page.evaluate("document.querySelector('#tabs a:nth-child(3)').click()")
        answers.arrived(1)
        page.keyboard.press("Enter")
        press(page, where)
        assert page.locator("h2", has_text="Who looks at whom").is_visible(), "the view one left still stands"
        assert "#/whatif?" in page.url and "pattern=" not in page.url and "head=" not in page.url
    expect(page.locator("main h2")).to_have_text("What if?")
    expect(page.locator("main")).to_contain_text("Nothing is changed")
    expect(page.locator(".headgrid button[aria-pressed=true]")).to_have_count(0)
    page.locator(".headgrid button").first.click()
    expect(page.locator(".headgrid button").first).to_have_attribute("aria-pressed", "true")


def test_a_model_that_one_left_takes_no_clicks(visit: Visit) -> None:
    page = visit("gpt2", "attention")
    where = box(page, ".headgrid button >> nth=-1")
    with held(page, "**/api/runs") as answers:
        page.locator("#model").select_option("bert")
        answers.arrived(1)
        press(page, where)
        page.wait_for_timeout(MOMENT)
        assert page.locator(".headgrid").is_visible()
        expect(page.locator("#status.error")).to_have_count(0)
        answers.let_go(0)
    expect(page.locator(".headgrid .name").first).to_have_text("encoder 0 self")
    assert "pattern=" not in page.url


def test_a_text_that_the_next_model_refuses_leaves_no_dead_view(visit: Visit, allowed: list[str]) -> None:
    allowed.append("status of 400")
    page = visit("reader", "attention", " ".join(["cat"] * 60))
    page.evaluate("location.hash = location.hash.replace('model=reader', 'model=gpt2')")
    expect(page.locator("#status.error")).to_contain_text("longer")
    expect(page.locator("main")).to_have_text("Type a text above, and it runs here.")
    page.fill("#text", "a cat")
    expect(page.locator(".headgrid .name").first).to_have_text("decoder 0 self")


def test_of_two_models_the_later_is_shown(visit: Visit) -> None:
    page = visit("marian")
    with held(page, re.compile("/api/models/")) as answers:
        page.locator("#model").select_option("gpt2")
        page.locator("#model").select_option("bert")
        answers.arrived(2)
        answers.let_go(1)
        expect(page.locator("main h2").first).to_have_text("bert")
        answers.let_go(0)
    expect(page.locator("main h2").first).to_have_text("bert")
    expect(page.locator("#model")).to_have_value("bert")
    assert "model=bert" in page.url


def test_a_tab_leads_to_the_model_that_was_chosen_last(visit: Visit) -> None:
    page = visit("marian")
    with held(page, re.compile("/api/models/")) as answers:
        page.locator("#model").select_option("bert")
        answers.arrived(1)
        page.get_by_role("link", name="Attention").click()
        expect(page.locator(".headgrid .name").first).to_have_text("decoder 0 cross")
        with held(page, "**/api/runs") as runs:
            answers.let_go(0)
            runs.arrived(1)
            page.get_by_role("link", name="What if?").click()
            expect(page.locator("main")).to_have_text("running …")
            runs.let_go(0)
    expect(page.locator(".headgrid .name").first).to_have_text("encoder 0 self")
    assert "#/whatif?model=bert" in page.url


def test_of_two_questions_the_later_is_answered(visit: Visit) -> None:
    page = visit("gpt2")
    words = page.locator(".bars .word")
    with held(page, "**/why") as answers:
        words.nth(0).click()
        words.nth(1).click()
        answers.arrived(2)
        answers.let_go(1)
        expect(page.locator("#why .why-name")).to_contain_text(words.nth(1).inner_text())
        answers.let_go(0)
        expect(page.locator("#why .why-name")).to_contain_text(words.nth(1).inner_text())
        expect(page.locator("#why .crumbs")).to_have_count(0)
        page.locator("#why button.operand").first.click()
        answers.arrived(3)
        page.keyboard.press("Escape")
        answers.let_go(2)
        expect(page.locator("#why")).to_be_hidden()
        assert "why=" not in page.url


def test_a_question_is_answered_of_the_run_that_is_shown(visit: Visit, shown: Shown) -> None:
    page = visit("gpt2")
    tab = page.locator("#tabs a").nth(1).element_handle()
    with held(page, "**/why") as answers:
        page.locator(".bars .word").first.click()
        answers.arrived(1)
        _run(page, shown, "dogs")
        answers.let_go(0)
        answers.arrived(2)
        answers.let_go(1)
    expect(page.locator("#why .big")).to_be_visible()
    place = int(page.locator("#why .why-name").inner_text().partition("V=")[2].partition("]")[0])
    assert float(page.locator("#why .big").inner_text()) == pytest.approx(
        float(shown()["logits"][0, 0, place]), rel=1e-5
    )
    assert tab.evaluate("tab => tab.isConnected"), "a click that has begun on a tab must find it there"


def test_an_open_number_follows_the_settings_and_the_view(visit: Visit, shown: Shown) -> None:
    page = visit("gpt2", step="2")
    page.locator(".bars .word").first.click()
    expect(page.locator("#why .big")).to_be_visible()
    before = shown()
    page.get_by_label("temperature").focus()
    page.keyboard.press("End")
    expect(page.locator(".bars .number").first).to_contain_text("→")
    _same_number(page, shown, before)
    page.get_by_role("link", name="Attention").click()
    expect(page.locator(".headgrid").first).to_be_visible()
    assert "why=logits" in page.url, "the address says all that is shown"
    before = _run(page, shown, "a dog")
    _same_number(page, shown, before)


def _run(page: Page, shown: Shown, text: str) -> Run:
    """Runs another text, without the drafts of one that is typed; gives the run before."""
    before = shown()
    page.locator("#text").evaluate("(field, text) => (field.value = text)", text)
    page.locator("#text").press("Enter")
    for _ in range(600):
        if shown() is not before:
            return before
        page.wait_for_timeout(20)
    raise AssertionError("it was not run")


def _same_number(page: Page, shown: Shown, before: Run) -> None:
    """The number that is open is that of the run that is shown, which is another than before."""
    for _ in range(300):
        run = shown()
        place = int(page.locator("#why .why-name").inner_text().partition("V=")[2].partition("]")[0])
        value = float(page.locator("#why .big").inner_text())
        if run is not before and value == pytest.approx(float(run["logits"][0, 2, place]), rel=1e-5):
            return
        page.wait_for_timeout(20)
    raise AssertionError("the pane holds a number of a run that is no longer shown")


def test_of_two_changes_of_an_example_the_later_is_worked_out(page: Page, address: str) -> None:
    page.goto(f"{address}#/course?model=gpt2&text=the&chapter=B3")
    page.get_by_text("Worked example E11").click()
    expect(page.locator(".result")).to_contain_text("33")
    first = page.get_by_label("X", exact=True).first
    with held(page, "**/examples/E11") as answers:
        for value in ("10", "20"):
            first.fill(value)
            first.press("Tab")
        answers.arrived(2)
        answers.let_go(1)
        answers.let_go(0)
    expect(page.locator(".result")).to_contain_text(str(20 * 3 + 4 * 6))


def test_of_two_live_texts_the_later_is_shown(page: Page, address: str) -> None:
    page.goto(f"{address}#/course?model=gpt2&text=the&chapter=B6")
    live = page.get_by_role("region", name="Live")
    expect(live.locator(".lines svg")).to_be_visible()
    with held(page, "**/api/runs") as answers:
        for text in ("Thank you.", "Good day."):
            live.get_by_role("textbox").fill(text)
            live.get_by_role("textbox").press("Tab")
        answers.arrived(2)
        answers.let_go(1)
        expect(live.locator(".lines")).to_contain_text("Good")
        answers.let_go(0)
    expect(live.locator(".lines")).to_contain_text("Good")
