"""axe-core finds nothing serious in any view."""

from pathlib import Path

import pytest
from playwright.sync_api import Page

from .test_page import opened

AXE = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", ["flow", "attention", "whatif", "compare", "train", "course"])
def test_nothing_serious(page: Page, address: str, view: str, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    opened(page, address, "marian", view)
    page.wait_for_timeout(500)
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    serious = [
        (one["id"], [node["target"] for node in one["nodes"]][:5])
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
    ]
    assert not serious, serious
