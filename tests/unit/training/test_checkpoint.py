import json
from pathlib import Path

import pytest
import torch

from clearhead.errors import ClearheadError, TrainingError
from clearhead.training import Checkpoints, Snapshot
from clearhead.training.checkpoint import AVERAGE, MODEL, OPTIMISER, STATE
from clearhead.training.safe_folder import new_folder, sweep
from clearhead.training.state import Status, Tally, TrainState


def snapshot(step: int, *, average: bool = True) -> Snapshot:
    generator = torch.Generator().manual_seed(step)
    model = {"a.weight": torch.randn(3, 4, generator=generator), "b": torch.randn(2, generator=generator)}
    return Snapshot(
        model=model,
        optimiser={"a.weight:exp_avg": torch.randn(3, 4, generator=generator), "a.weight:step": torch.tensor(5.0)},
        average={name: tensor + 1 for name, tensor in model.items()} if average else {},
        state=TrainState(
            step=step,
            epoch=2,
            batch=3,
            elapsed=1.1 / 3,
            n_steps=None,
            best_step=1,
            best={"loss": 0.1},
            evaluated=[1, 2],
            status=Status.RUNNING,
            tally=Tally(loss_sum=2 / 3, count=4),
        ),
    )


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def checkpoints(tmp_path: Path, said: list[str]) -> Checkpoints:
    return Checkpoints(folder=tmp_path / "checkpoints", say=said.append)


@pytest.mark.parametrize("average", [True, False])
def test_a_checkpoint_comes_back_to_the_bit(checkpoints: Checkpoints, average: bool) -> None:
    written = snapshot(7, average=average)
    checkpoints.save(written)
    found = checkpoints.newest()
    assert found is not None
    assert found.state == written.state
    for ours, theirs in ((found.model, written.model), (found.optimiser, written.optimiser)):
        assert ours.keys() == theirs.keys()
        assert all(torch.equal(ours[name], theirs[name]) for name in theirs)
    kept = checkpoints.weights(7)
    assert kept is not None
    assert torch.equal(kept["b"], (written.average or written.model)["b"])
    assert (AVERAGE in {path.name for path in checkpoints.path(7).iterdir()}) == average


def test_an_empty_optimiser_can_be_saved(checkpoints: Checkpoints) -> None:
    checkpoints.save(Snapshot(model=snapshot(0).model, optimiser={}, average={}, state=TrainState()))
    found = checkpoints.newest()
    assert found is not None and found.optimiser == {}


def test_without_checkpoints_there_is_none(checkpoints: Checkpoints) -> None:
    assert checkpoints.newest() is None


@pytest.mark.parametrize("name", [MODEL, OPTIMISER, AVERAGE, STATE])
@pytest.mark.parametrize("damage", ["a bit", "the end", "all"])
def test_a_damaged_newest_checkpoint_gives_way_to_the_one_before(
    checkpoints: Checkpoints, said: list[str], name: str, damage: str
) -> None:
    for step in (5, 10):
        checkpoints.save(snapshot(step))
    path = checkpoints.path(10) / name
    content = bytearray(path.read_bytes())
    if damage == "all":
        path.unlink()
    elif damage == "the end":
        path.write_bytes(content[:-3])
    else:
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
    found = checkpoints.newest()
    assert found is not None and found.state.step == 5
    assert len(said) == 1 and "step 10 is damaged" in said[0]
    assert checkpoints.steps() == [5]
    assert (checkpoints.folder / "damaged-step-00000010").is_dir()
    checkpoints.save(snapshot(10))
    again = checkpoints.newest()
    assert again is not None and again.state.step == 10


def test_if_all_are_damaged_nothing_is_made_up(checkpoints: Checkpoints) -> None:
    checkpoints.save(snapshot(5))
    (checkpoints.path(5) / STATE).write_text("{}")
    for _ in range(2):  # nor when somebody tries again
        with pytest.raises(TrainingError, match="every checkpoint"):
            checkpoints.newest()


@pytest.mark.parametrize(
    "content", ["", "[]", '{"state": {}}', '{"state": null, "files": null, "digest": null}', '{"files": 3}']
)
def test_a_state_from_strangers_is_refused(checkpoints: Checkpoints, content: str) -> None:
    checkpoints.save(snapshot(5))
    (checkpoints.path(5) / STATE).write_text(content)
    with pytest.raises(ClearheadError):
        checkpoints.load(5)


def test_a_state_cannot_name_a_file_elsewhere(checkpoints: Checkpoints, tmp_path: Path) -> None:
    checkpoints.save(snapshot(5))
    path = checkpoints.path(5) / STATE
    content = json.loads(path.read_text())
    content["files"]["../../outside"] = "0"
    path.write_text(json.dumps(content))
    with pytest.raises(ClearheadError):
        checkpoints.load(5)


def test_the_last_few_and_the_needed_stay(checkpoints: Checkpoints) -> None:
    for step in range(1, 7):
        checkpoints.save(snapshot(step))
    checkpoints.prune(keep_last=2, keep={2})
    assert checkpoints.steps() == [2, 5, 6]
    assert {path.name for path in checkpoints.folder.iterdir()} == {f"step-{step:08d}" for step in (2, 5, 6)}


def test_what_a_killed_process_left_is_swept(checkpoints: Checkpoints) -> None:
    checkpoints.save(snapshot(5))
    leftover = checkpoints.folder / ".step-00000006.0123abcd.tmp"
    leftover.mkdir()
    (leftover / MODEL).write_bytes(b"half")
    assert checkpoints.newest() is not None
    assert not leftover.exists()


def test_a_folder_that_fails_is_never_there(tmp_path: Path) -> None:
    target = tmp_path / "folder"

    def write() -> None:
        with new_folder(target) as fresh:
            (fresh / "file").write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write()
    assert list(tmp_path.iterdir()) == []


def test_a_new_folder_replaces_an_old_one(tmp_path: Path) -> None:
    target = tmp_path / "folder"
    for content in ("old", "new"):
        with new_folder(target) as fresh:
            (fresh / content).write_text(content)
    assert [path.name for path in target.iterdir()] == ["new"]
    sweep(tmp_path / "nowhere")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
