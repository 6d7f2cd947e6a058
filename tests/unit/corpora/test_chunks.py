"""Chunks are cut by count alone, and what cannot be read ends them."""

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from clearhead.corpora import Corpus, fixed_chunks, read_chunks
from clearhead.errors import TextError

LINES = [f"line {number} é" for number in range(10)]


@pytest.fixture(params=["plain", "zipped", "table"])
def corpus(request: pytest.FixtureRequest, tmp_path: Path) -> Corpus:
    """The same texts in every kind of file."""
    content = "".join(f"{line}\n" for line in LINES).encode()
    if request.param == "table":
        path = tmp_path / "texts.parquet"
        pyarrow.parquet.write_table(pa.table({"id": range(10), "text": LINES}), path, row_group_size=3)
    else:
        path = tmp_path / ("lines.txt.gz" if request.param == "zipped" else "lines.txt")
        path.write_bytes(gzip.compress(content) if request.param == "zipped" else content)
    return Corpus(path=path, size=4)


def test_every_kind_of_file_is_cut_alike(corpus: Corpus) -> None:
    chunks = list(read_chunks(corpus))
    assert [chunk.texts for chunk in chunks] == [LINES[:4], LINES[4:8], LINES[8:]]
    assert [(chunk.number, chunk.first) for chunk in chunks] == [(0, 0), (1, 4), (2, 8)]
    assert [chunk.failure for chunk in chunks] == [None] * 3


def test_what_was_read_grows_to_what_there_is(corpus: Corpus) -> None:
    reached = [chunk.reached for chunk in read_chunks(corpus)]
    assert reached == sorted(reached)
    assert reached[-1] == corpus.extent


def test_chunks_that_are_done_are_left_out(corpus: Corpus) -> None:
    assert list(read_chunks(corpus, skip=2)) == list(read_chunks(corpus))[2:]
    assert list(read_chunks(corpus, skip=3)) == []


def test_an_empty_file_has_no_chunks(tmp_path: Path) -> None:
    (tmp_path / "none.txt").touch()
    assert list(read_chunks(Corpus(path=tmp_path / "none.txt", size=4))) == []


def test_what_cannot_be_read_ends_the_chunks_after_what_can(tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_bytes(b"a\nb\nc\n\xff\nd\n")
    *whole, rest, last = read_chunks(Corpus(path=tmp_path / "bad.txt", size=2))
    assert [chunk.texts for chunk in (*whole, rest, last)] == [["a", "b"], ["c"], []]
    assert rest.failure is None
    error = last.failure.error()
    assert isinstance(error, TextError)
    assert error.problem == "bytes that are not UTF-8"
    assert "line 4" in str(error)


def test_texts_before_an_error_come_before_it() -> None:
    def texts():
        yield from ("a", "b", "c")
        raise TextError("no more")

    chunks = fixed_chunks(texts(), 2)
    assert [next(chunks), next(chunks)] == [["a", "b"], ["c"]]
    with pytest.raises(TextError, match="no more"):
        next(chunks)


def test_a_row_without_a_text_is_an_empty_text(tmp_path: Path) -> None:
    path = tmp_path / "holes.parquet"
    column = pa.array(["a", None, "c"]).dictionary_encode()
    pyarrow.parquet.write_table(pa.table({"said": column}), path)
    [chunk] = read_chunks(Corpus(path=path, size=9, column="said"))
    assert chunk.texts == ["a", "", "c"]


@pytest.mark.parametrize(
    ("column", "says"),
    [("txet", ["a table without that column", "number, text", "text"]), ("number", ["holds no text", "int64"])],
)
def test_a_column_must_be_there_and_hold_text(tmp_path: Path, column: str, says: list[str]) -> None:
    path = tmp_path / "table.parquet"
    pyarrow.parquet.write_table(pa.table({"number": [1], "text": ["a"]}), path)
    [chunk] = read_chunks(Corpus(path=path, size=4, column=column))
    message = str(chunk.failure.error())
    assert [part for part in says if part not in message] == []


def test_what_is_no_parquet_is_refused(tmp_path: Path) -> None:
    (tmp_path / "lines.parquet").write_text("not a table\n")
    [chunk] = read_chunks(Corpus(path=tmp_path / "lines.parquet", size=4))
    assert "a Parquet file that cannot be read" in str(chunk.failure.error())
