"""T5, and its version 1.1 with FLAN-T5: gated, untied."""

from dataclasses import replace
from typing import Any

from clearhead.config import (
    Activation,
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
    ScorerKind,
    StackConfig,
)
from clearhead.weights.families.dialect import Dialect
from clearhead.weights.foreign import FOREIGN_ACTIVATIONS, ForeignConfig, token_settings
from clearhead.weights.names import Rule, rule


def _read(config: ForeignConfig, head: HeadKind) -> ModelConfig:
    dropout = config.number("dropout_rate", 0.1)
    stack = StackConfig(
        n_layers=config.size("num_layers"),
        width=config.size("d_model"),
        embedding=EmbeddingConfig(vocab_size=config.size("vocab_size")),
        position=PositionConfig(
            kind=PositionKind.RELATIVE,
            n_buckets=config.size("relative_attention_num_buckets", 32),
            max_distance=config.size("relative_attention_max_distance", 128),
        ),
        attention=AttentionConfig(
            n_heads=config.size("num_heads"),
            head_width=config.size("d_kv", 64),
            scorer=ScorerKind.DOT,
            bias=False,
            output_bias=False,
            dropout=dropout,
        ),
        feedforward=_read_feedforward(config, dropout),
        norm=NormConfig(kind=NormKind.RMS, epsilon=config.number("layer_norm_epsilon", 1e-6)),
        dropout=dropout,
    )
    decoder = replace(stack, n_layers=config.optional_size("num_decoder_layers") or stack.n_layers)
    tied = config.flag("tie_word_embeddings", default=True)
    # transformers 5 writes "tied" for every T5; this key and the tensors say which ones really are.
    scaled = config.flag("scale_decoder_outputs", default=tied)
    tied = (tied and scaled) or (bool(config.tensors) and "lm_head.weight" not in config.tensors)
    tokens = config.tokens()
    start = tokens.pad if tokens.decoder_start is None else tokens.decoder_start
    return ModelConfig(
        encoder=stack,
        decoder=decoder,
        head=HeadConfig(kind=head, tied=tied, scaled=scaled),
        tokens=replace(tokens, decoder_start=start),
    )


def _read_feedforward(config: ForeignConfig, dropout: float) -> FeedForwardConfig:
    name = config.text("feed_forward_proj", "relu")
    gated = name.startswith("gated-")
    spelled = "gelu_new" if name == "gated-gelu" else name.removeprefix("gated-")
    activation = replace(config, data={"feed_forward_proj": spelled}).activation("feed_forward_proj")
    return FeedForwardConfig(width=config.size("d_ff"), activation=activation, gated=gated, bias=False, dropout=dropout)


def _write(config: ModelConfig) -> dict[str, Any]:
    stack = config.encoder
    assert stack is not None and config.decoder is not None
    feedforward = stack.feedforward
    spelled = FOREIGN_ACTIVATIONS[feedforward.activation]
    if feedforward.gated:
        # "gated-gelu" has always meant the tanh approximation.
        spelled = "gated-gelu" if feedforward.activation is Activation.GELU_TANH else f"gated-{spelled}"
    return {
        "vocab_size": stack.embedding.vocab_size,
        "d_model": stack.width,
        "d_kv": stack.head_width,
        "d_ff": feedforward.width,
        "num_layers": stack.n_layers,
        "num_decoder_layers": config.decoder.n_layers,
        "num_heads": stack.attention.n_heads,
        "relative_attention_num_buckets": stack.position.n_buckets,
        "relative_attention_max_distance": stack.position.max_distance,
        "dropout_rate": stack.dropout,
        "layer_norm_epsilon": stack.norm.epsilon,
        "feed_forward_proj": spelled,
        "is_encoder_decoder": True,
        "tie_word_embeddings": config.head.tied,
        "scale_decoder_outputs": config.head.scaled,
        **token_settings(config.tokens),
    }


def _rules(config: ModelConfig, prefix: str) -> list[Rule]:
    assert config.encoder is not None and config.decoder is not None
    del prefix  # T5 has the same names with and without a head
    rules = [rule("encoder.embedding.token.weight", "shared.weight")]
    for name, stack in (("encoder", config.encoder), ("decoder", config.decoder)):
        first = f"{name}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
        rules += [rule(f"{name}.relative.weight", first)]
        rules += [rule(f"{name}.final_norm.weight", f"{name}.final_layer_norm.weight")]
        for index in range(stack.n_layers):
            rules += _block_rules(name, index, gated=stack.feedforward.gated)
    if config.head.over_vocabulary and not config.head.tied:
        rules.append(rule("head.untied.weight", "lm_head.weight"))
    return rules


def _block_rules(name: str, index: int, *, gated: bool) -> list[Rule]:
    ours, theirs = f"{name}.blocks.{index}", f"{name}.block.{index}.layer"
    rules = _attention_rules(f"{ours}.self", f"{theirs}.0", "SelfAttention")
    if name == "decoder":
        rules += _attention_rules(f"{ours}.cross", f"{theirs}.1", "EncDecAttention")
    last = f"{theirs}.{2 if name == 'decoder' else 1}"
    maps = {"gate": "wi_0", "up": "wi_1", "down": "wo"} if gated else {"up": "wi", "down": "wo"}
    rules += [
        rule(f"{ours}.ffn.{mine}.weight", f"{last}.DenseReluDense.{other}.weight") for mine, other in maps.items()
    ]
    return [*rules, rule(f"{ours}.ffn_norm.weight", f"{last}.layer_norm.weight")]


def _attention_rules(ours: str, theirs: str, spelled: str) -> list[Rule]:
    maps = {"query": "q", "key": "k", "value": "v", "output": "o"}
    return [
        *(
            rule(f"{ours}_attention.{mine}.weight", f"{theirs}.{spelled}.{other}.weight")
            for mine, other in maps.items()
        ),
        rule(f"{ours}_norm.weight", f"{theirs}.layer_norm.weight"),
    ]


T5 = Dialect(
    name="t5",
    heads={"T5ForConditionalGeneration": HeadKind.LANGUAGE_MODEL, "T5Model": HeadKind.NONE},
    default="T5ForConditionalGeneration",
    prefix="",
    read=_read,
    write=_write,
    rules=_rules,
    ignored=(
        "encoder.embed_tokens.weight",
        "decoder.embed_tokens.weight",
        "lm_head.weight",
        # Early checkpoints carry a table that no forward pass ever read.
        "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight",
    ),
)
