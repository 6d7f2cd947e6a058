"""The command line's surface is frozen: no option appears, vanishes or changes its kind unnoticed."""

import difflib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from clearhead.cli import app
from clearhead.cli.verbs import VERBS

SURFACE = Path(__file__).with_name("command_line.txt")
RENEW = "CLEARHEAD_RENEW"


def described(parameter: Any) -> str:
    """An option or argument as one line: its names, what it takes and what by default, whether it must be given."""
    is_option = parameter.param_type_name == "option"
    kind = parameter.type_descriptor
    takes = parameter.metavar or "|".join(map(str, kind.choices or [])) or getattr(kind.annotation, "__name__", "")
    words = [", ".join([*parameter.opts, *parameter.secondary_opts])] if is_option else []
    if not getattr(parameter, "is_flag", False):
        words.append(f"{takes}..." if parameter.multiple or parameter.nargs == -1 else takes)
        words += [] if parameter.default is None else [f"= {parameter.default}"]
    return " ".join([*words, *(["(required)"] if parameter.required else [])])


def surface() -> Iterator[str]:
    """Every line of the command line's surface, verb by verb."""
    root: Any = typer.main.get_command(app)
    yield from sorted(f"clearhead {described(parameter)}" for parameter in root.params)
    for verb in VERBS:
        command: Any = root.get_command(None, verb)
        commands: dict[str, Any] = {verb: command}
        if hasattr(command, "commands"):
            commands = {f"{verb} {name}": one for name, one in command.commands.items()}
        for name, one in commands.items():
            yield from sorted(f"clearhead {name} {described(parameter)}" for parameter in one.params)


def test_the_surface_is_the_one_that_is_written_down() -> None:
    found = list(surface())
    if os.environ.get(RENEW):
        SURFACE.write_text("\n".join(found) + "\n", encoding="utf-8")
    known = SURFACE.read_text(encoding="utf-8").splitlines()
    changes = "\n".join(difflib.unified_diff(known, found, "written down", "found", lineterm="", n=0))
    assert found == known, (
        f"the command line has changed:\n{changes}\n"
        f"If that is meant, say so in CHANGELOG.md and renew {SURFACE.name}: {RENEW}=1 pytest {Path(__file__).name}"
    )


def test_to_is_a_language_and_out_a_place_everywhere() -> None:
    lines = list(surface())
    places = [line for line in lines if " --out" in line]
    assert {line.split("--to ")[1] for line in lines if "--to " in line} == {"LANG"}
    assert places
    assert [line for line in places if not any(word in line for word in ("FILE", "FOLDER", "PATH"))] == []
