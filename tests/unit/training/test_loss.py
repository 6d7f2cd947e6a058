import pytest
import torch
from torch.nn import functional

from clearhead.training.loss import (
    cross_entropy,
    distillation,
    in_batch_contrast,
    score_regression,
    vocabulary_cross_entropy,
)


def inputs(n: int, *, scale: float = 1.0) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(n)
    hidden = torch.randn(n, 6, generator=generator) * scale
    weight = torch.randn(11, 6, generator=generator)
    bias = torch.randn(11, generator=generator)
    labels = torch.randint(11, (n,), generator=generator)
    return hidden.requires_grad_(), weight.requires_grad_(), bias.requires_grad_(), labels


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("has_bias", [True, False])
@pytest.mark.parametrize("n", [1, 40, 1030])
def test_the_fused_loss_and_its_gradients_are_torchs(n: int, smoothing: float, has_bias: bool) -> None:
    hidden, weight, bias, labels = inputs(n)
    given = bias if has_bias else None
    wanted = [hidden, weight, *([bias] if has_bias else [])]
    logits = functional.linear(hidden, weight, given)
    reference = functional.cross_entropy(logits, labels, label_smoothing=smoothing, reduction="sum")
    loss, n_correct = vocabulary_cross_entropy(hidden, labels, weight_VD=weight, bias_V=given, smoothing=smoothing)
    torch.testing.assert_close(loss, reference)
    assert int(n_correct) == int((logits.argmax(-1) == labels).sum())
    ours = torch.autograd.grad(loss / n, wanted)
    theirs = torch.autograd.grad(reference / n, wanted)
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-6)


def test_the_fused_loss_needs_no_gradients() -> None:
    hidden, weight, bias, labels = inputs(20)
    with torch.no_grad():
        without, _ = vocabulary_cross_entropy(hidden, labels, weight_VD=weight, bias_V=bias)
    with_gradient, _ = vocabulary_cross_entropy(hidden, labels, weight_VD=weight, bias_V=bias)
    assert not without.requires_grad
    assert torch.equal(without, with_gradient.detach())


def test_a_very_wrong_answer_is_finite() -> None:
    hidden, weight, bias, labels = inputs(50, scale=1000.0)
    loss, _ = vocabulary_cross_entropy(hidden, labels, weight_VD=weight, bias_V=bias, smoothing=0.1)
    reference, _ = cross_entropy(functional.linear(hidden, weight, bias), labels, smoothing=0.1)
    assert loss > 1000
    torch.testing.assert_close(loss, reference)


def test_scores_are_compared_with_cosines() -> None:
    first = torch.tensor([[1.0, 0.0], [1.0, 1.0]])
    second = torch.tensor([[0.0, 2.0], [2.0, 2.0]])
    assert float(score_regression(first, second, torch.tensor([0.5, 1.0]))) == pytest.approx(0.25)


def test_contrast_is_the_cross_entropy_of_both_ways() -> None:
    generator = torch.Generator().manual_seed(0)
    first, second = (functional.normalize(torch.randn(5, 4, generator=generator), dim=-1) for _ in range(2))
    similarity = first @ second.T / 0.1
    labels = torch.arange(5)
    there, back = (functional.cross_entropy(each, labels, reduction="sum") for each in (similarity, similarity.T))
    loss, n_found = in_batch_contrast(3 * first, second, temperature=0.1)
    torch.testing.assert_close(loss, (there + back) / 2)
    assert int(n_found) == int((similarity.argmax(-1) == labels).sum())


def test_distillation_from_a_wider_teacher_compares_likenesses() -> None:
    teacher = torch.tensor([[1.0, 0.0, 0.0], [0.0, 5.0, 0.0], [0.0, 0.0, 1.0]])
    alike = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 2.0]])
    # The second and the third point the same way: two cells of nine are off by one, and rows are means of three.
    assert float(distillation(alike, teacher)) == pytest.approx(2 / 3)
    angle = torch.tensor(0.7)
    turned = torch.stack([torch.stack([angle.cos(), angle.sin()]), torch.stack([-angle.sin(), angle.cos()])])
    assert float(distillation(3 * turned, teacher[:2])) == pytest.approx(0.0, abs=1e-6)


def test_distillation_is_nothing_where_vectors_point_alike() -> None:
    teacher = torch.tensor([[3.0, 4.0], [1.0, 0.0]])
    assert float(distillation(teacher * 2, teacher)) == pytest.approx(0.0, abs=1e-6)
    assert float(distillation(torch.tensor([[3.0, 4.0], [0.0, 1.0]]), teacher)) == pytest.approx(1.0)
