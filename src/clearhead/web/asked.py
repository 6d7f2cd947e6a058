"""What a request asks for, checked before anything runs."""

from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request

from clearhead.errors import ServerError

MOST_LETTERS = 8000

Kind = TypeVar("Kind", bound=BaseModel)
Name = Annotated[str, Field(min_length=1, max_length=200)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Decoding(_Strict):
    """How to decode; what is left out is the task's own."""

    beams: Annotated[int, Field(ge=1, le=8)] | None = None
    max_new_tokens: Annotated[int, Field(ge=1, le=256)] | None = None
    temperature: Annotated[float, Field(ge=0, le=5)] | None = None
    top_k: Annotated[int, Field(ge=0, le=1000)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    seed: Annotated[int, Field(ge=0, le=2**31)] | None = None

    def given(self) -> dict[str, Any]:
        """What was said."""
        return self.model_dump(exclude_none=True)


class RunAsked(_Strict):
    """A run: a model, a text, and what to change in it."""

    model: Name
    text: Annotated[str, Field(max_length=MOST_LETTERS)]
    second: Annotated[str, Field(max_length=MOST_LETTERS)] | None = None
    to: Annotated[str, Field(max_length=40)] | None = None
    write: bool = False
    decoding: Decoding = Field(default_factory=Decoding)
    edits: Annotated[list[Annotated[str, Field(max_length=2000)]], Field(max_length=32)] = Field(
        default_factory=list[str]
    )


class WhyAsked(_Strict):
    """One number of a run, or one step further into it."""

    site: Name
    index: dict[Annotated[str, Field(max_length=1)], int | Annotated[str, Field(max_length=200)]] = Field(
        default_factory=dict[str, int | str], max_length=8
    )
    by: Annotated[str, Field(pattern="^(operation|block)$")] = "operation"
    path: Annotated[list[Annotated[int, Field(ge=0)]], Field(max_length=64)] = Field(default_factory=list[int])
    most: Annotated[int, Field(ge=1, le=4096)] = 48


class WalkAsked(_Strict):
    """The numbers of a run that were asked about."""

    questions: Annotated[list[WhyAsked], Field(max_length=40)] = Field(default_factory=list[WhyAsked])


class ExampleAsked(_Strict):
    """A worked example with other numbers: tables, and words, by the names of its inputs."""

    given: dict[
        Annotated[str, Field(max_length=40)],
        list[list[Annotated[float, Field(ge=-1e6, le=1e6)]]] | list[Annotated[str, Field(max_length=400)]],
    ] = Field(default_factory=dict[str, list[list[float]] | list[str]], max_length=8)


class AnswerAsked(_Strict):
    """An answer to a question of the course: the places of the choices that were taken."""

    chosen: Annotated[list[Annotated[int, Field(ge=0, le=16)]], Field(max_length=16)]


class SimilarityAsked(_Strict):
    """One word in two sentences."""

    model: Name
    first: Annotated[str, Field(max_length=MOST_LETTERS)]
    second: Annotated[str, Field(max_length=MOST_LETTERS)]
    word: Annotated[str, Field(min_length=1, max_length=100)]
    to: Annotated[str, Field(max_length=40)] | None = None


class TrainAsked(_Strict):
    """A tiny training: what to learn, and the pairs where they are one's own."""

    task: Annotated[str, Field(pattern="^(copy|reverse|pairs)$")]
    pairs: Annotated[str, Field(max_length=200_000)] = ""
    architectures: Annotated[
        list[Annotated[str, Field(pattern="^(transformer|recurrent-attention|recurrent)$")]],
        Field(min_length=1, max_length=3),
    ] = Field(default_factory=lambda: ["transformer"])


async def read(request: Request, kind: type[Kind]) -> Kind:
    """What a request asks for.

    Raises:
        ServerError: Something else than can be asked for.
    """
    try:
        return kind.model_validate_json(await request.body())
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(step) for step in first["loc"])
        raise ServerError(
            "a request that cannot be read", got=f"{where}: {str(first.get('input'))[:100]}", expected=first["msg"]
        ) from None
