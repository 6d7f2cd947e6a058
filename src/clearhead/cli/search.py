"""`clearhead search`: passages that mean what you ask for.

Takes: queries; a file of lines or a folder of texts, or an index made from one; a model that embeds.
Gives: the nearest passages, each with its score, its file and its line.
Uses:  cli.lines, cli.options; tasks.
Never: an index of one model searched by another.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from clearhead.cli.corpus import counting
from clearhead.cli.lines import Outcome, opened, process_lines
from clearhead.cli.options import Given, shared_options

__all__ = ["app"]

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(help="Find passages by what they mean, in a file of lines or a folder of texts.")
@shared_options()
def search(
    given: Given,
    corpus: Annotated[
        Path | None, typer.Option("--in", metavar="PATH", help="A file of lines, or a folder of texts.")
    ] = None,
    index: Annotated[
        Path | None, typer.Option("--index", metavar="FOLDER", help="Keep the vectors here, or search those kept.")
    ] = None,
    add: Annotated[bool, typer.Option("--add", help="Add what --in holds to the index.")] = False,
    n: Annotated[int, typer.Option("--top", metavar="N", min=1, help="Passages for each query.")] = 5,
) -> None:
    """Search for each query by itself."""
    if corpus is None and index is None:
        raise typer.BadParameter("nothing to search: --in PATH, --index FOLDER or both", param_hint="--in")
    if add and (corpus is None or index is None):
        raise typer.BadParameter("needs both --in PATH and --index FOLDER", param_hint="--add")
    from clearhead.figures.words import visible

    loaded = opened(given, "search")
    found = _searched(corpus, index, loaded, add=add)

    def work(queries: Sequence[str]) -> Iterator[Outcome]:
        for query in queries:
            # A blank line of a file asks for nothing, but keeps its place.
            hits: list[Any] = found.search(query, n) if given.texts or query.strip() else []
            shown = [f"{hit.score:.3f}  {visible(hit.path)}:{hit.line}  {visible(hit.passage)}" for hit in hits]
            fields = [{"score": hit.score, "path": hit.path, "line": hit.line, "passage": hit.passage} for hit in hits]
            yield Outcome(lines=shown or [""], fields={"query": query, "hits": fields})

    process_lines(given, work, label="searching")


def _searched(corpus: Path | None, index: Path | None, loaded: Any, *, add: bool) -> Any:
    """The index to search: loaded, added to, made to stay, or made for this once."""
    from clearhead import tasks

    made = index is not None and (index / "index.json").is_file()
    if index is not None and (corpus is None or (made and not add)):
        found = tasks.SearchIndex.load(index, loaded)
        if corpus is not None:
            typer.echo(f"{index}: {len(found)} passages, as kept; --add would add those of {corpus}", err=True)
        return found
    assert corpus is not None
    with counting("passages read") as report:
        if index is not None and made:
            found = tasks.SearchIndex.load(index, loaded)
            found.add(corpus, progress=report)
        else:
            found = tasks.SearchIndex.build(index, corpus, loaded, progress=report)
    if index is not None:
        typer.echo(f"{index}: {len(found)} passages", err=True)
    for reason, count in found.skipped.items():
        typer.echo(f"{corpus}: passed over {count}: {reason}", err=True)
    return found
