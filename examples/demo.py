"""A tour of the embedded models, without a network.

    python examples/demo.py [--out demo]

Translates a sentence into three languages and draws what the decoder looked at, goes on with a story, fills a gap,
ranks sentences by what they mean, and opens one number. Everything is printed, and written to a page of its own.
"""

import argparse
import shutil
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

import numpy as np

import clearhead
from clearhead.explain import as_text
from clearhead.figures import Figure, heatmap
from clearhead.figures.terminal import wants_colour
from clearhead.text.files import replacing

SENTENCE = "The cat sat on the mat."
LANGUAGES = {"fr": "French", "de": "German", "hi": "Hindi"}
STORY = "Once upon a time, there was a little dog"
GAP = "He opened the [MASK] and walked in."
QUERY = "How do I bake a loaf?"
NOTES = [
    "The bread goes into the oven for forty minutes.",
    "The company earned more money this year.",
    "Ask your doctor before you take these pills.",
]
NEXT = """\
What to try next
  clearhead explain                   the same in the browser, and click any number
  clearhead translate "How are you?" --to fr
  clearhead why "The cat sat on the mat." --to fr --at T=0 --at V=▁Le --by block
  clearhead search "something to eat" --in notes.txt
  clearhead train pairs.tsv --out my-model
  clearhead learn                     the worked examples of the course, computed as you watch"""
STYLE = (
    "body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }"
    " .scroll, pre { overflow-x: auto; }"
)


@dataclass
class Page:
    """What was shown, for the terminal and for the report."""

    parts: list[str] = field(default_factory=list)

    def head(self, text: str) -> None:
        """A heading."""
        print(f"\n\x1b[1m{text}\x1b[0m" if wants_colour() else f"\n{text}")
        self.parts.append(f"<h2>{escape(text)}</h2>")

    def line(self, text: str) -> None:
        """A line of text."""
        print(f"  {text}")
        self.parts.append(f"<p>{escape(text)}</p>")

    def block(self, text: str) -> None:
        """Several lines as they stand."""
        print("\n".join(f"  {line}" for line in text.splitlines()))
        self.parts.append(f"<pre>{escape(text)}</pre>")

    def draw(self, figure: Figure) -> None:
        """A picture."""
        width = min(shutil.get_terminal_size((100, 24)).columns, 120)
        print("\n".join(f"  {line}" for line in figure.terminal(width=width - 2).splitlines()))
        self.parts.append(f'<div class="scroll">{figure.svg}</div>')

    def save(self, path: Path) -> None:
        """Writes the report: one file that loads nothing."""
        content = (
            '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width">\n<title>clearhead: a tour</title>\n'
            f"<style>{STYLE}</style>\n<h1>A tour of the embedded models</h1>\n"
            f"<p>Every number on this page was computed when it was made.</p>\n{chr(10).join(self.parts)}\n</html>\n"
        )
        with replacing(path) as stream:
            stream.write(content.encode("utf-8"))


def looked_at(run: clearhead.Run) -> Figure:
    """What each piece of a translation looked at in the source: the mean of the heads of the sharpest layer."""
    site = max(run, key=lambda one: float(run[one][0].mean(0).max(-1).mean()))
    return heatmap(
        run[site][0].mean(0),
        rows=[token.shown for token in run.trace.written],  # each row decides the next piece
        columns=run.trace.labels(site, "K"),
        title=f"{site}, mean of its heads",
    )


def main() -> None:
    """Show everything, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("demo"), help="the folder of the report")
    out: Path = parser.parse_args().out
    page = Page()

    translator = clearhead.load("translator")
    page.head(f"translate: {SENTENCE}")
    for to, language in LANGUAGES.items():
        run = translator.trace(SENTENCE, to=to, sites="decoder.*.cross.pattern")
        page.line(f"{language}: {run.text}")
        page.draw(looked_at(run))

    page.head("why the first French word?")
    run = translator.trace(SENTENCE, to="fr")
    page.block(as_text(run.why("logits", by="block", T=0, V=run.trace.written[0].id)))

    page.head("complete")
    story = clearhead.load("storyteller").complete(STORY, seed=1, max_new_tokens=80)
    page.line(f"{STORY}{story}")

    page.head(f"fill: {GAP}")
    for filling in clearhead.load("reader").fill(GAP)[0]:
        page.line(f"{filling.score:.3f}  {filling.text}")

    page.head(f"embed, and rank: {QUERY}")
    vectors = clearhead.load("reader-meaning").embed([QUERY, *NOTES])
    vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    for score, note in sorted(zip(vectors[1:] @ vectors[0], NOTES, strict=True), reverse=True):
        page.line(f"{score:.3f}  {note}")

    page.save(out / "report.html")
    print(f"\nwrote {out / 'report.html'}\n\n{NEXT}")


if __name__ == "__main__":
    main()
