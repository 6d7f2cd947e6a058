"""`clearhead explain`: a living Transformer in the browser.

Takes: models to look into; the embedded ones by default.
Gives: a page on this computer.
Uses:  web.
Never: a port that others can reach.
"""

from typing import Annotated

import typer

__all__ = ["app"]

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(help="Open a living Transformer in the browser.")
def explain(
    models: Annotated[
        list[str] | None, typer.Argument(metavar="MODEL", help="Folders, or owner/name; by default what is embedded.")
    ] = None,
    port: Annotated[int, typer.Option("--port", metavar="N", min=1024, max=65000, help="Where to listen.")] = 8420,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Whether to open a browser.")] = True,
) -> None:
    """Serve the page until Ctrl-C."""
    from clearhead.web import serve_page

    serve_page(models or [], port=port, browser=browser, say=typer.echo)
