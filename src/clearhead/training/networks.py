"""The network that a job trains: new, in the layout that its task is published in, or loaded."""

from dataclasses import replace
from typing import Any

from torch import nn

from clearhead.config import (
    SIZES,
    Activation,
    Cell,
    Family,
    HeadConfig,
    HeadKind,
    ModelConfig,
    RecurrentAttention,
    RecurrentConfig,
    Size,
    TokenIds,
    architecture,
)
from clearhead.data import Task
from clearhead.errors import ConfigError, TrainingError
from clearhead.models import EncoderDecoder, EncoderOnly, Network, Recurrent, build
from clearhead.tasks.loaded import Loaded
from clearhead.text import Tokenizer
from clearhead.training.fine_tune import with_head
from clearhead.training.job import Job, ModelSettings
from clearhead.training.still import keep_still

_PUBLISHED = {Task.TRANSLATE: "marian", Task.LANGUAGE_MODEL: "llama"}
_POOLER = {"distilbert": Activation.RELU}
"""What bends a classifier's hidden layer, where that is not BERT's tanh."""
_RECURRENT = {"recurrent": RecurrentAttention.NONE, "recurrent-attention": RecurrentAttention.ADDITIVE}


def make_network(job: Job, *, tokenizer: Tokenizer, labels: tuple[str, ...], start: Loaded | None) -> Network[Any]:
    """The network of a job with its first weights.

    Args:
        job: The job.
        tokenizer: What reads its data.
        labels: The classes, where it learns to tell them apart.
        start: The model that it begins with, where there is one.

    Raises:
        ConfigError: Sizes that do not fit together.
        TrainingError: A model to start with that cannot learn the task.
    """
    if start is not None:
        require_fit(job, start)
        network = _started(job, start, labels)
    else:
        network = build(_config(job, tokenizer, labels), seed=job.train.seed)
    if job.task is Task.TRANSLATE and (start is None or start.checkpoint.family == _PUBLISHED[Task.TRANSLATE]):
        _keep_padding_zero(network, tokenizer)
    return network


def require_fit(job: Job, start: Loaded) -> None:
    """Refuses a model to start with that cannot learn the task.

    Raises:
        TrainingError: It cannot, and what could.
    """
    network = start.checkpoint.model
    wanted = {Task.TRANSLATE: Family.ENCODER_DECODER, Task.LANGUAGE_MODEL: Family.DECODER_ONLY}.get(
        job.task, Family.ENCODER_ONLY
    )
    if network.config.family is not wanted:
        raise TrainingError(
            f"a model that cannot be trained to {job.task}",
            got=f"{start.name}: {network.config.family}",
            expected=f"an {wanted} model" if wanted is not Family.DECODER_ONLY else f"a {wanted} model",
        )
    positions = network.config.output_stack.position.max_length
    if job.task is Task.LANGUAGE_MODEL and positions is not None and job.train.batch.window > positions:
        raise ConfigError(
            "windows that are longer than the model's context",
            got=f"train.batch.window={job.train.batch.window}",
            expected=f"at most {positions}",
        )


def most_positions(job: Job, start: Loaded | None) -> int:
    """How many tokens a text may have for every stack to have a place for them."""
    if start is None:
        return _size(job).max_length
    config = start.config
    stacks = [stack for stack in (config.encoder, config.decoder) if stack is not None]
    known = [stack.position.max_length for stack in stacks if stack.position.max_length is not None]
    return min(known, default=job.data.max_length)


def _started(job: Job, start: Loaded, labels: tuple[str, ...]) -> Network[Any]:
    network = start.checkpoint.model
    head = _head(job.task, labels, bent_by=_POOLER.get(start.checkpoint.family, Activation.TANH))
    if isinstance(network, EncoderOnly) and head is not None and head != network.config.head:
        return with_head(network, head, seed=job.train.seed)
    return network


