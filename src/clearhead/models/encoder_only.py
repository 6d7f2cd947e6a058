"""Encoder-only models (BERT, DistilBERT): every position sees every other."""

from jaxtyping import Bool, Int
from torch import Tensor, nn

from clearhead.config import Activation, HeadKind, ModelConfig
from clearhead.models.base import Network
from clearhead.models.doors import check_ids, check_mask, check_segments
from clearhead.models.heads import (
    MaskedLanguageModelHead,
    Pooler,
    SentenceHead,
    SequenceClassificationHead,
    TokenHead,
)
from clearhead.models.outputs import EncoderOutput
from clearhead.nn import Stack, TokenEmbedding, make_token_embedding


class EncoderOnly(Network[ModelConfig]):
    """Reads a text in both directions at once: embed, classify, fill, find an answer."""

    def __init__(self, *, config: ModelConfig) -> None:
        super().__init__(config=config)
        stack = config.encoder
        assert stack is not None
        token = make_token_embedding(stack)
        self.encoder = Stack(config=stack, token=token, name="encoder", embed_name="embed", causal=False, cross=False)
        self.pooler = Pooler(activation=Activation.TANH, width=config.width) if config.head.pooler else None
        self.head = _make_head(config, token)
        self.n_segments = stack.embedding.n_segments

    def forward(
        self,
        ids_BS: Int[Tensor, "B S"],
        *,
        mask_BS: Bool[Tensor, "B S"] | None = None,
        segment_ids_BS: Int[Tensor, "B S"] | None = None,
    ) -> EncoderOutput:
        """The last hidden state, and what the head reads off it.

        Args:
            ids_BS: The ids of the texts.
            mask_BS: True where a token is real; None if all are.
            segment_ids_BS: Which segment each token is in; the first, if not given.
        """
        check_ids("ids", ids_BS)
        check_mask("mask", mask_BS, batch=ids_BS.shape[0], length=ids_BS.shape[1])
        check_segments(segment_ids_BS, like=ids_BS, n_segments=self.n_segments)
        hidden_BSD = self.encoder(ids_BS, mask_BK=mask_BS, segment_ids_BT=segment_ids_BS)
        pooled_BD = None if self.pooler is None else self.pooler(hidden_BSD, mask_BS)
        match self.head:
            case SentenceHead():
                vector_BD = self.head(hidden_BSD, mask_BS)
                return EncoderOutput(hidden_BSD=hidden_BSD, pooled_BD=pooled_BD, vector_BD=vector_BD)
            case SequenceClassificationHead():
                logits = self.head(hidden_BSD, mask_BS)
            case None:
                logits = None
            case _:
                logits = self.head(hidden_BSD)
        return EncoderOutput(hidden_BSD=hidden_BSD, pooled_BD=pooled_BD, logits=logits)


def _make_head(config: ModelConfig, token: TokenEmbedding) -> nn.Module | None:
    head, width = config.head, config.width
    match head.kind:
        case HeadKind.MASKED_LANGUAGE_MODEL:
            return MaskedLanguageModelHead(config=head, token=token, norm=config.output_stack.norm)
        case HeadKind.SEQUENCE_CLASSIFICATION:
            return SequenceClassificationHead(config=head, width=width)
        case HeadKind.TOKEN_CLASSIFICATION:
            return TokenHead(config=head, width=width, n_outputs=len(head.labels))
        case HeadKind.QUESTION_ANSWERING:
            return TokenHead(config=head, width=width, n_outputs=2)
        case HeadKind.SENTENCE:
            return SentenceHead(config=head)
        case _:
            return None
