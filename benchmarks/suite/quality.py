"""What int8 weights cost in quality: how likely the models find stories of the development set."""

import gzip
import itertools
from pathlib import Path

from clearhead.engine.limits import context_of
from clearhead.models import DecoderOnly
from clearhead.tasks import Loaded
from clearhead.training.assessment.language import text_losses
from clearhead.training.assessment.likelihood import TextLoss

LONGEST = 1024


def measure(shared: Path, *, n_texts: int) -> dict[str, object]:
    """The perplexity of both formats, and how many percent int8 is worse."""
    with gzip.open(shared / "data/stories/dev.txt.gz", "rt", encoding="utf-8") as lines:
        texts = [line.strip() for line in itertools.islice(filter(str.strip, lines), n_texts)]
    found: dict[str, object] = {"texts": len(texts)}
    for name in ("storyteller", str(shared / "models/stories15M")):
        perplexity = {kind: _perplexity(Loaded.open(name, weights=kind), texts) for kind in ("float32", "int8")}
        worse = 100 * (perplexity["int8"] / perplexity["float32"] - 1)
        found[Path(name).name] = {
            **{kind: round(value, 4) for kind, value in perplexity.items()},
            "percent_worse": round(worse, 3),
        }
    return found


def _perplexity(loaded: Loaded, texts: list[str]) -> float:
    network, tokens = loaded.engine.network, loaded.config.tokens
    assert isinstance(network, DecoderOnly)
    start = tokens.start if tokens.start is not None else next(iter(tokens.end), None)
    ids = [encoding.ids for encoding in loaded.tokenizer.encode_batch(texts, add_special=False, literal=True)]
    length = min(context_of(network.config.decoder) or LONGEST, LONGEST)
    return sum(text_losses(network, ids, start_id=start, length=length), TextLoss()).perplexity
