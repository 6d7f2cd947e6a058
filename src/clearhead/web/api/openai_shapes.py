"""OpenAI's shapes, as far as a model here can follow them.

What is accepted and changes nothing is said so. What would change the answer and is not built is refused, unless it
is left at the value that means nothing.
"""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from clearhead.web.api.bounds import MOST_CHOICES, MOST_IDS, MOST_MESSAGES, MOST_STOPS, MOST_TEXTS
from clearhead.web.api.shape import Asked, Given, Name, NewTokens, Seed, Some, Text, Texts

Ids = Annotated[
    list[Annotated[int, Field(ge=0, le=2**31 - 1)]], Field(min_length=1, max_length=MOST_IDS, fail_fast=True)
]
Stop = Annotated[str, Field(min_length=1, max_length=200)]
Choices = Annotated[int, Field(ge=1, le=MOST_CHOICES)]
Nothing = Annotated[float, Field(ge=0, le=0)]


class StreamOptions(Asked):
    """What a stream holds beside its text."""

    include_usage: bool = False
    include_obfuscation: bool | None = Field(default=None, description="Accepted, and changes nothing.")


class _Writing(Asked):
    """What completions and chats are asked alike."""

    model: Name
    n: Choices | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = Field(default=None, description="0 for the likeliest.")
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    top_k: Annotated[int, Field(ge=0, le=100_000)] | None = None
    min_p: Annotated[float, Field(ge=0, le=1)] | None = None
    repetition_penalty: Annotated[float, Field(ge=0.01, le=100)] | None = None
    max_tokens: NewTokens | None = None
    stop: Stop | Annotated[list[Stop], Field(max_length=MOST_STOPS)] | None = None
    seed: Seed | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    user: Annotated[str, Field(max_length=200)] | None = Field(
        default=None, description="Accepted, and changes nothing."
    )
    presence_penalty: Nothing | None = None
    frequency_penalty: Nothing | None = None
    logit_bias: Annotated[dict[str, float], Field(max_length=0)] | None = None

    def options(self) -> dict[str, Any]:
        """How to decode, as tasks take it."""
        names = ("temperature", "top_p", "top_k", "min_p", "repetition_penalty", "seed")
        found: dict[str, Any] = {name: getattr(self, name) for name in names}
        found["max_new_tokens"] = self.max_tokens
        found["stop"] = self.stop or None
        return {name: value for name, value in found.items() if value is not None}

    @property
    def with_usage(self) -> bool:
        """Whether a stream ends with how many tokens there were."""
        return self.stream_options is not None and self.stream_options.include_usage


class CompletionAsked(_Writing):
    """A text to go on with."""

    prompt: Text | Texts | Ids | Annotated[list[Ids], Field(min_length=1, max_length=MOST_TEXTS, fail_fast=True)]
    echo: bool | None = None
    logprobs: Annotated[int, Field(ge=0, le=0)] | None = Field(
        default=None, description="0 for the log-probability of each token; alternatives are not given."
    )
    best_of: Annotated[int, Field(ge=1, le=1)] | None = None
    suffix: Annotated[str, Field(max_length=0)] | None = None


class Part(Asked):
    """A part of a message."""

    type: Literal["text"]
    text: Text


class Message(Asked):
    """A message of a conversation."""

    role: Literal["system", "developer", "user", "assistant"]
    content: Text | Annotated[list[Part], Field(min_length=1, max_length=64)]
    name: Annotated[str, Field(max_length=200)] | None = Field(
        default=None, description="Accepted, and changes nothing."
    )


class ResponseFormat(Asked):
    """What the answer is to be: text, since nothing here is held to a grammar."""

    type: Literal["text"]


class ChatAsked(_Writing):
    """A conversation to go on with."""

    messages: Annotated[list[Message], Field(min_length=1, max_length=MOST_MESSAGES)]
    max_completion_tokens: NewTokens | None = None
    logprobs: bool | None = None
    top_logprobs: Annotated[int, Field(ge=0, le=0)] | None = None
    response_format: ResponseFormat | None = None
    store: Literal[False] | None = None
    metadata: Annotated[dict[str, str], Field(max_length=16)] | None = Field(
        default=None, description="Accepted, and changes nothing."
    )

    def options(self) -> dict[str, Any]:
        """How to decode; of both names of the length, the newer goes before."""
        found = super().options()
        return found if self.max_completion_tokens is None else {**found, "max_new_tokens": self.max_completion_tokens}

    def said(self) -> list[dict[str, object]]:
        """The messages as plain data; what developers say is said by the system."""
        return [
            {
                "role": "system" if one.role == "developer" else one.role,
                "content": one.content if isinstance(one.content, str) else "".join(part.text for part in one.content),
            }
            for one in self.messages
        ]


class EmbeddingAsked(Asked):
    """Texts to give vectors to."""

    model: Name
    input: Some | Annotated[list[Some], Field(min_length=1, max_length=MOST_TEXTS)]
    encoding_format: Literal["float", "base64"] | None = None
    user: Annotated[str, Field(max_length=200)] | None = None


class Usage(Given):
    """How many tokens there were."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class TokenScores(Given):
    """What the model thought of each token, as completions tell it."""

    tokens: list[str]
    token_logprobs: list[float | None]
    top_logprobs: None = None
    text_offset: list[int]


class CompletionChoice(Given):
    """One continuation, or a piece of it."""

    index: int
    text: str
    logprobs: TokenScores | None = None
    finish_reason: Literal["stop", "length"] | None


class Completion(Given):
    """Continuations."""

    id: str
    object: Literal["text_completion"] = "text_completion"
    created: int
    model: str
    choices: list[CompletionChoice]
    usage: Usage | None = None


class ScoredToken(Given):
    """What the model thought of a token, as chats tell it."""

    token: str
    logprob: float
    bytes: list[int]
    top_logprobs: list[str]


class MessageScores(Given):
    """What the model thought of each token of a message."""

    content: list[ScoredToken]


class Said(Given):
    """A message of the model, or a piece of one."""

    role: Literal["assistant"] | None = None
    content: str | None = None


class ChatChoice(Given):
    """One answer."""

    index: int
    message: Said
    logprobs: MessageScores | None = None
    finish_reason: Literal["stop", "length"]


class ChatCompletion(Given):
    """Answers to a conversation."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: list[ChatChoice]
    usage: Usage


class ChatDelta(Given):
    """A piece of one answer."""

    index: int
    delta: Said
    logprobs: MessageScores | None = None
    finish_reason: Literal["stop", "length"] | None = None


class ChatChunk(Given):
    """Pieces of answers, as they come."""

    id: str
    object: Literal["chat.completion.chunk"] = "chat.completion.chunk"
    created: int
    model: str
    choices: list[ChatDelta]
    usage: Usage | None = None


class Embedding(Given):
    """The vector of one text."""

    object: Literal["embedding"] = "embedding"
    index: int
    embedding: list[float] | str


class EmbeddingUsage(Given):
    """How many tokens were read."""

    prompt_tokens: int
    total_tokens: int


class Embeddings(Given):
    """The vectors of texts."""

    object: Literal["list"] = "list"
    data: list[Embedding]
    model: str
    usage: EmbeddingUsage


class ModelCard(Given):
    """A model that can be asked for."""

    model_config = ConfigDict(extra="forbid", protected_namespaces=())

    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: str


class ModelCards(Given):
    """All of them."""

    object: Literal["list"] = "list"
    data: list[ModelCard]
