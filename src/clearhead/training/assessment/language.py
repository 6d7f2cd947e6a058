"""A language model's measures: every token of a text from those before it."""

import time
from collections.abc import Iterator, Mapping, Sequence

import torch

from clearhead.data import Record
from clearhead.engine.batching import buckets
from clearhead.engine.limits import context_of
from clearhead.engine.padding import pad_right
from clearhead.errors import TextError
from clearhead.models import DecoderOnly
from clearhead.tasks.loaded import Loaded
from clearhead.training.assessment.lengths import by_length, n_words
from clearhead.training.assessment.likelihood import TextLoss, likelihood_of, row_losses
from clearhead.training.assessment.results import Findings, LanguageMeasures, Worst
from clearhead.training.assessment.settings import AssessmentSettings, Report

_MOST_WINDOW = 2048
_MOST_TOKENS = 4096


def assess_language_model(
    loaded: Loaded, records: Mapping[int, Record], *, settings: AssessmentSettings, report: Report
) -> Findings:
    """Reads every text from its start token on.

    A text that is longer than the model's context is read in windows that overlap by half: every token is asked for
    once, and all but those of the first window see at least half a context before them. Its end is not asked for.

    Args:
        loaded: A decoder.
        records: Texts, by their place in the file; parts of one text count as one.
        settings: How.
        report: Told how far it is.
    """
    network = loaded.engine.network
    assert isinstance(network, DecoderOnly)
    length = min(context_of(network.config.decoder) or _MOST_WINDOW, _MOST_WINDOW)
    tokens = loaded.config.tokens
    start = tokens.start if tokens.start is not None else next(iter(tokens.end), None)
    texts = _joined(records)
    places = list(texts)
    begun = time.perf_counter()
    losses: list[TextLoss] = []
    for first in range(0, len(places), settings.batch):
        parts = [texts[place] for place in places[first : first + settings.batch]]
        losses += text_losses(network, [_ids(loaded, each) for each in parts], start_id=start, length=length)
        report("reading", len(losses), len(places))
    seconds = time.perf_counter() - begun
    if not sum(losses, TextLoss()).n_tokens:
        raise TextError("texts without a token to foresee", got=f"{len(places)} texts", expected="some words")
    whole = ["".join(parts) for parts in texts.values()]
    order = sorted(range(len(losses)), key=lambda one: (-losses[one].mean, one))
    return Findings(
        measures=LanguageMeasures(likelihood=likelihood_of(whole, losses), window=length),
        by_length=by_length(
            list(map(n_words, whole)),
            lambda group: {"perplexity": sum((losses[one] for one in group), TextLoss()).perplexity},
        ),
        worst=tuple(
            Worst(place=places[one], score=losses[one].perplexity, texts=(whole[one],))
            for one in order[: settings.worst]
        ),
        worst_by="perplexity of the text, the highest first",
        seconds=seconds,
    )


@torch.no_grad()
def text_losses(
    network: DecoderOnly, texts: Sequence[Sequence[int]], *, start_id: int | None, length: int
) -> list[TextLoss]:
    """The loss of each text.

    Args:
        network: A decoder.
        texts: Ids.
        start_id: What stands before a text; where there is none, nothing is asked for the first token.
        length: The most tokens that the network reads at once.
    """
    assert network.head is not None, "the engine refuses a decoder without a head"
    found = [TextLoss() for _ in texts]
    before = () if start_id is None else (start_id,)
    windows = [
        (place, window, asked)
        for place, ids in enumerate(texts)
        for window, asked in overlapping((*before, *ids), length=length)
    ]
    for batch in buckets([len(window) for _, window, _ in windows], most_tokens=_MOST_TOKENS):
        ids_BT, mask_BT = pad_right([windows[each][1] for each in batch])
        asked_BT = torch.ones_like(ids_BT, dtype=torch.bool) if mask_BT is None else mask_BT.clone()
        for row, each in enumerate(batch):
            asked_BT[row, : windows[each][2]] = False
        # Padding stands after every real token, and those look back only.
        hidden_BTD = network.decode(ids_BT[:, :-1])
        losses = row_losses(network.head, hidden_BTD, ids_BT[:, 1:], asked_BT[:, 1:])
        for each, loss in zip(batch, losses, strict=True):
            found[windows[each][0]] += loss
    return found


def overlapping(ids: Sequence[int], *, length: int) -> Iterator[tuple[Sequence[int], int]]:
    """Windows over ids, each with one id more than is read at once, and where in it the first id to ask for is."""
    asked, start, stride = 1, 0, max(1, length // 2)
    while start + asked < len(ids):
        window = ids[start : start + length + 1]
        yield window, asked
        start, asked = start + stride, len(window) - stride


def _joined(records: Mapping[int, Record]) -> dict[int, list[str]]:
    """The parts of each text, by the place of the first."""
    texts: dict[int, list[str]] = {}
    goes_on: int | None = None
    for place, record in records.items():
        first = place if goes_on is None else goes_on
        texts.setdefault(first, []).append(record.source)
        goes_on = first if record.continued else None
    return texts


def _ids(loaded: Loaded, parts: Sequence[str]) -> list[int]:
    found = loaded.tokenizer.encode_batch(parts, add_special=False, literal=True)
    return [index for encoding in found for index in encoding.ids]
