"""How wrong an answer is: sums over what was asked, so that batches and processes can be averaged rightly.

    loss = - sum_v q_v log p_v        q = (1 - ε) · [v = label] + ε / V        (Szegedy et al. 2016, section 7)

with label smoothing ε. The mean is taken later, over all that a step asked.
"""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd import Function
from torch.nn import functional

from clearhead.nn.product import is_quick, multiply, taken_by, turned_product

_CHUNK = 512
"""Positions whose logits exist at one time: enough to fill a matrix product, few enough for the processor's cache."""


def cross_entropy(
    logits_TV: Float[Tensor, "T V"], labels_T: Int[Tensor, " T"], *, smoothing: float = 0.0
) -> tuple[Float[Tensor, ""], Int[Tensor, ""]]:
    """The summed loss of logits, and how many labels are where the largest logit is."""
    loss = functional.cross_entropy(logits_TV.float(), labels_T, label_smoothing=smoothing, reduction="sum")
    return loss, (logits_TV.detach().argmax(-1) == labels_T).sum()


def vocabulary_cross_entropy(
    hidden_TD: Float[Tensor, "T D"],
    labels_T: Int[Tensor, " T"],
    *,
    weight_VD: Float[Tensor, "V D"],
    bias_V: Float[Tensor, " V"] | None = None,
    smoothing: float = 0.0,
) -> tuple[Float[Tensor, ""], Int[Tensor, ""]]:
    """The same of `hidden · weight^T + bias`, without ever holding the logits of all positions.

    On a CPU the logits of a batch are larger than any cache; written and read several times over, they cost as
    much as the products that make them. Here a few positions at a time pass all the way to their gradients.
    """
    if hidden_TD.device.type != "cpu" or hidden_TD.dtype != torch.float32:
        return cross_entropy(functional.linear(hidden_TD, weight_VD, bias_V), labels_T, smoothing=smoothing)
    wants = torch.is_grad_enabled()
    return _VocabularyCrossEntropy.apply(hidden_TD, weight_VD, bias_V, labels_T, smoothing, wants)  # type: ignore[return-value]  # apply is untyped


class _VocabularyCrossEntropy(Function):
    """Loss and gradients together, chunk by chunk."""

    @staticmethod
    def forward(  # noqa: PLR0917  (autograd passes what apply was given, by position)
        ctx: Any,
        hidden_TD: Tensor,
        weight_VD: Tensor,
        bias_V: Tensor | None,
        labels_T: Tensor,
        smoothing: float,
        wants_gradient: bool,  # noqa: FBT001
    ) -> tuple[Tensor, Tensor]:
        loss = hidden_TD.new_zeros((), dtype=torch.float64)
        n_correct = labels_T.new_zeros(())
        to_hidden_TD = hidden_TD.new_empty(hidden_TD.shape)
        to_weight_VD = weight_VD.new_zeros(weight_VD.shape)
        to_bias_V = hidden_TD.new_zeros(len(weight_VD))
        brings_own = taken_by(hidden_TD[:_CHUNK], weight_VD) is None and is_quick(hidden_TD[:_CHUNK], weight_VD)
        n_held = 0 if brings_own else len(hidden_TD)
        memory_TV = hidden_TD.new_empty(min(_CHUNK, n_held), len(weight_VD))
        for start in range(0, len(hidden_TD), _CHUNK):
            here = slice(start, start + _CHUNK)
            label_T1 = labels_T[here].unsqueeze(1)
            logits_TV = _logits(hidden_TD[here], weight_VD, bias_V, memory_TV)
            largest_T = logits_TV.amax(-1)
            true_T = logits_TV.gather(1, label_T1).squeeze(1)
            n_correct += (true_T == largest_T).sum()
            mean_T = logits_TV.mean(-1) if smoothing else true_T
            pattern_TV = torch.softmax(logits_TV, -1, out=logits_TV)
            # The largest logit's share is at least 1/V: its logarithm is safe where the label's may not be.
            total_T = largest_T - pattern_TV.amax(-1).log()
            loss += (total_T - (1 - smoothing) * true_T - smoothing * mean_T).sum(dtype=torch.float64)
            if wants_gradient:
                gradients = to_hidden_TD[here], to_weight_VD, to_bias_V
                _add_gradients(pattern_TV, label_T1, smoothing, (hidden_TD[here], weight_VD), gradients)
        ctx.has_bias = bias_V is not None
        if wants_gradient:
            ctx.save_for_backward(to_hidden_TD, to_weight_VD, to_bias_V)
        ctx.mark_non_differentiable(n_correct)
        return loss.to(hidden_TD.dtype), n_correct

    @staticmethod
    def backward(ctx: Any, *outside: Any) -> tuple[Tensor | None, ...]:
        hidden_TD, weight_VD, bias_V = ctx.saved_tensors
        scale: Tensor = outside[0]
        return hidden_TD * scale, weight_VD * scale, bias_V * scale if ctx.has_bias else None, None, None, None


