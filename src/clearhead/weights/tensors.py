"""Tensors in and out of a folder of .safetensors files.

Takes: a folder; or tensors by name.
Gives: tensors in ordinary memory, real numbers in single precision; or the files, whole or not at all.
Uses:  errors, header, progress, shards; text, for writes that happen wholly or not at all.
Never: a memory map. Weights left in one are slower to compute with, a file cut
       short under one kills the process, and both copies would count as memory in use.
"""

import json
import os
from collections.abc import Mapping
from contextlib import ExitStack, nullcontext
from io import BufferedIOBase
from pathlib import Path

import torch
from torch import Tensor

from clearhead.errors import WeightsError
from clearhead.text.files import replacing
from clearhead.weights.header import LENGTH_BYTES, METADATA, StoredTensor, opened, read_header
from clearhead.weights.progress import Report, progress_bar
from clearhead.weights.shards import INDEX, plan_shards, read_headers, shard_names, stale_files
from clearhead.weights.strict_json import as_weights_error

__all__ = ["MAX_SHARD_BYTES", "read_file", "read_tensors", "write_file", "write_tensors"]

MAX_SHARD_BYTES = 5_000_000_000
_CHUNK_BYTES = 16 * 2**20

_DTYPES = {
    "BOOL": torch.bool,
    "U8": torch.uint8,
    "I8": torch.int8,
    "U16": torch.uint16,
    "I16": torch.int16,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "U32": torch.uint32,
    "I32": torch.int32,
    "F32": torch.float32,
    "U64": torch.uint64,
    "I64": torch.int64,
    "F64": torch.float64,
}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}


def read_tensors(folder: Path, *, progress: Report | None = None) -> dict[str, Tensor]:
    """Every tensor of a folder, by the name that its file gives it.

    Real numbers of any width become float32, chunk by chunk, so that memory stays near one copy.

    Args:
        folder: A folder with model.safetensors, or with an index and its shards.
        progress: Told how many bytes are read, of how many; a bar on a terminal by default.

    Raises:
        UnsafeFile: The folder has only weights that would have to be unpickled.
        WeightsError: The folder has no weights, or they are damaged.
    """
    headers = read_headers(folder)
    total = sum(header.n_bytes for header in headers)
    done = 0
    tensors: dict[str, Tensor] = {}
    # One for all: freed between tensors, buffers of this size would leave holes in memory as large as themselves.
    scratch = torch.empty(_CHUNK_BYTES, dtype=torch.uint8)
    with nullcontext(progress) if progress else progress_bar(f"reading {folder.name}", total) as report:
        for header in headers:
            with opened(header.path) as stream:
                for stored in header.tensors:
                    tensors[stored.name] = _read(stream, stored, header.path, scratch)
                    done += stored.end - stored.start
                    report(done, total)
    return tensors


def read_file(path: Path) -> dict[str, Tensor]:
    """Every tensor of one file, as `read_tensors` gives those of a folder.

    Raises:
        WeightsError: The file is not there, or is damaged.
    """
    with as_weights_error():
        header = read_header(path)
        scratch = torch.empty(_CHUNK_BYTES, dtype=torch.uint8)
        with opened(path) as stream:
            return {stored.name: _read(stream, stored, path, scratch) for stored in header.tensors}


