"""Reading within bounds, and writing wholly or not at all."""

import gzip
import io
from pathlib import Path

import pytest

from clearhead.errors import TextError
from clearhead.text.files import decode_lines, numbered_lines, read_bounded, read_lines, reading, replacing


def test_lines_end_at_line_feeds_only(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("\ufeffone\r\ntwo\u2028still two\nthree".encode())
    assert list(read_lines(path)) == ["one", "two\u2028still two", "three"]
    assert list(read_lines(path, keep_ends=True)) == ["one\r\n", "two\u2028still two\n", "three"]


def test_gzipped_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress("ä\nb\n".encode(), mtime=0))
    assert list(read_lines(path)) == ["ä", "b"]


def test_bad_utf8_names_file_and_line() -> None:
    with pytest.raises(TextError, match=r"notes, line 2: byte 0xff at 1"):
        list(decode_lines(io.BytesIO(b"ok\na\xff\n"), name="notes"))


def test_an_endless_line_is_refused() -> None:
    assert list(numbered_lines(io.BytesIO(b"abc\n"), name="x", limit=4)) == [(1, b"abc\n")]
    with pytest.raises(TextError, match="x, line 2"):
        list(numbered_lines(io.BytesIO(b"a\nbcdef"), name="x", limit=4))


def test_bounded_reading(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"12345")
    assert read_bounded(path, limit=5) == b"12345"
    with pytest.raises(TextError, match="at most 4 bytes"):
        read_bounded(path, limit=4)


def test_a_zip_bomb_is_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(bytes(10_000_000), mtime=0))
    with pytest.raises(TextError, match="too large"):
        read_bounded(path, limit=1000)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("missing", None, "does not exist"),
        ("folder/", None, "a folder where a file is needed"),
        ("a.gz", b"not zipped", "cannot be unzipped"),
        ("a.gz", gzip.compress(b"hello" * 100, mtime=0)[:-12], "cannot be unzipped"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, name: str, content: bytes | None, problem: str) -> None:
    path = tmp_path / name
    if name.endswith("/"):
        path.mkdir()
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(TextError, match=problem) as caught, reading(path) as stream:
        stream.read()
    assert str(path) in str(caught.value)


def test_replacing_is_all_or_nothing(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "a"
    with replacing(path) as stream:
        stream.write(b"first")
    with pytest.raises(TypeError), replacing(path) as stream:
        stream.writelines([b"second, cut sh", None])  # pyright: ignore[reportArgumentType]
    assert path.read_bytes() == b"first"
    assert [entry.name for entry in path.parent.iterdir()] == ["a"]


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(TextError, match="cannot be written"), replacing(tmp_path / "file" / "a"):
        pass
