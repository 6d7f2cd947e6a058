"""The spelling of a published model: name or owner/name, with @revision or without."""

import re
from typing import NamedTuple

from clearhead.errors import WeightsError

__all__ = ["MAIN", "HubId", "parse_hub_id"]

MAIN = "main"
_PART = re.compile(r"\w(?:[\w.-]*\w)?", re.ASCII)
_REVISION = re.compile(r"[\w.-]+(?:/[\w.-]+)*", re.ASCII)
_MOST_LETTERS = 96
_MOST_REVISION_LETTERS = 200


class HubId(NamedTuple):
    """A published model, and which of its revisions."""

    name: str
    revision: str = MAIN

    def __str__(self) -> str:
        return self.name if self.revision == MAIN else f"{self.name}@{self.revision}"


def parse_hub_id(text: str) -> HubId | None:
    """The model that a text names; None where it is not spelled like one.

    Name and revision become parts of paths in the cache, so nothing that leads elsewhere passes.

    Raises:
        WeightsError: The revision cannot be one.
    """
    name, at, revision = text.partition("@")
    parts = name.split("/")
    spelled = len(parts) <= 2 and len(name) <= _MOST_LETTERS and all(_PART.fullmatch(part) for part in parts)
    if not spelled or ".." in name or "--" in name or name.endswith(".git"):
        return None
    if not at:
        return HubId(name)
    if not _REVISION.fullmatch(revision) or ".." in revision or len(revision) > _MOST_REVISION_LETTERS:
        got = repr(revision[:80])
        raise WeightsError("a revision that cannot be one", got=got, expected="a branch, a tag or a commit")
    return HubId(name, revision)
