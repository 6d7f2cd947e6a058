"""What is asked of a network: one class a task, from a batch to the parts of its loss.

Every objective counts what it asks before it is asked, so that the loss of several batches (and of several
processes) can be divided by all that was asked together.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor
from torch.nn import functional

from clearhead.errors import TrainingError
from clearhead.models import DecoderOnly, EncoderDecoder, Network, Recurrent
from clearhead.models.heads import LanguageModelHead
from clearhead.probe import heard
from clearhead.training.loss import cross_entropy, vocabulary_cross_entropy

Batch = Mapping[str, Tensor]
"""The tensors of a batch by name: the fields of a store, their masks (`…_mask`, True where a token is
real), and its values."""

IDLE = "idle"
"""In a batch that a process was lent for want of a share: it is asked like the others, so that they need not wait for
it, and counts for nothing."""


@dataclass(frozen=True, kw_only=True)
class LossParts:
    """The loss of a batch in parts that can be added up.

    Attributes:
        loss_sum: The summed loss, with its gradient.
        count: What the sum is over.
        n_correct: How many answers were right, where answers can be.
    """

    loss_sum: Tensor
    count: int
    n_correct: Tensor | None = None


@runtime_checkable
class Objective(Protocol):
    """What a task asks of a network."""

    @property
    def by_row(self) -> bool:
        """Whether the loss of a row is the same whichever rows are beside it."""
        ...

    def prepare(self, batch: Batch) -> Batch:
        """The batch with what random numbers of the step decide about it."""
        ...

    def count(self, batch: Batch) -> int:
        """How many things a batch asks."""
        ...

    def n_tokens(self, batch: Batch) -> tuple[int, int]:
        """Real tokens of a batch: those that an encoder reads, those that a decoder does."""
        ...

    def __call__(self, network: Network[Any], batch: Batch) -> LossParts:
        """The parts of the loss."""
        ...


class TranslateObjective:
    """Every target token from the source and the true tokens before it (teacher forcing).

    Args:
        decoder_start: The id that stands before every target.
        smoothing: Label smoothing.
    """

    by_row = True

    def __init__(self, *, decoder_start: int, smoothing: float = 0.0) -> None:
        self.decoder_start = decoder_start
        self.smoothing = smoothing

    def prepare(self, batch: Batch) -> Batch:
        """The batch itself."""
        return batch

    def count(self, batch: Batch) -> int:
        """The target tokens."""
        return int(batch["target_mask"].sum())

    def n_tokens(self, batch: Batch) -> tuple[int, int]:
        """Source tokens, target tokens."""
        return int(batch["source_mask"].sum()), self.count(batch)

    def __call__(self, network: Network[Any], batch: Batch) -> LossParts:
        """The loss of every real target token."""
        target_BT, real_BT = batch["target"], batch["target_mask"]
        shifted_BT = functional.pad(target_BT[:, :-1], (1, 0), value=self.decoder_start)
        source_mask_BS = _mask_if_any(batch["source_mask"])
        labels_T = target_BT[real_BT]
        match network:
            case EncoderDecoder():
                encoded_BSD = network.encode(batch["source"], source_mask_BS=source_mask_BS)
                # Padding stands after every real target token, and those look back only.
                hidden_BTD = network.decode(shifted_BT, encoded_BSD=encoded_BSD, source_mask_BS=source_mask_BS)
                loss, n_correct = head_loss(
                    network.head, real_rows(hidden_BTD, real_BT), labels_T, smoothing=self.smoothing
                )
            case Recurrent():
                output = network(batch["source"], shifted_BT, source_mask_BS=source_mask_BS)
                loss, n_correct = cross_entropy(
                    real_rows(output.logits_BTV, real_BT), labels_T, smoothing=self.smoothing
                )
            case _:
                raise _unfit(network, "translate", "an encoder-decoder")
        return LossParts(loss_sum=loss, count=len(labels_T), n_correct=n_correct)


class LanguageModelObjective:
    """Every token of a text from those before it.

    The batch holds `text`, and `text_mask` where rows are padded at the end. Nothing is asked for the first token.

    Args:
        smoothing: Label smoothing.
    """

    by_row = True

    def __init__(self, *, smoothing: float = 0.0) -> None:
        self.smoothing = smoothing

    def prepare(self, batch: Batch) -> Batch:
        """The batch itself."""
        return batch

    def count(self, batch: Batch) -> int:
        """The tokens after the first of each row."""
        mask_BT = batch.get("text_mask")
        return batch["text"][:, 1:].numel() if mask_BT is None else int(mask_BT[:, 1:].sum())

    def n_tokens(self, batch: Batch) -> tuple[int, int]:
        """None for an encoder; all but the last of each row."""
        return 0, self.count(batch)

    def __call__(self, network: Network[Any], batch: Batch) -> LossParts:
        """The loss of every next token."""
        if not isinstance(network, DecoderOnly):
            raise _unfit(network, "language-model", "a decoder-only model")
        ids_BT, mask_BT = batch["text"], batch.get("text_mask")
        hidden_BTD = network.decode(ids_BT[:, :-1])
        if mask_BT is None:
            hidden_TD, labels_T = hidden_BTD.flatten(0, 1), ids_BT[:, 1:].flatten()
        else:
            hidden_TD, labels_T = real_rows(hidden_BTD, mask_BT[:, 1:]), ids_BT[:, 1:][mask_BT[:, 1:]]
        loss, n_correct = head_loss(network.head, hidden_TD, labels_T, smoothing=self.smoothing)
        return LossParts(loss_sum=loss, count=len(labels_T), n_correct=n_correct)


def head_loss(
    head: LanguageModelHead | None, hidden_TD: Tensor, labels_T: Tensor, *, smoothing: float
) -> tuple[Tensor, Tensor]:
    """The summed loss behind a head over the vocabulary, fused unless somebody wants to see the logits."""
    if head is None:
        raise TrainingError("a model without a head has no logits to train", expected="a language-model head")
    table = head.tied or head.untied
    assert table is not None
    if heard("logits"):
        return cross_entropy(head(hidden_TD.unsqueeze(0)).squeeze(0), labels_T, smoothing=smoothing)
    scaled_TD = hidden_TD if head.scale == 1.0 else hidden_TD * head.scale
    weight_VD: Tensor = table.weight
    return vocabulary_cross_entropy(scaled_TD, labels_T, weight_VD=weight_VD, bias_V=head.bias, smoothing=smoothing)


def real_rows(rows: Tensor, mask: Tensor) -> Tensor:
    """The rows (the last axis) where a mask is true, in order.

    What `rows[mask]` gives; but the gradient of that goes back one number at a time.
    """
    return rows.flatten(0, 1).index_select(0, mask.flatten().nonzero().squeeze(1))


def _mask_if_any(mask: Tensor) -> Tensor | None:
    """A mask that masks something, or None, which lets faster kernels run."""
    return None if bool(mask.all()) else mask


def _unfit(network: Network[Any], task: str, expected: str) -> TrainingError:
    return TrainingError(f"a model that cannot be trained to {task}", got=type(network).__name__, expected=expected)


def to_device(batch: Batch, device: torch.device) -> Batch:
    """A batch where its network is."""
    return {name: tensor.to(device) for name, tensor in batch.items()}
