"""What a family of published checkpoints adds: one translation of configurations, one table of names."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from torch import Tensor

from clearhead.config import HeadConfig, HeadKind, ModelConfig
from clearhead.errors import WeightsError
from clearhead.weights.foreign import ForeignConfig
from clearhead.weights.names import Rule


def _none(config: ModelConfig, prefix: str) -> dict[str, Tensor]:
    del config, prefix
    return {}


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """How one family of checkpoints says what we say.

    Attributes:
        name: The family's `model_type`.
        heads: The head of each class name in `architectures`; the first of a kind is the one we write.
        default: The class where `architectures` is absent.
        prefix: What the names of the body begin with where the checkpoint has a head.
        read: The model of a foreign configuration, given its head.
        write: The foreign configuration of a model, without its head.
        rules: The name table of a model, given the prefix.
        ignored: Beginnings or endings of foreign names that hold nothing of the model.
        computed: Foreign tensors that other programs want and no parameter of ours holds, given the prefix.
    """

    name: str
    heads: Mapping[str, HeadKind]
    default: str
    prefix: str
    read: Callable[[ForeignConfig, HeadKind], ModelConfig]
    write: Callable[[ModelConfig], dict[str, Any]]
    rules: Callable[[ModelConfig, str], list[Rule]]
    ignored: tuple[str, ...] = field(default=())
    computed: Callable[[ModelConfig, str], dict[str, Tensor]] = _none

    def head_of(self, config: ForeignConfig) -> HeadKind:
        """The head that a configuration asks for."""
        named: Any = config.data.get("architectures") or [self.default]
        name = str(cast("list[Any]", named)[0]) if isinstance(named, list) else str(named)
        if name not in self.heads:
            raise config.refuse("architectures", name, expected=", ".join(self.heads))
        return self.heads[name]

    def class_of(self, head: HeadConfig) -> str:
        """The class name that other programs look for."""
        kind = HeadKind.NONE if head.kind is HeadKind.SENTENCE else head.kind
        for name, known in self.heads.items():
            if known is kind:
                return name
        raise WeightsError(
            f"the {self.name} layout has no class for this head",
            got=head.kind,
            expected=", ".join(dict.fromkeys(self.heads.values())),
        )

    def prefix_of(self, config: ModelConfig) -> str:
        """What the names of the body begin with when we write it."""
        return "" if config.head.kind in (HeadKind.NONE, HeadKind.SENTENCE) else self.prefix
