"""What recording every attention pattern costs, batch 1, greedy."""

from collections.abc import Callable
from pathlib import Path

import decoding
import peers
from timing import taking_turns

import clearhead
from clearhead.engine import Engine, WeightFormat
from clearhead.probe import Recorder, listen

PATTERNS = "*.pattern"
STORY = "Once upon a time, there was a little dog who"
SENTENCE = "They walked along the bank of the river, and then they went home to eat some ice cream."


def measure(work: Path, shared: Path, *, rounds: int, clock: str) -> dict[str, object]:
    """How many times as long a recorded run takes as a plain one."""
    found: dict[str, object] = {}
    network = clearhead.load(peers.gpt2_folder(work)).network
    for kind in WeightFormat:
        plain = decoding.ours(Engine(network=network, weights=kind), 1, 48)

        def heard(plain: Callable[[], object] = plain) -> None:
            with listen(Recorder(PATTERNS)):
                plain()

        found[f"GPT-2 size, {kind.value}"] = _ratio(plain, heard, rounds=rounds, clock=clock)
    stories, translator = clearhead.load(shared / "models/stories15M"), clearhead.load("translator")
    runs: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "stories15M": (
            lambda: stories.complete(STORY, max_new_tokens=120, temperature=0),
            lambda: stories.generate(STORY, trace=PATTERNS, max_new_tokens=120, temperature=0),
        ),
        "translator": (
            lambda: translator.translate(SENTENCE, to="fr", beams=1),
            lambda: translator.generate(SENTENCE, to="fr", trace=PATTERNS, beams=1),
        ),
    }
    for name, (plain, recorded) in runs.items():
        found[name] = _ratio(plain, recorded, rounds=3 * rounds, clock=clock)
    return found


def _ratio(plain: Callable[[], object], recorded: Callable[[], object], *, rounds: int, clock: str) -> float:
    seconds = taking_turns({"plain": plain, "recorded": recorded}, rounds=rounds, clock=clock)
    return round(seconds["recorded"] / seconds["plain"], 3)
