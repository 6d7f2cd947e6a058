"""What is held out is held out wholly, and is as much as was wanted."""

from collections.abc import Iterable

import pytest

from clearhead.data import Split, is_held_out
from clearhead.data.split import SmallestHashes
from clearhead.errors import ConfigError

TEXTS = [f"Sentence number {number}." for number in range(4000)]


def settled(texts: Iterable[str], split: Split) -> float:
    smallest = SmallestHashes(split=split)
    for text in texts:
        smallest.add(text)
    return smallest.share()


def held_out(texts: Iterable[str], split: Split) -> list[str]:
    texts = list(texts)
    share = settled(texts, split)
    return [text for text in texts if is_held_out(text, share=share, seed=split.seed)]


def test_a_share_is_a_share() -> None:
    found = sum(is_held_out(text, share=0.1, seed=0) for text in TEXTS)
    assert 330 < found < 470
    assert not any(is_held_out(text, share=0.0, seed=0) for text in TEXTS[:100])


def test_the_same_source_falls_on_the_same_side_however_it_is_written() -> None:
    for text in TEXTS[:100]:
        sides = {is_held_out(each, share=0.5, seed=3) for each in (text, text.upper(), text + "!", f" {text}")}
        assert len(sides) == 1


def test_another_seed_holds_out_others() -> None:
    first, second = ({text for text in TEXTS if is_held_out(text, share=0.1, seed=seed)} for seed in (0, 1))
    assert len(first & second) < 0.2 * len(first)


def test_a_share_that_fits_is_left_alone() -> None:
    assert settled(TEXTS, Split(share=0.05, least=1, most=2000)) == 0.05


def test_no_more_than_the_most() -> None:
    split = Split(share=0.5, least=10, most=300)
    assert len(held_out(TEXTS, split)) == 300
    assert settled(TEXTS, split) < 0.5


def test_no_fewer_than_the_least() -> None:
    assert len(held_out(TEXTS, Split(share=0.0001, least=100, most=300))) == 100


def test_a_small_corpus_gives_a_small_part() -> None:
    assert len(held_out(TEXTS[:200], Split(share=0.001, least=100, most_of_all=0.1))) == 20
    assert len(held_out(TEXTS[:3], Split(share=0.001))) == 1


def test_the_order_and_repetitions_do_not_matter() -> None:
    split = Split(share=0.02, least=10, most=60)
    assert settled(TEXTS, split) == settled([*reversed(TEXTS), *TEXTS[:1000]], split)


@pytest.mark.parametrize(
    "settings", [{"share": 0.0}, {"share": 1.0}, {"least": 0}, {"least": 10, "most": 5}, {"seed": -1}]
)
def test_a_split_that_cannot_be(settings: dict[str, float]) -> None:
    with pytest.raises(ConfigError):
        Split(**settings)
