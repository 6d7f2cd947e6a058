"""A name's suffix, its annotation and the legend say the same about its shape.

`pattern_BHQK: Float[Tensor, "B H Q K"]` is right. An annotated parameter or local carries its
suffix. Indices, masks, fields and arrays of any rank ("... D") may go without; a suffix that is
there is always checked.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from clearhead.axes import AXES

HOUSE = Path(__file__).parents[2] / "src/clearhead"
FILES = sorted(HOUSE.rglob("*.py"))

INDICES_AND_MASKS = {"Bool", "Int", "Integer", "UInt"}


def suffix(name: str) -> str:
    """The capitals that end a name: BHQK of pattern_BHQK, nothing of a CONSTANT_NAME."""
    found = re.search(r"_(\d*[A-Z][A-Z0-9]*)$", name)
    return found[1] if found and name != name.upper() else ""


def shape_words(tree: ast.Module) -> set[str]:
    """The names under which a module knows jaxtyping's array types."""
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == "jaxtyping"]
    return {alias.asname or alias.name for node in imports for alias in node.names}


def shape_of(annotation: ast.expr | None, words: set[str]) -> tuple[str, str] | None:
    """Kind and shape of `Float[Tensor, shape]`, also of `Float[Tensor, shape] | None`; None without a shape."""
    match annotation:
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return shape_of(left, words) or shape_of(right, words)
        case ast.Subscript(value=ast.Name(id=word), slice=ast.Tuple(elts=[_, ast.Constant(value=str(shape))])):
            return (word, shape) if word in words else None
    return None


def annotated(tree: ast.Module) -> Iterator[tuple[str, str, bool]]:
    """Name, shape and whether a suffix is due, for all parameters, locals and fields that have a shape."""
    words = shape_words(tree)
    fields = {id(node) for owner in ast.walk(tree) if isinstance(owner, ast.ClassDef) for node in owner.body}
    for node in ast.walk(tree):
        match node:
            case ast.arg(arg=name, annotation=annotation):
                found = shape_of(annotation, words)
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation):
                found = shape_of(annotation, words)
            case _:
                continue
        if found:
            kind, shape = found
            yield name, shape, not (id(node) in fields or kind in INDICES_AND_MASKS or shape.startswith("..."))


def disagreements(code: str) -> list[str]:
    wrong: list[str] = []
    for name, shape, is_due in annotated(ast.parse(code)):
        words = [word.lstrip("*#?_") for word in shape.removeprefix("...").split()]
        # An axis of fixed size, as of a bias that all rows of a batch share, may keep its letter.
        letters = "".join(f"[A-Z{word}]" if word.isdigit() else re.escape(word) for word in words)
        if (suffix(name) or is_due) and not re.fullmatch(letters, suffix(name)):
            wrong.append(f"{name}: {shape}")
    return wrong


def foreign_letters(code: str) -> set[str]:
    """Capitals in suffixes and in annotations that the legend does not know."""
    tree = ast.parse(code)
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    names |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    words = shape_words(tree)
    shapes = {
        found[1] for node in ast.walk(tree) if isinstance(node, ast.Subscript) and (found := shape_of(node, words))
    }
    capitals = {letter for text in (*map(suffix, names), *shapes) for letter in text if letter.isupper()}
    return capitals - set(AXES)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(HOUSE).as_posix())
def test_suffixes_equal_annotations(path: Path) -> None:
    assert disagreements(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(HOUSE).as_posix())
def test_every_letter_is_in_the_legend(path: Path) -> None:
    assert foreign_letters(path.read_text(encoding="utf-8")) == set()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(HOUSE).as_posix())
def test_annotations_can_be_checked_while_running(path: Path) -> None:
    code = path.read_text(encoding="utf-8")
    assert "jaxtyping" not in code or "from __future__ import annotations" not in code


IMPORT = "from jaxtyping import Float, Int\n"


@pytest.mark.parametrize(
    ("code", "wrong"),
    [
        ('def f(x_BTD: Float[Tensor, "B T D"]): ...', []),
        ('def f(x_BTD: Float[Tensor, "B T D"] | None = None): ...', []),
        ('def f(x_BTD: Float[Tensor, "B D T"]): ...', ["x_BTD: B D T"]),
        ('def f(*, x: Float[Tensor, "B T D"]): ...', ["x: B T D"]),
        ('def f():\n    y_HC: Float[Tensor, "H K"] = g()', ["y_HC: H K"]),
        ('def f(target_ids: Int[Tensor, "B T"], *args: int): ...', []),
        ('def f(ids_BT: Int[Tensor, "B S"]): ...', ["ids_BT: B S"]),
        ('def f(x: Float[Tensor, "... D"], y_C: Float[Tensor, "... D"]): ...', ["y_C: ... D"]),
        ('def f(scale: Float[Tensor, ""]): ...', []),
        ('class C:\n    logits: Float[Tensor, "B T V"]', []),
        ('class C:\n    logits_BT: Float[Tensor, "B T V"]', ["logits_BT: B T V"]),
        ('async def f(open_B1QK: Float[Tensor, "B 1 Q K"]): ...', []),
        ('def f(open_BHQK: Float[Tensor, "#B 1 Q K"]): ...', []),
        ('def f(open_BHKQ: Float[Tensor, "#B 1 Q K"]): ...', ["open_BHKQ: #B 1 Q K"]),
    ],
)
def test_a_disagreement_is_found(code: str, wrong: list[str]) -> None:
    assert disagreements(IMPORT + code) == wrong


@pytest.mark.parametrize(
    ("code", "foreign"),
    [
        ("x_BTD = LIMIT_XYZ = self.MAX_W", set()),
        ("x_BTZ = 1", {"Z"}),
        ("self.weight_XD = 1", {"X"}),
        ('def f() -> Float[Tensor, "B J"]: ...', {"J"}),
        ("class Some_Thing: pass\nValue = TypeVar('_T')\n_T = Value", set()),
    ],
)
def test_a_foreign_letter_is_found(code: str, foreign: set[str]) -> None:
    assert foreign_letters(IMPORT + code) == foreign
