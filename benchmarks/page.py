"""How fast the page is: the first view, typing, panning, and what it weighs.

python benchmarks/page.py [--rounds N]

The server and the browser run on this computer; the goals stand beside what was measured. Script time is what the
browser spends in JavaScript (the counter ScriptDuration of its own instruments), so that a busy computer does not
count against the page; the other times are what a user waits.
"""

import argparse
import shutil
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import uvicorn
from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

from clearhead.config import SIZES, architecture
from clearhead.model import Model
from clearhead.models import build
from clearhead.tasks import Loaded
from clearhead.testing import ByteTokenizer
from clearhead.web import Shelf, make_app
from clearhead.web.serve import bound
from clearhead.weights import Checkpoint

STATIC = Path(__file__).parents[1] / "src" / "clearhead" / "web" / "static"
EMBEDDED = {
    "translator": ("The cat sat on the mat", "&to=fr"),
    "storyteller": ("Once upon a time, there was a little do", ""),
    "reader": ("The cat drank some [MASK] today", ""),
}
LAYERS, HEADS, TOKENS = 6, 8, 50
PANS = 60
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


def large(folder: Path) -> str:
    """A model of the size that is panned over, with random weights."""
    tokenizer = ByteTokenizer()
    size = replace(SIZES["tiny"], width=64, n_heads=HEADS, feedforward_width=64, n_layers=LAYERS, max_length=64)
    config = architecture("bert", size=size, vocab_size=tokenizer.vocab_size)
    checkpoint = Checkpoint(model=build(config, seed=1), family="bert", foreign={}, generation={})
    return str(Model(loaded=Loaded(checkpoint=checkpoint, tokenizer=tokenizer)).save_pretrained(folder / "large"))


@contextmanager
def served(names: list[str]) -> Iterator[str]:
    """The page on a port, with its models in memory as `clearhead explain` has its first one."""
    shelf = Shelf(names=names)
    for name in shelf.names:
        shelf.model(name)
    listener = bound(8760)
    server = uvicorn.Server(uvicorn.Config(make_app(shelf), log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
    server.should_exit = True
    thread.join(10)


def first_view(browser: Browser, address: str) -> float:
    """Seconds from an empty cache to the architecture with its numbers."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    began = time.perf_counter()
    page.goto(address, wait_until="commit")
    page.wait_for_selector(".stack .part")
    took = time.perf_counter() - began
    context.close()
    return took


def typing(page: Page, address: str, model: str) -> list[float]:
    """Milliseconds from a key to the view that shows it, one for each of the last letters of a text."""
    text, more = EMBEDDED[model]
    page.goto("about:blank")
    page.goto(f"{address}#/flow?model={model}&text={text[:-6].replace(' ', '%20')}{more}")
    page.wait_for_selector("#status:has-text('recorded')")
    page.evaluate(
        """() => {
          window.waits = [];
          const status = document.getElementById('status');
          document.getElementById('text').addEventListener('input', () => (window.began = performance.now()), true);
          new MutationObserver(() => {
            if (!window.began || !/draft|recorded/.test(status.textContent)) return;
            window.waits.push(performance.now() - window.began);
            window.began = 0;
          }).observe(status, { childList: true, characterData: true, subtree: true });
        }"""
    )
    page.locator("#text").focus()
    page.keyboard.press("End")
    for letter in text[-6:]:
        before = page.evaluate("window.waits.length")
        page.keyboard.type(letter)
        page.wait_for_function(f"window.waits.length > {before}")
        page.wait_for_timeout(700)
    return page.evaluate("window.waits")


def script(instruments: CDPSession) -> float:
    """Milliseconds that the page has spent in JavaScript so far."""
    found = instruments.send("Performance.getMetrics")["metrics"]
    return 1000 * next(one["value"] for one in found if one["name"] == "ScriptDuration")


def panning(page: Page, address: str) -> list[float]:
    """Script time of each frame while the pointer moves over a head, and the grid of heads is scrolled."""
    page.goto("about:blank")
    page.goto(f"{address}#/attention?model=large&text={'a' * (TOKENS - 2)}")
    page.wait_for_selector(".headgrid canvas")
    page.wait_for_load_state("networkidle")
    assert page.locator(".headgrid canvas").count() == LAYERS * HEADS
    instruments = page.context.new_cdp_session(page)
    instruments.send("Performance.enable")
    page.evaluate("document.querySelector('.overview-grid .scroll').style.width = '200px'")
    box = page.locator(".matrix canvas").bounding_box()
    assert box is not None
    frames: list[float] = []
    for place in range(PANS):
        share = place / PANS
        page.mouse.move(box["x"] + 60 + share * (box["width"] - 80), box["y"] + 60 + share * 300)
        instruments.send("Input.dispatchMouseEvent", _wheel(40 if place % 2 else -40))
        before = script(instruments)
        page.evaluate("new Promise(requestAnimationFrame)")
        frames.append(script(instruments) - before)
    return frames


def _wheel(by: int) -> dict[str, object]:
    return {"type": "mouseWheel", "x": 120, "y": 320, "deltaX": by, "deltaY": 0}


def weight() -> tuple[int, int]:
    """Bytes of the page's own files, and how many there are."""
    files = [path for path in STATIC.rglob("*") if path.is_file()]
    return sum(path.stat().st_size for path in files), len(files)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds: int = parser.parse_args().rounds
    path = shutil.which("chromium")
    assert path, "no chromium: .ci/browser installs it"
    with (
        TemporaryDirectory() as folder,
        served([*EMBEDDED, large(Path(folder))]) as address,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        first_view(browser, address)  # the browser itself starts once
        views = [first_view(browser, address) for _ in range(rounds)]
        print(f"first view, empty cache       {statistics.median(views):7.2f} s   (goal: under 1)")
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(60_000)
        for model in EMBEDDED:
            waits = typing(page, address, model)
            print(
                f"typing, {model:<20}  {statistics.median(waits):7.0f} ms  (goal: under 150; slowest {max(waits):.0f})"
            )
        frames = panning(page, address)
        print(f"panning {LAYERS}×{HEADS}×{TOKENS}, worst frame   {max(frames):7.1f} ms  (goal: at most 16 of script)")
        size, count = weight()
        print(f"weight of the page            {size / 1000:7.0f} kB  (goal: under 500; {count} files)")
        browser.close()


if __name__ == "__main__":
    main()
