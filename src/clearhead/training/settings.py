"""How to train, as data: `TrainSettings`, checked when they are made."""

from dataclasses import dataclass, field
from enum import StrEnum

from clearhead.config.checks import require_positive, require_share, require_size, require_types
from clearhead.config.record import RECORD
from clearhead.errors import ConfigError

_LARGEST_SEED = 2**63 - 1


class ScheduleKind(StrEnum):
    """How the learning rate goes on after its warm-up."""

    INVERSE_SQUARE_ROOT = "inverse-square-root"
    COSINE = "cosine"
    CONSTANT = "constant"


class OptimiserKind(StrEnum):
    """What makes a step of a gradient."""

    ADAMW = "adamw"
    MUON = "muon"
    """Orthogonal steps for the matrices of the stacks, AdamW's for the rest."""


class AverageKind(StrEnum):
    """Which weights are evaluated and kept in the end."""

    NONE = "none"
    """Those of the best evaluation."""
    EMA = "ema"
    """Those of the best evaluation, of a moving average that follows the training."""
    LAST = "last"
    """The mean of the last few evaluated checkpoints, where it beats the best of them."""


@dataclass(frozen=True, kw_only=True)
class ScheduleSettings:
    """The learning rate over the steps, as a share of its peak.

    Attributes:
        kind: How it goes on after the warm-up.
        warmup_steps: Steps in which it rises from 0 to the peak.
        floor: The share that a cosine ends at.
        cooldown: The share of all steps at the end in which it falls to 0, whatever it was.
    """

    __pydantic_config__ = RECORD

    kind: ScheduleKind = ScheduleKind.INVERSE_SQUARE_ROOT
    warmup_steps: int = 400
    floor: float = 0.0
    cooldown: float = 0.0

    def __post_init__(self) -> None:
        require_types(self)
        require_size("warmup_steps", self.warmup_steps, least=0)
        require_share("floor", self.floor)
        require_share("cooldown", self.cooldown)


@dataclass(frozen=True, kw_only=True)
class OptimiserSettings:
    """What makes a step of a gradient.

    Attributes:
        kind: The optimiser.
        beta1: How slowly the mean of the gradients forgets.
        beta2: How slowly the mean of their squares forgets.
        epsilon: What keeps the division finite.
        weight_decay: The share of a matrix, times the learning rate, that every step takes away.
        clip_norm: The longest that the gradient may be; a longer one is shortened. None for any length.
    """

    __pydantic_config__ = RECORD

    kind: OptimiserKind = OptimiserKind.ADAMW
    beta1: float = 0.9
    beta2: float = 0.98
    epsilon: float = 1e-9
    weight_decay: float = 0.01
    clip_norm: float | None = 1.0

    def __post_init__(self) -> None:
        require_types(self)
        require_share("beta1", self.beta1)
        require_share("beta2", self.beta2)
        require_positive("epsilon", self.epsilon)
        if self.weight_decay:
            require_positive("weight_decay", self.weight_decay)
        if self.clip_norm is not None:
            require_positive("clip_norm", self.clip_norm)


@dataclass(frozen=True, kw_only=True)
class BatchSettings:
    """What one step sees.

    Attributes:
        max_tokens: Tokens of a batch, padding included.
        accumulate: Batches of a step; their gradients are those of one large batch.
        window: Tokens of a row where a language model reads a stream.
    """

    __pydantic_config__ = RECORD

    max_tokens: int = 4096
    accumulate: int = 1
    window: int = 128

    def __post_init__(self) -> None:
        require_types(self)
        require_size("max_tokens", self.max_tokens)
        require_size("accumulate", self.accumulate, most=65_536)
        require_size("window", self.window, least=2)


