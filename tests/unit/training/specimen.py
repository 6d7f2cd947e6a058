"""A translator small enough to train in a moment, on pairs whose target is their source reversed."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from clearhead.config import Size, architecture, to_dict
from clearhead.data import Batches, TokenStore, writing
from clearhead.models import build
from clearhead.training import (
    LossEvaluation,
    RecordFeed,
    Trainer,
    TrainSettings,
    TranslateObjective,
    open_run,
)
from clearhead.training.settings import (
    AverageKind,
    AverageSettings,
    BatchSettings,
    DropoutSettings,
    OptimiserSettings,
    ScheduleSettings,
)
from clearhead.training.world import World

VOCAB_SIZE = 16
END, PAD = 0, 1
SIZE = Size(n_layers=1, width=16, n_heads=2, feedforward_width=24, max_length=32)

SETTINGS = TrainSettings(
    lr=3e-3,
    steps=20,
    seed=7,
    label_smoothing=0.1,
    evaluate_every=5,
    save_every=3600.0,
    log_every=4,
    optimiser=OptimiserSettings(weight_decay=0.01),
    schedule=ScheduleSettings(warmup_steps=5),
    batch=BatchSettings(max_tokens=120, accumulate=2),
    average=AverageSettings(kind=AverageKind.EMA, decay=0.9),
    dropout=DropoutSettings(residual=0.2, hidden=0.1, attention=0.1),
)


def write_store(folder: Path, *, n_records: int = 60, seed: int = 0) -> TokenStore:
    rng = np.random.default_rng(seed)
    with writing(folder, fields={"source": VOCAB_SIZE, "target": VOCAB_SIZE}) as writer:
        for _ in range(n_records):
            ids = rng.integers(2, VOCAB_SIZE, rng.integers(2, 9)).tolist()
            writer.append({"source": [*ids, END], "target": [*ids[::-1], END]})
    return TokenStore(folder=folder)


def feed(store: TokenStore, settings: TrainSettings, world: World | None = None) -> RecordFeed:
    batches = Batches(store=store, max_tokens=settings.batch.max_tokens, seed=settings.seed)
    return RecordFeed(batches=batches, pad_ids={"source": PAD, "target": PAD}, world=world or World())


@contextmanager
def trainer(folder: Path, store: TokenStore, settings: TrainSettings = SETTINGS, **others: Any) -> Generator[Trainer]:
    config = {"train": to_dict(settings)}
    clock, world = others.pop("clock", None), others.get("world")
    with open_run(folder, config=config, data={"n": len(store)}, clock=clock, world=world) as run:
        network = others.pop("network", None) or build(
            architecture("original", size=SIZE, vocab_size=VOCAB_SIZE), seed=settings.seed
        )
        examples = feed(store, settings, world)
        evaluate = others.pop("evaluate", None) or LossEvaluation(
            objective=TranslateObjective(decoder_start=PAD), batches=examples.once
        )
        objective = TranslateObjective(decoder_start=PAD, smoothing=settings.label_smoothing)
        yield Trainer(
            network=network, objective=objective, feed=examples, settings=settings, run=run, evaluate=evaluate, **others
        )


def changed(**changes: Any) -> TrainSettings:
    return replace(SETTINGS, **changes)
