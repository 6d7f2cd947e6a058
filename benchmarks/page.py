"""How fast the page is: the first view, typing, panning, and what it weighs.

python benchmarks/page.py [--rounds N]

The server is `clearhead explain` in a process of its own, the browser another; the goals stand beside what was
measured. "Waited" is the time on the browser's own clock, from the navigation or the key to the frame that shows the
answer, which a busy computer makes longer. "Work" is the processor time of the server and of the browser's main thread
(its counter TaskDuration) meanwhile: about what one waits where nothing else runs.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

from clearhead.config import SIZES, architecture
from clearhead.model import Model
from clearhead.models import build
from clearhead.tasks import Loaded
from clearhead.testing import ByteTokenizer
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
def served(names: list[str]) -> Iterator[tuple[str, int]]:
    """The page on a port, as `clearhead explain` serves it, once its first run is made; and who serves it."""
    command = [sys.executable, "-m", "clearhead", "explain", *names, "--no-browser", "--port", "8760"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:  # noqa: S603  (our own command)
        try:
            assert server.stdout is not None
            address = next(line.split()[0] for line in server.stdout if line.startswith("http"))
            while not prepared(address):
                time.sleep(0.1)
            yield address, server.pid
        finally:
            server.terminate()


def prepared(address: str) -> bool:
    """Whether the first view waits to be asked for."""
    try:
        with urllib.request.urlopen(f"{address}api/start") as answer:  # noqa: S310  (our own server)
            return b'"ready":null' not in answer.read()
    except urllib.error.URLError:
        return False


STAMP = """
(() => {
  const root = document.documentElement ?? document;
  const stamp = (name, begun) => requestAnimationFrame(() => setTimeout(() => {
    document.documentElement.dataset[name] = String(performance.now() - begun);
  }));
  let key = 0;
  document.addEventListener("input", (event) => { key = event.timeStamp; }, true);
  new MutationObserver(() => {
    const data = document.documentElement.dataset;
    if (!data.first && document.querySelector(".stack .part")) { data.first = "drawing"; stamp("first", 0); }
    if (key && document.querySelector("#status")?.textContent.includes("draft")) { stamp("typed", key); key = 0; }
  }).observe(root, { childList: true, subtree: true, characterData: true });
})();
"""
"""Writes on the page itself when the first view, and what a key changed, were painted."""


class Work:
    """Processor time of the server and of a page, in milliseconds."""

    def __init__(self, page: Page, server: int) -> None:
        self._server = server
        self._instruments = page.context.new_cdp_session(page)
        self._instruments.send("Performance.enable", {"timeDomain": "threadTicks"})
        self.begin()

    def begin(self) -> None:
        """Starts anew."""
        self._before = self._now()

    def read(self) -> float:
        """How much was done since the start."""
        return max(0.0, self._now() - self._before)

    def _now(self) -> float:
        return spent(self._server) + counter(self._instruments, "TaskDuration")


def spent(process: int) -> float:
    """Processor time of a process and all its threads, in milliseconds, as Linux counts it."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return 1000 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def stamped(page: Page, name: str) -> float:
    """What the page wrote on itself."""
    page.wait_for_selector(f"html[data-{name}]:not([data-{name}=drawing])", state="attached")
    return float(page.evaluate(f"document.documentElement.dataset.{name}"))


def first_view(browser: Browser, address: str, server: int) -> tuple[float, float]:
    """Milliseconds from an empty cache to the architecture with its numbers, painted: waited, worked."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.add_init_script(STAMP)
    page = context.new_page()
    work = Work(page, server)
    page.goto(address, wait_until="commit")
    took = stamped(page, "first"), work.read()
    context.close()
    return took


def typing(page: Page, address: str, model: str, server: int) -> list[tuple[float, float]]:
    """From a key to the frame that shows it, for each of the last letters of a text: waited, worked."""
    text, more = EMBEDDED[model]
    page.goto("about:blank")
    page.goto(f"{address}#/flow?model={model}&text={text[:-6].replace(' ', '%20')}{more}")
    page.wait_for_selector("#status:has-text('recorded')")
    page.locator("#text").focus()
    page.keyboard.press("End")
    work, found = Work(page, server), list[tuple[float, float]]()
    for letter in text[-6:]:
        page.wait_for_selector("#status:has-text('recorded')")
        page.wait_for_timeout(300)
        page.evaluate("delete document.documentElement.dataset.typed")
        work.begin()
        page.keyboard.type(letter)
        found.append((stamped(page, "typed"), work.read()))
    return found


def counter(instruments: CDPSession, name: str) -> float:
    """One of the browser's own counters, in milliseconds."""
    found = instruments.send("Performance.getMetrics")["metrics"]
    return 1000 * next(one["value"] for one in found if one["name"] == name)


def panning(page: Page, address: str) -> list[float]:
    """Script time of each frame while the pointer moves over a head, and the grid of heads is scrolled."""
    page.goto("about:blank")
    page.goto(f"{address}#/attention?model=large&text={'a' * (TOKENS - 2)}")
    page.wait_for_selector(".headgrid canvas")
    page.wait_for_load_state("networkidle")
    assert page.locator(".headgrid canvas").count() == LAYERS * HEADS
    instruments = page.context.new_cdp_session(page)
    instruments.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.evaluate("document.querySelector('.overview-grid .scroll').style.width = '200px'")
    box = page.locator(".matrix canvas").bounding_box()
    assert box is not None
    frames: list[float] = []
    for place in range(PANS):
        share = place / PANS
        before = counter(instruments, "ScriptDuration")
        page.mouse.move(box["x"] + 60 + share * (box["width"] - 80), box["y"] + 60 + share * 300)
        instruments.send("Input.dispatchMouseEvent", _wheel(40 if place % 2 else -40))
        page.evaluate("new Promise(requestAnimationFrame)")
        frames.append(counter(instruments, "ScriptDuration") - before)
    return frames


def _wheel(by: int) -> dict[str, object]:
    return {"type": "mouseWheel", "x": 120, "y": 320, "deltaX": by, "deltaY": 0}


def weight() -> tuple[int, int]:
    """Bytes of the page's own files, and how many there are."""
    files = [path for path in STATIC.rglob("*") if path.is_file()]
    return sum(path.stat().st_size for path in files), len(files)


def show(name: str, found: list[tuple[float, float]], *, goal: int) -> None:
    """A line of what was measured: medians, and the goal."""
    waited, worked = (statistics.median(column) for column in zip(*found, strict=True))
    print(f"{name:<30} waited {waited:6.0f} ms, work {worked:6.0f} ms   (goal: under {goal})")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds: int = parser.parse_args().rounds
    path = shutil.which("chromium")
    assert path, "no chromium: .ci/browser installs it"
    with (
        TemporaryDirectory() as folder,
        served([*EMBEDDED, large(Path(folder))]) as (address, server),
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        first_view(browser, address, server)  # the browser itself starts once
        show("first view, empty cache", [first_view(browser, address, server) for _ in range(rounds)], goal=1000)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.add_init_script(STAMP)
        page.set_default_timeout(120_000)
        for model in EMBEDDED:
            show(f"typing, {model}", typing(page, address, model, server), goal=150)
        frames = panning(page, address)
        panned = f"panning {LAYERS}×{HEADS}×{TOKENS}"
        print(f"{panned:<30} worst frame {max(frames):.1f} ms of script   (goal: at most 16)")
        size, count = weight()
        print(f"{'weight of the page':<30} {size / 1000:.0f} kB in {count} files   (goal: under 500)")
        browser.close()


if __name__ == "__main__":
    main()
