"""One word in two sentences: how alike its vectors are, layer by layer."""

from collections.abc import Sequence

from clearhead.config import Family
from clearhead.errors import TextError
from clearhead.explain.numbers import cosine
from clearhead.figures import Figure, curves
from clearhead.tasks import Loaded
from clearhead.trace import Trace, record_reading


def word_similarity(
    loaded: Loaded, first: str, second: str, *, word: str, to: str | None = None
) -> list[tuple[str, float]]:
    """The cosine between a word's vectors in two sentences, from the embedding to the last layer.

    Args:
        loaded: The model.
        first: A sentence with the word.
        second: Another.
        word: The word; where it is several pieces, the mean of their vectors is taken.
        to: The target's language, for a model that translates; its encoder is looked at.

    Raises:
        TextError: A sentence without the word.
    """
    stack = "decoder" if loaded.config.family is Family.DECODER_ONLY else "encoder"
    runs = [_read(loaded, text, stack, to) for text in (first, second)]
    spans = [_span(run, word, stack) for run in runs]
    sites = [f"{stack}.0.resid_pre", *(site for site in runs[0] if site.endswith(".resid_post"))]
    vectors = [[run[site][0, list(span)].mean(0) for run, span in zip(runs, spans, strict=True)] for site in sites]
    return [(site, cosine(*pair)) for site, pair in zip(sites, vectors, strict=True)]


def similarity_figure(found: dict[str, list[tuple[str, float]]], *, title: str = "") -> Figure:
    """A picture of similarities by layer: a line for each pair of sentences."""
    series = {name: [(float(layer), value) for layer, (_, value) in enumerate(pairs)] for name, pairs in found.items()}
    return curves(series, title=title, x_label="layer (0: embedding)", y_label="cosine")


def _read(loaded: Loaded, text: str, stack: str, to: str | None) -> Trace:
    sites = (f"{stack}.*.resid_pre", f"{stack}.*.resid_post")
    second = "" if loaded.config.family is Family.ENCODER_DECODER else None
    return record_reading(loaded, text, second, to=to, sites=sites)


def _span(trace: Trace, word: str, stack: str) -> Sequence[int]:
    """The places of the pieces that make up a word."""
    tokens = trace.source if stack == "encoder" else trace.target
    pieces = [token.shown.removeprefix("##").strip().lower() for token in tokens]
    wanted = word.strip().lower()
    for start in range(len(pieces)):
        spelt = ""
        for end in range(start, len(pieces)):
            spelt += pieces[end]
            if spelt == wanted:
                return range(start, end + 1)
            if not wanted.startswith(spelt):
                break
    raise TextError("a sentence without the word", got=f"{word!r} among {' '.join(pieces)}"[:200])
