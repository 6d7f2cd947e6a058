"""Which column of a table is which: by its header's names, or else by what the columns hold.

Takes: the first rows of a table, the task, and the columns that a user named, if any.
Gives: Columns, and the Record that a row makes.
Uses:  errors, text.words, data.{column_names,record,tables,tags}.
Never: guesses between two readings; it asks for the columns to be named instead.

    source  target            a header with these names, or two languages' (en, fr), or two columns of text
    text    label             a header, or two columns; the one that is always a single word is the label
    sentence1 sentence2 score a header, or two columns of text and, if there is a third, one of numbers
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

from clearhead.data.column_names import OPTIONAL, REQUIRED, Role, is_language, names_of
from clearhead.data.record import Record, Task
from clearhead.data.tables import Row
from clearhead.data.tags import check_tag
from clearhead.errors import TextError, nearest
from clearhead.text.words import check_text

__all__ = ["Columns", "find_columns", "make_record"]

_LONGEST_LABEL = 40
_ATTRIBUTION = "CC-BY"


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Where a table keeps what a task needs.

    Attributes:
        places: The column of each role, counted from 0.
        has_header: Whether the first row is names, not an example.
        width: How many cells every row must have; None where the user named the columns, and more cells do not matter.
    """

    places: Mapping[Role, int]
    has_header: bool
    width: int | None


def find_columns(sample: Sequence[Row], *, task: Task, named: Sequence[str] | None, keyed: bool, path: Path) -> Columns:
    """The columns of a table.

    Args:
        sample: Its first rows, blank ones left out.
        task: What the records are for.
        named: The columns that the user named, by name or by number from 0, in the order of the task's roles.
        keyed: Whether the first row is certainly names, as in JSON.
        path: The file, for errors.
    """
    first = sample[0]
    names = [(cell or "").strip().casefold() for cell in first.cells]
    where = f"{path}, line {first.line}"
    if named is not None:
        return _chosen(names, list(named), task=task, keyed=keyed, where=where)
    width = len(names)
    found = _by_header(names, task)
    missing = [role for role in REQUIRED[task] if role not in found]
    if not missing:
        return Columns(places=found, has_header=True, width=width)
    if keyed or found:
        raise TextError(
            f"a header that does not say where the {missing[0]} is",
            got=f"{where}: {', '.join(names)}",
            expected=f"a column named {' or '.join(names_of(task, missing[0])[:3])}",
            advice=_advice(task),
        )
    rows = [row for row in sample if len(row.cells) == width]
    places = _by_content(rows, task)
    if _may_be_header(rows, None if places is None else places.get(Role.LABEL)):
        known = " and ".join(names_of(task, role)[0] for role in REQUIRED[task])
        raise TextError(
            "a first row that may be a header or an example",
            got=f"{where}: {', '.join(names)[:200]}",
            expected=f"columns named {known}, or examples alone",
            advice=f"{_advice(task)}: by name if that row is a header, by number if it is an example",
        )
    if places is None:
        raise TextError(
            f"columns that do not fit the task {task}",
            got=f"{where}: {width} column{'s' if width > 1 else ''}",
            expected=" and ".join(REQUIRED[task]) + (f", perhaps {OPTIONAL[task][0]}" if OPTIONAL[task] else ""),
            advice=_advice(task) if width > 1 else "tabs between columns in a .tsv, commas in a .csv",
        )
    return Columns(places=places, has_header=False, width=width)


def make_record(row: Row, columns: Columns, *, task: Task, path: Path) -> Record:
    """The record that a row makes; an empty one of a blank row, for the cleaning to count."""
    if not row.cells:
        return Record(source="")
    if columns.width is not None and len(row.cells) != columns.width:
        raise TextError(
            "a row with another number of columns than the first",
            got=f"{path}, line {row.line}: {len(row.cells)} columns",
            expected=f"{columns.width} columns",
            advice=f"mend or remove the line; {_advice(task)} to allow more columns than those",
        )
    try:
        cells = {role: _text(row, place, role) for role, place in columns.places.items()}
        score, tag = cells.get(Role.SCORE), cells.get(Role.TAG)
        return Record(
            source=cells[Role.SOURCE],
            target=cells.get(Role.TARGET),
            label=cells.get(Role.LABEL),
            tag=None if tag is None else check_tag(tag.strip()),
            score=None if score is None else _number(score),
        )
    except TextError as error:
        raise TextError(
            error.problem, got=f"{path}, line {row.line}: {error.got}", expected=error.expected, advice=error.advice
        ) from None


def _text(row: Row, place: int, role: Role) -> str:
    cell = row.cells[place] if place < len(row.cells) else None
    if cell is None:
        raise TextError(f"a row without {role}", got=f"{len(row.cells)} columns", expected=f"text in column {place}")
    return check_text(cell)


