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


@pytest.mark.parametrize("view", ["flow", "attention", "whatif", "compare", "train", "course"])
def test_nothing_serious(visit: Visit, view: str) -> None:
    page = visit("marian", view, chapter="B4")
    expect(page.locator("main h2").first).to_be_visible()
    page.wait_for_load_state("networkidle")
    if view == "flow":
        page.locator(".bars .word").first.click()
        expect(page.locator("#why .term").first).to_be_visible()
    if view == "attention":
        page.get_by_role("button", name="lines", exact=True).click()
        expect(page.locator(".lines svg").first).to_be_visible()
    if view == "course":
        page.get_by_text("Worked example E4").click()
        expect(page.locator(".result").first).to_be_visible()
    page.evaluate(AXE.read_text(encoding="utf-8"))
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        assert not serious(page), scheme
