"""Tensors go into files and come back, as the format's own library does it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from clearhead.errors import MissingTensor, UnsafeFile, WeightsError
from clearhead.weights import progress, tensors
from clearhead.weights.shards import INDEX, SINGLE
from clearhead.weights.tensors import read_tensors, write_tensors

EVERY_TYPE = {
    "float32": torch.randn(3, 4, generator=torch.Generator().manual_seed(0)),
    "float16": torch.tensor([1.5, -2.0, float("inf")], dtype=torch.float16),
    "bfloat16": torch.arange(9.0, dtype=torch.bfloat16).view(3, 3),
    "float64": torch.tensor([1 / 3, 1e-3], dtype=torch.float64),
    "int64": torch.tensor([2**62, -1]),
    "int32": torch.tensor([[-7]], dtype=torch.int32),
    "int16": torch.tensor([-7, 7], dtype=torch.int16),
    "int8": torch.tensor([-7, 7], dtype=torch.int8),
    "uint8": torch.tensor([255], dtype=torch.uint8),
    "uint16": torch.tensor([65535], dtype=torch.uint16),
    "uint32": torch.tensor([2**31 - 1], dtype=torch.uint32),
    "uint64": torch.tensor([2**62], dtype=torch.uint64),
    "bool": torch.tensor([True, False, True]),
    "scalar": torch.tensor(3.0),
    "empty": torch.empty(0, 5),
    "ünïcödé 😀": torch.ones(2),
}


def as_read(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.float() if tensor.is_floating_point() else tensor


def same(found: dict[str, torch.Tensor], expected: dict[str, torch.Tensor]) -> bool:
    return found.keys() == expected.keys() and all(
        found[name].dtype == tensor.dtype and torch.equal(found[name], tensor) for name, tensor in expected.items()
    )


def test_what_the_library_wrote_is_read(tmp_path: Path) -> None:
    save_file(EVERY_TYPE, tmp_path / SINGLE, metadata={"format": "pt"})
    assert same(read_tensors(tmp_path), {name: as_read(tensor) for name, tensor in EVERY_TYPE.items()})


def test_what_is_written_the_library_reads(tmp_path: Path) -> None:
    assert write_tensors(tmp_path, EVERY_TYPE, metadata={"made": "here"}) == [tmp_path / SINGLE]
    assert same(load_file(tmp_path / SINGLE), EVERY_TYPE)
    with safe_open(tmp_path / SINGLE, "pt") as file:
        assert file.metadata() == {"format": "pt", "made": "here"}
    assert [path.name for path in tmp_path.iterdir()] == [SINGLE]


def test_the_same_tensors_give_the_same_file(tmp_path: Path) -> None:
    write_tensors(tmp_path / "a", EVERY_TYPE)
    write_tensors(tmp_path / "b", dict(reversed(EVERY_TYPE.items())))
    assert (tmp_path / "a" / SINGLE).read_bytes() == (tmp_path / "b" / SINGLE).read_bytes()


def test_tensors_are_read_in_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tensors, "_CHUNK_BYTES", 16)
    write_tensors(tmp_path, EVERY_TYPE)
    assert same(read_tensors(tmp_path), {name: as_read(tensor) for name, tensor in EVERY_TYPE.items()})


def test_what_is_read_is_not_a_view_of_the_file(tmp_path: Path) -> None:
    write_tensors(tmp_path, {"a": torch.ones(1000)})
    found = read_tensors(tmp_path)["a"]
    (tmp_path / SINGLE).write_bytes(b"")
    assert torch.equal(found, torch.ones(1000))


def test_any_byte_that_is_not_zero_is_true(tmp_path: Path) -> None:
    write_tensors(tmp_path, {"a": torch.tensor([True, False, True])})
    content = (tmp_path / SINGLE).read_bytes()
    (tmp_path / SINGLE).write_bytes(content[:-3] + b"\x02\x00\xff")
    assert torch.equal(read_tensors(tmp_path)["a"].to(torch.uint8), torch.tensor([1, 0, 1], dtype=torch.uint8))


def test_strided_tensors_are_written_in_order(tmp_path: Path) -> None:
    base = torch.arange(12.0).view(3, 4)
    write_tensors(tmp_path, {"turned": base.T, "slice": base[:, 1:3]})
    assert same(read_tensors(tmp_path), {"turned": base.T.contiguous(), "slice": base[:, 1:3].contiguous()})


def test_a_shared_tensor_is_written_once_under_its_first_name(tmp_path: Path) -> None:
    embedding = torch.nn.Parameter(torch.randn(4, 4))
    write_tensors(tmp_path, {"z.embedding": embedding, "head": embedding, "other": embedding.detach().T})
    assert set(read_tensors(tmp_path)) == {"z.embedding", "other"}


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_real_numbers_are_narrowed_on_request(tmp_path: Path, dtype: torch.dtype) -> None:
    write_tensors(tmp_path, {"real": torch.tensor([1 / 3, 2.0]), "whole": torch.tensor([7])}, dtype=dtype)
    assert same(
        load_file(tmp_path / SINGLE), {"real": torch.tensor([1 / 3, 2.0]).to(dtype), "whole": torch.tensor([7])}
    )


def test_no_number_becomes_infinite_unnoticed(tmp_path: Path) -> None:
    write_tensors(tmp_path, {"a": torch.ones(1)})
    with pytest.raises(WeightsError, match="'big' holds numbers that are too large") as caught:
        write_tensors(tmp_path, {"big": torch.tensor([1.0, 1e5])}, dtype=torch.float16)
    assert "bfloat16" in str(caught.value)
    assert same(read_tensors(tmp_path), {"a": torch.ones(1)})
    write_tensors(tmp_path, {"big": torch.tensor([float("-inf"), 1.0])}, dtype=torch.float16)


def test_a_type_that_no_file_can_hold(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="'a' has a type that no file can hold"):
        write_tensors(tmp_path, {"a": torch.ones(1, dtype=torch.complex64)})
    assert list(tmp_path.iterdir()) == []


def test_shards_and_their_index(tmp_path: Path) -> None:
    given = {f"w{number}": torch.full((10,), float(number)) for number in range(5)}
    files = write_tensors(tmp_path, given, max_shard_bytes=80)
    assert [path.name for path in files] == [f"model-0000{n}-of-00003.safetensors" for n in (1, 2, 3)]
    assert same(read_tensors(tmp_path), given)
    index = json.loads((tmp_path / INDEX).read_text())
    assert index["metadata"] == {"total_size": 200}
    for name, file in index["weight_map"].items():
        assert name in load_file(tmp_path / file)


def test_a_tensor_larger_than_a_shard_has_one_to_itself(tmp_path: Path) -> None:
    given = {"small": torch.ones(1), "large": torch.ones(100), "last": torch.ones(1)}
    assert len(write_tensors(tmp_path, given, max_shard_bytes=10)) == 3
    assert same(read_tensors(tmp_path), given)


@pytest.mark.parametrize(("before", "after"), [(40, 10**9), (10**9, 40), (40, 120)])
def test_a_later_save_replaces_an_earlier_one_wholly(tmp_path: Path, before: int, after: int) -> None:
    write_tensors(tmp_path, {f"old{n}": torch.zeros(10) for n in range(6)}, max_shard_bytes=before)
    given = {f"new{n}": torch.ones(10) for n in range(6)}
    files = write_tensors(tmp_path, given, max_shard_bytes=after)
    assert same(read_tensors(tmp_path), given)
    assert {*tmp_path.iterdir()} == {*files} | ({tmp_path / INDEX} if len(files) > 1 else set())


@pytest.mark.parametrize("limit", [10**9, 4000])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_save_that_fails_leaves_the_old_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int, error: BaseException
) -> None:
    old = {f"w{n}": torch.full((1000,), float(n)) for n in range(3)}
    write_tensors(tmp_path, old, max_shard_bytes=limit)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    n_syncs = len(before)

    def full(handle: int) -> None:
        nonlocal n_syncs
        n_syncs -= 1
        if n_syncs == 0:
            raise error

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises((WeightsError, KeyboardInterrupt)) as caught:
        write_tensors(tmp_path, {name: tensor + 1 for name, tensor in old.items()}, max_shard_bytes=limit)
    assert isinstance(error, KeyboardInterrupt) or "No space left on device" in str(caught.value)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_disk_that_really_refuses(tmp_path: Path) -> None:
    write_tensors(tmp_path, {"a": torch.ones(10)})
    code = (
        "import resource, signal, sys, torch\n"
        "from pathlib import Path\n"
        "from clearhead.errors import WeightsError\n"
        "from clearhead.weights.tensors import write_tensors\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "try:\n"
        "    write_tensors(Path(sys.argv[1]), {'a': torch.ones(10**6)})\n"
        "except WeightsError as error:\n"
        "    print(error)\n"
    )
    run = subprocess.run([sys.executable, "-c", code, tmp_path], capture_output=True, text=True, check=True)
    assert "a file that cannot be written" in run.stdout
    assert [path.name for path in tmp_path.iterdir()] == [SINGLE]
    assert same(read_tensors(tmp_path), {"a": torch.ones(10)})


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(WeightsError, match="cannot be written"):
        write_tensors(tmp_path / "taken", {"a": torch.ones(1)})


def test_progress_is_told_of_every_byte(tmp_path: Path) -> None:
    write_tensors(tmp_path, {"a": torch.ones(10), "b": torch.ones(30)}, max_shard_bytes=40)
    told: list[tuple[int, int]] = []
    read_tensors(tmp_path, progress=lambda done, total: told.append((done, total)))
    assert told == [(40, 160), (160, 160)]


def test_a_bar_is_drawn_on_a_terminal_for_what_takes_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_tensors(tmp_path, {"a": torch.ones(10)})
    monkeypatch.setattr(progress, "LEAST_BYTES", 1)
    read_tensors(tmp_path)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    read_tensors(tmp_path)
    out, err = capsys.readouterr()
    assert f"reading {tmp_path.name}" in err
    assert out == ""


def test_an_interrupt_while_reading_is_an_interrupt(tmp_path: Path) -> None:
    write_tensors(tmp_path, {"a": torch.ones(10)})

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read_tensors(tmp_path, progress=interrupt)


def test_a_file_that_shrinks_while_it_is_read(tmp_path: Path) -> None:
    write_tensors(tmp_path, {"a": torch.ones(10_000), "b": torch.ones(10_000)})

    def cut(done: int, total: int) -> None:
        os.truncate(tmp_path / SINGLE, 100)

    with pytest.raises(WeightsError, match="shrank while it was read"):
        read_tensors(tmp_path, progress=cut)


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.pt", "model.ckpt", "tf_model.h5", "flax_model.msgpack"])
def test_a_folder_with_nothing_but_pickles(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"\x80\x04.")
    (tmp_path / "config.json").write_text('{"architectures": ["GPT2LMHeadModel"]}')
    with pytest.raises(UnsafeFile) as caught:
        read_tensors(tmp_path)
    message = str(caught.value)
    assert name in message
    assert f"t.GPT2LMHeadModel.from_pretrained('{tmp_path}').save_pretrained('converted')" in message


def test_the_way_to_convert_carries_no_command_of_a_stranger(tmp_path: Path) -> None:
    folder = tmp_path / "a';import os#$(x)"
    folder.mkdir()
    (folder / "pytorch_model.bin").write_bytes(b"")
    (folder / "config.json").write_text('{"architectures": ["X; import os"]}')
    with pytest.raises(UnsafeFile, match=r"t\.AutoModel\.from_pretrained\('FOLDER'\)"):
        read_tensors(folder)


def test_safetensors_beside_pickles_are_read(tmp_path: Path) -> None:
    write_tensors(tmp_path, {"a": torch.ones(1)})
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80\x04.")
    assert set(read_tensors(tmp_path)) == {"a"}


def test_folders_that_are_no_model(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="does not exist"):
        read_tensors(tmp_path / "missing")
    with pytest.raises(WeightsError, match="nothing"):
        read_tensors(tmp_path)
    (tmp_path / "model.gguf").write_bytes(b"")
    with pytest.raises(WeightsError, match=r"model\.gguf"):
        read_tensors(tmp_path)
    with pytest.raises(WeightsError, match="a file where a model's folder is needed"):
        read_tensors(tmp_path / "model.gguf")


def test_a_shard_that_lacks_a_tensor_is_a_missing_tensor(tmp_path: Path) -> None:
    save_file({"a": torch.ones(1)}, tmp_path / "model-1.safetensors")
    index = {"weight_map": {"a": "model-1.safetensors", "b": "model-1.safetensors"}}
    (tmp_path / INDEX).write_text(json.dumps(index))
    with pytest.raises(MissingTensor, match="has no 'b'"):
        read_tensors(tmp_path)
