"""Where each family of the reference implementation computes what we call a site.

One small table a family: our site on the left, the path of a module on the right. Attention's inner steps
need no lines of their own; they are overheard wherever a table names an attention.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from clearhead.config import HeadKind


@dataclass(frozen=True, kw_only=True)
class Tap:
    """A place to read a value off.

    Attributes:
        module: The path of a module; empty for the block itself.
        entering: Whether the value is what the module is given, rather than what it gives.
        split: Whether the value is still to be cut into heads.
        scale: The path of a number that the reference multiplies the value by, outside any module.
    """

    module: str
    entering: bool = False
    split: bool = False
    scale: str | None = None


def out(module: str) -> Tap:
    """What a module gives."""
    return Tap(module=module)


def into(module: str) -> Tap:
    """What a module is given."""
    return Tap(module=module, entering=True)


def heads(module: str) -> Tap:
    """What a projection gives, cut into heads."""
    return Tap(module=module, split=True)


@dataclass(frozen=True, kw_only=True)
class BlockTable:
    """The sites of one block of a stack.

    Attributes:
        path: The path of block n.
        taps: Sites below the block's name.
        attentions: The path of each attention, by our name for it.
        rotary: Whether queries and keys reach the attention turned.
    """

    path: str
    taps: Mapping[str, Tap]
    attentions: Mapping[str, str]
    rotary: bool = False


@dataclass(frozen=True, kw_only=True)
class FamilyTable:
    """The sites of a whole family.

    Attributes:
        blocks: The blocks of each stack.
        body: Sites outside blocks, at paths within the body.
        heads: Sites of each head, at paths within the whole model.
    """

    blocks: Mapping[str, BlockTable]
    body: Mapping[str, Tap]
    heads: Mapping[HeadKind, Mapping[str, Tap]] = field(default_factory=dict[HeadKind, Mapping[str, Tap]])


_GPT2 = FamilyTable(
    body={"embed.token": out("wte"), "embed.position": out("wpe"), "decoder.final_norm": out("ln_f")},
    blocks={
        "decoder": BlockTable(
            path="h.{n}",
            attentions={"self": "attn"},
            taps={
                "resid_pre": into(""),
                "self.norm": out("ln_1"),
                "self.output": out("attn.c_proj"),
                "resid_mid": into("ln_2"),
                "ffn.norm": out("ln_2"),
                "ffn.hidden": into("mlp.c_proj"),
                "ffn.output": out("mlp.c_proj"),
                "resid_post": out(""),
            },
        )
    },
)

_LLAMA = FamilyTable(
    body={"embed.token": out("embed_tokens"), "decoder.final_norm": out("norm")},
    blocks={
        "decoder": BlockTable(
            path="layers.{n}",
            attentions={"self": "self_attn"},
            rotary=True,
            taps={
                "resid_pre": into(""),
                "self.norm": out("input_layernorm"),
                "self.query": heads("self_attn.q_proj"),
                "self.key": heads("self_attn.k_proj"),
                "self.output": out("self_attn.o_proj"),
                "resid_mid": into("post_attention_layernorm"),
                "ffn.norm": out("post_attention_layernorm"),
                "ffn.hidden": into("mlp.down_proj"),
                "ffn.output": out("mlp.down_proj"),
                "resid_post": out(""),
            },
        )
    },
)

_BERT = FamilyTable(
    body={
        "embed.token": out("embeddings.word_embeddings"),
        "embed.position": out("embeddings.position_embeddings"),
        "embed.segment": out("embeddings.token_type_embeddings"),
        "embed.norm": out("embeddings.LayerNorm"),
        "pooled": out("pooler"),
    },
    heads={HeadKind.MASKED_LANGUAGE_MODEL: {"transform": out("cls.predictions.transform")}},
    blocks={
        "encoder": BlockTable(
            path="encoder.layer.{n}",
            attentions={"self": "attention.self"},
            taps={
                "resid_pre": into(""),
                "self.output": out("attention.output.dense"),
                "self.norm": out("attention.output.LayerNorm"),
                "resid_mid": out("attention"),
                "ffn.hidden": out("intermediate"),
                "ffn.output": out("output.dense"),
                "ffn.norm": out("output.LayerNorm"),
                "resid_post": out(""),
            },
        )
    },
)

_DISTILBERT = FamilyTable(
    body={
        "embed.token": out("embeddings.word_embeddings"),
        "embed.position": out("embeddings.position_embeddings"),
        "embed.norm": out("embeddings.LayerNorm"),
    },
    heads={
        HeadKind.MASKED_LANGUAGE_MODEL: {"transform": out("vocab_layer_norm")},
        # The bend after the hidden layer is no module; the classifier is given what it made.
        HeadKind.SEQUENCE_CLASSIFICATION: {"pooled": into("classifier")},
    },
    blocks={
        "encoder": BlockTable(
            path="transformer.layer.{n}",
            attentions={"self": "attention"},
            taps={
                "resid_pre": into(""),
                "self.output": out("attention.out_lin"),
                "self.norm": out("sa_layer_norm"),
                "resid_mid": into("ffn"),
                "ffn.hidden": into("ffn.lin2"),
                "ffn.output": out("ffn.lin2"),
                "ffn.norm": out("output_layer_norm"),
                "resid_post": out(""),
            },
        )
    },
)


def _t5_block(stack: str, *, last: str, cross: bool) -> BlockTable:
    across = {
        "cross.norm": out("layer.1.layer_norm"),
        "cross.output": out("layer.1.EncDecAttention.o"),
        "resid_cross": out("layer.1"),
    }
    return BlockTable(
        path=f"{stack}.block.{{n}}",
        attentions={"self": "layer.0.SelfAttention"} | ({"cross": "layer.1.EncDecAttention"} if cross else {}),
        taps={
            "resid_pre": into(""),
            "self.norm": out("layer.0.layer_norm"),
            "self.output": out("layer.0.SelfAttention.o"),
            "resid_mid": out("layer.0"),
            **(across if cross else {}),
            "ffn.norm": out(f"{last}.layer_norm"),
            "ffn.hidden": into(f"{last}.DenseReluDense.wo"),
            "ffn.output": out(f"{last}.DenseReluDense.wo"),
            "resid_post": out(""),
        },
    )


_T5 = FamilyTable(
    body={
        "encoder.embed.token": out("encoder.embed_tokens"),
        "decoder.embed.token": out("decoder.embed_tokens"),
        "encoder.final_norm": out("encoder.final_layer_norm"),
        "decoder.final_norm": out("decoder.final_layer_norm"),
    },
    blocks={
        "encoder": _t5_block("encoder", last="layer.1", cross=False),
        "decoder": _t5_block("decoder", last="layer.2", cross=True),
    },
)


def _marian_block(stack: str, *, cross: bool) -> BlockTable:
    across = {
        "cross.output": out("encoder_attn.out_proj"),
        "cross.norm": out("encoder_attn_layer_norm"),
        "resid_cross": into("fc1"),
    }
    return BlockTable(
        path=f"{stack}.layers.{{n}}",
        attentions={"self": "self_attn"} | ({"cross": "encoder_attn"} if cross else {}),
        taps={
            "resid_pre": into(""),
            "self.output": out("self_attn.out_proj"),
            "self.norm": out("self_attn_layer_norm"),
            "resid_mid": into("encoder_attn" if cross else "fc1"),
            **(across if cross else {}),
            "ffn.hidden": into("fc2"),
            "ffn.output": out("fc2"),
            "ffn.norm": out("final_layer_norm"),
            "resid_post": out(""),
        },
    )


_MARIAN = FamilyTable(
    body={
        "encoder.embed.token": Tap(module="encoder.embed_tokens", scale="encoder.embed_scale"),
        "encoder.embed.position": out("encoder.embed_positions"),
        "decoder.embed.token": Tap(module="decoder.embed_tokens", scale="decoder.embed_scale"),
        "decoder.embed.position": out("decoder.embed_positions"),
    },
    blocks={"encoder": _marian_block("encoder", cross=False), "decoder": _marian_block("decoder", cross=True)},
)

TABLES: Mapping[str, FamilyTable] = MappingProxyType(
    {
        "gpt2": _GPT2,
        "llama": _LLAMA,
        "mistral": _LLAMA,
        "qwen2": _LLAMA,
        "bert": _BERT,
        "distilbert": _DISTILBERT,
        "t5": _T5,
        "marian": _MARIAN,
    }
)
"""Every family's table, by the `model_type` of its configuration."""
