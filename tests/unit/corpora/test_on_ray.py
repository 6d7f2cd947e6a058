"""Ray's workers give what one process gives, each chunk once and in order, whoever dies on the way."""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa
import pyarrow.parquet
import pytest

from clearhead.corpora import (
    Chunk,
    Corpus,
    Done,
    Failure,
    Growing,
    Job,
    Table,
    batch_bytes,
    cluster,
    map_here,
    map_on_ray,
)
from clearhead.errors import ConfigError, ServerError, TextError

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:ray")  # what Ray says to itself

N_WORKERS = 2
N_LINES = 45


@pytest.fixture(scope="module")
def ray_here() -> Iterator[int]:
    """Ray on this machine, one for all tests."""
    with cluster(address=None, workers=N_WORKERS, threads=1) as n_workers:
        yield n_workers


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    path = tmp_path / "lines.txt"
    path.write_text("".join(f"line {number}\n" for number in range(N_LINES)))
    return Corpus(path=path, size=2)


def shouting(work: Callable[[Chunk], Any] | None = None) -> Job:
    """A job that needs no model; its class is made here, so that it travels to the workers by itself."""

    @dataclass(frozen=True)
    class Shouting:
        first: Callable[[Chunk], Any] | None

        def open(self) -> Callable[[Chunk], tuple[bytes, int, None]]:
            return self.shout

        def shout(self, chunk: Chunk) -> tuple[bytes, int, None]:
            if self.first is not None:
                self.first(chunk)
            return "".join(f"{text.upper()}\n" for text in chunk.texts).encode(), len(chunk.texts), None

    return Shouting(work)


def plain(results: list[Done]) -> list[tuple]:
    return [(one.number, one.n_texts, one.payload, one.reached, one.failure) for one in results]


def pid_of(one: Done) -> int:
    return int(one.worker.rpartition(":")[2])


def test_workers_give_what_one_process_gives(ray_here: int, corpus: Corpus) -> None:
    here = list(map_here(shouting(), corpus))
    there = list(map_on_ray(shouting(), corpus, workers=ray_here, threads=1))
    assert plain(there) == plain(here)
    assert len(there) == (N_LINES + 1) // 2
    assert os.getpid() not in {pid_of(one) for one in there}


def test_a_table_goes_through_the_workers_to_a_table(ray_here: int, tmp_path: Path) -> None:
    texts = [None if number == 7 else f"line {number}" for number in range(N_LINES)]
    pyarrow.parquet.write_table(pa.table({"id": range(N_LINES), "said": texts}), tmp_path / "in.parquet")
    corpus = Corpus(path=tmp_path / "in.parquet", size=4, column="said")
    columns = {"text": "string", "loud": "string"}

    @dataclass(frozen=True)
    class Tabulating:
        def open(self) -> Callable[[Chunk], tuple[bytes, int, None]]:
            return self.tabulate

        def tabulate(self, chunk: Chunk) -> tuple[bytes, int, None]:
            rows = [{"text": text, "loud": text.upper()} for text in chunk.texts]
            return batch_bytes(columns, rows), len(chunk.texts), None

    ways = {
        "here": map_here(Tabulating(), corpus),
        "there": map_on_ray(Tabulating(), corpus, workers=ray_here, threads=1),
    }
    for name, results in ways.items():
        with Growing(path=tmp_path / f"{name}.parquet", layout=Table(columns=columns), terms={}) as growing:
            for one in results:
                growing.append(one.payload, number=one.number, n_texts=one.n_texts)
            growing.finish()
    there = pyarrow.parquet.read_table(tmp_path / "there.parquet").to_pydict()
    assert there == {"text": [text or "" for text in texts], "loud": [(text or "").upper() for text in texts]}
    assert (tmp_path / "there.parquet").read_bytes() == (tmp_path / "here.parquet").read_bytes()


