"""Texts read until their first new ids can be chosen, in pieces where they are long."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor

from clearhead.engine.padding import pad_left, pad_right
from clearhead.engine.serving.benches import Held, HeldState
from clearhead.engine.serving.shared_cache import HeldKeys
from clearhead.engine.steppers import RecurrentStepper
from clearhead.models import DecoderOnly, EncoderDecoder, Recurrent
from clearhead.nn import StackCache


@dataclass(frozen=True, kw_only=True)
class Text:
    """What one row begins with.

    Attributes:
        ids: The ids before its first new one.
        source: The ids of its source; none for a decoder alone.
    """

    ids: tuple[int, ...]
    source: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.ids) + len(self.source)


@runtime_checkable
class Prefill(Protocol):
    """Texts on their way into a batch."""

    def read(self) -> Float[Tensor, "B V"] | None:
        """Reads a piece; the logits after every text once all is read."""
        ...

    def held(self, rows: range) -> Held:
        """What is remembered of some rows, once all is read; they are of one length and have one source."""
        ...


class KeysPrefill:
    """Texts for a model that remembers by keys and values.

    Args:
        network: The model.
        texts: The texts; where they are of unequal lengths they are read at once.
        piece: Positions to read at a time, all rows counted.
    """

    def __init__(self, *, network: DecoderOnly | EncoderDecoder, texts: Sequence[Text], piece: int) -> None:
        assert network.config.decoder is not None
        self._network = network
        self._texts = list(texts)
        self._ids_BT, self._mask_BT = pad_left([text.ids for text in texts])
        self._n_at_once = self._ids_BT.shape[1] if self._mask_BT is not None else max(1, piece // len(self._texts))
        self._encoded_BSD: Tensor | None = None
        self._source_mask_BS: Tensor | None = None
        self._cache: StackCache

    def read(self) -> Float[Tensor, "B V"] | None:
        """Reads a piece; the logits after every text once all is read."""
        first = self._cache.length if hasattr(self, "_cache") else 0
        if first == 0:
            self._begin()
        end = min(first + self._n_at_once, self._ids_BT.shape[1])
        ids_BT, mask_BK = self._ids_BT[:, first:end], None if self._mask_BT is None else self._mask_BT[:, :end]
        if isinstance(self._network, DecoderOnly):
            hidden_BTD = self._network.decode(ids_BT, mask_BK=mask_BK, cache=self._cache)
        else:
            assert self._encoded_BSD is not None
            hidden_BTD = self._network.decode(
                ids_BT,
                encoded_BSD=self._encoded_BSD,
                source_mask_BS=self._source_mask_BS,
                target_mask_BK=mask_BK,
                cache=self._cache,
            )
        if end < self._ids_BT.shape[1]:
            return None
        assert self._network.head is not None
        return self._network.head(hidden_BTD[:, -1:])[:, 0]

    def held(self, rows: range) -> HeldKeys:
        """What is remembered of some rows, once all is read; they are of one length and have one source."""
        text, blocks = self._texts[rows.start], self._cache.blocks
        own = [
            torch.stack([block.own.so_far()[part][rows.start : rows.stop, :, -len(text.ids) :] for block in blocks])
            for part in (0, 1)
        ]
        if not text.source:
            return HeldKeys(own=(own[0], own[1]))
        row, length = rows.start, len(text.source)
        source = [
            torch.stack([block.cross.so_far()[part][row : row + 1, :, :length] for block in blocks]) for part in (0, 1)
        ]
        return HeldKeys(own=(own[0], own[1]), source=(source[0], source[1]))

    def _begin(self) -> None:
        n_columns = self._ids_BT.shape[1]
        if isinstance(self._network, DecoderOnly):
            self._cache = self._network.new_cache(capacity=n_columns)
            return
        pad_id = self._network.config.tokens.pad or 0
        source_ids_BS, self._source_mask_BS = pad_right([text.source for text in self._texts], pad_id=pad_id)
        self._encoded_BSD = self._network.encode(source_ids_BS, source_mask_BS=self._source_mask_BS)
        self._cache = self._network.new_cache(capacity=n_columns, source_length=source_ids_BS.shape[1])


class StatePrefill:
    """Texts for a recurrent model; their targets are short before the first new id, and are read at once.

    Args:
        network: The model.
        texts: The texts.
    """

    def __init__(self, *, network: Recurrent, texts: Sequence[Text]) -> None:
        self._stepper = RecurrentStepper(
            network=network, sources=[text.source for text in texts], prompts=[text.ids for text in texts]
        )

    def read(self) -> Float[Tensor, "B V"] | None:
        """The logits after every text."""
        return self._stepper.start()

    def held(self, rows: range) -> HeldState:
        """What is remembered of some rows."""
        state = self._stepper.state
        assert state is not None
        return HeldState(state=state).select(list(rows))


def new_prefill(
    network: DecoderOnly | EncoderDecoder | Recurrent, texts: Sequence[Text], *, piece: int
) -> KeysPrefill | StatePrefill:
    """What reads texts for a model of any family."""
    if isinstance(network, Recurrent):
        return StatePrefill(network=network, texts=texts)
    return KeysPrefill(network=network, texts=texts, piece=piece)
