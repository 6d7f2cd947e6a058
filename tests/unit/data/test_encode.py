"""Each task's records become the rows that its models read."""

import pytest

from clearhead.data import Record, Task, make_tokenizer
from clearhead.data.encode import Encoded, Part, RecordEncoder
from clearhead.data.report import Reason
from clearhead.errors import ConfigError, TextError
from clearhead.text import SpecialTokens, Tokenizer, train_tokenizer

LETTERS = [Record(source="abcdefgh", target="stuvwxyz", tag=tag) for tag in ("fr", "de")]


def tokenizer(task: Task, *, languages: int = 1, **settings: object) -> Tokenizer:
    return make_tokenizer(LETTERS[:languages], task=task, kind="character", vocab_size=50, **settings)


def spelled(reader: Tokenizer, ids: list[int]) -> str:
    return reader.decode(ids, skip_special=False)


def encode(task: Task, *records: Record, reader: Tokenizer | None = None, **settings: object) -> list[Encoded]:
    encoder = RecordEncoder(task=task, tokenizer=reader or tokenizer(task), **{"max_length": 6, **settings})
    return encoder([Part(record=record) for record in records])


def test_translations_end_on_both_sides() -> None:
    reader = tokenizer(Task.TRANSLATE)
    (found,) = encode(Task.TRANSLATE, Record(source="abc", target="xy"), reader=reader)
    assert [spelled(reader, ids) for ids in found.rows[0].values()] == ["abc</s>", "xy</s>"]


def test_tags_stand_before_sources() -> None:
    reader = tokenizer(Task.TRANSLATE, languages=2)
    found = encode(Task.TRANSLATE, *LETTERS, reader=reader, tags=("de", "fr"), max_length=20)
    assert [spelled(reader, each.rows[0]["source"]) for each in found] == [">>fr<<abcdefgh</s>", ">>de<<abcdefgh</s>"]
    assert spelled(reader, found[0].rows[0]["target"]) == "stuvwxyz</s>"


def test_one_language_of_several_keeps_its_tag() -> None:
    reader = tokenizer(Task.TRANSLATE, languages=2)
    (found,) = encode(Task.TRANSLATE, LETTERS[0], reader=reader, tags=("fr",), max_length=20)
    assert spelled(reader, found.rows[0]["source"]) == ">>fr<<abcdefgh</s>"


def test_one_language_alone_needs_no_tag() -> None:
    reader = tokenizer(Task.TRANSLATE)
    (found,) = encode(Task.TRANSLATE, LETTERS[0], reader=reader, tags=("fr",), max_length=20)
    assert spelled(reader, found.rows[0]["source"]) == "abcdefgh</s>"


@pytest.mark.parametrize(("tags", "problem"), [((), "do not say their target language"), (("nl",), ">>nl<<")])
def test_a_language_that_a_translator_of_several_needs_to_know(tags: tuple[str, ...], problem: str) -> None:
    with pytest.raises(TextError, match=problem) as caught:
        RecordEncoder(task=Task.TRANSLATE, tokenizer=tokenizer(Task.TRANSLATE, languages=2), max_length=9, tags=tags)
    assert caught.value.expected == "de, fr"


def test_words_may_stand_in_the_place_of_a_tag() -> None:
    reader = tokenizer(Task.TRANSLATE)
    asked: list[str | None] = []

    def prefix(tag: str | None) -> str:
        asked.append(tag)
        return {"fr": "ab", "de": "gh"}.get(tag or "", "e")

    settings = {"reader": reader, "max_length": 20, "prefix": prefix}
    found = encode(Task.TRANSLATE, *LETTERS, *LETTERS, tags=("de", "fr"), **settings)
    assert [spelled(reader, each.rows[0]["source"]) for each in found] == ["ababcdefgh</s>", "ghabcdefgh</s>"] * 2
    assert spelled(reader, found[0].rows[0]["target"]) == "stuvwxyz</s>"
    (found,) = encode(Task.TRANSLATE, Record(source="abc", target="xy"), **settings)
    assert spelled(reader, found.rows[0]["source"]) == "eabc</s>"
    assert asked == ["de", "fr", None]


def test_translations_that_are_too_long_go() -> None:
    records = [
        Record(source="abcde", target="x"),
        Record(source="abcdef", target="x"),
        Record(source="a", target="x" * 6),
    ]
    assert [each.fault for each in encode(Task.TRANSLATE, *records)] == [
        None,
        Reason.TOO_MANY_TOKENS,
        Reason.TOO_MANY_TOKENS,
    ]


