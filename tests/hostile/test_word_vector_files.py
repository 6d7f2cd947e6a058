"""Word-vector files that are broken, or made to break their reader."""

import gzip
import pickle
import resource
from pathlib import Path

import numpy as np
import pytest

from clearhead.errors import TextError
from clearhead.text import WordVectors

ROW = np.array([1, 2], "<f4").tobytes()
NAN = np.array([1, np.nan], "<f4").tobytes()

BROKEN = {
    "empty": (b"", "without vectors"),
    "a blank line": (b"\n", "without vectors"),
    "only a header": (b"2 2\n", "0 words"),
    "a short row": (b"a 1 2\nb 1\n", "line 2"),
    "a long row": (b"a 1 2\nb 1 2 3\n", "line 2"),
    "not a number": (b"a 1 2\nb 1 x\n", "line 2"),
    "NaN": (b"a 1 2\nb 1 nan\n", "line 2"),
    "infinity": (b"a 1 2\nb 1 1e999\n", "line 2"),
    "a word alone": (b"word\n", "line 1"),
    "prose": (b"This is not a table of vectors.\n", "line 1"),
    "no word": (b" 1 2\n", "line 1"),
    "bad UTF-8": (b"a 1 2\n\xff\xfe 1 2\n", "line 2"),
    "more words than claimed": (b"1 2\na 1 2\nb 3 4\n", "2 words"),
    "fewer words than claimed": (b"3 2\na 1 2\nb 3 4\n", "2 words"),
    "narrower than claimed": (b"1 3\na 1 2\n", "line 2"),
    "wider than claimed": (b"1 1\na 1 2\n", "line 2"),
    "row after header in error": (b"2 2\na 1 2\nb 1\n", "line 3"),
    "absurdly many": (b"9999999999999 300\na 1\n", "impossible size"),
    "absurdly wide": (b"1 99999999999\na 1\n", "impossible size"),
    "no words claimed": (b"0 5\n", "impossible size"),
    "no width claimed": (b"5 0\n", "impossible size"),
    "binary, cut short": (b"2 2\na " + ROW + b"\nb " + ROW[:5], "word 2 of 2"),
    "binary, missing words": (b"3 2\na " + ROW + b"\nb " + ROW + b"\n", "word 3 of 3"),
    "binary, too many": (b"1 2\na " + ROW + b"\nb " + ROW + b"\n", "more than its header says"),
    "binary, NaN": (b"1 2\na " + NAN + b"\n", "word 1 of 1"),
    "binary, endless word": (b"2 2\na " + ROW + b"x" * 10_000, "word 2 of 2"),
    "binary, bad UTF-8": (b"1 2\n\xff " + ROW + b"\n", "not UTF-8"),
    "binary, no word": (b"2 2\na " + ROW + b"\n " + ROW + b"\n", "without a word"),
    "a pickle": (pickle.dumps({"vectors": [1.0] * 20}), "a.txt"),
}


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.parametrize("zipped", [False, True])
def test_a_broken_file_is_named_with_its_line(tmp_path: Path, case: str, zipped: bool) -> None:
    content, where = BROKEN[case]
    path = tmp_path / ("a.txt.gz" if zipped else "a.txt")
    path.write_bytes(gzip.compress(content, mtime=0) if zipped else content)
    with pytest.raises(TextError) as caught:
        WordVectors.load(path)
    assert where in str(caught.value)
    assert str(path) in str(caught.value)


GOOD = {
    "GloVe": b"a 1 2\nb 3 4\n",
    "GloVe without a last line feed": b"a 1 2\nb 3 4",
    "GloVe from Windows": b"a 1 2\r\nb 3 4\r\n",
    "trailing spaces and a blank line": b"a 1 2 \nb 3 4 \n\n",
    "word2vec text": b"2 2\na 1 2\nb 3 4\n",
    "a word twice": b"3 2\na 1 2\nb 3 4\na 9 9\n",
    "word2vec binary": b"2 2\na " + ROW + b"\nb " + np.array([3, 4], "<f4").tobytes() + b"\n",
    "word2vec binary without line feeds": b"2 2\na " + ROW + b"b " + np.array([3, 4], "<f4").tobytes(),
}


@pytest.mark.parametrize("case", GOOD)
def test_what_is_unusual_but_sound_is_read(tmp_path: Path, case: str) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(GOOD[case])
    vectors = WordVectors.load(path)
    assert vectors.words == ("a", "b")
    assert vectors.matrix.tolist() == [[1, 2], [3, 4]]


def test_words_with_spaces(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("a 1 2\n. . . 3 4\nat name@domain.com 5 6\n")
    assert WordVectors.load(path).words == ("a", ". . .", "at name@domain.com")


def test_a_lying_header_costs_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"10000000 100\na " + bytes(400))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(TextError, match="word 2 of 10000000"):
        WordVectors.load(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


def test_an_endless_line_in_a_small_zip(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"1 " * 5_000_000, mtime=0))
    with pytest.raises(TextError, match="line 1"):
        WordVectors.load(path)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(TextError, match="does not exist"):
        WordVectors.load(tmp_path / "none.txt")
