"""What holds for every corpus, every seed and every number of processes."""

import csv
import io
import json
import tempfile
from itertools import islice
from pathlib import Path

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from clearhead.data import (
    Batches,
    CleaningReport,
    CleaningRules,
    Cursor,
    Record,
    Source,
    Task,
    TokenStore,
    Windows,
    is_held_out,
    mask_tokens,
    pad,
    read_records,
    writing,
)
from clearhead.data.clean import clean

# No tab and no line end: a TSV has no way to write those. A return at a line's end is the line end's.
CELL = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r\0"), min_size=1, max_size=20)
FULL = CELL.filter(lambda text: not text.isspace())
LENGTHS = st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), min_size=1, max_size=60)


def make_store(folder: str, lengths: list[tuple[int, int]]) -> TokenStore:
    with writing(Path(folder) / "store", fields={"source": 10, "target": 10}) as writer:
        for first, second in lengths:
            writer.append({"source": [1] * first, "target": [2] * second})
    return TokenStore(folder=Path(folder) / "store")


@settings(max_examples=30)  # each writes files
@given(LENGTHS, st.integers(1, 200), st.integers(0, 2**63 - 1), st.integers(0, 3))
def test_an_epoch_is_without_loss_or_overlap(
    lengths: list[tuple[int, int]], max_tokens: int, seed: int, epoch: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = make_store(folder, lengths)
        seen: list[int] = []
        for rows in Batches(store=store, max_tokens=max_tokens, seed=seed).one_epoch(epoch):
            seen += rows.tolist()
            padded = sum(store.lengths(field)[rows].max() for field in store.fields) * len(rows)
            assert padded <= max_tokens or len(rows) == 1
        assert sorted(seen) == list(range(len(lengths)))


@settings(max_examples=30)  # each writes files
@given(LENGTHS, st.integers(20, 200), st.integers(0, 2**63 - 1), st.integers(0, 8))
def test_going_on_is_as_if_nothing_had_happened(
    lengths: list[tuple[int, int]], max_tokens: int, seed: int, stop: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = make_store(folder, lengths)
        whole = list(islice(Batches(store=store, max_tokens=max_tokens, seed=seed), stop + 5))
        place = whole[stop - 1][0] if stop else Cursor(epoch=0, batch=0)
        place = Cursor.from_dict(json.loads(json.dumps(place.to_dict())))
        rest = islice(Batches(store=store, max_tokens=max_tokens, seed=seed).from_cursor(place), 5)
        for (after, rows), (their_after, their_rows) in zip(rest, whole[stop:], strict=True):
            assert after == their_after
            assert rows.tolist() == their_rows.tolist()


@settings(max_examples=30)
@given(st.integers(2, 60), st.integers(1, 12), st.integers(1, 5))
def test_windows_in_order_foretell_everything_once(n_ids: int, length: int, n_rows: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        with writing(Path(folder) / "store", fields={"text": 100}) as writer:
            writer.append({"text": list(range(n_ids // 2))})
            writer.append({"text": list(range(n_ids // 2, n_ids))})
        store = TokenStore(folder=Path(folder) / "store")
        windows = Windows(store=store, length=min(length, n_ids - 1), n_rows=n_rows, seed=0)
        foretold = [int(index) for ids in windows.sequential() for index in ids[:, 1:].ravel()]
    assert foretold == list(range(1, n_ids))


@settings(max_examples=30)  # each writes files
@given(
    st.lists(st.tuples(st.integers(1, 30), st.integers(0, 3)), min_size=1, max_size=12),
    st.lists(st.floats(0.01, 50), min_size=4, max_size=4),
    st.integers(1, 20),
    st.integers(0, 2**63 - 1),
)
def test_windows_lie_in_the_source_that_they_are_drawn_from_if_they_fit(
    records: list[tuple[int, int]], weights: list[float], length: int, seed: int
) -> None:
    records = sorted(records, key=lambda record: record[1])
    owners = [origin for n_ids, origin in records for _ in range(n_ids)]
    assume(len(owners) > 1)
    length = min(length, len(owners) - 1)
    with tempfile.TemporaryDirectory() as folder:
        with writing(Path(folder) / "store", fields={"text": len(owners)}, values={"origin": 1}) as writer:
            place = 0
            for n_ids, origin in records:
                writer.append({"text": list(range(place, place + n_ids))}, origin=origin)
                place += n_ids
        store = TokenStore(folder=Path(folder) / "store")
        windows = Windows(store=store, length=length, n_rows=20, seed=seed, weights=weights)
        for _, ids in islice(windows, 3):
            assert (np.diff(ids) == 1).all()
            for row in ids:
                touched = {owners[index] for index in row}
                assert len(touched) == 1 or min(map(owners.count, touched)) <= length


@given(st.lists(st.tuples(FULL, FULL), min_size=1, max_size=10))
def test_tables_give_back_what_they_were_given(pairs: list[tuple[str, str]]) -> None:
    written = io.StringIO(newline="")
    csv.writer(written, lineterminator="\n").writerows([("source", "target"), *pairs])
    contents = {
        "a.tsv": "source\ttarget\n" + "".join(f"{source}\t{target}\n" for source, target in pairs),
        "a.csv": written.getvalue(),
        "a.jsonl": "".join(json.dumps({"source": source, "target": target}) + "\n" for source, target in pairs),
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, content in contents.items():
            path = Path(folder) / name
            path.write_bytes(content.encode())
            found = read_records(Source(paths=(path,), task=Task.TRANSLATE))
            assert [(record.source, record.target) for record in found] == pairs


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), min_size=1, max_size=300))
def test_a_document_is_all_of_its_file(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.txt"
        path.write_bytes(text.encode())
        found = list(read_records(Source(paths=(path,), task=Task.LANGUAGE_MODEL, document=True)))
    assert "".join(record.source for record in found) == text.removeprefix("\ufeff")


@given(st.lists(st.tuples(st.sampled_from("ab "), st.sampled_from("ab ")), max_size=30))
def test_cleaning_accounts_for_every_record(pairs: list[tuple[str, str]]) -> None:
    report = CleaningReport()
    records = [Record(source=source, target=target) for source, target in pairs]
    kept = list(clean(records, CleaningRules(drop_copies=True), report))
    assert report.kept == len(kept) == len({pair for pair in pairs if " " not in pair and len(set(pair)) == 2})
    assert report.read == len(pairs)
    assert len(set(kept)) == len(kept)


@given(CELL, st.floats(0, 1), st.integers(0, 2**63 - 1))
def test_a_side_does_not_depend_on_how_a_source_is_written(text: str, share: float, seed: int) -> None:
    side = is_held_out(text, share=share, seed=seed)
    assert is_held_out(f"  {text} ", share=share, seed=seed) == side
    assert side or not is_held_out(text, share=share / 2, seed=seed)


@given(CELL, CELL, st.floats(0, 1), st.integers(0, 2**63 - 1))
def test_a_pair_is_on_the_same_side_turned_round(one: str, other: str, share: float, seed: int) -> None:
    assert is_held_out(one, other, share=share, seed=seed) == is_held_out(other, one, share=share, seed=seed)


@given(st.lists(st.lists(st.integers(3, 20), max_size=12), min_size=1, max_size=6), st.integers(0, 99), st.floats(0, 1))
def test_masking_can_be_undone(rows: list[list[int]], seed: int, share: float) -> None:
    ids, mask = pad([np.array([1, *row, 2], np.int64) for row in rows], pad_id=0)
    inputs, labels = mask_tokens(ids, mask, (0, 1, 2), seed=(seed, 7), mask_id=0, vocab_size=21, share=share)
    assert (np.where(labels == -100, inputs, labels) == ids).all()
    assert [(row != -100).any() for row in labels] == [bool(row) for row in rows]
