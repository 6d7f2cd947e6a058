"""How likely a translator finds references: every token from the source and the true tokens before it."""

from collections.abc import Callable, Sequence

import torch
from torch.nn import functional

from clearhead.engine.batching import buckets
from clearhead.engine.padding import pad_right
from clearhead.models import EncoderDecoder, Recurrent
from clearhead.training.assessment.likelihood import TextLoss, row_losses

_MOST_TOKENS = 2048


@torch.no_grad()
def pair_losses(
    network: EncoderDecoder | Recurrent,
    sources: Sequence[Sequence[int]],
    targets: Sequence[Sequence[int]],
    *,
    start_id: int,
    pad_id: int = 0,
    report: Callable[[int], None] = lambda _: None,
) -> list[TextLoss]:
    """The loss of each target, its end included.

    Args:
        network: The translator.
        sources: The ids of the sources, as the encoder reads them.
        targets: The ids of the targets, each with its end.
        start_id: What the decoder begins with.
        pad_id: What fills rows up.
        report: Told how many are done.
    """
    found: dict[int, TextLoss] = {}
    lengths = [max(map(len, pair)) for pair in zip(sources, targets, strict=True)]
    for places in buckets(lengths, most_tokens=_MOST_TOKENS):
        source_BS, source_mask_BS = pad_right([sources[place] for place in places], pad_id=pad_id)
        target_BT, mask_BT = pad_right([targets[place] for place in places], pad_id=pad_id)
        real_BT = torch.ones_like(target_BT, dtype=torch.bool) if mask_BT is None else mask_BT
        shifted_BT = functional.pad(target_BT[:, :-1], (1, 0), value=start_id)
        if isinstance(network, Recurrent):
            hidden_BTD = network(source_BS, shifted_BT, source_mask_BS=source_mask_BS).hidden_BTD
            losses = row_losses(network.output, hidden_BTD, target_BT, real_BT)
        else:
            assert network.head is not None, "the engine refuses a translator without a head"
            encoded_BSD = network.encode(source_BS, source_mask_BS=source_mask_BS)
            hidden_BTD = network.decode(shifted_BT, encoded_BSD=encoded_BSD, source_mask_BS=source_mask_BS)
            losses = row_losses(network.head, hidden_BTD, target_BT, real_BT)
        found.update(zip(places, losses, strict=True))
        report(len(found))
    return [found[place] for place in range(len(sources))]
