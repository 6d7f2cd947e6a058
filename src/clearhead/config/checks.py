"""The checks that every configuration makes of its own values."""

from clearhead.errors import ConfigError

LARGEST_SIZE = 2**31 - 1
"""Beyond this a size is a mistake, or an attack by a config file."""


def require_size(name: str, value: object, *, least: int = 1) -> None:
    """Raises unless a value is a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= LARGEST_SIZE:
        raise ConfigError(
            f"{name} must be a whole number",
            got=f"{name}={value!r}",
            expected=f"{least} to {LARGEST_SIZE}",
        )


def require_share(name: str, value: float) -> None:
    """Raises unless a value is a probability that leaves something: 0 <= value < 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1:  # pyright: ignore[reportUnnecessaryIsInstance]  (JSON and callers may lie)
        raise ConfigError(f"{name} must be a share", got=f"{name}={value!r}", expected="0 <= share < 1", advice="0.1")


def require_positive(name: str, value: float) -> None:
    """Raises unless a value is a finite number above 0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):  # pyright: ignore[reportUnnecessaryIsInstance]  (JSON and callers may lie)
        raise ConfigError(f"{name} must be above 0", got=f"{name}={value!r}", expected="a finite number above 0")


def divisors(number: int) -> str:
    """The divisors of a width, as advice for a number of heads."""
    found = [str(d) for d in range(1, min(number, 128) + 1) if number % d == 0]
    return "a divisor of " + str(number) + ": " + ", ".join(found)
