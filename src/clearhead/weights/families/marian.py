"""Marian: the translators of OPUS-MT, and the layout of those that are trained here."""

from dataclasses import replace
from typing import Any

from torch import Tensor

from clearhead.config import (
    AttentionConfig,
    EmbeddingConfig,
    FeedForwardConfig,
    HeadConfig,
    HeadKind,
    ModelConfig,
    NormConfig,
    NormPlacement,
    PositionConfig,
    PositionKind,
    StackConfig,
)
from clearhead.nn import SinusoidalPosition
from clearhead.weights.families.dialect import Dialect
from clearhead.weights.foreign import FOREIGN_ACTIVATIONS, ForeignConfig, token_settings
from clearhead.weights.names import Rule, both, rule

_EPSILON = 1e-5
"""Marian's configuration does not say it."""

_MAX_LENGTH = 512


def _read(config: ForeignConfig, head: HeadKind) -> ModelConfig:
    config.require("normalize_before", (False,), default=False)
    config.require("normalize_embedding", (False,), default=False)
    config.require("static_position_embeddings", (True,), default=True)
    shared = config.flag("share_encoder_decoder_embeddings", default=True)
    vocab_size = config.size("vocab_size")
    encoder = _read_stack(config, "encoder", vocab_size)
    tokens = config.tokens()
    start = tokens.pad if tokens.decoder_start is None else tokens.decoder_start
    return ModelConfig(
        encoder=encoder,
        decoder=_read_stack(config, "decoder", config.optional_size("decoder_vocab_size") or vocab_size),
        head=HeadConfig(
            kind=head,
            tied=config.flag("tie_word_embeddings", default=True),
            bias=head is HeadKind.LANGUAGE_MODEL,
        ),
        share_embeddings=shared,
        tokens=replace(tokens, decoder_start=start),
    )


def _read_stack(config: ForeignConfig, name: str, vocab_size: int) -> StackConfig:
    return StackConfig(
        n_layers=config.size(f"{name}_layers"),
        width=config.size("d_model"),
        embedding=EmbeddingConfig(vocab_size=vocab_size, scaled=config.flag("scale_embedding", default=False)),
        position=PositionConfig(
            kind=PositionKind.SINUSOIDAL_HALVES, max_length=config.size("max_position_embeddings", _MAX_LENGTH)
        ),
        attention=AttentionConfig(
            n_heads=config.size(f"{name}_attention_heads"), dropout=config.number("attention_dropout", 0.0)
        ),
        feedforward=FeedForwardConfig(
            width=config.size(f"{name}_ffn_dim"),
            activation=config.activation("activation_function", "gelu"),
            dropout=config.number("activation_dropout", 0.0),
        ),
        norm=NormConfig(placement=NormPlacement.AFTER, epsilon=_EPSILON, final=False),
        dropout=config.number("dropout", 0.1),
    )


def _write(config: ModelConfig) -> dict[str, Any]:
    encoder, decoder = config.encoder, config.decoder
    assert encoder is not None and decoder is not None
    settings: dict[str, Any] = {
        "vocab_size": encoder.embedding.vocab_size,
        "decoder_vocab_size": decoder.embedding.vocab_size,
        "d_model": encoder.width,
        "num_hidden_layers": encoder.n_layers,
        "max_position_embeddings": encoder.position.max_length or _MAX_LENGTH,
        "activation_function": FOREIGN_ACTIVATIONS[encoder.feedforward.activation],
        "scale_embedding": encoder.embedding.scaled,
        "dropout": encoder.dropout,
        "attention_dropout": encoder.attention.dropout,
        "activation_dropout": encoder.feedforward.dropout,
        "static_position_embeddings": True,
        "normalize_before": False,
        "normalize_embedding": False,
        "add_final_layer_norm": False,
        "is_encoder_decoder": True,
        "share_encoder_decoder_embeddings": config.share_embeddings,
        "tie_word_embeddings": config.head.tied,
        "forced_eos_token_id": config.tokens.end[0] if config.tokens.end else None,
        **token_settings(config.tokens),
    }
    for name, stack in (("encoder", encoder), ("decoder", decoder)):
        settings |= {
            f"{name}_layers": stack.n_layers,
            f"{name}_attention_heads": stack.attention.n_heads,
            f"{name}_ffn_dim": stack.feedforward.width,
        }
    return settings


def _rules(config: ModelConfig, prefix: str) -> list[Rule]:
    assert config.encoder is not None and config.decoder is not None
    if config.share_embeddings:
        rules = [rule("encoder.embedding.token.weight", f"{prefix}shared.weight")]
    else:
        rules = [
            rule("encoder.embedding.token.weight", f"{prefix}encoder.embed_tokens.weight"),
            rule("decoder.embedding.token.weight", f"{prefix}decoder.embed_tokens.weight"),
        ]
    for name, stack in (("encoder", config.encoder), ("decoder", config.decoder)):
        for index in range(stack.n_layers):
            ours, theirs = f"{name}.blocks.{index}", f"{prefix}{name}.layers.{index}"
            rules += _attention_rules(f"{ours}.self", f"{theirs}.self_attn")
            if name == "decoder":
                rules += _attention_rules(f"{ours}.cross", f"{theirs}.encoder_attn")
            rules += both(f"{ours}.ffn.up", f"{theirs}.fc1") + both(f"{ours}.ffn.down", f"{theirs}.fc2")
            rules += both(f"{ours}.ffn_norm", f"{theirs}.final_layer_norm")
    if config.head.over_vocabulary:
        rules.append(rule("head.bias", "final_logits_bias", row=True))
        if not config.head.tied:
            rules.append(rule("head.untied.weight", "lm_head.weight"))
    return rules


def _attention_rules(ours: str, theirs: str) -> list[Rule]:
    maps = {"query": "q_proj", "key": "k_proj", "value": "v_proj", "output": "out_proj"}
    rules = [line for mine, other in maps.items() for line in both(f"{ours}_attention.{mine}", f"{theirs}.{other}")]
    return rules + both(f"{ours}_norm", f"{theirs}_layer_norm")


def _computed(config: ModelConfig, prefix: str) -> dict[str, Tensor]:
    """The sinusoids, which the reference computes for a translator and wants to be given for a bare model."""
    if config.head.kind is not HeadKind.NONE:
        return {}
    tables: dict[str, Tensor] = {}
    for name, stack in (("encoder", config.encoder), ("decoder", config.decoder)):
        assert stack is not None
        position = SinusoidalPosition(width=stack.width, theta=stack.position.theta, halves=True)
        table_TD = position.table(stack.position.max_length or _MAX_LENGTH).float()
        tables[f"{prefix}{name}.embed_positions.weight"] = table_TD
    return tables


MARIAN = Dialect(
    name="marian",
    heads={"MarianMTModel": HeadKind.LANGUAGE_MODEL, "MarianModel": HeadKind.NONE},
    default="MarianMTModel",
    prefix="model.",
    read=_read,
    write=_write,
    rules=_rules,
    ignored=(
        "embed_positions.weight",
        "encoder.embed_tokens.weight",
        "decoder.embed_tokens.weight",
        "lm_head.weight",
    ),
    computed=_computed,
)
