"""What an index says about itself: index.json, the one file whose replacement makes new passages count.

Takes: the folder of an index.
Gives: Manifest: how wide, how many, made by which model.
Uses:  errors; text, for writes that happen wholly or not at all; weights, for JSON from strangers.
Never: believes a number that the sizes of the files do not bear out.

    index.json       this
    vectors.f32      count × width numbers, little-endian, each row of length one
    passages.jsonl   the passages, one a line
    offsets.i64      where each of these lines ends, little-endian
"""

import json
import stat
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from clearhead.errors import WeightsError
from clearhead.text.files import replacing
from clearhead.weights.strict_json import as_weights_error, read_object

__all__ = ["FILES", "MANIFEST", "OFFSETS", "PASSAGES", "VECTORS", "Manifest", "check_name", "check_size"]

MANIFEST = "index.json"
VECTORS = "vectors.f32"
PASSAGES = "passages.jsonl"
OFFSETS = "offsets.i64"
FILES = (VECTORS, PASSAGES, OFFSETS)

FORMAT = "clearhead-index"
VERSION = 1
MAX_WIDTH = 2**16
MAX_COUNT = 2**31
_MAX_NAME = 1000
_MAX_BYTES = 2**16


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """The facts of an index.

    Attributes:
        width: How many numbers a vector has.
        count: How many passages there are.
        passage_bytes: How many bytes of the file of passages count.
        model: The model that made the vectors, as a name to load it by.
        fingerprint: What tells that model from every other; a query's vector must come from the same.
    """

    width: int
    count: int
    passage_bytes: int
    model: str
    fingerprint: str

    @property
    def sizes(self) -> dict[str, int]:
        """How many bytes of each file count; there may be more where an addition was cut off."""
        return {VECTORS: 4 * self.count * self.width, PASSAGES: self.passage_bytes, OFFSETS: 8 * self.count}

    @classmethod
    def read(cls, folder: Path) -> "Manifest":
        """The manifest of a folder whose files are at least as long as it says."""
        path = folder / MANIFEST
        if not path.is_file():
            raise WeightsError("a folder without an index", got=folder, expected=f"a folder with {MANIFEST}")
        fields = read_object(path, limit=_MAX_BYTES)
        if (fields.pop("format", None), fields.pop("version", None)) != (FORMAT, VERSION):
            raise WeightsError(
                "an index of another kind or time",
                got=path,
                expected=f"{FORMAT} version {VERSION}",
                advice="build the index again",
            )
        manifest = _checked(fields, path)
        for name, n_bytes in manifest.sizes.items():
            check_size(folder / name, n_bytes)
        return manifest

    def write(self, folder: Path) -> None:
        """Replace the manifest of a folder; from now on what was appended counts."""
        content = {"format": FORMAT, "version": VERSION, **asdict(self)}
        with as_weights_error(), replacing(folder / MANIFEST) as stream:
            stream.write((json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode("utf-8"))


def check_size(path: Path, n_bytes: int) -> None:
    """Refuse a file that is no ordinary file of its own, or shorter than it should be.

    A link is refused because an addition writes: it would write to wherever the link leads.
    """
    try:
        status = path.lstat()
    except OSError as error:
        raise WeightsError("an index that lacks a file", got=f"{path}: {error.strerror}") from None
    if not stat.S_ISREG(status.st_mode):
        raise WeightsError("something that is not a file in an index", got=path, expected="ordinary files, no links")
    if status.st_size < n_bytes:
        raise WeightsError(
            "an index whose files are shorter than it says",
            got=f"{path}: {status.st_size} bytes",
            expected=f"{n_bytes} bytes",
            advice="build the index again",
        )


def _checked(fields: dict[str, Any], path: Path) -> Manifest:
    limits = {"width": (1, MAX_WIDTH), "count": (1, MAX_COUNT), "passage_bytes": (1, 2**62)}
    if set(fields) != {*limits, "model", "fingerprint"}:
        raise WeightsError("an index that does not say what it must", got=f"{path}: {', '.join(fields)[:_MAX_NAME]}")
    for name, (least, most) in limits.items():
        value = fields[name]
        if type(value) is not int or not least <= value <= most:
            raise WeightsError(
                f"an impossible {name} in an index", got=f"{path}: {value!r:.60}", expected=f"{least} to {most}"
            )
    for name in ("model", "fingerprint"):
        check_name(name, fields[name])
    return Manifest(**fields)


def check_name(name: str, value: object) -> str:
    """A model's name or fingerprint, or a WeightsError where it is nothing that can be shown."""
    if not isinstance(value, str) or not 1 <= len(value) <= _MAX_NAME or not value.isprintable():
        raise WeightsError(
            f"an impossible {name} in an index", got=f"{value!r:.60}", expected=f"1 to {_MAX_NAME} printable characters"
        )
    return value
