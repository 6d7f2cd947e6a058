"""DistilBERT, with its heads."""

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
    NormPlacement,
    PositionConfig,
    PositionKind,
    StackConfig,
)
from clearhead.weights.families.bert import LABELLED
from clearhead.weights.families.dialect import Dialect
from clearhead.weights.foreign import FOREIGN_ACTIVATIONS, ForeignConfig, label_settings, token_settings
from clearhead.weights.names import Rule, both, rule

_EPSILON = 1e-12
"""DistilBERT's configuration does not say it."""

_DROPOUTS = {HeadKind.SEQUENCE_CLASSIFICATION: "seq_classif_dropout", HeadKind.QUESTION_ANSWERING: "qa_dropout"}


def _read(config: ForeignConfig, head: HeadKind) -> ModelConfig:
    activation = config.activation("activation", "gelu")
    dropout = config.number("dropout", 0.1)
    stack = StackConfig(
        n_layers=config.size("n_layers"),
        width=config.size("dim"),
        embedding=EmbeddingConfig(vocab_size=config.size("vocab_size"), norm=True),
        position=PositionConfig(kind=PositionKind.LEARNED, max_length=config.size("max_position_embeddings", 512)),
        attention=AttentionConfig(n_heads=config.size("n_heads"), dropout=config.number("attention_dropout", 0.1)),
        feedforward=FeedForwardConfig(width=config.size("hidden_dim"), activation=activation),
        norm=NormConfig(placement=NormPlacement.AFTER, epsilon=_EPSILON, final=False),
        dropout=dropout,
    )
    return ModelConfig(
        encoder=stack,
        head=HeadConfig(
            kind=head,
            labels=config.labels() if head in LABELLED else (),
            tied=config.flag("tie_word_embeddings", default=True),
            bias=head is HeadKind.MASKED_LANGUAGE_MODEL,
            activation=Activation.RELU if head is HeadKind.SEQUENCE_CLASSIFICATION else activation,
            dropout=config.number(_DROPOUTS.get(head, "dropout"), dropout),
        ),
        tokens=config.tokens(),
    )


def _write(config: ModelConfig) -> dict[str, Any]:
    stack = config.output_stack
    return {
        "vocab_size": stack.embedding.vocab_size,
        "dim": stack.width,
        "n_layers": stack.n_layers,
        "n_heads": stack.attention.n_heads,
        "hidden_dim": stack.feedforward.width,
        "activation": FOREIGN_ACTIVATIONS[stack.feedforward.activation],
        "dropout": stack.dropout,
        "attention_dropout": stack.attention.dropout,
        "max_position_embeddings": stack.position.max_length,
        "sinusoidal_pos_embds": False,
        "tie_word_embeddings": config.head.tied,
        _DROPOUTS.get(config.head.kind, "seq_classif_dropout"): config.head.dropout,
        **label_settings(config.head.labels),
        **token_settings(config.tokens),
    }


def _rules(config: ModelConfig, prefix: str) -> list[Rule]:
    rules = [
        rule("encoder.embedding.token.weight", f"{prefix}embeddings.word_embeddings.weight"),
        rule("encoder.embedding.position.weight", f"{prefix}embeddings.position_embeddings.weight"),
        *both("encoder.embedding.norm", f"{prefix}embeddings.LayerNorm"),
    ]
    for index in range(config.output_stack.n_layers):
        ours, theirs = f"encoder.blocks.{index}", f"{prefix}transformer.layer.{index}"
        rules += [
            *both(f"{ours}.self_attention.query", f"{theirs}.attention.q_lin"),
            *both(f"{ours}.self_attention.key", f"{theirs}.attention.k_lin"),
            *both(f"{ours}.self_attention.value", f"{theirs}.attention.v_lin"),
            *both(f"{ours}.self_attention.output", f"{theirs}.attention.out_lin"),
            *both(f"{ours}.self_norm", f"{theirs}.sa_layer_norm"),
            *both(f"{ours}.ffn.up", f"{theirs}.ffn.lin1"),
            *both(f"{ours}.ffn.down", f"{theirs}.ffn.lin2"),
            *both(f"{ours}.ffn_norm", f"{theirs}.output_layer_norm"),
        ]
    return rules + _head_rules(config.head)


def _head_rules(head: HeadConfig) -> list[Rule]:
    match head.kind:
        case HeadKind.MASKED_LANGUAGE_MODEL:
            tied = [] if head.tied else [rule("head.vocabulary.untied.weight", "vocab_projector.weight")]
            return [
                *both("head.transform", "vocab_transform"),
                *both("head.norm", "vocab_layer_norm"),
                rule("head.vocabulary.bias", "vocab_projector.bias"),
                *tied,
            ]
        case HeadKind.SEQUENCE_CLASSIFICATION:
            return [*both("head.pooler.dense", "pre_classifier"), *both("head.classifier", "classifier")]
        case HeadKind.TOKEN_CLASSIFICATION:
            return both("head.classifier", "classifier")
        case HeadKind.QUESTION_ANSWERING:
            return both("head.classifier", "qa_outputs")
        case _:
            return []


DISTILBERT = Dialect(
    name="distilbert",
    heads={
        "DistilBertModel": HeadKind.NONE,
        "DistilBertForMaskedLM": HeadKind.MASKED_LANGUAGE_MODEL,
        "DistilBertForSequenceClassification": HeadKind.SEQUENCE_CLASSIFICATION,
        "DistilBertForTokenClassification": HeadKind.TOKEN_CLASSIFICATION,
        "DistilBertForQuestionAnswering": HeadKind.QUESTION_ANSWERING,
    },
    default="DistilBertModel",
    prefix="distilbert.",
    read=_read,
    write=_write,
    rules=_rules,
    ignored=(".position_ids", "vocab_projector.weight"),
)
