"""What is saved opens by itself: a walk, and any view as a picture."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

Visit = Callable[..., Page]


def test_a_saved_walk_opens_without_the_server(visit: Visit, browser: Browser, tmp_path: Path) -> None:
    page = visit("marian")
    page.locator(".bars .word").first.click()
    expect(page.locator("#why .term").first).to_be_visible()
    value = page.locator("#why .big").inner_text()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save walk").click()
    path = tmp_path / "walk.html"
    download.value.save_as(path)
    wanted: list[str] = []
    opened = browser.new_page()
    opened.on("request", lambda request: wanted.append(request.url))
    opened.goto(path.as_uri())
    expect(opened.locator("h2", has_text="why")).to_be_visible()
    expect(opened.locator("svg").first).to_be_visible()
    shown = float(opened.locator("details .value").first.inner_text())
    assert shown == pytest.approx(float(value), rel=1e-5)
    assert wanted == [path.as_uri()]
    opened.close()


@pytest.mark.parametrize("view", ["flow", "attention", "whatif", "compare", "train", "course"])
def test_any_view_is_saved_as_a_picture(visit: Visit, browser: Browser, tmp_path: Path, view: str) -> None:
    page = visit("marian", view)
    expect(page.locator("main h2").first).to_be_visible()
    page.wait_for_load_state("networkidle")
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
