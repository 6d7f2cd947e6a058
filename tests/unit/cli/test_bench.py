import json

from typer.testing import CliRunner

from clearhead.cli import app


def run(*words: str) -> dict[str, object]:
    found = CliRunner().invoke(app, ["bench", *words, "--rounds", "1", "--batch", "2", "--tokens", "3", "--json"])
    assert found.exit_code == 0, found.output
    return json.loads(found.stdout)


def test_a_writer_and_a_reader_are_measured() -> None:
    writer = run("translator", "--weights", "int8")
    assert writer["weights"] == "int8"
    assert set(writer["batches"]["2"]) == {"tokens read", "tokens written"}
    reader = run("reader")
    assert reader["batches"]["2"]["texts"] > 0
