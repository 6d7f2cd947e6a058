"""What the networks came to, as a page, a picture and numbers."""

import json
import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from clearhead.figures import curves
from clearhead.text.files import replacing
from clearhead.training.assessment.results import LengthRow
from lengths.material import STEP
from lengths.measured import Measured

CLAIM = 30
"""The claim under test: beyond about so many words a plain recurrent network fails."""
_LEARNED = 5.0
"""A BLEU up to the claim's length below which nothing can be said of what comes after it."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """How the data was made and the networks were trained, as the page tells it."""

    command: str
    to: str
    sentence_words: int
    known_words: int
    n_sentences: dict[str, int]
    copies: int
    train_words: int
    short_share: float
    n_each: int
    beams: int
    steps: int
    preset: str
    settings: Sequence[str]


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


def verdict(found: Sequence[Measured], *, train_words: int) -> list[str]:
    """What the numbers say of the claim: BLEU beyond it as a share of that up to it, means of the rows."""
    lines: list[str] = []
    for each in found:
        near = _mean(each, lambda row: row.least <= CLAIM)
        parts = [
            (f"from {CLAIM + 1} to {train_words}", _mean(each, lambda row: CLAIM < row.least <= train_words)),
            (f"beyond {train_words}, longer than any in training", _mean(each, lambda row: row.least > train_words)),
        ]
        if near is None:
            continue
        if near < _LEARNED:
            lines.append(f"- {each.architecture}: BLEU {near:.1f} up to {CLAIM} words: too little learned to tell.")
            continue
        said = [f"{value:.1f} {where} ({value / near:.0%})" for where, value in parts if value is not None]
        lines.append(f"- {each.architecture}: BLEU {near:.1f} up to {CLAIM} words, {', '.join(said)}.")
    return lines


def _mean(one: Measured, wanted: Callable[[LengthRow], bool]) -> float | None:
    values = [row.measures["bleu"] or 0.0 for row in one.rows if wanted(row)]
    return sum(values) / len(values) if values else None


def page(found: Sequence[Measured], setting: Setting) -> str:
    """The document."""
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
        "Means of the rows, and in brackets what share of the first number is left:",
        "",
        *verdict(found, train_words=setting.train_words),
        "",
        "## How",
        "",
        f"`{setting.command}` makes this page; `{found[0].signature}`, {setting.beams} "
        f"beam{'s' if setting.beams > 1 else ''}.",
        "",
        *_data(setting),
        "",
        *_training(found, setting),
        "",
        f"Cores: {os.cpu_count()}, threads: {torch.get_num_threads()}, torch {torch.__version__}, "
        f"Python {platform.python_version()}. All numbers: [sentence-length.json](sentence-length.json).",
    ]
    return "\n".join(lines) + "\n"


def _data(setting: Setting) -> list[str]:
    n = setting.n_sentences
    return [
        f"Of the pairs of Tatoeba, English to `{setting.to}`, those are taken whose English has at most "
        f"{setting.sentence_words} words, all among the {setting.known_words} most frequent (twice as many on the "
        f"other side): {n['train']:,} to learn from, {n['dev']:,} and {n['test']:,} of the other splits to validate "
        f"and to test by. They are shuffled and joined within their split: {setting.copies} times anew for training, "
        f"to at most {setting.train_words} words, {setting.short_share:.0%} of the inputs to at most {STEP}; for the "
        f"test to {setting.n_each} inputs for each row of the table, read whole.",
        "",
        "So a long input is several everyday sentences, and nothing in one of them depends on another: this measures "
        "how much a network can hold and find again, not how well it follows long syntax. A sentence of the test may "
        "occur at several lengths, which makes the rows comparable; none is among those learned from. Inputs of more "
        f"than {setting.train_words} words were never seen in training: there a falling curve may also mean positions "
        "that are new.",
    ]


def _training(found: Sequence[Measured], setting: Setting) -> list[str]:
    sizes = [
        f"| {each.architecture} | {each.parameters / 1e6:.2f} million | {each.optimiser} | {each.lr:g} | "
        f"{each.steps:,} | {each.seconds / 60:.1f} min |"
        for each in found
    ]
    return [
        f"All three have the same data, vocabulary, width, layers, batches, schedule and {setting.steps:,} steps "
        f"(preset `{setting.preset}`{''.join(f', `{each}`' for each in setting.settings)}), each the optimiser that "
        "networks of its kind are given by default; what a layer costs differs, and so do parameters and time:",
        "",
        "| network | parameters | optimiser | learning rate | steps | training |",
        "|---|---:|---|---:|---:|---:|",
        *sizes,
        "",
        "One seed, and no search for the best settings of each: the shapes of the curves are the result, not which "
        "network is best. The times are those of a core that did other things too.",
    ]


def write(found: Sequence[Measured], setting: Setting, *, out: Path) -> None:
    """The page, its picture and its numbers."""
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
        events={"the claim": CLAIM, "longest in training": setting.train_words},
    )
    out.mkdir(parents=True, exist_ok=True)
    picture.save(out / "sentence-length.svg")
    numbers = [
        {
            "architecture": each.architecture,
            "optimiser": each.optimiser,
            "lr": each.lr,
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
        ("sentence-length.md", page(found, setting)),
    ):
        with replacing(out / name) as stream:
            stream.write(content.encode("utf-8"))


def kept(out: Path) -> dict[str, Measured]:
    """What an earlier run of the same experiment wrote there, by network."""
    path = out / "sentence-length.json"
    numbers = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
    return {one["architecture"]: _measured(one) for one in numbers}


def _measured(one: dict[str, Any]) -> Measured:
    rows = [
        LengthRow(
            least=row["least"],
            most=row["most"],
            n=row["n"],
            measures={name: value for name, value in row.items() if name not in ("least", "most", "n")},
        )
        for row in one["by_length"]
    ]
    rest = {name: value for name, value in one.items() if name != "by_length"}
    return Measured(rows=tuple(rows), **rest)
