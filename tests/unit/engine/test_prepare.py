from dataclasses import replace

import pytest
import torch
from torch import nn

from clearhead.config import Cell, RecurrentConfig
from clearhead.engine import WeightFormat, prepare
from clearhead.engine.int8 import Int8Linear
from clearhead.engine.joined import JoinedLinear
from clearhead.models import DecoderOnly, EncoderDecoder, build
from clearhead.probe import Recorder, listen
from clearhead.testing import TinyModel

NAMES = ["gpt2", "llama", "t5", "marian", "bert"]
IDS = torch.tensor([[5, 9, 2, 7], [1, 3, 8, 8]])


# Rounding moves a weight by less than a hundredth of its row's spread, and a few products follow one another.
ROUNDED = 0.03


def distance(found: torch.Tensor, wanted: torch.Tensor) -> float:
    return float((found - wanted).norm() / wanted.norm())


def run(network: nn.Module) -> torch.Tensor:
    with torch.no_grad():
        if isinstance(network, DecoderOnly):
            return network(IDS).logits_BTV
        return network(IDS, IDS).logits_BTV if isinstance(network, EncoderDecoder) else network(IDS).logits


@pytest.mark.parametrize("name", NAMES)
def test_a_twin_computes_alike_and_shares_every_parameter(name: str) -> None:
    network = TinyModel(name).model
    twin = prepare(network)
    assert torch.allclose(run(twin), run(network.eval()), atol=1e-5)
    owned = {id(parameter) for parameter in network.parameters()}
    assert {id(parameter) for parameter in twin.parameters()} == owned


def test_a_twin_sees_what_becomes_of_a_parameter() -> None:
    network = TinyModel("llama").model
    twin = prepare(network)
    before = run(twin)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(1.5)
    assert not torch.allclose(run(twin), before, atol=1e-3)
    assert torch.allclose(run(twin), run(network.eval()), atol=1e-5)


def test_the_network_itself_stays_as_it_was() -> None:
    network = TinyModel("gpt2").model.train()
    kinds = [type(module) for module in network.modules()]
    assert not prepare(network).training
    assert network.training
    assert [type(module) for module in network.modules()] == kinds


@pytest.mark.parametrize("name", NAMES)
def test_recorders_hear_the_same_sites_and_values(name: str) -> None:
    network = TinyModel(name).model.eval()
    plain, ready = Recorder(), Recorder()
    with listen(plain):
        run(network)
    with listen(ready):
        run(prepare(network))
    assert list(ready) == list(plain)
    for site in plain:
        assert torch.allclose(ready[site], plain[site], atol=1e-5), site


@pytest.mark.parametrize("cell", Cell)
def test_a_recurrent_twin_computes_alike(cell: Cell) -> None:
    network = build(RecurrentConfig(vocab_size=13, width=8, n_layers=2, cell=cell), seed=0).eval()
    twin = prepare(network)
    with torch.no_grad():
        assert torch.allclose(twin(IDS, IDS).logits_BTV, network(IDS, IDS).logits_BTV, atol=1e-5)
    assert {id(one) for one in twin.parameters()} == {id(one) for one in network.parameters()}


def untied(tied: bool) -> DecoderOnly:
    config = TinyModel("llama").config
    return build(replace(config, head=replace(config.head, tied=tied)), seed=0).eval()


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("weights", WeightFormat)
def test_an_output_layer_is_replaced_once_tied_or_not(tied: bool, weights: WeightFormat) -> None:
    network = untied(tied)
    twin = prepare(network, weights=weights)
    assert distance(run(twin), run(network)) < (1e-5 if weights is WeightFormat.FLOAT32 else ROUNDED)
    parts = [name for name, _ in twin.named_modules() if name.startswith("head") and not name.endswith("matrix")]
    assert parts == ["head", "head.product"]


def test_whole_numbers_are_near_and_take_a_quarter() -> None:
    network = TinyModel("gpt2").model.eval()
    twin = prepare(network, weights=WeightFormat.INT8)
    assert 0 < distance(run(twin), run(network)) < ROUNDED
    before = sum(module.weight.nbytes for module in network.modules() if isinstance(module, nn.Linear))
    layers = [module for name, module in twin.named_modules() if isinstance(module, Int8Linear) and "head" not in name]
    joined = {id(module._joined): module._joined for module in twin.modules() if isinstance(module, JoinedLinear)}
    layers += [each.product for each in joined.values()]
    assert sum(layer.integer.nbytes for layer in layers) * 4 == before


def test_joined_layers_stay_parameters_of_their_own_in_one_piece_of_memory() -> None:
    network = TinyModel("llama").model.eval()
    wanted = run(network)
    first = prepare(network)
    attention = network.decoder.blocks[0].self_attention
    end = attention.query.weight.data_ptr() + attention.query.weight.nbytes
    assert attention.key.weight.data_ptr() == end
    assert torch.equal(run(network), wanted)
    places = [parameter.data_ptr() for parameter in network.parameters()]
    prepare(network)
    assert [parameter.data_ptr() for parameter in network.parameters()] == places
    assert torch.allclose(run(first), wanted, atol=1e-5)


def test_gradients_flow_through_joined_layers() -> None:
    network = TinyModel("llama").model.eval()
    twin = prepare(network)
    twin(IDS).logits_BTV.sum().backward()
    found = [parameter.grad.clone() for parameter in network.parameters()]
    network.zero_grad()
    network(IDS).logits_BTV.sum().backward()
    assert all(torch.allclose(a, p.grad, atol=1e-4) for a, p in zip(found, network.parameters(), strict=True))
