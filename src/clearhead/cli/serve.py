"""`clearhead serve`: the models for other programs, over HTTP.

Takes: models; where to listen, who may ask, and how much.
Gives: a server until Ctrl-C or SIGTERM; where it is on standard output, a line of JSON a request on standard error.
Uses:  web.api.
Never: a place that others can reach, unless tokens are asked for or --allow-anyone says that it is meant.
"""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["app"]

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_HERE = ("127.0.0.1", "::1", "localhost")
_ANY = ("", "0.0.0.0", "::")  # noqa: S104  (addresses that are told apart, and not bound)
_EPILOG = (
    "The interface is described at /openapi.json, and a page to look inside is served at /. Tokens may also stand in "
    "the variable CLEARHEAD_TOKENS, with commas between. Behind another server, --allow-host names what it is called."
)


class Weights(StrEnum):
    """How weights are held."""

    FLOAT32 = "float32"
    INT8 = "int8"


Models = Annotated[
    list[str] | None, typer.Argument(metavar="MODEL", help="Folders, or owner/name; by default what is embedded.")
]
Tokens = Annotated[
    Path | None, typer.Option("--tokens", metavar="FILE", help="Tokens that may ask: one a line, a name before it.")
]
Anyone = Annotated[bool, typer.Option("--allow-anyone", help="Listen for others without asking for tokens.")]
Hosts = Annotated[
    list[str] | None, typer.Option("--allow-host", metavar="NAME", help="A name that the server is called by.")
]
Origins = Annotated[list[str] | None, typer.Option("--allow-origin", metavar="URL", help="A site whose pages may ask.")]
Patience = Annotated[float, typer.Option("--patience", metavar="SECONDS", help="The longest for a request to arrive.")]
Index = Annotated[
    Path | None, typer.Option("--index", metavar="FOLDER", help="An index of `clearhead search`, for /search.")
]


@app.command(help="Serve models to other programs.", epilog=_EPILOG)
def serve(
    models: Models = None,
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", metavar="N", min=0, max=65535, help="0 for one that is free.")] = 8000,
    tokens: Tokens = None,
    allow_anyone: Anyone = False,
    allow_hosts: Hosts = None,
    allow_origins: Origins = None,
    rate: Annotated[int, typer.Option("--rate", metavar="N", min=0, help="Requests a minute and client; 0: any.")] = 0,
    rows: Annotated[int, typer.Option("--rows", metavar="N", min=1, max=1024, help="Texts written at once.")] = 32,
    waiting: Annotated[int, typer.Option("--waiting", metavar="N", min=0, help="Requests that may wait.")] = 256,
    deadline: Annotated[float, typer.Option("--deadline", metavar="SECONDS", help="The longest for a request.")] = 120,
    grace: Annotated[float, typer.Option("--grace", metavar="SECONDS", help="What requests have to end in.")] = 10,
    patience: Patience = 20,
    index: Index = None,
    weights: Annotated[Weights, typer.Option("--weights", help="How weights are held.")] = Weights.FLOAT32,
    threads: Annotated[int | None, typer.Option("--threads", metavar="N", min=1, help="Threads of a model.")] = None,
    log_text: Annotated[bool, typer.Option("--log-text", help="Write what users sent to the log too.")] = False,
) -> None:
    """Serve until told to stop."""
    import torch

    from clearhead.errors import ServerError
    from clearhead.web import Shelf
    from clearhead.web.api import ServeSettings
    from clearhead.web.api import serve as serve_models
    from clearhead.web.api.keys import read_tokens

    known = read_tokens(tokens)
    if host not in _HERE and not known and not allow_anyone:
        raise ServerError(
            "others could reach this server, and anybody would be answered",
            got=f"--host {host}",
            expected="tokens, or a server of this computer alone",
            advice="--tokens FILE; or --allow-anyone, where something else keeps strangers out",
        )
    if threads is not None:
        torch.set_num_threads(threads)
    names = ["127.0.0.1", "localhost", "[::1]", *([host] if host not in _ANY else []), *(allow_hosts or [])]
    settings = ServeSettings(
        hosts=tuple(name.lower() for name in names),
        origins=tuple(allow_origins or ()),
        tokens=tuple(known),
        rate=rate,
        rows=rows,
        waiting=waiting,
        deadline=deadline,
        grace=grace,
        body_seconds=patience,
        index=index,
        log_text=log_text,
    )
    shelf = Shelf(names=models or [], weights=weights.value)
    unfinished = serve_models(shelf, host=host, port=port, settings=settings, say=_say)
    raise typer.Exit(1 if unfinished else 0)


def _say(line: str) -> None:
    """Says a line at once: whoever waits for the address reads a pipe."""
    import sys

    typer.echo(line)
    sys.stdout.flush()
