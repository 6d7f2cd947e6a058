"""Ctrl-C and its like: asked once, a run ends after its step and saves; asked twice, it ends at once."""

import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupt:
    """Notes a request to stop, while its block runs.

    Args:
        say: Told that it was heard.

    Attributes:
        signal: The number of the signal that asked; None while none did.
    """

    def __init__(self, *, say: Callable[[str], None] = lambda _: None) -> None:
        self.signal: int | None = None
        self._say = say
        self._before: dict[int, Any] = {}

    def __enter__(self) -> "Interrupt":
        # Python lets only the main thread hear signals.
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._note) for number in _SIGNALS}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, number: int, _: FrameType | None) -> None:
        if self.signal is not None:
            raise KeyboardInterrupt
        self.signal = number
        with suppress(RuntimeError):  # a signal may come while something else is being said
            self._say("stopping after this step, which will be saved; once more stops at once")
