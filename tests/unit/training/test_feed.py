from itertools import islice
from pathlib import Path

import numpy as np
import torch

from clearhead.config import architecture, to_dict
from clearhead.data import Batches, Cursor, TokenStore, Windows, writing
from clearhead.models import build
from clearhead.training import (
    LanguageModelObjective,
    LossEvaluation,
    RecordFeed,
    Status,
    Trainer,
    WindowFeed,
    open_run,
)
from clearhead.training.feed import collate

from .specimen import PAD, SIZE, VOCAB_SIZE, changed, feed

START = Cursor(epoch=0, batch=0)


def test_a_batch_is_its_records_padded(store: TokenStore) -> None:
    rows = np.array([4, 0, 9])
    batch = collate(store, rows, pad_ids={"source": PAD, "target": PAD})
    for number, row in enumerate(rows.tolist()):
        for field in ("source", "target"):
            real = batch[field][number][batch[f"{field}_mask"][number]]
            assert real.tolist() == store.ids(field, row).tolist()
    assert (batch["source"][~batch["source_mask"]] == PAD).all()


def test_values_come_with_their_records(tmp_path: Path) -> None:
    with writing(tmp_path / "labelled", fields={"text": 9}, values={"label": 1, "teacher": 2}) as writer:
        for number in range(4):
            writer.append({"text": [number + 1]}, label=number, teacher=[number / 2, 1.0])
    batch = collate(TokenStore(folder=tmp_path / "labelled"), np.array([3, 1]), pad_ids={"text": 0})
    assert batch["label"].tolist() == [3, 1] and batch["label"].dtype == torch.int64
    assert batch["teacher"].tolist() == [[1.5, 1.0], [0.5, 1.0]]


def test_a_stream_can_be_taken_up_anywhere(store: TokenStore) -> None:
    whole = list(islice(feed(store, changed()).follow(START), 20))
    for place in (0, 6, 12):
        rest = islice(feed(store, changed()).follow(whole[place][0]), 5)
        for (cursor, batch), (other_cursor, other) in zip(rest, whole[place + 1 :], strict=False):
            assert cursor == other_cursor
            assert all(torch.equal(batch[name], other[name]) for name in other)


def test_everything_is_given_once(store: TokenStore) -> None:
    examples = RecordFeed(batches=Batches(store=store, max_tokens=100, seed=1), pad_ids={"source": PAD, "target": PAD})
    assert sum(len(batch["source"]) for batch in examples.once()) == len(store)
    assert sum(int(batch["source_mask"].sum()) for batch in examples.once()) == len(store.stream("source"))


def test_a_language_model_trains_on_windows(tmp_path: Path) -> None:
    with writing(tmp_path / "text", fields={"text": VOCAB_SIZE}) as writer:
        writer.append({"text": [2, 3, 4, 5, 6, 7] * 40})
    windows = Windows(store=TokenStore(folder=tmp_path / "text"), length=12, n_rows=8, seed=0)
    examples, objective = WindowFeed(windows=windows), LanguageModelObjective()
    assert sum(objective.count(batch) for batch in examples.once()) == 239
    settings = changed(steps=15, lr=0.02, label_smoothing=0.0)
    network = build(architecture("gpt2", size=SIZE, vocab_size=VOCAB_SIZE), seed=0)
    evaluation = LossEvaluation(objective=objective, batches=examples.once)
    before = evaluation(network.eval())
    with open_run(tmp_path / "run", config=to_dict(settings), data={}) as run:
        trainer = Trainer(
            network=network, objective=objective, feed=examples, settings=settings, run=run, evaluate=evaluation
        )
        outcome = trainer.run()
    assert outcome.status is Status.COMPLETED
    assert outcome.metrics["loss"] < 0.8 * before["loss"]
    assert outcome.metrics == evaluation(network)
