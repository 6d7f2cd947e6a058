"""Chat templates where folders keep them: a program in Jinja's language, which is only read here.

Takes: a tokenizer's folder.
Gives: the template, or None where there is none.
Uses:  errors, files, special.
Never: runs it; most models are never talked to, and Jinja is slow to import.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import cast

from clearhead.errors import TextError
from clearhead.text.files import read_bounded
from clearhead.text.special import read_object

__all__ = ["TEMPLATE_NAME", "read_template"]

TEMPLATE_NAME = "chat_template.jinja"
MAX_TEMPLATE_BYTES = 2**20
_DEFAULT = "default"


def read_template(folder: Path) -> str | None:
    """The chat template beside a tokenizer, from a file of its own or from the settings; None where there is none."""
    path, settings = folder / TEMPLATE_NAME, folder / "tokenizer_config.json"
    if path.is_file():
        try:
            return read_bounded(path, limit=MAX_TEMPLATE_BYTES).decode("utf-8")
        except UnicodeDecodeError:
            raise TextError("a chat template that is not UTF-8", got=path) from None
    found = read_object(settings).get("chat_template") if settings.is_file() else None
    if isinstance(found, list):  # several by name, one of them the usual one
        named = [cast(Mapping[str, object], entry) for entry in cast(list[object], found) if isinstance(entry, dict)]
        found = next((entry.get("template") for entry in named if entry.get("name") == _DEFAULT), None)
    if found is not None and not isinstance(found, str):
        raise TextError("a chat template that is not text", got=f"{settings}: {type(found).__name__}")
    return found
