"""`clearhead answer`: a question answered, from a passage or from what the model knows.

Takes: questions; a passage, or a file that holds one; a model that answers.
Gives: one answer a line, with its score and its place where --json asks for them. The embedded model finds the
       sentence that is nearest to the question.
Uses:  cli.lines, cli.options; tasks.
Never: an answer's place in another text than the passage.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from clearhead.cli.lines import Outcome, opened, process_lines
from clearhead.cli.options import FLAGS, Given, shared_options
from clearhead.text.files import read_bounded

__all__ = ["app"]

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_MOST_BYTES = 64 * 2**20


@app.command(help="Answer questions.")
@shared_options(decoding=True)
def answer(
    given: Given,
    passage: Annotated[str | None, typer.Option("--passage", metavar="TEXT", help="Where the answer stands.")] = None,
    inside: Annotated[Path | None, typer.Option("--in", metavar="FILE", help="A file that holds the passage.")] = None,
) -> None:
    """Answer each question by itself."""
    from clearhead import tasks
    from clearhead.config import Family

    if passage is not None and inside is not None:
        raise typer.BadParameter("--passage and --in exclude each other", param_hint="--in")
    if inside is not None:
        passage = read_bounded(inside, limit=_MOST_BYTES).decode("utf-8", errors="replace")
    loaded = opened(given, "answer")
    decoding = dict(given.decoding)
    n = decoding.pop("n_best", 1)
    if decoding and loaded.config.family is Family.ENCODER_ONLY:
        raise typer.BadParameter(
            "this model finds its answers in the passage and writes none", param_hint=FLAGS[next(iter(decoding))]
        )

    def work(questions: Sequence[str]) -> Iterator[Outcome]:
        for question in questions:
            # A blank line of a file asks nothing, but keeps its place.
            blank = not given.texts and not question.strip()
            found = [] if blank else tasks.answer(loaded, question, passage, n=n, **decoding)
            yield Outcome(
                lines=[one.text for one in found] or [""],
                fields={"question": question, "answers": [asdict(one) for one in found]},
            )

    process_lines(given, work, label="answering")
