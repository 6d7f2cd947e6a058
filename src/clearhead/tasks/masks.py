"""Filling: the words that fit where a text has a gap."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from clearhead.engine import read
from clearhead.errors import ConfigError, TextError
from clearhead.tasks.loaded import Loaded
from clearhead.tasks.sources import shortened
from clearhead.tasks.written import check_texts
from clearhead.text import Encoding

_SPELLINGS = (r"\[MASK\]", r"<mask>", r"_{3,}")
_MOST_FILLINGS = 1000


@dataclass(frozen=True, kw_only=True)
class Filling:
    """A word for a gap.

    Attributes:
        token: The word.
        token_id: Its id.
        score: How likely it is there.
        text: The whole text with the word in the gap; other gaps stay.
    """

    token: str
    token_id: int
    score: float
    text: str


@dataclass(frozen=True, kw_only=True)
class MaskedText:
    """A text with gaps, as the model reads it.

    Attributes:
        encoding: Its ids.
        places: Where the gaps are among them.
        spans: Where the gaps are in the text.
    """

    encoding: Encoding
    places: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]


def fill(loaded: Loaded, texts: Sequence[str], *, n: int = 5, truncate: bool = False) -> list[list[list[Filling]]]:
    """The likeliest words for every gap of every text; each gap is filled as if the others stayed.

    Args:
        loaded: The model.
        texts: Texts with gaps: the tokenizer's own mask, [MASK], <mask> or three underscores or more.
        n: How many words for each gap.
        truncate: Whether the end of a text that is too long is cut off, with the gaps in it.

    Raises:
        ConfigError: A model that does not fill.
        TextError: A text without a gap, or one that is too long.
    """
    texts = check_texts(texts)
    masked = mask_texts(loaded, texts, truncate=truncate)
    found: list[list[list[Filling]]] = []
    for text, one, best in zip(texts, masked, likeliest(loaded, masked, n=n), strict=True):
        gaps: list[list[Filling]] = []
        for (start, end), ranked in zip(one.spans, best, strict=True):
            fillings: list[Filling] = []
            for index, score in ranked:
                token = loaded.tokenizer.decode([index], skip_special=False)
                word = token.strip().removeprefix("##")
                whole = text[:start] + word + text[end:]
                fillings.append(Filling(token=token, token_id=index, score=score, text=whole))
            gaps.append(fillings)
        found.append(gaps)
    return found


def likeliest(loaded: Loaded, texts: Sequence[MaskedText], *, n: int) -> list[list[list[tuple[int, float]]]]:
    """The ids that fit each gap best, with how likely they are."""
    if not 1 <= n <= _MOST_FILLINGS:
        raise TextError("an impossible number of words", got=n, expected=f"1 to {_MOST_FILLINGS}")
    found: list[list[list[tuple[int, float]]]] = [[] for _ in texts]
    n_known = loaded.tokenizer.vocab_size
    for reading in read(loaded.reader, [text.encoding for text in texts], pad_id=loaded.config.tokens.pad or 0):
        assert reading.output.logits is not None
        for row, place in enumerate(reading.places):
            gaps = reading.output.logits[row, list(texts[place].places)].softmax(-1)
            # A table of embeddings may have rows to spare, which stand for no piece.
            best = gaps[:, :n_known].topk(min(n, n_known, gaps.shape[-1]))
            for ids, scores in zip(best.indices, best.values, strict=True):
                found[place].append([(int(index), float(score)) for index, score in zip(ids, scores, strict=True)])
    return found


def mask_texts(loaded: Loaded, texts: Sequence[str], *, truncate: bool = False) -> list[MaskedText]:
    """Texts as the model reads them, their gaps found."""
    loaded.require("fill")
    mask = loaded.tokenizer.special.mask
    if mask is None:
        raise ConfigError("this tokenizer has no mask", got=loaded.name or "a tokenizer", expected="a mask token")
    gap = _gap(loaded, mask)
    return [_masked(loaded, text, gap, mask=mask, truncate=truncate) for text in texts]


def has_gap(loaded: Loaded, text: str) -> bool:
    """Whether a text has a gap that this model could fill."""
    mask = loaded.tokenizer.special.mask
    return mask is not None and _gap(loaded, mask).search(text) is not None


def _gap(loaded: Loaded, mask: int) -> re.Pattern[str]:
    return re.compile("|".join([re.escape(loaded.tokenizer.piece_of(mask)), *_SPELLINGS]))


def _masked(loaded: Loaded, text: str, gap: re.Pattern[str], *, mask: int, truncate: bool) -> MaskedText:
    spans = [found.span() for found in gap.finditer(text)]
    if not spans:
        raise TextError(
            "a text without a gap to fill",
            got=repr(text[:60]),
            expected=f"{loaded.tokenizer.piece_of(mask)} or ___ where the word goes",
        )
    edges = [0, *(edge for span in spans for edge in span), len(text)]
    around = loaded.tokenizer.encode("", literal=True)
    parts = loaded.tokenizer.encode_batch(
        [text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)], add_special=False, literal=True
    )
    n_before = _n_before(loaded, around)
    ids = [*around.ids[:n_before]]
    for place, part in enumerate(parts):
        ids += [*([mask] if place else []), *part.ids]
    ids += around.ids[n_before:]
    encoding = _plain(loaded, ids, n_after=len(around) - n_before)
    if len(encoding) > loaded.source_limit:
        if not truncate:
            raise TextError(
                "a text is longer than the model's context",
                got=f"{len(encoding)} tokens",
                expected=f"at most {loaded.source_limit}",
                advice="a shorter text, or truncate=True, which cuts off the end",
            )
        encoding = shortened(encoding, loaded.source_limit)
    places = tuple(place for place, index in enumerate(encoding.ids) if index == mask)
    if not places:
        raise TextError("no gap is left in what fits the model's context", got=f"{len(ids)} tokens")
    return MaskedText(encoding=encoding, places=places, spans=tuple(spans[: len(places)]))


def _n_before(loaded: Loaded, around: Encoding) -> int:
    """How many of the tokens around a text stand before it."""
    whole = loaded.tokenizer.encode("a")
    n_before = 0
    while n_before < min(len(around), len(whole)) and whole.special[n_before]:
        n_before += 1
    return n_before


def _plain(loaded: Loaded, ids: Sequence[int], *, n_after: int) -> Encoding:
    """An encoding of ids alone: what stands behind the text is special, and nothing is said of places in it."""
    return Encoding(
        ids=tuple(ids),
        pieces=tuple(loaded.tokenizer.piece_of(index) for index in ids),
        offsets=((0, 0),) * len(ids),
        special=tuple(place >= len(ids) - n_after for place in range(len(ids))),
        segments=(0,) * len(ids),
    )
