"""Inputs of every length, made of short sentences that small networks can learn in minutes.

Everyday corpora have few long sentences, so that long inputs are made: simple pairs of one split, shuffled, joined
until they have the words that were drawn, sources and targets in the same order.
"""

import random
import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from clearhead.data import Record, Source, Task, read_records
from clearhead.text.files import replacing

STEP = 10
"""Words from one row of the table to the next."""
_TARGET_WORDS = 2
"""French has more forms of a word than English: so many times the words are allowed on its side."""
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|\d+")

Pair = tuple[str, str]


def sentences(path: Path) -> list[Pair]:
    """The pairs of a split."""
    if not path.is_file():
        sys.exit(f"no corpus at {path}: set CLEARHEAD_SHARED")
    records: list[Record] = list(read_records(Source(paths=(path,), task=Task.TRANSLATE)))
    return [(record.source, record.target or "") for record in records]


def simple(splits: dict[str, list[Pair]], *, most: int, n_words: int) -> dict[str, list[Pair]]:
    """The pairs whose source has few words, all of them frequent; frequent is what is so among those to learn from."""
    short = {name: [pair for pair in pairs if len(pair[0].split()) <= most] for name, pairs in splits.items()}
    known = [
        frequent((pair[side] for pair in short["train"]), n_words=n_words * times)
        for side, times in ((0, 1), (1, _TARGET_WORDS))
    ]
    return {
        name: [pair for pair in pairs if all(words(text) <= allowed for text, allowed in zip(pair, known, strict=True))]
        for name, pairs in short.items()
    }


def words(text: str) -> set[str]:
    """The words of a text, without their case."""
    return set(_WORD.findall(text.lower()))


def frequent(texts: Iterable[str], *, n_words: int) -> set[str]:
    """The words that occur in most texts."""
    counts = Counter(word for text in texts for word in sorted(words(text)))
    return {word for word, _ in counts.most_common(n_words)}


def learned(pairs: Sequence[Pair], *, most: int, short_share: float, n_copies: int, rng: random.Random) -> list[Pair]:
    """Inputs to learn from: every pair as often as there are copies, joined anew in each; a share of them is short."""

    def wanted() -> int:
        return rng.randint(1, STEP if rng.random() < short_share else most)

    made: list[Pair] = []
    for _ in range(n_copies):
        order = list(pairs)
        rng.shuffle(order)
        current: list[Pair] = []
        limit = wanted()
        for pair in order:
            if current and n_source_words([*current, pair]) > limit:
                made.append(together(current))
                current, limit = [], wanted()
            current.append(pair)
        made.append(together(current))
    return made


def tested(pairs: Sequence[Pair], *, most: int, n_each: int, rng: random.Random) -> list[Pair]:
    """As many test inputs of every group of lengths; a sentence may occur in several of them, never twice in one."""
    made: list[Pair] = []
    for least in range(1, most, STEP):
        found: list[Pair] = []
        while len(found) < n_each:
            limit = rng.randint(least, least + STEP - 1)
            chosen: list[Pair] = []
            for pair in rng.sample(pairs, len(pairs)):
                if n_source_words([*chosen, pair]) <= limit:
                    chosen.append(pair)
                if n_source_words(chosen) == limit:
                    found.append(together(chosen))
                    break
        made += found
    return made


def n_source_words(pairs: Sequence[Pair]) -> int:
    """The words of all sources."""
    return sum(len(source.split()) for source, _ in pairs)


def together(pairs: Sequence[Pair]) -> Pair:
    """Several pairs as one."""
    return " ".join(source for source, _ in pairs), " ".join(target for _, target in pairs)


def write_pairs(path: Path, pairs: Sequence[Pair]) -> Path:
    """A table of pairs; not written again where it is there already, so that a run recognises its data."""
    content = "source\ttarget\n" + "".join(f"{source}\t{target}\n" for source, target in pairs)
    if not path.is_file() or path.read_text(encoding="utf-8") != content:
        with replacing(path) as stream:
            stream.write(content.encode("utf-8"))
    return path
