"""Options that several verbs share, said once.

Takes: a verb's function.
Gives: the same verb with the shared options beside its own, and what they were given as one value.
Uses:  typer.
Never: a heavy import; a verb's help needs none.
"""

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import typer

__all__ = ["FLAGS", "MOST_THREADS", "Given", "shared_options"]

MOST_AT_ONCE = 4096
MOST_THREADS = 512  # where the system refuses more, the library below ends the process


class Weights(StrEnum):
    """How weights are held; spelt again here because the engine's own list needs torch."""

    FLOAT32 = "float32"
    INT8 = "int8"


class EngineName(StrEnum):
    """Who works on a file."""

    LOCAL = "local"
    RAY = "ray"


class Overflow(StrEnum):
    """What happens to a text that outgrows the context."""

    ERROR = "error"
    SLIDE = "slide"


@dataclass(frozen=True, kw_only=True)
class Given:
    """What the shared options were given.

    Attributes:
        texts: The texts among the arguments.
        file: The file to read lines from.
        out: The file to write results to.
        as_json: Whether results are JSON.
        model: The model that was named.
        weights: How weights are held.
        threads: How many threads to use; None for all.
        decoding: Options of decoding that were given, by the names that DecodingSettings has.
        engine: Who works on a file.
        address: Where Ray's cluster is; None for this machine.
        workers: How many workers Ray is asked for; None for as many as fit.
        chunk: How many lines are worked on at once; None for as many as take little time.
        column: Which column of a Parquet file holds the texts.
    """

    texts: list[str]
    file: Path | None
    out: Path | None
    as_json: bool
    model: str | None
    weights: str
    threads: int | None
    decoding: Mapping[str, Any] = field(default_factory=dict[str, Any])
    engine: str = EngineName.LOCAL
    address: str | None = None
    workers: int | None = None
    chunk: int | None = None
    column: str | None = None

    @property
    def reads_table(self) -> bool:
        """Whether texts come from a Parquet file."""
        return self.file is not None and self.file.suffix == ".parquet"

    @property
    def writes_table(self) -> bool:
        """Whether results become a Parquet file."""
        return self.out is not None and self.out.suffix == ".parquet"

    @property
    def writes_zipped(self) -> bool:
        """Whether results become a zipped file."""
        return self.out is not None and self.out.suffix == ".gz"


_SHARED: dict[str, tuple[Any, Any]] = {
    "texts": (
        Annotated[list[str] | None, typer.Argument(metavar="TEXT", help="Texts; by default stdin, by line.")],
        None,
    ),
    "model": (
        Annotated[str | None, typer.Option("--model", "-m", metavar="NAME", help="A folder, or owner/name.")],
        None,
    ),
    "file": (
        Annotated[Path | None, typer.Option("--file", "-f", metavar="FILE", help="Read lines from here; .gz works.")],
        None,
    ),
    "out": (
        Annotated[
            Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write results here; FILE.partial meanwhile.")
        ],
        None,
    ),
    "as_json": (Annotated[bool, typer.Option("--json", help="One JSON object a line.")], False),
    "weights": (Annotated[Weights, typer.Option("--weights", help="How weights are held.")], Weights.FLOAT32),
    "threads": (
        Annotated[int | None, typer.Option("--threads", metavar="N", min=1, max=MOST_THREADS, help="All by default.")],
        None,
    ),
}

_DECODING: dict[str, tuple[Any, Any]] = {
    "beams": (Annotated[int | None, typer.Option("--beams", metavar="N", help="Texts to follow at once.")], None),
    "n_best": (Annotated[int | None, typer.Option("--nbest", metavar="N", help="Results for each text.")], None),
    "max_new_tokens": (
        Annotated[int | None, typer.Option("--max-new-tokens", metavar="N", help="Tokens to write at most.")],
        None,
    ),
    "length_penalty": (
        Annotated[float | None, typer.Option("--length-penalty", metavar="X", help="Above 0 favours long texts.")],
        None,
    ),
    "repetition_penalty": (
        Annotated[float | None, typer.Option("--repetition-penalty", metavar="X", help="Above 1 avoids repeats.")],
        None,
    ),
    "no_repeat_ngram": (
        Annotated[int | None, typer.Option("--no-repeat-ngram", metavar="N", help="No run of N tokens twice.")],
        None,
    ),
}

