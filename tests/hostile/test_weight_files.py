"""Weight files that are broken, or made to break their reader."""

import json
import os
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
import torch

from clearhead.errors import UnsafeFile, WeightsError
from clearhead.weights.header import MAX_HEADER_BYTES
from clearhead.weights.shards import INDEX, SINGLE
from clearhead.weights.tensors import read_tensors, write_tensors

MOST_SECONDS = 20
DATA = bytes(24)
SOUND = {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}


def weight_file(header: object, data: bytes = DATA, *, length: int | None = None) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return (len(text) if length is None else length).to_bytes(8, "little") + text + data


def entry(**changes: object) -> bytes:
    return weight_file({"weight": {**SOUND, **changes}})


def refusal(folder: Path, content: bytes, kind: type[WeightsError] = WeightsError) -> str:
    """The message with which a file is refused; it names the file."""
    (folder / SINGLE).write_bytes(content)
    with pytest.raises(kind) as caught:
        read_tensors(folder)
    assert str(folder / SINGLE) in str(caught.value)
    assert len(str(caught.value)) < 2000
    return str(caught.value)


def test_the_pattern_of_these_files_is_sound(tmp_path: Path) -> None:
    (tmp_path / SINGLE).write_bytes(weight_file({"weight": SOUND, "__metadata__": {"format": "pt"}}))
    assert torch.equal(read_tensors(tmp_path)["weight"], torch.zeros(2, 3))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\x00" * 7, "7 bytes long"),
        (b"\x00" * 8, "cannot be read"),
        (b"\xff" * 8, "claims a header of 18446744073709551615 bytes"),
        (weight_file({"weight": SOUND}, length=2**40), f"claims a header of {2**40} bytes"),
        (weight_file({"weight": SOUND}, b"", length=1000), "claims a header"),
        (weight_file({"weight": SOUND}, length=5), "cannot be read"),
        (weight_file({"weight": SOUND}, length=0), "cannot be read"),
        (weight_file(b"not json"), "cannot be read"),
        (weight_file(b"\xff\xfe{}"), "cannot be read"),
        (weight_file("{}".encode("utf-16")), "cannot be read"),
        (weight_file([SOUND]), "a list"),
        (weight_file(b"7"), "a int"),
        (weight_file(b'"text"'), "a str"),
        (weight_file(b'{"a": "unclosed'), "cannot be read"),
        (weight_file(b"[" * 100_000), "brackets that do not close"),
        (weight_file(b"[" * 1000 + b"]" * 1000), "at most 16 deep"),
        (weight_file(b'{"a":' * 100_000 + b"1" + b"}" * 100_000), "at most 16 deep"),
        (weight_file(b'{"a": NaN}'), "NaN, which is not JSON"),
        (weight_file(b'{"a": -Infinity}'), "-Infinity, which is not JSON"),
        (weight_file(b'{"a": ' + b"9" * 5000 + b"}"), "cannot be read"),
        (weight_file(b"version https://git-lfs.github.com/spec/v1\noid sha256:00"), "cannot be read"),
    ],
)
def test_a_header_that_is_none(tmp_path: Path, content: bytes, message: str) -> None:
    assert message in refusal(tmp_path, content)


def test_a_pointer_that_stands_for_the_weights(tmp_path: Path) -> None:
    assert "git lfs pull" in refusal(tmp_path, b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n")


def test_a_key_that_comes_twice(tmp_path: Path) -> None:
    one = json.dumps(SOUND).encode()
    assert "the key 'weight' twice" in refusal(
        tmp_path, weight_file(b'{"weight": ' + one + b', "weight": ' + one + b"}")
    )
    twice = b'{"weight": {"dtype": "F32", "dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}}'
    assert "the key 'dtype' twice" in refusal(tmp_path, weight_file(twice))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (entry(shape=[-2, -3]), "the shape [-2, -3]"),
        (entry(shape=[2.0, 3]), "the shape [2.0, 3]"),
        (entry(shape=[True, 3]), "the shape [True, 3]"),
        (entry(shape="23"), "the shape 23"),
        (entry(shape=None), "the shape None"),
        (entry(shape=[[2], [3]]), "the shape [[2], [3]]"),
        (entry(shape=[1] * 17), "at most 16 whole numbers"),
        (entry(shape=[2**62, 4]), "the shape"),
        (entry(shape=[2**63]), "the shape"),
        (entry(shape=[2**40, 0, 2**40], data_offsets=[0, 0]), "the shape"),
        (entry(shape=[2**33, 2**31]), "the shape"),
        (entry(shape=[10**12]), "4000000000000 bytes for F32"),
        (entry(shape=[2, 2]), "expected: 16 bytes"),
        (entry(dtype="F99"), "'F99'"),
        (entry(dtype="F8_E4M3"), "a revision of the model that is not quantised"),
        (entry(dtype="f32"), "'f32'"),
        (entry(dtype=32), "'32'"),
        (entry(dtype=["F32"]), "element type"),
        (entry(data_offsets=[24, 0]), "the offsets [24, 0]"),
        (entry(data_offsets=[-24, 0]), "the offsets [-24, 0]"),
        (entry(data_offsets=[0, 24, 24]), "the offsets"),
        (entry(data_offsets=[0]), "the offsets"),
        (entry(data_offsets=[0, 2**70]), "the offsets"),
        (entry(data_offsets=[0, 2**60]), "of a file of"),
        (entry(data_offsets=[24, 48]), "an end inside the file"),
        (entry(data_offsets=[0, 23]), "23 bytes"),
        (weight_file({"weight": SOUND}, bytes(23)), "an end inside the file"),
        (weight_file({"weight": SOUND}, bytes(25)), "1 bytes after its last tensor"),
        (weight_file({}), "24 bytes after its last tensor"),
        (weight_file({"weight": {"dtype": "F32"}}), "no data_offsets and no shape"),
        (weight_file({"weight": 7}), "no data_offsets"),
        (weight_file({"weight": SOUND, "__metadata__": {"format": 1}}), "values that are not text"),
        (weight_file({"weight": SOUND, "__metadata__": 3}), "values that are not text"),
    ],
)
def test_a_claim_that_cannot_be_true(tmp_path: Path, content: bytes, message: str) -> None:
    said = refusal(tmp_path, content)
    assert message in said
    assert "__metadata__" in said or "'weight'" in said or "after its last tensor" in said


