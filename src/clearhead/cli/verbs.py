"""The verbs, loaded when they are called for, and what happens when one fails.

Takes: the name of a verb.
Gives: its command, from the file of that name; an exit code where it raises.
Uses:  cli.harmless, cli.spelling, errors; typer.
Never: imports a verb to list it.
"""

import os
import sys
import traceback
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from types import MappingProxyType
from typing import Any, cast

import typer
from typer.core import TyperGroup

from clearhead.cli.harmless import harmless
from clearhead.cli.spelling import spelled
from clearhead.errors import ClearheadError

__all__ = ["VERBS", "Verbs"]

VERBS: Mapping[str, str] = MappingProxyType(
    {
        "translate": "Translate text.",
        "summarize": "Summarise text.",
        "complete": "Go on with a text.",
        "answer": "Answer questions.",
        "classify": "Say which label fits a text.",
        "fill": "Fill in masked words.",
        "embed": "Give each text a vector.",
        "search": "Find passages by what they mean.",
        "serve": "Serve models to other programs.",
        "explain": "Open a living Transformer in the browser.",
        "trace": "Record every number of a run.",
        "heatmap": "Draw who looks at whom.",
        "why": "Open the arithmetic of one number.",
        "edit": "Change something inside, and see what comes of it.",
        "export": "Write a model as a folder that other programs open.",
        "learn": "Work through the examples of the course, computed as you watch.",
        "models": "List the models on this computer.",
        "train": "Train a model of your own.",
        "evaluate": "Measure how good a model is on a file.",
        "tokenizer": "Train a tokenizer on your text, or see how one reads a text.",
        "bench": "Measure how fast a model runs on this computer.",
        "doctor": "Say what this computer can do, and what is installed.",
        "verify": "Compare every number of a model with the reference's.",
    }
)
"""Every verb and what `--help` says of it. The verb `x` is the Typer app named `app` in `clearhead/cli/x.py`."""


class Verbs(TyperGroup):
    """The group of all verbs; typer's own types are private to it, hence Any."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of the verbs, in the order of the table."""
        del ctx
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A verb, imported now; None where there is no such verb."""
        del ctx
        if cmd_name not in VERBS:
            return None
        command = typer.main.get_command(import_module(f"clearhead.cli.{cmd_name}").app)
        command.name = cmd_name
        return command

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of verbs without importing them."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the verb that the arguments name; typer suggests a near one from `commands`."""
        if args[0] not in VERBS:
            self.commands = dict.fromkeys(VERBS)  # pyright: ignore[reportAttributeAccessIssue]  (only names are read)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run a verb; what it raises becomes a message and an exit code."""
        try:
            result = super().invoke(ctx)
            _flush()
        except BrokenPipeError:
            _discard_output()
            raise typer.Exit(0) from None
        except ClearheadError as error:
            error.advice = None if error.advice is None else spelled(error.advice)
            raise _failed(error, str(error), debug=ctx.params["debug"]) from None
        except OSError as error:
            _discard_output()  # what is left there would fail again when Python ends
            raise _failed(error, f"the system refuses\n  got:      {error}", debug=ctx.params["debug"]) from None
        except (typer.Exit, typer.Abort, typer.TyperException):
            raise
        except Exception as error:  # noqa: BLE001  (our own mistake; it must not look like the user's)
            message = f"a mistake in clearhead itself\n  got:      {type(error).__name__}: {error}"
            advice = "\n  try:      again with --debug, and report what it prints"
            raise _failed(error, message + advice, debug=ctx.params["debug"]) from None
        return result


def _failed(error: Exception, message: str, *, debug: bool) -> typer.Exit:
    if debug:
        typer.echo("".join(traceback.format_exception(error)), err=True, nl=False)
    else:
        typer.echo(f"clearhead: {harmless(message)}", err=True)
    return typer.Exit(1)


def _discard_output() -> None:
    """Send what nobody takes (`| head`, a full disk) to nowhere, or Python would complain of it at its end."""
    with suppress(OSError):
        _flush()
    with suppress(OSError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _flush() -> None:
    if cast(object, sys.stdout) is not None:
        sys.stdout.flush()
