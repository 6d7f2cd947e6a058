"""What is saved opens by itself: a walk, and any view as a picture."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

Visit = Callable[..., Page]


@pytest.mark.parametrize("view", ["flow", "attention", "whatif", "compare", "train", "course"])
def test_any_view_is_saved_as_a_picture(visit: Visit, browser: Browser, tmp_path: Path, view: str) -> None:
    page = visit("marian", view)
    expect(page.locator("main h2").first).to_be_visible()
    path = tmp_path / f"{view}.svg"
    with page.expect_download() as download:
        page.get_by_role("button", name="SVG").click()
    download.value.save_as(path)
    opened = browser.new_page()
    wanted: list[str] = []
    opened.on("request", lambda request: wanted.append(request.url))
    opened.goto(path.as_uri())
    assert opened.evaluate("document.documentElement.tagName") == "svg"
    assert page.locator("main h2").first.inner_text() in opened.evaluate("document.documentElement.textContent")
    assert [url for url in wanted if not url.startswith("data:")] == [path.as_uri()]
    opened.close()
    with page.expect_download() as download:
        page.get_by_role("button", name="PNG").click()
    picture = tmp_path / f"{view}.png"
    download.value.save_as(picture)
    content = picture.read_bytes()
    assert content.startswith(b"\x89PNG") and len(content) > 5000
