"""On a plane: every verb with no model named and no network."""

import socket
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

from .tiny_folders import Run

NOTES = "The bread goes into the oven for forty minutes.\nThe company earned more money this year.\n"
PASSAGE = (
    "Marie lives in a small house near the sea. Every morning she feeds her two cats. "
    "Her brother Paul works in a bakery in Paris. On Sundays they eat lunch together."
)


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any use of a socket is a failure."""

    def refuse(*arguments: object, **options: object) -> NoReturn:
        raise AssertionError(f"a socket was used: {arguments!r}")

    for name in ("connect", "connect_ex", "bind", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)


def says(*words: str) -> Callable[[str], bool]:
    return lambda text: all(word in text.lower() for word in words)


@pytest.mark.parametrize(
    ("arguments", "holds"),
    [
        (("translate", "Thank you.", "--to", "fr"), says("merci")),
        (("translate", "Thank you.", "--to", "de"), says("dank")),
        (("translate", "Thank you.", "--to", "hi"), lambda text: any("\u0900" <= letter < "\u0980" for letter in text)),
        (("complete", "Once upon a time", "--seed", "1", "--max-new-tokens", "20"), says("once upon a time")),
        (("fill", "The cat drank some [MASK]."), says("0.")),
        (("classify", "a wonderful, moving film"), lambda text: text.lower().startswith("positive")),
        (("classify", "a dull and lifeless mess"), lambda text: text.lower().startswith("negative")),
        (("classify", "The bread is in the oven.", "--label", "cooking", "--label", "money"), says("cooking")),
        (("embed", "The cat sat on the mat.", "--json"), says("vector")),
        (("summarize", PASSAGE), lambda text: 0 < len(text) < len(PASSAGE)),
        (("answer", "Where does Paul work?", "--in", "PASSAGE"), says("bakery")),
    ],
)
def test_a_verb_works_by_itself(
    run: Run, tmp_path: Path, arguments: tuple[str, ...], holds: Callable[[str], bool]
) -> None:
    if "PASSAGE" in arguments:
        (tmp_path / "passage.txt").write_text(PASSAGE, encoding="utf-8")
        arguments = tuple(str(tmp_path / "passage.txt") if one == "PASSAGE" else one for one in arguments)
    ran = run(*arguments)
    assert ran.code == 0, ran.err
    assert holds(ran.out), ran.out


def test_search_finds_what_is_meant(run: Run, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text(NOTES, encoding="utf-8")
    ran = run("search", "baking", "--in", tmp_path / "notes.txt")
    assert ran.code == 0, ran.err
    assert "bread" in ran.out.splitlines()[0]
