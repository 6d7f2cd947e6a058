"""How every site is computed: from which sites, with which parameters, by which equation.

This is the wiring of the models in `nn` and `models`, said once as data, for whoever asks where a number comes from.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from clearhead.config import HeadKind, ModelConfig, NormKind, NormPlacement, PositionKind, ScorerKind, StackConfig


@dataclass(frozen=True, kw_only=True)
class Made:
    """How a site's values come to be.

    Attributes:
        operation: The equation, in the words of the sites.
        inputs: The sites that go in.
        parameters: The parameters that go in, as attributes of the network.
    """

    operation: str
    inputs: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()


_STREAM = {"self": "resid_pre", "cross": "resid_mid"}
_AFTER = {"self": "resid_mid", "cross": "resid_cross", "ffn": "resid_post"}
ATTENTION = {"self": "self_attention", "cross": "cross_attention"}
"""What the two attentions of a block are called in the network."""


class Anatomy:
    """The wiring of a Transformer.

    Args:
        config: What the network is.
    """

    def __init__(self, *, config: ModelConfig) -> None:
        self.config = config
        stacks = {"encoder": config.encoder, "decoder": config.decoder}
        self.stacks: dict[str, StackConfig] = {name: stack for name, stack in stacks.items() if stack is not None}

    def made(self, site: str) -> Made | None:
        """How a site is computed; None for a site that this anatomy does not know."""
        parts = site.split(".")
        match parts:
            case ["embed", leaf]:
                found = self._embedding(next(iter(self.stacks)), leaf)
            case [stack, "embed", leaf] if stack in self.stacks:
                found = self._embedding(stack, leaf)
            case [stack, "final_norm"] if stack in self.stacks:
                last = f"{stack}.{self.stacks[stack].n_layers - 1}.resid_post"
                found = self._norm((last,), f"{stack}.final_norm")
            case [stack, layer, leaf] if stack in self.stacks and layer.isdigit():
                found = self._stream(stack, int(layer), leaf)
            case [stack, layer, "ffn", leaf] if stack in self.stacks and layer.isdigit():
                found = self._feedforward(stack, int(layer), leaf)
            case [stack, layer, "self" | "cross" as part, leaf] if stack in self.stacks and layer.isdigit():
                found = self._attention(stack, int(layer), part, leaf)
            case [leaf]:
                found = self._head(leaf)
            case _:
                found = None
        return found

    def embed_name(self, stack: str) -> str:
        """What the sites of a stack's embedding begin with."""
        return "embed" if len(self.stacks) == 1 else f"{stack}.embed"

    def norm_before(self, stack: str) -> bool:
        """Whether a stack's sublayers read a normalised stream."""
        return self.stacks[stack].norm.placement is NormPlacement.BEFORE

    def parts(self, stack: str) -> tuple[str, ...]:
        """The sublayers of a stack's blocks, in order."""
        crosses = stack == "decoder" and "encoder" in self.stacks
        return ("self", "cross", "ffn") if crosses else ("self", "ffn")

    def stream_before(self, stack: str, layer: int, part: str) -> str:
        """The stream that a sublayer adds to."""
        if part == "ffn":
            return f"{stack}.{layer}.{_AFTER[self.parts(stack)[-2]]}"
        return f"{stack}.{layer}.{_STREAM[part]}"

    def stream_after(self, stack: str, layer: int, part: str) -> str:
        """The stream with what a sublayer added."""
        return f"{stack}.{layer}.{_AFTER[part]}"

    def read_by(self, stack: str, layer: int, part: str) -> str:
        """What a sublayer reads."""
        if self.norm_before(stack):
            return f"{stack}.{layer}.{part}.norm"
        return self.stream_before(stack, layer, part)

    def last(self, stack: str) -> str:
        """The last hidden state of a stack."""
        config = self.stacks[stack]
        return f"{stack}.final_norm" if config.norm.final else f"{stack}.{config.n_layers - 1}.resid_post"

    @property
    def output_stack(self) -> str:
        """The stack whose last hidden state the head reads."""
        return "decoder" if "decoder" in self.stacks else "encoder"

    def embedding_sites(self, stack: str) -> tuple[str, ...]:
        """The vectors that are added up before the first block."""
        config, name = self.stacks[stack], self.embed_name(stack)
        placed = config.position.kind in (
            PositionKind.LEARNED,
            PositionKind.SINUSOIDAL,
            PositionKind.SINUSOIDAL_HALVES,
        )
        leaves = ["token", *(["position"] if placed else []), *(["segment"] if config.embedding.n_segments else [])]
        return tuple(f"{name}.{leaf}" for leaf in leaves)

    def _embedding(self, stack: str, leaf: str) -> Made | None:
        path = f"{stack}.embedding"
        match leaf:
            case "token":
                return Made(operation="token = weight[id] · scale", parameters=(f"{path}.token.weight",))
            case "position":
                learned = self.stacks[stack].position.kind is PositionKind.LEARNED
                operation = "position = weight[place]" if learned else "position = sin or cos(place / θ^(2i/D))"
                return Made(operation=operation, parameters=(f"{path}.position.weight",) if learned else ())
            case "segment":
                return Made(operation="segment = weight[segment]", parameters=(f"{path}.segment.weight",))
            case "norm":
                return self._norm(self.embedding_sites(stack), f"{path}.norm")
            case _:
                return None

    def _norm(self, inputs: tuple[str, ...], path: str) -> Made:
        config = self.stacks[path.split(".", maxsplit=1)[0]].norm
        added = inputs[0] if len(inputs) == 1 else "(" + " + ".join(inputs) + ")"
        if config.kind is NormKind.RMS:
            operation = f"{added} / rms · weight"
        else:
            operation = f"({added} - mean) / deviation · weight + bias"
        names = self._norm_names(path.split(".", maxsplit=1)[0], path)
        return Made(operation=operation, inputs=inputs, parameters=names)

    def _norm_names(self, stack: str, path: str) -> tuple[str, ...]:
        rms = self.stacks[stack].norm.kind is NormKind.RMS
        return (f"{path}.weight",) if rms else (f"{path}.weight", f"{path}.bias")

    def _stream(self, stack: str, layer: int, leaf: str) -> Made | None:
        if leaf == "resid_pre":
            if layer:
                before = f"{stack}.{layer - 1}.resid_post"
                return Made(operation=f"the same as {before}", inputs=(before,))
            if self.stacks[stack].embedding.norm:
                before = f"{self.embed_name(stack)}.norm"
                return Made(operation=f"the same as {before}", inputs=(before,))
            inputs = self.embedding_sites(stack)
            return Made(operation=" + ".join(inputs), inputs=inputs)
        part = next((part for part in self.parts(stack) if _AFTER[part] == leaf), None)
        if part is None:
            return None
        if not self.norm_before(stack):
            norm = f"{stack}.{layer}.{part}.norm"
            return Made(operation=f"the same as {norm}", inputs=(norm,))
        inputs = (self.stream_before(stack, layer, part), f"{stack}.{layer}.{part}.output")
        return Made(operation=" + ".join(inputs), inputs=inputs)

    def _part_norm(self, stack: str, layer: int, part: str) -> Made:
        before = self.stream_before(stack, layer, part)
        path = f"{stack}.blocks.{layer}.{part}_norm"
        if self.norm_before(stack):
            return self._norm((before,), path)
        return self._norm((before, f"{stack}.{layer}.{part}.output"), path)

    def _feedforward(self, stack: str, layer: int, leaf: str) -> Made | None:
        config, path, here = self.stacks[stack].feedforward, f"{stack}.blocks.{layer}.ffn", f"{stack}.{layer}.ffn"
        match leaf:
            case "norm":
                return self._part_norm(stack, layer, "ffn")
            case "hidden":
                gated = f"{config.activation}(x · gate) · (x · up)" if config.gated else f"{config.activation}(x · up)"
                layers = ["up", *(["gate"] if config.gated else [])]
                parameters = tuple(name for part in layers for name in _linear(f"{path}.{part}", bias=config.bias))
                inputs = (self.read_by(stack, layer, "ffn"),)
                return Made(operation=gated.replace("x", inputs[0]), inputs=inputs, parameters=parameters)
            case "output":
                return _product(f"{here}.hidden", f"{path}.down", bias=config.bias)
            case _:
                return None

    def _attention(self, stack: str, layer: int, part: str, leaf: str) -> Made | None:
        here, config = f"{stack}.{layer}.{part}", self.stacks[stack].attention
        path = f"{stack}.blocks.{layer}.{ATTENTION[part]}"
        turned = self.stacks[stack].position.kind is PositionKind.ROTARY and part == "self"
        query, key = (f"{here}.rotated_query", f"{here}.rotated_key") if turned else (f"{here}.query", f"{here}.key")
        reads = self.read_by(stack, layer, part)
        match leaf:
            case "norm":
                found = self._part_norm(stack, layer, part)
            case "query":
                found = _product(reads, f"{path}.query", bias=config.bias)
            case "key" | "value":
                source = self.last("encoder") if part == "cross" else reads
                found = _product(source, f"{path}.{leaf}", bias=config.bias)
            case "rotated_query" | "rotated_key":
                plain = f"{here}.{leaf.removeprefix('rotated_')}"
                found = Made(operation=f"{plain} turned by place · frequency", inputs=(plain,))
            case "score":
                relative = self.stacks[stack].position.kind is PositionKind.RELATIVE and part == "self"
                additive = config.scorer is ScorerKind.ADDITIVE
                operation = f"v · tanh({query} + {key})" if additive else f"{query} · {key} · scale"
                operation += " + bias of the distance" if relative else ""
                parameters = (f"{path}.scorer.weight",) if additive else ()
                parameters += (f"{stack}.relative.weight",) if relative else ()
                found = Made(operation=operation, inputs=(query, key), parameters=parameters)
            case "pattern":
                found = Made(operation="softmax over open keys of score", inputs=(f"{here}.score",))
            case "mixed":
                operation = f"Σ over keys of {here}.pattern · {here}.value"
                found = Made(operation=operation, inputs=(f"{here}.pattern", f"{here}.value"))
            case "output":
                found = _product(f"{here}.mixed", f"{path}.output", bias=config.output_bias)
            case _:
                found = None
        return found

    def _head(self, leaf: str) -> Made | None:
        head, last = self.config.head, self.last(self.output_stack)
        table = f"{self.output_stack}.embedding.token.weight"
        match leaf, head.kind:
            case "logits", HeadKind.LANGUAGE_MODEL:
                weights = (table if head.tied else "head.untied.weight", *(["head.bias"] if head.bias else []))
                scale = " / √D" if head.scaled else ""
                operation = f"{last}{scale} · weightᵀ" + (" + bias" if head.bias else "")
                found = Made(operation=operation, inputs=(last,), parameters=weights)
            case "logits", HeadKind.MASKED_LANGUAGE_MODEL:
                weight = table if head.tied else "head.vocabulary.untied.weight"
                weights = (weight, *(["head.vocabulary.bias"] if head.bias else []))
                operation = "transform · weightᵀ" + (" + bias" if head.bias else "")
                found = Made(operation=operation, inputs=("transform",), parameters=weights)
            case "transform", _:
                names = (*_linear("head.transform", bias=True), *self._norm_names("encoder", "head.norm"))
                found = Made(operation=f"norm({head.activation}({last} W))", inputs=(last,), parameters=names)
            case "logits", HeadKind.SEQUENCE_CLASSIFICATION:
                found = _product("pooled", "head.classifier", bias=True)
            case "logits", _:
                found = _product(last, "head.classifier", bias=True)
            case "pooled", kind:
                path = "head.pooler.dense" if kind is HeadKind.SEQUENCE_CLASSIFICATION else "pooler.dense"
                names = _linear(path, bias=True)
                found = Made(operation=f"bend of the first token's {last} W", inputs=(last,), parameters=names)
            case "vector", _:
                found = Made(operation=f"{head.pooling} of {last} over real tokens", inputs=(last,))
            case _:
                found = None
        return found


