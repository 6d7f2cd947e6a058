"""How much one request may ask for, and what whoever starts the server decides."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from clearhead.errors import ServerError

MOST_TEXTS = 128
MOST_LETTERS = 50_000
MOST_MESSAGES = 256
MOST_IDS = 16_384
MOST_NEW_TOKENS = 4096
MOST_BEAMS = 8
MOST_CHOICES = 8
MOST_STOPS = 4
MOST_LABELS = 64
MOST_FOUND = 100
MOST_SITES = 64
MOST_EDITS = 32
MOST_CELLS = 400_000
"""Numbers of a trace that JSON may hold; more fit a safetensors answer."""
MOST_TRACE_BYTES = 256 * 2**20
MOST_NODES = 20_000
"""Numbers that one question why may open."""
MOST_SECONDS = 24 * 3600.0


@dataclass(frozen=True, kw_only=True)
class ServeSettings:
    """What whoever starts the server decides.

    Attributes:
        hosts: The names that the server is called by, without ports; "*" for any.
        origins: Sites whose pages may call it from a browser.
        tokens: Bearer tokens, each with a name for logs; none for a server that asks for none.
        rate: Requests a minute for each token, or for each address where there are no tokens; 0 for any number.
        waiting: How many requests may wait beside those that run; more are told to come back.
        rows: How many texts are written at once by one model.
        deadline: Seconds after which a request is given up.
        grace: Seconds that requests have to end when the server is told to stop.
        body_bytes: How large a request may be.
        body_seconds: How long a request may take to arrive, and how long its headers may.
        index: A folder that `/search` looks in where a request brings no texts.
        log_text: Whether logs hold what users wrote.
    """

    hosts: Collection[str] = ("127.0.0.1", "localhost", "[::1]")
    origins: Collection[str] = ()
    tokens: Collection[tuple[str, str]] = ()
    rate: int = 0
    waiting: int = 256
    rows: int = 32
    deadline: float = 120.0
    grace: float = 10.0
    body_bytes: int = 4 * 2**20
    body_seconds: float = 20.0
    index: Path | None = None
    log_text: bool = False

    def __post_init__(self) -> None:
        for name in ("deadline", "grace", "body_seconds"):
            value = getattr(self, name)
            if not 0 < value <= MOST_SECONDS:
                raise ServerError(f"{name} is out of range", got=value, expected=f"more than 0, at most {MOST_SECONDS}")
        for name, least in (("waiting", 0), ("rows", 1), ("rate", 0), ("body_bytes", 1)):
            value = getattr(self, name)
            if value < least:
                raise ServerError(f"{name} is out of range", got=value, expected=f"{least} or more")
