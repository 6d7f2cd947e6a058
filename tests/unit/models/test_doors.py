"""What users may do wrong at a model's door. Annotations are unchecked here, as they are for them."""

from collections.abc import Callable, Iterator
from typing import Any

import jaxtyping
import pytest
import torch

from clearhead.config import RecurrentConfig, Size, architecture
from clearhead.errors import ClearheadError, DecodingError, TextError
from clearhead.models import build

SIZE = Size(n_layers=1, width=8, n_heads=2, feedforward_width=12, max_length=6, dropout=0.0)
IDS = torch.tensor([[1, 2, 3], [4, 5, 6]])
NAMES = ["gpt2", "llama", "bert", "original", "t5", "recurrent"]
TWO_SIDED = ("original", "t5", "recurrent")


@pytest.fixture(autouse=True)
def unchecked() -> Iterator[None]:
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


def model(name: str) -> Any:
    if name == "recurrent":
        return build(RecurrentConfig(vocab_size=9, width=4), seed=0)
    return build(architecture(name, size=SIZE, vocab_size=9), seed=0)


def refuse(call: Callable[[], object], kind: type[ClearheadError] = TextError) -> ClearheadError:
    with pytest.raises(kind) as caught:
        call()
    assert caught.value.got is not None
    assert caught.value.expected is not None
    return caught.value


WRONG_IDS = {
    "beyond the vocabulary": torch.tensor([[1, 9, 3], [4, 5, 6]]),
    "negative": torch.tensor([[1, -1, 3], [4, 5, 6]]),
    "of no text": torch.zeros(0, 3, dtype=torch.long),
    "of no token": torch.zeros(2, 0, dtype=torch.long),
    "of fractions": IDS.float(),
    "of truths": IDS > 2,
    "in one row without a batch": IDS[0],
    "in a cube": IDS.unsqueeze(0),
    "alone": torch.tensor(3),
}


@pytest.mark.parametrize("case", WRONG_IDS)
@pytest.mark.parametrize("name", NAMES)
def test_ids_that_are_wrong_are_refused(name: str, case: str) -> None:
    ids = WRONG_IDS[case]
    built = model(name)
    refuse((lambda: built(ids, IDS)) if name in TWO_SIDED else (lambda: built(ids)))


@pytest.mark.parametrize("case", WRONG_IDS)
@pytest.mark.parametrize("name", TWO_SIDED)
def test_target_ids_that_are_wrong_are_refused(name: str, case: str) -> None:
    refuse(lambda: model(name)(IDS, WRONG_IDS[case]))


@pytest.mark.parametrize("name", TWO_SIDED)
def test_source_and_target_must_have_as_many_rows(name: str) -> None:
    error = refuse(lambda: model(name)(IDS, IDS[:1]))
    assert error.got == "2 and 1"


WRONG_MASKS = {
    "too short": torch.ones(2, 2, dtype=torch.bool),
    "too long": torch.ones(2, 4, dtype=torch.bool),
    "of another batch": torch.ones(1, 3, dtype=torch.bool),
    "of whole numbers": torch.ones(2, 3, dtype=torch.long),
    "of fractions": torch.ones(2, 3),
    "without a batch": torch.ones(3, dtype=torch.bool),
    "of cells": torch.ones(2, 3, 3, dtype=torch.bool),
}
MASKS = {
    "gpt2": ["mask_BK"],
    "llama": ["mask_BK"],
    "bert": ["mask_BS"],
    "original": ["source_mask_BS", "target_mask_BT"],
    "t5": ["source_mask_BS", "target_mask_BT"],
    "recurrent": ["source_mask_BS", "target_mask_BT"],
}


@pytest.mark.parametrize("case", WRONG_MASKS)
@pytest.mark.parametrize(("name", "argument"), [(name, mask) for name, masks in MASKS.items() for mask in masks])
def test_masks_that_do_not_fit_are_refused(name: str, argument: str, case: str) -> None:
    ids = (IDS, IDS) if name in TWO_SIDED else (IDS,)
    error = refuse(lambda: model(name)(*ids, **{argument: WRONG_MASKS[case]}))
    assert "(2, 3)" in str(error.expected)