def write_file(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write tensors to one new file, for a folder that its writer syncs and renames as a whole.

    Raises:
        WeightsError: The file is there already, or cannot be written.
    """
    with as_weights_error(), path.open("xb") as stream:
        _write(stream, tensors, {"format": "pt"}, None)


def _read(stream: BufferedIOBase, stored: StoredTensor, path: Path, scratch: Tensor) -> Tensor:
    """One tensor, read into memory of its own; by way of `scratch` where its type changes."""
    dtype = _DTYPES[stored.dtype]
    try:
        tensor = torch.empty(stored.shape, dtype=torch.float32 if dtype.is_floating_point else dtype)
    except RuntimeError:
        needed = f"{stored.n_values} values for {stored.name!r} of {path}"
        raise WeightsError("more weights than memory", got=needed, advice="a smaller model") from None
    # Any byte may stand where a truth value should, and only a copy makes it one.
    source = torch.uint8 if dtype == torch.bool else dtype
    stream.seek(stored.start)
    for part in torch.split(tensor.view(-1), _CHUNK_BYTES // source.itemsize):
        piece = part if part.dtype == source else scratch[: part.numel() * source.itemsize].view(source)
        raw = piece.view(torch.uint8).numpy().data
        if stream.readinto(raw) < raw.nbytes:
            raise WeightsError("a weight file that shrank while it was read", got=f"{path} at {stored.name!r}")
        if piece is not part:
            part.copy_(piece)
    return tensor


def write_tensors(
    folder: Path,
    tensors: Mapping[str, Tensor],
    *,
    metadata: Mapping[str, str] | None = None,
    max_shard_bytes: int = MAX_SHARD_BYTES,
    dtype: torch.dtype | None = None,
) -> list[Path]:
    """Write tensors to a folder: all files are on the disk before the first takes its name.

    Args:
        folder: Where to; what an earlier save left there is replaced.
        tensors: By name. Where two names share one tensor, the first is written.
        metadata: What to note in every file beside its format.
        max_shard_bytes: Beyond this, more than one file and an index.
        dtype: What to make of real numbers, for instance torch.bfloat16; by default they stay what they are.

    Returns:
        The weight files.

    Raises:
        WeightsError: A file cannot be written, or a value is too large for `dtype`; the old files remain.
    """
    single = _without_repeats(tensors)
    sizes = {name: tensor.numel() * _target(tensor, dtype).itemsize for name, tensor in single.items()}
    plan = plan_shards(sizes, limit=max_shard_bytes)
    files = shard_names(len(plan))
    notes = {"format": "pt", **(metadata or {})}
    with as_weights_error(), ExitStack() as stack:
        if len(plan) > 1:
            index = stack.enter_context(replacing(folder / INDEX))  # entered first, renamed last
            index.write(_index(dict(zip(files, plan, strict=True)), total=sum(sizes.values())))
            _sync(index)
        for file, names in zip(files, plan, strict=True):
            stream = stack.enter_context(replacing(folder / file))
            _write(stream, {name: single[name] for name in names}, notes, dtype)
            _sync(stream)
    with as_weights_error():
        for path in stale_files(folder, kept=[*files, INDEX] if len(plan) > 1 else files):
            path.unlink()
    return [folder / file for file in files]


def _without_repeats(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors, those that are one and the same memory once."""
    kept: dict[object, str] = {}
    for name, tensor in tensors.items():
        assert name != METADATA
        place = (tensor.data_ptr(), tensor.dtype, tensor.shape, tensor.stride()) if tensor.numel() else name
        kept.setdefault(place, name)
    return {name: tensors[name] for name in kept.values()}


def _target(tensor: Tensor, dtype: torch.dtype | None) -> torch.dtype:
    return dtype if dtype is not None and tensor.is_floating_point() else tensor.dtype


def _write(
    stream: BufferedIOBase, tensors: Mapping[str, Tensor], notes: Mapping[str, str], dtype: torch.dtype | None
) -> None:
    """One file. Wide types come first, so that every tensor starts at a multiple of its width."""
    ordered = sorted(tensors, key=lambda name: (-_target(tensors[name], dtype).itemsize, name))
    fields: dict[str, object] = {METADATA: dict(notes)}
    place = 0
    for name in ordered:
        kind = _target(tensors[name], dtype)
        if kind not in _NAMES:
            raise WeightsError(
                f"{name!r} has a type that no file can hold", got=kind, expected=", ".join(_NAMES.values())
            )
        end = place + tensors[name].numel() * kind.itemsize
        fields[name] = {"dtype": _NAMES[kind], "shape": list(tensors[name].shape), "data_offsets": [place, end]}
        place = end
    header = json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    header += b" " * (-len(header) % LENGTH_BYTES)
    stream.write(len(header).to_bytes(LENGTH_BYTES, "little") + header)
    for name in ordered:
        plain = _converted(name, tensors[name], dtype).cpu().contiguous()
        stream.write(plain.view(-1).view(torch.uint8).numpy().data)


def _converted(name: str, tensor: Tensor, dtype: torch.dtype | None) -> Tensor:
    """A tensor as it is written; no number may become infinite on the way."""
    kind = _target(tensor.detach(), dtype)
    converted = tensor.detach().to(kind)
    if kind != tensor.dtype and not torch.equal(torch.isfinite(converted), torch.isfinite(tensor.detach())):
        largest = float(tensor.detach().abs().max())
        raise WeightsError(
            f"{name!r} holds numbers that are too large for {kind}",
            got=largest,
            expected=f"at most {torch.finfo(kind).max}",
            advice="torch.bfloat16, which has the range of torch.float32",
        )
    return converted


def _index(files: Mapping[str, list[str]], *, total: int) -> bytes:
    weight_map = {name: file for file, names in files.items() for name in names}
    content = {"metadata": {"total_size": total}, "weight_map": dict(sorted(weight_map.items()))}
    return (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode("utf-8")


def _sync(stream: BufferedIOBase) -> None:
    """Have the disk refuse now what it would refuse later, while every old file still stands."""
    stream.flush()
    os.fsync(stream.fileno())
