"""A whole training job as data: what is trained, on what, and how; as `config.yaml` has it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from clearhead.config import SIZES, from_dict, to_dict
from clearhead.config.checks import require_size, require_types, short
from clearhead.config.record import RECORD
from clearhead.data import CleaningRules, Split, Task
from clearhead.errors import ConfigError, nearest
from clearhead.text import TokenizerKind
from clearhead.training.presets import train_preset
from clearhead.training.settings import OptimiserKind, TrainSettings
from clearhead.training.settings_file import override, parse_duration

_DEFAULT_SECONDS = 1800.0
_DEFAULT_SIZE = "small"


@dataclass(frozen=True, kw_only=True)
class DataSettings:
    """What is done to the data.

    Attributes:
        max_length: The most tokens of a text; longer pairs are dropped, other texts cut.
        split: What is held out where no validation files are given.
        rules: What a record must be to stay; None for what suits the task.
    """

    __pydantic_config__ = RECORD

    max_length: int = 256
    split: Split = field(default_factory=Split)
    rules: CleaningRules | None = None

    def __post_init__(self) -> None:
        require_types(self)
        require_size("max_length", self.max_length)


@dataclass(frozen=True, kw_only=True)
class TokenizerSettings:
    """The tokenizer that is trained on the fly.

    Attributes:
        kind: What its pieces are; None for what suits the task.
        vocab_size: The most pieces.
        lowercase: Whether case is forgotten.
        joint: Whether source and target of a translation share one vocabulary.
        renew: Whether a start model's vocabulary gives way to one that is learned from this data.
    """

    __pydantic_config__ = RECORD

    kind: TokenizerKind | None = None
    vocab_size: int = 8000
    lowercase: bool = False
    joint: bool = True
    renew: bool = False

    def __post_init__(self) -> None:
        require_types(self)
        require_size("vocab_size", self.vocab_size)


@dataclass(frozen=True, kw_only=True)
class ModelSettings:
    """What is trained: a size by name, and what differs from it.

    Attributes:
        preset: The size.
        architecture: One of `ARCHITECTURES`, `recurrent` or `recurrent-attention`; None for what suits the task.
        start: A model whose weights are the first; its own configuration holds, and its tokenizer but for `renew`.
        n_layers: Blocks of each stack.
        decoder_layers: Blocks of the decoder, where that has others.
        width: The width of the stream.
        n_heads: Heads of every attention.
        feedforward_width: The hidden width of every feed-forward network.
        max_length: Positions.
    """

    __pydantic_config__ = RECORD

    preset: str = "small"
    architecture: str | None = None
    start: str | None = None
    n_layers: int | None = None
    decoder_layers: int | None = None
    width: int | None = None
    n_heads: int | None = None
    feedforward_width: int | None = None
    max_length: int | None = None

    def __post_init__(self) -> None:
        require_types(self)
        if self.preset not in SIZES:
            raise ConfigError(
                "an unknown preset", got=self.preset, expected=", ".join(SIZES), advice=nearest(self.preset, SIZES)
            )


@dataclass(frozen=True, kw_only=True)
class EvaluationSettings:
    """What an evaluation writes and compares, beside the loss.

    Attributes:
        sentences: Sentences to translate for BLEU and chrF; 0 for none.
        beams: Beams of those translations.
        samples: Outputs to keep of every evaluation.
    """

    __pydantic_config__ = RECORD

    sentences: int = 200
    beams: int = 1
    samples: int = 3

    def __post_init__(self) -> None:
        require_types(self)
        require_size("sentences", self.sentences, least=0)
        require_size("beams", self.beams, most=64)
        require_size("samples", self.samples, least=0)


@dataclass(frozen=True, kw_only=True)
class Job:
    """A whole training job.

    Attributes:
        task: What the model learns.
        teacher: A model whose sentence vectors are learned, for similarity.
        data: What is done to the data.
        tokenizer: What reads it.
        model: What is trained.
        train: How.
        evaluation: How it is measured on the way.
    """

    __pydantic_config__ = RECORD

    task: Task
    teacher: str | None = None
    data: DataSettings = field(default_factory=DataSettings)
    tokenizer: TokenizerSettings = field(default_factory=TokenizerSettings)
    model: ModelSettings = field(default_factory=ModelSettings)
    train: TrainSettings
    evaluation: EvaluationSettings = field(default_factory=EvaluationSettings)


def make_job(
    task: Task | None = None,
    *,
    preset: str | None = None,
    given: Mapping[str, Any] | None = None,
    overrides: Iterable[str] = (),
) -> Job:
    """A job from the presets of its task, a configuration file's content, and what was asked for beside it.

    What is asked for goes before the file, and the file before the presets.

    Args:
        task: What the model learns; by default what the file says, or to translate.
        preset: The size; by default what the file says, or small.
        given: Plain data as `config.yaml` has it; keys that are missing keep their presets.
        overrides: `dotted.key=value`, as in `train.lr=3e-4`.

    Raises:
        ConfigError: An unknown key, or a value that is not allowed.
    """
    overrides = list(overrides)
    if preset is not None:
        overrides.append(f"model.preset={preset}")
    changes = override(_without_rivals(given or {}, overrides), overrides)
    model = _section(changes, "model")
    known = _task_of(changes) if task is None else task
    changes["task"] = str(known)
    size = str(model.get("preset", _DEFAULT_SIZE))
    train = train_preset(
        size if size in ("tiny", "small", "base") else "base",
        task=known,
        time_budget=_DEFAULT_SECONDS,
        fine_tune=bool(model.get("start")),
        optimiser=_optimiser(changes, model),
    )
    usual = to_dict(Job(task=known, train=train))
    return from_dict(Job, _merged(usual, _definite(changes)))


def _section(data: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A mapping inside plain data; an empty one where something else stands there."""
    found = data.get(name)
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _optimiser(changes: Mapping[str, Any], model: Mapping[str, Any]) -> OptimiserKind | None:
    """The optimiser that was asked for; AdamW for recurrent networks, which have no matrices that Muon moves."""
    kind = _section(_section(changes, "train"), "optimiser").get("kind")
    if kind in list(OptimiserKind):
        return OptimiserKind(kind)
    return OptimiserKind.ADAMW if str(model.get("architecture")).startswith("recurrent") else None


