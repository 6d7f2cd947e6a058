"""The laboratory: one tiny training at a time, watched as it learns.

It is `clearhead train` itself on a few made-up or pasted pairs, in a folder that goes when the server does. What was
trained stays as a student, which the page opens like any other model; so a recurrent network with Bahdanau's attention
can stand beside a Transformer that learned from the same pairs.
"""

import random
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from clearhead.data import Source, Task
from clearhead.decoding import DecodingSettings
from clearhead.engine import Engine, Request
from clearhead.errors import ClearheadError, ServerError
from clearhead.explain import as_data
from clearhead.explain.gradients import Backward
from clearhead.models import EncoderDecoder, Network, Recurrent
from clearhead.text import Tokenizer
from clearhead.trace import Tape
from clearhead.trace.record import record_pass
from clearhead.training.job import make_job
from clearhead.training.progress import Progress, StepReport
from clearhead.training.train import train
from clearhead.web.students import Student, as_ids

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
    "train.steps=240",
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


_OF = {  # what differs from the above
    "transformer": (),
    "recurrent-attention": ("model.architecture=recurrent-attention", "model.n_layers=1"),
    "recurrent": ("model.architecture=recurrent", "model.n_layers=1"),
}
NAMES = {
    "transformer": "trained: Transformer",
    "recurrent-attention": "trained: RNN with Bahdanau attention",
    "recurrent": "trained: RNN without attention",
}
"""What each student is called once it was trained."""


class _Stopped(Exception):
    """Somebody wants no more of it."""


@dataclass
class Lesson:
    """How a training stands.

    Attributes:
        task: What it learns.
        architecture: What learns it: a key of `NAMES`.
        example: The pair that is watched.
        status: "waiting", "running", "done", "stopped", or what went wrong.
        losses: Step and loss.
        glimpses: What the watched pair looked like at each evaluation.
    """

    task: str
    architecture: str
    example: tuple[str, str]
    status: str = "waiting"
    losses: list[tuple[int, float]] = field(default_factory=list[tuple[int, float]])
    glimpses: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])


