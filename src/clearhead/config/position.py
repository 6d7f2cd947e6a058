"""How a stack knows the order of its tokens."""

from dataclasses import dataclass

from clearhead.config.checks import require_positive, require_size, require_types
from clearhead.config.choices import PositionKind, RotaryScalingKind
from clearhead.config.record import RECORD
from clearhead.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class RotaryScaling:
    """How rotary frequencies are stretched beyond the length that was trained.

    Attributes:
        kind: The rule.
        factor: How many times longer.
        original_length: The length that was trained (all but `linear`).
        low_frequency_factor: Where `llama3` begins to stretch.
        high_frequency_factor: Where `llama3` stops leaving alone.
        beta_fast: Turns beyond which `yarn` leaves a frequency alone.
        beta_slow: Turns below which `yarn` stretches it wholly.
        attention_factor: What `yarn` multiplies cosines and sines by; None for its own formula.
    """

    __pydantic_config__ = RECORD

    kind: RotaryScalingKind
    factor: float
    original_length: int | None = None
    low_frequency_factor: float = 1.0
    high_frequency_factor: float = 4.0
    beta_fast: float = 32.0
    beta_slow: float = 1.0
    attention_factor: float | None = None

    def __post_init__(self) -> None:
        require_types(self)
        for name in ("factor", "low_frequency_factor", "high_frequency_factor", "beta_fast", "beta_slow"):
            require_positive(f"rotary {name}", getattr(self, name))
        if self.attention_factor is not None:
            require_positive("rotary attention_factor", self.attention_factor)
        if self.kind is not RotaryScalingKind.LINEAR:
            if self.original_length is None:
                raise ConfigError(
                    f"{self.kind} rotary scaling needs the length that was trained", expected="original_length"
                )
            require_size("original_length", self.original_length)
        if self.low_frequency_factor >= self.high_frequency_factor:
            raise ConfigError(
                "llama3 rotary scaling needs its low factor below its high one",
                got=f"{self.low_frequency_factor} and {self.high_frequency_factor}",
                expected="low_frequency_factor < high_frequency_factor",
            )


@dataclass(frozen=True, kw_only=True)
class PositionConfig:
    """How a stack knows the order of its tokens.

    Attributes:
        kind: The scheme.
        max_length: Rows of a learned table; for the other kinds the length that was trained, if known.
        theta: The base of the wavelengths, sinusoidal and rotary.
        scaling: How rotary frequencies are stretched.
        n_buckets: Buckets of distances, relative.
        max_distance: The distance from which all fall into the last bucket, relative.
    """

    __pydantic_config__ = RECORD

    kind: PositionKind
    max_length: int | None = None
    theta: float = 10_000.0
    scaling: RotaryScaling | None = None
    n_buckets: int = 32
    max_distance: int = 128

    def __post_init__(self) -> None:
        require_types(self)
        require_positive("theta", self.theta)
        require_size("n_buckets", self.n_buckets, least=4)
        require_size("max_distance", self.max_distance)
        if self.max_length is not None:
            require_size("max_length", self.max_length)
        elif self.kind is PositionKind.LEARNED:
            raise ConfigError(
                "learned positions need a length", got="max_length=None", expected="the rows of the table"
            )
        if self.scaling is not None and self.kind is not PositionKind.ROTARY:
            raise ConfigError(
                "only rotary positions can be scaled", got=f"scaling with kind={self.kind}", expected="kind=rotary"
            )
        if self.scaling is not None and self.theta == 1:
            raise ConfigError("waves that are all alike cannot be scaled", got="theta=1", expected="theta above 1")
        if self.kind is PositionKind.RELATIVE and self.max_distance <= self.n_buckets // 2:
            raise ConfigError(
                "relative positions need distances beyond the exact buckets",
                got=f"max_distance={self.max_distance}, n_buckets={self.n_buckets}",
                expected=f"max_distance above {self.n_buckets // 2}",
            )
