"""Files and folders become passages with their lines."""

import gzip
import os
from pathlib import Path

import pytest

from clearhead.errors import TextError
from clearhead.tasks.index import Passage, read_passages
from clearhead.tasks.index.corpus import MAX_LINE_BYTES, Skipped


def test_a_file_of_lines(tmp_path: Path) -> None:
    path = tmp_path / "lines.anything"
    path.write_bytes("\ufeffone\r\n\n  two  \n \t\nthrée".encode())
    name = str(path)
    assert list(read_passages(path)) == [Passage("one", name, 1), Passage("two", name, 3), Passage("thrée", name, 5)]


def test_a_long_line_becomes_passages_with_its_number(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("short\nOne two. Three four. Five.\n")
    corpus = read_passages(path, limit=3, length=lambda piece: len(piece.split()))
    assert [(passage.text, passage.line) for passage in corpus] == [
        ("short", 1),
        ("One two.", 2),
        ("Three four. Five.", 2),
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "corpus"
    (root / "b" / "deep").mkdir(parents=True)
    (root / ".git").mkdir()
    (root / "c.md").write_text("# c\n")
    (root / "a.TXT").write_text("a\n")
    (root / "b" / "table.csv").write_text("x,y\n1,2\n")
    (root / "b" / "deep" / "z.rst.gz").write_bytes(gzip.compress(b"zipped\n", mtime=0))
    (root / ".git" / "config.txt").write_text("secret\n")
    (root / ".hidden.txt").write_text("secret\n")
    (root / "picture.png").write_bytes(b"\x89PNG\0")
    (root / "binary.txt").write_bytes(b"text at first" + b"x" * 2_000_000 + b"\0")
    (root / "latin.txt").write_bytes(b"fine\nna\xefve\n")
    (root / "cut.txt").write_bytes("fin€".encode()[:-1])
    (root / "broken.txt.gz").write_bytes(b"not zipped")
    (root / "line.txt").write_bytes(b"a\n" + b"x" * (MAX_LINE_BYTES + 1))
    (root / "link.txt").symlink_to(tmp_path / "outside.txt")
    (root / "loop").symlink_to(root)
    (tmp_path / "outside.txt").write_text("secret\n")
    os.mkfifo(root / "pipe.txt")
    return root


def test_a_folder_of_text_files_by_name(folder: Path) -> None:
    found = [(passage.text, Path(passage.path).relative_to(folder).as_posix()) for passage in read_passages(folder)]
    assert found == [
        ("a", "a.TXT"),
        ("zipped", "b/deep/z.rst.gz"),
        ("x,y", "b/table.csv"),
        ("1,2", "b/table.csv"),
        ("# c", "c.md"),
    ]


def test_what_is_passed_over_is_counted_however_often_it_is_read(folder: Path) -> None:
    corpus = read_passages(folder)
    for _ in range(2):
        assert len(list(corpus)) == 5
        assert corpus.skipped == {
            Skipped.HIDDEN: 2,
            Skipped.LINK: 2,
            Skipped.OTHER: 2,
            Skipped.BINARY: 3,
            Skipped.LARGE: 1,
            Skipped.UNREADABLE: 1,
        }


def test_files_that_are_too_large_are_passed_over_whole(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("12345\n" * 10)
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(b"12345\n" * 10_000, mtime=0))
    (tmp_path / "c.txt").write_text("123456789\n" * 5)
    corpus = read_passages(tmp_path, max_file_bytes=59)
    assert {Path(passage.path).name for passage in corpus} == {"c.txt"}
    assert corpus.skipped == {Skipped.LARGE: 2}


@pytest.mark.parametrize("content", [b"a\n\0", b"a\n\xff\n", b"123456789\n" * 10])
def test_a_file_that_was_named_itself_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    with pytest.raises(TextError, match=r"a\.txt"):
        list(read_passages(path, max_file_bytes=60))


@pytest.mark.parametrize("name", ["none", "a\0b", "pipe", "x" * 5000])
def test_a_path_that_is_neither_file_nor_folder_is_refused(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(TextError, match="no such file or folder"):
        read_passages(tmp_path / name)


def test_a_name_that_is_not_utf8_is_shown_as_well_as_it_can_be(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.txt")).write_text("found\n")
    assert [(passage.text, Path(passage.path).name) for passage in read_passages(tmp_path)] == [("found", "\ufffd.txt")]
