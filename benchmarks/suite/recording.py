"""What recording every attention pattern costs: pairs of a plain run and a recorded one."""

import statistics
from collections.abc import Callable
from functools import partial
from pathlib import Path

import decoding
import peers
from reading import BATCH, lines
from timing import in_pairs

import clearhead
from clearhead.engine import Engine, WeightFormat
from clearhead.probe import Recorder, listen

PATTERNS = "*.pattern"
STORY = "Once upon a time, there was a little dog who"
Runs = tuple[Callable[[], object], Callable[[], object]]


def measure(work: Path, shared: Path, *, rounds: int, clock: str) -> dict[str, object]:
    """How many times as long recorded runs take as plain ones: the median of all pairs, and the middle half of them."""
    runs: dict[str, tuple[int, Runs]] = {}
    network = clearhead.load(peers.gpt2_folder(work)).network
    for kind in WeightFormat:
        engine = Engine(network=network, weights=kind)
        one, many = decoding.ours(engine, 1, 48), decoding.ours(engine, 16, 32)
        runs[f"GPT-2 size, {kind.value}, batch 1"] = 3, (one, _heard(one, PATTERNS))
        runs[f"GPT-2 size, {kind.value}, batch 1, scores and residuals too"] = (
            3,
            (one, _heard(one, PATTERNS, "*.score", "*.resid_*")),
        )
        runs[f"GPT-2 size, {kind.value}, batch 16"] = 2, (many, _heard(many, PATTERNS))
    stories = clearhead.load(shared / "models/stories15M")
    told = {"max_new_tokens": 120, "temperature": 0}
    runs["stories15M, `trace=`"] = (
        5,
        (partial(stories.complete, STORY, **told), partial(stories.generate, STORY, trace=PATTERNS, **told)),
    )
    sources = [pair[0] for pair in lines(shared / "data/tatoeba/en-fr.test.tsv.gz", BATCH)]
    for beams in (1, 4):
        runs |= {
            f"translator, beams: {beams}, {name}": (10, two) for name, two in _translations(sources, beams).items()
        }
    return {name: _told(in_pairs(*two, rounds=many * rounds, clock=clock)) for name, (many, two) in runs.items()}


def _translations(sources: list[str], beams: int) -> dict[str, Runs]:
    """Runs of the translator: one text after another, or all in one batch."""
    model = clearhead.load("translator")
    some = sources[: BATCH // 2]

    def alone() -> None:
        for source in some:
            model.translate(source, to="fr", beams=beams)

    def traced() -> None:
        for source in some:
            model.generate(source, to="fr", trace=PATTERNS, beams=beams)

    together = partial(model.translate, sources, to="fr", beams=beams)
    candidates = " with all candidates" if beams > 1 else ""
    return {
        "one by one": (alone, _heard(alone, PATTERNS)),
        f"one by one, `trace=`{candidates}": (alone, traced),
        f"{BATCH} texts a batch": (together, _heard(together, PATTERNS)),
    }


def _heard(run: Callable[[], object], *sites: str) -> Callable[[], object]:
    def heard() -> None:
        with listen(Recorder(*sites)):
            run()

    return heard


def _told(ratios: list[float]) -> dict[str, float]:
    quarter = len(ratios) // 4
    found = {"median": statistics.median(ratios), "from": ratios[quarter], "to": ratios[-1 - quarter]}
    return {name: round(ratio, 3) for name, ratio in found.items()}