def _config(job: Job, tokenizer: Tokenizer, labels: tuple[str, ...]) -> ModelConfig | RecurrentConfig:
    size = _size(job)
    name = job.model.architecture or _PUBLISHED.get(job.task, "bert")
    if name in _RECURRENT:
        return RecurrentConfig(
            vocab_size=tokenizer.vocab_size,
            target_vocab_size=None if tokenizer.target is tokenizer else tokenizer.target.vocab_size,
            width=size.width,
            n_layers=size.n_layers,
            cell=Cell.GRU,
            attention=_RECURRENT[name],
            dropout=size.dropout,
        )
    config = architecture(name, size=size, vocab_size=tokenizer.vocab_size)
    config = replace(config, tokens=token_ids(job.task, tokenizer))
    if job.task is Task.TRANSLATE:
        return _translator(config, job.model, tokenizer)
    head = _head(job.task, labels, bent_by=_POOLER.get(name, Activation.TANH))
    return replace(config, head=head or config.head)


def token_ids(task: Task, tokenizer: Tokenizer) -> TokenIds:
    """The ids that a network knows by their roles, where the tokenizer was made for its task."""
    special = tokenizer.special
    end = () if special.end is None else (special.end,)
    if task is Task.TRANSLATE:
        return TokenIds(pad=special.pad, end=end, decoder_start=special.pad)
    # Texts of a language model follow one another, each with its end: the end of one is the start of the next.
    start = special.end if task is Task.LANGUAGE_MODEL else special.start
    return TokenIds(pad=special.pad, start=start, end=end)


def _translator(config: ModelConfig, model: ModelSettings, tokenizer: Tokenizer) -> ModelConfig:
    decoder = config.decoder
    if config.encoder is None or decoder is None:
        raise ConfigError(
            "an architecture that does not translate", got=model.architecture, expected="original, marian, t5, flan-t5"
        )
    if model.decoder_layers is not None:
        decoder = replace(decoder, n_layers=model.decoder_layers)
    if tokenizer.target is not tokenizer:
        embedding = replace(decoder.embedding, vocab_size=tokenizer.target.vocab_size)
        return replace(config, decoder=replace(decoder, embedding=embedding), share_embeddings=False)
    return replace(config, decoder=decoder, share_embeddings=True)


def _size(job: Job) -> Size:
    names = ("n_layers", "width", "n_heads", "feedforward_width", "max_length")
    own = {name: value for name in names if (value := getattr(job.model, name)) is not None}
    if job.task is Task.LANGUAGE_MODEL:
        # Positions beyond the windows that it reads would never be learned.
        own.setdefault("max_length", job.train.batch.window)
    return replace(SIZES[job.model.preset], **own)


def _head(task: Task, labels: tuple[str, ...], *, bent_by: Activation = Activation.TANH) -> HeadConfig | None:
    """The head of an encoder that learns a task; None where the architecture's own will do."""
    match task:
        case Task.CLASSIFY:
            return HeadConfig(kind=HeadKind.SEQUENCE_CLASSIFICATION, labels=labels, activation=bent_by)
        case Task.SIMILARITY:
            return HeadConfig(kind=HeadKind.SENTENCE)
        case Task.MASKED_LANGUAGE_MODEL:
            return HeadConfig(kind=HeadKind.MASKED_LANGUAGE_MODEL, bias=True)
        case _:
            return None


def _keep_padding_zero(network: Network[Any], tokenizer: Tokenizer) -> None:
    """Keeps the vector of padding at zero, which is how Marian models are published and read elsewhere."""
    pad = tokenizer.special.pad
    if pad is None:
        return
    tables: list[nn.Parameter] = []
    if isinstance(network, Recurrent):
        tables = [network.source_token.weight, network.target_token.weight]
    elif isinstance(network, EncoderDecoder):
        tables = [stack.embedding.token.weight for stack in (network.encoder, network.decoder)]

    keep_still(network, tables, row=pad)
