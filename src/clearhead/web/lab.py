"""The laboratory: one tiny training at a time, watched as it learns.

It is `clearhead train` itself on a few made-up or pasted pairs, in a folder that goes when the server does.
"""

import random
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clearhead.data import Source, Task
from clearhead.decoding import DecodingSettings
from clearhead.engine import Engine, Request
from clearhead.errors import ClearheadError, ServerError
from clearhead.explain import as_data
from clearhead.explain.gradients import Backward
from clearhead.models import EncoderDecoder, Network
from clearhead.text import Tokenizer
from clearhead.trace import Tape
from clearhead.trace.record import record_pass
from clearhead.training.job import make_job
from clearhead.training.progress import Progress, StepReport
from clearhead.training.train import train

LETTERS = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]
MOST_PAIRS = 5000
_PAIRS = 3000
_WEIGHT = "decoder.blocks.0.ffn.down.weight"
_SETTINGS = (
    "tokenizer.kind=word",
    "data.rules.drop_copies=false",  # to copy is a task here
    "model.width=64",
    "model.n_heads=4",
    "model.n_layers=2",
    "model.feedforward_width=128",
    "train.steps=400",
    "train.evaluate_every=20",
    "train.log_every=5",
    "train.batch.max_tokens=1536",
    "train.lr=4e-3",
    "train.schedule.warmup_steps=20",
    "train.dropout.residual=0",
    "train.average.kind=none",
    "train.label_smoothing=0",
    "evaluation.sentences=8",
)


class _Stopped(Exception):
    """Somebody wants no more of it."""


@dataclass
class Lesson:
    """How a training stands.

    Attributes:
        task: What it learns.
        example: The pair that is watched.
        status: "running", "done", "stopped", or what went wrong.
        losses: Step and loss.
        glimpses: What the watched pair looked like at each evaluation.
    """

    task: str
    example: tuple[str, str]
    status: str = "running"
    losses: list[tuple[int, float]] = field(default_factory=list[tuple[int, float]])
    glimpses: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])


class Lab:
    """Where the page trains."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lesson: Lesson | None = None
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self._network: EncoderDecoder | None = None
        self._tokenizer: Tokenizer | None = None

    def start(self, task: str, pasted: str) -> None:
        """Begins a training.

        Raises:
            ServerError: One is running, or the pairs cannot be used.
        """
        pairs = _pairs(task, pasted)
        with self._lock:
            if self._thread is not None and self._thread.is_alive():
                raise ServerError("a training is running", got=task, advice="stop it first")
            self._stop.clear()
            self._lesson = Lesson(task=task, example=pairs[0])
            self._thread = threading.Thread(target=self._learn, args=(self._lesson, pairs), daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Ends the training, if there is one."""
        self._stop.set()

    def account(self, since: int = 0) -> dict[str, Any]:
        """How it stands; of the glimpses, those from a number on."""
        lesson = self._lesson
        if lesson is None:
            return {"status": "none"}
        return {
            "status": lesson.status,
            "task": lesson.task,
            "example": lesson.example,
            "losses": list(lesson.losses),
            "glimpses": lesson.glimpses[since:],
            "total": len(lesson.glimpses),
        }

    def gradient(self) -> dict[str, Any]:
        """One gradient of the watched pair, and the weight after one step of AdamW, opened.

        Raises:
            ServerError: Nothing was trained yet.
        """
        network, tokenizer, lesson = self._network, self._tokenizer, self._lesson
        if network is None or tokenizer is None or lesson is None or lesson.status == "running":
            raise ServerError("there is no trained model to look into", expected="a training that ended")
        source, target = _ids(tokenizer, lesson.example)
        back = Backward(network=network, ids=target, source_ids=source)
        strongest = abs(back.gradients[_WEIGHT]).argmax()
        row, column = divmod(int(strongest), back.gradients[_WEIGHT].shape[1])
        return {
            "loss": back.loss,
            "gradient": as_data(back.gradient(_WEIGHT, row, column), depth=2, most=12),
            "update": as_data(back.update(_WEIGHT, row, column), depth=2, most=12),
        }

    def _learn(self, lesson: Lesson, pairs: list[tuple[str, str]]) -> None:
        try:
            with tempfile.TemporaryDirectory(prefix="clearhead-lab-") as folder:
                path = Path(folder) / "pairs.tsv"
                path.write_text("".join(f"{a}\t{b}\n" for a, b in pairs), encoding="utf-8")
                job = make_job(Task.TRANSLATE, preset="tiny", overrides=_SETTINGS)
                train(
                    job,
                    sources=[Source(paths=(path,), task=Task.TRANSLATE)],
                    folder=Path(folder) / "run",
                    progress=_Told(lesson=lesson, stop=self._stop),
                    watch=lambda network, tokenizer, step: self._glimpse(lesson, network, tokenizer, step),
                )
            lesson.status = "done"
        except _Stopped:
            lesson.status = "stopped"
        except ClearheadError as error:
            lesson.status = str(error)
        finally:
            if lesson.status == "running":
                lesson.status = "a mistake in clearhead itself"

    def _glimpse(self, lesson: Lesson, network: Network[Any], tokenizer: Tokenizer, step: int) -> None:
        """What the watched pair looks like now: what is looked at, what is predicted, what is written."""
        assert isinstance(network, EncoderDecoder)
        self._network, self._tokenizer = network, tokenizer
        source, target = _ids(tokenizer, lesson.example)
        training = network.training
        network.eval()
        tape = Tape(sites=("logits", "decoder.*.cross.pattern"))
        record_pass(network, ids=source, target_ids=target[:-1], tape=tape)
        engine = Engine(network=network, start_id=target[0])
        settings = DecodingSettings(max_new_tokens=len(target) + 4, end_ids=network.config.tokens.end)
        written = engine.generate([Request(ids=tuple(source), settings=settings)])[0].best.ids
        network.train(training)
        last = max(site for site in tape.pieces if site.endswith("pattern"))
        forced = tape.value(tape.pieces["logits"][0])[0].argmax(-1)
        names = tokenizer.target.name_of
        lesson.glimpses.append(
            {
                "step": step,
                "pattern": tape.value(tape.pieces[last][0])[0].mean(0).tolist(),
                "rows": [names(int(one)) for one in target[1:]],
                "columns": [tokenizer.name_of(int(one)) for one in source],
                "forced": [names(int(one)) for one in forced],
                "free": [names(int(one)) for one in written],
            }
        )


