"""BLEU by sentence length: a recurrent network, one with attention, and a Transformer, trained alike.

    python benchmarks/sentence_length.py [--steps 4000] [--out docs/experiments]

Simple sentences of Tatoeba, joined to inputs of every length; no sentence is on both sides of a split. Runs live in
a folder, and the same command goes on with them after an interruption. With --only, what the page has of the other
networks stays: give the same options then.
"""

import argparse
import os
import random
import shlex
import sys
from dataclasses import fields
from pathlib import Path

from lengths.material import Pair, learned, sentences, simple, tested, write_pairs
from lengths.measured import Measured, measure
from lengths.page import Setting, kept, table, verdict, write

from clearhead.data import Source, Task
from clearhead.training import LiveProgress, make_job
from clearhead.training.train import train

SHARED = Path(os.environ.get("CLEARHEAD_SHARED", Path(__file__).parents[1] / "../shared")).resolve()
EXPERIMENTS = Path(__file__).parents[1] / "docs/experiments"
ARCHITECTURES = {"recurrent": "RNN", "recurrent-attention": "RNN + Bahdanau", "marian": "Transformer"}


def make_data(options: argparse.Namespace, splits: dict[str, list[Pair]]) -> tuple[dict[str, Source], list[Pair]]:
    """Writes what is learned from, validated by and tested by; the same every time."""
    folder: Path = options.runs
    rng = random.Random(options.seed)  # noqa: S311  (the same data every time, not a secret)
    data = {
        name: Source(
            paths=(
                write_pairs(
                    folder / f"{name}.tsv",
                    learned(
                        splits[name],
                        most=options.train_words,
                        short_share=options.short_share,
                        n_copies=options.copies,
                        rng=rng,
                    ),
                ),
            ),
            task=Task.TRANSLATE,
        )
        for name in ("train", "dev")
    }
    test = tested(splits["test"], most=options.test_words, n_each=options.n_each, rng=rng)
    write_pairs(folder / "test.tsv", test)
    return data, test


def run(options: argparse.Namespace, splits: dict[str, list[Pair]]) -> list[Measured]:
    """Makes the data, trains the three, and measures each."""
    data, test = make_data(options, splits)
    found: list[Measured] = []
    earlier = kept(options.out)
    for architecture, name in ARCHITECTURES.items():
        if architecture not in options.only:
            found += [earlier[name]] if name in earlier else []
            continue
        print(f"{name}:", file=sys.stderr)
        job = make_job(
            Task.TRANSLATE,
            preset=options.preset,
            overrides=[
                f"model.architecture={architecture}",
                f"train.steps={options.steps}",
                f"train.seed={options.seed}",
                "evaluation.sentences=0",  # the time is for learning; a network that cannot stop yet writes for long
                *options.set,
            ],
        )
        finished = train(
            job,
            sources=[data["train"]],
            validation=[data["dev"]],
            folder=options.runs / architecture,
            progress=LiveProgress(),
        )
        if finished.outcome.interrupted_by is not None:
            sys.exit(finished.outcome.exit_code)
        found.append(measure(name, job, finished, test, beams=options.beams))
    return found


def given(parser: argparse.ArgumentParser, options: argparse.Namespace) -> list[str]:
    """The options that matter to the numbers and are not the usual ones, as they are typed."""
    typed: list[str] = []
    for name, value in vars(options).items():
        if name in ("runs", "out", "only") or value == parser.get_default(name):
            continue
        for each in value if isinstance(value, list) else [value]:
            typed += [f"--{name.replace('_', '-')}", shlex.quote(str(each))]
    return typed


def main() -> None:
    """Train, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=4000, metavar="N", help="of the training of each network")
    parser.add_argument("--preset", default="tiny", help="the size of each network")
    parser.add_argument("--to", default="fr", choices=("fr", "de"), help="the language to write")
    parser.add_argument("--sentence-words", type=int, default=5, metavar="N", help="the longest sentence")
    parser.add_argument("--known-words", type=int, default=500, metavar="N", help="the most frequent words, no others")
    parser.add_argument("--copies", type=int, default=6, metavar="N", help="how often sentences are joined anew")
    parser.add_argument("--train-words", type=int, default=40, metavar="N", help="the longest input in training")
    parser.add_argument("--short-share", type=float, default=0.8, metavar="SHARE", help="of short inputs in training")
    parser.add_argument("--test-words", type=int, default=60, metavar="N", help="the longest input of the test")
    parser.add_argument("--n-each", type=int, default=100, metavar="N", help="test inputs of every length")
    parser.add_argument("--beams", type=int, default=1, metavar="N")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of the job")
    parser.add_argument("--only", nargs="+", default=list(ARCHITECTURES), choices=list(ARCHITECTURES))
    parser.add_argument("--runs", type=Path, default=Path("runs/sentence-length"), help="where the runs live")
    parser.add_argument("--out", type=Path, default=EXPERIMENTS, help="where the page goes")
    options = parser.parse_args()
    command = " ".join(["python benchmarks/sentence_length.py", *given(parser, options)])
    splits = simple(
        {name: sentences(SHARED / f"data/tatoeba/en-{options.to}.{name}.tsv.gz") for name in ("train", "dev", "test")},
        most=options.sentence_words,
        n_words=options.known_words,
    )
    found = run(options, splits)
    setting = Setting(
        command=command,
        n_sentences={name: len(pairs) for name, pairs in splits.items()},
        settings=options.set,
        **{each.name: getattr(options, each.name) for each in fields(Setting) if hasattr(options, each.name)},
    )
    write(found, setting, out=options.out)
    print("\n".join([*table(found), "", *verdict(found, train_words=options.train_words)]))


if __name__ == "__main__":
    main()
