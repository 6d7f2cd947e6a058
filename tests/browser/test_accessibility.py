"""axe-core finds nothing serious in any view, in light and in dark."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from .places import AXE

Visit = Callable[..., Page]


def serious(page: Page) -> list[tuple[str, list[object]]]:
    """What axe finds that keeps somebody out."""
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        (one["id"], [node["target"] for node in one["nodes"]][:5])
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
    ]


def _why(page: Page) -> None:
    page.locator(".bars .word").first.click()
    expect(page.locator("#why .term").first).to_be_visible()


def _zoom(page: Page) -> None:
    page.locator(".part.cross").first.click()
    page.locator(".card[data-site$='cross.pattern']").click()
    expect(page.locator(".zoom .matrix canvas")).to_be_visible()


def _beams(page: Page) -> None:
    page.get_by_text("The beam tree").click()
    expect(page.locator(".tree svg")).to_be_visible()


def _as(name: str, shown: str) -> Callable[[Page], None]:
    def choose(page: Page) -> None:
        page.get_by_role("button", name=name, exact=True).click()
        expect(page.locator(shown).first).to_be_visible()

    return choose


def _numbers(page: Page) -> None:
    page.get_by_label("overview").select_option("entropy")
    expect(page.locator(".headgrid.numbers")).to_be_visible()


def _off(page: Page) -> None:
    page.locator(".headgrid button").first.click()
    expect(page.locator("code").last).to_contain_text("head=0")
    expect(page.locator("#after")).to_be_visible()


def _quiz(page: Page) -> None:
    expect(page.get_by_role("region", name="Live").locator(".bars").first).to_be_visible()
    page.get_by_text("Worked example E4").click()
    expect(page.locator(".result").first).to_be_visible()
    question = page.locator("[data-question=sees]")
    question.get_by_label("2", exact=True).check()
    question.get_by_role("button", name="Check").click()
    expect(question).to_contain_text("Not quite")


@pytest.mark.parametrize(
    ("view", "then"),
    [
        ("flow", _why),
        ("flow", _zoom),
        ("flow", _beams),
        ("attention", _as("cells", ".matrix canvas")),
        ("attention", _as("lines", ".lines svg")),
        ("attention", _as("text", ".reading .chip")),
        ("attention", _numbers),
        ("whatif", _off),
        ("compare", lambda page: expect(page.locator(".before-after canvas")).to_have_count(2)),
        ("train", lambda page: expect(page.get_by_label("network")).to_be_visible()),
        ("course", _quiz),
    ],
)
def test_nothing_serious(visit: Visit, view: str, then: Callable[[Page], None]) -> None:
    page = visit("marian", view, chapter="B4")
    expect(page.locator("main h2").first).to_be_visible()
    then(page)
    page.evaluate(AXE.read_text(encoding="utf-8"))
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        assert not serious(page), scheme
