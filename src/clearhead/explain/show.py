"""A number and its arithmetic as text, as data and as a page."""

from html import escape
from typing import Any

from clearhead.explain.node import Node, Operation
from clearhead.figures.words import visible

_SIGNS = {
    Operation.SUM: "Σ of {n}",
    Operation.PRODUCT: "product of {n}",
    Operation.QUOTIENT: "first / second",
    Operation.POWER: "first ^ second",
    Operation.SAME: "the same as",
    Operation.NEGATIVE: "-",
    Operation.MAX: "greatest of {n}",
}
_FEW = 6
_STYLE = (
    "body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem; color-scheme: light dark; }"
    " details { margin-left: 1.2rem; } summary { cursor: pointer; } code { font-size: 13px; opacity: .75; }"
    " .value { font-variant-numeric: tabular-nums; font-weight: 600; } p { margin: .1rem 0 .1rem 1.2rem; }"
)


def sign(node: Node) -> str:
    """What puts the children together, in few words."""
    if node.operation is Operation.GIVEN:
        return ""
    return _SIGNS.get(node.operation, str(node.operation)).format(n=len(node.children))


def as_text(node: Node, *, depth: int = 1, most: int = _FEW) -> str:
    """The number with what it is made of, as lines of text.

    Args:
        node: The number.
        depth: How many levels to open.
        most: How many terms of a sum to show, those that weigh most.
    """
    return "\n".join(_lines(node, depth=depth, most=most, indent=""))


def _lines(node: Node, *, depth: int, most: int, indent: str) -> list[str]:
    lines = [f"{indent}{node.value: .6g}  {visible(node.name)}"]
    if node.line is not None and not indent:
        lines.append(f"{indent}    computed at {node.line}: {node.line.code}")
    if depth <= 0 or not node.children:
        if node.formula and node.operation is Operation.GIVEN:
            lines[0] += f"  ({node.formula})"
        return lines
    formula = f": {node.formula}" if node.formula else ""
    lines.append(f"{indent}  = {sign(node)}{formula}")
    ranked = node.ranked
    shown = ranked if node.operation is not Operation.SUM else ranked[:most]
    for child in shown:
        lines += _lines(child, depth=depth - 1, most=most, indent=indent + "    ")
    if rest := ranked[len(shown) :]:
        lines.append(f"{indent}    {sum(child.value for child in rest): .6g}  {len(rest)} smaller terms together")
    return lines


def as_data(node: Node, *, depth: int = 1, most: int = 1000) -> dict[str, Any]:
    """The number with what it is made of, as data that JSON can hold.

    Args:
        node: The number.
        depth: How many levels to open.
        most: How many terms of each sum to tell, those that weigh most; the rest is told together.
    """
    address = node.address
    data: dict[str, Any] = {
        "name": node.name,
        "value": node.value,
        "operation": node.operation.value,
        "formula": node.formula,
        "address": None
        if address is None
        else {"name": address.name, "index": list(address.index), "axes": address.axes},
        "line": None if node.line is None else {"file": node.line.file, "line": node.line.line, "code": node.line.code},
        "opens": node.operation is not Operation.GIVEN,
    }
    if depth > 0 and node.children:
        ranked = node.ranked
        data["recomputed"] = node.recomputed
        data["children"] = [as_data(child, depth=depth - 1, most=most) for child in ranked[:most]]
        data["rest"] = {"count": len(ranked[most:]), "sum": sum(child.value for child in ranked[most:])}
    return data


def as_html(node: Node, *, depth: int = 3, most: int = 40) -> str:
    """The number as a page of its own, whose terms open; it loads nothing."""
    title = escape(visible(node.name))
    head = (
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{title}</title>\n<style>{_STYLE}</style>\n'
    )
    return f"{head}<h1>Why {node.value:.6g}?</h1>\n{details_of(node, depth=depth, most=most)}\n</html>\n"


def details_of(node: Node, *, depth: int, most: int) -> str:
    """The number as a part of a page: its terms open in turn."""
    return _details(node, depth=depth, most=most, opened=True)


def _details(node: Node, *, depth: int, most: int, opened: bool = False) -> str:
    line = "" if node.line is None else f" <code>{escape(str(node.line))}: {escape(node.line.code)}</code>"
    said = f'<span class="value">{node.value:.6g}</span> {escape(visible(node.name))}'
    if depth <= 0 or not node.children:
        return f"<p>{said}{line}</p>"
    ranked = node.ranked
    parts = [_details(child, depth=depth - 1, most=most) for child in ranked[:most]]
    if rest := ranked[most:]:
        parts.append(f"<p>{sum(child.value for child in rest):.6g} {len(rest)} smaller terms together</p>")
    formula = escape(f"{sign(node)} {node.formula}".strip())
    inside = "\n".join(parts)
    return (
        f"<details{' open' if opened else ''}><summary>{said}{line}</summary>\n<p>= {formula}</p>\n{inside}\n</details>"
    )
