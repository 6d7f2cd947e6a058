"""Records come out of every kind of file that a user may have."""

import gzip
import json
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import pytest

from clearhead.data import Record, Source, Task, fingerprint, read_records
from clearhead.data.documents import LONGEST_PART, PART_CHARACTERS
from clearhead.errors import ConfigError, TextError


def records(path: Path, content: str, task: Task, **settings: object) -> list[Record]:
    path.write_text(content, encoding="utf-8", newline="")
    return list(read_records(Source(paths=(path,), task=task, **settings)))


def pairs(found: Sequence[Record]) -> list[tuple[str, str | None]]:
    return [(record.source, record.target) for record in found]


TRANSLATIONS = {
    "no header": "Hello.\tBonjour.\nYes.\tOui.\n",
    "no last line feed": "Hello.\tBonjour.\nYes.\tOui.",
    "from Windows, with a mark in front": "\ufeffHello.\tBonjour.\r\nYes.\tOui.\r\n",
    "names": "source\ttarget\nHello.\tBonjour.\nYes.\tOui.\n",
    "short names, turned round": "tgt\tsrc\nBonjour.\tHello.\nOui.\tYes.\n",
    "languages": "en\tfr\nHello.\tBonjour.\nYes.\tOui.\n",
    "languages in full": "English\tFrench\nHello.\tBonjour.\nYes.\tOui.\n",
    "with numbers": "id\ten\tfr\n7\tHello.\tBonjour.\n8\tYes.\tOui.\n",
    "Tatoeba's thanks": "Hello.\tBonjour.\tCC-BY 2.0 (France)\nYes.\tOui.\tCC-BY 2.0 (France)\n",
    "Tatoeba's numbers": "12\tHello.\t13\tBonjour.\n14\tYes.\t15\tOui.\n",
}


@pytest.mark.parametrize("case", TRANSLATIONS)
def test_translations(tmp_path: Path, case: str) -> None:
    found = records(tmp_path / "pairs.tsv", TRANSLATIONS[case], Task.TRANSLATE)
    assert pairs(found) == [("Hello.", "Bonjour."), ("Yes.", "Oui.")]


def test_a_quote_in_a_tsv_is_a_letter(tmp_path: Path) -> None:
    found = records(tmp_path / "pairs.tsv", '"Hello.\tBon"jour.\n', Task.TRANSLATE)
    assert pairs(found) == [('"Hello.', 'Bon"jour.')]


@pytest.mark.parametrize("divider", [",", ";"])
def test_csv(tmp_path: Path, divider: str) -> None:
    content = f'en{divider}fr\n"Well, yes.\nNo."{divider}"Oui, ""bon""; non."\n'
    found = records(tmp_path / "pairs.csv", content, Task.TRANSLATE)
    assert pairs(found) == [("Well, yes.\nNo.", 'Oui, "bon"; non.')]


def test_jsonl(tmp_path: Path) -> None:
    rows = [{"id": 1, "en": "Hello.", "fr": "Bonjour."}, {"fr": "Oui.", "en": "Yes.", "more": [1]}]
    content = "\n".join(map(json.dumps, rows))
    assert pairs(records(tmp_path / "a.jsonl", content, Task.TRANSLATE)) == [("Hello.", "Bonjour."), ("Yes.", "Oui.")]


def test_jsonl_has_the_columns_of_all_its_first_objects(tmp_path: Path) -> None:
    rows = [{"en": "Hello.", "note": 1, "fr": "Bonjour."}, {"en": "Yes.", "fr": "Oui.", "lang": "fr"}]
    content = "\n".join(["", json.dumps(rows[0]), "", json.dumps(rows[1])])
    with pytest.raises(TextError, match="without tag"):
        records(tmp_path / "a.jsonl", content, Task.TRANSLATE)
    late = "\n".join(map(json.dumps, [{"id": 1}, {"id": 2}, {"id": 3, "text": "Hello."}]))
    path = tmp_path / "late.jsonl"
    path.write_text(late)
    with pytest.raises(TextError, match="line 1: 2 columns"):  # the column is known, and the first object lacks it
        list(read_records(Source(paths=(path,), task=Task.LANGUAGE_MODEL)))


def test_jsonl_with_an_object_inside(tmp_path: Path) -> None:
    content = json.dumps({"translation": {"en": "Hello.", "fr": "Bonjour."}})
    assert pairs(records(tmp_path / "a.jsonl", content, Task.TRANSLATE)) == [("Hello.", "Bonjour.")]


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("a.tsv", "Hello.\tBonjour."),
        ("a.csv", "Hello.,Bonjour."),
        ("a.csv", "Hello.;Bonjour."),
        ("a.jsonl", '{"en": "Hello.", "fr": "Bonjour."}'),
    ],
)
def test_blank_lines_may_stand_before_the_data(tmp_path: Path, name: str, line: str) -> None:
    found = records(tmp_path / name, "\n" * 70 + line + "\n", Task.TRANSLATE)
    assert pairs(found) == [("", None)] * 70 + [("Hello.", "Bonjour.")]


