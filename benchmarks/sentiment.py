"""A sentiment classifier beside TF-IDF and logistic regression, on phrases that share nothing.

    python benchmarks/sentiment.py [--split FOLDER] [--model FOLDER]

SST-2 is made of sentences and of phrases cut from them, divided at random: most phrases to measure by stand in, or
hold, a phrase to learn from. Here whole sentences are drawn to measure by, and every phrase that is part of one of
them, or that one of them is part of, is left out of what is learned from. `--split` writes both sides and ends:

    clearhead train FOLDER/train.tsv --validation FOLDER/dev.tsv --task classify ...
"""

import argparse
import os
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from clearhead.data import Source, Task, read_records
from clearhead.tasks import Loaded, classify
from clearhead.text.files import replacing

SHARED = Path(os.environ.get("CLEARHEAD_SHARED", Path(__file__).parents[1] / "../shared")).resolve()
LABELS = {"0": "negative", "1": "positive"}
SHARE = 0.1
SEED = 0
LEAST_WORDS = 3
"""Shorter phrases, such as "good", are words of the language rather than parts of a sentence."""

Example = tuple[str, str]


def phrases() -> list[Example]:
    """Every phrase once, with its label."""
    found: dict[str, str] = {}
    for name in ("train", "dev"):
        path = SHARED / f"data/sst2/{name}.tsv.gz"
        if not path.is_file():
            sys.exit(f"no corpus at {path}: set CLEARHEAD_SHARED")
        for record in read_records(Source(paths=(path,), task=Task.CLASSIFY)):
            found.setdefault(" ".join(record.source.split()), LABELS[str(record.label)])
    return list(found.items())


def parts(words: Sequence[str]) -> Iterator[str]:
    """Every run of words inside a phrase that is long enough, itself too."""
    for start in range(len(words)):
        for end in range(start + LEAST_WORDS, len(words) + 1):
            yield " ".join(words[start:end])


def divided(examples: Sequence[Example]) -> tuple[list[Example], list[Example]]:
    """What to learn from, and whole sentences to measure by that share no phrase with it."""
    every = {text for text, _ in examples}
    inside = {part for text in every for part in parts(text.split()) if part != text and part in every}
    whole = [text for text, _ in examples if text not in inside and len(text.split()) >= LEAST_WORDS]
    random.Random(SEED).shuffle(whole)  # noqa: S311  (the same split every time, not a secret)
    dev = set(whole[: round(SHARE * len(whole))])
    within_dev = {part for text in dev for part in parts(text.split())}
    train = [
        (text, label) for text, label in examples if text not in within_dev and dev.isdisjoint(parts(text.split()))
    ]
    return train, [(text, label) for text, label in examples if text in dev]


def check(train: Sequence[Example], dev: Sequence[Example]) -> None:
    """Fails where a phrase to measure by is part of one to learn from, or the reverse."""
    learned = {part for text, _ in train for part in parts(text.split())}
    assert learned.isdisjoint(text for text, _ in dev)
    measured = {part for text, _ in dev for part in parts(text.split())}
    assert measured.isdisjoint(text for text, _ in train)


def write_split(folder: Path, sides: dict[str, list[Example]]) -> None:
    """Both sides as tables that `clearhead train` reads."""
    for name, examples in sides.items():
        rows = "".join(f"{text}\t{label}\n" for text, label in examples)
        with replacing(folder / f"{name}.tsv") as stream:
            stream.write(f"text\tlabel\n{rows}".encode())


def baseline(train: Sequence[Example], dev: Sequence[Example]) -> float:
    """The accuracy of TF-IDF over words and pairs of words, with logistic regression."""
    vectoriser = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, tokenizer=str.split, token_pattern=None)
    features = vectoriser.fit_transform([text for text, _ in train])
    regression = LogisticRegression(C=10.0, max_iter=1000).fit(features, [label for _, label in train])
    guesses = regression.predict(vectoriser.transform([text for text, _ in dev]))
    return sum(guess == label for guess, (_, label) in zip(guesses, dev, strict=True)) / len(dev)


def ours(model: str, dev: Sequence[Example]) -> float:
    """The accuracy of a classifier whose labels are those of the data."""
    found = classify(Loaded.open(model), [text for text, _ in dev], truncate=True)
    return sum(labels[0].label == label for labels, (_, label) in zip(found, dev, strict=True)) / len(dev)


def main() -> None:
    """Divide, and write or measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--split", type=Path, metavar="FOLDER", help="write both sides here, and end")
    parser.add_argument("--model", metavar="FOLDER", help="a classifier whose labels are positive and negative")
    options = parser.parse_args()
    train, dev = divided(phrases())
    check(train, dev)
    print(f"{len(train)} phrases to learn from, {len(dev)} sentences to measure by")
    if options.split is not None:
        write_split(options.split, {"train": train, "dev": dev})
        print(f"wrote {options.split}")
        return
    print(f"TF-IDF and logistic regression  {baseline(train, dev):.4f}")
    if options.model is not None:
        print(f"{options.model:31} {ours(options.model, dev):.4f}")


if __name__ == "__main__":
    main()
