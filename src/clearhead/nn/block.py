"""One block: attention and feed-forward, each added to the residual stream."""

from collections.abc import Callable
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor, nn

from clearhead.config import NormPlacement, StackConfig
from clearhead.nn.attention.attention import Attention
from clearhead.nn.attention.cache import BlockCache
from clearhead.nn.attention.mask import AttentionMask
from clearhead.nn.feedforward import FeedForward
from clearhead.nn.norm import make_norm
from clearhead.nn.position import Rotation
from clearhead.probe import probe, scope


@dataclass(frozen=True, kw_only=True)
class Source:
    """What cross-attention looks at."""

    hidden_BSD: Float[Tensor, "B S D"]
    mask: AttentionMask


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What all blocks of a stack share in one pass."""

    mask: AttentionMask
    rotation: Rotation | None = None
    bias_1HQK: Tensor | None = None
    source: Source | None = None


class Block(nn.Module):
    """One layer of a stack.

        before:  x + sublayer(norm(x))        after:  norm(x + sublayer(x))

    for the sublayers self-attention, cross-attention (where there is a source) and feed-forward.
    """

    def __init__(self, *, config: StackConfig, cross: bool) -> None:
        super().__init__()

        def attention() -> Attention:
            return Attention(config=config.attention, width=config.width, head_width=config.head_width)

        self.self_attention = attention()
        self.self_norm = make_norm(config.norm, width=config.width)
        self.cross_attention = attention() if cross else None
        self.cross_norm = make_norm(config.norm, width=config.width) if cross else None
        self.ffn = FeedForward(config=config.feedforward, width=config.width)
        self.ffn_norm = make_norm(config.norm, width=config.width)
        self.norm_before = config.norm.placement is NormPlacement.BEFORE
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self, x_BTD: Float[Tensor, "B T D"], around: Surroundings, cache: BlockCache | None = None
    ) -> Float[Tensor, "B T D"]:
        """The stream after this block."""
        x_BTD = probe("resid_pre", x_BTD)
        with scope("self"):
            x_BTD = self._add(x_BTD, self.self_norm, lambda h_BTD: self._look_around(h_BTD, around, cache))
        x_BTD = probe("resid_mid", x_BTD)
        if self.cross_norm is not None:
            with scope("cross"):
                x_BTD = self._add(x_BTD, self.cross_norm, lambda h_BTD: self._look_across(h_BTD, around, cache))
            x_BTD = probe("resid_cross", x_BTD)
        with scope("ffn"):
            x_BTD = self._add(x_BTD, self.ffn_norm, self.ffn)
        return probe("resid_post", x_BTD)

    def _add(self, x_BTD: Tensor, norm: nn.Module, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """The stream after one sublayer."""
        if self.norm_before:
            return x_BTD + self.dropout(sublayer(_normed(norm, x_BTD)))
        return _normed(norm, x_BTD + self.dropout(sublayer(x_BTD)))

    def _look_around(self, h_BTD: Tensor, around: Surroundings, cache: BlockCache | None) -> Tensor:
        return self.self_attention(
            h_BTD,
            mask=around.mask,
            rotation=around.rotation,
            bias_1HQK=around.bias_1HQK,
            cache=cache.own if cache else None,
        )

    def _look_across(self, h_BTD: Tensor, around: Surroundings, cache: BlockCache | None) -> Tensor:
        assert self.cross_attention is not None and around.source is not None
        source = around.source
        return self.cross_attention(h_BTD, source.hidden_BSD, mask=source.mask, cache=cache.cross if cache else None)


def _normed(norm: nn.Module, x_BTD: Tensor) -> Tensor:
    return probe("norm", norm(x_BTD))
