"""Multi-head attention: project, split, position, attend, merge, project."""

from jaxtyping import Float
from torch import Tensor, nn

from clearhead.config import AttentionConfig
from clearhead.nn.attention.attend import attend
from clearhead.nn.attention.cache import KeyValueCache
from clearhead.nn.attention.heads import merge_heads, split_heads
from clearhead.nn.attention.mask import AttentionMask
from clearhead.nn.attention.score import make_scorer
from clearhead.nn.position import Rotation
from clearhead.nn.product import Linear
from clearhead.probe import probe


class Attention(nn.Module):
    """Several heads, each looking for its own thing.

        head_h = attend(x W_Q, source W_K, source W_V)        output = [head_1 … head_H] W_O

    (Vaswani et al. 2017, section 3.2.2; W_Q, W_K, W_V, W_O are `query`, `key`, `value`, `output`.)
    Self-attention looks at its own input, cross-attention at another source, which stays the same while
    its cache is used.
    """

    def __init__(self, *, config: AttentionConfig, width: int, head_width: int) -> None:
        super().__init__()
        self.n_heads = config.n_heads
        self.n_kv_heads = config.kv_heads
        self.query = Linear(width, self.n_heads * head_width, bias=config.bias)
        self.key = Linear(width, self.n_kv_heads * head_width, bias=config.bias)
        self.value = Linear(width, self.n_kv_heads * head_width, bias=config.bias)
        self.output = Linear(self.n_heads * head_width, width, bias=config.output_bias)
        self.scorer = make_scorer(config.scorer, n_heads=self.n_heads, head_width=head_width)
        self.dropout = config.dropout

    def forward(
        self,
        x_BQD: Float[Tensor, "B Q D"],
        source_BKD: Float[Tensor, "B K D"] | None = None,
        *,
        mask: AttentionMask,
        rotation: Rotation | None = None,
        bias_1HQK: Tensor | None = None,
        cache: KeyValueCache | None = None,
    ) -> Float[Tensor, "B Q D"]:
        """What each position of `x` brings back from the source, or from `x` itself where there is none."""
        query_BHQC = probe("query", split_heads(self.query(x_BQD), self.n_heads))
        if rotation is not None:
            query_BHQC = probe("rotated_query", rotation.turn(query_BHQC))
        if source_BKD is not None and cache is not None and cache.length:
            key_BGKC, value_BGKC = cache.so_far()  # the source does not change while decoding
        else:
            key_BGKC, value_BGKC = self.look_up(x_BQD if source_BKD is None else source_BKD, rotation)
            if cache is not None:
                key_BGKC, value_BGKC = cache.append(key_BGKC, value_BGKC)
        dropout = self.dropout if self.training else 0.0
        mixed_BHQC = attend(
            query_BHQC, key_BGKC, value_BGKC, scorer=self.scorer, mask=mask, bias_1HQK=bias_1HQK, dropout=dropout
        )
        return probe("output", self.output(merge_heads(mixed_BHQC)))

    def look_up(
        self, source_BKD: Float[Tensor, "B K D"], rotation: Rotation | None = None
    ) -> tuple[Float[Tensor, "B G K C"], Float[Tensor, "B G K C"]]:
        """The keys and values of a source."""
        key_BGKC = probe("key", split_heads(self.key(source_BKD), self.n_kv_heads))
        value_BGKC = probe("value", split_heads(self.value(source_BKD), self.n_kv_heads))
        if rotation is not None:
            key_BGKC = probe("rotated_key", rotation.turn(key_BGKC))
        return key_BGKC, value_BGKC
