"""From files to stores: everything arrives, on one side only, and is accounted for."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest

from clearhead.config import from_dict, to_dict
from clearhead.data import (
    Batches,
    CleaningRules,
    Prepared,
    Recipe,
    Source,
    Split,
    Task,
    TokenStore,
    Windows,
    cleaned_records,
    make_tokenizer,
    open_prepared,
    prepare,
)
from clearhead.data.hashes import normal_form
from clearhead.errors import ConfigError, TextError
from clearhead.text import Tokenizer

TRANSLATE = Recipe(task=Task.TRANSLATE, split=Split(least=10))


def write(path: Path, lines: Iterable[str]) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def run(
    sources: Sequence[Source], folder: Path, recipe: Recipe, *, vocab_size: int = 400, **settings: object
) -> tuple[Prepared, Tokenizer]:
    tokenizer = make_tokenizer(cleaned_records(sources, recipe), task=recipe.task, vocab_size=vocab_size)
    return prepare(sources, folder=folder, tokenizer=tokenizer, recipe=recipe, **settings), tokenizer


def texts(store: TokenStore, field: str, tokenizer: Tokenizer) -> list[str]:
    return [tokenizer.decode(store.ids(field, row)) for row in range(len(store))]


def translations(path: Path, n: int = 300) -> Source:
    return Source(
        paths=(write(path, (f"Sentence {number % (n // 3)}.\tPhrase {number}." for number in range(n))),),
        task=Task.TRANSLATE,
    )


def test_every_pair_arrives_and_no_source_is_on_both_sides(tmp_path: Path) -> None:
    prepared, tokenizer = run([translations(tmp_path / "a.tsv")], tmp_path / "data", TRANSLATE)
    sides = [prepared.train, prepared.validation]
    sources = [{normal_form(text) for text in texts(side, "source", tokenizer)} for side in sides]
    assert sources[0] & sources[1] == set()
    assert sorted(texts(sides[0], "target", tokenizer) + texts(sides[1], "target", tokenizer)) == sorted(
        f"Phrase {number}." for number in range(300)
    )
    assert len(sources[1]) == 5
    assert prepared.report.kept == 300


def test_it_can_be_opened_again(tmp_path: Path) -> None:
    prepared, _ = run([translations(tmp_path / "a.tsv")], tmp_path / "data", TRANSLATE)
    again = open_prepared(tmp_path / "data")
    assert again.report.to_dict() == prepared.report.to_dict()
    assert again.validation_report.to_dict() == prepared.validation_report.to_dict()
    assert (again.task, again.weights) == (prepared.task, prepared.weights)
    assert again.fingerprints == prepared.fingerprints
    assert len(again.train) == len(prepared.train)


def test_the_same_files_give_the_same_stores(tmp_path: Path) -> None:
    source = translations(tmp_path / "a.tsv")
    for name in ("one", "other"):
        run([source], tmp_path / name, TRANSLATE)
    for path in (tmp_path / "one").rglob("*.*"):
        assert path.read_bytes() == (tmp_path / "other" / path.relative_to(tmp_path / "one")).read_bytes()


def test_validation_files_are_kept_out_of_training(tmp_path: Path) -> None:
    held = Source(paths=(write(tmp_path / "b.tsv", ["sentence 5\tAutre.", "New.\tNeuf."]),), task=Task.TRANSLATE)
    prepared, tokenizer = run([translations(tmp_path / "a.tsv")], tmp_path / "data", TRANSLATE, validation=[held])
    assert texts(prepared.validation, "source", tokenizer) == ["sentence 5", "New."]
    assert "Sentence 5." not in texts(prepared.train, "source", tokenizer)
    assert len(prepared.train) == 297
    assert prepared.report.dropped["also in the validation files"] == 3


def test_what_cleaning_did_to_the_validation_files_is_told_apart(tmp_path: Path) -> None:
    lines = ["New.\tNeuf.", "New.\tNeuf.", "Old.\t", "Sentence 5.\tPhrase."]
    held = Source(paths=(write(tmp_path / "b.tsv", lines),), task=Task.TRANSLATE)
    prepared, _ = run([translations(tmp_path / "a.tsv")], tmp_path / "data", TRANSLATE, validation=[held])
    assert prepared.validation_report.counts == "2 kept of 4, 1 duplicate, 1 empty"
    assert prepared.report.counts == "297 kept of 300, 3 also in the validation files"
    assert open_prepared(tmp_path / "data").validation_report.to_dict() == prepared.validation_report.to_dict()
    without, _ = run([translations(tmp_path / "a.tsv")], tmp_path / "other", TRANSLATE)
    assert without.validation_report.read == 0


def test_fifty_sources_with_a_hundred_targets_can_be_learned_from(tmp_path: Path) -> None:
    lines = (f"Sentence {number % 50}.\tPhrase {number}." for number in range(5000))
    source = Source(paths=(write(tmp_path / "a.tsv", lines),), task=Task.TRANSLATE)
    prepared, _ = run([source], tmp_path / "data", Recipe(task=Task.TRANSLATE))
    assert len(prepared.train) + len(prepared.validation) == 5000
    assert 100 <= len(prepared.validation) <= 300


def similar(path: Path, pairs: Iterable[tuple[str, str]]) -> Source:
    lines = (f"{one}\t{other}\t{number % 5}" for number, (one, other) in enumerate(pairs))
    return Source(paths=(write(path, lines),), task=Task.SIMILARITY)


def test_a_similar_pair_does_not_leak_turned_round(tmp_path: Path) -> None:
    pairs = [(f"A cat {number}", f"A dog {number}") for number in range(200)]
    source = similar(tmp_path / "a.tsv", [*pairs, *((other, one) for one, other in pairs)])
    recipe = Recipe(task=Task.SIMILARITY, split=Split(share=0.2))
    prepared, tokenizer = run([source], tmp_path / "data", recipe)
    sides = [
        [{*pair} for pair in zip(*(texts(side, field, tokenizer) for field in ("source", "target")), strict=True)]
        for side in (prepared.train, prepared.validation)
    ]
    assert len(sides[0]) + len(sides[1]) == 400
    assert len(sides[1]) > 20
    assert [pair for pair in sides[1] if pair in sides[0]] == []


def test_no_text_of_a_similar_pair_is_on_both_sides(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    pairs = [(f"Text {one}", f"Text {other}") for one, other in rng.integers(0, 300, (500, 2)) if one != other]
    recipe = Recipe(task=Task.SIMILARITY, split=Split(share=0.03))
    prepared, tokenizer = run([similar(tmp_path / "a.tsv", pairs)], tmp_path / "data", recipe)
    train, measured = (
        {text for field in ("source", "target") for text in texts(side, field, tokenizer)}
        for side in (prepared.train, prepared.validation)
    )
    assert len(measured) > 10
    assert train.isdisjoint(measured)
    assert prepared.report.dropped["shares a text with what is measured by"] > 10


def test_either_text_of_a_similar_pair_may_be_in_the_validation_files(tmp_path: Path) -> None:
    source = similar(tmp_path / "a.tsv", [(f"A cat {number}", f"A dog {number}") for number in range(40)])
    held = similar(tmp_path / "b.tsv", [("A DOG 3", "new"), ("newer", "a cat 4!"), ("A dog 5", "A cat 5")])
    prepared, _ = run([source], tmp_path / "data", Recipe(task=Task.SIMILARITY), validation=[held])
    assert prepared.report.dropped == {"also in the validation files": 3}


@pytest.mark.parametrize("task", [task for task in Task if not task.reads_running_text])
def test_only_running_text_has_a_last_part(task: Task) -> None:
    with pytest.raises(ConfigError, match="the last part of all text"):
        Recipe(task=task, split=Split(tail=True))


def test_pairs_with_too_many_tokens_are_counted(tmp_path: Path) -> None:
    lines = [*(f"Line {number}.\tZeile {number}." for number in range(50)), "a b c d e f g h i j\tk l m n o p q r s t"]
    source = Source(paths=(write(tmp_path / "a.tsv", lines),), task=Task.TRANSLATE)
    prepared, _ = run([source], tmp_path / "data", Recipe(task=Task.TRANSLATE, max_length=10))
    assert dict(prepared.report.dropped) == {"too many tokens": 1}
    assert prepared.report.kept == len(prepared.train) + len(prepared.validation) == 50


def test_several_languages_with_weights(tmp_path: Path) -> None:
    sources = [
        Source(
            paths=(write(tmp_path / f"{tag}.tsv", (f"Line {number}.\t{word} {number}." for number in range(100))),),
            task=Task.TRANSLATE,
            tag=tag,
            weight=weight,
        )
        for tag, word, weight in (("fr", "Ligne", 1.0), ("de", "Zeile", 3.0))
    ]
    prepared, tokenizer = run(sources, tmp_path / "data", TRANSLATE)
    assert prepared.tags == ("de", "fr")
    for row in range(len(prepared.train)):
        tag = tokenizer.piece_of(int(prepared.train.ids("source", row)[0]))
        assert tag == (">>fr<<", ">>de<<")[int(prepared.train.values("origin")[row])]
    drawn = np.concatenate(
        list(Batches(store=prepared.train, max_tokens=200, seed=0, weights=prepared.weights).one_epoch())
    )
    assert len(drawn) == 2 * len(prepared.train)
    # The same sentence in both languages is on the same side.
    held = [
        text.removeprefix(">>fr<<").removeprefix(">>de<<") for text in texts(prepared.validation, "source", tokenizer)
    ]
    assert sorted(held[: len(held) // 2]) == sorted(held[len(held) // 2 :])


def test_classes_are_numbered_in_order(tmp_path: Path) -> None:
    lines = [f"Text number {number}\t{('10', '9')[number % 2]}" for number in range(40)]
    source = Source(paths=(write(tmp_path / "a.tsv", lines),), task=Task.CLASSIFY)
    prepared, tokenizer = run([source], tmp_path / "data", Recipe(task=Task.CLASSIFY))
    assert prepared.labels == ("9", "10")
    for row, text in enumerate(texts(prepared.train, "text", tokenizer)):
        assert prepared.train.values("label")[row] == 1 - int(text.split()[-1]) % 2


def test_scores_and_a_teacher(tmp_path: Path) -> None:
    lines = [f"A cat {number}\tA dog {number}\t{number / 10}" for number in range(40)]
    source = Source(paths=(write(tmp_path / "a.tsv", lines),), task=Task.SIMILARITY)

    def teacher(sentences: Sequence[str]) -> np.ndarray:
        return np.array([[len(text), text.count("c"), 0.5] for text in sentences], np.float32)

    prepared, tokenizer = run([source], tmp_path / "data", Recipe(task=Task.SIMILARITY), teacher=teacher)
    sentences = texts(prepared.train, "source", tokenizer)
    assert (prepared.train.values("teacher") == teacher(sentences)).all()
    assert prepared.train.values("score").tolist() == pytest.approx([int(text.split()[-1]) / 10 for text in sentences])


def test_a_document_is_whole_but_for_what_is_held_out(tmp_path: Path) -> None:
    content = "\n".join(f"Line {number} of a long text that goes on and on." for number in range(3000))
    source = Source(paths=(write(tmp_path / "a.txt", [content]),), task=Task.LANGUAGE_MODEL, document=True)
    recipe = Recipe(task=Task.LANGUAGE_MODEL, split=Split(share=0.1))
    prepared, tokenizer = run([source], tmp_path / "data", recipe)
    end = tokenizer.special.end
    whole = [
        tokenizer.decode(side.stream("text"), skip_special=False) for side in (prepared.train, prepared.validation)
    ]
    pieces = [piece for text in whole for piece in text.split("</s>") if piece]
    assert sorted("".join(pieces).splitlines()) == sorted(content.splitlines())
    assert all(piece in content + "\n" for piece in pieces)
    assert len(pieces) < len(prepared.train)
    assert prepared.train.stream("text")[-1] == end
    windows = Windows(store=prepared.train, length=16, n_rows=2, seed=0)
    assert next(iter(windows))[1].shape == (2, 17)


def wholes(prepared: Prepared, tokenizer: Tokenizer) -> list[str]:
    """The texts of both stores, as their ends divide them."""
    sides = (prepared.train, prepared.validation)
    streams = [tokenizer.decode(side.stream("text"), skip_special=False) for side in sides]
    return [text for stream in streams for text in stream.removesuffix("</s>").split("</s>")]


def parts(word: str, n: int = 3) -> list[str]:
    """Lines that are a part of a document each."""
    return [" ".join([f"{word}{number}"] * 1000) for number in range(n)]


def documents(folder: Path, *contents: list[str]) -> list[Source]:
    paths = [write(folder / f"{number}.txt", lines) for number, lines in enumerate(contents)]
    return [Source(paths=(path,), task=Task.LANGUAGE_MODEL, document=True) for path in paths]


def test_documents_are_told_apart_whatever_ends_them(tmp_path: Path) -> None:
    blank = [" " * 3000]
    sources = documents(tmp_path, [*parts("a"), *blank], [*parts("b"), *blank], parts("c"))
    recipe = Recipe(task=Task.LANGUAGE_MODEL, split=Split(share=0.001))
    found = wholes(*run(sources, tmp_path / "data", recipe))
    assert sorted({text.strip()[0] for text in found if text.strip()}) == ["a", "b", "c"]
    assert not any(len({*text} & {*"abc"}) > 1 for text in found)


def test_a_part_that_comes_twice_stays_in_its_text(tmp_path: Path) -> None:
    one, two, three, four = parts("a", 4)
    sources = documents(tmp_path, [one, two, three, two, four, two])
    held = Source(paths=(write(tmp_path / "v.txt", ["something else altogether"]),), task=Task.LANGUAGE_MODEL)
    found = run(sources, tmp_path / "data", Recipe(task=Task.LANGUAGE_MODEL), validation=[held])
    assert wholes(*found)[0].split("\n") == [one, two, three, two, four, two, ""]


def test_a_text_ends_where_a_part_of_it_is_in_the_validation_files(tmp_path: Path) -> None:
    one, two, three = parts("a")
    sources = documents(tmp_path, [one, two, three])
    held = Source(paths=(write(tmp_path / "v.txt", [two]),), task=Task.LANGUAGE_MODEL)
    prepared, tokenizer = run(sources, tmp_path / "data", Recipe(task=Task.LANGUAGE_MODEL), validation=[held])
    assert wholes(prepared, tokenizer)[:2] == [one + "\n", three + "\n"]
    assert prepared.report.dropped == {"also in the validation files": 1}


def test_the_last_part_of_a_text_can_be_held_out(tmp_path: Path) -> None:
    content = "\n".join(f"Line {number} of a long text that goes on and on." for number in range(3000))
    source = Source(paths=(write(tmp_path / "a.txt", [content]),), task=Task.LANGUAGE_MODEL, document=True)
    recipe = Recipe(task=Task.LANGUAGE_MODEL, split=Split(share=0.1, tail=True))
    prepared, tokenizer = run([source], tmp_path / "data", recipe)
    train, held = (tokenizer.decode(side.stream("text")) for side in (prepared.train, prepared.validation))
    assert (train + held).split() == content.split()
    assert len(held) / len(content) == pytest.approx(0.1, abs=0.02)


def test_progress_is_told(tmp_path: Path) -> None:
    told: list[int] = []
    run([translations(tmp_path / "a.tsv", 1500)], tmp_path / "data", TRANSLATE, progress=told.append)
    assert told == [1000, 1500]


def test_a_run_that_fails_leaves_no_account(tmp_path: Path) -> None:
    source = translations(tmp_path / "a.tsv")
    _, tokenizer = run([source], tmp_path / "data", TRANSLATE)

    def stop(_: int) -> None:
        raise KeyError

    with pytest.raises(KeyError):
        prepare([source], folder=tmp_path / "data", tokenizer=tokenizer, recipe=TRANSLATE, progress=stop)
    with pytest.raises(TextError, match="without prepared data"):
        open_prepared(tmp_path / "data")
    assert sorted(path.name for path in (tmp_path / "data").iterdir()) == ["train", "validation"]


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"task": "dance"}'])
def test_an_account_that_cannot_be_read(tmp_path: Path, content: str) -> None:
    run([translations(tmp_path / "a.tsv")], tmp_path / "data", TRANSLATE)
    (tmp_path / "data/prepared.json").write_text(content)
    with pytest.raises(TextError, match="cannot be read"):
        open_prepared(tmp_path / "data")


def test_a_recipe_is_data() -> None:
    recipe = Recipe(task=Task.TRANSLATE, rules=CleaningRules(max_characters=50), split=Split(share=0.02, seed=3))
    assert from_dict(Recipe, json.loads(json.dumps(to_dict(recipe)))) == recipe
    with pytest.raises(ConfigError, match="max_length"):
        Recipe(task=Task.TRANSLATE, max_length=0)


def test_sources_must_be_for_the_task(tmp_path: Path) -> None:
    source = translations(tmp_path / "a.tsv")
    _, tokenizer = run([source], tmp_path / "data", TRANSLATE)
    for sources, problem in (([], "no data"), ([source], "another task")):
        with pytest.raises(ConfigError, match=problem):
            prepare(sources, folder=tmp_path / "x", tokenizer=tokenizer, recipe=Recipe(task=Task.CLASSIFY))


def test_multi30k_needs_little_padding(shared: Path, tmp_path: Path) -> None:
    files = [tuple(shared / f"data/multi30k/val.{code}.gz" for code in ("en", "fr"))]
    sources = [Source(paths=paths, task=Task.TRANSLATE) for paths in files]
    prepared, _ = run(sources, tmp_path / "data", TRANSLATE, vocab_size=2000)
    assert len(prepared.train) + len(prepared.validation) == 1014
    batches = Batches(store=prepared.train, max_tokens=1024, seed=0)
    assert batches.padding_share() < 0.1
    assert json.loads((tmp_path / "data/prepared.json").read_text())["report"]["kept"] == 1014
