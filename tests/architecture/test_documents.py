"""The pages tell the truth: their commands and snippets run, their lists equal what is on disk."""

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from clearhead.axes import AXES

ROOT = Path(__file__).parents[2]
HOUSE = ROOT / "src/clearhead"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
ARCHITECTURE = (ROOT / "docs/ARCHITECTURE.md").read_text(encoding="utf-8")
MOST_SECONDS = 240


def blocks(page: Path, *languages: str) -> Iterator[tuple[int, str]]:
    """Line number and text of a page's fenced blocks in one of these languages."""
    text = page.read_text(encoding="utf-8")
    for found in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        if found[1] in languages:
            yield text[: found.start(2)].count("\n"), found[2]


def commands(page: Path) -> Iterator[list[str]]:
    """The command lines of each block of a page, without prompts and comments."""
    for _, block in blocks(page, "bash", "console", "sh"):
        lines = (line.removeprefix("$ ").partition("  #")[0].strip() for line in block.splitlines())
        yield [line for line in lines if line and not line.startswith("#")]


COMMANDS = sorted({(page.name, line) for page in PAGES for lines in commands(page) for line in lines})
MADE = [(name, line) for name, line in COMMANDS if line.startswith("make ")]
RUN = ("clearhead ", "python -c ", "echo ")


def run(command: list[str] | str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs as a reader would with the environment active, in a folder of its own."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PATH": path},
        shell=isinstance(command, str),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=MOST_SECONDS,
        check=False,
    )


def test_every_command_is_of_a_kind_that_is_checked() -> None:
    outside = {"source .venv/bin/activate", "pre-commit install"}
    unknown = [line for _, line in COMMANDS if not line.startswith(("make ", *RUN)) and line not in outside]
    assert unknown == []


def test_the_readme_has_both_set_up_commands() -> None:
    assert {("README.md", "make demo"), ("README.md", "make test")} <= set(MADE)


@pytest.mark.parametrize(("page", "line"), MADE)
def test_a_make_command_has_its_target(page: str, line: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    assert {word for word in line.split()[1:] if "=" not in word} <= targets


def snippets(page: Path) -> str:
    """The python blocks of a page as one program, each line where it stands in the page."""
    program = ""
    for line, block in blocks(page, "python"):
        program += "\n" * (line - program.count("\n")) + block
    return program


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_runs_and_prints_what_its_comments_say(page: Path, tmp_path: Path) -> None:
    file = tmp_path / f"{page.stem}.py"
    file.write_text(program := snippets(page), encoding="utf-8")
    result = run([sys.executable, str(file)], tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    assert result.stdout.splitlines() == re.findall(r"^ *print\(.*\)  # (.*)$", program, re.MULTILINE)
    # Commands may use what the snippets made.
    for line in (line for lines in commands(page) for line in lines if line.startswith(RUN)):
        result = run(line, tmp_path)
        assert result.returncode == 0, f"{line}\n{result.stdout}{result.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8"))
    local = [link for link in links if "://" not in link]
    assert [link for link in local if not (page.parent / link).exists()] == []


def test_the_plan_of_the_house_is_what_is_built() -> None:
    plan = re.search(r"^## The house\n.*?^```\n(.*?)^```$", ARCHITECTURE, re.MULTILINE | re.DOTALL)
    assert plan
    rows = [(line.split()[0], line) for line in plan[1].splitlines()]
    planned = {room for room, _ in rows}
    built = {room for room, line in rows if "not built yet" not in line}
    files = {path.name for path in HOUSE.glob("*.py") if not path.stem.startswith("__")}
    assert built == files | {f"{path.parent.name}/" for path in HOUSE.glob("*/__init__.py")}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = " ".join(project["tool"]["importlinter"]["contracts"][0]["layers"])
    assert [re.match(r"\w+", room)[0] for room, _ in rows] == re.findall(r"\w+", layers)
    assert len(planned) == len(rows)


def test_the_legend_is_the_legend() -> None:
    rows = re.findall(r"^\| `([A-Z])` \| (.+?) \| `(#\w+)` \|$", ARCHITECTURE, re.MULTILINE)
    assert rows == [(axis.letter, axis.name, axis.colour) for axis in AXES.values()]


def test_no_page_or_program_knows_one_machine() -> None:
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listing.returncode:
        pytest.skip("not a git checkout")
    found: list[str] = []
    for name in filter(None, listing.stdout.split("\0")):
        path = ROOT / name
        content = path.read_bytes() if path.is_file() else b""
        if b"\0" not in content and re.search(rb"(?<![\w.])/(work|root|home)/", content):
            found.append(name)
    assert found == []
