"""Worked examples as one page that loads nothing from anywhere."""

from collections.abc import Iterable, Iterator
from html import escape

from clearhead.lessons.example import Result, WorkedExample
from clearhead.lessons.written import as_printed, cells

__all__ = ["page"]

_STYLE = """
body { margin: 2rem auto; max-width: 60rem; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; color: #1c1c28; }
section { border-top: 1px solid #d9d9df; margin-top: 2.5rem; }
h3 { font-size: 1rem; margin: 1.2rem 0 .3rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
td, th { padding: .1rem .7rem; text-align: right; font-weight: normal; }
th { color: #555566; }
.printed { color: #555566; }
.wrong { color: #a4161a; }
.remark { border-left: 3px solid #e69f00; padding-left: .7rem; }
svg { max-width: 100%; height: auto; }
.scroll { overflow-x: auto; }
"""


def page(examples: Iterable[WorkedExample]) -> str:
    """The page: every example, what the notes print beside what was computed, and the pictures."""
    body = "\n".join(line for example in examples for line in _section(example))
    return (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>clearhead: worked examples</title>\n<style>{_STYLE}</style>\n"
        f"<h1>Worked examples</h1>\n<p>Every number was computed by the same parts that models are built of.</p>\n"
        f"{body}\n</html>\n"
    )


def _section(example: WorkedExample) -> Iterator[str]:
    yield f'<section id="{escape(example.key)}">'
    yield f"<h2>{escape(example.key)} · {escape(example.title)}</h2>"
    yield f"<p>{escape(example.shows)}</p>"
    for result in example.results:
        yield from _result(result)
    for figure in example.figures.values():
        yield f'<div class="scroll">{figure.svg}</div>'
    yield "</section>"


def _result(result: Result) -> Iterator[str]:
    yield f"<h3>{escape(result.name)}</h3>"
    yield _table(result, cells(result.computed, result.digits), columns=result.columns, kind="computed")
    if result.agrees:
        yield '<p class="printed">= as the notes print</p>'
    elif result.printed is not None:
        yield '<p class="wrong">≠ the notes print</p>'
        yield _table(result, as_printed(result.printed), columns=(), kind="wrong")
    if result.remark:
        yield f'<p class="remark">{escape(result.remark)}</p>'


def _table(result: Result, body: list[list[str]], *, columns: tuple[str, ...], kind: str) -> str:
    names = result.rows if len(result.rows) == len(body) else ("",) * len(body)
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
    lines = [f"<tr><td></td>{head}</tr>"] if columns else []
    for name, row in zip(names, body, strict=True):
        lines.append(
            f'<tr><th scope="row">{escape(name)}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in row)}</tr>'
        )
    return f'<div class="scroll"><table class="{kind}">{"".join(lines)}</table></div>'
