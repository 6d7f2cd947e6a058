"""What the verbs that look inside have in common: which model, which text, which run.

Takes: a text or a pair, a model, a language, how to decode.
Gives: the run, recorded.
Uses:  cli.loading, model, tasks.defaults; typer.
Never: a heavy import before a verb runs.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from clearhead.cli.loading import uncollected

__all__ = ["Beams", "Length", "Looked", "ModelName", "Second", "Text", "Threads", "To", "Write", "fields"]

Text = Annotated[str, typer.Argument(metavar="TEXT", help="The text, or the source of a translation.")]
Second = Annotated[
    str | None, typer.Argument(metavar="SECOND", help="A target to read instead of writing one; an encoder's second.")
]
ModelName = Annotated[str | None, typer.Option("--model", "-m", metavar="NAME", help="A folder, or owner/name.")]
To = Annotated[str | None, typer.Option("--to", metavar="LANG", help="The language to write: fr, German.")]
Write = Annotated[bool, typer.Option("--write", help="Go on with the text, with the likeliest tokens.")]
Beams = Annotated[int | None, typer.Option("--beams", metavar="N", min=1, help="Texts to follow at once.")]
Length = Annotated[int | None, typer.Option("--max-new-tokens", metavar="N", min=1, help="Tokens to write at most.")]
Threads = Annotated[int | None, typer.Option("--threads", metavar="N", min=1, max=512, help="All by default.")]


@dataclass(frozen=True, kw_only=True)
class Looked:
    """What is looked into.

    Attributes:
        text: The text, or the source.
        second: A target to read.
        model: The model that was named.
        to: The language to write.
        write: Whether a text is gone on with.
        decoding: Options of decoding that were given.
        threads: How many threads to use; None for all.
    """

    text: str
    second: str | None = None
    model: str | None = None
    to: str | None = None
    write: bool = False
    decoding: dict[str, Any] = field(default_factory=dict[str, Any])
    threads: int | None = None

    def open(self) -> Any:
        """The model."""
        with uncollected():
            import torch

            from clearhead.model import load
            from clearhead.tasks.defaults import model_to_look_into

            if self.threads is not None:
                torch.set_num_threads(self.threads)
            return load(self.model or model_to_look_into(self.text, to=self.to))

    def run(self, *sites: str, out: Path | None = None, model: Any = None) -> Any:
        """The run with these sites recorded; chance has no part in it."""
        model = self.open() if model is None else model
        writes = self.write or (self.decoding and self.second is None)
        if writes and self.second is None:
            decoding = dict(self.decoding)
            if model.family == "decoder-only" and "beams" not in decoding:
                decoding["temperature"] = 0
            return model.generate(self.text, to=self.to, trace=sites, out=out, **decoding)
        return model.trace(self.text, self.second, to=self.to, sites=sites, out=out)


def fields(**given: Any) -> dict[str, Any]:
    """Options that were given, without those that were not."""
    return {name: value for name, value in given.items() if value is not None}
