"""The command line: `clearhead` and its verbs.

Takes: arguments, standard input.
Gives: results on standard output, the rest on standard error; exit 0, 1 failure, 2 wrong usage, 130 after Ctrl-C.
Uses:  typer; every room, through the verb that needs it and not before.
Never: a traceback unless --debug asks for it, colour that NO_COLOR forbids, or a heavy import for --help.
"""

import sys
from collections.abc import Sequence
from io import TextIOWrapper
from typing import Annotated

import typer

from clearhead import __version__
from clearhead.cli.verbs import Verbs

__all__ = ["app", "main"]

app = typer.Typer(
    cls=Verbs,
    help="The Transformer with nothing hidden: run it, train it, serve it, and see every number it computes.",
    no_args_is_help=True,
    # Rich is slow to import, and a plain traceback is what --debug promises.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line, and leave with its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    app(_debug_first(given), prog_name="clearhead")


def _debug_first(arguments: list[str]) -> list[str]:
    """Let --debug stand anywhere before a `--`, although only `clearhead` itself knows it."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    options = [argument for argument in arguments[:end] if argument != "--debug"]
    asked = ["--debug"] if len(options) < end else []
    return [*asked, *options, *arguments[end:]]


def _show_version(asked: bool) -> bool:
    if asked:
        typer.echo(f"clearhead {__version__}")
        raise typer.Exit
    return asked


@app.callback()
def _root(  # pyright: ignore[reportUnusedFunction]  (typer calls it)
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and leave.", callback=_show_version, is_eager=True)
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks. Works after a verb too.")] = False,
) -> None:
    """Read what stands before the verb; `Verbs` asks for `debug` itself."""
    del version, debug
