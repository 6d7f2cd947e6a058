"""Corpora that are broken, empty, or not what they seem: the message names the file, the line and what to do."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from clearhead.data import Recipe, Source, Task, cleaned_records, make_tokenizer, prepare, read_records
from clearhead.data.tables import MAX_COLUMNS, MAX_ROW_CHARACTERS
from clearhead.errors import TextError

T, C, S, LM = Task.TRANSLATE, Task.CLASSIFY, Task.SIMILARITY, Task.LANGUAGE_MODEL

BROKEN: dict[str, tuple[str, Task, bytes, str, str]] = {
    "an empty file": ("a.tsv", T, b"", "a.tsv", "without any examples"),
    "an empty text": ("a.txt", LM, b"", "a.txt", "without any examples"),
    "blank lines": ("a.tsv", T, b"\n\n\n", "a.tsv", "without any examples"),
    "one column": ("a.tsv", T, b"Hello.\nYes.\n", "line 1", "tabs between columns"),
    "commas in a tsv": ("a.tsv", T, b"Hello,Bonjour\n", "1 column", "tabs between columns"),
    "one column, csv": ("a.csv", C, b"Hello.\n", "line 1", "commas in a .csv"),
    "a short row": ("a.tsv", T, b"a b\tc d\n" * 60 + b"e f\n", "line 61", "2 columns"),
    "a long row": ("a.tsv", T, b"a b\tc d\ne f\tg h\ti j\n", "line 2", "2 columns"),
    "three columns of text": ("a.tsv", T, b"a b\tc d\te f\n", "3 columns", "name the columns"),
    "three languages": ("a.tsv", T, b"en\tde\tfr\na\tb\tc\n", "3 columns", "name the columns"),
    "a header with one name": ("a.tsv", T, b"source\tquelle\na\tb\n", "line 1", "a column named target"),
    "a column too many": ("a.tsv", LM, b"a\tb\n", "2 columns", "name the columns"),
    "latin-1": ("a.tsv", T, b"yes\toui\nsummer\t\xe9t\xe9\n", "line 2", "iconv"),
    "UTF-16": ("a.txt", LM, "Hello.".encode("utf-16"), "line 1", "iconv"),
    "not a zip": ("a.tsv.gz", T, b"Hello.\tBonjour.\n", "a.tsv.gz", "cannot be unzipped"),
    "a zip cut short": (
        "a.tsv.gz",
        T,
        gzip.compress(b"Hello.\tBonjour.\n" * 99)[:-9],
        "a.tsv.gz",
        "cannot be unzipped",
    ),
    "an unclosed quote": ("a.csv", T, b'source,target\na,"b\nc,d\n', "line 3", "save it as .tsv"),
    "a quote in the middle": ("a.csv", T, b'source,target\na,"b"c\n', "line 2", "save it as .tsv"),
    "a quote that is never closed": ("a.csv", T, b'source,target\na,"' + b"b\n" * 100_000, "line ", "not CSV"),
    "an endless cell": (
        "a.csv",
        T,
        b'source,target\na,b\nc,"' + b"d\n" * (MAX_ROW_CHARACTERS // 2 + 9),
        "begins in line 3",
        "a cell that is too long",
    ),
    "an endless row": ("a.tsv", T, b"a" * (MAX_ROW_CHARACTERS + 1), "line 1", "too long"),
    "endless columns": ("a.tsv", T, b"a\t" * (MAX_COLUMNS + 1), "line 1", "too many columns"),
    "not JSON": ("a.jsonl", T, b'{"source": "a", "target": "b"}\n{oops}\n', "line 2", "not JSON"),
    "a list": ("a.jsonl", T, b'["a", "b"]\n', "line 1", "not a JSON object"),
    "NaN": ("a.jsonl", S, b'{"sentence1": "a", "sentence2": "b", "score": NaN}\n', "line 1", "not JSON"),
    "deep JSON": ("a.jsonl", T, b"[" * 100_000, "line 1", "not JSON"),
    "a missing key": ("a.jsonl", T, b'{"source": "a", "target": "b"}\n{"source": "c"}\n', "line 2", "without target"),
    "an object for a text": ("a.jsonl", T, b'{"source": {"a": 1}, "target": "b"}\n', "line 1", "without source"),
    "strange keys": ("a.jsonl", T, b'{"left": "a", "right": "b"}\n', "line 1", "a column named source"),
    "half a letter": ("a.jsonl", T, b'{"source": "a\\ud800", "target": "b"}\n', "line 1", "surrogate"),
    "a score in words": ("a.tsv", S, b"sentence1\tsentence2\tscore\na\tb\thigh\n", "line 2", "not a number"),
    "an endless score": ("a.tsv", S, b"sentence1\tsentence2\tscore\na\tb\t1e999\n", "line 2", "not a number"),
    "a tag that is none": ("a.tsv", T, b"source\ttarget\tlang\na\tb\t<s>\n", "line 2: '<s>'", "letters such as fr"),
    "a tag of one letter": ("a.tsv", T, b"source\ttarget\tlang\na\tb\tx\n", "line 2: 'x'", "letters such as fr"),
    "many blank lines": ("a.tsv", T, b"\n" * 70, "a.tsv", "without any examples"),
    "blank lines before a bad one": ("a.tsv", T, b"\n" * 70 + b"a b\tc d\ne f\n", "line 72", "2 columns"),
    "a later key that is missing": (
        "a.jsonl",
        T,
        b'{"source": "a", "target": "b"}\n{"source": "c", "target": "d", "tag": "fr"}\n',
        "line 1",
        "without tag",
    ),
    "plain text to translate": ("a.txt", T, b"Hello.\n", "a.txt", "two aligned files"),
    "plain text to classify": ("a.txt", C, b"Hello.\n", "a.txt", "two columns"),
    "another kind of file": ("a.pdf", LM, b"%PDF", "a.pdf", ".txt, .tsv, .csv or .jsonl"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_file_is_named_with_its_line_and_advice(tmp_path: Path, case: str) -> None:
    name, task, content, where, what = BROKEN[case]
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(TextError) as caught:
        list(read_records(Source(paths=(path,), task=task)))
    assert where in str(caught.value)
    assert what in str(caught.value)


def test_missing_files(tmp_path: Path) -> None:
    for paths in ((tmp_path / "no.tsv",), (tmp_path / "no.en", tmp_path / "no.fr")):
        with pytest.raises(TextError, match="does not exist"):
            list(read_records(Source(paths=paths, task=T)))
    folder = tmp_path / "folder.txt"
    folder.mkdir()
    with pytest.raises(TextError, match="a folder where a file is needed"):
        list(read_records(Source(paths=(folder,), task=LM)))


@pytest.mark.parametrize(("first", "second"), [("a\nb\n", "c\n"), ("a\n", "b\nc\n"), ("a\n", "")])
def test_files_that_are_not_aligned(tmp_path: Path, first: str, second: str) -> None:
    paths = (tmp_path / "a.en", tmp_path / "a.fr")
    for path, content in zip(paths, (first, second), strict=True):
        path.write_text(content)
    with pytest.raises(TextError, match="not aligned") as caught:
        list(read_records(Source(paths=paths, task=T)))
    shorter = min((first, second), key=len).count("\n")
    assert f"ends after line {shorter}" in str(caught.value)


def test_a_table_is_not_a_file_of_lines(tmp_path: Path) -> None:
    paths = (tmp_path / "a.tsv", tmp_path / "a.fr")
    with pytest.raises(TextError, match="a table where a file of plain lines"):
        list(read_records(Source(paths=paths, task=T)))


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        (("0", "7"), "a number from 0 to 2"),
        (("en", "ff"), "did you mean fr"),
        (("en",), "another number of columns"),
        (("en", "fr", "id", "x"), "another number of columns"),
        (("0", "-1"), "not there"),
        (("0", "1" * 5000), "not there"),
    ],
)
def test_columns_that_are_not_there(tmp_path: Path, columns: tuple[str, ...], problem: str) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("id\ten\tfr\n1\tHello.\tBonjour.\n")
    with pytest.raises(TextError, match=problem):
        list(read_records(Source(paths=(path,), task=T, columns=columns)))


def test_a_named_column_that_a_row_lacks(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("a\tb\tc\nd\te\n")
    with pytest.raises(TextError, match="line 2"):
        list(read_records(Source(paths=(path,), task=T, columns=("0", "2"))))


def fail(folder: Path, name: str, lines: Sequence[str], task: Task) -> str:
    path = folder / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    recipe = Recipe(task=task)
    sources = [Source(paths=(path,), task=task)]

    def run() -> None:
        tokenizer = make_tokenizer(cleaned_records(sources, recipe), task=task, vocab_size=300)
        prepare(sources, folder=folder / "data", tokenizer=tokenizer, recipe=recipe)

    with pytest.raises(TextError) as caught:
        run()
    assert not (folder / "data/prepared.json").exists()
    assert not list((folder / "data").glob(".*"))
    return str(caught.value)


def test_two_rows(tmp_path: Path) -> None:
    message = fail(tmp_path, "pairs.tsv", ["Hello.\tBonjour.", "Yes.\tOui."], T)
    assert "too few examples" in message
    assert "pairs.tsv: 2 kept of 2" in message
    assert "at least 10" in message


def test_all_duplicates(tmp_path: Path) -> None:
    message = fail(tmp_path, "pairs.tsv", ["Hello.\tBonjour."] * 1000, T)
    assert "1 kept of 1000, 999 duplicate" in message


def test_one_source_with_many_targets_cannot_be_split(tmp_path: Path) -> None:
    message = fail(tmp_path, "pairs.tsv", [f"Hello.\tBonjour {number}." for number in range(50)], T)
    assert "nothing left to train on" in message


def test_nothing_but_space(tmp_path: Path) -> None:
    assert "nothing to learn from" in fail(tmp_path, "a.txt", ["  ", "\u3000"] * 20, LM)


def test_one_class(tmp_path: Path) -> None:
    assert "a single class" in fail(tmp_path, "a.tsv", [f"Text {number}\tgood" for number in range(50)], C)


def test_one_score(tmp_path: Path) -> None:
    message = fail(tmp_path, "a.tsv", [f"A cat {number}\tA dog {number}\t5.0" for number in range(50)], S)
    assert "scores that are all alike" in message
    assert "5 for all of 50" in message


def test_validation_files_of_which_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("".join(f"A {number}.\tB {number}.\n" for number in range(40)))
    (tmp_path / "b.tsv").write_text("same\tsame\n" * 3)
    source, held = (Source(paths=(tmp_path / name,), task=T) for name in ("a.tsv", "b.tsv"))
    tokenizer = make_tokenizer(cleaned_records([source], Recipe(task=T)), task=T, vocab_size=300)
    with pytest.raises(TextError, match="nothing left to validate with") as caught:
        prepare([source], folder=tmp_path / "data", tokenizer=tokenizer, recipe=Recipe(task=T), validation=[held])
    assert "0 kept of 3, 3 target copies source" in str(caught.value)


def test_a_label_for_every_row(tmp_path: Path) -> None:
    message = fail(tmp_path, "a.tsv", [f"Text {number}\tlabel{number}" for number in range(1100)], C)
    assert "too many different labels" in message
    assert "name the columns" in message


def test_a_score_for_some(tmp_path: Path) -> None:
    paths = [tmp_path / "a.tsv", tmp_path / "b.tsv"]
    paths[0].write_text("".join(f"A {number}\tB {number}\t1.5\n" for number in range(20)))
    paths[1].write_text("".join(f"C {number}\tD {number}\n" for number in range(20)))
    recipe = Recipe(task=S)
    sources = [Source(paths=(path,), task=S) for path in paths]
    tokenizer = make_tokenizer(cleaned_records(sources, recipe), task=S, vocab_size=300)
    with pytest.raises(TextError, match="a score for some examples only") as caught:
        prepare(sources, folder=tmp_path / "data", tokenizer=tokenizer, recipe=recipe)
    assert "20 of 40" in str(caught.value)


def test_a_tag_for_some(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("".join(f"A {number}.\tB {number}.\n" for number in range(20)))
    sources = [Source(paths=(path,), task=T, tag="fr"), Source(paths=(path,), task=T)]
    tokenizer = make_tokenizer(cleaned_records(sources, Recipe(task=T)), task=T, vocab_size=300)
    with pytest.raises(TextError, match="a tag for some examples only"):
        prepare(sources, folder=tmp_path / "data", tokenizer=tokenizer, recipe=Recipe(task=T))


def test_a_file_that_is_spoiled_between_the_passes(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("".join(f"A {number}{'.' * 300}\tB {number}{'.' * 300}\n" for number in range(1500)))
    source = Source(paths=(path,), task=T)
    tokenizer = make_tokenizer(cleaned_records([source], Recipe(task=T)), task=T, vocab_size=300)

    def spoil(_: int) -> None:
        path.write_bytes(b"\xff" * path.stat().st_size)

    with pytest.raises(TextError, match="not UTF-8"):
        prepare([source], folder=tmp_path / "data", tokenizer=tokenizer, recipe=Recipe(task=T), progress=spoil)
    assert list((tmp_path / "data").iterdir()) == []


def test_a_bomb_is_read_by_the_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"source": "' + b"a" * 50_000_000))
    with pytest.raises(TextError, match="line 1"):
        list(read_records(Source(paths=(path,), task=T)))


def test_examples_in_a_report_cannot_steer_a_terminal(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    rows = [{"source": f"\x1b[2J{number % 20}", "target": f"\u202e{number % 20}"} for number in range(40)]
    path.write_text("\n".join(map(json.dumps, rows)))
    source = Source(paths=(path,), task=T)
    tokenizer = make_tokenizer(cleaned_records([source], Recipe(task=T)), task=T, vocab_size=300)
    report = str(prepare([source], folder=tmp_path / "data", tokenizer=tokenizer, recipe=Recipe(task=T)).report)
    assert "duplicate: 20" in report
    assert "\x1b" not in report
    assert "\u202e" not in report
