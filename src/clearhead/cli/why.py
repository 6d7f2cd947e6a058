"""`clearhead why`: the arithmetic of one number, down to embeddings and weights.

Takes: a text or a pair; a model; a site and a place in it.
Gives: the number with what it is made of: text, JSON, or a page that opens.
Uses:  cli.looking; explain.
Never: a term that was left out of a sum.
"""

import json
import re
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from clearhead.cli.looking import Beams, Length, Looked, ModelName, Second, Text, Threads, To, Write, fields
from clearhead.cli.output import check_place

__all__ = ["app"]

app = typer.Typer(add_completion=False, rich_markup_mode=None)


_WHOLE = re.compile(r"-?[0-9]{1,9}")


class By(StrEnum):
    """How a logit is opened."""

    OPERATION = "operation"
    BLOCK = "block"


@app.command(help="Open the arithmetic of one number, one level at a time.")
def why(
    text: Text,
    second: Second = None,
    model: ModelName = None,
    to: To = None,
    site: Annotated[
        str, typer.Option("--site", metavar="SITE", help="A site; or loss, score, log_probability.")
    ] = "logits",
    at: Annotated[
        list[str] | None,
        typer.Option("--at", metavar="AXIS=PLACE", help="T=-1, H=3, or a token: V=' Paris'. One for each axis."),
    ] = None,
    by: Annotated[By, typer.Option("--by", help="Open a logit by what every block wrote.")] = By.OPERATION,
    depth: Annotated[int, typer.Option("--depth", metavar="N", min=0, max=12, help="Levels to open.")] = 2,
    top: Annotated[int, typer.Option("--top", metavar="N", min=1, help="Terms of a sum to show.")] = 6,
    write: Write = False,
    beams: Beams = None,
    max_new_tokens: Length = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help="A page: FILE.html.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
    threads: Threads = None,
) -> None:
    """Run, and open one number."""
    if out is not None:
        check_place(out)
    places = dict(_place(one) for one in at or [])
    decoding = fields(beams=beams, max_new_tokens=max_new_tokens)
    looked = Looked(text=text, second=second, model=model, to=to, write=write, decoding=decoding, threads=threads)
    # Every site of a long text would not fit the memory; on the disk, only those that the number opens into are read.
    with TemporaryDirectory(prefix="clearhead-") as folder:
        run = looked.run("*", out=Path(folder) / "run.safetensors")
        from clearhead.explain import as_data, as_html, as_text
        from clearhead.text.files import replacing

        node = run.why(site, by=by.value, **places)
        if out is not None:
            with replacing(out) as stream:
                stream.write(as_html(node, depth=depth, most=max(top, 40)).encode("utf-8"))
            typer.echo(f"wrote {out}")
        elif as_json:
            typer.echo(json.dumps(as_data(node, depth=depth, most=top), ensure_ascii=False))
        else:
            typer.echo(as_text(node, depth=depth, most=top))


def _place(pair: str) -> tuple[str, int | str]:
    letter, separator, value = pair.partition("=")
    if not separator or len(letter) != 1 or not letter.isupper():
        raise typer.BadParameter(f"{pair!r} is not AXIS=PLACE, such as T=-1", param_hint="--at")
    return letter, int(value) if _WHOLE.fullmatch(value) else value
