"""The recurrent encoder-decoder: what attention was made for.

    encoder:   h_s = cell(x_s, h_{s-1}), read in both directions
    decoder:   c_t = attend(state_{t-1}, h, h)        state_t = cell([y_{t-1}; c_t], state_{t-1})

With attention as in Bahdanau et al. 2015; without it every c_t is the same summary of the source, where each direction
of the encoder ended (Cho et al. 2014, the network that Bahdanau's figure 2 compares with).
"""

from dataclasses import dataclass, replace
from typing import cast

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from clearhead.config import Cell, RecurrentAttention, RecurrentConfig, ScorerKind
from clearhead.errors import TextError
from clearhead.nn.attention.attend import attend
from clearhead.nn.attention.mask import AttentionMask
from clearhead.nn.attention.score import make_scorer
from clearhead.probe import probe, scope

_SEQUENCE = {Cell.GRU: nn.GRU, Cell.LSTM: nn.LSTM}
_STEP = {Cell.GRU: nn.GRUCell, Cell.LSTM: nn.LSTMCell}
_SCORER = {RecurrentAttention.ADDITIVE: ScorerKind.ADDITIVE, RecurrentAttention.DOT: ScorerKind.DOT}


class RecurrentEncoder(nn.Module):
    """Reads the source in both directions; half the width each."""

    def __init__(self, *, config: RecurrentConfig) -> None:
        super().__init__()
        self.cell = _SEQUENCE[config.cell](
            config.width,
            config.width // 2,
            num_layers=config.n_layers,
            batch_first=True,
            bidirectional=True,
            dropout=config.dropout if config.n_layers > 1 else 0.0,
        )

    def forward(self, x_BSD: Float[Tensor, "B S D"], mask_BS: Bool[Tensor, "B S"]) -> Float[Tensor, "B S D"]:
        """The hidden state of every source position; 0 at padding.

        Raises:
            TextError: A source without a token, or padding that is not at the end.
        """
        lengths_B = mask_BS.sum(-1)
        at_end = mask_BS == (torch.arange(mask_BS.shape[1], device=mask_BS.device) < lengths_B.unsqueeze(1))
        if not at_end.all() or int(lengths_B.min()) < 1:
            raise TextError(
                "a recurrent model reads from the first token to the last",
                got="padding before a token, or a source without tokens",
                expected="at least one token, padding only at the end",
            )
        packed = pack_padded_sequence(x_BSD, lengths_B.cpu(), batch_first=True, enforce_sorted=False)
        hidden = self.cell(packed)[0]
        hidden_BSD, _ = pad_packed_sequence(hidden, batch_first=True, total_length=x_BSD.shape[1])
        return probe("hidden", hidden_BSD)


@dataclass(frozen=True, kw_only=True)
class RecurrentState:
    """All that a recurrent decoder remembers between two target positions.

    Attributes:
        cells: The state of each layer's cell.
        summary_BD: What the whole source comes to, which is seen at every position where there is no attention.
        key_B1SD: The keys of the source, where there is attention.
        source_BSD: What attention looks at.
        mask_BS: True where a source token is real.
    """

    cells: list[tuple[Tensor, ...]]
    summary_BD: Tensor
    key_B1SD: Tensor | None
    source_BSD: Tensor
    mask_BS: Tensor

    def select(self, rows_B: Int[Tensor, " B"]) -> "RecurrentState":
        """The state of these rows, in this order."""
        return RecurrentState(
            cells=[tuple(part[rows_B] for part in cell) for cell in self.cells],
            summary_BD=self.summary_BD[rows_B],
            key_B1SD=None if self.key_B1SD is None else self.key_B1SD[rows_B],
            source_BSD=self.source_BSD[rows_B],
            mask_BS=self.mask_BS[rows_B],
        )

    def where(self, chosen_B: Bool[Tensor, " B"], other: "RecurrentState") -> "RecurrentState":
        """This state in the chosen rows and another in the rest, where both look at one source."""
        pairs = zip(self.cells, other.cells, strict=True)
        chosen_B1 = chosen_B.unsqueeze(1)
        return replace(
            self,
            cells=[tuple(torch.where(chosen_B1, a, b) for a, b in zip(*pair, strict=True)) for pair in pairs],
        )


