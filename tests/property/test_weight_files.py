"""Whatever happens to a weight file, it is read or refused: no crash, no hang, no memory that it claims."""

import json
import subprocess
import sys
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from clearhead.weights.shards import plan_shards, shard_names

N_MUTATIONS = 800
MOST_BYTES_BESIDE = 200 * 2**20

PROGRAM = '''
"""Mutates sound weight files at random; prints what came of it, and the most memory that it took."""

import json
import random
import resource
import sys
from pathlib import Path

import torch

from clearhead.errors import WeightsError
from clearhead.weights.shards import INDEX, SINGLE
from clearhead.weights.tensors import read_tensors, write_tensors

folder, n_mutations = Path(sys.argv[1]), int(sys.argv[2])
chance = random.Random(0)


def flip(content):
    place = chance.randrange(len(content))
    return content[:place] + bytes([content[place] ^ (1 << chance.randrange(8))]) + content[place + 1 :]


def flip_in_header(content):
    place = 8 + chance.randrange(int.from_bytes(content[:8], "little"))
    return content[:place] + bytes([chance.randrange(256)]) + content[place + 1 :]


def cut(content):
    return content[: chance.randrange(len(content))]


def insert(content):
    place = chance.randrange(min(len(content), chance.choice([9, 600, len(content)])))
    return content[:place] + chance.randbytes(chance.choice([1, 8, 100])) + content[place:]


def remove(content):
    place = chance.randrange(len(content))
    return content[:place] + content[place + chance.choice([1, 8, 100]) :]


def relength(content):
    length = int.from_bytes(content[:8], "little")
    wrong = chance.choice([length + chance.randint(-20, 20), 0, 2**63, 10**8, len(content), chance.getrandbits(64)])
    return (wrong % 2**64).to_bytes(8, "little") + content[8:]


def renumber(content):
    length = int.from_bytes(content[:8], "little")
    fields = json.loads(content[8 : 8 + length])
    tensor = fields[chance.choice([name for name in fields if name != "__metadata__"])]
    numbers = tensor[chance.choice(["shape", "data_offsets"])]
    if numbers:
        value = chance.choice([-1, 0, 1, 2**31, 2**40, 2**63, 1e9, None, chance.randint(0, 10**6)])
        numbers[chance.randrange(len(numbers))] = value
    header = json.dumps(fields).encode()
    return len(header).to_bytes(8, "little") + header + content[8 + length :]


def retype(content):
    kinds = [b"F32", b"F16", b"I64", b"BOOL", b"U8", b"F64", b"BF16", b"X9"]
    return content.replace(b'"%s"' % chance.choice(kinds), b'"%s"' % chance.choice(kinds), 1)


mutations = [flip, flip_in_header, cut, insert, remove, relength, renumber, retype]
given = {
    "matrix": torch.randn(100, 70),
    "half": torch.randn(30, 5).half(),
    "wide": torch.randn(9).double(),
    "ids": torch.arange(50),
    "mask": torch.ones(7, dtype=torch.bool),
    "scalar": torch.tensor(1.0),
    "empty": torch.empty(0, 3),
}
write_tensors(folder / "one", given, metadata={"note": "a text"})
write_tensors(folder / "many", given, max_shard_bytes=10_000)
sound = {path: path.read_bytes() for path in (*(folder / "one").iterdir(), *(folder / "many").iterdir())}
largest = sum(map(len, sound.values()))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
outcomes = {"read": 0, "refused": 0}
for number in range(n_mutations):
    path = chance.choice(list(sound))
    change = mutations[number % len(mutations)]
    if path.name == INDEX:
        change = chance.choice([flip, cut, insert, remove])
    changed = change(sound[path])
    for _ in range(chance.choice([0, 0, 1, 3])):
        changed = flip(changed) if changed else changed
    path.write_bytes(changed)
    try:
        tensors = read_tensors(path.parent)
        assert all(tensor.numel() * tensor.element_size() <= 4 * largest for tensor in tensors.values())
        outcomes["read"] += 1
    except WeightsError as error:
        str(error).encode("utf-8")
        outcomes["refused"] += 1
    path.write_bytes(sound[path])
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({**outcomes, "bytes": (after - before) * 1024, "largest": largest}))
'''


def test_a_mutated_file_is_read_or_refused(tmp_path: Path) -> None:
    program = [sys.executable, "-W", "error", "-c", PROGRAM, str(tmp_path), str(N_MUTATIONS)]
    run = subprocess.run(program, capture_output=True, text=True, check=False, timeout=120)
    assert run.returncode == 0, run.stderr
    told = json.loads(run.stdout)
    assert told["read"] + told["refused"] == N_MUTATIONS
    assert min(told["read"], told["refused"]) > N_MUTATIONS // 20
    assert told["bytes"] <= 4 * told["largest"] + MOST_BYTES_BESIDE


@given(st.lists(st.integers(0, 50), max_size=30), st.integers(1, 100))
def test_shards_hold_every_tensor_in_order_and_no_more_than_allowed(sizes: list[int], limit: int) -> None:
    named = {str(number): size for number, size in enumerate(sizes)}
    plan = plan_shards(named, limit=limit)
    assert [name for names in plan for name in names] == list(named)
    assert all(len(names) == 1 or sum(named[name] for name in names) <= limit for names in plan if names)
    assert len(set(shard_names(len(plan)))) == len(plan)
