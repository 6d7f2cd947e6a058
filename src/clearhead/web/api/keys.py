"""Who may ask, and how often: bearer tokens and a budget for each."""

import base64
import binascii
import hashlib
import hmac
import os
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Collection
from pathlib import Path

from clearhead.errors import ServerError
from clearhead.text.files import read_lines

VARIABLE = "CLEARHEAD_TOKENS"
_SHORTEST = 16
_MOST_TOKENS = 1000
_MOST_CLIENTS = 10_000
_NAMED = re.compile(r"(?:([\w.@-]{1,64})\s+)?([\x21-\x7e]+)")


def read_tokens(file: Path | None) -> list[tuple[str, str]]:
    """Names and tokens from a file, one a line with its name before it or without; and from the environment.

    Lines that begin with # are comments. In the environment, commas stand between tokens.

    Raises:
        ServerError: A line that is no token, or one that is too short to be a secret.
    """
    lines = [] if file is None else list(read_lines(file))
    lines += os.environ.get(VARIABLE, "").split(",")
    given = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    found: list[tuple[str, str]] = []
    for place, line in enumerate(given):
        parts = _NAMED.fullmatch(line)
        if parts is None or len(parts[2]) < _SHORTEST:
            raise ServerError(
                "a token that cannot be used",
                got=f"token {place + 1} of {len(given)}",  # and not the token itself: messages end up in logs
                expected=f"a name and a token, or a token, of at least {_SHORTEST} printable characters",
                advice='python -c "import secrets; print(secrets.token_urlsafe(32))"',
            )
        found.append((parts[1] or f"token-{place + 1}", parts[2]))
    if len(found) > _MOST_TOKENS:
        raise ServerError("too many tokens", got=len(found), expected=f"at most {_MOST_TOKENS}")
    return found


class Keys:
    """The tokens that open the server; kept as digests, and compared in a time that tells nothing.

    Args:
        tokens: Names and tokens.
    """

    def __init__(self, *, tokens: Collection[tuple[str, str]]) -> None:
        self._digests = [(name, _digest(token)) for name, token in tokens]

    @property
    def needed(self) -> bool:
        """Whether a token is asked for."""
        return bool(self._digests)

    def holder(self, token: str) -> str | None:
        """The name of a token; None where it opens nothing."""
        given, found = _digest(token), None
        for name, digest in self._digests:  # all of them, whichever fits
            if hmac.compare_digest(given, digest):
                found = name
        return found

    def of_header(self, authorization: str) -> str | None:
        """The holder of what a header carries: a bearer token, or one as the password that a browser asked for."""
        kind, _, value = authorization.partition(" ")
        if kind.lower() == "bearer":
            return self.holder(value.strip())
        if kind.lower() == "basic":
            try:
                said = base64.b64decode(value, validate=True).decode("utf-8")
            except (binascii.Error, UnicodeDecodeError, ValueError):
                return None
            return self.holder(said.partition(":")[2])
        return None


class Rates:
    """A budget of requests for each client, which fills again as time goes by.

    Args:
        a_minute: How many requests a minute; 0 for any number.
        clock: Tells the time.
    """

    def __init__(self, *, a_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = float(a_minute)
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, client: str) -> float | None:
        """Takes one request from a client's budget; gives the seconds to wait where there is none left."""
        if not self._most:
            return None
        now = self._clock()
        left, since = self._left.pop(client, (self._most, now))
        left = min(self._most, left + (now - since) * self._most / 60)
        wait = None if left >= 1 else (1 - left) * 60 / self._most
        self._left[client] = (left if wait is not None else left - 1, now)
        while len(self._left) > _MOST_CLIENTS:
            self._left.popitem(last=False)
        return wait


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