class RecurrentDecoder(nn.Module):
    """Writes the target one state at a time, looking back at the source where it has attention."""

    def __init__(self, *, config: RecurrentConfig) -> None:
        super().__init__()
        width = config.width
        looks = config.attention is not RecurrentAttention.NONE
        self.query = nn.Linear(width, width, bias=False) if looks else None
        self.key = nn.Linear(width, width, bias=False) if looks else None
        self.scorer = make_scorer(_SCORER[config.attention], n_heads=1, head_width=width) if looks else None
        widths = [2 * width] + [width] * (config.n_layers - 1)
        self.cells = nn.ModuleList(_STEP[config.cell](wide, width) for wide in widths)
        self.start = nn.Linear(width, width * config.n_layers)
        self.readout = nn.Linear(3 * width, width)
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self,
        x_BTD: Float[Tensor, "B T D"],
        *,
        source_BSD: Float[Tensor, "B S D"],
        mask_BS: Bool[Tensor, "B S"],
    ) -> Float[Tensor, "B T D"]:
        """The state after every target position, ready for the output layer.

        The sites of the attention are heard once a target position.
        """
        state = self.begin(source_BSD, mask_BS)
        outputs: list[Tensor] = []
        for x_BD in x_BTD.unbind(1):
            output_BD, state = self.step(x_BD, state)
            outputs.append(output_BD)
        return probe("hidden", self.dropout(torch.stack(outputs, dim=1)))

    def begin(self, source_BSD: Float[Tensor, "B S D"], mask_BS: Bool[Tensor, "B S"]) -> RecurrentState:
        """The state before the first target position."""
        key_B1SD = None if self.key is None else probe("cross.key", self.key(source_BSD).unsqueeze(1))
        summary_BD = _summary(source_BSD, mask_BS)
        return RecurrentState(
            cells=self._first_states(summary_BD),
            summary_BD=summary_BD,
            key_B1SD=key_B1SD,
            source_BSD=source_BSD,
            mask_BS=mask_BS,
        )

    def step(self, x_BD: Float[Tensor, "B D"], state: RecurrentState) -> tuple[Float[Tensor, "B D"], RecurrentState]:
        """What one target position reads out, and the state after it."""
        seen = [x_BD, state.summary_BD]
        if state.key_B1SD is not None:
            with scope("cross"):
                seen[1] = self._look_back(state)
        cells = self._step(torch.cat(seen, dim=-1), state.cells)
        output_BD = self.readout(torch.cat([cells[-1][0], *seen], dim=-1)).tanh()
        return output_BD, replace(state, cells=cells)

    def _look_back(self, state: RecurrentState) -> Tensor:
        assert self.query is not None and self.scorer is not None and state.key_B1SD is not None
        query_B11D = probe("query", self.query(state.cells[-1][0])[:, None, None, :])
        source_BSD = state.source_BSD
        mask = AttentionMask(n_queries=1, n_keys=source_BSD.shape[1], keys=state.mask_BS)
        mixed_B11D = attend(query_B11D, state.key_B1SD, source_BSD.unsqueeze(1), scorer=self.scorer, mask=mask)
        return mixed_B11D[:, 0, 0]

    def _step(self, x_BD: Tensor, states: list[tuple[Tensor, ...]]) -> list[tuple[Tensor, ...]]:
        after: list[tuple[Tensor, ...]] = []
        for cell, state in zip(self.cells, states, strict=True):
            new = cell(x_BD, state if isinstance(cell, nn.LSTMCell) else state[0])
            after.append(cast("tuple[Tensor, ...]", new) if isinstance(cell, nn.LSTMCell) else (new,))
            x_BD = self.dropout(after[-1][0])
        return after

    def _first_states(self, summary_BD: Tensor) -> list[tuple[Tensor, ...]]:
        """One state a layer."""
        hidden = self.start(summary_BD).tanh().chunk(len(self.cells), dim=-1)
        return [
            (h, torch.zeros_like(h)) if isinstance(cell, nn.LSTMCell) else (h,)
            for cell, h in zip(self.cells, hidden, strict=True)
        ]


def _summary(source_BSD: Float[Tensor, "B S D"], mask_BS: Bool[Tensor, "B S"]) -> Float[Tensor, "B D"]:
    """Where each direction of the encoder ended."""
    half = source_BSD.shape[2] // 2
    last_B = mask_BS.sum(-1) - 1
    rows_B = torch.arange(len(last_B), device=last_B.device)
    return torch.cat([source_BSD[rows_B, last_B, :half], source_BSD[:, 0, half:]], dim=-1)
