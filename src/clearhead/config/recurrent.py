"""The recurrent encoder-decoder: what attention was made for."""

from dataclasses import dataclass

from clearhead.config.checks import require_share, require_size, require_types
from clearhead.config.choices import Cell, RecurrentAttention
from clearhead.config.record import RECORD
from clearhead.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class RecurrentConfig:
    """A recurrent encoder-decoder.

    Attributes:
        vocab_size: Pieces of the source.
        target_vocab_size: Pieces of the target; None for the source's, sharing its embedding.
        width: Of embeddings and hidden states.
        n_layers: Of encoder and decoder each.
        cell: GRU or LSTM.
        attention: What the decoder looks back with.
        dropout: Share dropped in training from embeddings and states.
    """

    __pydantic_config__ = RECORD

    vocab_size: int
    target_vocab_size: int | None = None
    width: int = 256
    n_layers: int = 1
    cell: Cell = Cell.GRU
    attention: RecurrentAttention = RecurrentAttention.ADDITIVE
    dropout: float = 0.0

    def __post_init__(self) -> None:
        require_types(self)
        require_size("vocab_size", self.vocab_size)
        require_size("width", self.width, least=2)
        if self.width % 2:
            raise ConfigError("half the width reads each way", got=f"width={self.width}", expected="an even width")
        require_size("n_layers", self.n_layers, most=10_000)
        require_share("dropout", self.dropout)
        if self.target_vocab_size is not None:
            require_size("target_vocab_size", self.target_vocab_size)