def test_two_vocabularies_number_their_own_side() -> None:
    reader = tokenizer(Task.TRANSLATE, joint=False)
    encoder = RecordEncoder(task=Task.TRANSLATE, tokenizer=reader, max_length=9)
    assert encoder.fields == {"source": reader.vocab_size, "target": reader.target.vocab_size}
    row = encoder([Part(record=LETTERS[0])])[0].rows[0]
    assert spelled(reader.target, row["target"]) == "stuvwxyz</s>"


def test_a_tokenizer_that_adds_no_end_gets_one() -> None:
    reader = train_tokenizer(["abcdefgh"], kind="character")
    (found,) = encode(Task.TRANSLATE, Record(source="ab", target="c"), reader=reader)
    assert [spelled(reader, ids) for ids in found.rows[0].values()] == ["ab</s>", "c</s>"]


def test_language_models_join_what_was_cut() -> None:
    reader = tokenizer(Task.LANGUAGE_MODEL)
    encoder = RecordEncoder(task=Task.LANGUAGE_MODEL, tokenizer=reader, max_length=3)
    parts = [Part(record=Record(source="abcdefgh"), ends=False), Part(record=Record(source="stuv"), starts=False)]
    rows = [each.rows[0]["text"] for each in encoder(parts)]
    assert [spelled(reader, ids) for ids in rows] == ["abcdefgh", "stuv</s>"]


def test_a_part_without_pieces_still_ends_its_text() -> None:
    reader = make_tokenizer([Record(source="abc")], task=Task.LANGUAGE_MODEL, kind="wordpiece", vocab_size=50)
    encoder = RecordEncoder(task=Task.LANGUAGE_MODEL, tokenizer=reader, max_length=3)
    blank = Record(source=" \n")
    parts = [Part(record=blank, starts=False), Part(record=blank, starts=False, ends=False), Part(record=blank)]
    last, middle, whole = encoder(parts)
    assert (last.fault, last.rows) == (None, [{"text": [reader.special.end]}])
    assert (middle.fault, middle.rows) == (None, [])
    assert (whole.fault, whole.rows) == (Reason.EMPTY, [])


def test_long_texts_for_masked_models_give_several_rows() -> None:
    reader = tokenizer(Task.MASKED_LANGUAGE_MODEL)
    (found,) = encode(Task.MASKED_LANGUAGE_MODEL, Record(source="abcdefgh"), reader=reader)
    assert [spelled(reader, row["text"]) for row in found.rows] == ["<s>abcd</s>", "<s>efgh</s>"]


@pytest.mark.parametrize("task", [Task.CLASSIFY, Task.SIMILARITY])
def test_other_texts_are_cut_and_keep_their_end(task: Task) -> None:
    reader = tokenizer(task)
    (found, short) = encode(task, Record(source="abcdefgh", target="x"), Record(source="a", target="b"), reader=reader)
    assert spelled(reader, next(iter(found.rows[0].values()))) == "<s>abcd</s>"
    assert (found.truncated, short.truncated) == (True, False)


def test_similarity_without_pairs_has_one_field() -> None:
    reader = tokenizer(Task.SIMILARITY)
    assert list(RecordEncoder(task=Task.SIMILARITY, tokenizer=reader, max_length=6, paired=False).fields) == ["source"]


def test_what_a_corpus_spells_is_text() -> None:
    reader = make_tokenizer([Record(source="</s>", target="</s>")], task=Task.TRANSLATE, vocab_size=300)
    (found,) = encode(Task.TRANSLATE, Record(source="</s>", target="a</s>b"), reader=reader, max_length=20)
    assert [ids.count(0) for ids in found.rows[0].values()] == [1, 1]


def test_a_text_without_pieces_is_empty() -> None:
    reader = make_tokenizer(LETTERS, task=Task.CLASSIFY, kind="wordpiece", vocab_size=50)
    assert encode(Task.CLASSIFY, Record(source="\x01"), reader=reader)[0].fault is Reason.EMPTY


def test_what_cannot_be_encoded() -> None:
    with pytest.raises(ConfigError, match="without room for text"):
        RecordEncoder(task=Task.CLASSIFY, tokenizer=tokenizer(Task.CLASSIFY), max_length=2)
    endless = train_tokenizer(["abc"], kind="character", special=SpecialTokens(unknown="<unk>"))
    with pytest.raises(TextError, match="without an end token"):
        RecordEncoder(task=Task.TRANSLATE, tokenizer=endless, max_length=9)
    with pytest.raises(TextError, match="not in the vocabulary"):
        RecordEncoder(task=Task.TRANSLATE, tokenizer=tokenizer(Task.TRANSLATE), max_length=9, tags=("fr", "de"))
