"""`clearhead trace`: every number of a run, listed or written to a file.

Takes: a text or a pair; a model; the sites to record.
Gives: the sites with their axes and sizes; a .safetensors file where --out says.
Uses:  cli.looking; model.
Never: a file that holds more than was asked for.
"""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from clearhead.cli.looking import Beams, Length, Looked, ModelName, Second, Text, Threads, To, Write, fields

__all__ = ["app"]

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(help="Record every number of a run.")
def trace(
    text: Text,
    second: Second = None,
    model: ModelName = None,
    to: To = None,
    sites: Annotated[
        list[str] | None, typer.Option("--sites", metavar="GLOB", help="What to record: 'decoder.*.pattern'; all.")
    ] = None,
    write: Write = False,
    beams: Beams = None,
    max_new_tokens: Length = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help="A .safetensors file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
    threads: Threads = None,
) -> None:
    """Run, record, and say what was recorded."""
    decoding = fields(beams=beams, max_new_tokens=max_new_tokens)
    looked = Looked(text=text, second=second, model=model, to=to, write=write, decoding=decoding, threads=threads)
    run = looked.run(*(sites or ["*"]), out=out)
    if as_json:
        typer.echo(json.dumps(_account(run), ensure_ascii=False))
        return
    from clearhead.figures.words import visible

    if run.text:
        typer.echo(visible(run.text))
    for name, tokens in (("source", run.trace.source), ("target", run.trace.target)):
        if tokens:
            typer.echo(f"{name}: " + " ".join(visible(token.shown) for token in tokens))
    wide = max(len(site) for site in run)
    for site, record in run.trace.sites.items():
        size = " ".join(f"{letter}={n}" for letter, n in zip(record.axes, record.shape, strict=True))
        typer.echo(f"{site:<{wide}}  {size:<28}  {record.line or ''}")
    if out is not None:
        typer.echo(f"wrote {out}")


def _account(run: Any) -> dict[str, Any]:
    return {
        "text": run.text,
        "source": [token.piece for token in run.trace.source],
        "target": [token.piece for token in run.trace.target],
        "sites": {
            site: {
                "axes": record.axes,
                "shape": record.shape,
                "operation": record.operation,
                "inputs": record.inputs,
                "parameters": record.parameters,
                "line": str(record.line or ""),
            }
            for site, record in run.trace.sites.items()
        },
    }
