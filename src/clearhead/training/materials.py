"""What a job works on: its tokenizer, its stores and its batches, made once and found again."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from clearhead.config import SIZES
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
from clearhead.data.encode import Prefix
from clearhead.data.prepared import FILE_NAME
from clearhead.errors import TrainingError
from clearhead.models import Network
from clearhead.tasks.language_pairs import instruction
from clearhead.tasks.loaded import Loaded
from clearhead.text import Tokenizer, load_tokenizer
from clearhead.training.feed import Feed, RecordFeed, WindowFeed
from clearhead.training.job import Job
from clearhead.training.networks import most_positions
from clearhead.training.teacher import Teacher, teacher_of
from clearhead.training.world import World

_EVALUATION_TOKENS = 8192
_SAY_EVERY = 100_000
"""So many examples are encoded before the user hears of it again."""


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
    """Prepares the data of a job in a folder, or finds it there; the first process does, for all."""
    longest = min(job.data.max_length, most_positions(job, start))
    recipe = Recipe(task=job.task, max_length=longest, rules=job.data.rules, split=job.data.split)

    def make() -> None:
        if not (folder / FILE_NAME).is_file():
            _prepare(job, recipe, sources=sources, validation=validation, folder=folder, start=start, say=say)

    world.on_first(make)
    prepared = open_prepared(folder)
    tokenizer = load_tokenizer(folder)
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
    if start is None or job.tokenizer.renew:
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
    else:
        tokenizer = start.tokenizer
    tokenizer.save(folder)  # beside the data that it encoded, a start model's too
    say("reading and encoding the data")
    prepare(
        sources,
        folder=folder,
        tokenizer=tokenizer,
        recipe=recipe,
        validation=validation,
        teacher=_teacher(job, sources, recipe, start),
        prefix=_prefix(job, start),
        progress=_progress(say),
    )


def _progress(say: Callable[[str], None]) -> Callable[[int], None]:
    said = 0

    def tell(n_records: int) -> None:
        nonlocal said
        if n_records - said >= _SAY_EVERY:
            said = n_records
            say(f"{n_records:,} examples encoded")

    return tell


def _prefix(job: Job, start: Loaded | None) -> Prefix | None:
    """What tells the start model its target language, where those are words and not a tag."""
    if job.task is not Task.TRANSLATE or start is None or start.checkpoint.family != "t5" or start.tags:
        return None
    return lambda tag: instruction(start, to=tag, source=None).prefix


def _teacher(job: Job, sources: Sequence[Source], recipe: Recipe, start: Loaded | None) -> Teacher | None:
    if job.teacher is None:
        return None
    width = (job.model.width or SIZES[job.model.preset].width) if start is None else start.config.width

    def texts() -> Iterator[str]:
        """Texts of every source in turns, so that none is forgotten."""
        every = [cleaned_records([source], recipe) for source in sources]
        return (record.source for records in zip_longest(*every) for record in records if record is not None)

    return teacher_of(job.teacher, width=width, texts=texts)


def _feed(job: Job, prepared: Prepared, tokenizer: Tokenizer, world: World) -> tuple[Feed, float]:
    batch = job.train.batch
    if job.task is Task.LANGUAGE_MODEL:
        n_rows = max(1, batch.max_tokens // batch.window)
        windows = Windows(
            store=prepared.train,
            length=batch.window,
            n_rows=n_rows,
            seed=job.train.seed,
            weights=prepared.weights,
        )
        return WindowFeed(windows=windows, world=world), 0.0
    batches = Batches(
        store=prepared.train,
        max_tokens=batch.max_tokens,
        seed=job.train.seed,
        weights=prepared.weights,
    )
    feed = RecordFeed(batches=batches, pad_ids=_pad_ids(prepared, tokenizer), world=world)
    return feed, batches.padding_share()


def _measured(job: Job, prepared: Prepared, tokenizer: Tokenizer) -> Feed:
    if job.task is Task.LANGUAGE_MODEL:
        # What a small text holds out may be shorter than a window; then it is one window.
        length = max(1, min(job.train.batch.window, prepared.validation.n_tokens - 1))
        n_rows = max(1, _EVALUATION_TOKENS // length)
        return WindowFeed(windows=Windows(store=prepared.validation, length=length, n_rows=n_rows, seed=0))
    batches = Batches(store=prepared.validation, max_tokens=_EVALUATION_TOKENS, seed=0)
    return RecordFeed(batches=batches, pad_ids=_pad_ids(prepared, tokenizer))


def require_parts(job: Job, materials: Materials, network: Network[Any], world: World) -> None:
    """Refuses to divide batches whose rows are compared with one another.

    Raises:
        TrainingError: Such a task, and several processes.
    """
    store = materials.prepared.train
    if world.is_alone or job.task is not Task.SIMILARITY:
        return
    has_teacher = store.has("teacher")
    is_by_row = store.values("teacher").shape[1] == network.config.width if has_teacher else store.has("score")
    if not is_by_row:
        raise TrainingError(
            "batches that cannot be divided among processes",
            got="texts that are compared with all others of their batch",
            expected="pairs with scores, or a teacher's vectors that are as wide as the model's",
            advice="the same in one process",
        )


def _pad_ids(prepared: Prepared, tokenizer: Tokenizer) -> dict[str, int]:
    pad = tokenizer.special.pad or 0
    return dict.fromkeys(prepared.train.fields, pad)
