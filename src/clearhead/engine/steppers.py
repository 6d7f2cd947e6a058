"""Models as decoding sees them: prompts in, logits out, one id a row at a time.

Prefill runs all prompts at once and fills the cache; each step runs one new position a row. The encoder of
an encoder-decoder runs once.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from clearhead.engine.padding import pad_left, pad_right
from clearhead.models import DecoderOnly, EncoderDecoder, Recurrent
from clearhead.nn import RecurrentState, StackCache
from clearhead.probe import borrowed, probe

Prompts = Sequence[tuple[int, ...]]


def quiet_mode() -> Callable[[], AbstractContextManager[object]]:
    """How torch runs what needs no gradient: fastest where nobody keeps values, which could not be worked with."""
    return torch.inference_mode if borrowed() else torch.no_grad


class _Mask:
    """Which positions of each row are real, for as many positions as fit; None where all are."""

    def __init__(self, *, mask_BT: Bool[Tensor, "B T"] | None, capacity: int) -> None:
        self.real_BK: Tensor | None = None
        if mask_BT is not None:
            self.real_BK = torch.ones(mask_BT.shape[0], capacity, dtype=torch.bool)
            self.real_BK[:, : mask_BT.shape[1]] = mask_BT

    def upto(self, length: int) -> Tensor | None:
        return None if self.real_BK is None else self.real_BK[:, :length]

    def select(self, rows_B: Tensor) -> None:
        if self.real_BK is not None:
            self.real_BK = self.real_BK[rows_B]


class DecoderOnlyStepper:
    """Goes on with texts.

    Args:
        network: The model.
        prompts: The texts, each at least one id.
        n_new: New ids that will be asked for at most.
        window: Where a row that has grown to so many ids goes on with the later half of them; None for never.
    """

    def __init__(self, *, network: DecoderOnly, prompts: Prompts, n_new: int, window: int | None = None) -> None:
        self._mode = quiet_mode()
        self._network = network
        self._rows = [list(prompt) for prompt in prompts]
        self._n_new = n_new
        self._window = window
        self._mask: _Mask
        self._cache: StackCache

    def start(self) -> Float[Tensor, "B V"]:
        """The logits after every prompt."""
        if self._window is not None:
            self._rows = [row[-self._window :] for row in self._rows]
        return self._prefill()

    def step(self, ids_B: Int[Tensor, " B"]) -> Float[Tensor, "B V"]:
        """The logits after one more id for every row."""
        if self._window is not None and self._slide(ids_B):
            return self._prefill()
        return self._run(ids_B.unsqueeze(1))

    def select(self, rows_B: Int[Tensor, " B"]) -> None:
        """Goes on with these rows."""
        self._rows = [list(self._rows[int(row)]) for row in rows_B]
        if hasattr(self, "_cache"):
            self._cache.select(rows_B)
            self._mask.select(rows_B)

    def _prefill(self) -> Tensor:
        ids_BT, mask_BT = pad_left(self._rows)
        capacity = ids_BT.shape[1] + self._n_new
        if self._window is not None:
            capacity = min(capacity, self._window)
        self._cache = self._network.new_cache(capacity=capacity)
        self._mask = _Mask(mask_BT=mask_BT, capacity=capacity)
        return self._run(ids_BT)

    def _run(self, ids_BT: Tensor) -> Tensor:
        assert self._network.head is not None
        ids_BT = probe("@ids", ids_BT)
        mask_BK = self._mask.upto(self._cache.length + ids_BT.shape[1])
        with self._mode():
            hidden_BTD = self._network.decode(ids_BT, mask_BK=mask_BK, cache=self._cache)
            return self._network.head(hidden_BTD[:, -1:])[:, 0]

    def _slide(self, ids_B: Tensor) -> bool:
        """Takes note of the new ids; whether a row was full, so that all must be read again."""
        assert self._window is not None
        full = False
        for row, index in zip(self._rows, ids_B, strict=True):
            row.append(int(index))
            if len(row) > self._window:
                del row[: len(row) - max(1, self._window // 2)]
                full = True
        return full or self._cache.length == self._cache.capacity


class EncoderDecoderStepper:
    """Reads sources and writes targets.

    Args:
        network: The model.
        sources: The ids of the sources.
        prompts: The ids that each target begins with, the start id first.
        n_new: New ids that will be asked for at most.

    Attributes:
        network: The model.
        encoded_BSD: What the encoder made of the sources, once it has begun.
        source_mask_BS: Where these are real; None where they are everywhere.
    """

    def __init__(
        self, *, network: EncoderDecoder, sources: Prompts, prompts: Prompts, n_new: int, pad_id: int = 0
    ) -> None:
        self._mode = quiet_mode()
        self.network = network
        self._sources = list(sources)
        self._prompts = list(prompts)
        self._n_new = n_new
        self._pad_id = pad_id
        self._source_B = torch.arange(len(sources))  # which source each row goes on with
        self.encoded_BSD: Tensor
        self.source_mask_BS: Tensor | None
        self._mask: _Mask
        self._cache: StackCache | None = None

    @property
    def cache(self) -> StackCache:
        """What earlier positions left; there is none before the start."""
        assert self._cache is not None
        return self._cache

    @property
    def prompt_lengths(self) -> set[int]:
        """The lengths of the prompts that targets begin with."""
        return {len(prompt) for prompt in self._prompts}

    def start(self) -> Float[Tensor, "B V"]:
        """The logits after every prompt."""
        return self.run(self.read())

    def read(self) -> Int[Tensor, "B T"]:
        """Reads the sources; gives the ids of the prompts, which are still to be read."""
        source_ids_BS, self.source_mask_BS = pad_right(self._sources, pad_id=self._pad_id)
        ids_BT, mask_BT = pad_left(self._prompts, pad_id=self._pad_id)
        capacity = ids_BT.shape[1] + self._n_new
        self._mask = _Mask(mask_BT=mask_BT, capacity=capacity)
        self._cache = self.network.new_cache(capacity=capacity, source_length=source_ids_BS.shape[1])
        self._source_B = torch.arange(len(self._sources))
        with self._mode():
            self.encoded_BSD = self.network.encode(source_ids_BS, source_mask_BS=self.source_mask_BS)
        return ids_BT

    def step(self, ids_B: Int[Tensor, " B"]) -> Float[Tensor, "B V"]:
        """The logits after one more id for every row."""
        return self.run(ids_B.unsqueeze(1))

    def select(self, rows_B: Int[Tensor, " B"]) -> None:
        """Goes on with these rows; their sources are looked up anew only where they change places."""
        if self._cache is None:
            self._sources = [self._sources[int(row)] for row in rows_B]
            self._prompts = [self._prompts[int(row)] for row in rows_B]
            return
        source_B = self._source_B[rows_B]
        moved = not torch.equal(source_B, self._source_B)
        self._source_B = source_B
        self._cache.select(rows_B, source=moved)
        self._mask.select(rows_B)
        # The cache has what the decoder made of the source: of that itself, only how many rows there are is read.
        self.encoded_BSD = self.encoded_BSD[:1].expand(len(rows_B), -1, -1)
        if moved:
            self.source_mask_BS = None if self.source_mask_BS is None else self.source_mask_BS[rows_B]

    def run(self, ids_BT: Int[Tensor, "B T"]) -> Float[Tensor, "B V"]:
        """The logits after more ids for every row, once the sources are read."""
        assert self.network.head is not None and self._cache is not None
        ids_BT = probe("@ids", ids_BT)
        with self._mode():
            hidden_BTD = self.network.decode(
                ids_BT,
                encoded_BSD=self.encoded_BSD,
                source_mask_BS=self.source_mask_BS,
                target_mask_BK=self._mask.upto(self._cache.length + ids_BT.shape[1]),
                cache=self._cache,
            )
            return self.network.head(hidden_BTD[:, -1:])[:, 0]


class RecurrentStepper:
    """Reads sources and writes targets with a state in the place of a cache.

    Args:
        network: The model.
        sources: The ids of the sources.
        prompts: The ids that each target begins with, the start id first.
    """

    def __init__(self, *, network: Recurrent, sources: Prompts, prompts: Prompts) -> None:
        self._mode = quiet_mode()
        self._network = network
        self._sources = list(sources)
        self._prompts = list(prompts)
        self.state: RecurrentState | None = None

    def start(self) -> Float[Tensor, "B V"]:
        """The logits after every prompt."""
        source_ids_BS, mask_BS = pad_right(self._sources)
        if mask_BS is None:
            mask_BS = torch.ones_like(source_ids_BS, dtype=torch.bool)
        with self._mode():
            self.state = self._network.begin(source_ids_BS, source_mask_BS=mask_BS)
        ids_BT, mask_BT = pad_left(self._prompts)
        logits_BV = torch.empty(0, 0)
        for place, ids_B in enumerate(ids_BT.unbind(1)):
            before = self.state
            logits_BV = self.step(ids_B)
            if mask_BT is not None:  # a row whose text has not begun stays as it was
                self.state = self.state.where(mask_BT[:, place], before)
        return logits_BV

    def step(self, ids_B: Int[Tensor, " B"]) -> Float[Tensor, "B V"]:
        """The logits after one more id for every row."""
        assert self.state is not None
        ids_B = probe("@ids", ids_B.unsqueeze(1))[:, 0]
        with self._mode():
            logits_BV, self.state = self._network.step(ids_B, self.state)
        return logits_BV

    def select(self, rows_B: Int[Tensor, " B"]) -> None:
        """Goes on with these rows."""
        if self.state is None:
            self._sources = [self._sources[int(row)] for row in rows_B]
            self._prompts = [self._prompts[int(row)] for row in rows_B]
        else:
            self.state = self.state.select(rows_B)
