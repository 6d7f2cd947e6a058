"""The recurrent encoder-decoder: the baseline that the Transformer replaced."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from clearhead.config import RecurrentConfig
from clearhead.models.base import Network
from clearhead.models.doors import check_batch, check_ids, check_mask
from clearhead.models.outputs import EncoderDecoderOutput
from clearhead.nn import RecurrentDecoder, RecurrentEncoder, RecurrentState, TokenEmbedding
from clearhead.probe import probe, scope


class Recurrent(Network[RecurrentConfig]):
    """Reads and writes one token after another, with or without attention."""

    def __init__(self, *, config: RecurrentConfig) -> None:
        super().__init__(config=config)
        target_size = config.target_vocab_size
        self.source_token = TokenEmbedding(vocab_size=config.vocab_size, width=config.width)
        self.target_token = (
            self.source_token if target_size is None else TokenEmbedding(vocab_size=target_size, width=config.width)
        )
        self.encoder = RecurrentEncoder(config=config)
        self.decoder = RecurrentDecoder(config=config)
        self.output = nn.Linear(config.width, target_size or config.vocab_size)
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self,
        source_ids_BS: Int[Tensor, "B S"],
        target_ids_BT: Int[Tensor, "B T"],
        *,
        source_mask_BS: Bool[Tensor, "B S"] | None = None,
        target_mask_BT: Bool[Tensor, "B T"] | None = None,
    ) -> EncoderDecoderOutput:
        """All target positions, as in training: each after the state that the true past left.

        Args:
            source_ids_BS: The ids of the sources.
            target_ids_BT: The ids of the targets, shifted right, with a start token before each.
            source_mask_BS: True where a source token is real, padding only at the end; None if all are.
            target_mask_BT: Taken for the Transformer's sake; padding at the end changes no state before it.
        """
        if source_mask_BS is None:
            source_mask_BS = torch.ones_like(source_ids_BS, dtype=torch.bool)
        encoded_BSD = self.encode(source_ids_BS, source_mask_BS=source_mask_BS)
        check_ids("target ids", target_ids_BT)
        check_batch(target_ids_BT, batch=encoded_BSD.shape[0])
        check_mask("target mask", target_mask_BT, batch=target_ids_BT.shape[0], length=target_ids_BT.shape[1])
        with scope("decoder"):
            x_BTD = self.dropout(probe("embed.token", self.target_token(target_ids_BT)))
            hidden_BTD = self.decoder(x_BTD, source_BSD=encoded_BSD, mask_BS=source_mask_BS)
        return EncoderDecoderOutput(
            encoded_BSD=encoded_BSD,
            hidden_BTD=hidden_BTD,
            logits_BTV=probe("logits", self.output(hidden_BTD)),
        )

    def encode(
        self, source_ids_BS: Int[Tensor, "B S"], *, source_mask_BS: Bool[Tensor, "B S"]
    ) -> Float[Tensor, "B S D"]:
        """The hidden state of every source position."""
        check_ids("source ids", source_ids_BS)
        check_mask("source mask", source_mask_BS, batch=source_ids_BS.shape[0], length=source_ids_BS.shape[1])
        with scope("encoder"):
            x_BSD = self.dropout(probe("embed.token", self.source_token(source_ids_BS)))
            return self.encoder(x_BSD, source_mask_BS)

    def begin(self, source_ids_BS: Int[Tensor, "B S"], *, source_mask_BS: Bool[Tensor, "B S"]) -> RecurrentState:
        """The decoder's state before the first target token."""
        encoded_BSD = self.encode(source_ids_BS, source_mask_BS=source_mask_BS)
        with scope("decoder"):
            return self.decoder.begin(encoded_BSD, source_mask_BS)

    def step(
        self, target_ids_B: Int[Tensor, " B"], state: RecurrentState
    ) -> tuple[Float[Tensor, "B V"], RecurrentState]:
        """The logits after one more target token, and the state that it leaves."""
        with scope("decoder"):
            x_BTD = self.dropout(probe("embed.token", self.target_token(target_ids_B.unsqueeze(1))))
            output_BD, state = self.decoder.step(x_BTD[:, 0], state)
            hidden_BTD = probe("hidden", self.decoder.dropout(output_BD.unsqueeze(1)))
        return probe("logits", self.output(hidden_BTD))[:, 0], state