def _logits(hidden_TD: Tensor, weight_VD: Tensor, bias_V: Tensor | None, memory_TV: Tensor) -> Tensor:
    """Logits, in memory that is there already unless a faster product brings its own."""
    by = taken_by(hidden_TD, weight_VD)
    if by is None and is_quick(hidden_TD, weight_VD):
        return multiply(hidden_TD, weight_VD, bias_V)
    out = memory_TV[: len(hidden_TD)] if len(memory_TV) else hidden_TD.new_empty(len(hidden_TD), len(weight_VD))
    if by is not None:
        return by.forwards(hidden_TD, weight_VD, bias_V, out=out)
    if bias_V is None:
        return torch.mm(hidden_TD, weight_VD.T, out=out)
    return torch.addmm(bias_V, hidden_TD, weight_VD.T, out=out)


def _add_gradients(
    pattern_TV: Tensor,
    label_T1: Tensor,
    smoothing: float,
    inputs: tuple[Tensor, Tensor],
    gradients: tuple[Tensor, Tensor, Tensor],
) -> None:
    """What a chunk adds to the gradients of hidden states, weight and bias; the pattern is used up."""
    hidden_TD, weight_VD = inputs
    to_hidden_TD, to_weight_VD, to_bias_V = gradients
    if smoothing:
        pattern_TV -= smoothing / pattern_TV.shape[1]
    pattern_TV.scatter_add_(1, label_T1, pattern_TV.new_full((), smoothing - 1).expand_as(label_T1))
    by = taken_by(hidden_TD, weight_VD)
    if by is not None:
        by.to_rows(pattern_TV, weight_VD, out=to_hidden_TD)
        by.add_to_weights(pattern_TV, hidden_TD, out=to_weight_VD)
    elif is_quick(hidden_TD, weight_VD):
        to_hidden_TD.copy_(multiply(pattern_TV, weight_VD.T))
        to_weight_VD += turned_product(pattern_TV, hidden_TD)
    else:
        torch.mm(pattern_TV, weight_VD, out=to_hidden_TD)
        to_weight_VD.addmm_(pattern_TV.T, hidden_TD)
    to_bias_V += pattern_TV.sum(0)


def score_regression(
    first_BD: Float[Tensor, "B D"], second_BD: Float[Tensor, "B D"], scores_B: Float[Tensor, " B"]
) -> Float[Tensor, ""]:
    """How far the cosines of pairs are from their scores: the sum of squares (Reimers and Gurevych 2019)."""
    return (functional.cosine_similarity(first_BD, second_BD, dim=-1) - scores_B).square().sum()


def in_batch_contrast(
    first_BD: Float[Tensor, "B D"], second_BD: Float[Tensor, "B D"], *, temperature: float
) -> tuple[Float[Tensor, ""], Int[Tensor, ""]]:
    """The loss of finding each text's partner among the partners of all, both ways, and how many are found.

    Every other pair of the batch serves as a wrong answer (Henderson et al. 2017, section 4.4).
    """
    first_BD, second_BD = functional.normalize(first_BD, dim=-1), functional.normalize(second_BD, dim=-1)
    similarity = first_BD @ second_BD.T / temperature
    labels_B = torch.arange(len(similarity), device=similarity.device)
    there, n_found = cross_entropy(similarity, labels_B)
    back, _ = cross_entropy(similarity.T, labels_B)
    return (there + back) / 2, n_found


def distillation(vectors_BD: Float[Tensor, "B D"], teacher: Tensor) -> Float[Tensor, ""]:
    """How far vectors are from those of a teacher, which may be wider.

        same width      sum 1 - cos(vector, teacher's)
        other widths    sum over texts of the mean, over the batch, of (cos(i, j) - the teacher's cos(i, j))²

    Where vectors cannot be compared, their likenesses to one another can (Park et al. 2019).
    """
    if vectors_BD.shape == teacher.shape:
        return (1 - functional.cosine_similarity(vectors_BD, teacher, dim=-1)).sum()
    ours, theirs = (functional.normalize(each, dim=-1) for each in (vectors_BD, teacher))
    return (ours @ ours.T - theirs @ theirs.T).square().mean(-1).sum()
