"""Encoder-decoders (the original Transformer, T5, Marian): one stack reads, the other writes."""

from jaxtyping import Bool, Float, Int
from torch import Tensor

from clearhead.config import HeadKind, ModelConfig
from clearhead.errors import DecodingError
from clearhead.models.base import Network
from clearhead.models.doors import check_batch, check_ids, check_mask
from clearhead.models.heads import LanguageModelHead
from clearhead.models.outputs import EncoderDecoderOutput
from clearhead.nn import AttentionMask, Source, Stack, StackCache, make_token_embedding


class EncoderDecoder(Network[ModelConfig]):
    """Reads a source and writes a target: translate, summarise, answer.

    Every decoder block looks at the last encoder block.
    """

    def __init__(self, *, config: ModelConfig) -> None:
        super().__init__(config=config)
        assert config.encoder is not None and config.decoder is not None
        source_token = make_token_embedding(config.encoder)
        target_token = source_token if config.share_embeddings else make_token_embedding(config.decoder)
        self.encoder = Stack(
            config=config.encoder,
            token=source_token,
            name="encoder",
            embed_name="encoder.embed",
            causal=False,
            cross=False,
        )
        self.decoder = Stack(
            config=config.decoder,
            token=target_token,
            name="decoder",
            embed_name="decoder.embed",
            causal=True,
            cross=True,
        )
        has_head = config.head.kind is HeadKind.LANGUAGE_MODEL
        self.head = LanguageModelHead(config=config.head, token=target_token) if has_head else None

    def forward(
        self,
        source_ids_BS: Int[Tensor, "B S"],
        target_ids_BT: Int[Tensor, "B T"],
        *,
        source_mask_BS: Bool[Tensor, "B S"] | None = None,
        target_mask_BT: Bool[Tensor, "B T"] | None = None,
    ) -> EncoderDecoderOutput:
        """All target positions at once, as in training: each sees the source and its own past.

        Args:
            source_ids_BS: The ids of the sources.
            target_ids_BT: The ids of the targets, shifted right, with a start token before each.
            source_mask_BS: True where a source token is real; None if all are.
            target_mask_BT: True where a target token is real; None if all are.
        """
        encoded_BSD = self.encode(source_ids_BS, source_mask_BS=source_mask_BS)
        hidden_BTD = self.decode(
            target_ids_BT, encoded_BSD=encoded_BSD, source_mask_BS=source_mask_BS, target_mask_BK=target_mask_BT
        )
        return EncoderDecoderOutput(
            encoded_BSD=encoded_BSD,
            hidden_BTD=hidden_BTD,
            logits_BTV=None if self.head is None else self.head(hidden_BTD),
        )

    def encode(
        self, source_ids_BS: Int[Tensor, "B S"], *, source_mask_BS: Bool[Tensor, "B S"] | None = None
    ) -> Float[Tensor, "B S D"]:
        """The last hidden state of the encoder; needed once, however long the target grows."""
        check_ids("source ids", source_ids_BS)
        check_mask("source mask", source_mask_BS, batch=source_ids_BS.shape[0], length=source_ids_BS.shape[1])
        return self.encoder(source_ids_BS, mask_BK=source_mask_BS)

    def decode(
        self,
        target_ids_BT: Int[Tensor, "B T"],
        *,
        encoded_BSD: Float[Tensor, "B S D"],
        source_mask_BS: Bool[Tensor, "B S"] | None = None,
        target_mask_BK: Bool[Tensor, "B K"] | None = None,
        cache: StackCache | None = None,
    ) -> Float[Tensor, "B T D"]:
        """The last hidden state of the decoder, for new target positions.

        Args:
            target_ids_BT: The ids of the new positions.
            encoded_BSD: What `encode` gave.
            source_mask_BS: True where a source token is real; None if all are.
            target_mask_BK: True where a target token is real, over cached and new positions; None if all are.
            cache: What earlier positions left; takes the new ones.
        """
        check_ids("target ids", target_ids_BT)
        check_batch(target_ids_BT, batch=encoded_BSD.shape[0])
        check_mask("source mask", source_mask_BS, batch=encoded_BSD.shape[0], length=encoded_BSD.shape[1])
        self._check_source(encoded_BSD, cache)
        n_new, n_past = target_ids_BT.shape[1], cache.length if cache else 0
        check_mask("target mask", target_mask_BK, batch=target_ids_BT.shape[0], length=n_past + n_new)
        mask = AttentionMask(n_queries=n_new, n_keys=encoded_BSD.shape[1], keys=source_mask_BS)
        source = Source(hidden_BSD=encoded_BSD, mask=mask)
        return self.decoder(target_ids_BT, mask_BK=target_mask_BK, source=source, cache=cache)

    def _check_source(self, encoded_BSD: Tensor, cache: StackCache | None) -> None:
        width, n_cached = self.config.width, cache.source_length if cache else 0
        if encoded_BSD.shape[2] != width or n_cached not in (0, encoded_BSD.shape[1]):
            raise DecodingError(
                "this is not what was encoded for this decoder and this cache",
                got=f"{encoded_BSD.shape[1]} positions of width {encoded_BSD.shape[2]}",
                expected=f"{n_cached or 'any number of'} positions of width {width}",
                advice="a new cache for every source",
            )

    def new_cache(self, *, capacity: int, source_length: int) -> StackCache:
        """An empty cache for this model's decoder."""
        return StackCache(n_layers=len(self.decoder.blocks), capacity=capacity, source_length=source_length)
