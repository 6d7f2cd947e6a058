"""HTML, written so that nothing can be forgotten: text is escaped unless it is HTML by its type."""

from collections.abc import Iterable, Mapping
from html import escape

from clearhead.figures.inks import DARK, LIGHT, STYLE
from clearhead.figures.words import shorten, visible

__all__ = ["Markup", "bar", "element", "join", "page", "prose", "table"]

_MOST_LETTERS = 2000
_VOID = frozenset({"meta"})
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def element(name: str, *content: str | None, kind: str = "", attributes: Mapping[str, str] | None = None) -> Markup:
    """An element with its content; text is escaped, Markup is not, None is left out.

    Args:
        name: The tag, ours.
        content: What is in it.
        kind: Its class.
        attributes: Its other attributes, escaped.
    """
    given = {**({"class": kind} if kind else {}), **(attributes or {})}
    opening = "".join(f' {key}="{escape(visible(value))}"' for key, value in given.items())
    inner = join(part for part in content if part is not None)
    return Markup(f"<{name}{opening}>{inner}" + ("" if name in _VOID else f"</{name}>"))


def join(parts: Iterable[str]) -> Markup:
    """Parts one after the other, text escaped."""
    return Markup("".join(part if isinstance(part, Markup) else _escaped(part) for part in parts))


def prose(text: str, *, name: str = "div", kind: str = "prose") -> Markup:
    """A text from a file, of whatever script, cut where it is very long; its line ends stay."""
    return element(name, shorten(text, most=_MOST_LETTERS), kind=kind, attributes={"dir": "auto"})


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> Markup:
    """A table whose first column names its rows; it scrolls by itself where it is too wide."""
    top = element("tr", *(element("th", name, attributes={"scope": "col"}) for name in head))
    body: list[str] = []
    for row in rows:
        first, *others = row
        cells = (element("td", cell) for cell in others)
        body.append(element("tr", element("th", first, attributes={"scope": "row", "dir": "auto"}), *cells))
    whole = element("table", element("thead", top), element("tbody", *body))
    return element("div", whole, kind="scroll")


def bar(share: float, text: str) -> Markup:
    """A number with a bar before it that is as long as its share of the greatest."""
    percent = f"{100 * min(max(share, 0.0), 1.0):.1f}%"
    return join([element("span", kind="bar", attributes={"style": f"width: calc({percent} * .7)"}), text])


def page(title: str, *body: str) -> str:
    """A whole page that loads nothing, and is not allowed to."""
    head = [
        element("meta", attributes={"charset": "utf-8"}),
        element("meta", attributes={"name": "viewport", "content": "width=device-width, initial-scale=1"}),
        element("meta", attributes={"http-equiv": "Content-Security-Policy", "content": _POLICY}),
        element("title", title),
        Markup(f"<style>\n{_STYLE}</style>"),
    ]
    whole = Markup("\n").join([*head, element("main", *body)])
    return f'<!doctype html>\n<html lang="en">\n{whole}\n</html>\n'


def _escaped(text: str) -> str:
    return "\n".join(escape(visible(line)) for line in text.split("\n"))


def _variables(inks: Mapping[str, str]) -> str:
    return " ".join(f"--{kind}: {colour};" for kind, colour in inks.items())


_STYLE = (
    f""":root {{ color-scheme: light dark; {_variables(LIGHT)} --raised: #f5f5f8; --bar: #0072b2; }}
@media screen and (prefers-color-scheme: dark) {{
:root {{ {_variables(DARK)} --raised: #21212b; --bar: #56b4e9; }}
}}
{STYLE}"""
    + """
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 72rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 .3rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 .8rem; padding-top: 1rem; border-top: 1px solid var(--grid); }
p { max-width: 46rem; }
.lead { font-size: 1.05rem; margin: 0 0 1.2rem; }
.faint, figcaption { color: var(--faint); font-size: .9rem; }
.missing { color: var(--faint); font-style: italic; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(8.5rem, 1fr)); gap: .6rem; margin: 0 0 1rem; }
.card { background: var(--raised); border: 1px solid var(--grid); border-radius: .5rem; padding: .5rem .8rem; }
.card dt { color: var(--faint); font-size: .85rem; }
.card dd { margin: 0; font-size: 1.25rem; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.facts .card dd { font-size: 1rem; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 25rem), 1fr)); gap: 1.2rem; }
figure { margin: 0; break-inside: avoid; }
svg { display: block; width: 100%; max-width: 40rem; height: auto; }
figcaption { padding-left: .6rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem 1.2rem .25rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--grid); }
th { font-weight: normal; }
tbody th { white-space: nowrap; }
thead th { color: var(--faint); font-size: .85rem; }
td:has(.bar) { min-width: 11rem; white-space: nowrap; }
.bar { display: inline-block; height: .7em; margin-right: .5em; background: var(--bar); border-radius: 2px;
  print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.sample { border: 1px solid var(--grid); border-radius: .5rem; padding: .6rem .9rem; margin: 0 0 .8rem;
  break-inside: avoid; }
.sample > dl { margin: 0; display: grid; grid-template-columns: 5.5rem 1fr; gap: .15rem .8rem; }
.sample dt { color: var(--faint); font-size: .85rem; padding-top: .1rem; }
.sample dd { margin: 0; min-width: 0; }
.output { font-weight: 600; }
.prose, pre { white-space: pre-wrap; overflow-wrap: anywhere; }
details { margin-top: .6rem; }
summary { cursor: pointer; color: var(--faint); font-size: .9rem; }
.instances dt { color: var(--faint); font-size: .85rem; margin-top: .5rem; }
.instances dd { margin: 0 0 .2rem; }
pre { background: var(--raised); border-radius: .5rem; padding: .8rem; font-size: .85rem; line-height: 1.4; }
@media (max-width: 34rem) { .sample > dl { grid-template-columns: 1fr; } .sample dd { margin-bottom: .3rem; }
  th, td { padding-right: .7rem; } td:has(.bar) { min-width: 5rem; }
  .bar { display: block; margin: .3rem 0 .1rem; } }
@media print { main { max-width: none; padding: 0; } html { font-size: 10pt; } h2 { break-after: avoid; }
  .charts { grid-template-columns: 1fr 1fr; } }
"""
)
