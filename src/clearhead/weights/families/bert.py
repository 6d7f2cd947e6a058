"""BERT, with its pooler and its heads."""

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
from clearhead.errors import WeightsError
from clearhead.weights.families.dialect import Dialect
from clearhead.weights.foreign import FOREIGN_ACTIVATIONS, ForeignConfig, label_settings, token_settings
from clearhead.weights.names import Rule, both, rule

LABELLED = (HeadKind.SEQUENCE_CLASSIFICATION, HeadKind.TOKEN_CLASSIFICATION)


def _read(config: ForeignConfig, head: HeadKind) -> ModelConfig:
    config.require("position_embedding_type", ("absolute",), default="absolute")
    config.require("is_decoder", (False,), default=False)
    activation = config.activation("hidden_act", "gelu")
    dropout = config.number("hidden_dropout_prob", 0.1)
    stack = StackConfig(
        n_layers=config.size("num_hidden_layers"),
        width=config.size("hidden_size"),
        embedding=EmbeddingConfig(
            vocab_size=config.size("vocab_size"), n_segments=config.size("type_vocab_size", 2), norm=True
        ),
        position=PositionConfig(kind=PositionKind.LEARNED, max_length=config.size("max_position_embeddings", 512)),
        attention=AttentionConfig(
            n_heads=config.size("num_attention_heads"), dropout=config.number("attention_probs_dropout_prob", 0.1)
        ),
        feedforward=FeedForwardConfig(width=config.size("intermediate_size"), activation=activation),
        norm=NormConfig(placement=NormPlacement.AFTER, epsilon=config.number("layer_norm_eps", 1e-12), final=False),
        dropout=dropout,
    )
    return ModelConfig(encoder=stack, head=_read_head(config, head, activation, dropout), tokens=config.tokens())


def _read_head(config: ForeignConfig, head: HeadKind, activation: Activation, dropout: float) -> HeadConfig:
    return HeadConfig(
        kind=head,
        labels=config.labels() if head in LABELLED else (),
        tied=config.flag("tie_word_embeddings", default=True),
        bias=head is HeadKind.MASKED_LANGUAGE_MODEL,
        activation=Activation.TANH if head is HeadKind.SEQUENCE_CLASSIFICATION else activation,
        # Only the tensors say whether a bare model was saved with its pooler.
        pooler=head is HeadKind.NONE and any(name.endswith("pooler.dense.weight") for name in config.tensors),
        dropout=config.number("classifier_dropout", dropout),
    )


def _write(config: ModelConfig) -> dict[str, Any]:
    stack = config.output_stack
    if not stack.embedding.n_segments:
        raise WeightsError(
            "the bert layout has segments", got="n_segments=0", expected="1 or more", advice="distilbert"
        )
    return {
        "vocab_size": stack.embedding.vocab_size,
        "hidden_size": stack.width,
        "num_hidden_layers": stack.n_layers,
        "num_attention_heads": stack.attention.n_heads,
        "intermediate_size": stack.feedforward.width,
        "hidden_act": FOREIGN_ACTIVATIONS[stack.feedforward.activation],
        "hidden_dropout_prob": stack.dropout,
        "attention_probs_dropout_prob": stack.attention.dropout,
        "classifier_dropout": config.head.dropout,
        "max_position_embeddings": stack.position.max_length,
        "type_vocab_size": stack.embedding.n_segments,
        "position_embedding_type": "absolute",
        "layer_norm_eps": stack.norm.epsilon,
        "tie_word_embeddings": config.head.tied,
        **label_settings(config.head.labels),
        **token_settings(config.tokens),
    }


def _rules(config: ModelConfig, prefix: str) -> list[Rule]:
    rules = [
        rule("encoder.embedding.token.weight", f"{prefix}embeddings.word_embeddings.weight"),
        rule("encoder.embedding.position.weight", f"{prefix}embeddings.position_embeddings.weight"),
        rule("encoder.embedding.segment.weight", f"{prefix}embeddings.token_type_embeddings.weight"),
        *both("encoder.embedding.norm", f"{prefix}embeddings.LayerNorm"),
    ]
    for index in range(config.output_stack.n_layers):
        ours, theirs = f"encoder.blocks.{index}", f"{prefix}encoder.layer.{index}"
        rules += [
            *both(f"{ours}.self_attention.query", f"{theirs}.attention.self.query"),
            *both(f"{ours}.self_attention.key", f"{theirs}.attention.self.key"),
            *both(f"{ours}.self_attention.value", f"{theirs}.attention.self.value"),
            *both(f"{ours}.self_attention.output", f"{theirs}.attention.output.dense"),
            *both(f"{ours}.self_norm", f"{theirs}.attention.output.LayerNorm"),
            *both(f"{ours}.ffn.up", f"{theirs}.intermediate.dense"),
            *both(f"{ours}.ffn.down", f"{theirs}.output.dense"),
            *both(f"{ours}.ffn_norm", f"{theirs}.output.LayerNorm"),
        ]
    return rules + _head_rules(config.head, prefix)


def _head_rules(head: HeadConfig, prefix: str) -> list[Rule]:
    rules = both("pooler.dense", f"{prefix}pooler.dense") if head.pooler else []
    match head.kind:
        case HeadKind.MASKED_LANGUAGE_MODEL:
            rules += [
                *both("head.transform", "cls.predictions.transform.dense"),
                *both("head.norm", "cls.predictions.transform.LayerNorm"),
                rule("head.vocabulary.bias", "cls.predictions.bias"),
            ]
            if not head.tied:
                # The output layer then has a bias of its own, which counts; the other stays in the layout unread.
                rules += [
                    rule("head.vocabulary.untied.weight", "cls.predictions.decoder.weight"),
                    rule("head.vocabulary.bias", "cls.predictions.decoder.bias"),
                ]
        case HeadKind.SEQUENCE_CLASSIFICATION:
            rules += [*both("head.pooler.dense", f"{prefix}pooler.dense"), *both("head.classifier", "classifier")]
        case HeadKind.TOKEN_CLASSIFICATION:
            rules += both("head.classifier", "classifier")
        case HeadKind.QUESTION_ANSWERING:
            rules += both("head.classifier", "qa_outputs")
        case _:
            pass
    return rules


BERT = Dialect(
    name="bert",
    heads={
        "BertModel": HeadKind.NONE,
        "BertForMaskedLM": HeadKind.MASKED_LANGUAGE_MODEL,
        "BertForPreTraining": HeadKind.MASKED_LANGUAGE_MODEL,
        "BertForSequenceClassification": HeadKind.SEQUENCE_CLASSIFICATION,
        "BertForTokenClassification": HeadKind.TOKEN_CLASSIFICATION,
        "BertForQuestionAnswering": HeadKind.QUESTION_ANSWERING,
    },
    default="BertModel",
    prefix="bert.",
    read=_read,
    write=_write,
    rules=_rules,
    ignored=(
        ".position_ids",
        "cls.predictions.decoder.weight",
        "cls.predictions.decoder.bias",
        "cls.seq_relationship.weight",
        "cls.seq_relationship.bias",
        ".pooler.dense.weight",
        ".pooler.dense.bias",
    ),
)
