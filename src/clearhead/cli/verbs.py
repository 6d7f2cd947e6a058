"""The verbs, loaded when they are called for, and what happens when one fails.

Takes: the name of a verb.
Gives: its command, from the file of that name; an exit code where it raises.
Uses:  errors; typer.
Never: imports a verb to list it.
"""

import os
import sys
import traceback
from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any

import typer
from typer.core import TyperGroup

from clearhead.errors import ClearheadError

__all__ = ["VERBS", "Verbs"]

VERBS: Mapping[str, str] = MappingProxyType(
    {
        "export": "Write a model as a folder that other programs open.",
        "learn": "Work through the examples of the course, computed as you watch.",
        "models": "List the models on this computer.",
        "tokenizer": "Train a tokenizer on your text, or see how one reads a text.",
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
            sys.stdout.flush()
        except BrokenPipeError:
            _discard_output()
            raise typer.Exit(0) from None
        except ClearheadError as error:
            raise _failed(error, str(error), debug=ctx.params["debug"]) from None
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
        typer.echo(f"clearhead: {message}", err=True)
    return typer.Exit(1)


def _discard_output() -> None:
    """Send what is left to nowhere: the reader has left (`| head`), and Python would complain at its own end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
