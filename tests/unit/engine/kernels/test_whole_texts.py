"""Whole texts by a kernel: the same vectors as from the parts, whatever else is read beside them."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from clearhead.config import SIZES, Activation, NormPlacement, architecture
from clearhead.engine import WeightFormat, prepare
from clearhead.engine.kernels import fields as at
from clearhead.engine.kernels import ready, whole_texts
from clearhead.engine.kernels.layout import panelled
from clearhead.models import EncoderDecoder, EncoderOnly, build
from clearhead.nn import Stack
from clearhead.probe import Edit, Recorder, listen
from clearhead.trace import Tape

TOLERANCE = {WeightFormat.FLOAT32: 1e-5, WeightFormat.INT8: 5e-3}
LENGTHS = (1, 9, 4, 30, 2, 17)
HEAD_WIDTHS = [12, 48]
"""Heads that fill no panel, and heads that fill three: two of them side by side, and one."""


@pytest.fixture(autouse=True, scope="module")
def kernels() -> None:
    assert ready.load() is not None


def encoder(name: str, weights: WeightFormat, *, head_width: int = 12, **choices: object) -> Stack:
    size = replace(SIZES["tiny"], n_layers=3, n_heads=3, width=3 * head_width, feedforward_width=50, max_length=64)
    config = architecture(name, size=size, vocab_size=40)
    assert config.encoder is not None
    if choices:
        config = replace(config, encoder=replace(config.encoder, **choices))
    network = build(config, seed=1)
    assert isinstance(network, EncoderOnly | EncoderDecoder)
    return prepare(network.eval(), weights=weights).encoder


def texts(lengths: tuple[int, ...] = LENGTHS) -> tuple[Tensor, Tensor]:
    ids = torch.randint(4, 40, (len(lengths), max(lengths)), generator=torch.Generator().manual_seed(3))
    return ids, torch.arange(max(lengths)) < torch.tensor(lengths).unsqueeze(1)


def read(stack: Stack, ids: Tensor, mask: Tensor | None) -> Tensor:
    with torch.no_grad():
        return stack(ids, mask_BK=mask)


@pytest.mark.parametrize("head_width", HEAD_WIDTHS)
@pytest.mark.parametrize("weights", WeightFormat)
@pytest.mark.parametrize("name", ["bert", "distilbert", "marian", "original"])
def test_the_same_vectors_as_by_parts(name: str, weights: WeightFormat, head_width: int) -> None:
    stack = encoder(name, weights, head_width=head_width)
    ids, mask = texts()
    found = read(stack, ids, mask)
    assert stack._reading is not None  # a kernel did it
    with ready.by_parts():
        wanted = read(stack, ids, mask)
    torch.testing.assert_close(found[mask], wanted[mask], rtol=0, atol=TOLERANCE[weights])
    whole = read(stack, ids, None)
    with ready.by_parts():
        torch.testing.assert_close(whole, read(stack, ids, None), rtol=0, atol=TOLERANCE[weights])


@pytest.mark.parametrize("activation", [Activation.RELU, Activation.SILU, Activation.GELU_TANH])
@pytest.mark.parametrize("placement", NormPlacement)
def test_other_choices(activation: Activation, placement: NormPlacement) -> None:
    plain = architecture("bert", size=SIZES["tiny"], vocab_size=40).encoder
    assert plain is not None
    stack = encoder(
        "bert",
        WeightFormat.FLOAT32,
        norm=replace(plain.norm, placement=placement),
        feedforward=replace(plain.feedforward, activation=activation, width=50),
    )
    ids, mask = texts()
    found = read(stack, ids, mask)
    with ready.by_parts():
        torch.testing.assert_close(found[mask], read(stack, ids, mask)[mask], rtol=0, atol=1e-5)


@pytest.mark.parametrize("head_width", HEAD_WIDTHS)
@pytest.mark.parametrize("weights", WeightFormat)
def test_a_text_is_read_as_if_alone_to_the_last_bit(weights: WeightFormat, head_width: int) -> None:
    stack = encoder("bert", weights, head_width=head_width)
    ids, mask = texts()
    found = read(stack, ids, mask)
    for row, length in enumerate(LENGTHS):
        alone = read(stack, ids[row : row + 1, :length], None)
        assert found[row, :length].equal(alone[0]), length


def test_more_texts_than_go_together_and_more_threads(monkeypatch: pytest.MonkeyPatch, two_threads: None) -> None:
    stack = encoder("bert", WeightFormat.FLOAT32)
    ids, mask = texts(LENGTHS * 4)
    torch.set_num_threads(1)
    wanted = read(stack, ids, mask)
    torch.set_num_threads(2)
    assert read(stack, ids, mask).equal(wanted)
    monkeypatch.setattr(whole_texts, "_ROWS_AT_ONCE", 20)  # a text of 30 is longer than that
    assert read(stack, ids, mask).equal(wanted)


def test_who_listens_hears_the_parts() -> None:
    stack = encoder("bert", WeightFormat.FLOAT32)
    ids, mask = texts()
    recorder = Recorder("encoder.1.self.pattern")
    with listen(recorder):
        read(stack, ids, mask)
    assert recorder["encoder.1.self.pattern"].shape == (len(LENGTHS), 3, 30, 30)
    with listen(Edit("encoder.1.self.output", lambda value: value * 0)):
        changed = read(stack, ids, mask)
    assert not torch.allclose(changed[mask], read(stack, ids, mask)[mask])
    assert stack(ids, mask_BK=mask).requires_grad  # and so does backpropagation go through the parts


@pytest.mark.parametrize("n_outputs", [1, 16, 33])
def test_panels_hold_every_weight_once(n_outputs: int) -> None:
    weight = torch.randn(n_outputs, 5)
    panels = panelled(weight)
    assert panels.shape == (-(-n_outputs // at.PANEL), 5, at.PANEL)
    assert panels.transpose(1, 2).reshape(-1, 5)[:n_outputs].equal(weight)
    assert panels.transpose(1, 2).reshape(-1, 5)[n_outputs:].eq(0).all()


@pytest.mark.parametrize("recorded", ["*.pattern", "*.1.self.pattern", "*"])
def test_patterns_are_heard_as_by_parts(recorded: str) -> None:
    stack = encoder("bert", WeightFormat.FLOAT32, head_width=16)
    ids, _ = texts((50, 50, 50))
    by_kernel, by_parts = Recorder(recorded), Recorder(recorded)
    with listen(by_kernel):
        found = read(stack, ids, None)
    assert (stack._reading is not None) == (recorded != "*")  # a kernel did it, unless more was asked for
    with ready.by_parts(), listen(by_parts):
        wanted = read(stack, ids, None)
    torch.testing.assert_close(found, wanted, rtol=0, atol=1e-5)
    assert list(by_kernel.history) == list(by_parts.history)
    for site in by_parts.history:
        torch.testing.assert_close(by_kernel[site], by_parts[site], rtol=0, atol=1e-5)


def test_the_line_of_a_pattern_is_that_of_the_part() -> None:
    """The kernel stands in for attention, whose code is what computes a pattern."""
    stack = encoder("bert", WeightFormat.FLOAT32, head_width=16)
    ids, _ = texts((9,))
    by_kernel, by_parts = Tape(sites=("*.pattern",)), Tape(sites=("*.pattern",))
    with listen(by_kernel):
        read(stack, ids, None)
    assert stack._reading is not None
    with ready.by_parts(), listen(by_parts):
        read(stack, ids, None)
    assert by_kernel.lines == by_parts.lines
    assert {line and line.file for line in by_kernel.lines.values()} == {"nn/attention/attend.py"}


def test_patterns_of_padded_texts_are_those_of_the_parts() -> None:
    stack = encoder("bert", WeightFormat.FLOAT32, head_width=16)
    ids, mask = texts()
    mask[3, 7] = False  # a gap within a text
    mask[:, -1] = False  # and a place where no text is
    by_kernel, by_parts = Recorder("*.pattern"), Recorder("*.pattern")
    with listen(by_kernel):
        read(stack, ids, mask)
    assert stack._reading is not None
    with ready.by_parts(), listen(by_parts):
        read(stack, ids, mask)
    assert list(by_kernel.history) == list(by_parts.history)
    for site in by_parts.history:
        real_BHQK = (mask[:, None, :, None] & mask[:, None, None, :]).expand_as(by_kernel[site])
        torch.testing.assert_close(by_kernel[site][real_BHQK], by_parts[site][real_BHQK], rtol=0, atol=1e-5)
        assert not by_kernel[site][~real_BHQK].any()
