"""A folder put to the proof: our numbers and the reference's, on the same texts.

Takes: a folder that both sides can read; texts.
Gives: a Verdict: every site's deviation, and how often the logits agree on the first choice.
Uses:  weights, text, config, errors; the reference beside it.
Never: a second tolerance; the one of parity is the only one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from clearhead.config import Family, ModelConfig, StackConfig
from clearhead.errors import TextError
from clearhead.testing.parity import Deviation
from clearhead.testing.reference import load_reference, reference_version, run_reference
from clearhead.testing.side_by_side import Batch, align, compare, record
from clearhead.text import load_tokenizer
from clearhead.weights import Checkpoint, load_checkpoint

_TEXTS = ("The cat sat on the mat because it was tired.", "Once upon a time")
_TEXTS_OF = {
    "t5": ("translate English to German: The house is wonderful.", "summarize: The cat sat on the mat."),
    "marian": ("The cat sat on the mat because it was tired.", "Good morning!"),
}
_BY_TOKENIZER = "ids by the folder's own tokenizer"
_DRAWN_LENGTHS = (8, 5)
_LONGEST = 256
"""Tokens of a text beyond this are left out: every position is computed by the same code."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What a comparison found.

    Attributes:
        family: The folder's `model_type`.
        kind: The class that the reference reads it with.
        version: The reference's.
        n_parameters: How many numbers the model has.
        n_tokens: Real tokens of each text.
        ids_from: Where the ids came from, in words.
        sites: How far every site is from the reference, in the order of the computation.
        agree: Positions whose largest logit is the same on both sides; None where there are no logits.
        n_choices: Positions that have logits.
    """

    family: str
    kind: str
    version: str
    n_parameters: int
    n_tokens: tuple[int, ...]
    ids_from: str
    sites: tuple[Deviation, ...]
    agree: int | None
    n_choices: int

    @property
    def wrong(self) -> tuple[Deviation, ...]:
        """The sites that are too far away, in the order of the computation."""
        return tuple(site for site in self.sites if not site.passes)

    @property
    def worst(self) -> Deviation:
        """The site that uses the largest share of what it is allowed."""
        return max(self.sites, key=lambda site: site.worst / site.allowed if site.passes else torch.inf)

    @property
    def passes(self) -> bool:
        """Whether every site is near enough."""
        return not self.wrong


def verify(folder: Path, texts: Sequence[str] = ()) -> Verdict:
    """Compares our numbers with the reference's at every site.

    Args:
        folder: A checkpoint in the layout of its family.
        texts: What both sides read, padded to one length; texts that suit the family, if none are given.

    Raises:
        TraceError: The reference is not installed or cannot read the folder.
        WeightsError: We cannot read it.
        TextError: Texts are given and the folder has no tokenizer to read them.
    """
    version = reference_version()
    checkpoint = load_checkpoint(folder)
    if texts:
        rows, ids_from = _tokenise(folder, checkpoint.config, texts), _BY_TOKENIZER
    else:
        rows, ids_from = _default_rows(folder, checkpoint)
    batch = _batch(rows, checkpoint.config)
    reference = load_reference(folder)
    ours = record(checkpoint.model, batch)
    theirs = run_reference(reference, batch, head=checkpoint.config.head)
    agree, n_choices = _choices(*align(ours, theirs, batch), batch)
    return Verdict(
        family=checkpoint.family,
        kind=type(reference).__name__,
        version=version,
        n_parameters=checkpoint.model.n_parameters,
        n_tokens=tuple(map(len, rows)),
        ids_from=ids_from,
        sites=tuple(compare(ours, theirs, batch)),
        agree=agree,
        n_choices=n_choices,
    )


def _default_rows(folder: Path, checkpoint: Checkpoint) -> tuple[list[list[int]], str]:
    """The ids of texts that suit a family, or drawn ids where nothing can read a text; and which of the two."""
    config = checkpoint.config
    try:
        return _tokenise(folder, config, _TEXTS_OF.get(checkpoint.family, _TEXTS)), _BY_TOKENIZER
    except TextError as error:
        draw = torch.Generator().manual_seed(0)
        end = _source(config).embedding.vocab_size
        drawn = [torch.randint(end, (length,), generator=draw) for length in _DRAWN_LENGTHS]
        rows = [[int(index) for index in row] for row in drawn]
        return rows, f"ids drawn at random, for want of a tokenizer ({error.problem})"


def _tokenise(folder: Path, config: ModelConfig, texts: Sequence[str]) -> list[list[int]]:
    tokenizer = load_tokenizer(folder)
    longest = min(_source(config).position.max_length or _LONGEST, _LONGEST)
    return [list(tokenizer.encode(text).ids)[:longest] for text in texts]


def _source(config: ModelConfig) -> StackConfig:
    return config.encoder or config.output_stack


def _batch(rows: list[list[int]], config: ModelConfig) -> Batch:
    ids_BS, mask_BS = _padded(rows, config.tokens.pad or 0)
    if config.family is not Family.ENCODER_DECODER:
        return Batch(ids_BS=ids_BS, mask_BS=mask_BS)
    assert config.decoder is not None
    # What the decoder reads matters little, so long as it has such ids: the source again, after a start.
    n_pieces = config.decoder.embedding.vocab_size
    start = config.tokens.decoder_start or 0
    targets = [[start, *(index % n_pieces for index in row[:-1])] for row in rows]
    target_ids_BT, target_mask_BT = _padded(targets, start)
    return Batch(ids_BS=ids_BS, mask_BS=mask_BS, target_ids_BT=target_ids_BT, target_mask_BT=target_mask_BT)


def _padded(rows: list[list[int]], pad: int) -> tuple[Tensor, Tensor]:
    """Rows of one length, and which of their ids are real."""
    if not all(rows):
        raise TextError("a text without a token", got="an empty text", expected="at least one token a text")
    length = max(map(len, rows))
    ids = torch.tensor([[*row, *[pad] * (length - len(row))] for row in rows])
    return ids, torch.tensor([[place < len(row) for place in range(length)] for row in rows])


def _choices(ours: dict[str, Tensor], theirs: dict[str, Tensor], batch: Batch) -> tuple[int | None, int]:
    """How many positions have the same largest logit on both sides, and how many there are."""
    if "logits" not in ours:
        return None, 0
    same = ours["logits"].argmax(-1) == theirs["logits"].argmax(-1)
    told = same[batch.real_output] if same.ndim == 2 else same
    return int(told.sum()), told.numel()
