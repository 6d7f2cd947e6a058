"""Muon: steps that turn all directions alike, and AdamW's own for everything that is no inner matrix."""

import os
import signal
from dataclasses import replace
from pathlib import Path

import torch
from torch import nn

from clearhead.config import architecture
from clearhead.data import TokenStore
from clearhead.models import build
from clearhead.training import Trainer
from clearhead.training.muon import _ROUNDS, Muon, orthogonalised
from clearhead.training.optimiser import make_optimiser
from clearhead.training.progress import StepReport
from clearhead.training.settings import OptimiserKind, OptimiserSettings

from .specimen import SETTINGS, SIZE, VOCAB_SIZE, trainer

MUON = replace(SETTINGS, optimiser=OptimiserSettings(kind=OptimiserKind.MUON))


def test_singular_values_come_near_one_and_vectors_stay() -> None:
    generator = torch.Generator().manual_seed(0)
    for shape in ((3, 16, 16), (2, 24, 8), (2, 8, 24), (2, 12, 16)):
        matrices = torch.randn(*shape, generator=generator)
        found = orthogonalised(matrices)
        assert found.shape == matrices.shape
        values = torch.linalg.svdvals(found)
        # The rounds bring singular values into a band around one; the smallest of a square matrix may lie below it.
        assert values.max() < 1.21
        assert values[:, : min(shape[1:]) // 2].min() > 0.79
        left, _, right = torch.linalg.svd(matrices, full_matrices=False)
        middle = left.mT @ found @ right.mT
        off = middle - torch.diag_embed(torch.diagonal(middle, dim1=-2, dim2=-1))
        assert off.abs().max() < 1e-3


def test_wide_matrices_become_what_they_would_round_by_round() -> None:
    generator = torch.Generator().manual_seed(0)
    basis, _ = torch.linalg.qr(torch.randn(3, 32, 12, generator=generator))
    # Singular values from the largest to some that the rounds cannot lift.
    values = torch.logspace(0, -4, 12)
    turned, _ = torch.linalg.qr(torch.randn(3, 12, 12, generator=generator))
    wide = turned @ torch.diag(values) @ basis.mT
    double = wide.double() / torch.linalg.matrix_norm(wide.double())[:, None, None]
    for a, b, c in _ROUNDS:
        square = double @ double.mT
        double = a * double + (b * square + c * square @ square) @ double
    for found, expected in ((orthogonalised(wide), double), (orthogonalised(wide.mT), double.mT)):
        assert (found.double() - expected).abs().max() < 1e-3


def test_what_is_no_inner_matrix_moves_as_adamw_moves_it() -> None:
    torch.manual_seed(0)
    ours, theirs = nn.Parameter(torch.randn(7, 3)), nn.Parameter(torch.empty(7, 3))
    theirs.data.copy_(ours.data)
    group = {"weight_decay": 0.1}
    first = Muon(groups=[{"params": [ours], "orthogonal": False, **group}], lr=0.01, betas=(0.9, 0.98), epsilon=1e-8)
    second = torch.optim.AdamW([{"params": [theirs], **group}], lr=0.01, betas=(0.9, 0.98), eps=1e-8)
    for _ in range(5):
        gradient = torch.randn(7, 3)
        ours.grad, theirs.grad = gradient.clone(), gradient.clone()
        first.step()
        second.step()
        assert torch.allclose(ours, theirs, atol=1e-6)


def test_the_matrices_of_the_stacks_are_turned_and_tables_are_not() -> None:
    network = build(architecture("original", size=SIZE, vocab_size=VOCAB_SIZE), seed=0)
    optimiser = make_optimiser(network, settings=MUON.optimiser, lr=0.1)
    turned = {each for group in optimiser.param_groups if group["orthogonal"] for each in group["params"]}
    names = {name for name, parameter in network.named_parameters() if parameter in turned}
    assert {name.split(".")[-1] for name in names} == {"weight"}
    assert all(".blocks." in name and "norm" not in name for name in names)
    assert network.decoder.embedding.token.weight not in turned
    assert sum(len(group["params"]) for group in optimiser.param_groups) == len(list(network.parameters()))


def test_a_run_in_parts_ends_as_one_in_a_piece(tmp_path: Path, store: TokenStore) -> None:
    finals = []
    for name, stops in (("whole", ()), ("parts", (3, 11))):
        for stop in (*stops, None):
            with trainer(tmp_path / name, store, MUON) as one:
                if stop is not None:
                    _stop_after(one, stop)
                one.run()
        finals.append([parameter.detach().clone() for parameter in one.network.parameters()])
    assert all(torch.equal(a, b) for a, b in zip(*finals, strict=True))


def _stop_after(one: Trainer, step: int) -> None:
    """Ends a run as Ctrl-C would, after a step."""
    update = one.progress.update

    def stopping(report: StepReport) -> None:
        update(report)
        if report.step == step:
            os.kill(os.getpid(), signal.SIGINT)

    one.progress.update = stopping


def test_a_run_ends_once_it_is_good_enough(tmp_path: Path, store: TokenStore) -> None:
    with trainer(tmp_path / "run", store, replace(SETTINGS, stop_at=100.0)) as one:
        outcome = one.run()
    assert outcome.status == "reached"
    assert outcome.step == SETTINGS.evaluate_every
    assert "as good as was asked for" in str(outcome)
