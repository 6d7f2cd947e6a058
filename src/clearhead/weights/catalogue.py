"""The models on this computer: embedded, in the hub's cache, in folders.

Takes: folders to look in.
Gives: what each model is, how large, under which licence and where, from headers and cards alone.
Uses:  errors, hub, resolve, shards, strict_json; text, to read cards.
Never: a tensor, or a network.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from clearhead.errors import ClearheadError, WeightsError
from clearhead.text.files import reading
from clearhead.weights.hub import cached_models
from clearhead.weights.locate import embedded_models
from clearhead.weights.shards import CONFIG, MAX_CONFIG_BYTES, is_model, read_headers
from clearhead.weights.strict_json import read_object

__all__ = ["Home", "ModelEntry", "list_models", "read_family", "read_licence"]

_CARD = "README.md"
_MOST_CARD_BYTES = 64 * 2**10
_FRONT = re.compile(r"\A---[ \t]*\r?\n(.*?)^---[ \t]*\r?$", re.DOTALL | re.MULTILINE)
_LICENCE = re.compile(r"""^(license|license_name):[ \t]*(?:\r?\n[ \t]*-[ \t]*)?["']?([\w.+-]+)""", re.MULTILINE)


class Home(StrEnum):
    """Where a model lives."""

    EMBEDDED = "embedded"
    CACHED = "cached"
    LOCAL = "local"


@dataclass(frozen=True, kw_only=True)
class ModelEntry:
    """One model of the list.

    Attributes:
        name: What `load` would take.
        family: The `model_type` of its configuration; None where it says none.
        n_parameters: How many real numbers its weight files hold; None where they cannot be read.
        n_bytes: What its folder takes on the disk.
        licence: As its card says; None where nothing does.
        home: Whether it came with the package, from the hub, or lies in a folder.
        folder: Where it is.
        problem: Why it cannot be loaded; None where nothing is known against it.
    """

    name: str
    family: str | None
    n_parameters: int | None
    n_bytes: int
    licence: str | None
    home: Home
    folder: Path
    problem: str | None = None


def list_models(*folders: Path) -> list[ModelEntry]:
    """Embedded models, then those of the hub's cache, then those in folders.

    Args:
        *folders: Each a model, or a place whose own folders are looked at; by default the present directory.

    Raises:
        WeightsError: One of the folders does not exist.
    """
    entries = [_entry(name, folder, Home.EMBEDDED) for name, folder in embedded_models().items()]
    entries += [_entry(str(model.id), model.folder, Home.CACHED) for model in cached_models()]
    seen = {entry.folder.resolve() for entry in entries}
    for place in folders or (Path(),):
        for folder in _models_in(place):
            if folder.resolve() not in seen:
                seen.add(folder.resolve())
                entries.append(_entry(str(folder), folder, Home.LOCAL))
    return entries


def _models_in(place: Path) -> Iterator[Path]:
    """A folder where it is a model, or else its own folders that are."""
    try:
        inside = sorted(path for path in place.iterdir() if path.is_dir())
    except OSError as error:
        problem = "a folder that cannot be looked into"
        raise WeightsError(problem, got=f"{place}: {error.strerror}", expected="a folder") from None
    for folder in [place] if _looks_like_a_model(place) else inside:
        if _looks_like_a_model(folder):
            yield folder


def _looks_like_a_model(folder: Path) -> bool:
    try:
        return is_model(folder)
    except OSError:
        return False


def _entry(name: str, folder: Path, home: Home) -> ModelEntry:
    family: str | None = None
    parameters: int | None = None
    problem: str | None = None
    try:
        family = read_family(folder)
        parameters = sum(header.n_parameters for header in read_headers(folder))
    except ClearheadError as error:
        problem = error.problem
    return ModelEntry(
        name=name,
        family=family,
        n_parameters=parameters,
        n_bytes=_size(folder),
        licence=read_licence(folder),
        home=home,
        folder=folder,
        problem=problem,
    )


def read_family(folder: Path) -> str | None:
    """What the configuration of a folder calls its kind; None where it says nothing."""
    family = read_object(folder / CONFIG, limit=MAX_CONFIG_BYTES).get("model_type")
    return family if isinstance(family, str) else None


def _size(folder: Path) -> int:
    """What the files of a folder take; what it links to counts."""
    total = 0
    for path in folder.iterdir():
        try:
            total += path.stat().st_size if path.is_file() else 0
        except OSError:  # gone since
            continue
    return total


def read_licence(folder: Path) -> str | None:
    """The licence in the front matter of a model's card, or a hint to the file that has it."""
    card = folder / _CARD
    try:
        if card.is_file():
            with reading(card) as stream:
                text = stream.read(_MOST_CARD_BYTES).decode("utf-8", errors="replace")
            front = _FRONT.search(text.removeprefix("\ufeff"))
            found = dict(_LICENCE.findall(front[1])) if front else {}
            licence = found.get("license")
            if licence is not None:
                return found.get("license_name", licence) if licence == "other" else licence
        return next((f"see {path.name}" for path in sorted(folder.glob("LICEN[CS]E*"))), None)
    except (ClearheadError, OSError):
        return None
