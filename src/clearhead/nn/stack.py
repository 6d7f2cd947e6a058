"""A stack: an embedding, like blocks one after another, and a last norm."""

from dataclasses import replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from clearhead.config import PositionKind, StackConfig
from clearhead.nn.attention.cache import StackCache
from clearhead.nn.attention.mask import AttentionMask
from clearhead.nn.block import Block, Source, Surroundings
from clearhead.nn.embedding import InputEmbedding, TokenEmbedding
from clearhead.nn.norm import make_norm
from clearhead.nn.position import RelativePosition, RotaryPosition
from clearhead.probe import probe, scope


class Stack(nn.Module):
    """An encoder or a decoder.

    Args:
        config: Its sizes and choices.
        token: The token table, which may be shared with another stack and with the output layer.
        name: What its sites begin with.
        embed_name: What the sites of its embedding begin with.
        causal: Whether a position sees only its past.
        cross: Whether its blocks look at a source.
    """

    def __init__(
        self, *, config: StackConfig, token: TokenEmbedding, name: str, embed_name: str, causal: bool, cross: bool
    ) -> None:
        super().__init__()
        self.config = config
        self.name = name
        self.embed_name = embed_name
        self.causal = causal
        self.embedding = InputEmbedding(config=config, token=token)
        self.blocks = nn.ModuleList(Block(config=config, cross=cross) for _ in range(config.n_layers))
        self.final_norm = make_norm(config.norm, width=config.width) if config.norm.final else None
        kind = config.position.kind
        self.rotary = (
            RotaryPosition(config=config.position, head_width=config.head_width)
            if kind is PositionKind.ROTARY
            else None
        )
        self.relative = (
            RelativePosition(
                n_heads=config.attention.n_heads,
                n_buckets=config.position.n_buckets,
                max_distance=config.position.max_distance,
                causal=causal,
            )
            if kind is PositionKind.RELATIVE
            else None
        )

    def forward(
        self,
        ids_BT: Int[Tensor, "B T"],
        *,
        mask_BK: Bool[Tensor, "B K"] | None = None,
        segment_ids_BT: Int[Tensor, "B T"] | None = None,
        source: Source | None = None,
        cache: StackCache | None = None,
    ) -> Float[Tensor, "B T D"]:
        """The last hidden state of every position.

        Args:
            ids_BT: The ids of the new positions.
            mask_BK: True where a position is real, over cached and new positions; None if all are.
            segment_ids_BT: Which segment each position is in; the first, if not given.
            source: What cross-attention looks at.
            cache: What earlier positions left; takes the new ones.
        """
        n_past = cache.length if cache else 0
        with scope(self.name):
            places = probe("@places", _positions(n_past, ids_BT, mask_BK))
            positions = probe("@positions", places)
        with scope(self.embed_name):
            x_BTD = self.embedding(ids_BT, positions=positions, segment_ids_BT=segment_ids_BT)
        with scope(self.name):
            around = self._surroundings(positions, n_past, x_BTD.dtype, mask_BK, source)
            x_BTD = self.through_blocks(x_BTD, around, cache)
            if self.final_norm is not None:
                x_BTD = probe("final_norm", self.final_norm(x_BTD))
        return x_BTD

    def through_blocks(
        self, x_BTD: Float[Tensor, "B T D"], around: Surroundings, cache: StackCache | None
    ) -> Float[Tensor, "B T D"]:
        """The stream after all blocks; a kernel may stand in here."""
        for index, block in enumerate(self.blocks):
            with scope(str(index)):
                x_BTD = block(x_BTD, around, cache.blocks[index] if cache else None)
        return x_BTD

    def _surroundings(
        self, positions: Tensor, n_past: int, dtype: torch.dtype, mask_BK: Tensor | None, source: Source | None
    ) -> Surroundings:
        n_queries = positions.shape[1]
        n_keys = n_past + n_queries
        mask = AttentionMask(
            n_queries=n_queries,
            n_keys=n_keys,
            causal=self.causal,
            window=self.config.attention.window,
            keys=mask_BK,
            device=positions.device,
        )
        bias_1HQK = None if self.relative is None else self.relative(n_queries=n_queries, n_keys=n_keys)
        return Surroundings(
            mask=probe("@mask", mask),
            rotation=None if self.rotary is None else self.rotary(positions, dtype=dtype),
            bias_1HQK=None if bias_1HQK is None else probe("@bias", bias_1HQK),
            source=source if source is None else replace(source, mask=probe("@cross_mask", source.mask)),
        )


def _positions(n_past: int, ids_BT: Tensor, mask_BK: Tensor | None) -> Tensor:
    """The place of each new position among the real ones, so that padding on either side moves nothing."""
    n_new = ids_BT.shape[1]
    if mask_BK is None:
        return torch.arange(n_past, n_past + n_new, device=ids_BT.device).unsqueeze(0)
    return (mask_BK.long().cumsum(-1) - 1).clamp(min=0)[:, n_past:]
