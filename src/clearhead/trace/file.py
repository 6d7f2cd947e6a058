"""A trace as a .safetensors file: the values as tensors, everything else as JSON in its header.

A file may come from anywhere. Its header is checked as that of any weight file is; what it says of itself is checked
against its tensors; nothing in it is ever run, and no path in it is opened.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from pydantic import ConfigDict, TypeAdapter, ValidationError

from clearhead.config import Family
from clearhead.decoding import BeamCandidate
from clearhead.errors import TextError, TraceError, WeightsError
from clearhead.text.files import replacing
from clearhead.trace.sites import axes_of, tokens_of
from clearhead.trace.trace import SiteRecord, Token, Trace
from clearhead.weights.header import METADATA, StoredTensor, read_header

FORMAT = "clearhead.trace"
VERSION = "1"
_FLOAT_BYTES = 4
_MOST_SITES = 100_000
_LARGEST_ID = 2**31
_MOST_SAID = 16 * 2**20


@dataclass(frozen=True, kw_only=True)
class _Facts:
    """What a file says of a run beside its values."""

    __pydantic_config__ = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    model: str
    family: Family
    config: dict[str, Any]
    source: tuple[Token, ...]
    target: tuple[Token, ...]
    written: tuple[Token, ...]
    n_prompt: int
    scores: tuple[float, ...]
    beams: tuple[tuple[BeamCandidate, ...], ...]
    score: float | None
    length_penalty: float
    sites: dict[str, SiteRecord]
    weights: str = ""


class StoredValues(Mapping[str, np.ndarray]):
    """Arrays that lie in a file, each read when it is asked for.

    Args:
        path: The file.
        tensors: Where each array lies in it.
    """

    def __init__(self, *, path: Path, tensors: Iterable[StoredTensor]) -> None:
        self._path = path
        self._tensors = {tensor.name: tensor for tensor in tensors}

    def __getitem__(self, site: str) -> np.ndarray:
        stored = self._tensors[site]
        try:
            values = np.fromfile(self._path, dtype="<f4", count=stored.n_values, offset=stored.start)
        except OSError as error:
            raise TraceError("a trace that cannot be read any more", got=f"{self._path}: {error.strerror}") from None
        if values.size < stored.n_values:
            raise TraceError("a trace that was cut short since it was opened", got=f"{self._path} at {site}")
        return values.reshape(stored.shape)

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)


def save_trace(trace: Trace, path: Path | str) -> Path:
    """Writes a trace to a file, wholly or not at all; gives its path.

    Raises:
        TraceError: The file cannot be written.
    """
    return write_trace(trace, path, values=trace.values.__getitem__)


def write_trace(trace: Trace, path: Path | str, *, values: Callable[[str], np.ndarray]) -> Path:
    """Writes a trace whose values are made one by one as they are written."""
    path = Path(path)
    entries: dict[str, Any] = {METADATA: {"format": FORMAT, "version": VERSION, "trace": json.dumps(_facts(trace))}}
    end = 0
    for site, record in trace.sites.items():
        start, end = end, end + int(np.prod(record.shape)) * _FLOAT_BYTES
        entries[site] = {"dtype": "F32", "shape": list(record.shape), "data_offsets": [start, end]}
    header = json.dumps(entries, ensure_ascii=False).encode("utf-8")
    header += b" " * (-len(header) % 8)
    try:
        with replacing(path) as stream:
            stream.write(len(header).to_bytes(8, "little"))
            stream.write(header)
            for site in trace.sites:
                stream.write(np.ascontiguousarray(values(site), dtype="<f4").data)
    except TextError as error:
        raise TraceError("a trace that cannot be saved", got=error.got, advice=error.advice) from None
    return path


def load_trace(path: Path | str) -> Trace:
    """A trace from its file, whoever wrote it; its values are read when they are asked for.

    Raises:
        TraceError: The file is not a trace, or contradicts itself.
    """
    path = Path(path)
    try:
        header = read_header(path)
    except WeightsError as error:
        raise TraceError(error.problem, got=error.got, expected=error.expected, advice=error.advice) from None
    if header.metadata.get("format") != FORMAT or header.metadata.get("version") != VERSION:
        raise TraceError(
            "a file that is no trace",
            got=f"{path}: format {header.metadata.get('format', 'none')!r:.60}",
            expected=f"{FORMAT}, version {VERSION}",
            advice="a file that `clearhead trace` or `Trace.save` wrote",
        )
    said = header.metadata.get("trace", "")
    if len(said) > _MOST_SAID:
        raise TraceError("a trace with an account that is too long", got=f"{path}: {len(said)}", expected=_MOST_SAID)
    try:
        facts = TypeAdapter(_Facts).validate_json(said)
    except (ValidationError, RecursionError) as error:
        first = error.errors()[0] if isinstance(error, ValidationError) else {"loc": (), "msg": "nested too deep"}
        where = ".".join(str(step) for step in first["loc"])
        raise TraceError("a trace whose account cannot be read", got=f"{path}: {where}: {first['msg']}"[:200]) from None
    _check(facts, {tensor.name: tensor for tensor in header.tensors}, path)
    fields = {name: getattr(facts, name) for name in _Facts.__dataclass_fields__}
    return Trace(**fields, values=StoredValues(path=path, tensors=header.tensors))


def _facts(trace: Trace) -> dict[str, Any]:
    """What the header says, in plain data; the family and fates are words."""
    facts = {name: getattr(trace, name) for name in _Facts.__dataclass_fields__}
    return cast("dict[str, Any]", _plain(facts))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in cast("list[Any]", value)]
    return _plain(asdict(value)) if hasattr(value, "__dataclass_fields__") else value


def _check(facts: _Facts, tensors: Mapping[str, StoredTensor], path: Path) -> None:
    """Refuses an account that its own tensors do not bear out."""
    if facts.sites.keys() != tensors.keys() or len(tensors) > _MOST_SITES:
        odd = sorted(facts.sites.keys() ^ tensors.keys())[:3]
        raise _contradiction(path, got=f"sites and tensors differ: {', '.join(odd)}"[:200])
    _check_numbers(facts, path)
    for site, record in facts.sites.items():
        stored = tensors[site]
        if stored.dtype != "F32" or stored.shape != record.shape or len(record.axes) != len(record.shape):
            raise _contradiction(path, got=f"{site}: {record.axes} {record.shape}, stored as {stored.shape}"[:200])
        if record.axes != axes_of(site, family=facts.family, rank=len(record.shape)):
            raise _contradiction(path, got=f"{site}: axes {record.axes}"[:200])
        for letter, length in zip(record.axes, record.shape, strict=True):
            whose = tokens_of(site, letter, family=facts.family)
            most = len(facts.source) if whose == "source" else len(facts.target)
            if whose and length > most:
                raise _contradiction(path, got=f"{site}: {length} positions along {letter}, and {most} tokens"[:200])


def _check_numbers(facts: _Facts, path: Path) -> None:
    ids = [token.id for token in (*facts.source, *facts.target, *facts.written)]
    places = [one for step in facts.beams for beam in step for one in (beam.parent, beam.id, beam.place or 0)]
    numbers = [0, *ids, *places]
    if min(numbers) < 0 or max(numbers) > _LARGEST_ID or not 0 <= facts.n_prompt <= len(facts.target):
        raise _contradiction(path, got="ids, places or lengths that no run has")


def _contradiction(path: Path, *, got: str) -> TraceError:
    return TraceError("a trace that contradicts itself", got=f"{path}: {got}", advice="record it again")
