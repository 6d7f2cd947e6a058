"""A published config.json, read key by key, with an error that names the key."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from clearhead.config import Activation, TokenIds
from clearhead.errors import WeightsError, nearest

Kind = TypeVar("Kind")

_ACTIVATIONS = {
    "relu": Activation.RELU,
    "gelu": Activation.GELU,
    "gelu_new": Activation.GELU_TANH,
    "gelu_pytorch_tanh": Activation.GELU_TANH,
    "gelu_fast": Activation.GELU_TANH,
    "silu": Activation.SILU,
    "swish": Activation.SILU,
    "tanh": Activation.TANH,
}
FOREIGN_ACTIVATIONS = {
    Activation.RELU: "relu",
    Activation.GELU: "gelu",
    Activation.GELU_TANH: "gelu_new",
    Activation.SILU: "silu",
    Activation.TANH: "tanh",
}
"""How published configurations spell our activations."""


@dataclass(frozen=True, kw_only=True)
class ForeignConfig:
    """A published configuration.

    Attributes:
        data: The keys and values of config.json.
        tensors: The names of the checkpoint's tensors, for what the configuration leaves open.
        where: The file, for messages.
    """

    data: Mapping[str, Any]
    tensors: Collection[str] = ()
    where: str = "config.json"

    def size(self, key: str, default: int | None = None) -> int:
        """A whole number that must be there unless there is a default."""
        return self._typed(key, int, default)

    def optional_size(self, key: str) -> int | None:
        """A whole number, or None where it is absent or null."""
        return None if self.data.get(key) is None else self._typed(key, int, None)

    def number(self, key: str, default: float | None = None) -> float:
        """A number that must be there unless there is a default."""
        return float(self._typed(key, (int, float), default))

    def flag(self, key: str, *, default: bool) -> bool:
        """True or False."""
        return self._typed(key, bool, default)

    def text(self, key: str, default: str | None = None) -> str:
        """A string that must be there unless there is a default."""
        return self._typed(key, str, default)

    def activation(self, key: str, default: str | None = None) -> Activation:
        """The activation that a string names."""
        return self.choice(key, self.text(key, default), _ACTIVATIONS)

    def choice(self, key: str, value: str, known: Mapping[str, Kind]) -> Kind:
        """What a string stands for, out of those that we have."""
        if value not in known:
            raise self.refuse(key, value, expected=", ".join(known), advice=nearest(value, known))
        return known[value]

    def table(self, key: str) -> Mapping[str, Any] | None:
        """An object, or None where it is absent or null."""
        return None if self.data.get(key) is None else cast("Mapping[str, Any]", self._typed(key, dict, None))

    def labels(self) -> tuple[str, ...]:
        """The names of the classes, in the order of their numbers."""
        named = self.table("id2label")
        if named is None:
            return tuple(f"LABEL_{index}" for index in range(self.size("num_labels", 2)))
        try:
            return tuple(str(named[key]) for key in sorted(named, key=int))
        except ValueError:
            raise self.refuse("id2label", list(named), expected="whole numbers as keys") from None

    def tokens(self) -> TokenIds:
        """The ids that begin, end and pad."""
        end: Any = self.data.get("eos_token_id")
        ends = tuple(cast("list[Any]", end)) if isinstance(end, list) else () if end is None else (end,)
        if not all(type(item) is int for item in ends):
            raise self.refuse("eos_token_id", list(ends), expected="a whole number, or a list of them")
        return TokenIds(
            pad=self.optional_size("pad_token_id"),
            start=self.optional_size("bos_token_id"),
            end=ends,
            decoder_start=self.optional_size("decoder_start_token_id"),
        )

    def require(self, key: str, allowed: Collection[Any], *, default: Any) -> None:
        """Raises unless a value is one of those that we can compute."""
        value = self.data.get(key, default)
        if value not in allowed:
            raise self.refuse(key, value, expected=" or ".join(map(repr, allowed)))

    def refuse(self, key: str, value: object, *, expected: str, advice: str | None = None) -> WeightsError:
        """The error for a value that we cannot compute with."""
        return WeightsError(
            f"{self.where}: {key} has a value that is not supported",
            got=f"{key}={value!r}"[:200],
            expected=expected,
            advice=advice,
        )

    def _typed(self, key: str, kind: Any, default: Any) -> Any:
        value = self.data.get(key)
        value = default if value is None else value
        if value is None:
            raise WeightsError(
                f"{self.where}: a key is missing",
                got=f"no {key}",
                expected=f"a value for {key}",
                advice=nearest(key, self.data),
            )
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise self.refuse(key, value, expected=str(getattr(kind, "__name__", "a number")))
        return value


def token_settings(tokens: TokenIds) -> dict[str, Any]:
    """The ids that begin, end and pad, as published configurations spell them."""
    settings: dict[str, Any] = {"pad_token_id": tokens.pad, "bos_token_id": tokens.start}
    settings["eos_token_id"] = None if not tokens.end else tokens.end[0] if len(tokens.end) == 1 else list(tokens.end)
    if tokens.decoder_start is not None:
        settings["decoder_start_token_id"] = tokens.decoder_start
    return settings


def label_settings(labels: tuple[str, ...]) -> dict[str, Any]:
    """The names of the classes, as published configurations spell them."""
    if not labels:
        return {}
    return {
        "id2label": {str(index): label for index, label in enumerate(labels)},
        "label2id": {label: index for index, label in enumerate(labels)},
    }
