"""Llama, and Mistral and Qwen2, which differ from it by configuration only."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from clearhead.config import (
    AttentionConfig,
    EmbeddingConfig,
    FeedForwardConfig,
    HeadConfig,
    HeadKind,
    ModelConfig,
    NormConfig,
    NormKind,
    PositionConfig,
    PositionKind,
    RotaryScaling,
    RotaryScalingKind,
    StackConfig,
)
from clearhead.errors import WeightsError
from clearhead.weights.families.dialect import Dialect
from clearhead.weights.foreign import FOREIGN_ACTIVATIONS, ForeignConfig, token_settings
from clearhead.weights.names import Rule, both, rule

_SCALINGS = {kind.value: kind for kind in RotaryScalingKind}
_FOREIGN_SCALING = {
    "factor": "factor",
    "original_max_position_embeddings": "original_length",
    "low_freq_factor": "low_frequency_factor",
    "high_freq_factor": "high_frequency_factor",
    "beta_fast": "beta_fast",
    "beta_slow": "beta_slow",
    "attention_factor": "attention_factor",
}


def _read(config: ForeignConfig, head: HeadKind) -> ModelConfig:
    bias = config.flag("attention_bias", default=False)
    return _model(config, head, bias=bias, output_bias=bias, mlp_bias=config.flag("mlp_bias", default=False))


def _read_mistral(config: ForeignConfig, head: HeadKind) -> ModelConfig:
    return _model(config, head, window=config.optional_size("sliding_window"), n_kv_heads=8)


def _read_qwen2(config: ForeignConfig, head: HeadKind) -> ModelConfig:
    windowed = config.flag("use_sliding_window", default=False)
    if windowed and config.size("max_window_layers", 28) < config.size("num_hidden_layers"):
        raise config.refuse("use_sliding_window", windowed, expected="one window for all layers, or none")
    return _model(config, head, bias=True)


def _model(
    config: ForeignConfig,
    head: HeadKind,
    *,
    bias: bool = False,
    output_bias: bool = False,
    mlp_bias: bool = False,
    window: int | None = None,
    n_kv_heads: int | None = None,
) -> ModelConfig:
    n_heads = config.size("num_attention_heads")
    stack = StackConfig(
        n_layers=config.size("num_hidden_layers"),
        width=config.size("hidden_size"),
        embedding=EmbeddingConfig(vocab_size=config.size("vocab_size")),
        position=_position(config),
        attention=AttentionConfig(
            n_heads=n_heads,
            n_kv_heads=config.optional_size("num_key_value_heads") or n_kv_heads or n_heads,
            head_width=config.optional_size("head_dim"),
            bias=bias,
            output_bias=output_bias,
            window=window,
            dropout=config.number("attention_dropout", 0.0),
        ),
        feedforward=FeedForwardConfig(
            width=config.size("intermediate_size"),
            activation=config.activation("hidden_act", "silu"),
            gated=True,
            bias=mlp_bias,
        ),
        norm=NormConfig(kind=NormKind.RMS, epsilon=config.number("rms_norm_eps", 1e-6)),
    )
    tied = config.flag("tie_word_embeddings", default=False)
    return ModelConfig(decoder=stack, head=HeadConfig(kind=head, tied=tied), tokens=config.tokens())


def _position(config: ForeignConfig) -> PositionConfig:
    # Older configurations say theta beside the scaling, newer ones inside.
    rope = config.table("rope_parameters") or config.table("rope_scaling") or {}
    inside = replace(config, data=rope, where=f"{config.where}: rotary positions")
    inside.require("partial_rotary_factor", (1, 1.0), default=1.0)
    max_length = config.size("max_position_embeddings", 2048)
    theta = inside.number("rope_theta", config.number("rope_theta", 10_000.0))
    return PositionConfig(
        kind=PositionKind.ROTARY, max_length=max_length, theta=theta, scaling=_scaling(inside, rope, max_length)
    )


def _scaling(inside: ForeignConfig, rope: Mapping[str, Any], max_length: int) -> RotaryScaling | None:
    name = inside.text("rope_type", inside.text("type", "default"))
    if name == "default":
        return None
    kind = inside.choice("rope_type", name, _SCALINGS)
    inside.require("truncate", (True,), default=True)
    factor = inside.number("factor")
    numbers = {ours: rope[theirs] for theirs, ours in _FOREIGN_SCALING.items() if rope.get(theirs) is not None}
    if kind is RotaryScalingKind.DYNAMIC:
        numbers["original_length"] = max_length  # the reference reads no other key here
    elif kind is not RotaryScalingKind.LINEAR:
        numbers.setdefault("original_length", max_length)
    if kind is RotaryScalingKind.YARN and rope.get("mscale") and rope.get("mscale_all_dim"):
        ratio = _gain(factor, inside.number("mscale")) / _gain(factor, inside.number("mscale_all_dim"))
        numbers.setdefault("attention_factor", ratio)
    return RotaryScaling(kind=kind, **numbers)


def _gain(factor: float, weight: float) -> float:
    """What `yarn` multiplies cosines and sines by, as configurations with two weights spell it."""
    return 0.1 * weight * math.log(max(factor, 1.0)) + 1.0


def _write(config: ModelConfig) -> dict[str, Any]:
    stack = config.output_stack
    attention = stack.attention
    return {
        "vocab_size": stack.embedding.vocab_size,
        "hidden_size": stack.width,
        "intermediate_size": stack.feedforward.width,
        "num_hidden_layers": stack.n_layers,
        "num_attention_heads": attention.n_heads,
        "num_key_value_heads": attention.kv_heads,
        "head_dim": stack.head_width,
        "hidden_act": FOREIGN_ACTIVATIONS[stack.feedforward.activation],
        "max_position_embeddings": stack.position.max_length or 2048,
        "rms_norm_eps": stack.norm.epsilon,
        "attention_dropout": attention.dropout,
        "tie_word_embeddings": config.head.tied,
        "rope_theta": stack.position.theta,
        "rope_parameters": _write_rotary(stack.position),
        **token_settings(config.tokens),
    }


def _write_llama(config: ModelConfig) -> dict[str, Any]:
    stack = config.output_stack
    if stack.attention.bias is not stack.attention.output_bias or stack.attention.window is not None:
        raise WeightsError(
            "the llama layout has biases on all projections or none, and no window",
            got=stack.attention,
            advice="the mistral or qwen2 layout",
        )
    return _write(config) | {"attention_bias": stack.attention.bias, "mlp_bias": stack.feedforward.bias}


def _write_mistral(config: ModelConfig) -> dict[str, Any]:
    return _write(config) | {"sliding_window": config.output_stack.attention.window}


def _write_qwen2(config: ModelConfig) -> dict[str, Any]:
    return _write(config) | {"use_sliding_window": False}


def _write_rotary(position: PositionConfig) -> dict[str, Any]:
    rope: dict[str, Any] = {"rope_theta": position.theta, "rope_type": "default"}
    if position.scaling is not None:
        rope["rope_type"] = position.scaling.kind.value
        numbers = {theirs: getattr(position.scaling, ours) for theirs, ours in _FOREIGN_SCALING.items()}
        rope |= {key: value for key, value in numbers.items() if value is not None}
    return rope


def _rules(config: ModelConfig, prefix: str) -> list[Rule]:
    stack = config.output_stack
    rules = [
        rule("decoder.embedding.token.weight", f"{prefix}embed_tokens.weight"),
        rule("decoder.final_norm.weight", f"{prefix}norm.weight"),
    ]
    for index in range(stack.n_layers):
        ours, theirs = f"decoder.blocks.{index}", f"{prefix}layers.{index}"
        rules += [
            rule(f"{ours}.self_norm.weight", f"{theirs}.input_layernorm.weight"),
            rule(f"{ours}.ffn_norm.weight", f"{theirs}.post_attention_layernorm.weight"),
            *both(f"{ours}.self_attention.query", f"{theirs}.self_attn.q_proj", bias=stack.attention.bias),
            *both(f"{ours}.self_attention.key", f"{theirs}.self_attn.k_proj", bias=stack.attention.bias),
            *both(f"{ours}.self_attention.value", f"{theirs}.self_attn.v_proj", bias=stack.attention.bias),
            *both(f"{ours}.self_attention.output", f"{theirs}.self_attn.o_proj", bias=stack.attention.output_bias),
            *both(f"{ours}.ffn.gate", f"{theirs}.mlp.gate_proj", bias=stack.feedforward.bias),
            *both(f"{ours}.ffn.up", f"{theirs}.mlp.up_proj", bias=stack.feedforward.bias),
            *both(f"{ours}.ffn.down", f"{theirs}.mlp.down_proj", bias=stack.feedforward.bias),
        ]
    if config.head.over_vocabulary and not config.head.tied:
        rules.append(rule("head.untied.weight", "lm_head.weight"))
    return rules


_IGNORED = (".rotary_emb.inv_freq", "lm_head.weight")

LLAMA = Dialect(
    name="llama",
    heads={"LlamaForCausalLM": HeadKind.LANGUAGE_MODEL, "LlamaModel": HeadKind.NONE},
    default="LlamaForCausalLM",
    prefix="model.",
    read=_read,
    write=_write_llama,
    rules=_rules,
    ignored=_IGNORED,
)
MISTRAL = replace(
    LLAMA,
    name="mistral",
    heads={"MistralForCausalLM": HeadKind.LANGUAGE_MODEL, "MistralModel": HeadKind.NONE},
    default="MistralForCausalLM",
    read=_read_mistral,
    write=_write_mistral,
)
QWEN2 = replace(
    LLAMA,
    name="qwen2",
    heads={"Qwen2ForCausalLM": HeadKind.LANGUAGE_MODEL, "Qwen2Model": HeadKind.NONE},
    default="Qwen2ForCausalLM",
    read=_read_qwen2,
    write=_write_qwen2,
)
