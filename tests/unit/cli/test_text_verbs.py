"""Every verb that processes text: what it prints, and what it says in JSON."""

from pathlib import Path

import pytest

from .tiny_folders import CONTEXT, LABELS, Run

PASSAGE = "the cat is in paris. the mat is in france."


def test_summarize(run: Run, folders: Path) -> None:
    given = ("summarize", "-m", folders / "t5", "--max-new-tokens", 4, "the cat sat", "", "the mat")
    plain, ran = run(*given), run(*given, "--json")
    assert (plain.code, len(plain.lines)) == (0, 3)
    assert plain.lines[1] == ""
    assert [record["summary"] for record in ran.records] == plain.lines
    assert ran.records[0]["score"] < 0
    assert len(ran.records[0]["tokens"]) == 4


def test_a_long_text_is_summarised_by_pieces(run: Run, folders: Path) -> None:
    ran = run("summarize", "-m", folders / "marian", "--max-new-tokens", 4, "the cat sat. " * 20, "--beams", 1)
    assert (ran.code, len(ran.lines)) == (0, 1)


def test_summarize_has_one_result(run: Run, folders: Path) -> None:
    assert run("summarize", "-m", folders / "t5", "x", "--nbest", 2).code == 2


def test_an_encoder_picks_sentences_and_says_so(run: Run, folders: Path) -> None:
    sentences = ["The cat is in Paris.", "The mat is in France."]
    given = ("summarize", "-m", folders / "bert", " ".join(sentences), "--sentences", 1)
    plain, ran = run(*given), run(*given, "--json")
    assert plain.code == 0
    assert plain.lines[0] in sentences
    assert "picks sentences of the text; it writes none" in plain.err
    assert (ran.records[0]["summary"], ran.records[0]["picked"]) == (plain.lines[0], True)
    assert run(*given, "--beams", 2).code == 2
    assert run("summarize", "-m", folders / "t5", PASSAGE, "--sentences", 1).code == 2


def test_an_encoder_answers_with_a_sentence(run: Run, folders: Path) -> None:
    ran = run("answer", "-m", folders / "bert", "where is the cat", "--passage", PASSAGE, "--json")
    (found,) = ran.records[0]["answers"]
    assert PASSAGE[found["start"] : found["end"]] == found["text"]
    assert run("answer", "-m", folders / "bert", "who", "--passage", PASSAGE, "--beams", 2).code == 2


def test_answers_stand_in_the_passage(run: Run, folders: Path, tmp_path: Path) -> None:
    given = ("answer", "-m", folders / "bert-answers", "who", "where")
    plain = run(*given, "--passage", PASSAGE)
    assert plain.code == 0
    assert [line in PASSAGE for line in plain.lines] == [True, True]
    (tmp_path / "passage.txt").write_text(PASSAGE)
    assert run(*given, "--in", tmp_path / "passage.txt") == plain
    ran = run(*given, "--passage", PASSAGE, "--json", "--nbest", 2)
    assert [record["question"] for record in ran.records] == ["who", "where"]
    for record in ran.records:
        assert len(record["answers"]) == 2
        for found in record["answers"]:
            assert PASSAGE[found["start"] : found["end"]] == found["text"]
            assert 0 < found["score"] < 1


@pytest.mark.parametrize("model", ["gpt2", "t5"])
def test_answers_in_a_models_own_words(run: Run, folders: Path, model: str) -> None:
    ran = run("answer", "-m", folders / model, "who", "--max-new-tokens", 4, "--json")
    (found,) = ran.records[0]["answers"]
    assert found["score"] < 0
    assert found["tokens"]


def test_options_of_decoding_are_refused_where_nothing_is_written(run: Run, folders: Path) -> None:
    ran = run("answer", "-m", folders / "bert-answers", "who", "--passage", PASSAGE, "--beams", 2)
    assert ran.code == 2
    assert "finds its answers in the passage" in ran.err