def _linear(path: str, *, bias: bool) -> tuple[str, ...]:
    return (f"{path}.weight", f"{path}.bias") if bias else (f"{path}.weight",)


def _product(inputs: str, path: str, *, bias: bool) -> Made:
    operation = f"{inputs} · weightᵀ" + (" + bias" if bias else "")
    return Made(operation=operation, inputs=(inputs,), parameters=_linear(path, bias=bias))


RECURRENT: Mapping[str, Made] = MappingProxyType(
    {
        "encoder.embed.token": Made(operation="token = weight[id]", parameters=("source_token.weight",)),
        "encoder.hidden": Made(operation="cell(token, state), in both directions", inputs=("encoder.embed.token",)),
        "decoder.embed.token": Made(operation="token = weight[id]", parameters=("target_token.weight",)),
        "decoder.cross.key": _product("encoder.hidden", "decoder.key", bias=False),
        "decoder.cross.query": Made(operation="the cell's state before the token · weightᵀ"),
        "decoder.cross.score": Made(
            operation="v · tanh(query + key), or query · key", inputs=("decoder.cross.query", "decoder.cross.key")
        ),
        "decoder.cross.pattern": Made(operation="softmax over open keys of score", inputs=("decoder.cross.score",)),
        "decoder.cross.mixed": Made(
            operation="Σ over keys of pattern · encoder.hidden", inputs=("decoder.cross.pattern", "encoder.hidden")
        ),
        "decoder.hidden": Made(
            operation="tanh(readout of state, token, and mixed or summary)", inputs=("decoder.embed.token",)
        ),
        "logits": _product("decoder.hidden", "output", bias=True),
    }
)
"""The wiring of the recurrent network, whose cells are the library's own."""
