"""`clearhead tokenizer`: train one, or see how one reads a text.

Takes: text files, or texts and a tokenizer.
Gives: a folder with tokenizer.json; or pieces, ids and offsets.
Uses:  cli.corpus, text; rich, to measure wide letters.
Never: a model.
"""

import json
from pathlib import Path
from typing import Annotated

import typer

from clearhead.cli.corpus import progress, read_corpus, segments
from clearhead.text.kinds import TokenizerKind
from clearhead.text.published.load import load_tokenizer
from clearhead.text.tokenizer import Encoding
from clearhead.text.train import DEFAULT_VOCAB_SIZE, train_tokenizer

__all__ = ["app"]

app = typer.Typer(
    help="Train a tokenizer on your text, or see how one reads a text.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


@app.command()
def train(
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="Text files, .txt or .txt.gz; - for stdin.")],
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="The folder to write tokenizer.json into.")],
    kind: Annotated[TokenizerKind, typer.Option("--kind", help="What the pieces are.")] = TokenizerKind.BPE,
    vocab_size: Annotated[
        int, typer.Option("--vocab-size", metavar="N", min=1, help="The most pieces to have.")
    ] = DEFAULT_VOCAB_SIZE,
    lowercase: Annotated[bool, typer.Option("--lowercase", help="Forget case.")] = False,
) -> None:
    """Learn a vocabulary from text, one line a segment."""
    with progress(f"learning {kind} pieces", files) as report:
        # Lines are segments, but a character tokenizer that never saw a line end could not write one.
        lines = read_corpus(files, report=report, keep_ends=kind is TokenizerKind.CHARACTER)
        tokenizer = train_tokenizer(lines, kind=kind, vocab_size=vocab_size, lowercase=lowercase)
        path = tokenizer.save(out)
    typer.echo(f"wrote {path}: {kind}, {tokenizer.vocab_size} pieces")
    if tokenizer.vocab_size < vocab_size:
        typer.echo(f"the text holds no more than that ({vocab_size} were asked for)")


@app.command()
def show(
    tokenizer: Annotated[
        Path, typer.Option("--tokenizer", metavar="FOLDER", help="A folder with a tokenizer, of any published layout.")
    ],
    texts: Annotated[list[str] | None, typer.Argument(metavar="TEXT", help="Texts; by default stdin, by line.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """Show the pieces of a text, with ids and offsets."""
    reader = load_tokenizer(tokenizer)
    for number, text in enumerate(segments(texts or [])):
        encoding = reader.encode(text)
        if as_json:
            typer.echo(_as_json(text, encoding))
        else:
            typer.echo(("\n" if number else "") + _as_table(text, encoding))


def _as_json(text: str, encoding: Encoding) -> str:
    fields = {
        "text": text,
        "pieces": encoding.pieces,
        "ids": encoding.ids,
        "offsets": encoding.offsets,
        "special": encoding.special,
    }
    return json.dumps(fields, ensure_ascii=False)


def _as_table(text: str, encoding: Encoding) -> str:
    """A row for each piece, its columns in line however wide its letters are."""
    from rich.cells import cell_len

    rows = [("piece", "id", "from", "to", "text")]
    for piece, index, (start, end) in zip(encoding.pieces, encoding.ids, encoding.offsets, strict=True):
        source = _visible(text[start:end]) if start < end else "(added)"
        rows.append((_visible(piece), str(index), str(start), str(end), source))
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    lines: list[str] = []
    for piece, *numbers, source in rows:
        padded = piece + " " * (widths[0] - cell_len(piece))
        aligned = (number.rjust(width) for number, width in zip(numbers, widths[1:4], strict=True))
        lines.append("  ".join((padded, *aligned, source)).rstrip())
    return "\n".join(lines)


def _visible(text: str) -> str:
    """A text with what a terminal would not show, or would obey, written out."""
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)
