"""BLEU by sentence length: a recurrent network, one with attention, and a Transformer, trained alike.

    python benchmarks/sentence_length.py [--steps 1500] [--out docs/experiments]

Everyday corpora have few long sentences, so that long inputs are made: sentences of one split of Tatoeba, shuffled,
joined until they have the words that were drawn, sources and targets in the same order. No sentence is on both sides
of the split. Runs live in a folder, and the same command goes on with them after an interruption.
"""

import argparse
import json
import os
import platform
import random
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from clearhead.data import Record, Source, Task, read_records
from clearhead.decoding import DecodingSettings
from clearhead.engine import Engine, Request
from clearhead.figures import curves
from clearhead.models import EncoderDecoder, Recurrent
from clearhead.text import Tokenizer
from clearhead.text.files import replacing
from clearhead.training import LiveProgress, make_job
from clearhead.training.assessment import by_length, pair_losses
from clearhead.training.assessment.likelihood import TextLoss
from clearhead.training.assessment.results import LengthRow
from clearhead.training.assessment.translation import text_measures
from clearhead.training.scores import translation_scores
from clearhead.training.train import Finished, train

SHARED = Path(os.environ.get("CLEARHEAD_SHARED", Path(__file__).parents[1] / "../shared")).resolve()
EXPERIMENTS = Path(__file__).parents[1] / "docs/experiments"
ARCHITECTURES = {"recurrent": "RNN", "recurrent-attention": "RNN + Bahdanau", "marian": "Transformer"}
STEP = 10
CLAIM = 30
"""The claim under test: beyond about so many words a plain recurrent network fails."""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What became of one network."""

    architecture: str
    parameters: int
    steps: int
    seconds: float
    bleu: float
    signature: str
    rows: tuple[LengthRow, ...]


def sentences(path: Path, *, limit: int | None) -> list[tuple[str, str]]:
    """The pairs of a split."""
    if not path.is_file():
        sys.exit(f"no corpus at {path}: set CLEARHEAD_SHARED")
    records: list[Record] = list(read_records(Source(paths=(path,), task=Task.TRANSLATE)))[:limit]
    return [(record.source, record.target or "") for record in records]


def joined(pairs: Sequence[tuple[str, str]], *, least: int, most: int, rng: random.Random) -> list[tuple[str, str]]:
    """Each pair once, several together: as many as go into a number of words that is drawn between two."""
    order = list(pairs)
    rng.shuffle(order)
    made: list[tuple[str, str]] = []
    current: list[tuple[str, str]] = []
    wanted = rng.randint(least, most)
    for pair in order:
        n_words = sum(len(source.split()) for source, _ in (*current, pair))
        if current and n_words > wanted:
            made.append(together(current))
            current, wanted = [], rng.randint(least, most)
        current.append(pair)
    return [*made, together(current)]


def together(pairs: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """Several pairs as one."""
    return " ".join(source for source, _ in pairs), " ".join(target for _, target in pairs)


def tested(pairs: Sequence[tuple[str, str]], *, most: int, n_each: int, rng: random.Random) -> list[tuple[str, str]]:
    """As many test inputs of every group of lengths; a sentence may occur in several of them."""
    made: list[tuple[str, str]] = []
    for least in range(1, most, STEP):
        found: list[tuple[str, str]] = []
        for _ in range(100):
            several = joined(pairs, least=least, most=least + STEP - 1, rng=rng)
            found += [pair for pair in several if least <= len(pair[0].split()) < least + STEP]
            if len(found) >= n_each:
                break
        made += found[:n_each]
    return made


def write_pairs(path: Path, pairs: Sequence[tuple[str, str]]) -> Path:
    """A table of pairs; not written again where it is there already, so that a run recognises its data."""
    content = "source\ttarget\n" + "".join(f"{source}\t{target}\n" for source, target in pairs)
    if not path.is_file() or path.read_text(encoding="utf-8") != content:
        with replacing(path) as stream:
            stream.write(content.encode("utf-8"))
    return path


def translations(finished: Finished, sources: Sequence[str], *, beams: int) -> list[str]:
    """What a network writes for inputs that are read whole, however many sentences they have."""
    network, tokenizer = finished.network, finished.materials.tokenizer
    assert isinstance(network, EncoderDecoder | Recurrent)
    pad, end = tokenizer.special.pad, tokenizer.target.special.end
    assert pad is not None and end is not None
    engine = Engine(network=network, to_text=tokenizer.target.decode, start_id=pad)
    ids = [framed(tokenizer, source) for source in sources]
    requests = [
        Request(
            ids=one,
            settings=DecodingSettings(
                beams=beams, max_new_tokens=2 * most + STEP, end_ids=(end,), bad_words=((pad,),) if pad != end else ()
            ),
        )
        for one, most in zip(ids, longest_of_group(ids), strict=True)
    ]
    return [reply.best.text for reply in engine.generate(requests)]


def longest_of_group(ids: Sequence[Sequence[int]]) -> list[int]:
    """A length for each input that like inputs share, because inputs with like settings run together."""
    return [-(-len(one) // (4 * STEP)) * 4 * STEP for one in ids]


def framed(tokenizer: Tokenizer, text: str) -> tuple[int, ...]:
    """The ids of a text with its end, as in training."""
    end = tokenizer.special.end
    assert end is not None
    return (*tokenizer.encode(text, add_special=False, literal=True).ids, end)


def measure(name: str, finished: Finished, pairs: Sequence[tuple[str, str]], *, beams: int) -> Measured:
    """BLEU, chrF and the perplexity of the references, by length."""
    network, tokenizer = finished.network.eval(), finished.materials.tokenizer
    assert isinstance(network, EncoderDecoder | Recurrent) and tokenizer.special.pad is not None
    sources, references = [source for source, _ in pairs], [target for _, target in pairs]
    outputs = translations(finished, sources, beams=beams)
    losses = pair_losses(
        network,
        [framed(tokenizer, source) for source in sources],
        [framed(tokenizer.target, target) for target in references],
        start_id=tokenizer.special.pad,
        pad_id=tokenizer.special.pad,
    )

    def measures(group: list[int]) -> dict[str, float | None]:
        scored = text_measures([outputs[place] for place in group], [references[place] for place in group])
        return {**scored, "perplexity": sum((losses[place] for place in group), TextLoss()).perplexity}

    lengths = [len(source.split()) for source in sources]
    overall = translation_scores(outputs, references)
    return Measured(
        architecture=name,
        parameters=network.n_parameters,
        steps=finished.outcome.step,
        seconds=finished.outcome.elapsed,
        bleu=overall.bleu,
        signature=overall.bleu_signature,
        rows=by_length(lengths, measures, edges=range(STEP, -(-max(lengths) // STEP) * STEP + 1, STEP)),
    )


def run(options: argparse.Namespace) -> list[Measured]:
    """Makes the data, trains the three, and measures each."""
    folder: Path = options.runs
    splits = {
        name: sentences(SHARED / f"data/tatoeba/en-{options.to}.{name}.tsv.gz", limit=options.limit)
        for name in ("train", "dev", "test")
    }
    rng = random.Random(options.seed)  # noqa: S311  (the same data every time, not a secret)
    data = {
        name: write_pairs(folder / f"{name}.tsv", joined(splits[name], least=1, most=options.train_words, rng=rng))
        for name in ("train", "dev")
    }
    test = tested(splits["test"], most=options.test_words, n_each=options.n_each, rng=rng)
    write_pairs(folder / "test.tsv", test)
    found: list[Measured] = []
    for architecture, name in ARCHITECTURES.items():
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
            sources=[Source(paths=(data["train"],), task=Task.TRANSLATE)],
            validation=[Source(paths=(data["dev"],), task=Task.TRANSLATE)],
            folder=folder / architecture,
            progress=LiveProgress(),
        )
        if finished.outcome.interrupted_by is not None:
            sys.exit(finished.outcome.exit_code)
        found.append(measure(name, finished, test, beams=options.beams))
    return found


def table(found: Sequence[Measured]) -> list[str]:
    """BLEU of each network at each length, as Markdown."""
    rows = [f"| words | n | {' | '.join(each.architecture for each in found)} |", "|---|---:|" + "---:|" * len(found)]
    for place, row in enumerate(found[0].rows):
        cells = [f"{each.rows[place].measures['bleu']:.1f}" for each in found]
        rows.append(f"| {row.words} | {row.n} | {' | '.join(cells)} |")
    return [
        *rows,
        f"| all | {sum(row.n for row in found[0].rows)} | {' | '.join(f'{one.bleu:.1f}' for one in found)} |",
    ]


def verdict(found: Sequence[Measured]) -> list[str]:
    """What the numbers say of the claim: the mean BLEU beyond it as a share of that up to it."""
    lines: list[str] = []
    for each in found:
        near = [row.measures["bleu"] or 0.0 for row in each.rows if row.least < CLAIM]
        far = [row.measures["bleu"] or 0.0 for row in each.rows if row.least > CLAIM]
        if not near or not far:
            continue
        before, beyond = sum(near) / len(near), sum(far) / len(far)
        share = f", {beyond / before:.0%} of it" if before >= 1 else ": too little learned to tell"
        lines.append(
            f"- {each.architecture}: BLEU {before:.1f} up to {CLAIM} words and {beyond:.1f} beyond (means of the rows)"
            f"{share}."
        )
    return lines


def page(found: Sequence[Measured], options: argparse.Namespace) -> str:
    """The document."""
    command = f"python benchmarks/sentence_length.py {' '.join(options.given)}".strip()
    sizes = [
        f"| {each.architecture} | {each.parameters / 1e6:.2f} million | {each.steps:,} | {each.seconds / 60:.1f} min |"
        for each in found
    ]
    lines = [
        "# BLEU by sentence length",
        "",
        f"The claim: a recurrent network that must hold a sentence in one vector fails beyond about {CLAIM} words, and "
        "attention mends that (Bahdanau et al. 2015, figure 2). Here the same claim on a small scale.",
        "",
        "![BLEU by the words of the source](sentence-length.svg)",
        "",
        *table(found),
        "",
        *verdict(found),
        "",
        "## How",
        "",
        f"`{command}` makes this page; `{found[0].signature}`, {options.beams} beam{'s' if options.beams > 1 else ''}.",
        "",
        f"Sentences of Tatoeba, English to `{options.to}`, are shuffled and joined within their split: to at most "
        f"{options.train_words} words for training, and for the test to {options.n_each} inputs for each row of the "
        "table, read whole. So a long input is several everyday sentences, and nothing in one of them depends on "
        "another: this measures how much a network can hold, not how well it follows long syntax. A sentence of the "
        "test may occur at several lengths; none is among those trained on. "
        f"Lengths beyond {options.train_words} words were never seen in training.",
        "",
        f"All three have the same data, vocabulary, width, layers, batches, optimiser, schedule and {options.steps:,} "
        f"steps (preset `{options.preset}`{''.join(f', `{each}`' for each in options.set)}); what a layer costs "
        "differs, and so do parameters and time:",
        "",
        "| network | parameters | steps | training |",
        "|---|---:|---:|---:|",
        *sizes,
        "",
        f"Cores: {os.cpu_count()}, threads: {torch.get_num_threads()}, torch {torch.__version__}, "
        f"Python {platform.python_version()}. All numbers: [sentence-length.json](sentence-length.json).",
    ]
    return "\n".join(lines) + "\n"


def given(parser: argparse.ArgumentParser, options: argparse.Namespace) -> list[str]:
    """The options that matter to the numbers and are not the usual ones, as they are typed."""
    typed: list[str] = []
    for name, value in vars(options).items():
        if name in ("runs", "out") or value == parser.get_default(name):
            continue
        for each in value if isinstance(value, list) else [value]:
            typed += [f"--{name.replace('_', '-')}", shlex.quote(str(each))]
    return typed


def write(found: Sequence[Measured], options: argparse.Namespace) -> None:
    """The page, its picture and its numbers."""
    out: Path = options.out
    points = {
        each.architecture: [
            ((row.least + (row.most or row.least + STEP - 1)) / 2, row.measures["bleu"] or 0.0) for row in each.rows
        ]
        for each in found
    }
    picture = curves(
        points,
        title="BLEU by sentence length",
        x_label="words of the source",
        y_label="BLEU",
        events={"longest in training": options.train_words},
    )
    out.mkdir(parents=True, exist_ok=True)
    picture.save(out / "sentence-length.svg")
    numbers = [
        {
            "architecture": each.architecture,
            "parameters": each.parameters,
            "steps": each.steps,
            "seconds": round(each.seconds, 1),
            "bleu": each.bleu,
            "signature": each.signature,
            "by_length": [{"least": row.least, "most": row.most, "n": row.n, **row.measures} for row in each.rows],
        }
        for each in found
    ]
    for name, content in (
        ("sentence-length.json", json.dumps(numbers, ensure_ascii=False, indent=2) + "\n"),
        ("sentence-length.md", page(found, options)),
    ):
        with replacing(out / name) as stream:
            stream.write(content.encode("utf-8"))


def main() -> None:
    """Train, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1500, metavar="N", help="of the training of each network")
    parser.add_argument("--preset", default="small", help="the size of each network")
    parser.add_argument("--to", default="fr", choices=("fr", "de"), help="the language to write")
    parser.add_argument("--train-words", type=int, default=50, metavar="N", help="the longest input in training")
    parser.add_argument("--test-words", type=int, default=70, metavar="N", help="the longest input of the test")
    parser.add_argument("--n-each", type=int, default=100, metavar="N", help="test inputs of every length")
    parser.add_argument("--beams", type=int, default=1, metavar="N")
    parser.add_argument("--limit", type=int, metavar="N", help="sentences of each split; all by default")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of the job")
    parser.add_argument("--runs", type=Path, default=Path("runs/sentence-length"), help="where the runs live")
    parser.add_argument("--out", type=Path, default=EXPERIMENTS, help="where the page goes")
    options = parser.parse_args()
    options.given = given(parser, options)
    found = run(options)
    write(found, options)
    print("\n".join([*table(found), "", *verdict(found)]))


if __name__ == "__main__":
    main()
