"""The shapes of what happens inside: traces, attention, why, and edits."""

from typing import Annotated, Any, Literal

from pydantic import Field

from clearhead.web.api.bounds import MOST_EDITS, MOST_SITES
from clearhead.web.api.shape import Asked, Decoding, Given, Language, Name, Text

Site = Annotated[str, Field(min_length=1, max_length=200)]
Sites = Annotated[list[Site], Field(min_length=1, max_length=MOST_SITES)]
Edits = Annotated[list[Annotated[str, Field(min_length=1, max_length=2000)]], Field(max_length=MOST_EDITS)]


class RunAsked(Asked):
    """A run: a model and what it reads; whether it writes, and what is changed on the way."""

    text: Text
    second: Text | None = Field(default=None, description="The target of an encoder-decoder, or an encoder's second.")
    model: Name | None = None
    to: Language | None = None
    write: bool = Field(default=False, description="Whether a decoder goes on with the text.")
    decoding: Decoding = Field(default_factory=Decoding)
    edits: Edits = Field(default_factory=list[str], description="Such as ablate:decoder.1.cross:head=2.")


class TraceAsked(RunAsked):
    """A run, and the sites to tell of."""

    sites: Sites = Field(default_factory=lambda: ["*"], description="Site names or globs: decoder.*.pattern.")
    values: bool = Field(default=False, description="Whether JSON holds the numbers too; safetensors always does.")


class AttentionAsked(RunAsked):
    """A run whose patterns are wanted."""

    sites: Sites = Field(default_factory=lambda: ["*.pattern"])


class WhyAsked(RunAsked):
    """One number of a run."""

    site: Site = "logits"
    index: Annotated[
        dict[Annotated[str, Field(pattern="^[A-Z]$")], int | Annotated[str, Field(max_length=200)]],
        Field(max_length=8),
    ] = Field(default_factory=dict[str, int | str], description="A place along each axis: a number, or a token.")
    by: Literal["operation", "block"] = "operation"
    depth: Annotated[int, Field(ge=0, le=8)] = 2
    most: Annotated[int, Field(ge=1, le=1000)] = 8


class EditAsked(Asked):
    """A text, and what to change while it is read."""

    text: Text
    edits: Annotated[Edits, Field(min_length=1)]
    model: Name | None = None
    to: Language | None = None
    decoding: Decoding = Field(default_factory=Decoding)
    most: Annotated[int, Field(ge=1, le=100)] = 8


class TraceToken(Given):
    """A token of a run."""

    id: int
    piece: str
    shown: str


class TraceSite(Given):
    """A site: its axes by their letters, how it was computed, and its numbers where they were asked for."""

    axes: str
    shape: list[int]
    operation: str
    inputs: list[str]
    parameters: list[str]
    line: str
    values: list[Any] | None = Field(default=None, description="Nested by axis; null where nothing was computed.")


class TraceGiven(Given):
    """A run: what was read and written, and its sites."""

    model: str
    family: str
    text: str
    source: list[TraceToken]
    target: list[TraceToken]
    written: list[TraceToken]
    sites: dict[str, TraceSite]


class Pattern(Given):
    """Who looks at whom: for each head, for each query, a share for each key."""

    site: str
    rows: list[str]
    columns: list[str]
    heads: list[list[list[float | None]]]


class AttentionGiven(Given):
    """The patterns of a run."""

    model: str
    text: str
    source: list[TraceToken]
    target: list[TraceToken]
    patterns: list[Pattern]


class Place(Given):
    """Where a number can be found again."""

    name: str
    index: list[int]
    axes: str


class CodeLine(Given):
    """The line of this package that computed a number."""

    file: str
    line: int
    code: str


class Rest(Given):
    """What was left out of a sum, together."""

    count: int
    sum: float | None


class Number(Given):
    """A number, and what it is made of."""

    name: str
    value: float | None
    operation: str
    formula: str
    address: Place | None
    line: CodeLine | None
    opens: bool
    recomputed: float | None = None
    children: "list[Number]" = Field(default_factory=list["Number"])
    rest: Rest | None = None


class WhyGiven(Given):
    """One number of a run, opened."""

    model: str
    text: str
    number: Number


class MovedOutput(Given):
    """How the probability of one output changed."""

    output: str
    before: float
    after: float


class EditGiven(Given):
    """A text without and with edits."""

    model: str
    before: str
    after: str
    changed: bool
    shifts: list[MovedOutput]
