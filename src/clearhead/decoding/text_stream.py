"""Text that comes id by id, in whole characters."""

from collections.abc import Callable, Sequence

_HALF = "\ufffd"  # what decoding puts for bytes that are no character yet
_CONTEXT = 4


class TextStream:
    """Turns ids into text as they come: what it gives is never taken back.

    Pieces decode differently alone and in company (a space before a word, the bytes of one character), so a
    few ids are decoded twice, without and with the new one, and the difference is what is new.

    Args:
        decode: Turns ids into text.
        stop: Strings that end the text and are left out of it.
        after: The ids that the text follows; not shown, but the first piece knows by them whether it needs a space.
    """

    def __init__(
        self, *, decode: Callable[[Sequence[int]], str], stop: Sequence[str] = (), after: Sequence[int] = ()
    ) -> None:
        self._decode = decode
        self._stop = tuple(stop)
        self._ids: list[int] = list(after)
        # Where text was shown up to, the last few times; each is the end of a character.
        self._marks: list[int] = [0, len(self._ids)] if after else [0]
        self._held: str = ""  # may be the beginning of a stop string
        self.stopped = False

    def push(self, index: int) -> str:
        """Takes an id; gives the text that is certain now."""
        self._ids.append(index)
        new = self._new()
        if self.stopped or not new or new.endswith(_HALF):
            return ""
        self._marks = [*self._marks[1 - _CONTEXT :], len(self._ids)]
        return self._release(new)

    def all(self, ids: Sequence[int]) -> str:
        """Takes the ids of a text that has ended; gives all of it."""
        self._ids += ids
        return self.close()

    def close(self) -> str:
        """The rest of the text, half characters too; nothing after a stop string."""
        if self.stopped:
            return ""
        rest = self._release(self._new())
        self._marks = [len(self._ids)]
        if self.stopped:
            return rest
        rest += self._held
        self._held = ""
        return rest

    def _new(self) -> str:
        """The text of the ids that were not shown yet, in the company of a few that were."""
        first, shown = self._marks[0], self._marks[-1]
        before = self._decode(self._ids[first:shown]) if shown > first else ""
        after = self._decode(self._ids[first:])
        if after.startswith(before):
            return after[len(before) :]
        # Where every byte is a piece, a wrong one can spoil characters that were shown already: they stay, and what
        # came since speaks for itself.
        return self._decode(self._ids[shown:])

    def _release(self, text: str) -> str:
        """What may be shown: nothing from a stop string on, and nothing that may become one."""
        text = self._held + text
        self._held = ""
        # What is complete first ends the text, however the text was cut into pieces.
        found = [(place + len(stop), place) for stop in self._stop if (place := text.find(stop)) >= 0]
        if found:
            self.stopped = True
            return text[: min(found)[1]]
        n_held = max((_overlap(text, stop) for stop in self._stop), default=0)
        if n_held:
            self._held = text[-n_held:]
            text = text[:-n_held]
        return text


def _overlap(text: str, stop: str) -> int:
    """How many characters at the end of a text begin a stop string."""
    return next((n for n in range(min(len(text), len(stop) - 1), 0, -1) if text.endswith(stop[:n])), 0)
