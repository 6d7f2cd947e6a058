"""Tiny random models of the reference implementation, one line a configuration.

Every family and head; every choice that a published configuration can make and that changes a number.
"""

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from clearhead.config import HeadConfig, HeadKind, Pooling

N_PIECES = 67
N_TARGET_PIECES = 59


@dataclass(frozen=True, kw_only=True)
class Case:
    """A configuration of the reference.

    Attributes:
        family: Its `model_type`.
        name: What is special about it.
        kind: The class of the reference.
        settings: What its configuration says.
        built: What its constructor is told beside the configuration.
        untied: Whether the output layer is cut loose from the token table; T5's configuration no longer can.
        older: Whether config.json spells rotary positions as it did before version 5.
        sentence: The head of a sentence-transformers folder, where it is one.
    """

    family: str
    name: str
    kind: str
    settings: dict[str, Any]
    built: dict[str, Any] = field(default_factory=dict)
    untied: bool = False
    older: bool = False
    sentence: HeadConfig | None = None

    def __str__(self) -> str:
        return f"{self.family}-{self.name}"

    def build(self) -> nn.Module:
        """The model, all of whose values are random: norms, biases and buffers too."""
        import transformers  # noqa: PLC0415  (seconds, which collecting tests need not wait for)

        kind = getattr(transformers, self.kind)
        config = kind.config_class(**self.settings)
        config.architectures = [self.kind]
        model = kind(config, **self.built).eval()
        if self.untied:
            model.lm_head.weight = nn.Parameter(torch.empty_like(model.lm_head.weight))
        generator = torch.Generator().manual_seed(0)
        with torch.no_grad():
            for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
                # Sinusoidal positions are a parameter there, but never learned; other buffers are not weights.
                if name.endswith("embed_positions.weight") or not _is_weight(name, model):
                    continue
                is_norm = tensor.ndim == 1 and name.endswith("weight")
                tensor.copy_(torch.randn(tensor.shape, generator=generator) * 0.3 + is_norm)
        return model


def _is_weight(name: str, model: nn.Module) -> bool:
    return name in dict(model.named_parameters()) or name == "final_logits_bias"


def _gpt2(name: str, kind: str = "GPT2LMHeadModel", **changes: Any) -> Case:
    plain = {"vocab_size": N_PIECES, "n_embd": 24, "n_layer": 2, "n_head": 3, "n_positions": 20}
    return Case(family="gpt2", name=name, kind=kind, settings=plain | changes)


_MODERN = {
    "vocab_size": N_PIECES,
    "hidden_size": 24,
    "intermediate_size": 40,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 32,
}


def _llama(name: str, kind: str = "LlamaForCausalLM", *, older: bool = False, **changes: Any) -> Case:
    return Case(family="llama", name=name, kind=kind, older=older, settings=_MODERN | changes)


def _rope(kind: str, **numbers: Any) -> dict[str, Any]:
    return {"rope_type": kind, "rope_theta": 1000.0, **numbers}


def _bert(name: str, kind: str, *, sentence: HeadConfig | None = None, **changes: Any) -> Case:
    built = {"add_pooling_layer": changes.pop("pooler")} if "pooler" in changes else {}
    return Case(family="bert", name=name, kind=kind, settings=_MODERN | changes, built=built, sentence=sentence)


def _distilbert(name: str, kind: str, *, sentence: HeadConfig | None = None, **changes: Any) -> Case:
    plain = {"vocab_size": N_PIECES, "dim": 24, "n_layers": 2, "n_heads": 3, "hidden_dim": 40}
    settings = plain | {"max_position_embeddings": 20} | changes
    return Case(family="distilbert", name=name, kind=kind, settings=settings, sentence=sentence)


def _t5(name: str, kind: str = "T5ForConditionalGeneration", *, untied: bool = False, **changes: Any) -> Case:
    plain = {"vocab_size": N_PIECES, "d_model": 24, "d_kv": 6, "d_ff": 40, "num_layers": 2, "num_heads": 4}
    start = {"decoder_start_token_id": 0}
    return Case(family="t5", name=name, kind=kind, untied=untied, settings=plain | start | changes)


def _marian(name: str, kind: str = "MarianMTModel", **changes: Any) -> Case:
    plain = {
        "vocab_size": N_PIECES,
        "d_model": 24,
        "encoder_layers": 2,
        "decoder_layers": 2,
        "encoder_attention_heads": 4,
        "decoder_attention_heads": 4,
        "encoder_ffn_dim": 40,
        "decoder_ffn_dim": 40,
        "max_position_embeddings": 20,
        "pad_token_id": 1,
        "decoder_start_token_id": 1,
    }
    return Case(family="marian", name=name, kind=kind, settings=plain | changes)


def _vector(pooling: Pooling, *, normalised: bool) -> HeadConfig:
    return HeadConfig(kind=HeadKind.SENTENCE, pooling=pooling, normalised=normalised)


_SEPARATE = {"share_encoder_decoder_embeddings": False, "decoder_vocab_size": N_TARGET_PIECES}