@pytest.mark.parametrize(
    ("second", "message"),
    [([0, 24], "another tensor too"), ([12, 36], "another tensor too"), ([36, 60], "belong to no tensor")],
)
def test_tensors_that_overlap_or_leave_a_gap(tmp_path: Path, second: list[int], message: str) -> None:
    header = {"one": SOUND, "two": {**SOUND, "data_offsets": second}}
    assert message in refusal(tmp_path, weight_file(header, bytes(max(second))))


def test_a_file_cut_anywhere(tmp_path: Path) -> None:
    sound = weight_file({"weight": SOUND})
    for end in range(len(sound)):
        refusal(tmp_path, sound[:end])


def test_the_largest_headers_cost_little(tmp_path: Path) -> None:
    """What is spaces, brackets or strings in a hundred megabytes is refused before it becomes values."""
    n = MAX_HEADER_BYTES // 3
    bombs = {
        "spaces": b" " * MAX_HEADER_BYTES,
        "lists": b'{"a":[' + b"[]," * ((n - 20) // 3) + b"[]]}",
        "quotes": b'{"' + b'\\"' * ((n - 20) // 2),
    }
    for bomb in bombs.values():
        tracemalloc.start()
        start = time.perf_counter()
        refusal(tmp_path, weight_file(bomb, b""))
        seconds, (_, peak) = time.perf_counter() - start, tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert seconds < MOST_SECONDS
        assert peak < 5 * len(bomb)
    (tmp_path / SINGLE).unlink()


def test_a_header_that_is_too_long(tmp_path: Path) -> None:
    path = tmp_path / SINGLE
    path.write_bytes((MAX_HEADER_BYTES + 1).to_bytes(8, "little"))
    os.truncate(path, 2 * MAX_HEADER_BYTES)
    with pytest.raises(WeightsError, match=f"at most {MAX_HEADER_BYTES}"):
        read_tensors(tmp_path)


def test_terabytes_are_claimed_and_not_allocated(tmp_path: Path) -> None:
    """A file of many holes may be as long as it claims; its header is what must not be believed."""
    path = tmp_path / SINGLE
    path.write_bytes(weight_file({"weight": {**SOUND, "shape": [2**40], "data_offsets": [0, 2**42]}}))
    with pytest.raises(WeightsError, match="an end inside the file"):
        read_tensors(tmp_path)


def test_many_tensors_are_sound(tmp_path: Path) -> None:
    n = 5000
    header = {f"weight.{i}": {"dtype": "U8", "shape": [1], "data_offsets": [i, i + 1]} for i in range(n)}
    (tmp_path / SINGLE).write_bytes(weight_file(header, bytes(n)))
    assert len(read_tensors(tmp_path)) == n


def test_names_that_a_terminal_would_obey_are_written_out(tmp_path: Path) -> None:
    message = refusal(tmp_path, weight_file({"\x1b[2J\ud800": {**SOUND, "dtype": "X"}}))
    assert "\x1b" not in message
    message.encode("utf-8")


def test_no_regular_file(tmp_path: Path) -> None:
    path = tmp_path / SINGLE
    path.mkdir()
    with pytest.raises(WeightsError, match="is a folder"):
        read_tensors(tmp_path)
    path.rmdir()
    os.mkfifo(path)
    with pytest.raises(WeightsError, match="not a file"):
        read_tensors(tmp_path)
    path.unlink()
    path.symlink_to("/dev/zero")
    with pytest.raises(WeightsError, match="not a file"):
        read_tensors(tmp_path)
    path.unlink()
    path.symlink_to(path)
    with pytest.raises(WeightsError, match=SINGLE):
        read_tensors(tmp_path)
    path.unlink()
    path.symlink_to(tmp_path / "nowhere")
    with pytest.raises(WeightsError, match="does not exist"):
        read_tensors(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    write_tensors(tmp_path, {"a": torch.ones(1)})
    (tmp_path / SINGLE).chmod(0)
    with pytest.raises(WeightsError, match="Permission denied"):
        read_tensors(tmp_path)


SHARD = "model-00001-of-00001.safetensors"


def index_refusal(folder: Path, index: Any, kind: type[WeightsError] = WeightsError) -> str:
    (folder / INDEX).write_bytes(index if isinstance(index, bytes) else json.dumps(index).encode())
    with pytest.raises(kind) as caught:
        read_tensors(folder)
    assert str(folder) in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    "name",
    [
        "../secret.safetensors",
        "..",
        ".",
        "",
        "/etc/passwd",
        "/etc/x.safetensors",
        "folder/x.safetensors",
        "folder\\x.safetensors",
        "C:x.safetensors",
        "x.safetensors\x00.bin",
        "x\n.safetensors",
        "pytorch_model.bin",
        INDEX,
        "https://example.org/x.safetensors",
        7,
        None,
        ["x.safetensors"],
    ],
)
def test_an_index_that_leads_elsewhere(tmp_path: Path, name: object) -> None:
    (tmp_path.parent / "secret.safetensors").write_bytes(weight_file({"weight": SOUND}))
    assert "plain names" in index_refusal(tmp_path, {"weight_map": {"weight": name}}, UnsafeFile)


@pytest.mark.parametrize(
    "index",
    [
        b"",
        b"[]",
        b"{",
        b"[" * 100_000,
        {},
        {"weight_map": {}},
        {"weight_map": [SHARD]},
        {"weight_map": None},
        b'{"weight_map": {"a": "x.safetensors", "a": "y.safetensors"}}',
        b'{"weight_map": {"a": NaN}}',
    ],
)
def test_an_index_that_is_none(tmp_path: Path, index: object) -> None:
    assert INDEX in index_refusal(tmp_path, index)


def test_a_shard_that_is_not_there(tmp_path: Path) -> None:
    assert SHARD in index_refusal(tmp_path, {"weight_map": {"weight": SHARD}})


def test_a_shard_that_is_damaged(tmp_path: Path) -> None:
    (tmp_path / SHARD).write_bytes(weight_file({"weight": SOUND})[:-1])
    assert SHARD in index_refusal(tmp_path, {"weight_map": {"weight": SHARD}})


def test_a_tensor_in_two_shards(tmp_path: Path) -> None:
    for name in ("a.safetensors", "b.safetensors"):
        (tmp_path / name).write_bytes(
            weight_file({"weight": SOUND, name: {**SOUND, "data_offsets": [24, 48]}}, bytes(48))
        )
    index = {"weight_map": {"weight": "a.safetensors", "b.safetensors": "b.safetensors"}}
    assert "both hold 'weight'" in index_refusal(tmp_path, index)


def test_a_tensor_in_another_shard_than_the_index_says(tmp_path: Path) -> None:
    (tmp_path / "a.safetensors").write_bytes(weight_file({"one": SOUND}))
    (tmp_path / "b.safetensors").write_bytes(weight_file({"two": SOUND}))
    index_refusal(tmp_path, {"weight_map": {"one": "b.safetensors", "two": "a.safetensors"}})


def test_indices_that_name_each_other(tmp_path: Path) -> None:
    other = "other.safetensors"
    (tmp_path / other).write_text(json.dumps({"weight_map": {"weight": INDEX}}))
    assert other in index_refusal(tmp_path, {"weight_map": {"weight": other}})


def test_a_shard_that_is_a_link(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "model", tmp_path / "elsewhere.safetensors"
    folder.mkdir()
    elsewhere.write_bytes(weight_file({"weight": SOUND}))
    (folder / SHARD).symlink_to(elsewhere)
    index = {"weight_map": {"weight": SHARD}}
    assert "a link out of its folder" in index_refusal(folder, index, UnsafeFile)
    (folder / SHARD).unlink()
    (folder / "real").write_bytes(weight_file({"weight": SOUND}))
    (folder / SHARD).symlink_to("real")
    assert set(read_tensors(folder)) == {"weight"}


def test_the_hubs_cache_is_made_of_links(tmp_path: Path) -> None:
    snapshot, blobs = tmp_path / "models--a--b/snapshots/0123", tmp_path / "models--a--b/blobs"
    snapshot.mkdir(parents=True)
    blobs.mkdir()
    (blobs / "abc").write_bytes(weight_file({"weight": SOUND}))
    (snapshot / SHARD).symlink_to("../../blobs/abc")
    (snapshot / INDEX).write_text(json.dumps({"weight_map": {"weight": SHARD}}))
    assert set(read_tensors(snapshot)) == {"weight"}
    (tmp_path / "models--a--b/other").write_bytes(weight_file({"weight": SOUND}))
    (snapshot / SHARD).unlink()
    (snapshot / SHARD).symlink_to("../../other")
    with pytest.raises(UnsafeFile, match="a link out of its folder"):
        read_tensors(snapshot)