@dataclass(frozen=True, kw_only=True)
class AverageSettings:
    """Which average of the weights is evaluated and kept.

    Attributes:
        kind: The average.
        decay: How slowly a moving average forgets; it starts faster and slows down to this.
        last: How many checkpoints the mean of the last is taken over.
    """

    __pydantic_config__ = RECORD

    kind: AverageKind = AverageKind.NONE
    decay: float = 0.999
    last: int = 5

    def __post_init__(self) -> None:
        require_types(self)
        require_share("decay", self.decay)
        require_size("last", self.last, most=1000)


@dataclass(frozen=True, kw_only=True)
class DropoutSettings:
    """What is dropped in training; None leaves what the model's configuration says.

    Attributes:
        residual: Share of what the embedding and every sublayer add to the stream.
        hidden: Share of the hidden units of feed-forward networks.
        attention: Share of the cells of attention patterns. Any but 0 forgoes the fused kernel on a CPU.
    """

    __pydantic_config__ = RECORD

    residual: float | None = None
    hidden: float | None = 0.0
    attention: float | None = 0.0

    def __post_init__(self) -> None:
        require_types(self)
        for name in ("residual", "hidden", "attention"):
            value: float | None = getattr(self, name)
            if value is not None:
                require_share(name, value)


@dataclass(frozen=True, kw_only=True)
class TrainSettings:
    """How to train, whatever is trained.

    Attributes:
        lr: The learning rate at its peak.
        steps: Steps of the run; or
        time_budget: seconds that the run may take, from which the steps follow.
        seed: Where all random numbers come from.
        label_smoothing: Share of the probability that is spread over all other answers.
        mask_share: Share of the tokens that a masked language model has to guess.
        temperature: What similarities are divided by before they compete with one another.
        evaluate_every: Steps between evaluations; None for about twenty a run.
        save_every: Seconds between checkpoints; every evaluation makes one too.
        log_every: Steps between lines of the log.
        patience: Evaluations without a new best before the run stops; None to never stop early.
        stop_at: The run ends once the metric is as good as this; None to go on to the end.
        keep_last: Checkpoints to keep, beside the best.
        metric: The number of an evaluation that decides what is best.
        maximise: Whether more of it is better.
        optimiser: What makes a step of a gradient.
        schedule: The learning rate over the steps.
        batch: What one step sees.
        average: Which average of the weights is kept.
        dropout: What is dropped.
    """

    __pydantic_config__ = RECORD

    lr: float = 1e-3
    steps: int | None = None
    time_budget: float | None = None
    seed: int = 0
    label_smoothing: float = 0.0
    mask_share: float = 0.15
    temperature: float = 0.05
    evaluate_every: int | None = None
    save_every: float = 300.0
    log_every: int = 10
    patience: int | None = None
    stop_at: float | None = None
    keep_last: int = 2
    metric: str = "loss"
    maximise: bool = False
    optimiser: OptimiserSettings = field(default_factory=OptimiserSettings)
    schedule: ScheduleSettings = field(default_factory=ScheduleSettings)
    batch: BatchSettings = field(default_factory=BatchSettings)
    average: AverageSettings = field(default_factory=AverageSettings)
    dropout: DropoutSettings = field(default_factory=DropoutSettings)

    def __post_init__(self) -> None:
        require_types(self)
        self._check_length()
        require_size("seed", self.seed, least=0, most=_LARGEST_SEED)
        require_share("label_smoothing", self.label_smoothing)
        require_share("mask_share", self.mask_share)
        for name in ("lr", "temperature", "save_every", "mask_share"):
            require_positive(name, getattr(self, name))
        for name in ("evaluate_every", "patience", "log_every", "keep_last"):
            value: int | None = getattr(self, name)
            if value is not None:
                require_size(name, value)

    def _check_length(self) -> None:
        if (self.steps is None) == (self.time_budget is None):
            raise ConfigError(
                "a run is as long as its steps or as its time",
                got="neither" if self.steps is None else "both",
                expected="one of steps and time_budget",
                advice="time_budget: 60m",
            )
        if self.steps is not None:
            require_size("steps", self.steps)
        if self.time_budget is not None:
            require_positive("time_budget", self.time_budget)
