"""Two implementations on one batch: what both are given, and which cells of a site can be compared.

Takes: ids and masks; the values of both sides, site by site.
Gives: the same sites on both sides, in the order of the computation, with padding blanked out.
Uses:  models, probe, errors; torch.
Never: the other implementation itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from clearhead.errors import TraceError
from clearhead.models import DecoderOnly, EncoderDecoder, EncoderOnly
from clearhead.probe import Recorder, listen
from clearhead.testing.parity import Deviation, deviation

_OF_QUERIES = ("query", "rotated_query", "mixed", "pattern")
_OF_KEYS = ("key", "rotated_key", "value")


@dataclass(frozen=True, kw_only=True)
class Batch:
    """What one pass of a model is given, whatever its family.

    Attributes:
        ids_BS: The ids of the texts.
        mask_BS: True where an id is real; None if all are.
        target_ids_BT: What the decoder reads, where there is an encoder before it.
        target_mask_BT: True where a target id is real; None if all are.
        segment_ids_BS: Which segment each id is in; the first, if not given.
    """

    ids_BS: Int[Tensor, "B S"]
    mask_BS: Bool[Tensor, "B S"] | None = None
    target_ids_BT: Int[Tensor, "B T"] | None = None
    target_mask_BT: Bool[Tensor, "B T"] | None = None
    segment_ids_BS: Int[Tensor, "B S"] | None = None

    @property
    def real_source(self) -> Bool[Tensor, "B S"]:
        """True where an id is real, spelled out."""
        return torch.ones_like(self.ids_BS, dtype=torch.bool) if self.mask_BS is None else self.mask_BS

    @property
    def real_output(self) -> Tensor:
        """True where a position of the stack that the head reads is real, spelled out."""
        if self.target_ids_BT is None:
            return self.real_source
        whole = torch.ones_like(self.target_ids_BT, dtype=torch.bool)
        return whole if self.target_mask_BT is None else self.target_mask_BT


@torch.no_grad()
def record(model: EncoderOnly | DecoderOnly | EncoderDecoder, batch: Batch) -> dict[str, Tensor]:
    """Every site of our model, in the order of the computation."""
    recorder = Recorder()
    with listen(recorder):
        match model:
            case EncoderOnly():
                model(batch.ids_BS, mask_BS=batch.mask_BS, segment_ids_BS=batch.segment_ids_BS)
            case DecoderOnly():
                model(batch.ids_BS, mask_BK=batch.mask_BS)
            case EncoderDecoder():
                assert batch.target_ids_BT is not None, "an encoder-decoder needs a target"
                model(
                    batch.ids_BS,
                    batch.target_ids_BT,
                    source_mask_BS=batch.mask_BS,
                    target_mask_BT=batch.target_mask_BT,
                )
    return {site: recorder[site] for site in recorder}


def align(
    ours: Mapping[str, Tensor], reference: Mapping[str, Tensor], batch: Batch
) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Both sides at all sites of ours, in our order, with 0 in the cells that padding makes meaningless.

    Raises:
        TraceError: A site of ours that the reference did not give.
    """
    for site in ours:
        if site not in reference:
            raise TraceError("the reference gave no value for a site", got=f"no {site}", expected="every site of ours")
    return _blanked(ours, ours, batch), _blanked(ours, reference, batch)


def compare(ours: Mapping[str, Tensor], reference: Mapping[str, Tensor], batch: Batch) -> list[Deviation]:
    """How far every site of ours is from the reference, in the order of the computation."""
    mine, theirs = align(ours, reference, batch)
    return [deviation(site, mine[site], theirs[site]) for site in mine]


def _blanked(sites: Mapping[str, Tensor], values: Mapping[str, Tensor], batch: Batch) -> dict[str, Tensor]:
    blank: dict[str, Tensor] = {}
    for site in sites:
        value = values[site]
        if site.endswith("embed.position"):
            value = value.expand(len(batch.ids_BS), -1, -1)  # often said once for all rows
        blank[site] = value.where(_real(site, value, batch), 0.0)
    return blank


def _real(site: str, value: Tensor, batch: Batch) -> Tensor:
    """True in the cells of a site that are about real positions, ready to be broadcast."""
    name = site.rpartition(".")[2]
    reads = site.startswith(("encoder.", "embed."))
    query_BQ = batch.real_source if reads else batch.real_output
    key_BK = batch.real_source if reads or ".cross." in site else batch.real_output
    if value.ndim == 4:
        if name in _OF_QUERIES:
            return query_BQ[:, None, :, None]
        if name in _OF_KEYS:
            return key_BK[:, None, :, None]
        return query_BQ[:, None, :, None] & key_BK[:, None, None, :]
    return query_BQ[:, :, None] if value.ndim == 3 else torch.ones((), dtype=torch.bool)