class Lab:
    """Where the page trains."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lessons: list[Lesson] = []
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self.students: dict[str, Student] = {}
        """What was trained here, by name."""

    def start(self, task: str, pasted: str, architectures: Sequence[str] = ("transformer",)) -> None:
        """Begins a training of one network, or of several after one another.

        Raises:
            ServerError: One is running, or the pairs cannot be used.
        """
        pairs = _pairs(task, pasted)
        with self._lock:
            if self._thread is not None and self._thread.is_alive():
                raise ServerError("a training is running", got=task, advice="stop it first")
            self._stop.clear()
            self._lessons = [Lesson(task=task, architecture=one, example=pairs[0]) for one in architectures]
            self._thread = threading.Thread(target=self._teach, args=(self._lessons, pairs), daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Ends the training, if there is one."""
        self._stop.set()

    def account(self, since: Sequence[int] = ()) -> dict[str, Any]:
        """How it stands; of each lesson's glimpses, those from a number on."""
        if not self._lessons:
            return {"status": "none", "lessons": []}
        lessons = list(self._lessons)
        first = [*since, *([0] * len(lessons))]
        running = self._thread is not None and self._thread.is_alive()
        return {
            "status": "running" if running else lessons[-1].status,
            "task": lessons[0].task,
            "example": lessons[0].example,
            "lessons": [
                {
                    "architecture": one.architecture,
                    "name": NAMES[one.architecture],
                    "status": one.status,
                    "losses": list(one.losses),
                    "glimpses": one.glimpses[begin:],
                    "total": len(one.glimpses),
                }
                for one, begin in zip(lessons, first, strict=False)
            ],
        }

    def gradient(self) -> dict[str, Any]:
        """One gradient of the watched pair, and the weight after one step of AdamW, opened.

        Raises:
            ServerError: Nothing was trained yet.
        """
        student = self.students.get(NAMES["transformer"])
        if student is None or not isinstance(student.network, EncoderDecoder):
            raise ServerError("there is no trained model to look into", expected="a Transformer whose training ended")
        source, target = as_ids(student.tokenizer, student.example)
        back = Backward(network=student.network, ids=target, source_ids=source)
        strongest = abs(back.gradients[_WEIGHT]).argmax()
        row, column = divmod(int(strongest), back.gradients[_WEIGHT].shape[1])
        return {
            "loss": back.loss,
            "gradient": as_data(back.gradient(_WEIGHT, row, column), depth=2, most=12),
            "update": as_data(back.update(_WEIGHT, row, column), depth=2, most=12),
        }

    def _teach(self, lessons: list[Lesson], pairs: list[tuple[str, str]]) -> None:
        for lesson in lessons:
            if self._stop.is_set():
                lesson.status = "stopped"
            else:
                lesson.status = "running"
                self._learn(lesson, pairs)

    def _learn(self, lesson: Lesson, pairs: list[tuple[str, str]]) -> None:
        latest: list[tuple[Network[Any], Tokenizer]] = []

        def watch(network: Network[Any], tokenizer: Tokenizer, step: int) -> None:
            latest[:] = [(network, tokenizer)]
            lesson.glimpses.append(_glimpse(lesson, network, tokenizer, step))

        try:
            with tempfile.TemporaryDirectory(prefix="clearhead-lab-") as folder:
                path = Path(folder) / "pairs.tsv"
                path.write_text("".join(f"{a}\t{b}\n" for a, b in pairs), encoding="utf-8")
                job = make_job(Task.TRANSLATE, preset="tiny", overrides=(*_SETTINGS, *_OF[lesson.architecture]))
                train(
                    job,
                    sources=[Source(paths=(path,), task=Task.TRANSLATE)],
                    folder=Path(folder) / "run",
                    progress=_Told(lesson=lesson, stop=self._stop),
                    watch=watch,
                )
            ended = "done"
        except _Stopped:
            ended = "stopped"
        except ClearheadError as error:
            ended = str(error)
        except Exception:  # whatever it was, whoever watches must hear of it
            lesson.status = "a mistake in clearhead itself"
            raise
        if latest:
            network, tokenizer = latest[0]
            assert isinstance(network, EncoderDecoder | Recurrent)
            name = NAMES[lesson.architecture]
            texts = tuple(source for source, _ in pairs[:5])
            self.students[name] = Student(
                name=name, network=network.eval(), tokenizer=tokenizer, example=lesson.example, texts=texts
            )
        lesson.status = ended


def _glimpse(lesson: Lesson, network: Network[Any], tokenizer: Tokenizer, step: int) -> dict[str, Any]:
    """What the watched pair looks like now: what is looked at, what is predicted, what is written."""
    assert isinstance(network, EncoderDecoder | Recurrent)
    source, target = as_ids(tokenizer, lesson.example)
    training = network.training
    network.eval()
    tape = Tape(sites=("logits", "*cross.pattern"))
    record_pass(network, ids=source, target_ids=target[:-1], tape=tape)
    engine = Engine(network=network, start_id=target[0])
    settings = DecodingSettings(max_new_tokens=len(target) + 4, end_ids=(target[-1],))
    written = engine.generate([Request(ids=tuple(source), settings=settings)])[0].best.ids
    network.train(training)
    patterns = sorted(site for site in tape.pieces if site.endswith("pattern"))
    # A recurrent decoder looks once a position, so that its pattern comes in rows.
    rows = [tape.value(piece, patterns[-1])[0] for piece in tape.pieces[patterns[-1]]] if patterns else []
    forced = tape.value(tape.pieces["logits"][0], "logits")[0].argmax(-1)
    names = tokenizer.target.name_of
    return {
        "step": step,
        "pattern": np.concatenate(rows, axis=1).mean(0).tolist() if rows else None,
        "rows": [names(int(one)) for one in target[1:]],
        "columns": [tokenizer.name_of(int(one)) for one in source],
        "forced": [names(int(one)) for one in forced],
        "free": [names(int(one)) for one in written],
    }


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
