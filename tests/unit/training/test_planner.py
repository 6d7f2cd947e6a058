"""Plans: published runs come out about as they were, and the arithmetic of memory and traffic is what it says."""

from dataclasses import replace

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from clearhead.data import Task
from clearhead.errors import ConfigError
from clearhead.models import build
from clearhead.training.flops import cost_of
from clearhead.training.job import make_job
from clearhead.training.optimiser import make_optimiser
from clearhead.training.planner import DEVICES, Cluster, Way, Workload, parse_cluster, plan, printed, workload_of
from clearhead.training.planner.workload import _config
from clearhead.training.settings import OptimiserKind

GPT2 = (
    "model.architecture=gpt2 model.n_layers=12 model.width=768 model.n_heads=12 model.feedforward_width=3072 "
    "model.max_length=1024 tokenizer.vocab_size=50257 train.batch.max_tokens=12288 train.batch.accumulate=40 "
    "train.batch.window=1024 train.steps=600000 train.optimiser.kind=adamw"
)
ORIGINAL = (
    "model.preset=original-base model.architecture=original tokenizer.vocab_size=37000 "
    "train.batch.max_tokens=50000 train.steps=100000 train.optimiser.kind=adamw"
)
PUBLISHED = {
    "nanoGPT, 124 million on 8 A100": (Task.LANGUAGE_MODEL, GPT2, "8xA100", 4 * 86_400),
    "the original Transformer, base, on 8 P100": (Task.TRANSLATE, ORIGINAL, "8xP100", 12 * 3600),
}


def work_of(task: Task, text: str) -> Workload:
    return workload_of(make_job(task, overrides=text.split()))


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_run_is_planned_within_a_fifth_of_its_time(name: str) -> None:
    task, text, cluster, seconds = PUBLISHED[name]
    for found in plan(work_of(task, text), parse_cluster(cluster)):
        assert found.seconds == pytest.approx(seconds, rel=0.2)
        assert found.limit == "products"


def test_published_sizes() -> None:
    assert work_of(Task.LANGUAGE_MODEL, GPT2).n_parameters == pytest.approx(124e6, rel=0.01)
    assert work_of(Task.TRANSLATE, ORIGINAL).n_parameters == pytest.approx(65e6, rel=0.05)


@pytest.mark.parametrize("task", list(Task))
def test_a_step_costs_what_the_built_network_says(task: Task) -> None:
    job = make_job(task, preset="tiny", overrides=["train.steps=5", "train.batch.accumulate=3"])
    work = workload_of(job)
    network = build(_config(job), seed=0)
    assert work.n_parameters == network.n_parameters
    assert work.step_tokens == 3 * job.train.batch.max_tokens
    one = cost_of(network)
    assert 0 < work.step_flops <= 6.5 * work.step_tokens * (one.source_numbers + one.target_numbers)


def test_what_muon_multiplies_is_planned_as_it_is_counted() -> None:
    job = make_job(Task.LANGUAGE_MODEL, preset="tiny", overrides=["train.steps=5"])
    assert job.train.optimiser.kind is OptimiserKind.MUON
    network = build(_config(job), seed=0)
    optimiser = make_optimiser(network, settings=job.train.optimiser, lr=0.1)
    for parameter in network.parameters():
        parameter.grad = torch.randn_like(parameter)
    with FlopCounterMode(display=False) as counted:
        optimiser.step()
    assert counted.get_total_flops() == workload_of(job).optimiser_flops
    # Every device repeats it: twice as many are not twice as fast.
    work = workload_of(job)
    one, two = (plan(work, Cluster(device=DEVICES["a100"], n_devices=n))[0].compute_seconds for n in (1, 2))
    assert one / 2 < two < one


def test_what_is_sent_and_held() -> None:
    work = Workload(n_parameters=10**9, n_layers=10, width=1, step_flops=1e15, step_tokens=8, n_steps=1)
    ddp, fsdp = plan(work, Cluster(device=DEVICES["a100"], n_devices=8))
    assert ddp.traffic == pytest.approx(2 * 7 / 8 * 4e9)
    assert fsdp.traffic == pytest.approx(7 / 8 * (2 * 2e9 + 4e9))
    assert ddp.memory == pytest.approx(18e9, rel=1e-3)
    assert fsdp.memory == pytest.approx(18e9 / 8 + 2 * 4e8, rel=1e-3)
    assert (ddp.way, fsdp.way) == (Way.DDP, Way.FSDP)


def test_each_limit_binds_somewhere() -> None:
    work = Workload(n_parameters=10**8, n_layers=10, width=100, step_flops=1e15, step_tokens=80_000, n_steps=100)
    cluster = Cluster(device=DEVICES["a100"], n_devices=16)
    assert plan(work, cluster)[0].limit == "products"
    assert plan(replace(work, step_flops=1e9), cluster)[0].limit == "links"
    big = replace(work, n_parameters=7 * 10**9, step_flops=1e17)
    ddp, fsdp = plan(big, cluster)
    assert (ddp.limit, fsdp.limit) == ("memory", "products")


def test_a_time_gives_steps() -> None:
    work = Workload(
        n_parameters=10**6, n_layers=1, width=1, step_flops=0.3 * 312e12, step_tokens=10, n_steps=None, seconds=60.0
    )
    (found,) = plan(work, Cluster(device=DEVICES["a100"], n_devices=1))
    assert found.n_steps == 60
    assert found.seconds == pytest.approx(60)
    assert found.cost == pytest.approx(2.0 / 60)


def test_this_computer_is_shared_by_its_processes() -> None:
    one, two = parse_cluster("cpu"), parse_cluster("2xcpu")
    assert two.n_devices == 2
    assert two.device.flops == pytest.approx(one.device.flops / 2)
    assert two.device.memory == pytest.approx(one.device.memory / 2)


@pytest.mark.parametrize("text", ["", "0xA100", "x", "9999999xA100", "8xB999", "A100x8x8", "-1xcpu"])
def test_clusters_that_make_no_sense(text: str) -> None:
    with pytest.raises(ConfigError):
        parse_cluster(text)


def test_what_cannot_be_planned_says_so() -> None:
    with pytest.raises(ConfigError, match="cannot be planned"):
        work_of(Task.TRANSLATE, "model.architecture=recurrent train.steps=1")


def test_the_table_names_its_limit() -> None:
    work = work_of(Task.LANGUAGE_MODEL, GPT2)
    cluster = parse_cluster("8xA100", price=1.0)
    text = printed(work, cluster, plan(work, cluster))
    assert "124 M parameters" in text
    assert "DDP" in text and "FSDP" in text
    assert "products: more devices" in text
    assert f"${plan(work, cluster)[0].cost:,.0f}" in text