class _Told(Progress):
    """Writes down how it goes, and stops where that is wanted."""

    def __init__(self, *, lesson: Lesson, stop: threading.Event) -> None:
        self._lesson = lesson
        self._stop = stop

    def update(self, report: StepReport) -> None:
        """A step was made."""
        if self._stop.is_set():
            raise _Stopped
        self._lesson.losses.append((report.step, report.loss))

    def evaluated(self, step: int, metrics: Mapping[str, float], *, best: bool) -> None:
        """An evaluation was made."""
        del step, metrics, best
        if self._stop.is_set():
            raise _Stopped


def _pairs(task: str, pasted: str) -> list[tuple[str, str]]:
    if task in ("copy", "reverse"):
        chance = random.Random(0)  # noqa: S311  (an exercise, not a secret)
        texts = [[chance.choice(LETTERS) for _ in range(chance.randint(3, 8))] for _ in range(_PAIRS)]
        return [(" ".join(one), " ".join(one if task == "copy" else one[::-1])) for one in texts]
    rows = [line.split("\t") for line in pasted.splitlines() if line.strip()]
    pairs = [(row[0].strip(), row[1].strip()) for row in rows if len(row) == 2 and row[0].strip() and row[1].strip()]
    if len(pairs) < 2 or len(pairs) < len(rows) or len(pairs) > MOST_PAIRS:
        raise ServerError(
            "pairs that cannot be learned from",
            got=f"{len(pairs)} pairs in {len(rows)} lines",
            expected=f"2 to {MOST_PAIRS} lines, each a source, a tab and a target",
        )
    return pairs


def _ids(tokenizer: Tokenizer, pair: tuple[str, str]) -> tuple[list[int], list[int]]:
    """The source as the encoder reads it, and the target with its start."""
    end, pad = tokenizer.special.end, tokenizer.special.pad
    assert end is not None and pad is not None
    source = [*tokenizer.encode(pair[0], add_special=False, literal=True).ids, end]
    target = [*tokenizer.target.encode(pair[1], add_special=False, literal=True).ids, end]
    return source, [pad, *target]
