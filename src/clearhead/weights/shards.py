"""Which files of a folder hold its tensors: one, or the shards that an index names.

Takes: a folder; or the sizes of tensors to be written.
Gives: the checked headers of its weight files; or which tensor goes into which shard.
Uses:  errors, header, strict_json.
Never: follows an index out of its folder, or opens a file that runs what is inside it.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from clearhead.errors import ClearheadError, MissingTensor, UnsafeFile, WeightsError
from clearhead.weights.header import Header, read_header
from clearhead.weights.strict_json import as_weights_error, read_object

__all__ = [
    "CONFIG",
    "INDEX",
    "SINGLE",
    "has_weights",
    "is_model",
    "plan_shards",
    "read_headers",
    "shard_names",
    "stale_files",
    "unsafe",
]

SINGLE = "model.safetensors"
INDEX = "model.safetensors.index.json"
CONFIG = "config.json"
MAX_INDEX_BYTES = 64 * 2**20
MAX_CONFIG_BYTES = 4 * 2**20
PICKLES = frozenset({".bin", ".ckpt", ".h5", ".msgpack", ".pickle", ".pkl", ".pt", ".pth"})
_OTHERS = frozenset({".gguf", ".onnx", ".safetensors", ".tflite"})
_PLAIN_NAME = re.compile(r"[\w. +=@-]{1,250}\.safetensors", re.ASCII)
_HARMLESS = re.compile(r"[\w./~ :+-]+")  # in a shell's quotes
_CLASS_NAME = re.compile(r"[A-Za-z]\w{0,80}", re.ASCII)


def read_headers(folder: Path) -> list[Header]:
    """The headers of all weight files of a folder; no tensor is read.

    Raises:
        UnsafeFile: The folder has only weights that would have to be unpickled.
        MissingTensor: The index names a tensor that its shard lacks.
        WeightsError: The folder has no weights, or they are damaged.
    """
    with as_weights_error():
        if not folder.is_dir():
            problem = "a file where a model's folder is needed" if folder.exists() else "a folder that does not exist"
            raise WeightsError(problem, got=folder, advice="the name of the folder that holds config.json")
        if _is_there(folder / SINGLE):
            return [read_header(folder / SINGLE)]
        if _is_there(folder / INDEX):
            return _read_shards(folder)
        raise _no_weights(folder)


def has_weights(folder: Path) -> bool:
    """Whether every weight file of a folder is there, at a glance."""
    if (folder / SINGLE).is_file():
        return True
    try:
        return all((folder / name).is_file() for name in set(_read_index(folder).values()))
    except WeightsError:
        return False


def is_model(folder: Path) -> bool:
    """Whether a folder looks like a model: a configuration, and weights of whatever kind."""
    if not (folder / CONFIG).is_file():
        return False
    return any(path.name == INDEX or path.suffix in PICKLES | {".safetensors"} for path in folder.iterdir())


def _read_shards(folder: Path) -> list[Header]:
    """The headers of all shards, in agreement with the index and with each other."""
    index = _read_index(folder)
    headers = [read_header(folder / name) for name in dict.fromkeys(index.values())]
    found: dict[str, str] = {}
    for header in headers:
        for tensor in header.tensors:
            other = found.setdefault(tensor.name, header.path.name)
            if other != header.path.name:
                got = f"{folder}: {other} and {header.path.name} both hold {tensor.name!r}"
                raise WeightsError("a tensor in two shards", got=got, expected="one shard for each tensor")
    for name, file in index.items():
        if found.get(name) != file:
            raise MissingTensor(
                f"a shard lacks a tensor that {INDEX} promises",
                got=f"{folder / file} has no {name[:120]!r}",
                advice="download the folder again; its files are not from one save",
            )
    return headers


def _read_index(folder: Path) -> Mapping[str, str]:
    """Which file holds which tensor, every file being a plain name in the folder."""
    path = folder / INDEX
    index = read_object(path, limit=MAX_INDEX_BYTES).get("weight_map")
    files = cast(dict[str, object], index) if isinstance(index, dict) else {}
    if not files:
        got = f"{path}: no tensor in weight_map"
        raise WeightsError("an index without tensors", got=got, expected='{"weight_map": {"tensor": "file"}}')
    for name in {str(file): None for file in files.values()}:
        _check_shard_name(name, folder)
    return cast(dict[str, str], files)


def _check_shard_name(name: str, folder: Path) -> None:
    """A shard is a file of this folder; in the hub's cache it is a link to a blob of the same model."""
    if not _PLAIN_NAME.fullmatch(name) or ".." in name:
        raise UnsafeFile(
            "an index that names something else than a file beside it",
            got=f"{folder / INDEX}: {name[:120]!r}",
            expected="plain names that end in .safetensors",
        )
    home = folder.resolve()
    place = (folder / name).resolve().parent
    is_blob = home.parent.name == "snapshots" and place == home.parents[1] / "blobs"
    if place != home and not is_blob:
        raise UnsafeFile(
            "a shard that is a link out of its folder",
            got=f"{folder / name} leads to {place}",
            expected="files in the folder",
            advice="copy the file to where the link is",
        )


