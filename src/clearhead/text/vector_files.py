"""Word-vector files: GloVe text, word2vec text and word2vec binary, each also gzipped.

Takes: a path.
Gives: words and their vectors, or a TextError that names the file and the line.
Uses:  errors, files.
Never: trusts what a header claims, or unpickles anything.

    GloVe           the 0.418 0.24968 …                 a word and its numbers on each line
    word2vec text   400000 50 / the 0.418 …             the same after a line that says how many words, how wide
    word2vec binary 400000 50 / the <4 bytes each> …    the same header, little-endian float32

A word may hold spaces in the text formats. Where a word comes twice the first counts.
"""

import gzip
from array import array
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from io import BufferedIOBase
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np
from jaxtyping import Float32

from clearhead.errors import TextError
from clearhead.text.files import numbered_lines, reading, replacing

__all__ = ["read_vectors", "write_vectors"]

MAX_WIDTH = 2**16
MAX_VALUES = 2**30
_MAX_LINE_BYTES = 4 * 2**20
_MAX_WORD_BYTES = 4096
_CHUNK_BYTES = 2**20
_Row = tuple[str, Float32[np.ndarray, " D"]]


class _Header(NamedTuple):
    n_words: int
    width: int


def read_vectors(path: Path, *, limit: int | None = None) -> tuple[list[str], Float32[np.ndarray, "V D"]]:
    """The words of a file and their vectors, all of them or the first `limit`."""
    with reading(path) as stream:
        lines = numbered_lines(stream, name=path, limit=_MAX_LINE_BYTES)
        _, first = next(lines, (0, b""))
        if not first.strip():
            raise TextError("a word-vector file without vectors", got=path)
        header = _parse_header(first, path)
        if header is None:
            rows = _text_rows(chain([(1, first)], lines), path, width=first.rstrip(b" \r\n").count(b" "))
            return _collect(rows, path, limit=limit)
        second = stream.readline(_MAX_LINE_BYTES)
        if _is_binary(second, header.width):
            rows = _binary_rows(stream, second, header, path)
        else:
            rest = ((number + 1, line) for number, line in lines)
            rows = _text_rows(chain([(2, second)] if second else [], rest), path, width=header.width)
        return _collect(rows, path, limit=limit, claimed=header.n_words)


def write_vectors(path: Path, words: Iterable[str], matrix_VD: Float32[np.ndarray, "V D"]) -> None:
    """Write word2vec binary where the name ends in .bin, word2vec text otherwise; .gz after either zips it."""
    zipped = path.suffix == ".gz"
    binary = (Path(path.stem) if zipped else path).suffix == ".bin"
    with replacing(path) as plain:
        # No name and no time in the zip, so that the same vectors give the same file.
        packer = gzip.GzipFile(filename="", mode="wb", fileobj=plain, mtime=0) if zipped else nullcontext(plain)
        with packer as stream:
            stream.write(f"{matrix_VD.shape[0]} {matrix_VD.shape[1]}\n".encode())
            for word, vector_D in zip(words, matrix_VD, strict=True):
                _check_writable(word, path, binary=binary)
                numbers = vector_D.astype("<f4").tobytes() if binary else " ".join(map(str, vector_D)).encode()
                stream.write(word.encode("utf-8") + b" " + numbers + b"\n")


def _parse_header(line: bytes, path: Path) -> _Header | None:
    fields = line.split()
    if len(fields) != 2 or not all(field.isdigit() and len(field) < 20 for field in fields):
        return None
    header = _Header(*map(int, fields))
    if header.n_words < 1 or not 1 <= header.width <= MAX_WIDTH or header.n_words * header.width > MAX_VALUES:
        raise TextError(
            "a header that claims an impossible size",
            got=f"{path}, line 1: {header.n_words} words of width {header.width}",
            expected=f"a width up to {MAX_WIDTH}, and {MAX_VALUES} numbers in all",
        )
    return header


def _is_binary(row: bytes, width: int) -> bool:
    """Whether a first row holds bytes that written numbers do not have where its numbers should be."""
    _, _, numbers = row.partition(b" ")
    written = b"\t\r\n" + bytes(range(0x20, 0x7F))
    return bool(numbers[: 4 * width].translate(None, written)) and _parse_row(row, width) is None


