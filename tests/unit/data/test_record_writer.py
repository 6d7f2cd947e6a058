"""Records on their way into stores: a text that was cut is joined again, and with nothing else."""

from contextlib import ExitStack
from pathlib import Path

from clearhead.data import CleaningReport, Record, Task, TokenStore, make_tokenizer, writing
from clearhead.data.encode import RecordEncoder
from clearhead.data.record_writer import RecordWriter, Routed


def written(folder: Path, records: list[tuple[str, bool, int, str | None]]) -> dict[str, list[str]]:
    """What stores hold after records (text, continued, origin, store) were written."""
    tokenizer = make_tokenizer([Record(source="abcdefgh")], task=Task.LANGUAGE_MODEL, kind="character", vocab_size=50)
    encoder = RecordEncoder(task=Task.LANGUAGE_MODEL, tokenizer=tokenizer, max_length=9)
    names = sorted({name for *_, name in records if name is not None})
    with ExitStack() as stack:
        stores = {
            name: stack.enter_context(writing(folder / name, fields=encoder.fields, values={"origin": 1}))
            for name in names
        }
        routed = (
            Routed(
                record=Record(source=text, continued=continued),
                origin=origin,
                store=None if name is None else stores[name],
            )
            for text, continued, origin, name in records
        )
        RecordWriter(encoder=encoder).write(routed, CleaningReport())
    streams = {name: TokenStore(folder=folder / name).stream("text") for name in names}
    return {name: tokenizer.decode(ids, skip_special=False).split("</s>") for name, ids in streams.items()}


def test_parts_are_joined_and_texts_are_not(tmp_path: Path) -> None:
    records = [("ab", True, 0, "one"), ("cd", False, 0, "one"), ("ef", False, 0, "one")]
    assert written(tmp_path, records) == {"one": ["abcd", "ef", ""]}


def test_a_text_ends_with_its_source(tmp_path: Path) -> None:
    records = [("ab", True, 0, "one"), ("cd", True, 1, "one"), ("ef", False, 1, "one")]
    assert written(tmp_path, records) == {"one": ["ab", "cdef", ""]}


def test_a_text_ends_where_its_next_part_goes_elsewhere(tmp_path: Path) -> None:
    records = [("ab", True, 0, "one"), ("cd", True, 0, "other"), ("ef", True, 0, "one"), ("gh", False, 0, "one")]
    assert written(tmp_path, records) == {"one": ["ab", "efgh", ""], "other": ["cd", ""]}


def test_a_text_ends_where_its_next_part_is_left_out(tmp_path: Path) -> None:
    records = [("ab", True, 0, "one"), ("cd", True, 0, None), ("ef", True, 0, None), ("gh", True, 0, "one")]
    assert written(tmp_path, records) == {"one": ["ab", "gh", ""]}