CASES = [
    _gpt2("plain"),
    _gpt2("relu-unscaled", n_inner=50, activation_function="relu", scale_attn_weights=False),
    _gpt2("untied-one-layer", n_layer=1, tie_word_embeddings=False),
    _gpt2("upcast", reorder_and_upcast_attn=True),
    _gpt2("bare", "GPT2Model"),
    _llama("plain"),
    _llama("one-layer-one-kv-head", num_hidden_layers=1, num_key_value_heads=1),
    _llama("grouped-wide-heads-biased", num_key_value_heads=2, head_dim=10, attention_bias=True, mlp_bias=True),
    _llama("tied-gelu", tie_word_embeddings=True, hidden_act="gelu_pytorch_tanh", rms_norm_eps=1e-3),
    _llama("rope-linear", rope_parameters=_rope("linear", factor=2.0)),
    _llama(
        "rope-llama3",
        rope_parameters=_rope(
            "llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=16
        ),
    ),
    _llama("rope-dynamic", max_position_embeddings=8, rope_parameters=_rope("dynamic", factor=2.0)),
    _llama(
        "rope-dynamic-other-key",
        max_position_embeddings=10,
        rope_parameters=_rope("dynamic", factor=2.0, original_max_position_embeddings=6),
    ),
    _llama("rope-yarn-unsaid-length", rope_parameters=_rope("yarn", factor=4.0)),
    _llama(
        "rope-yarn-older", older=True, rope_parameters=_rope("yarn", factor=4.0, original_max_position_embeddings=8)
    ),
    _llama("rope-yarn", rope_parameters=_rope("yarn", factor=4.0, original_max_position_embeddings=8)),
    _llama(
        "rope-yarn-tuned",
        rope_parameters=_rope(
            "yarn", factor=4.0, original_max_position_embeddings=8, attention_factor=1.5, beta_fast=8.0, beta_slow=2.0
        ),
    ),
    _llama(
        "rope-yarn-two-scales",
        rope_parameters=_rope("yarn", factor=4.0, original_max_position_embeddings=8, mscale=0.7, mscale_all_dim=1.3),
    ),
    _llama("rope-linear-older", older=True, rope_parameters=_rope("linear", factor=2.0)),
    _llama("rope-plain-older", older=True, rope_parameters=_rope("default")),
    _llama("bare", "LlamaModel"),
    Case(
        family="mistral",
        name="windowed-grouped",
        kind="MistralForCausalLM",
        settings=_MODERN | {"num_key_value_heads": 2, "sliding_window": 4},
    ),
    Case(
        family="mistral",
        name="no-window",
        kind="MistralForCausalLM",
        settings=_MODERN | {"num_key_value_heads": 4, "sliding_window": None, "head_dim": 8},
    ),
    Case(family="qwen2", name="grouped", kind="Qwen2ForCausalLM", settings=_MODERN | {"num_key_value_heads": 2}),
    Case(
        family="qwen2",
        name="tied",
        kind="Qwen2ForCausalLM",
        settings=_MODERN | {"num_key_value_heads": 4, "tie_word_embeddings": True},
    ),
    _bert("masked", "BertForMaskedLM"),
    _bert("masked-relu-one-layer", "BertForMaskedLM", hidden_act="relu", num_hidden_layers=1, layer_norm_eps=1e-3),
    _bert("masked-untied", "BertForMaskedLM", tie_word_embeddings=False),
    _bert("pretraining", "BertForPreTraining"),
    _bert("pooler", "BertModel"),
    _bert("bare-three-segments", "BertModel", pooler=False, type_vocab_size=3),
    _bert("sequence", "BertForSequenceClassification", num_labels=3),
    _bert("tokens", "BertForTokenClassification", num_labels=5),
    _bert("question", "BertForQuestionAnswering", hidden_act="gelu_new"),
    _distilbert("masked", "DistilBertForMaskedLM"),
    _distilbert("masked-relu", "DistilBertForMaskedLM", activation="relu"),
    _distilbert("sequence", "DistilBertForSequenceClassification", num_labels=3),
    _distilbert("tokens", "DistilBertForTokenClassification", num_labels=5),
    _distilbert("question", "DistilBertForQuestionAnswering"),
    _distilbert("bare", "DistilBertModel"),
    _t5("relu-tied"),
    _t5("gated-gelu-untied", untied=True, feed_forward_proj="gated-gelu", tie_word_embeddings=False),
    _t5("gated-gelu-unscaled", feed_forward_proj="gated-gelu", tie_word_embeddings=False),
    _t5("gated-silu-tied", feed_forward_proj="gated-silu"),
    _t5("odd-heads-more-decoder", d_kv=5, num_layers=1, num_decoder_layers=3),
    _t5("few-buckets", relative_attention_num_buckets=8, relative_attention_max_distance=10),
    _t5("bare", "T5Model"),
    _marian("shared-swish-scaled", activation_function="swish", scale_embedding=True),
    _marian("shared-gelu", activation_function="gelu", scale_embedding=False),
    _marian("separate-relu", activation_function="relu", **_SEPARATE),
    _marian("separate-swish-scaled", activation_function="swish", scale_embedding=True, **_SEPARATE),
    _marian("uneven", encoder_layers=1, decoder_layers=3, decoder_attention_heads=2, decoder_ffn_dim=28),
    _marian("bare", "MarianModel"),
    _bert("sentence-mean", "BertModel", sentence=_vector(Pooling.MEAN, normalised=True)),
    _bert("sentence-mean-raw", "BertModel", sentence=_vector(Pooling.MEAN, normalised=False)),
    _bert("sentence-cls", "BertModel", pooler=False, sentence=_vector(Pooling.FIRST, normalised=True)),
    _distilbert("sentence-max", "DistilBertModel", sentence=_vector(Pooling.MAX, normalised=False)),
    _distilbert("sentence-last", "DistilBertModel", sentence=_vector(Pooling.LAST, normalised=True)),
]
