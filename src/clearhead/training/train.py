"""The whole way: from files to a finished folder."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from clearhead.config import to_dict
from clearhead.data import Source, Task, fingerprint
from clearhead.errors import TrainingError
from clearhead.models import Network, Recurrent
from clearhead.tasks.loaded import Loaded
from clearhead.tasks.search_index import fingerprint as fingerprint_of
from clearhead.text import Tokenizer
from clearhead.text.files import replacing
from clearhead.training.clock import Clock, CommonClock
from clearhead.training.encoder_objective import ClassifyObjective, MaskedLanguageModelObjective, SimilarityObjective
from clearhead.training.evaluate import LossEvaluation
from clearhead.training.export import export
from clearhead.training.job import Job
from clearhead.training.loop import Trainer
from clearhead.training.materials import Materials, make_materials, require_parts
from clearhead.training.metrics import MetricsLog
from clearhead.training.networks import make_network, require_fit
from clearhead.training.objective import LanguageModelObjective, Objective, TranslateObjective
from clearhead.training.outcome import Outcome
from clearhead.training.progress import Progress
from clearhead.training.read_samples import Sample
from clearhead.training.renewal import renewed
from clearhead.training.run import DATA, RunFolder, open_run
from clearhead.training.world import World
from clearhead.training.written_evaluation import WrittenEvaluation
from clearhead.weights import family_of

Watch = Callable[[Network[Any], Tokenizer, int], None]

SAMPLES = "samples.jsonl"
SUMMARY = "summary.json"
EVALUATION = "evaluation.json"
_SAID = 1
_MOST_SHOWN = 60


@dataclass(frozen=True, kw_only=True)
class Finished:
    """What a training job came to.

    Attributes:
        outcome: How the run ended.
        network: With its best weights, where the run ended.
        materials: What it worked on.
        folder: The folder that opens everywhere; None where the run goes on later, or no layout has a place for it.
    """

    outcome: Outcome
    network: Network[Any]
    materials: Materials
    folder: Path | None


def train(
    job: Job,
    *,
    sources: Sequence[Source],
    validation: Sequence[Source] = (),
    folder: Path,
    progress: Progress | None = None,
    world: World | None = None,
    watch: Watch | None = None,
) -> Finished:
    """Trains a model, or goes on with the run that the folder holds.

    Args:
        job: What, and how.
        sources: Where the data is.
        validation: Files to measure by; a part of the data is held out where there are none.
        folder: Where the run lives, and where the model will be.
        progress: Told how it goes.
        world: Which process this is.
        watch: Called at every evaluation with the network as it is then, its tokenizer and the step.

    Raises:
        ClearheadError: Data that cannot be read, settings that do not fit, a run that was begun with others, a
            training that diverged.
    """
    progress, world = progress or Progress(), world or World()
    clock = Clock() if world.is_alone else CommonClock(world=world)
    data: dict[str, Any] = {
        "train": [fingerprint(each) for each in sources],
        "validation": [fingerprint(each) for each in validation],
    }
    progress.say(_named(sources, validation))
    start = None if job.model.start is None else Loaded.open(job.model.start)
    if start is not None:
        require_fit(job, start)
        data["start"] = fingerprint_of(start)
    with open_run(folder, config=to_dict(job), data=data, say=progress.say, clock=clock, world=world) as run:
        materials = make_materials(
            job,
            sources=sources,
            validation=validation,
            folder=folder / DATA,
            start=start,
            say=progress.say,
            world=world,
        )
        progress.say(_account(materials))
        if start is not None and job.tokenizer.renew:
            start, said = renewed(start, materials.tokenizer, job.task)
            progress.say(said)
        network = _network(job, materials, start, progress)
        require_parts(job, materials, network, world)
        evaluate, trainer = _trainer(job, materials, network, run, progress=progress, world=world, watch=watch)
        outcome = trainer.run()
        found = Finished(outcome=outcome, network=trainer.network, materials=materials, folder=None)
        is_over = outcome.interrupted_by is None
        is_written = is_over and world.on_first(lambda: _write(folder, job, found, evaluate, start))
    return replace(found, folder=folder if is_written else None)


def _write(folder: Path, job: Job, found: Finished, evaluate: WrittenEvaluation, start: Loaded | None) -> bool:
    """Writes what a run came to beside it; whether there is a layout for its network."""
    rows = evaluate.by_length(found.network)
    if rows:
        _keep_json(folder / EVALUATION, {"by_length": [asdict(row) for row in rows]})
    _summarise(folder, job, found.outcome, found.network, found.materials)
    tokenizer = found.materials.tokenizer
    return export(found.network, folder=folder, tokenizer=tokenizer, task=job.task, start=start) is not None


def _network(job: Job, materials: Materials, start: Loaded | None, progress: Progress) -> Network[Any]:
    network = make_network(job, tokenizer=materials.tokenizer, labels=materials.prepared.labels, start=start)
    if start is None and not isinstance(network, Recurrent):
        family_of(network.config)  # what no layout has a place for is told before the work, not after it
    progress.say(f"{network.n_parameters / 1e6:.2f} million parameters")
    return network


def _trainer(
    job: Job,
    materials: Materials,
    network: Network[Any],
    run: RunFolder,
    *,
    progress: Progress,
    world: World,
    watch: Watch | None,
) -> tuple[WrittenEvaluation, Trainer]:
    samples = MetricsLog(path=run.path / SAMPLES)
    trainer: list[Trainer] = []

    def keep(found: list[Sample]) -> None:
        step = trainer[0].state.step
        samples.cut(step - 1)
        for sample in found:
            samples.append({"step": step, **asdict(sample)})
        if watch is not None:
            watch(trainer[0].network, materials.tokenizer, step)
        for sample in found[:_SAID]:
            progress.say(f"  {_shown(sample.source)} → {_shown(sample.output)}")

    loss = LossEvaluation(objective=_objective(job, materials, smoothing=0.0), batches=materials.validation.once)
    evaluate = WrittenEvaluation(
        loss=loss, job=job, prepared=materials.prepared, tokenizer=materials.tokenizer, keep=keep
    )
    trainer.append(
        Trainer(
            network=network,
            objective=_objective(job, materials, smoothing=job.train.label_smoothing),
            feed=materials.train,
            settings=job.train,
            run=run,
            evaluate=evaluate,
            progress=progress,
            world=world,
        )
    )
    return evaluate, trainer[0]


def _named(sources: Sequence[Source], validation: Sequence[Source]) -> str:
    """The files by name: one that is meant to be measured by and is learned from spoils every number after it."""
    learned, measured = (", ".join(source.name for source in some) for some in (sources, validation))
    return f"learning from {learned}\nmeasuring by {measured or 'a part that is held out'}"


def _shown(text: str) -> str:
    """A sample as it fits on a line of a terminal."""
    line = "".join(letter if letter.isprintable() else " " for letter in text)
    return line if len(line) <= _MOST_SHOWN else line[: _MOST_SHOWN - 1] + "…"


def _objective(job: Job, materials: Materials, *, smoothing: float) -> Objective:
    special = materials.tokenizer.special
    match job.task:
        case Task.TRANSLATE:
            assert special.pad is not None
            return TranslateObjective(decoder_start=special.pad, smoothing=smoothing)
        case Task.LANGUAGE_MODEL:
            return LanguageModelObjective(smoothing=smoothing)
        case Task.MASKED_LANGUAGE_MODEL:
            if special.mask is None:
                raise TrainingError("a tokenizer without a mask", expected="a piece such as [MASK]")
            ids = (special.pad, special.unknown, special.start, special.end, special.mask)
            return MaskedLanguageModelObjective(
                mask_id=special.mask,
                vocab_size=materials.tokenizer.vocab_size,
                special_ids=tuple(index for index in ids if index is not None),
                share=job.train.mask_share,
            )
        case Task.CLASSIFY:
            return ClassifyObjective(smoothing=smoothing)
        case Task.SIMILARITY:
            return SimilarityObjective(temperature=job.train.temperature, score_range=_score_range(materials))


def _score_range(materials: Materials) -> tuple[float, float]:
    """The lowest and the highest score of all, so that what is measured is on the scale that is learned."""
    stores = (materials.prepared.train, materials.prepared.validation)
    if not stores[0].has("score") or stores[0].has("teacher"):
        return (0.0, 1.0)
    scores = [store.values("score") for store in stores]
    low, high = min(float(each.min()) for each in scores), max(float(each.max()) for each in scores)
    if low == high:
        raise TrainingError("scores that are all alike", got=low, expected="at least two different scores")
    return low, high


def _account(materials: Materials) -> str:
    prepared = materials.prepared
    measured = prepared.validation_report
    lines = [
        str(prepared.report),
        *([f"of the validation files: {measured.counts}"] if measured.read else []),
        f"{len(prepared.train):,} examples to learn from, {len(prepared.validation):,} to measure by",
        f"{materials.tokenizer.vocab_size:,} pieces; {materials.padding:.1%} of the batches is padding",
    ]
    return "\n".join(lines)


def _summarise(folder: Path, job: Job, outcome: Outcome, network: Network[Any], materials: Materials) -> None:
    """Writes what a report or a model card needs to know."""
    content = {
        "task": str(job.task),
        "status": str(outcome.status),
        "steps": outcome.step,
        "seconds": round(outcome.elapsed, 1),
        "best_step": outcome.best_step,
        "metrics": dict(outcome.metrics),
        "parameters": network.n_parameters,
        "vocabulary": materials.tokenizer.vocab_size,
        "examples": {"train": len(materials.prepared.train), "validation": len(materials.prepared.validation)},
        "padding": materials.padding,
        "cleaning": materials.prepared.report.to_dict(),
    }
    _keep_json(folder / SUMMARY, content)


def _keep_json(path: Path, content: dict[str, Any]) -> None:
    with replacing(path) as stream:
        stream.write(json.dumps(content, ensure_ascii=False, indent=2).encode("utf-8") + b"\n")