_SAMPLING: dict[str, tuple[Any, Any]] = {
    "seed": (Annotated[int | None, typer.Option("--seed", metavar="N", help="The same seed, the same text.")], None),
    "temperature": (
        Annotated[float | None, typer.Option("--temperature", metavar="X", help="0 takes the likeliest token.")],
        None,
    ),
    "top_k": (
        Annotated[int | None, typer.Option("--top-k", metavar="N", help="Draw among the N likeliest tokens.")],
        None,
    ),
    "top_p": (
        Annotated[float | None, typer.Option("--top-p", metavar="X", help="Draw among those that sum to X.")],
        None,
    ),
    "min_p": (
        Annotated[float | None, typer.Option("--min-p", metavar="X", help="Draw among those X times the likeliest.")],
        None,
    ),
    "stop": (
        Annotated[list[str] | None, typer.Option("--stop", metavar="TEXT", help="End before this text.")],
        None,
    ),
    "overflow": (
        Annotated[Overflow, typer.Option("--overflow", help="A text beyond the context: refuse, or forget its start.")],
        Overflow.ERROR,
    ),
}


_CORPORA: dict[str, tuple[Any, Any]] = {
    "engine": (
        Annotated[EngineName, typer.Option("--engine", help="Who works on --file: this process, or Ray's workers.")],
        EngineName.LOCAL,
    ),
    "address": (
        Annotated[
            str | None, typer.Option("--address", metavar="HOST:PORT", help="Ray's cluster; by default this machine.")
        ],
        None,
    ),
    "workers": (
        Annotated[int | None, typer.Option("--workers", metavar="N", min=1, help="Ray's workers; by default all.")],
        None,
    ),
    "chunk": (
        Annotated[
            int | None,
            typer.Option(
                "--chunk", metavar="N", min=1, max=MOST_AT_ONCE, help="Lines at once, the same on any engine."
            ),
        ],
        None,
    ),
    "column": (
        Annotated[str | None, typer.Option("--column", metavar="NAME", help="Where a .parquet FILE has its texts.")],
        None,
    ),
}

FLAGS: Mapping[str, str] = MappingProxyType(
    {name: annotation.__metadata__[0].default for name, (annotation, _) in {**_DECODING, **_SAMPLING}.items()}
)
"""How the command line spells what DecodingSettings names."""


def shared_options(
    *, decoding: bool = False, sampling: bool = False, several: bool = True, corpora: bool = False
) -> Callable[[Callable[..., None]], Any]:
    """Adds the shared options to a verb, which takes what they were given as its first argument.

    Args:
        decoding: Whether the verb writes.
        sampling: Whether it may draw what it writes.
        several: Whether it has more than one result for a text.
        corpora: Whether it works on files beyond one machine.
    """
    shared = {**_SHARED, **(_CORPORA if corpora else {})}
    ways = {**(_DECODING if decoding else {}), **(_SAMPLING if sampling else {})}
    ways = {name: way for name, way in ways.items() if several or name != "n_best"}

    def decorate(verb: Callable[..., None]) -> Any:
        own = list(inspect.signature(verb).parameters.values())[1:]

        @functools.wraps(verb)
        def run(**values: Any) -> None:
            asked = {name: values.pop(name) for name in ways}
            stated = {name: value for name, value in asked.items() if value is not None and value != []}
            texts: list[str] | None = values.pop("texts")
            common = {name: values.pop(name) for name in shared if name != "texts"}
            verb(Given(texts=texts or [], decoding=stated, **common), **values)

        added = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
            for name, (annotation, default) in {**shared, **ways}.items()
        ]
        parameters = [added[0], *(one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own), *added[1:]]
        run.__signature__ = inspect.Signature(parameters)  # pyright: ignore[reportAttributeAccessIssue]
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        del run.__wrapped__
        return run

    return decorate