def _task_of(changes: Mapping[str, Any]) -> Task:
    named = changes.get("task", Task.TRANSLATE)
    try:
        return Task(named)
    except ValueError:
        known = [str(each) for each in Task]
        advice = nearest(str(named), known)
        raise ConfigError("an unknown task", got=short(named), expected=", ".join(known), advice=advice) from None


def _without_rivals(given: Mapping[str, Any], overrides: Iterable[str]) -> dict[str, Any]:
    """A file's content without the length of the run, where the overrides give it in the other way."""
    train = given.get("train")
    if not isinstance(train, dict):
        return dict(given)
    asked = {text.partition("=")[0] for text in overrides}
    rivals = {"steps": "time_budget", "time_budget": "steps"}
    dropped = {rival for name, rival in rivals.items() if f"train.{name}" in asked}
    kept = {key: value for key, value in cast("dict[str, Any]", train).items() if key not in dropped}
    return {**given, "train": kept}


def _definite(changes: dict[str, Any]) -> dict[str, Any]:
    """The changes with durations as seconds; a run that is as long as its steps has no time, and the reverse."""
    train = changes.get("train")
    if not isinstance(train, dict):
        return changes
    found: dict[str, Any] = {**train}
    if isinstance(found.get("time_budget"), str):
        found["time_budget"] = parse_duration(found["time_budget"])
    if found.get("steps") is not None and "time_budget" not in found:
        found["time_budget"] = None
    return {**changes, "train": found}


def _merged(usual: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(usual)
    for key, value in changes.items():
        inner = merged.get(key)
        merged[key] = _merged(inner, value) if isinstance(inner, dict) and isinstance(value, dict) else value  # pyright: ignore[reportUnknownArgumentType]
    return merged
