"""What a SentencePiece file says, and what it may not say."""

from pathlib import Path

import pytest

from clearhead.errors import TextError
from clearhead.text.published import spm as room
from clearhead.text.published.spm import BYTE_PIECES, Algorithm, PieceKind, read_spm

from .spm_writer import BYTE, UNUSED, USUAL, message, number, piece, run, spm

A = piece("a", -1.0)


def write(folder: Path, content: bytes) -> Path:
    path = folder / "tokenizer.model"
    path.write_bytes(content)
    return path


def test_a_file_says_what_it_holds(tmp_path: Path) -> None:
    normaliser = run(2, b"") + number(3, 0) + number(4, 0) + number(5, 1)
    found = read_spm(write(tmp_path, spm([A], trainer=number(4, 9), normaliser=normaliser) + number(77, 1)))
    assert found.algorithm is Algorithm.BPE
    assert [entry.spelling for entry in found.pieces] == ["<unk>", "<s>", "</s>", "a"]
    assert found.pieces[3].score == -1.0
    assert found.spellings(PieceKind.CONTROL) == ["<s>", "</s>"]
    assert (found.dummy_prefix, found.remove_spaces, found.byte_fallback) == (False, False, False)


def test_a_file_means_something_where_it_says_nothing(tmp_path: Path) -> None:
    found = read_spm(write(tmp_path, b"".join([*USUAL, message(1, run(1, b"a")), message(2), message(3)])))
    assert found.algorithm is Algorithm.UNIGRAM
    assert (found.dummy_prefix, found.remove_spaces, found.charsmap) == (True, True, b"")


def test_bytes_are_all_there(tmp_path: Path) -> None:
    spelled = [piece(name, kind=BYTE) for name in BYTE_PIECES]
    assert read_spm(write(tmp_path, spm([*spelled, A], trainer=number(35, 1)))).byte_fallback
    with pytest.raises(TextError, match="255 byte pieces"):
        read_spm(write(tmp_path, spm([*spelled[1:], A], trainer=number(35, 1))))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "no pieces"),
        (spm([]), "no pieces"),
        (spm([A, A]), "'a' 2 times"),
        (b"".join(USUAL) + A, "nothing behind them"),
        (spm([A])[len(USUAL[0]) :], "0 unknown pieces"),
        (spm([A, piece(BYTE_PIECES[0], kind=BYTE)]), "1 byte pieces"),
        (spm([A, USUAL[0].replace(b"<unk>", b"<unq>")]), "2 unknown pieces"),
        (spm([A, piece("u", kind=UNUSED)]), "unused"),
        (spm([piece(b"\xff")]), "not UTF-8"),
        (spm([piece("")]), "0 characters"),
        (spm([piece("a" * 257)]), "257 characters"),
        (spm([piece("a", float("nan"))]), "nan"),
        (spm([piece("a", float("inf"))]), "inf"),
        (spm([piece("a", kind=9)]), "kind 9"),
        (spm([A], algorithm=3), "algorithm 3"),
        (spm([A], trainer=number(24, 1)), "word before"),
        (spm([A], normaliser=number(5, 0)), "▁"),
    ],
)
def test_what_a_file_may_not_say(tmp_path: Path, content: bytes, problem: str) -> None:
    with pytest.raises(TextError, match=problem) as caught:
        read_spm(write(tmp_path, content))
    assert "tokenizer.model" in str(caught.value)


def test_a_file_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MAX_SPM_BYTES", 10)
    with pytest.raises(TextError, match="at most 10 bytes"):
        read_spm(write(tmp_path, spm([A])))
