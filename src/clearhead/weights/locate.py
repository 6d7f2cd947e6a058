"""From the name of a model to its folder: on this computer, embedded, or on the hub.

Takes: a folder, an embedded model's name, or a hub id, with @revision or without.
Gives: a folder that exists.
Uses:  errors, hub_id, shards; hub, when nothing nearer answers to the name.
Never: a name that leads out of where it is looked for.
"""

from pathlib import Path

from clearhead.errors import WeightsError, nearest
from clearhead.weights.hub_id import parse_hub_id
from clearhead.weights.shards import CONFIG

__all__ = ["embedded_models", "resolve"]

PRETRAINED = Path(__file__).parents[1] / "pretrained"


def embedded_models() -> dict[str, Path]:
    """The models that come with the package, by name; none where they were left out."""
    if not PRETRAINED.is_dir():
        return {}
    return {folder.name: folder for folder in sorted(PRETRAINED.iterdir()) if (folder / CONFIG).is_file()}


def resolve(name: str | Path) -> Path:
    """The folder of a model.

    A folder goes before an embedded model of the same name where it holds a model itself, and both
    go before the hub.

    Args:
        name: A folder; the name of an embedded model; or owner/name as on the hub, @revision or not.

    Raises:
        WeightsError: Nothing answers to the name, or only a file does, or the hub is out of reach.
    """
    folder = _path(name)
    embedded = embedded_models().get(str(name))
    if str(name) and _is_dir(folder) and (embedded is None or (folder / CONFIG).is_file()):
        return folder
    if embedded is not None:
        return embedded
    model = None if isinstance(name, Path) else parse_hub_id(name)
    if model is None or _exists(folder):
        raise _not_found(str(name), folder)
    from clearhead.weights.hub import fetch  # noqa: PLC0415  (what is on this computer needs no hub)

    try:
        return fetch(model)
    except WeightsError as error:
        near = _near(model.name, folder)
        if near:
            error.advice = f"{near} Or {error.advice}" if error.advice else near
        raise


def _path(name: str | Path) -> Path:
    try:
        return Path(name).expanduser()
    except RuntimeError:  # a home of somebody who is not there
        return Path(name)


def _not_found(name: str, folder: Path) -> WeightsError:
    if name and _exists(folder):
        problem, advice = "a file where a model's folder is needed", f"{folder.parent}, the folder that it is in"
    else:
        problem, advice = "no model of this name", _near(name, folder)
    return WeightsError(
        problem,
        got=name[:200] if name.isprintable() else repr(name[:200]),
        expected="a folder, an embedded model or a hub id such as openai-community/gpt2",
        advice=advice or "clearhead models lists what is on this computer",
    )


def _near(name: str, folder: Path) -> str | None:
    """Embedded models and neighbouring folders that are spelled almost like a name."""
    try:
        beside = {str(path.name): path for path in folder.parent.iterdir() if path.is_dir()}
    except (OSError, ValueError):
        beside = {}
    known = [*embedded_models(), *(str(folder.parent / near) if folder.parent.name else near for near in beside)]
    return nearest(name, known)


def _exists(path: Path) -> bool:
    """Whether a path leads somewhere; one that no path can be does not."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _is_dir(path: Path) -> bool:
    return _exists(path) and path.is_dir()
