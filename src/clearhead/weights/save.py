"""A model becomes a folder that other programs open."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import torch
from torch import nn

from clearhead.config import HeadConfig, HeadKind, ModelConfig, StackConfig
from clearhead.errors import ClearheadError, ConfigError, TextError, WeightsError, nearest
from clearhead.nn import TokenEmbedding
from clearhead.text.files import replacing
from clearhead.weights.families import DIALECTS, Dialect
from clearhead.weights.foreign import ForeignConfig, token_settings
from clearhead.weights.load import CONFIG, GENERATION, Checkpoint
from clearhead.weights.names import to_foreign
from clearhead.weights.sentence import sentence_files
from clearhead.weights.tensors import write_tensors
from clearhead.weights.whole_numbers import METHOD, rounded

PRECISIONS: Mapping[str, torch.dtype] = {
    "float32": torch.float32,
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "int8": torch.float32,
}
"""How the numbers of weights may be written; with int8, those that are not in a matrix."""
_STALE = ("torch_dtype", "rope_scaling", "quantization_config", "transformers_version")
"""Keys of a loaded configuration that are no longer true of what we write."""


def save_checkpoint(checkpoint: Checkpoint, folder: Path, *, precision: str = "float32") -> None:
    """Writes the configuration and the weights of a model in the layout of its family.

    Args:
        checkpoint: The model.
        folder: Where to.
        precision: One of `PRECISIONS`.

    Raises:
        ConfigError: No such precision.
        WeightsError: The folder cannot be written, or the family has no place for the model.
    """
    if precision not in PRECISIONS:
        raise ConfigError(
            "an unknown precision",
            got=precision,
            expected=", ".join(PRECISIONS),
            advice=nearest(precision, PRECISIONS),
        )
    dialect, config = DIALECTS[checkpoint.family], checkpoint.config
    kept = {key: value for key, value in checkpoint.foreign.items() if key not in _STALE}
    written = dialect.write(config) | {
        "model_type": dialect.name,
        "architectures": [dialect.class_of(config.head)],
        "dtype": str(PRECISIONS[precision]).removeprefix("torch."),
    }
    parameters = {name: parameter.detach() for name, parameter in checkpoint.model.named_parameters()}
    prefix = dialect.prefix_of(config)
    rules = dialect.rules(config, prefix)
    tensors = to_foreign(rules, parameters)
    if precision == "int8":
        written["quantization_config"] = {"quant_method": METHOD}
        tensors = rounded(tensors, rules, _matrices(checkpoint.model))
    tensors |= dialect.computed(config, prefix)
    files: dict[str, Any] = {CONFIG: kept | written}
    if config.head.kind is HeadKind.LANGUAGE_MODEL:
        tokens = {key: value for key, value in token_settings(config.tokens).items() if value is not None}
        files[GENERATION] = dict(checkpoint.generation) | tokens
    if config.head.kind is HeadKind.SENTENCE:
        stack = config.output_stack
        files |= sentence_files(config.head, width=stack.width, max_length=stack.position.max_length)
    # The weights last: a folder that has them has everything.
    write_objects(folder, files)
    write_tensors(folder, tensors, dtype=PRECISIONS[precision])


def _matrices(model: nn.Module) -> set[str]:
    """The parameters that the engine, too, holds as whole numbers where it is asked to."""
    parts = cast(Iterable[tuple[str, nn.Module]], model.named_modules())
    return {f"{name}.weight" for name, part in parts if isinstance(part, nn.Linear | TokenEmbedding)}


def write_objects(folder: Path, files: Mapping[str, Any]) -> None:
    """Writes JSON files into a folder, each wholly or not at all."""
    for name, content in files.items():
        try:
            with replacing(folder / name) as stream:
                stream.write(json.dumps(content, ensure_ascii=False, indent=2).encode("utf-8") + b"\n")
        except TextError as error:
            raise WeightsError(f"{folder / name} cannot be written", got=error.got, advice=error.advice) from None


def family_of(config: ModelConfig) -> str:
    """The family whose layout says all that a configuration says.

    Raises:
        WeightsError: None does.
    """
    for dialect in DIALECTS.values():
        if _says_all(dialect, config):
            return dialect.name
    raise WeightsError(
        "no published layout has a place for this configuration",
        got=f"an {config.family} model",
        expected=f"what one of {', '.join(DIALECTS)} can say",
        advice="clearhead.config.architecture(name, …) makes configurations that can be saved",
    )


def _says_all(dialect: Dialect, config: ModelConfig) -> bool:
    """Whether a configuration survives being written and read."""
    try:
        rules = dialect.rules(config, dialect.prefix)
        written = dialect.write(config) | {"architectures": [dialect.class_of(config.head)]}
        outside = ForeignConfig(data=written, tensors={line.foreign for line in rules})
        return _essence(dialect.read(outside, dialect.head_of(outside))) == _essence(config)
    except (ClearheadError, AssertionError):
        return False


def _essence(config: ModelConfig) -> ModelConfig:
    """A configuration with derived values spelled out, without what only training reads or other files say."""

    def bare(stack: StackConfig | None) -> StackConfig | None:
        if stack is None:
            return None
        attention = replace(stack.attention, n_kv_heads=stack.attention.kv_heads, head_width=stack.head_width)
        return replace(
            stack,
            attention=replace(attention, dropout=0.0),
            feedforward=replace(stack.feedforward, dropout=0.0),
            dropout=0.0,
        )

    head = replace(config.head, dropout=0.0)
    if head.kind is HeadKind.SENTENCE:
        head = replace(HeadConfig(), tied=head.tied, activation=head.activation, pooler=head.pooler)
    return replace(config, encoder=bare(config.encoder), decoder=bare(config.decoder), head=head)