@pytest.mark.parametrize("name", ["gpt2", "bert"])
def test_a_text_longer_than_the_learned_positions_is_refused(name: str) -> None:
    error = refuse(lambda: model(name)(torch.ones(1, 7, dtype=torch.long)))
    assert error.got == "7 tokens"
    assert error.expected == "at most 6"


@pytest.mark.parametrize("name", ["gpt2", "bert"])
def test_padding_does_not_count_towards_the_learned_positions(name: str) -> None:
    mask = torch.tensor([[False] * 4 + [True] * 6])
    model(name)(torch.ones(1, 10, dtype=torch.long), **{MASKS[name][0]: mask})


@pytest.mark.parametrize("name", ["llama", "t5", "original"])
def test_models_without_learned_positions_have_no_longest_text(name: str) -> None:
    ids = torch.ones(1, 300, dtype=torch.long)
    built = model(name)
    assert torch.isfinite((built(ids, ids) if name in TWO_SIDED else built(ids)).logits_BTV).all()


def test_a_text_that_outgrows_its_cache_is_refused() -> None:
    gpt2 = model("gpt2")
    cache = gpt2.new_cache(capacity=4)
    gpt2(IDS, cache=cache)
    refuse(lambda: gpt2(IDS, cache=cache), DecodingError)
    assert cache.length == 3


def test_a_mask_must_cover_the_cached_positions_too() -> None:
    gpt2 = model("gpt2")
    cache = gpt2.new_cache(capacity=4)
    gpt2(IDS, cache=cache)
    error = refuse(lambda: gpt2(IDS[:, :1], mask_BK=torch.ones(2, 1, dtype=torch.bool), cache=cache))
    assert "(2, 4)" in str(error.expected)


def test_a_source_longer_than_its_cache_is_refused() -> None:
    t5 = model("t5")
    cache = t5.new_cache(capacity=4, source_length=2)
    refuse(lambda: t5.decode(IDS, encoded_BSD=t5.encode(IDS), cache=cache), DecodingError)


def test_a_cache_that_was_used_for_another_source_is_refused() -> None:
    t5 = model("t5")
    cache = t5.new_cache(capacity=8, source_length=4)
    t5.decode(IDS, encoded_BSD=t5.encode(IDS), cache=cache)
    refuse(lambda: t5.decode(IDS[:, :1], encoded_BSD=t5.encode(IDS[:, :2]), cache=cache), DecodingError)


def test_what_another_width_encoded_is_refused() -> None:
    t5 = model("t5")
    refuse(lambda: t5.decode(IDS, encoded_BSD=t5.encode(IDS)[..., :-1]), DecodingError)


WRONG_SEGMENTS = {
    "beyond the last": torch.full_like(IDS, 2),
    "negative": torch.full_like(IDS, -1),
    "too short": IDS[:, :2] * 0,
    "of another batch": IDS[:1] * 0,
    "of fractions": IDS * 0.0,
}


@pytest.mark.parametrize("case", WRONG_SEGMENTS)
def test_segments_that_do_not_fit_are_refused(case: str) -> None:
    refuse(lambda: model("bert")(IDS, segment_ids_BS=WRONG_SEGMENTS[case]))


def test_a_segment_that_does_not_exist_is_called_a_segment() -> None:
    assert "segment" in str(refuse(lambda: model("bert")(IDS, segment_ids_BS=torch.full_like(IDS, 2))))


@pytest.mark.parametrize("case", WRONG_MASKS)
@pytest.mark.parametrize("name", ["original", "t5"])
def test_a_source_mask_that_does_not_fit_is_refused_while_decoding(name: str, case: str) -> None:
    built = model(name)
    encoded = built.encode(IDS)
    refuse(lambda: built.decode(IDS, encoded_BSD=encoded, source_mask_BS=WRONG_MASKS[case]))


def test_another_batch_than_the_cached_one_is_refused() -> None:
    gpt2 = model("gpt2")
    cache = gpt2.new_cache(capacity=4)
    gpt2(IDS, cache=cache)
    refuse(lambda: gpt2(IDS[:1, :1], cache=cache), ClearheadError)