def test_a_long_cell_is_a_cell(tmp_path: Path) -> None:
    text = "word " * 40_000
    found = records(tmp_path / "a.csv", f'source,target\n"{text}",b\n', Task.TRANSLATE)
    assert pairs(found) == [(text, "b")]


UNTITLED = {
    "numbers under words": (
        "a.tsv",
        Task.CLASSIFY,
        "Bewertung\tSterne\ngut so\t5\nschlecht\t1\n",
        ("bewertung", "sterne"),
    ),
    "scores under words": (
        "a.csv",
        Task.SIMILARITY,
        "eins,zwei,wert\na b,c d,1.5\ne f,g h,-2\n",
        ("eins", "zwei", "wert"),
    ),
    "numbers that nobody needs": (
        "a.tsv",
        Task.TRANSLATE,
        "nr\tlinks\trechts\n1\ta b\tc d\n2\te\tf\n",
        ("links", "rechts"),
    ),
    "a label that never comes again": (
        "a.tsv",
        Task.CLASSIFY,
        "satz\tton\n" + "gut so\tpos\nschlecht\tneg\n" * 3,
        ("satz", "ton"),
    ),
}


@pytest.mark.parametrize("case", UNTITLED)
def test_a_header_that_nobody_knows_is_asked_about(tmp_path: Path, case: str) -> None:
    name, task, content, columns = UNTITLED[case]
    with pytest.raises(TextError, match="may be a header") as caught:
        records(tmp_path / name, content, task)
    assert "line 1" in str(caught.value)
    assert "by name if that row is a header" in str(caught.value)
    assert len(records(tmp_path / name, content, task, columns=columns)) == content.count("\n") - 1


def test_a_first_row_is_an_example_if_the_columns_are_numbered(tmp_path: Path) -> None:
    content = "rare\tpos\n" + "gut so\tneg\n" * 3
    assert len(records(tmp_path / "a.tsv", content, Task.CLASSIFY, columns=("0", "1"))) == 4


@pytest.mark.parametrize(
    "labels",
    ["good bad good bad", "rare one two three four", "good", "good bad", "1 2 2 3 1", "rare one two three two"],
)
def test_a_first_row_that_is_like_the_others_is_an_example(tmp_path: Path, labels: str) -> None:
    content = "".join(f"Text {number}\t{label}\n" for number, label in enumerate(labels.split()))
    found = records(tmp_path / "a.tsv", content, Task.CLASSIFY)
    assert [record.label for record in found] == labels.split()


CLASSES = {
    "header": ("a.tsv", "sentence\tlabel\nfine film\t1\ndull\t0\n"),
    "no header": ("a.tsv", "fine film\t1\ndull\t0\n"),
    "label first": ("a.tsv", "1\tfine film\n0\tdull\n"),
    "csv": ("a.csv", "label,review\n1,fine film\n0,dull\n"),
    "jsonl": ("a.jsonl", '{"text": "fine film", "label": 1}\n{"text": "dull", "label": 0}\n'),
}


@pytest.mark.parametrize("case", CLASSES)
def test_classes(tmp_path: Path, case: str) -> None:
    name, content = CLASSES[case]
    found = records(tmp_path / name, content, Task.CLASSIFY)
    assert [(record.source, record.label) for record in found] == [("fine film", "1"), ("dull", "0")]


SIMILAR = {
    "header": ("a.tsv", None, "score\tsentence1\tsentence2\n4.5\tA cat.\tThe cat.\n"),
    "no header": ("a.tsv", None, "A cat.\tThe cat.\t4.5\n"),
    "numbered": (
        "a.tsv",
        ("5", "6", "4"),
        "g\tf\t2012\t0001\t4.5\tA cat.\tThe cat.\nx\tx\tx\tx\t1\ta\tb\tmore\tmore\n",
    ),
    "named": ("a.csv", ("left", "right", "gold"), "gold,left,right\n4.5,A cat.,The cat.\n"),
    "numbered with a header": ("a.tsv", ("1", "2", "0"), "score\tsentence1\tsentence2\n4.5\tA cat.\tThe cat.\n"),
}


@pytest.mark.parametrize("case", SIMILAR)
def test_similarity(tmp_path: Path, case: str) -> None:
    name, columns, content = SIMILAR[case]
    found = records(tmp_path / name, content, Task.SIMILARITY, columns=columns)
    assert found[0] == Record(source="A cat.", target="The cat.", score=4.5)


def test_positives_need_no_score(tmp_path: Path) -> None:
    found = records(tmp_path / "a.tsv", "anchor\tpositive\nA cat.\tThe cat.\n", Task.SIMILARITY)
    assert found == [Record(source="A cat.", target="The cat.")]


def test_lines_alone_can_be_learned_from_a_teacher(tmp_path: Path) -> None:
    assert records(tmp_path / "a.txt", "A cat.\nA dog.\n", Task.SIMILARITY)[1] == Record(source="A dog.")


