"""Scales: where on an axis a value is, and which round numbers are written along it."""

import math
from dataclasses import dataclass
from functools import cached_property

__all__ = ["Scale", "written"]

_STEPS = (1.0, 2.0, 5.0, 10.0)
_UNITS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_FIRST_UNIT = 1e4
_SMALL = 1e-2
_LEAST_EXTENT = 1e-9
_NOTHING = 1e-90


@dataclass(frozen=True, kw_only=True)
class Scale:
    """An axis from its lowest to its highest value.

    Attributes:
        low: The value at its beginning.
        high: The value at its end.
        logarithmic: Whether equal steps are equal ratios.
        n_ticks: About how many numbers there is room for.
    """

    low: float
    high: float
    logarithmic: bool = False
    n_ticks: int = 5

    @classmethod
    def over(
        cls, low: float, high: float, *, logarithmic: bool = False, n_ticks: int = 5, rounded: bool = False
    ) -> "Scale":
        """The scale of values between two, which may be equal.

        Args:
            low: The least.
            high: The greatest.
            logarithmic: Whether equal steps are equal ratios.
            n_ticks: About how many numbers there is room for.
            rounded: Whether the axis reaches to round numbers beyond them.
        """
        greatest = max(abs(low), abs(high))
        if high - low <= _LEAST_EXTENT * greatest or greatest < _NOTHING:
            around = greatest / 20 if greatest >= _NOTHING else 1.0
            low, high = low - around, high + around
        if rounded and not logarithmic:
            step = _step((high - low) / n_ticks)
            low, high = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
        elif rounded:
            air = (high / low) ** 0.04
            low, high = low / air, high * air
        return cls(low=low, high=high, logarithmic=logarithmic, n_ticks=n_ticks)

    def share(self, value: float) -> float:
        """How far a value is on the way from the beginning to the end."""
        if self.logarithmic:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    @cached_property
    def ticks(self) -> list[float]:
        """Round numbers along the axis."""
        return (self._ratios() if self.logarithmic else None) or self._steps()

    @cached_property
    def labels(self) -> list[str]:
        """The same as they are written."""
        if self.logarithmic and self._ratios():
            return [written(tick) for tick in self.ticks]
        return _alike(self.ticks, _step((self.high - self.low) / self.n_ticks))

    def _steps(self) -> list[float]:
        step = _step((self.high - self.low) / self.n_ticks)
        first, last = math.ceil(self.low / step - 1e-6), math.floor(self.high / step + 1e-6)
        return [number * step for number in range(first, last + 1)]

    def _ratios(self) -> list[float] | None:
        """Powers of ten, with 2 and 5 between where there is room; None where too few are on the axis."""
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        for parts in ((1, 2, 5), (1, 3), (1,)):
            found = [
                tick
                for power in range(first, last + 1)
                for part in parts
                if self.low <= (tick := part * 10.0**power) <= self.high
            ]
            if len(found) <= self.n_ticks + 1:
                return found if len(found) >= 3 else None
        stride = math.ceil(len(found) / self.n_ticks)
        return found[::stride]


def written(value: float) -> str:
    """A number in few characters: 0.512, 23.4, 1.2k, 3e-4."""
    size = abs(value)
    if size >= _FIRST_UNIT:
        unit, letter = _unit(size)
        return f"{value / unit:.3g}{letter}" if size < 1e15 else _power(f"{value:.2e}")
    if size >= 1000:
        return f"{value:.0f}"
    return f"{value:.3g}" if size >= _SMALL or size == 0 else _power(f"{value:.2e}")


def _alike(ticks: list[float], step: float) -> list[str]:
    """Numbers with as many digits as tell each from the next."""
    greatest = max(map(abs, ticks), default=0.0)
    if 0 < greatest < _SMALL or greatest >= 1e15:
        return ["0" if abs(tick) < step / 2 else _power(f"{tick:.6e}") for tick in ticks]
    unit, letter = _unit(greatest) if greatest >= _FIRST_UNIT else (1.0, "")
    n_digits = max(0, -math.floor(math.log10(step / unit) + 1e-9))
    return ["0" if abs(tick) < step / 2 else f"{tick / unit:.{n_digits}f}{letter}" for tick in ticks]


def _unit(size: float) -> tuple[float, str]:
    return next(pair for pair in _UNITS if size >= pair[0])


def _power(text: str) -> str:
    """3.00e-04 as 3e-4."""
    digits, _, power = text.partition("e")
    return f"{digits.rstrip('0').rstrip('.') if '.' in digits else digits}e{int(power)}"


def _step(least: float) -> float:
    """The smallest of 1, 2 and 5 times a power of ten that is not below."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(step * power for step in _STEPS if step * power >= least * (1 - 1e-9))
