"""Wrong usage of the shared options, said before anything is loaded.

Takes: what the shared options were given.
Gives: nothing, or what is wrong with it.
Uses:  cli.options, cli.output, cli.spelling, errors, text; decoding, whose settings know their own limits.
Never: a limit of its own.
"""

import sys
from collections.abc import Collection, Mapping
from typing import Any, cast

import typer

from clearhead.cli.options import FLAGS, EngineName, Given
from clearhead.cli.output import check_place
from clearhead.cli.spelling import spelled
from clearhead.errors import DecodingError, TextError
from clearhead.text.files import reading

__all__ = ["TEXT_COLUMN", "check_engine", "check_usage"]

TEXT_COLUMN = "text"
"""Where a table has its texts unless somebody says otherwise."""

_DRAWING = ("temperature", "top_k", "top_p", "min_p")


def check_usage(given: Given) -> None:
    """Refuses what cannot work, whatever the model is.

    Raises:
        typer.BadParameter: A value out of range, or options that exclude each other.
        TextError: A file that is not there, or a place where none can be made.
    """
    _check_decoding(given.decoding)
    if given.file is not None:
        if given.texts:
            raise typer.BadParameter("texts as arguments and --file exclude each other", param_hint="--file")
        if str(given.file) != "-" and not given.file.exists():
            with reading(given.file):  # it says so
                pass
    if given.out is None:
        if cast(object, sys.stdout) is None:
            raise TextError("standard output is closed", advice="--out FILE")
        return
    check_place(given.out)
    if given.file is not None and given.out.is_file() and given.file.exists() and given.out.samefile(given.file):
        raise typer.BadParameter(f"{given.out} is the file that is read", param_hint="--out")


def check_engine(given: Given, *, columns: Collection[str]) -> None:
    """Refuses what only Ray, only files or only tables have.

    Args:
        given: What the shared options were given.
        columns: The columns that a table of results would have beside the texts.

    Raises:
        typer.BadParameter: Options that exclude each other.
    """
    no_file = given.file is None or str(given.file) == "-" or given.file.is_fifo() or given.file.is_char_device()
    if given.engine == EngineName.RAY:
        if no_file:
            raise typer.BadParameter("Ray's workers work on a file: --file FILE", param_hint="--engine")
    else:
        for name, value in (("--address", given.address), ("--workers", given.workers)):
            if value is not None:
                raise typer.BadParameter("only --engine ray has it", param_hint=name)
    if no_file and (given.writes_table or given.writes_zipped):
        raise typer.BadParameter("tables and zipped files are made from a file: --file FILE", param_hint="--out")
    if given.column is not None and not given.reads_table:
        raise typer.BadParameter("only a .parquet file has columns", param_hint="--column")
    if given.writes_table:
        if given.as_json:
            raise typer.BadParameter("a table is not JSON", param_hint="--json")
        if given.column in columns:
            raise typer.BadParameter(
                f"results have a column {given.column} too: write lines, or rename it", param_hint="--column"
            )


def _check_decoding(given: Mapping[str, Any]) -> None:
    """Each option by itself, then those that may exclude each other together."""
    stated: dict[str, Any] = {
        name: tuple(value) if name == "stop" else value for name, value in given.items() if name != "overflow"
    }
    for name, value in stated.items():
        _try_settings(name, {"beams": max(1, value), name: value} if name == "n_best" else {name: value})
    if stated.get("beams", 1) > 1 or ("beams" in stated and "n_best" in stated):
        together = {name: stated[name] for name in ("beams", "n_best", "stop") if name in stated}
        _try_settings("beams", {**together, "sample": any(stated.get(name) for name in _DRAWING)})


def _try_settings(name: str, settings: dict[str, Any]) -> None:
    from clearhead.decoding import DecodingSettings

    try:
        DecodingSettings(**settings)
    except DecodingError as error:
        said = {"got": error.got, "expected": error.expected, "try": error.advice}
        details = ", ".join(f"{word} {value}" for word, value in said.items() if value is not None)
        problem = error.problem.removeprefix(f"{name} is ")
        raise typer.BadParameter(spelled(f"{problem}; {details}"), param_hint=FLAGS[name]) from None