def test_lines(tmp_path: Path) -> None:
    found = records(tmp_path / "a.txt", "One story.\n\nAnother.\n", Task.LANGUAGE_MODEL)
    assert [record.source for record in found] == ["One story.", "", "Another."]
    assert not any(record.continued for record in found)


def test_a_document_comes_in_parts_that_are_all_of_it(tmp_path: Path) -> None:
    content = "".join(f"Line {number} of a long text.\n" for number in range(1000))
    found = records(tmp_path / "a.txt", content.replace("\n", "\r\n"), Task.LANGUAGE_MODEL, document=True)
    assert "".join(record.source for record in found) == content
    assert [record.continued for record in found] == [True] * (len(found) - 1) + [False]
    assert all(PART_CHARACTERS <= len(record.source) < PART_CHARACTERS + 100 for record in found[:-1])


@pytest.mark.parametrize("document", [False, True])
@pytest.mark.parametrize("letter", ["a", "ab "])
def test_an_endless_line_comes_in_parts(tmp_path: Path, document: bool, letter: str) -> None:
    content = letter * LONGEST_PART
    found = records(tmp_path / "a.txt", content, Task.LANGUAGE_MODEL, document=document)
    assert "".join(record.source for record in found) == content
    assert max(len(record.source) for record in found) <= LONGEST_PART
    assert [record.continued for record in found] == [True] * (len(found) - 1) + [False]


def test_aligned_files(tmp_path: Path) -> None:
    (tmp_path / "a.en").write_text("Hello.\nYes.\n")
    (tmp_path / "a.fr.gz").write_bytes(gzip.compress(b"Bonjour.\nOui.\n"))
    source = Source(paths=(tmp_path / "a.en", tmp_path / "a.fr.gz"), task=Task.TRANSLATE, tag="fr")
    assert list(read_records(source)) == [
        Record(source="Hello.", target="Bonjour.", tag="fr"),
        Record(source="Yes.", target="Oui.", tag="fr"),
    ]


def test_tags_by_source_and_by_column(tmp_path: Path) -> None:
    assert records(tmp_path / "a.tsv", "Yes.\tOui.\n", Task.TRANSLATE, tag="fr")[0].tag == "fr"
    found = records(tmp_path / "b.tsv", "source\ttarget\tlang\nYes.\tOui.\tfr\nYes.\tJa.\tde\n", Task.TRANSLATE)
    assert [record.tag for record in found] == ["fr", "de"]


def test_zipped_tables(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv.gz"
    path.write_bytes(gzip.compress("Hello.\tकैसे\n".encode()))
    assert pairs(list(read_records(Source(paths=(path,), task=Task.TRANSLATE)))) == [("Hello.", "कैसे")]


def test_records_are_read_one_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_bytes(b"Hello.\tBonjour.\n" * 200 + b"\xff\n")
    found = read_records(Source(paths=(path,), task=Task.TRANSLATE))
    assert len(list(islice(found, 150))) == 150
    with pytest.raises(TextError, match="not UTF-8"):
        list(found)


def test_a_fingerprint_knows_its_file(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("Hello.\tBonjour.\n")
    source = Source(paths=(path,), task=Task.TRANSLATE, weight=2.0)
    before = fingerprint(source)
    assert before["files"][0]["name"] == "a.tsv"
    assert before["files"][0]["size"] == path.stat().st_size
    assert json.loads(json.dumps(before)) == before
    path.write_text("Hello.\tBonsoir.\n")
    after = fingerprint(source)
    assert after["files"][0]["size"] == before["files"][0]["size"]
    assert after != before


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"paths": ()}, "too many or no files"),
        ({"weight": 0.0}, "weight"),
        ({"weight": float("nan")}, "weight"),
        ({"weight": 1e9}, "too large"),
        ({"document": True}, "cannot be one document"),
        ({"paths": (Path("a.txt"), Path("b.txt")), "task": Task.LANGUAGE_MODEL}, "two files where one"),
        ({"paths": (Path("a"), Path("b")), "columns": ("0", "1")}, "two files where one"),
    ],
)
def test_a_source_that_cannot_be(settings: dict[str, object], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        Source(**{"paths": (Path("a.tsv"),), "task": Task.TRANSLATE, **settings})


def test_a_tag_that_is_no_language() -> None:
    with pytest.raises(TextError, match="not a language"):
        Source(paths=(Path("a.tsv"),), task=Task.TRANSLATE, tag="<s>")


def test_real_files(shared: Path) -> None:
    folder = shared / "data"
    tatoeba = Source(paths=(folder / "tatoeba/en-hi.dev.tsv.gz",), task=Task.TRANSLATE)
    assert len(list(read_records(tatoeba))) == 165
    sst2 = list(read_records(Source(paths=(folder / "sst2/dev.tsv.gz",), task=Task.CLASSIFY)))
    assert {record.label for record in sst2} == {"0", "1"}
    stsb = Source(paths=(folder / "stsb/dev.tsv.gz",), task=Task.SIMILARITY, columns=("5", "6", "4"))
    scores = [record.score for record in read_records(stsb)]
    assert (len(scores), min(scores), max(scores)) == (1500, 0, 5)
