"""A masked language model's measures: hidden tokens from those around them."""

import time
from collections.abc import Mapping, Sequence

import numpy as np
import torch

from clearhead.data import Record, Task, mask_tokens
from clearhead.data.collate import IGNORED
from clearhead.data.encode import Part, RecordEncoder
from clearhead.engine.batching import buckets
from clearhead.engine.padding import pad_right
from clearhead.errors import ConfigError, TextError
from clearhead.tasks.loaded import Loaded
from clearhead.training.assessment.lengths import by_length, n_words
from clearhead.training.assessment.likelihood import TextLoss, row_losses
from clearhead.training.assessment.results import Findings, MaskedMeasures, Worst
from clearhead.training.assessment.settings import AssessmentSettings, Report

SHARE = 0.15
"""The part of each text that is hidden, as where such models are trained."""

_MOST_TOKENS = 4096


def assess_masked_language_model(
    loaded: Loaded, records: Mapping[int, Record], *, settings: AssessmentSettings, report: Report
) -> Findings:
    """Hides a share of each text's tokens, all behind masks, and asks for them.

    What is hidden depends on the seed and on the place of the text, and on nothing else.

    Args:
        loaded: A masked language model.
        records: Texts, by their place in the file.
        settings: How.
        report: Told how far it is.
    """
    loaded.require("fill")
    places = list(records)
    texts = [record.source for record in records.values()]
    encode = RecordEncoder(task=Task.MASKED_LANGUAGE_MODEL, tokenizer=loaded.tokenizer, max_length=loaded.source_limit)
    losses: list[TextLoss] = []
    n_tokens = 0
    begun = time.perf_counter()
    for first in range(0, len(places), settings.batch):
        mine = places[first : first + settings.batch]
        encoded = encode([Part(record=records[place]) for place in mine])
        owners = [one for one, each in enumerate(encoded) for _ in each.rows]
        rows = [row["text"] for each in encoded for row in each.rows]
        seeds = [(settings.seed, mine[one], part) for one, each in enumerate(encoded) for part in range(len(each.rows))]
        found = [TextLoss() for _ in mine]
        for one, loss in zip(owners, hidden_losses(loaded, rows, seeds=seeds), strict=True):
            found[one] += loss
        losses += found
        n_tokens += sum(map(len, rows))
        report("reading", len(losses), len(places))
    total = sum(losses, TextLoss())
    if total.n_tokens == 0:
        raise TextError("texts without a token to hide", got=repr(texts[0][:60]), expected="some words")
    order = sorted(range(len(losses)), key=lambda one: (-losses[one].mean, one))
    return Findings(
        measures=MaskedMeasures(
            pseudo_perplexity=total.perplexity,
            accuracy=total.n_correct / total.n_tokens,
            n_hidden=total.n_tokens,
            n_tokens=n_tokens,
            share=SHARE,
            seed=settings.seed,
        ),
        by_length=by_length(
            list(map(n_words, texts)), lambda group: _measured(sum((losses[one] for one in group), TextLoss()))
        ),
        worst=tuple(
            Worst(place=places[one], score=losses[one].perplexity, texts=(texts[one],))
            for one in order[: settings.worst]
        ),
        worst_by="pseudo-perplexity of the text, the highest first",
        seconds=time.perf_counter() - begun,
    )


@torch.no_grad()
def hidden_losses(loaded: Loaded, rows: Sequence[Sequence[int]], *, seeds: Sequence[Sequence[int]]) -> list[TextLoss]:
    """The loss of the hidden tokens of each row of ids.

    Args:
        loaded: A masked language model.
        rows: Ids, with what stands around a text.
        seeds: What chooses the tokens to hide in each.
    """
    network, special = loaded.reader, loaded.tokenizer.special
    if special.mask is None:
        raise ConfigError("this tokenizer has no mask", got=loaded.name or "a tokenizer", expected="a mask token")
    assert network.head is not None, "a model that fills has a head"
    never = [index for index in (special.pad, special.unknown, special.start, special.end) if index is not None]
    labels = [_hidden(ids, [*never, special.mask], seed=seed) for ids, seed in zip(rows, seeds, strict=True)]
    found: dict[int, TextLoss] = {}
    for places in buckets([len(ids) for ids in rows], most_tokens=_MOST_TOKENS):
        ids_BS, mask_BS = pad_right([rows[place] for place in places], pad_id=loaded.config.tokens.pad or 0)
        labels_BS, _ = pad_right([labels[place] for place in places], pad_id=IGNORED)
        asked_BS = labels_BS != IGNORED
        hidden_BSD = network.encoder(ids_BS.masked_fill(asked_BS, special.mask), mask_BK=mask_BS)
        found.update(zip(places, row_losses(network.head, hidden_BSD, labels_BS, asked_BS), strict=True))
    return [found[place] for place in range(len(rows))]


def _hidden(ids: Sequence[int], special: Sequence[int], *, seed: Sequence[int]) -> list[int]:
    """The ids that are hidden in their places, and IGNORED in the others."""
    one_BS = np.array([list(ids)], np.int64)
    real_BS = np.ones_like(one_BS, dtype=np.bool_)
    most = max(int(one_BS.max()), *special) + 2  # only what is chosen matters here, not what could replace it
    _, labels_BS = mask_tokens(one_BS, real_BS, special, seed=seed, mask_id=0, vocab_size=most, share=SHARE)
    return [int(index) for index in labels_BS[0]]


def _measured(loss: TextLoss) -> dict[str, float | None]:
    if loss.n_tokens == 0:
        return {"perplexity": None, "accuracy": None}
    return {"perplexity": loss.perplexity, "accuracy": loss.n_correct / loss.n_tokens}
