"""Decoder-only models (GPT, GPT-2, Llama): every position sees its past."""

from jaxtyping import Bool, Float, Int
from torch import Tensor

from clearhead.config import HeadKind, ModelConfig
from clearhead.models.base import Network
from clearhead.models.doors import check_ids, check_mask
from clearhead.models.heads import LanguageModelHead
from clearhead.models.outputs import DecoderOutput
from clearhead.nn import Stack, StackCache, make_token_embedding


class DecoderOnly(Network[ModelConfig]):
    """Goes on with a text, one token after another."""

    def __init__(self, *, config: ModelConfig) -> None:
        super().__init__(config=config)
        stack = config.decoder
        assert stack is not None
        token = make_token_embedding(stack)
        self.decoder = Stack(config=stack, token=token, name="decoder", embed_name="embed", causal=True, cross=False)
        has_head = config.head.kind is HeadKind.LANGUAGE_MODEL
        self.head = LanguageModelHead(config=config.head, token=token) if has_head else None

    def forward(
        self,
        ids_BT: Int[Tensor, "B T"],
        *,
        mask_BK: Bool[Tensor, "B K"] | None = None,
        cache: StackCache | None = None,
    ) -> DecoderOutput:
        """The last hidden state, and the logits of the next token at every position.

        Args:
            ids_BT: The ids of the new positions.
            mask_BK: True where a token is real, over cached and new positions; None if all are.
            cache: What earlier positions left; takes the new ones.
        """
        hidden_BTD = self.decode(ids_BT, mask_BK=mask_BK, cache=cache)
        return DecoderOutput(hidden_BTD=hidden_BTD, logits_BTV=None if self.head is None else self.head(hidden_BTD))

    def decode(
        self,
        ids_BT: Int[Tensor, "B T"],
        *,
        mask_BK: Bool[Tensor, "B K"] | None = None,
        cache: StackCache | None = None,
    ) -> Float[Tensor, "B T D"]:
        """The last hidden state alone, for those who want the logits of few positions."""
        check_ids("ids", ids_BT)
        n_past = cache.length if cache else 0
        check_mask("mask", mask_BK, batch=ids_BT.shape[0], length=n_past + ids_BT.shape[1])
        return self.decoder(ids_BT, mask_BK=mask_BK, cache=cache)

    def new_cache(self, *, capacity: int) -> StackCache:
        """An empty cache for this model."""
        return StackCache(n_layers=len(self.decoder.blocks), capacity=capacity)
