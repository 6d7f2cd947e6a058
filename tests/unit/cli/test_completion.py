"""Shells complete verbs and options, quickly: nothing heavy is imported for it, nor for help."""

import json
import os
import subprocess
import sys

import pytest

from clearhead.cli.learn import _keys
from clearhead.cli.verbs import VERBS
from clearhead.lessons import EXAMPLES

PROGRAM = [sys.executable, "-m", "clearhead"]
HEAVY = ["torch", "transformers", "sklearn", "gensim"]


def shell(kind: str, line: str) -> list[str]:
    """What a shell is told when somebody presses Tab behind a line."""
    words = {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" ")), "_TYPER_COMPLETE_ARGS": line}
    environment = {**os.environ, **words, "_CLEARHEAD_COMPLETE": f"complete_{kind}"}
    environment["_TYPER_COMPLETE_FISH_ACTION"] = "get-args"
    return subprocess.run(PROGRAM, env=environment, capture_output=True, text=True, check=True).stdout.splitlines()


@pytest.mark.parametrize("kind", ["bash", "zsh", "fish"])
def test_the_script_for_a_shell(kind: str) -> None:
    environment = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    command = [*PROGRAM, "--show-completion", kind]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert f"_CLEARHEAD_COMPLETE=complete_{kind}" in ran.stdout


def test_verbs_are_completed() -> None:
    assert shell("bash", "clearhead t") == [verb for verb in VERBS if verb.startswith("t")]
    assert shell("fish", "clearhead su") == [f"summarize\t{VERBS['summarize']}"]


def test_options_of_a_verb_are_completed() -> None:
    assert shell("bash", "clearhead translate --b") == ["--beams"]
    assert '"--max-new-tokens"' in "".join(shell("zsh", "clearhead complete --max"))
    assert shell("bash", "clearhead complete --overflow ") == ["error", "slide"]


def test_neither_help_nor_completion_imports_torch() -> None:
    code = f"""
import json, os, sys
from clearhead.cli import main
from clearhead.cli.verbs import VERBS
loaded = {{}}
def left(*arguments):
    try:
        main(arguments)
    except SystemExit:
        pass
    loaded[" ".join(arguments)] = [name for name in {HEAVY} if name in sys.modules]
for verb in VERBS:
    left(verb, "--help")
os.environ.update(_CLEARHEAD_COMPLETE="complete_bash", COMP_WORDS="clearhead ", COMP_CWORD="1")
left()
print("LOADED" + json.dumps(loaded))
"""
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    loaded = json.loads(output.rpartition("LOADED")[2])
    assert list(loaded) == [*(f"{verb} --help" for verb in VERBS), ""]
    assert {key: names for key, names in loaded.items() if names} == {}
    assert all(f"\n{verb}\n" in output for verb in VERBS)


def test_the_help_of_learn_names_every_example() -> None:
    assert _keys() == list(EXAMPLES)