def test_chunks_that_are_done_are_not_done_again(ray_here: int, corpus: Corpus) -> None:
    here = list(map_here(shouting(), corpus, skip=20))
    assert plain(list(map_on_ray(shouting(), corpus, workers=1, threads=1, skip=20))) == plain(here)


def test_a_killed_worker_costs_no_result_and_doubles_none(ray_here: int, corpus: Corpus, tmp_path: Path) -> None:
    gate, tries = tmp_path / "gate", tmp_path / "tries"
    tries.mkdir()

    def wait(chunk: Chunk) -> None:
        (tries / f"{chunk.number}-{os.getpid()}").touch()
        while chunk.number >= 4 and not gate.exists():
            time.sleep(0.05)

    found: list[Done] = []
    for one in map_on_ray(shouting(wait), corpus, workers=ray_here, threads=1):
        found.append(one)
        if len(found) == 4:  # every worker now has a chunk in hand that it cannot finish
            while len(in_hand := [path.name for path in tries.iterdir() if int(path.name.split("-")[0]) >= 4]) < 2:
                time.sleep(0.05)
            number, pid = map(int, in_hand[0].split("-"))
            os.kill(pid, signal.SIGKILL)
            gate.touch()
    assert plain(found) == plain(list(map_here(shouting(), corpus)))
    assert len(list(tries.glob(f"{number}-*"))) == 2, "what the dead worker had in hand was done again by another"
    assert pid_of(found[number]) != pid


def test_a_job_that_cannot_be_opened_says_why(ray_here: int, corpus: Corpus) -> None:
    @dataclass(frozen=True)
    class Closed:
        def open(self) -> Any:
            raise TextError("no such model", got="tony", advice="tiny")

    first = next(map_on_ray(Closed(), corpus, workers=1, threads=1))
    assert (first.number, first.n_texts, first.payload) == (0, 0, b"")
    assert str(first.failure.error()) == str(TextError("no such model", got="tony", advice="tiny"))


def test_a_file_that_cannot_be_read_to_its_end_says_why_in_its_place(ray_here: int, tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_bytes(b"a\nb\nc\n\xff\n")
    found = list(map_on_ray(shouting(), Corpus(path=tmp_path / "bad.txt", size=2), workers=1, threads=1))
    assert [one.payload for one in found] == [b"A\nB\n", b"C\n", b""]
    assert [one.failure is None for one in found] == [True, True, False]
    assert isinstance(found[-1].failure, Failure)
    assert "line 4" in str(found[-1].failure.error())


def test_an_empty_file_has_no_results(ray_here: int, tmp_path: Path) -> None:
    (tmp_path / "none.txt").touch()
    assert list(map_on_ray(shouting(), Corpus(path=tmp_path / "none.txt", size=2), workers=1, threads=1)) == []


def test_a_mistake_in_a_worker_ends_the_run_with_an_error_of_ours(ray_here: int, corpus: Corpus) -> None:
    def stumble(chunk: Chunk) -> None:
        raise ZeroDivisionError(f"in chunk {chunk.number}")

    with pytest.raises(ServerError, match="Ray could not finish the work") as caught:
        list(map_on_ray(shouting(stumble), corpus, workers=1, threads=1))
    assert "ZeroDivisionError: in chunk" in str(caught.value)


def test_nothing_listens_to_other_machines(ray_here: int) -> None:
    family = [psutil.Process(), *psutil.Process().children(recursive=True)]
    places = {
        (process.name(), one.laddr.ip)
        for process in family
        for one in process.net_connections(kind="inet")
        if one.status == psutil.CONN_LISTEN
    }
    assert places
    assert [place for place in places if place[1].removeprefix("::ffff:") not in {"127.0.0.1", "::1"}] == []


def test_without_ray_the_advice_is_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with (
        pytest.raises(ConfigError, match=r"pip install 'clearhead\[ray\]'"),
        cluster(address=None, workers=1, threads=1),
    ):
        pass
