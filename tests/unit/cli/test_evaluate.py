"""`clearhead evaluate`: a model and a file in, numbers out, and clear words where that cannot be."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from clearhead.cli import main
from clearhead.config import TokenIds
from clearhead.model import Model
from clearhead.models import build
from clearhead.testing import ByteTokenizer
from clearhead.testing.tiny import tiny_config

TOKENS = {
    "gpt2": TokenIds(pad=0, start=1, end=(2,)),
    "marian": TokenIds(pad=0, end=(2,), decoder_start=0),
}


def folder(path: Path, architecture: str) -> Path:
    tokenizer = ByteTokenizer()
    config = replace(tiny_config(architecture, vocab_size=tokenizer.vocab_size), tokens=TOKENS[architecture])
    network = build(config, seed=1)
    return Model.of(network, tokenizer=tokenizer).save_pretrained(path)


@pytest.fixture(scope="module")
def writer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder(tmp_path_factory.mktemp("models") / "writer", "gpt2")


@pytest.fixture(scope="module")
def translator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder(tmp_path_factory.mktemp("models") / "opus-mt-en-de", "marian")


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "test.txt"
    path.write_text("A dog runs.\nTwo cats sleep in the sun.\n\nNo.\n", encoding="utf-8")
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as caught:
        main(["evaluate", *map(str, arguments)])
    return int(caught.value.code or 0), *capsys.readouterr()


def test_a_table_in_a_pipe_has_no_colour_and_no_bar(
    writer: Path, text: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, writer, text, "--worst", 1)
    assert (code, err) == (0, "")
    assert "\x1b" not in out
    lines = out.splitlines()
    assert lines[0] == f"{writer} on test.txt: language-model"
    assert lines[1].startswith("3 examples, 1 blank ones left out, ")
    assert any(re.fullmatch(r"perplexity +[\d.]+  a token, of 40", line) for line in lines)
    assert lines[-2] == "worst, by perplexity of the text, the highest first"


def test_json_and_a_file_hold_the_same(
    writer: Path, text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "new" / "results.json"
    code, printed, err = run(capsys, writer, text, "--json", "--out", out)
    assert (code, err) == (0, f"wrote {out}\n")
    found = json.loads(printed)
    assert json.loads(out.read_text(encoding="utf-8")) == found
    assert found["findings"]["measures"]["likelihood"]["n_tokens"] == 40
    assert list(out.parent.iterdir()) == [out]


def test_a_limit_reads_only_so_many(writer: Path, text: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, printed, _ = run(capsys, writer, text, "--json", "--limit", 1)
    found = json.loads(printed)
    assert (found["n"], found["findings"]["measures"]["likelihood"]["n_tokens"]) == (1, 11)


@pytest.mark.parametrize("given", ["columns", "aligned", "two", "suffix"])
def test_pairs_are_read_as_training_reads_them(
    given: str, translator: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.tsv").write_text("7\trot\tx\tred\n", encoding="utf-8")
    (tmp_path / "t.en").write_text("red\n", encoding="utf-8")
    (tmp_path / "t.de").write_text("rot\n", encoding="utf-8")
    files = {
        "columns": [tmp_path / "t.tsv", "--columns", "3,1"],
        "aligned": [f"{tmp_path / 't.en'}+{tmp_path / 't.de'}"],
        "two": [tmp_path / "t.en", tmp_path / "t.de"],
        "suffix": [f"{tmp_path / 't.tsv'}@columns=3;1"],
    }[given]
    code, printed, err = run(capsys, translator, *files, "--beams", 1, "--to", "German", "--json")
    assert (code, err) == (0, "")
    worst = json.loads(printed)["findings"]["worst"][0]
    assert (worst["texts"], worst["expected"]) == (["red"], "rot")


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("", [], "without any examples"),
        ("a\tb\n", ["--to", "fr"], "does not know"),
        ("a\tb\n", ["--columns", "english,german"], "a column that is not there"),
        ("only one column\n", [], "columns that do not fit the task translate"),
        ("a\tb\n", ["--task", "classify"], "be measured by the task classify"),
    ],
)
def test_what_cannot_be_measured_is_said(
    content: str,
    options: list[str],
    message: str,
    translator: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "test.tsv").write_text(content, encoding="utf-8")
    code, out, err = run(capsys, translator, tmp_path / "test.tsv", *options)
    assert (code, out) == (1, "")
    assert message in err
    assert "Traceback" not in err


def test_an_unknown_task_is_wrong_usage(writer: Path, text: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, writer, text, "--task", "translating")
    assert code == 2
    assert "masked-language-model" in err


def test_a_result_is_printed_even_if_its_file_cannot_be_written(
    writer: Path, text: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, writer, text, "--out", text / "results.json")
    assert code == 1
    assert "perplexity" in out
    assert "cannot be written" in err
