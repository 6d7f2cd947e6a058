"""GPT-2 and DistilGPT-2."""

from typing import Any

from clearhead.config import (
    AttentionConfig,
    EmbeddingConfig,
    FeedForwardConfig,
    HeadConfig,
    HeadKind,
    ModelConfig,
    NormConfig,
    PositionConfig,
    PositionKind,
    ScorerKind,
    StackConfig,
)
from clearhead.weights.families.dialect import Dialect
from clearhead.weights.foreign import FOREIGN_ACTIVATIONS, ForeignConfig, token_settings
from clearhead.weights.names import Rule, both, rule


def _read(config: ForeignConfig, head: HeadKind) -> ModelConfig:
    config.require("scale_attn_by_inverse_layer_idx", (False,), default=False)
    config.require("add_cross_attention", (False,), default=False)
    width = config.size("n_embd", 768)
    scaled = config.flag("scale_attn_weights", default=True)
    stack = StackConfig(
        n_layers=config.size("n_layer", 12),
        width=width,
        embedding=EmbeddingConfig(vocab_size=config.size("vocab_size", 50257)),
        position=PositionConfig(kind=PositionKind.LEARNED, max_length=config.size("n_positions", 1024)),
        attention=AttentionConfig(
            n_heads=config.size("n_head", 12),
            scorer=ScorerKind.SCALED_DOT if scaled else ScorerKind.DOT,
            dropout=config.number("attn_pdrop", 0.1),
        ),
        feedforward=FeedForwardConfig(
            width=config.optional_size("n_inner") or 4 * width,
            activation=config.activation("activation_function", "gelu_new"),
        ),
        norm=NormConfig(epsilon=config.number("layer_norm_epsilon", 1e-5)),
        dropout=config.number("resid_pdrop", 0.1),
    )
    tied = config.flag("tie_word_embeddings", default=True)
    return ModelConfig(decoder=stack, head=HeadConfig(kind=head, tied=tied), tokens=config.tokens())


def _write(config: ModelConfig) -> dict[str, Any]:
    stack = config.output_stack
    return {
        "vocab_size": stack.embedding.vocab_size,
        "n_positions": stack.position.max_length,
        "n_embd": stack.width,
        "n_layer": stack.n_layers,
        "n_head": stack.attention.n_heads,
        "n_inner": stack.feedforward.width,
        "activation_function": FOREIGN_ACTIVATIONS[stack.feedforward.activation],
        "scale_attn_weights": stack.attention.scorer is ScorerKind.SCALED_DOT,
        "resid_pdrop": stack.dropout,
        "embd_pdrop": stack.dropout,
        "attn_pdrop": stack.attention.dropout,
        "layer_norm_epsilon": stack.norm.epsilon,
        "tie_word_embeddings": config.head.tied,
        **token_settings(config.tokens),
    }


def _rules(config: ModelConfig, prefix: str) -> list[Rule]:
    rules = [
        rule("decoder.embedding.token.weight", f"{prefix}wte.weight"),
        rule("decoder.embedding.position.weight", f"{prefix}wpe.weight"),
        *both("decoder.final_norm", f"{prefix}ln_f"),
    ]
    for index in range(config.output_stack.n_layers):
        ours, theirs = f"decoder.blocks.{index}", f"{prefix}h.{index}"
        looks = tuple(f"{ours}.self_attention.{part}" for part in ("query", "key", "value"))
        rules += [
            *both(f"{ours}.self_norm", f"{theirs}.ln_1"),
            *both(f"{ours}.ffn_norm", f"{theirs}.ln_2"),
            # Queries, keys and values lie side by side, and all weights have the inputs first.
            Rule(
                native=tuple(f"{name}.weight" for name in looks),
                foreign=f"{theirs}.attn.c_attn.weight",
                transposed=True,
            ),
            Rule(native=tuple(f"{name}.bias" for name in looks), foreign=f"{theirs}.attn.c_attn.bias"),
            *_turned(f"{ours}.self_attention.output", f"{theirs}.attn.c_proj"),
            *_turned(f"{ours}.ffn.up", f"{theirs}.mlp.c_fc"),
            *_turned(f"{ours}.ffn.down", f"{theirs}.mlp.c_proj"),
        ]
    if config.head.over_vocabulary and not config.head.tied:
        rules.append(rule("head.untied.weight", "lm_head.weight"))
    return rules


def _turned(native: str, foreign: str) -> list[Rule]:
    return [rule(f"{native}.weight", f"{foreign}.weight", transposed=True), rule(f"{native}.bias", f"{foreign}.bias")]


GPT2 = Dialect(
    name="gpt2",
    heads={"GPT2LMHeadModel": HeadKind.LANGUAGE_MODEL, "GPT2Model": HeadKind.NONE},
    default="GPT2LMHeadModel",
    prefix="transformer.",
    read=_read,
    write=_write,
    rules=_rules,
    ignored=(".attn.bias", ".attn.masked_bias", "lm_head.weight"),
)
