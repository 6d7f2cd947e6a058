"""`clearhead heatmap`: who looks at whom, with words on both axes.

Takes: a text or a pair; a model; a site.
Gives: a picture in the terminal, or as .svg, .png or .html.
Uses:  cli.looking; explain, figures.
Never: a number that the run did not compute.
"""

import shutil
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from clearhead.cli.looking import Beams, Length, Looked, ModelName, Second, Text, Threads, To, Write, fields

__all__ = ["app"]

app = typer.Typer(add_completion=False, rich_markup_mode=None)


class Kind(StrEnum):
    """What is drawn."""

    CELLS = "cells"
    LINES = "lines"
    BEAMS = "beams"
    LENS = "lens"


_NEEDS = {Kind.BEAMS: "logits", Kind.LENS: "*.resid_post"}


@app.command(help="Draw who looks at whom, as numbers that a run computed.")
def heatmap(
    text: Text,
    second: Second = None,
    model: ModelName = None,
    to: To = None,
    site: Annotated[
        str | None, typer.Option("--site", metavar="GLOB", help="decoder.*.cross.pattern, and such.")
    ] = None,
    head: Annotated[int | None, typer.Option("--head", metavar="N", help="One head alone.")] = None,
    kind: Annotated[
        Kind, typer.Option("--as", help="Cells, lines between words, a beam tree, a logit lens.")
    ] = Kind.CELLS,
    write: Write = False,
    beams: Beams = None,
    max_new_tokens: Length = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help=".svg, .png or .html.")] = None,
    threads: Threads = None,
) -> None:
    """Run, and draw."""
    decoding = fields(beams=beams, max_new_tokens=max_new_tokens)
    if kind is Kind.BEAMS and beams is None:
        decoding["beams"] = 4
    looked = Looked(text=text, second=second, model=model, to=to, write=write, decoding=decoding, threads=threads)
    opened = looked.open()
    usual = "decoder.*.cross.pattern" if opened.family == "encoder-decoder" else "*.self.pattern"
    wanted = site or _NEEDS.get(kind) or usual
    figure = _drawn(looked.run(wanted, model=opened), wanted, kind, head)
    if out is None:
        columns = shutil.get_terminal_size((100, 24)).columns
        typer.echo(figure.terminal(width=columns))
    else:
        typer.echo(f"wrote {figure.save(out)}")


def _drawn(run: Any, site: str, kind: Kind, head: int | None) -> Any:
    from clearhead.explain.pictures import draw_sites, matching

    match kind:
        case Kind.BEAMS:
            return run.beams()
        case Kind.LENS:
            return run.lens().figure()
        case Kind.LINES:
            return run.alignment(matching(run, site)[-1], head=head)
        case Kind.CELLS:
            return draw_sites(run, site, head=head)
