from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from clearhead.config import ARCHITECTURES, RecurrentConfig, Size, architecture
from clearhead.errors import MissingTensor, ShapeMismatch, WeightsError
from clearhead.models import blank, build

SIZE = Size(n_layers=1, width=8, n_heads=2, feedforward_width=12, max_length=6)
Tensors = dict[str, Tensor]


def model(name: str = "gpt2", seed: int = 0) -> torch.nn.Module:
    return build(architecture(name, size=SIZE, vocab_size=9), seed=seed)


def values(model: torch.nn.Module) -> Tensors:
    return {name: parameter.detach().clone() for name, parameter in model.named_parameters()}


def same(one: Tensors, other: Tensors) -> bool:
    return one.keys() == other.keys() and all(one[name].equal(other[name]) for name in one)


LAST = "decoder.final_norm.bias"


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_a_model_takes_the_parameters_of_another(name: str) -> None:
    mine, other = model(name, seed=0), model(name, seed=1)
    assert not same(values(mine), values(other))
    mine.set_parameters(values(other))
    assert same(values(mine), values(other))


def test_a_recurrent_model_takes_the_parameters_of_another() -> None:
    mine, other = (build(RecurrentConfig(vocab_size=9, width=4), seed=seed) for seed in (0, 1))
    mine.set_parameters(values(other))
    assert same(values(mine), values(other))


def test_what_was_taken_is_a_copy() -> None:
    mine = model()
    given = values(model(seed=1))
    mine.set_parameters(given)
    before = values(mine)
    for tensor in given.values():
        tensor.zero_()
    assert same(values(mine), before)


def test_half_precision_is_taken_as_the_parameters_own() -> None:
    mine = model()
    mine.set_parameters({name: tensor.bfloat16() for name, tensor in values(model(seed=1)).items()})
    assert all(parameter.dtype == torch.float32 for parameter in mine.parameters())


def without(name: str) -> Callable[[Tensors], Tensors]:
    return lambda tensors: {key: tensor for key, tensor in tensors.items() if key != name}


def changed(name: str, change: Callable[[Tensor], Tensor]) -> Callable[[Tensors], Tensors]:
    return lambda tensors: {**tensors, name: change(tensors[name])}


def poisoned(value: float) -> Callable[[Tensor], Tensor]:
    def poison(tensor: Tensor) -> Tensor:
        tensor = tensor.clone()
        tensor.view(-1)[-1] = value
        return tensor

    return poison


REFUSED: dict[str, tuple[Callable[[Tensors], Tensors], type[WeightsError]]] = {
    "missing": (without(LAST), MissingTensor),
    "all missing": (lambda _: {}, MissingTensor),
    "extra": (lambda tensors: {**tensors, "decoder.blocks.1.ffn.up.weight": torch.zeros(1)}, WeightsError),
    "transposed": (changed("decoder.blocks.0.ffn.up.weight", lambda tensor: tensor.mT), ShapeMismatch),
    "flat": (changed("decoder.blocks.0.ffn.up.weight", lambda tensor: tensor.flatten()), ShapeMismatch),
    "broadcastable": (changed(LAST, lambda tensor: tensor[:1]), ShapeMismatch),
    "nan": (changed(LAST, poisoned(torch.nan)), WeightsError),
    "infinite": (changed(LAST, poisoned(-torch.inf)), WeightsError),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_fit_is_refused_and_nothing_changes(case: str) -> None:
    change, kind = REFUSED[case]
    mine = model()
    before = values(mine)
    with pytest.raises(kind) as caught:
        mine.set_parameters(change(values(model(seed=1))))
    assert type(caught.value) is kind
    assert caught.value.got is not None
    assert same(values(mine), before)


def test_a_missing_tensor_is_named_with_its_nearest() -> None:
    given = values(model())
    given["decoder.final_norm.bais"] = given.pop(LAST)
    with pytest.raises(MissingTensor) as caught:
        model().set_parameters(given)
    assert caught.value.got == f"no {LAST}"
    assert "decoder.final_norm.bais" in str(caught.value.advice)


def test_another_shape_says_both() -> None:
    with pytest.raises(ShapeMismatch) as caught:
        model().set_parameters(changed(LAST, lambda tensor: tensor[:1])(values(model())))
    assert LAST in caught.value.problem
    assert caught.value.got == (1,)
    assert caught.value.expected == (8,)


def test_values_that_are_not_finite_are_counted() -> None:
    with pytest.raises(WeightsError) as caught:
        model().set_parameters(changed(LAST, poisoned(torch.nan))(values(model())))
    assert LAST in caught.value.problem
    assert caught.value.got == "1 of 8 are NaN or infinite"


STRANGE: dict[str, Callable[[Tensor], Tensor]] = {
    "whole numbers": lambda tensor: tensor.long(),
    "complex": lambda tensor: tensor.to(torch.complex64),
    "too large for the parameter": lambda tensor: torch.full_like(tensor, 1e300, dtype=torch.float64),
    "eight bits": lambda tensor: tensor.to(torch.float8_e4m3fn),
}


@pytest.mark.parametrize("case", STRANGE)
@pytest.mark.filterwarnings("ignore:Casting complex values")
def test_numbers_that_the_parameter_cannot_hold_are_refused_and_nothing_changes(case: str) -> None:
    mine = model()
    before = values(mine)
    with pytest.raises(WeightsError):
        mine.set_parameters(changed(LAST, STRANGE[case])(values(model(seed=1))))
    assert same(values(mine), before)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_a_blank_model_has_shapes_and_waits_for_its_parameters(name: str) -> None:
    config = architecture(name, size=SIZE, vocab_size=9)
    waiting, other = blank(config), build(config, seed=1)
    assert all(parameter.is_meta for parameter in waiting.parameters())
    waiting.set_parameters(values(other))
    assert same(values(waiting), values(other))
    assert waiting.n_parameters == other.n_parameters
    assert all(parameter.requires_grad for parameter in waiting.parameters())
    ids = torch.tensor([[1, 2, 3]])
    inputs = (ids, ids) if ARCHITECTURES[name].encoder and ARCHITECTURES[name].decoder else (ids,)
    for mine, theirs in zip(vars(waiting(*inputs)).values(), vars(other(*inputs)).values(), strict=True):
        assert mine is theirs or mine.equal(theirs)


def test_a_blank_recurrent_model_takes_parameters_too() -> None:
    config = RecurrentConfig(vocab_size=9, width=4)
    waiting, other = blank(config), build(config, seed=1)
    waiting.set_parameters(values(other))
    ids = torch.tensor([[1, 2, 3]])
    assert waiting(ids, ids).logits_BTV.equal(other(ids, ids).logits_BTV)


@pytest.mark.parametrize("case", REFUSED)
def test_a_blank_model_that_refuses_stays_blank(case: str) -> None:
    change, kind = REFUSED[case]
    waiting = blank(architecture("gpt2", size=SIZE, vocab_size=9))
    with pytest.raises(kind):
        waiting.set_parameters(change(values(model(seed=1))))
    assert all(parameter.is_meta for parameter in waiting.parameters())
