"""How well cross-attention aligns words: the error rate of every layer and head on pairs aligned by hand.

    python benchmarks/alignment.py [--model translator] [--to fr]

Each pair is read with its target given, and each target word is linked to the source word that the position before it
looks at most. The rate is that of Och and Ney (2003): 0 is right, 1 is wrong.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import clearhead
from clearhead.explain import align, alignment_error_rate
from clearhead.trace import Trace

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.golden.alignments import PAIRS


def rates(model: clearhead.Model, to: str | None) -> Iterator[tuple[str, float]]:
    """Every layer's mean of heads, and every head, with its error rate over all pairs."""
    traces = [model.trace(pair.source, pair.target, to=to, sites="decoder.*.cross.pattern").trace for pair in PAIRS]
    sites = list(traces[0])
    for site in sites:
        yield f"{site}, mean of heads", _rate(traces, site, None)
        for head in range(traces[0].record(site).shape[1]):
            yield f"{site}, head {head}", _rate(traces, site, head)
    yield "the sharpest layer of each pair", _rate(traces, None, None)


def _rate(traces: list[Trace], site: str | None, head: int | None) -> float:
    """One rate over all pairs: links are counted together."""
    found: set[tuple[int, int, int]] = set()
    sure: set[tuple[int, int, int]] = set()
    possible: set[tuple[int, int, int]] = set()
    for place, (trace, pair) in enumerate(zip(traces, PAIRS, strict=True)):
        found |= {(place, *link) for link in align(trace, site=site, head=head).links}
        sure |= {(place, *link) for link in pair.sure}
        possible |= {(place, *link) for link in pair.possible}
    return alignment_error_rate(found, sure=sure, possible=possible)  # type: ignore[arg-type]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="translator")
    parser.add_argument("--to", default="fr")
    given = parser.parse_args()
    for name, rate in rates(clearhead.load(given.model), given.to):
        print(f"{rate:.3f}  {name}")


if __name__ == "__main__":
    main()