def _parse_row(line: bytes, width: int) -> tuple[bytes, Float32[np.ndarray, " D"]] | None:
    """A line's word and vector, or None where it does not have as many numbers as it should."""
    word, *numbers = line.rstrip(b" \r\n").rsplit(b" ", width)
    _, space, last = word.rpartition(b" ")
    if len(numbers) != width or not word or (space and _is_number(last)):
        return None
    try:
        return word, np.array(numbers, np.float32)
    except ValueError:
        return None


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _text_rows(lines: Iterable[tuple[int, bytes]], path: Path, *, width: int) -> Iterator[_Row]:
    for number, line in lines:
        if not line.strip():
            continue
        parsed = _parse_row(line, width) if 1 <= width <= MAX_WIDTH else None
        if parsed is None:
            raise TextError(
                "a line that is not a word and its vector",
                got=f"{path}, line {number}: {line[:60]!r}",
                expected=f"a word and {width} numbers" if 1 <= width <= MAX_WIDTH else "a word and its numbers",
            )
        word, vector_D = parsed
        where = f"{path}, line {number}"
        yield _decode(word, where), _finite(vector_D, where)


def _binary_rows(stream: BufferedIOBase, start: bytes, header: _Header, path: Path) -> Iterator[_Row]:
    buffer, place, n_bytes = start, 0, 4 * header.width
    for row in range(1, header.n_words + 1):
        where = f"{path}, word {row} of {header.n_words}"
        while (space := buffer.find(b" ", place)) < 0 or len(buffer) < space + 1 + n_bytes:
            if space < 0 and len(buffer) - place > _MAX_WORD_BYTES:
                raise TextError("a word without an end", got=where, expected=f"at most {_MAX_WORD_BYTES} bytes")
            chunk = stream.read(_CHUNK_BYTES)
            if not chunk:
                raise TextError("a binary word-vector file that ends too early", got=where)
            buffer, place = buffer[place:] + chunk, 0
        word = _decode(buffer[place:space].lstrip(b"\n"), where)
        place = space + 1 + n_bytes
        yield word, _finite(np.frombuffer(buffer[space + 1 : place], "<f4").astype(np.float32), where)
    if buffer[place:].strip() or stream.read(1).strip():
        raise TextError("a binary word-vector file with more than its header says", got=path)


def _collect(
    rows: Iterator[_Row], path: Path, *, limit: int | None, claimed: int | None = None
) -> tuple[list[str], Float32[np.ndarray, "V D"]]:
    words: dict[str, None] = {}
    values = array("f")
    n_rows = 0
    for word, vector_D in islice(rows, limit):
        n_rows += 1
        if word in words:
            continue
        words[word] = None
        values.frombytes(vector_D.tobytes())
        if len(values) > MAX_VALUES:
            raise TextError("a word-vector file that is too large", got=path, expected=f"at most {MAX_VALUES} numbers")
    if claimed is not None and n_rows != claimed and (limit is None or n_rows < limit):
        raise TextError(
            "a header that does not match its file", got=f"{path}: {n_rows} words", expected=f"{claimed}, says line 1"
        )
    matrix_VD = np.frombuffer(cast(bytes, values), np.float32).reshape(len(words), -1)
    return list(words), matrix_VD


def _decode(word: bytes, where: str) -> str:
    try:
        text = word.decode("utf-8")
    except UnicodeDecodeError:
        raise TextError("a word that is not UTF-8", got=f"{where}: {word[:60]!r}") from None
    if not text:
        raise TextError("a vector without a word", got=where)
    return text


def _finite(vector_D: Float32[np.ndarray, " D"], where: str) -> Float32[np.ndarray, " D"]:
    if not np.isfinite(vector_D).all():
        raise TextError("a vector with a number that is not finite", got=where, expected="no NaN and no infinity")
    return vector_D


def _check_writable(word: str, path: Path, *, binary: bool) -> None:
    """Refuse a word that would not be read back as it is."""
    _, space, last = word.rpartition(" ")
    tangled = bool(space) and (binary or _is_number(last.encode()))
    if not word or word != word.strip(" ") or "\n" in word or "\r" in word or tangled:
        raise TextError("a word that this format cannot hold", got=f"{path}: {word!r}")
