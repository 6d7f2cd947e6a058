"""What a job works on: its tokenizer, its stores and its batches, made once and found again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clearhead.data import (
    Batches,
    Prepared,
    Recipe,
    Source,
    Task,
    Windows,
    cleaned_records,
    make_tokenizer,
    open_prepared,
    prepare,
    shortfall,
)
from clearhead.data.prepared import FILE_NAME
from clearhead.tasks.loaded import Loaded
from clearhead.text import Tokenizer, has_tokenizer, load_tokenizer
from clearhead.training.feed import Feed, RecordFeed, WindowFeed
from clearhead.training.job import Job
from clearhead.training.world import World

_EVALUATION_TOKENS = 8192


@dataclass(frozen=True, kw_only=True)
class Materials:
    """What a job works on.

    Attributes:
        tokenizer: What reads the data.
        prepared: The stores and the account of them.
        train: The batches to learn from.
        validation: The batches to measure by.
        padding: The share of the first epoch's tokens that is padding.
    """

    tokenizer: Tokenizer
    prepared: Prepared
    train: Feed
    validation: Feed
    padding: float


def make_materials(
    job: Job,
    *,
    sources: Sequence[Source],
    validation: Sequence[Source],
    folder: Path,
    start: Loaded | None,
    say: Callable[[str], None],
    world: World,
) -> Materials:
    """Prepares the data of a job in a folder, or finds it there."""
    recipe = Recipe(task=job.task, max_length=job.data.max_length, rules=job.data.rules, split=job.data.split)
    if not (folder / FILE_NAME).is_file():
        _prepare(job, recipe, sources=sources, validation=validation, folder=folder, start=start, say=say)
    prepared = open_prepared(folder)
    tokenizer = load_tokenizer(folder) if has_tokenizer(folder) else _own(start)
    train, padding = _feed(job, prepared, tokenizer, world)
    return Materials(
        tokenizer=tokenizer,
        prepared=prepared,
        train=train,
        validation=_measured(job, prepared, tokenizer),
        padding=padding,
    )


def _prepare(
    job: Job,
    recipe: Recipe,
    *,
    sources: Sequence[Source],
    validation: Sequence[Source],
    folder: Path,
    start: Loaded | None,
    say: Callable[[str], None],
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    if start is None:
        settings = job.tokenizer
        say("learning the pieces of the vocabulary")
        tokenizer = make_tokenizer(
            cleaned_records(sources, recipe),
            task=job.task,
            kind=settings.kind,
            vocab_size=settings.vocab_size,
            lowercase=settings.lowercase,
            joint=settings.joint,
        )
        fewer = shortfall(tokenizer, settings.vocab_size)
        if fewer:
            say(fewer)
        tokenizer.save(folder)
    else:
        tokenizer = start.tokenizer
    say("reading and encoding the data")
    prepare(
        sources,
        folder=folder,
        tokenizer=tokenizer,
        recipe=recipe,
        validation=validation,
        teacher=_teacher(job),
    )


def _teacher(job: Job) -> Callable[[Sequence[str]], Any] | None:
    if job.teacher is None:
        return None
    from clearhead.tasks import embed  # noqa: PLC0415  (only students need it)

    loaded = Loaded.open(job.teacher)
    loaded.require("embed")

    def vectors(texts: Sequence[str]) -> Any:
        return embed(loaded, texts, truncate=True)

    return vectors


def _own(start: Loaded | None) -> Tokenizer:
    assert start is not None, "a run of its own has its tokenizer beside its data"
    return start.tokenizer


def _feed(job: Job, prepared: Prepared, tokenizer: Tokenizer, world: World) -> tuple[Feed, float]:
    batch = job.train.batch
    if job.task is Task.LANGUAGE_MODEL:
        n_rows = max(1, batch.max_tokens // batch.window)
        windows = Windows(
            store=prepared.train,
            length=batch.window,
            n_rows=n_rows,
            seed=job.train.seed,
            rank=world.rank,
            n_ranks=world.n_ranks,
        )
        return WindowFeed(windows=windows), 0.0
    batches = Batches(
        store=prepared.train,
        max_tokens=batch.max_tokens,
        seed=job.train.seed,
        weights=None if all(weight == 1.0 for weight in prepared.weights) else prepared.weights,
        rank=world.rank,
        n_ranks=world.n_ranks,
    )
    return RecordFeed(batches=batches, pad_ids=_pad_ids(prepared, tokenizer)), batches.padding_share()


def _measured(job: Job, prepared: Prepared, tokenizer: Tokenizer) -> Feed:
    if job.task is Task.LANGUAGE_MODEL:
        length = job.train.batch.window
        n_rows = max(1, _EVALUATION_TOKENS // length)
        return WindowFeed(windows=Windows(store=prepared.validation, length=length, n_rows=n_rows, seed=0))
    batches = Batches(store=prepared.validation, max_tokens=_EVALUATION_TOKENS, seed=0)
    return RecordFeed(batches=batches, pad_ids=_pad_ids(prepared, tokenizer))


def _pad_ids(prepared: Prepared, tokenizer: Tokenizer) -> dict[str, int]:
    pad = tokenizer.special.pad or 0
    return dict.fromkeys(prepared.train.fields, pad)
