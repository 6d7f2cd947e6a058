"""The shapes of how the server is, and of what went wrong."""

from typing import Literal

from clearhead.web.api.shape import Given


class Health(Given):
    """That the server answers at all."""

    status: Literal["ok"] = "ok"


class Ready(Given):
    """Whether requests are taken."""

    status: Literal["ready", "stopping"]
    models: list[str]
    loaded: list[str]


class Fault(Given):
    """What went wrong, in the words of the command line; `error` is all of it in one."""

    error: str
    problem: str
    got: str | None = None
    expected: str | None = None
    advice: str | None = None


class OpenAIFaultDetail(Given):
    """What went wrong, in OpenAI's words."""

    message: str
    type: str
    param: str | None = None
    code: str | None = None


class OpenAIFault(Given):
    """What went wrong under /v1."""

    error: OpenAIFaultDetail
