"""Small models as tasks have them: a random one of each kind, and a translator that has learned something."""

from dataclasses import replace
from functools import cache
from pathlib import Path

from clearhead.config import Activation, HeadConfig, HeadKind, TokenIds
from clearhead.data import Source, Task
from clearhead.models import build
from clearhead.tasks.loaded import Loaded
from clearhead.testing import ByteTokenizer
from clearhead.testing.tiny import tiny_config
from clearhead.training import make_job
from clearhead.training.train import train
from clearhead.weights import Checkpoint, family_of

PAD, START, END, MASK = range(4)
LABELS = ("bad", "good", "mixed")
HEADS = {
    HeadKind.MASKED_LANGUAGE_MODEL: HeadConfig(kind=HeadKind.MASKED_LANGUAGE_MODEL, bias=True),
    HeadKind.SEQUENCE_CLASSIFICATION: HeadConfig(
        kind=HeadKind.SEQUENCE_CLASSIFICATION, labels=LABELS, activation=Activation.TANH
    ),
    HeadKind.SENTENCE: HeadConfig(kind=HeadKind.SENTENCE),
    HeadKind.QUESTION_ANSWERING: HeadConfig(kind=HeadKind.QUESTION_ANSWERING),
}

WHO = {"the dog": "der Hund", "the cat": "die Katze", "a man": "ein Mann", "a child": "ein Kind"}
WHAT = {"runs": "rennt", "sleeps": "schläft", "sings": "singt"}
WHERE = {"in the garden": "im Garten", "at night": "nachts"}
JOB = [
    *("train.steps=60", "train.lr=0.02", "train.schedule.warmup_steps=10", "train.batch.max_tokens=400"),
    *("train.evaluate_every=1000", "evaluation.sentences=0", "train.dropout.residual=0.0"),
    *("model.n_layers=1", "model.width=32", "model.n_heads=2", "model.feedforward_width=48", "model.max_length=32"),
    "tokenizer.vocab_size=320",
]


def train_translator(folder: Path) -> Loaded:
    """A translator that knows two dozen sentences."""
    pairs = folder / "pairs.tsv"
    rows = [
        f"{who} {what} {where}.\t{WHO[who]} {WHAT[what]} {WHERE[where]}.\n"
        for who in WHO
        for what in WHAT
        for where in WHERE
    ]
    pairs.write_text("".join(rows), encoding="utf-8")
    job = make_job(Task.TRANSLATE, preset="tiny", overrides=JOB)
    finished = train(job, sources=[Source(paths=(pairs,), task=Task.TRANSLATE)], folder=folder / "run")
    assert finished.folder is not None
    return Loaded.open(finished.folder)


@cache
def loaded(architecture: str, head: HeadKind | None = None, *, name: str = "tiny") -> Loaded:
    tokenizer = ByteTokenizer()
    config = tiny_config(architecture, vocab_size=tokenizer.vocab_size)
    tokens = {
        "marian": TokenIds(pad=PAD, end=(END,), decoder_start=PAD),
        "gpt2": TokenIds(pad=PAD, start=START, end=(END,)),
        "bert": TokenIds(pad=PAD, start=START, end=(END,)),
    }[architecture]
    config = replace(config, tokens=tokens)
    if head is not None:
        config = replace(config, head=HEADS[head])
    network = build(config, seed=3)
    checkpoint = Checkpoint(model=network, family=family_of(config), foreign={}, generation={})
    return Loaded(checkpoint=checkpoint, tokenizer=tokenizer, name=name)


def translator() -> Loaded:
    return loaded("marian")


def writer() -> Loaded:
    return loaded("gpt2")


def filler() -> Loaded:
    return loaded("bert", HeadKind.MASKED_LANGUAGE_MODEL)


def classifier() -> Loaded:
    return loaded("bert", HeadKind.SEQUENCE_CLASSIFICATION)


def embedder() -> Loaded:
    return loaded("bert", HeadKind.SENTENCE)
