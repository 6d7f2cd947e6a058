"""A walk through a run as one file: what was asked, what was written, who looked at whom, and every number opened.

It loads nothing, so that it opens without the server, in ten years too.
"""

from collections.abc import Sequence
from html import escape

from clearhead.explain import Node, Run
from clearhead.explain.show import details_of
from clearhead.figures.words import visible

_STYLE = (
    ":root { color-scheme: light dark; } body { font: 16px/1.5 system-ui, sans-serif; max-width: 64rem; "
    "margin: 2rem auto; padding: 0 1rem; } .scroll { overflow-x: auto; background: #fff; } "
    ".value { font-weight: 600; font-variant-numeric: tabular-nums; } details { margin-left: 1.2rem; } "
    "details > p { margin: .1rem 0 .1rem 1.2rem; } code { font-size: 13px; opacity: .75; } "
    "table { border-collapse: collapse; } td { padding: .1rem .8rem .1rem 0; }"
)
_MOST_PICTURES = 12
_DEPTH = 2
_MOST_TERMS = 24


def walk(run: Run, nodes: Sequence[Node]) -> str:
    """The page of a walk.

    Args:
        run: The run that was looked at.
        nodes: The numbers that were asked about, in order.
    """
    trace = run.trace
    parts = [f"<h1>A run of {escape(visible(trace.model or 'a model'))}</h1>"]
    for name, tokens in (("source", trace.source), ("target", trace.target)):
        if tokens:
            parts.append(f"<p>{name}: {escape(visible(' '.join(token.shown for token in tokens)))}</p>")
    if run.text:
        parts.append(f"<p>written: <strong>{escape(visible(run.text))}</strong></p>")
    if trace.scores:
        rows = "".join(
            f"<tr><td>{escape(visible(token.shown))}</td><td>{score:.4f}</td></tr>"
            for token, score in zip(trace.written, trace.scores, strict=False)
        )
        parts.append(f"<h2>log-probability of each token</h2><table>{rows}</table>")
    if trace.beams:
        parts.append(f'<h2>beams</h2><div class="scroll">{run.beams().svg}</div>')
    if nodes:
        parts.append("<h2>why</h2>")
        parts += [details_of(node, depth=_DEPTH, most=_MOST_TERMS) for node in nodes]
    patterns = [site for site in run if site.endswith(".pattern")][:_MOST_PICTURES]
    parts += [f'<h2>{site}</h2><div class="scroll">{run.heatmap(site).svg}</div>' for site in patterns]
    title = escape(visible(f"clearhead: {trace.model}"))
    return (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n{chr(10).join(parts)}\n</html>\n"
    )
