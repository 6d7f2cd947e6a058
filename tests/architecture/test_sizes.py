"""A file is one idea, a function fits a screen, a constructor takes little, and names say what things are."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

HOUSE = Path(__file__).parents[2] / "src/clearhead"
FILES = sorted(HOUSE.rglob("*.py"))
ROOMS = sorted({*HOUSE.glob("*.py"), *HOUSE.glob("*/__init__.py")} - {HOUSE / "__main__.py"})

MOST_LINES = 300
MOST_FUNCTION_LINES = 60
MOST_PARAMETERS = 8
BANNED_MODULES = {"utils", "helpers", "common", "misc"}
BANNED_SUFFIXES = ("Impl", "Manager", "Helper")

TABLES: set[str] = set()
"""Files that are tables, and may be as long as what they list."""

POSITIONAL = {
    "Busy": "an exception is raised with its message first",
    "ClearheadError": "an exception is raised with its message first",
    "Recorder": "sites read as a list: Recorder(site, site)",
    "Guard": "an ASGI middleware is given the application first",
    "Watch": "an ASGI middleware is given the application first",
    "TinyModel": "an architecture's name is enough: TinyModel(name)",
    "Edit": "a site and its change read as a sentence: Edit(site, change)",
}
"""Classes whose constructors take positional arguments, and why."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def short(path: Path) -> str:
    return path.relative_to(HOUSE).as_posix()


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def classes(path: Path) -> Iterator[ast.ClassDef]:
    return (node for node in ast.walk(tree(path)) if isinstance(node, ast.ClassDef))


def constructors(path: Path) -> Iterator[tuple[str, ast.arguments]]:
    for owner in classes(path):
        for node in owner.body:
            if isinstance(node, ast.FunctionDef) and node.name == "__init__":
                yield owner.name, node.args


@pytest.mark.parametrize("path", FILES, ids=short)
def test_files_are_short(path: Path) -> None:
    n_lines = len(path.read_text(encoding="utf-8").splitlines())
    assert short(path) in TABLES or n_lines <= MOST_LINES


def test_every_exempt_table_exists() -> None:
    assert TABLES - {short(path) for path in FILES} == set()


@pytest.mark.parametrize("path", FILES, ids=short)
def test_functions_fit_a_screen(path: Path) -> None:
    functions = [node for node in ast.walk(tree(path)) if isinstance(node, Function)]
    lengths = {f"{node.name}:{node.lineno}": (node.end_lineno or 0) - node.lineno + 1 for node in functions}
    assert {name: length for name, length in lengths.items() if length > MOST_FUNCTION_LINES} == {}


@pytest.mark.parametrize("path", FILES, ids=short)
def test_constructors_take_few_arguments_by_keyword(path: Path) -> None:
    for owner, arguments in constructors(path):
        positional = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)][1:]
        if arguments.vararg:
            positional.append(arguments.vararg.arg)
        assert owner in POSITIONAL or positional == [], f"{owner} takes {positional} by position"
        n_parameters = len(positional) + len(arguments.kwonlyargs)
        assert n_parameters <= MOST_PARAMETERS, f"{owner} takes {n_parameters} arguments"


def test_every_positional_constructor_exists() -> None:
    owners = {owner for path in FILES for owner, _ in constructors(path)}
    assert set(POSITIONAL) - owners == set()


@pytest.mark.parametrize("path", FILES, ids=short)
def test_names_say_what_things_are(path: Path) -> None:
    assert BANNED_MODULES & set(path.relative_to(HOUSE).with_suffix("").parts) == set()
    assert [owner.name for owner in classes(path) if owner.name.endswith(BANNED_SUFFIXES)] == []


@pytest.mark.parametrize("path", ROOMS, ids=short)
def test_a_room_says_what_it_takes_gives_uses_and_never_does(path: Path) -> None:
    docstring = ast.get_docstring(tree(path)) or ""
    assert re.findall(r"^(Takes|Gives|Uses|Never):\s+\S", docstring, re.MULTILINE) == [
        "Takes",
        "Gives",
        "Uses",
        "Never",
    ]
