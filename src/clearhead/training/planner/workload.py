"""A job as a planner sees it: what a step computes, without building the model or reading the data."""

from dataclasses import replace

from clearhead.config import SIZES, ModelConfig, architecture
from clearhead.data import Task
from clearhead.errors import ConfigError
from clearhead.models import blank
from clearhead.training.flops import cost_of, muon_flops
from clearhead.training.job import Job
from clearhead.training.planner.plan import Workload
from clearhead.training.settings import AverageKind, OptimiserKind

_ARCHITECTURES = {Task.TRANSLATE: "marian", Task.LANGUAGE_MODEL: "llama"}
_USUAL_LENGTH = 32
"""Tokens of a text where the task reads whole texts and nobody has counted them."""


def workload_of(job: Job) -> Workload:
    """What a job computes a step.

    Raises:
        ConfigError: A job that begins with a model, or whose model is no Transformer: neither is planned yet.
    """
    if job.model.start is not None or str(job.model.architecture).startswith("recurrent"):
        raise ConfigError("a job that cannot be planned", got="a start model, or a recurrent one", expected="a new one")
    network = blank(_config(job))
    n_tokens = job.train.batch.max_tokens * job.train.batch.accumulate
    length = job.train.batch.window if job.task is Task.LANGUAGE_MODEL else _USUAL_LENGTH
    source, target = _sides(job.task, n_tokens)
    stacks = [stack for stack in (network.config.encoder, network.config.decoder) if stack is not None]
    memory = 1.0 if job.train.optimiser.kind is OptimiserKind.MUON else 2.0
    return Workload(
        n_parameters=network.n_parameters,
        n_layers=sum(stack.n_layers for stack in stacks),
        width=network.config.width,
        step_flops=cost_of(network).flops(
            n_source=source, n_target=target, n_rows=max(1, max(source, target) // length)
        ),
        step_tokens=n_tokens,
        batches=job.train.batch.accumulate,
        n_steps=job.train.steps,
        seconds=job.train.time_budget,
        optimiser_numbers=memory + (1.0 if job.train.average.kind is AverageKind.EMA else 0.0),
        optimiser_flops=muon_flops(network) if job.train.optimiser.kind is OptimiserKind.MUON else 0.0,
    )


def _config(job: Job) -> ModelConfig:
    names = ("n_layers", "width", "n_heads", "feedforward_width", "max_length")
    own = {name: value for name in names if (value := getattr(job.model, name)) is not None}
    size = replace(SIZES[job.model.preset], **own)
    name = job.model.architecture or _ARCHITECTURES.get(job.task, "bert")
    return architecture(name, size=size, vocab_size=job.tokenizer.vocab_size)


def _sides(task: Task, n_tokens: int) -> tuple[int, int]:
    """Tokens that an encoder reads and that a decoder reads, of a step."""
    match task:
        case Task.TRANSLATE:
            return n_tokens // 2, n_tokens - n_tokens // 2
        case Task.LANGUAGE_MODEL:
            return 0, n_tokens
        case _:
            return n_tokens, 0