def _is_there(path: Path) -> bool:
    """Whether a name is taken, be it by a link that leads nowhere."""
    return path.exists() or path.is_symlink()


def _no_weights(folder: Path) -> WeightsError:
    """What to say of a folder without .safetensors weights, depending on what it has instead."""
    names = sorted(path.name for path in folder.iterdir())
    pickles = [name for name in names if Path(name.removesuffix(".index.json")).suffix in PICKLES]
    if pickles:
        return unsafe(pickles[0], where=folder, made_by=_class_name(folder))
    others = [name for name in names if Path(name).suffix in _OTHERS]
    seen = ", ".join((others or names)[:5]) or "nothing"
    return WeightsError(
        "a folder without the weights of a model",
        got=f"{folder} has {seen}{', …' if len(others or names) > 5 else ''}",
        expected=f"{SINGLE}, or {INDEX} and its shards",
        advice="the folder that holds config.json and the weights"
        if not others
        else "a copy in the Hugging Face layout",
    )


def unsafe(name: str, *, where: object, made_by: str = "AutoModel") -> UnsafeFile:
    """The refusal to open pickled weights, with the way to convert them."""
    source = str(where) if _HARMLESS.fullmatch(str(where)) else "FOLDER"
    program = f"import transformers as t; t.{made_by}.from_pretrained('{source}').save_pretrained('converted')"
    return UnsafeFile(
        "weights in a format that can hide a program",
        got=f"{name} in {where}",
        expected=f"{SINGLE}, which holds numbers and nothing else",
        advice="another revision of the model that has it (…@refs/pr/1); or, if you trust where the file came from,\n"
        f'            python -c "{program}"\n'
        "            and then the folder `converted`",
    )


def _class_name(folder: Path) -> str:
    """The class that wrote the weights, as config.json has it: AutoModel would drop the head."""
    try:
        config: dict[str, Any] = read_object(folder / CONFIG, limit=MAX_CONFIG_BYTES)
    except ClearheadError:
        return "AutoModel"
    names = config.get("architectures")
    name = cast(list[object], names)[0] if isinstance(names, list) and names else None
    return name if isinstance(name, str) and _CLASS_NAME.fullmatch(name) else "AutoModel"


def plan_shards(sizes: Mapping[str, int], *, limit: int) -> list[list[str]]:
    """The names that go into each file: in order, each file up to `limit` bytes or one tensor."""
    plan: list[list[str]] = [[]]
    n_bytes = 0
    for name, size in sizes.items():
        if plan[-1] and n_bytes + size > limit:
            plan.append([])
            n_bytes = 0
        plan[-1].append(name)
        n_bytes += size
    return plan


def shard_names(n_shards: int) -> Sequence[str]:
    """The files of a checkpoint in so many parts."""
    if n_shards == 1:
        return [SINGLE]
    return [f"model-{number:05}-of-{n_shards:05}.safetensors" for number in range(1, n_shards + 1)]


def stale_files(folder: Path, *, kept: Sequence[str]) -> list[Path]:
    """Weight files and indices of an earlier save that a later one did not replace."""
    patterns = (SINGLE, INDEX, "model-[0-9]*-of-[0-9]*.safetensors")
    return [path for pattern in patterns for path in folder.glob(pattern) if path.name not in kept]
