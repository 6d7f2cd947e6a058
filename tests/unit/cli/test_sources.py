"""Files as arguments name them: their settings, and names that look like settings."""

from importlib import import_module
from pathlib import Path

import pytest

from clearhead.cli.sources import sources
from clearhead.data import Source, Task
from clearhead.errors import ConfigError, TextError

T, S, LM = Task.TRANSLATE, Task.SIMILARITY, Task.LANGUAGE_MODEL


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def one(text: str, task: Task = T) -> Source:
    (found,) = sources([text], task)
    return found


def make(*names: str) -> None:
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("Hello.\tBonjour.\n")


@pytest.mark.parametrize("verb", ["train", "evaluate"])
def test_help_names_the_settings(verb: str) -> None:
    epilog = import_module(f"clearhead.cli.{verb}")._EPILOG
    assert all(setting in epilog for setting in ("@to=fr", "sts.tsv@columns=5:6:4", "book.txt@document"))


def test_a_plain_name() -> None:
    assert one("pairs.tsv") == Source(paths=(Path("pairs.tsv"),), task=T)


def test_the_language() -> None:
    assert one("pairs.tsv@to=pt-br") == Source(paths=(Path("pairs.tsv"),), task=T, tag="pt-br")
    with pytest.raises(TextError, match="not a language"):
        one("pairs.tsv@to=")


@pytest.mark.parametrize(("value", "weight"), [("2", 2.0), ("0.5", 0.5), ("1e2", 100.0)])
def test_the_weight(value: str, weight: float) -> None:
    assert one(f"pairs.tsv@weight={value}").weight == weight


@pytest.mark.parametrize("value", ["", "two", "1,5", "0", "-1", "nan", "inf", "1e9"])
def test_a_weight_that_is_none(value: str) -> None:
    with pytest.raises(ConfigError):
        one(f"pairs.tsv@weight={value}")


@pytest.mark.parametrize("value", ["5:6:4", "5;6;4"])
def test_the_columns(value: str) -> None:
    assert one(f"sts.tsv@columns={value}", S).columns == ("5", "6", "4")


def test_a_column_may_have_a_colon_in_its_name() -> None:
    assert one("pairs.tsv@columns=text:en;text:fr").columns == ("text:en", "text:fr")
    assert one("pairs.tsv@columns=text", LM).columns == ("text",)


@pytest.mark.parametrize(("setting", "document"), [("document", True), ("document=yes", True), ("document=no", False)])
def test_a_document(setting: str, document: bool) -> None:
    assert one(f"book.txt@{setting}", LM).document is document


def test_a_document_that_is_neither_yes_nor_no() -> None:
    with pytest.raises(ConfigError, match="neither yes nor no"):
        one("book.txt@document=perhaps", LM)


def test_several_settings() -> None:
    found = one("pairs.tsv@to=fr,weight=2,columns=en:fr")
    assert (found.tag, found.weight, found.columns) == ("fr", 2.0, ("en", "fr"))


@pytest.mark.parametrize("setting", ["colour=red", "to=fr,colour=red", "colour"])
def test_an_unknown_setting(setting: str) -> None:
    with pytest.raises(ConfigError, match="unknown setting") as caught:
        one(f"pairs.tsv@{setting}")
    assert "@document=" in str(caught.value)


def test_aligned_files() -> None:
    both = (Path("train.en"), Path("train.de"))
    assert one("train.en+train.de@to=de,weight=3") == Source(paths=both, task=T, tag="de", weight=3.0)
    assert sources(["train.en", "train.de"], T) == [Source(paths=both, task=T)]
    assert len(sources(["one.tsv", "two.tsv"], T)) == 2
    assert len(sources(["one.txt", "two.txt"], LM)) == 2


@pytest.mark.parametrize("name", ["c++.tsv", "me@work/pairs.tsv", "me@weight=2/pairs.tsv", "pairs@to=fr", "a+b@c.tsv"])
def test_a_name_that_exists_is_taken_as_it_is(name: str) -> None:
    make(name)
    assert one(name) == Source(paths=(Path(name),), task=T)
    assert one(f"{name}@weight=2") == Source(paths=(Path(name),), task=T, weight=2.0)


def test_two_names_with_signs_are_two_sides() -> None:
    make("c++.en", "me@work/c++.de")
    assert sources(["c++.en", "me@work/c++.de"], T)[0].paths == (Path("c++.en"), Path("me@work/c++.de"))


def test_a_folder_with_a_sign_that_does_not_exist_is_a_name() -> None:
    assert one("me@work/pairs.tsv").paths == (Path("me@work/pairs.tsv"),)
    assert one("me@work/pairs.tsv@weight=2").paths == (Path("me@work/pairs.tsv"),)


def test_a_name_that_is_too_long_for_any_file() -> None:
    assert one("a" * 5000 + ".tsv@weight=2").weight == 2.0
