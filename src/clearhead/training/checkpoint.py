"""Checkpoints: a run at one step, in a folder that is whole or is not there.

    checkpoints/step-00000123/
        model.safetensors        the weights
        average.safetensors      their moving average, where there is one
        optimizer.safetensors    what the optimiser remembers
        train_state.json         where the run is, and the digests of the files beside it

Random states need no file: every step seeds its own (see seeds.py).
"""

import hashlib
import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from clearhead.config import from_dict, to_dict
from clearhead.errors import ClearheadError, TrainingError, WeightsError
from clearhead.training.safe_folder import new_folder, sweep
from clearhead.training.state import TrainState
from clearhead.weights.strict_json import as_weights_error, read_object
from clearhead.weights.tensors import read_file, write_file

STATE = "train_state.json"
MODEL = "model.safetensors"
AVERAGE = "average.safetensors"
OPTIMISER = "optimizer.safetensors"
_MAX_STATE_BYTES = 2**20


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """A run at one step.

    Attributes:
        model: The weights.
        optimiser: What the optimiser remembers.
        average: The moving average of the weights; empty where there is none.
        state: Where the run is.
    """

    model: Mapping[str, Tensor]
    optimiser: Mapping[str, Tensor]
    average: Mapping[str, Tensor]
    state: TrainState


class Checkpoints:
    """The checkpoints of a run.

    Args:
        folder: Where they are.
        say: Told what a user should know.
    """

    def __init__(self, *, folder: Path, say: Callable[[str], None] = lambda _: None) -> None:
        self.folder = folder
        self._say = say

    def steps(self) -> list[int]:
        """The steps of which there is a checkpoint, from the first."""
        names = [path.name for path in self.folder.glob("step-*") if path.is_dir()]
        return sorted(int(name[5:]) for name in names if name[5:].isdecimal())

    def path(self, step: int) -> Path:
        """The folder of a step."""
        return self.folder / f"step-{step:08d}"

    def save(self, snapshot: Snapshot) -> None:
        """Writes a checkpoint.

        Raises:
            TrainingError: The disk would not take it; those before are untouched.
        """
        step = snapshot.state.step
        tensors = {MODEL: snapshot.model, OPTIMISER: snapshot.optimiser}
        if snapshot.average:
            tensors[AVERAGE] = snapshot.average
        try:
            with new_folder(self.path(step)) as folder:
                for name, content in tensors.items():
                    write_file(folder / name, content)
                files = {name: _digest(folder / name) for name in tensors}
                state = {"state": to_dict(snapshot.state), "files": files}
                content = {**state, "digest": _digest_of(state)}
                (folder / STATE).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
        except (OSError, WeightsError) as error:
            said = error.got if isinstance(error, WeightsError) else error.strerror or error
            kept = self.steps()
            raise TrainingError(
                f"the checkpoint of step {step} cannot be written",
                got=said,
                expected=f"room for {_megabytes(tensors)} in {self.folder}",
                advice="make room and start the same command again: "
                + (f"the run goes on from step {kept[-1]}" if kept else "the run starts anew"),
            ) from None

    def load(self, step: int) -> Snapshot:
        """The checkpoint of a step.

        Raises:
            ClearheadError: A file is missing or damaged.
        """
        folder = self.path(step)
        state, files = _read_state(folder)
        for name, digest in files.items():
            _check_file(folder / name, digest)
        return Snapshot(
            model=read_file(folder / MODEL),
            optimiser=read_file(folder / OPTIMISER),
            average=read_file(folder / AVERAGE) if AVERAGE in files else {},
            state=state,
        )

    def weights(self, step: int) -> dict[str, Tensor] | None:
        """The weights of a step that would be kept: their average where there is one; None, said, if damaged."""
        folder = self.path(step)
        try:
            _, files = _read_state(folder)
            name = AVERAGE if AVERAGE in files else MODEL
            _check_file(folder / name, files[name])
            return read_file(folder / name)
        except ClearheadError as error:
            self._say(f"the checkpoint of step {step} is damaged ({error.got}); it is left out")
            return None

    def newest(self) -> Snapshot | None:
        """The newest checkpoint that is not damaged; those that are step aside, and that is said.

        Raises:
            TrainingError: There are checkpoints, and all are damaged.
        """
        sweep(self.folder)
        steps = self.steps()
        for step in reversed(steps):
            try:
                return self.load(step)
            except ClearheadError as error:
                aside = self.path(step).with_name(f"damaged-{self.path(step).name}")
                shutil.rmtree(aside, ignore_errors=True)
                self.path(step).rename(aside)
                self._say(f"the checkpoint of step {step} is damaged ({error.got}); it is now {aside.name}")
        damaged = list(self.folder.glob("damaged-step-*"))
        if damaged:
            raise TrainingError(
                "every checkpoint of the run is damaged",
                got=f"{len(damaged)} in {self.folder}",
                advice="another folder for a new run, or a copy of this one from before",
            )
        return None

    def prune(self, *, keep_last: int, keep: set[int]) -> None:
        """Removes all but the last few and those that must stay."""
        steps = self.steps()
        for step in steps[:-keep_last]:
            if step not in keep:
                # Renamed first: a folder half removed must not pass for a damaged checkpoint.
                going = self.path(step).with_name(f".{self.path(step).name}.{0:08x}.tmp")
                shutil.rmtree(going, ignore_errors=True)
                self.path(step).rename(going)
                shutil.rmtree(going, ignore_errors=True)


def _read_state(folder: Path) -> tuple[TrainState, Mapping[str, str]]:
    """Where the run was, and the digests of the files."""
    content = read_object(folder / STATE, limit=_MAX_STATE_BYTES)
    files: Mapping[str, str] = content.get("files", {})
    if content.get("digest") != _digest_of({"state": content.get("state"), "files": files}):
        raise WeightsError("a file that is not what was written", got=folder / STATE)
    return from_dict(TrainState, content["state"]), files


def _check_file(path: Path, digest: str) -> None:
    with as_weights_error():
        if not path.is_file() or _digest(path) != digest:
            raise WeightsError("a file that is not what was written", got=path)


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _digest_of(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode("utf-8")).hexdigest()


def _megabytes(files: Mapping[str, Mapping[str, Tensor]]) -> str:
    n_bytes = sum(tensor.nbytes for tensors in files.values() for tensor in tensors.values())
    return f"{n_bytes / 1e6:.1f} MB"
