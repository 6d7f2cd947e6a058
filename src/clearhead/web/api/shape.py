"""What all shapes of requests and answers share."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from clearhead.web.api.bounds import MOST_BEAMS, MOST_LETTERS, MOST_NEW_TOKENS, MOST_TEXTS

Name = Annotated[str, Field(min_length=1, max_length=200)]
Text = Annotated[str, Field(max_length=MOST_LETTERS)]
Some = Annotated[str, Field(min_length=1, max_length=MOST_LETTERS)]
Texts = Annotated[list[Text], Field(min_length=1, max_length=MOST_TEXTS, fail_fast=True)]
Language = Annotated[str, Field(min_length=2, max_length=40)]
Seed = Annotated[int, Field(ge=-(2**63), le=2**63 - 1)]
NewTokens = Annotated[int, Field(ge=1, le=MOST_NEW_TOKENS)]


class Asked(BaseModel):
    """What a request holds: what it does not know it refuses, so that nothing is quietly ignored."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class Given(BaseModel):
    """What an answer holds."""

    model_config = ConfigDict(extra="forbid")


class Decoding(Asked):
    """How to decode; what is left out is the task's own."""

    beams: Annotated[int, Field(ge=1, le=MOST_BEAMS)] | None = None
    max_new_tokens: NewTokens | None = None
    min_new_tokens: Annotated[int, Field(ge=0, le=MOST_NEW_TOKENS)] | None = None
    temperature: Annotated[float, Field(ge=0, le=10)] | None = None
    top_k: Annotated[int, Field(ge=0, le=100_000)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    min_p: Annotated[float, Field(ge=0, le=1)] | None = None
    repetition_penalty: Annotated[float, Field(ge=0.01, le=100)] | None = None
    no_repeat_ngram: Annotated[int, Field(ge=0, le=100)] | None = None
    length_penalty: Annotated[float, Field(ge=-10, le=10)] | None = None
    seed: Seed | None = None

    def options(self) -> dict[str, Any]:
        """What was said, as tasks take it."""
        return self.model_dump(exclude_none=True)


def listed(text: str | list[str]) -> list[str]:
    """One text or several, as several."""
    return [text] if isinstance(text, str) else text
