"""A folder becomes a model."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from torch import Tensor

from clearhead.config import ModelConfig
from clearhead.errors import ConfigError, WeightsError, nearest
from clearhead.models import DecoderOnly, EncoderDecoder, EncoderOnly, blank
from clearhead.weights.families import DIALECTS, Dialect
from clearhead.weights.foreign import ForeignConfig
from clearhead.weights.names import Rule, to_native
from clearhead.weights.sentence import read_sentence_head
from clearhead.weights.strict_json import read_object
from clearhead.weights.tensors import read_tensors
from clearhead.weights.whole_numbers import restored

CONFIG = "config.json"
GENERATION = "generation_config.json"
_MAX_JSON_BYTES = 16 * 2**20


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """A model as a folder holds it.

    Attributes:
        model: The model, in float32, ready to run.
        family: The `model_type` of its configuration.
        foreign: The whole config.json, so that saving loses nothing of it.
        generation: The whole generation_config.json; empty where there is none.
        unused: Names of tensors that the model has no place for.
    """

    model: EncoderOnly | DecoderOnly | EncoderDecoder
    family: str
    foreign: Mapping[str, Any]
    generation: Mapping[str, Any]
    unused: tuple[str, ...] = ()

    @property
    def config(self) -> ModelConfig:
        """What the model is."""
        return self.model.config


def load_checkpoint(folder: Path) -> Checkpoint:
    """Reads a folder in the layout of published checkpoints.

    Raises:
        WeightsError: Whatever is wrong with it, with the file, the key or the tensor.
    """
    foreign = read_object(folder / CONFIG, limit=_MAX_JSON_BYTES)
    generation = read_object(folder / GENERATION, limit=_MAX_JSON_BYTES) if (folder / GENERATION).is_file() else {}
    dialect = _dialect(foreign, folder / CONFIG)
    tensors = _respell(restored(read_tensors(folder)), dialect)
    config = _read_config(folder, foreign | _token_keys(generation), dialect, tensors)
    model = blank(config)
    rules = dialect.rules(config, _prefix(tensors, dialect))
    unused = _unused(rules, tensors, dialect)
    shapes = {name: parameter.shape for name, parameter in model.named_parameters()}
    native = to_native(rules, tensors, shapes)
    del tensors  # so that what is laid out anew does not lie there twice for long
    for name in native:
        native[name] = native[name].contiguous()
    model.set_parameters(native)
    return Checkpoint(model=model, family=dialect.name, foreign=foreign, generation=generation, unused=unused)


def _dialect(foreign: Mapping[str, Any], path: Path) -> Dialect:
    name = foreign.get("model_type")
    if not isinstance(name, str) or name not in DIALECTS:
        raise WeightsError(
            f"{path}: a family that is not supported",
            got=f"model_type={name!r}"[:100],
            expected=", ".join(DIALECTS),
            advice=nearest(name, DIALECTS) if isinstance(name, str) else None,
        )
    return DIALECTS[name]


def _read_config(
    folder: Path, foreign: Mapping[str, Any], dialect: Dialect, tensors: Mapping[str, Tensor]
) -> ModelConfig:
    outside = ForeignConfig(data=foreign, tensors=tensors.keys(), where=str(folder / CONFIG))
    try:
        config = dialect.read(outside, dialect.head_of(outside))
        sentence = read_sentence_head(folder, config.head)
        return config if sentence is None else replace(config, head=sentence)
    except ConfigError as error:
        raise WeightsError(
            f"{folder / CONFIG}: {error.problem}", got=error.got, expected=error.expected, advice=error.advice
        ) from None


def _token_keys(generation: Mapping[str, Any]) -> dict[str, Any]:
    """What generation_config.json says of the ids; it is the newer file and wins."""
    return {key: value for key, value in generation.items() if key.endswith("_token_id") and value is not None}


def _respell(tensors: Mapping[str, Tensor], dialect: Dialect) -> dict[str, Tensor]:
    """Norms of early checkpoints have a gamma and a beta."""
    if dialect.name != "bert":
        return dict(tensors)
    endings = {".LayerNorm.gamma": ".LayerNorm.weight", ".LayerNorm.beta": ".LayerNorm.bias"}
    respelt: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        for old, new in endings.items():
            name = name.removesuffix(old) + new if name.endswith(old) else name  # noqa: PLW2901  (at most one fits)
        respelt[name] = tensor
    return respelt


def _prefix(tensors: Mapping[str, Tensor], dialect: Dialect) -> str:
    """The prefix of the body, unless the checkpoint was saved without a head."""
    return dialect.prefix if any(name.startswith(dialect.prefix) for name in tensors) else ""


def _unused(rules: list[Rule], tensors: Mapping[str, Tensor], dialect: Dialect) -> tuple[str, ...]:
    """The tensors that the model has no place for.

    Raises:
        WeightsError: One of them is that of a layer, which the configuration does not count.
    """
    known = {line.foreign for line in rules}
    kinds = {_unnumbered(name) for name in known}
    left = [name for name in tensors if name not in known and not name.endswith(dialect.ignored)]
    for name in left:
        if _unnumbered(name) in kinds:
            raise WeightsError(
                "the checkpoint has more layers than its configuration says",
                got=name,
                expected=f"{len(known)} tensors",
                advice="the config.json that belongs to these weights",
            )
    return tuple(left)


def _unnumbered(name: str) -> str:
    return re.sub(r"\.\d+\.", ".#.", name)
