"""A configuration made real: the reference's folder, its model, and ours of the same weights."""

import json
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from clearhead.testing.reference import load_reference
from clearhead.testing.side_by_side import Batch
from clearhead.weights import Checkpoint, load_checkpoint
from clearhead.weights.save import write_objects
from clearhead.weights.sentence import sentence_files

from .configurations import N_TARGET_PIECES, Case

LENGTH = 12
TARGET_LENGTH = 11
# The longest row fills the batch, as any batch's does; another has one token only.
LENGTHS = (LENGTH, 7, 1)
TARGET_LENGTHS = (1, TARGET_LENGTH, 6)


@dataclass(frozen=True, kw_only=True)
class Specimen:
    """One model, three times: on disk as the reference wrote it, in the reference, and here."""

    case: Case
    folder: Path
    reference: nn.Module
    checkpoint: Checkpoint


def make_specimen(case: Case, folder: Path) -> Specimen:
    """Writes a folder by the reference and reads it on both sides."""
    made = case.build()
    made.save_pretrained(folder)
    if case.sentence is not None:
        write_objects(folder, sentence_files(case.sentence, width=made.config.hidden_size, max_length=LENGTH))
    if case.older:
        _spell_as_before(folder / "config.json")
    reference = load_reference(folder)
    for name, tensor in made.state_dict().items():
        # What is compared with must be what was made: a reference that lost a value would prove nothing.
        assert torch.equal(tensor, reference.state_dict()[name]), name
    return Specimen(case=case, folder=folder, reference=reference, checkpoint=load_checkpoint(folder))


def make_batch(case: Case, *, padded: bool) -> Batch:
    """Three texts, and targets for them where a decoder stands behind an encoder."""
    generator = torch.Generator().manual_seed(1)

    def draw(length: int, end: int = N_TARGET_PIECES) -> Tensor:
        return torch.randint(0, end, (len(LENGTHS), length), generator=generator)

    def mask(lengths: tuple[int, ...]) -> Tensor | None:
        return torch.arange(max(lengths)) < torch.tensor(lengths).unsqueeze(1) if padded else None

    reads_and_writes = case.family in ("t5", "marian")
    return Batch(
        ids_BS=draw(LENGTH),
        mask_BS=mask(LENGTHS),
        target_ids_BT=draw(TARGET_LENGTH) if reads_and_writes else None,
        target_mask_BT=mask(TARGET_LENGTHS) if reads_and_writes else None,
        segment_ids_BS=draw(LENGTH, end=2) if case.family == "bert" else None,
    )


def _spell_as_before(path: Path) -> None:
    """Writes rotary positions as configurations did before version 5."""
    config = json.loads(path.read_text())
    rope = config.pop("rope_parameters")
    config["rope_theta"] = rope.pop("rope_theta")
    kind = rope.pop("rope_type")
    config["rope_scaling"] = None if kind == "default" else {"type": kind, **rope}
    path.write_text(json.dumps(config))