def _number(cell: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        value = float("nan")
    if not isfinite(value):
        raise TextError("a score that is not a number", got=repr(cell[:60]), expected="a number such as 3.8")
    return value


def _by_header(names: Sequence[str], task: Task) -> dict[Role, int]:
    """The roles whose columns a header names; of two languages, the first is the source."""
    found: dict[Role, int] = {}
    for role in (*REQUIRED[task], *OPTIONAL[task]):
        known = names_of(task, role)
        place = next((names.index(name) for name in known if name in names), None)
        if place is not None and place not in found.values():
            found[role] = place
    languages = [place for place, name in enumerate(names) if is_language(name)]
    if len(languages) > 2:  # beside two others, "id" is a number and not Indonesian
        languages = [place for place in languages if names[place] != "id"]
    if task is Task.TRANSLATE and not {Role.SOURCE, Role.TARGET} & set(found) and len(languages) == 2:
        found |= {Role.SOURCE: languages[0], Role.TARGET: languages[1]}
    return found if set(found) & set(REQUIRED[task]) else {}


def _chosen(names: list[str], named: list[str], *, task: Task, keyed: bool, where: str) -> Columns:
    """The columns that the user named."""
    roles = (*REQUIRED[task], *OPTIONAL[task])
    # One text alone is enough for a student, who learns from a teacher's vectors and not from pairs.
    least = 1 if task is Task.SIMILARITY else len(REQUIRED[task])
    if not least <= len(named) <= len(roles):
        raise TextError(
            f"another number of columns than the task {task} needs",
            got=", ".join(named),
            expected=", ".join(roles[:least]) + "".join(f" [, {role}]" for role in roles[least:]),
        )
    places: list[int] = []
    for name in named:
        place = int(name) if name.isdecimal() and len(name) < 5 else None
        if name.strip().casefold() in names:
            place = names.index(name.strip().casefold())
        if place is None or place >= len(names):
            raise TextError(
                "a column that is not there",
                got=f"{where}: {name!r} among {', '.join(names)[:200]}",
                expected=f"a name from the first row, or a number from 0 to {len(names) - 1}",
                advice=nearest(name, names),
            )
        places.append(place)
    by_name = any(name.strip().casefold() in names for name in named)
    known = {name for role in roles for name in names_of(task, role)}
    titled = all(names[place] in known or is_language(names[place]) for place in places)
    return Columns(places=dict(zip(roles, places, strict=False)), has_header=keyed or by_name or titled, width=None)


def _by_content(rows: Sequence[Row], task: Task) -> dict[Role, int] | None:
    """The columns of a table without a header, or None where that is not plain to see."""
    width = len(rows[0].cells)
    columns = [[row.cells[place] or "" for row in rows] for place in range(width)]
    texts = [place for place, cells in enumerate(columns) if not _is_attribution(cells) and not _is_numbers(cells)]
    numbers = [place for place, cells in enumerate(columns) if _is_numbers(cells)]
    if task.reads_running_text:
        return {Role.SOURCE: 0} if width == 1 else None
    if task is Task.CLASSIFY:
        if width != 2:
            return None
        label = 0 if _is_labels(columns[0]) and not _is_labels(columns[1]) else 1
        return {Role.SOURCE: 1 - label, Role.LABEL: label}
    if len(texts) != 2:
        return None
    pair = {Role.SOURCE: texts[0], Role.TARGET: texts[1]}
    if task is Task.SIMILARITY and width == 3 and numbers:
        return pair | {Role.SCORE: numbers[0]}
    return pair


def _may_be_header(rows: Sequence[Row], label: int | None) -> bool:
    """Whether a first row is unlike all others: words above numbers, or a label above others that repeat."""
    columns = [[(row.cells[place] or "").strip() for row in rows] for place in range(len(rows[0].cells))]
    if len(rows) > 1 and any(_is_numbers(cells[1:]) and not _is_numbers(cells[:1]) for cells in columns):
        return True
    if label is None:
        return False
    first, *others = columns[label]
    return bool(others) and first not in others and 2 * len(set(others)) <= len(others)


def _is_attribution(cells: Sequence[str]) -> bool:
    """The last column of Tatoeba's pairs says whose they are."""
    return all(cell.startswith(_ATTRIBUTION) for cell in cells)


def _is_numbers(cells: Sequence[str]) -> bool:
    return all(cell.strip().replace(".", "", 1).removeprefix("-").isdecimal() for cell in cells)


def _is_labels(cells: Sequence[str]) -> bool:
    return all(len(cell.split()) == 1 and len(cell) <= _LONGEST_LABEL for cell in cells)


def _advice(task: Task) -> str:
    return f"name the columns: {', '.join((*REQUIRED[task], *OPTIONAL[task]))}, by name or by number from 0"