def test_classify(run: Run, folders: Path) -> None:
    given = ("classify", "-m", folders / "bert-labels", "the cat", "", "the mat")
    plain, ran = run(*given), run(*given, "--json")
    assert plain.code == 0
    for line, record in zip(plain.lines, ran.records, strict=True):
        assert {one["label"] for one in record["labels"]} == set(LABELS)
        assert sum(one["score"] for one in record["labels"]) == pytest.approx(1)
        assert line.endswith(f"\t{record['labels'][0]['score']:.4f}")


def test_a_label_cannot_command_the_terminal(run: Run, folders: Path) -> None:
    plain = run("classify", "-m", folders / "bert-labels", "")
    assert "\x1b" not in plain.out
    assert plain.out.startswith("b␛[31mad\t")


def test_labels_of_ones_own(run: Run, folders: Path) -> None:
    ran = run("classify", "-m", folders / "bert", "the cat", "--label", "cat", "--label", "mat", "--json")
    assert {one["label"] for one in ran.records[0]["labels"]} == {"cat", "mat"}
    refused = run("classify", "-m", folders / "bert", "the cat")
    assert refused.code == 1
    assert "--label sport --label politics" in refused.err


def test_fill(run: Run, folders: Path) -> None:
    given = ("fill", "-m", folders / "bert-masks", "the [MASK] sat", "___ is <mask>", "--top", 2)
    plain, ran = run(*given), run(*given, "--json")
    assert (plain.code, len(plain.lines)) == (0, 3)
    assert [len(record["masks"]) for record in ran.records] == [1, 2]
    first, second = ran.records[0]["masks"][0]
    assert first["score"] >= second["score"] > 0
    assert first["text"] == f"the {first['token']} sat"
    assert plain.lines[0] == f"{first['token']} {first['score']:.3f}  {second['token']} {second['score']:.3f}"


@pytest.mark.parametrize(
    ("verb", "model", "line", "more"),
    [
        ("fill", "bert-masks", "the [MASK] sat", ()),
        ("answer", "bert-answers", "who", ("--passage", PASSAGE)),
        ("classify", "bert-labels", "the cat", ()),
        ("embed", "bert", "the cat", ()),
        ("complete", "gpt2", "the cat", ("--seed", "1", "--max-new-tokens", "3")),
    ],
)
def test_blank_lines_keep_their_place(
    run: Run, folders: Path, verb: str, model: str, line: str, more: tuple[str, ...]
) -> None:
    ran = run(verb, "-m", folders / model, *more, "--json", stdin=f"{line}\n\n{line}\n".encode())
    assert ran.code == 0
    assert [record.get("text", record.get("question")) for record in ran.records] == [line, "", line]
    plain = run(verb, "-m", folders / model, *more, stdin=f"{line}\n\n{line}\n".encode())
    assert len(plain.lines) == 3
    assert plain.lines[0] != plain.lines[1]
    assert plain.lines[0]


@pytest.mark.parametrize("verb", ["classify", "embed", "fill"])
def test_a_long_text_is_refused_or_cut(run: Run, folders: Path, verb: str) -> None:
    model = {"classify": "bert-labels", "embed": "bert", "fill": "bert-masks"}[verb]
    given = (verb, "-m", folders / model, "the cat", "___ " + "the cat " * CONTEXT)
    if verb == "fill":
        given = (verb, "-m", folders / model, "___", "___ " + "the cat " * CONTEXT)
    refused = run(*given)
    assert refused.code == 1
    assert "text 2: a text is longer than the model's context" in refused.err
    assert "--truncate" in refused.err
    assert len(refused.lines) == 1
    cut = run(*given, "--truncate")
    assert (cut.code, len(cut.lines)) == (0, 2)


def test_a_shared_model_goes_on_with_a_story(run: Run, shared: Path) -> None:
    ran = run("complete", "-m", shared / "models/stories15M", "Once upon a time", "--temperature", 0,
              "--max-new-tokens", 8)  # fmt: skip
    assert ran.out.startswith("Once upon a time, there was a little girl")


def test_a_shared_model_knows_what_a_text_is_about(run: Run, shared: Path) -> None:
    ran = run("classify", "-m", shared / "models/all-MiniLM-L6-v2", "She scored a goal in the last minute.",
              "--label", "sport", "--label", "cooking")  # fmt: skip
    assert ran.out.startswith("sport\t")
