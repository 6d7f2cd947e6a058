"""What is held out is held out wholly, and is as much as was wanted."""

from collections.abc import Iterable

import pytest

from clearhead.data import Record, Split, Task, is_held_out
from clearhead.data.split import SmallestHashes, sources_of
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


def test_few_sources_with_many_targets_give_few() -> None:
    assert len(set(held_out(TEXTS[:50] * 100, Split()))) == 2
    assert len(set(held_out(TEXTS[:2] * 1000, Split()))) == 1


@pytest.mark.parametrize("n", [2, 3, 10, 500])
def test_something_is_always_left_to_learn(n: int) -> None:
    split = Split(share=0.99, least=100, most_of_all=0.99)
    assert 1 <= len(held_out(TEXTS[:n], split)) < n


def test_the_least_is_a_part_of_all_sources_even_where_few_are_remembered() -> None:
    split = Split(share=0.0001, least=60, most=60, most_of_all=0.005)
    assert 14 <= len(held_out(TEXTS, split)) <= 26


def test_either_text_of_a_pair_decides() -> None:
    sides = {text: is_held_out(text, share=0.5, seed=0) for text in TEXTS[:40]}
    for one, other in zip(TEXTS[:20], TEXTS[20:40], strict=True):
        assert is_held_out(one, other, share=0.5, seed=0) == (sides[one] or sides[other])


def test_the_texts_that_may_be_on_one_side_only() -> None:
    pair = Record(source="a", target="b")
    assert sources_of(pair, Task.SIMILARITY) == ("a", "b")
    assert sources_of(pair, Task.TRANSLATE) == ("a",)
    assert sources_of(Record(source="a"), Task.SIMILARITY) == ("a",)


@pytest.mark.parametrize(
    "settings", [{"share": 0.0}, {"share": 1.0}, {"least": 0}, {"least": 10, "most": 5}, {"seed": -1}]
)
def test_a_split_that_cannot_be(settings: dict[str, float]) -> None:
    with pytest.raises(ConfigError):
        Split(**settings)
