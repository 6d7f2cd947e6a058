"""A tokenizer made for a corpus has the layout of its family, and reads as it was made to."""

import json
from pathlib import Path

import pytest

from clearhead.data import Record, Task, make_tokenizer, shortfall
from clearhead.errors import TextError
from clearhead.text import SpecialIds, Tokenizer, TokenizerKind

PAIRS = [
    Record(source=f"The {noun} is {adjective}.", target=f"Le {noun} est {adjective} aussi, n'est-ce pas ?")
    for noun in ("cat", "dog", "house", "river", "mountain", "child")
    for adjective in ("small", "large", "green", "quiet", "old", "new")
]
TAGGED = [Record(source=pair.source, target=pair.target, tag=tag) for pair in PAIRS for tag in ("fr", "de")]
KINDS = list(TokenizerKind)
TEXT = "The cat is green."


def pieces(tokenizer: Tokenizer) -> list[str]:
    return [tokenizer.piece_of(index) for index in range(tokenizer.vocab_size)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_translator_has_padding_last_and_ends_every_text(kind: TokenizerKind) -> None:
    tokenizer = make_tokenizer(iter(PAIRS), task=Task.TRANSLATE, kind=kind, vocab_size=300)
    assert pieces(tokenizer)[:2] == ["</s>", "<unk>"]
    assert pieces(tokenizer)[-1] == "<pad>"
    assert tokenizer.special == SpecialIds(end=0, unknown=1, pad=tokenizer.vocab_size - 1)
    encoding = tokenizer.encode(TEXT)
    assert encoding.ids[-1] == 0
    assert 0 not in encoding.ids[:-1]
    assert tokenizer.decode(encoding.ids) == TEXT


@pytest.mark.parametrize("kind", KINDS)
def test_a_tag_is_one_piece_and_changes_nothing_behind_it(kind: TokenizerKind) -> None:
    tokenizer = make_tokenizer(iter(TAGGED), task=Task.TRANSLATE, kind=kind, vocab_size=300)
    assert pieces(tokenizer)[:4] == ["</s>", "<unk>", ">>de<<", ">>fr<<"]
    assert tokenizer.encode(f">>fr<< {TEXT}").ids == (3, *tokenizer.encode(TEXT).ids)
    assert tokenizer.decode(tokenizer.encode(f">>fr<< {TEXT}").ids) == TEXT


@pytest.mark.parametrize("kind", KINDS)
def test_special_tokens_in_a_text_are_text(kind: TokenizerKind) -> None:
    records = [*TAGGED, Record(source="</s> <pad> >>fr<< <unk>", target="</s> <pad> >>fr<< <unk>")]
    tokenizer = make_tokenizer(iter(records), task=Task.TRANSLATE, kind=kind, vocab_size=300)
    ids = tokenizer.encode("a </s> b>>fr<<<pad>", add_special=False, literal=True).ids
    assert {*ids} & {0, 2, 3, tokenizer.vocab_size - 1} == set()


def test_one_language_needs_no_tag() -> None:
    tokenizer = make_tokenizer([pair for pair in TAGGED if pair.tag == "fr"], task=Task.TRANSLATE, vocab_size=300)
    assert not any(piece.startswith(">>") for piece in pieces(tokenizer))


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_tokenizer_is_the_same(kind: TokenizerKind, tmp_path: Path) -> None:
    tokenizer = make_tokenizer(TAGGED, task=Task.TRANSLATE, kind=kind, vocab_size=300)
    tokenizer.save(tmp_path)
    again = Tokenizer.load(tmp_path)
    assert again.encode(f">>fr<< {TEXT}") == tokenizer.encode(f">>fr<< {TEXT}")
    assert again.special == tokenizer.special


@pytest.mark.parametrize("kind", KINDS)
def test_other_programs_read_the_same_ids(kind: TokenizerKind, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    tokenizer = make_tokenizer(TAGGED, task=Task.TRANSLATE, kind=kind, vocab_size=300)
    tokenizer.save(tmp_path)
    theirs = transformers.PreTrainedTokenizerFast.from_pretrained(tmp_path)
    assert tuple(theirs(f">>fr<< {TEXT}")["input_ids"]) == tokenizer.encode(f">>fr<< {TEXT}").ids
    assert (theirs.pad_token_id, theirs.eos_token_id) == (tokenizer.special.pad, tokenizer.special.end)


def test_two_vocabularies_know_only_their_side_and_pad_alike() -> None:
    records = [Record(source="abab", target="xyxy"), Record(source="baba", target="yxyx")]
    tokenizer = make_tokenizer(iter(records), task=Task.TRANSLATE, kind="character", vocab_size=20, joint=False)
    assert pieces(tokenizer) == ["</s>", "<unk>", "<pad>", "a", "b"]
    assert pieces(tokenizer.target) == ["</s>", "<unk>", "<pad>", "x", "y"]
    assert tokenizer.target.encode("xy").ids == (3, 4, 0)


@pytest.mark.parametrize("task", [Task.MASKED_LANGUAGE_MODEL, Task.CLASSIFY, Task.SIMILARITY])
@pytest.mark.parametrize("kind", [None, *KINDS])
def test_what_berts_family_reads_is_framed(task: Task, kind: TokenizerKind | None) -> None:
    tokenizer = make_tokenizer(PAIRS, task=task, kind=kind, vocab_size=300)
    ids = tokenizer.encode(TEXT).ids
    assert (ids[0], ids[-1]) == (tokenizer.special.start, tokenizer.special.end)
    assert tokenizer.special.pad == 0
    assert tokenizer.special.mask is not None
    assert tokenizer.decode(ids) == TEXT


def test_a_language_models_tokenizer_adds_nothing() -> None:
    tokenizer = make_tokenizer(PAIRS, task=Task.LANGUAGE_MODEL, vocab_size=300)
    assert tokenizer.decode(tokenizer.encode(TEXT).ids, skip_special=False) == TEXT


@pytest.mark.parametrize("kind", KINDS)
def test_a_vocabulary_larger_than_the_data_supports(kind: TokenizerKind) -> None:
    tokenizer = make_tokenizer(PAIRS[:2], task=Task.TRANSLATE, kind=kind, vocab_size=50_000)
    assert tokenizer.vocab_size < 400
    said = shortfall(tokenizer, 50_000)
    assert said is not None
    assert str(tokenizer.vocab_size) in said
    assert "50000" in said
    assert shortfall(tokenizer, tokenizer.vocab_size) is None


def test_either_of_two_vocabularies_may_fall_short() -> None:
    records = [Record(source="abcdef", target="xy"), Record(source="fedcba", target="yx")]
    tokenizer = make_tokenizer(records, task=Task.TRANSLATE, kind="character", vocab_size=20, joint=False)
    assert (tokenizer.vocab_size, tokenizer.target.vocab_size) == (9, 5)
    assert shortfall(tokenizer, 9) == "the target holds no more than 5 pieces (9 were asked for)"
    both = "the source holds no more than 9 pieces and the target holds no more than 5 pieces (20 were asked for)"
    assert shortfall(tokenizer, 20) == both
    assert shortfall(tokenizer, 5) is None


def test_the_same_records_give_the_same_file(tmp_path: Path) -> None:
    paths = [
        make_tokenizer(TAGGED, task=Task.TRANSLATE, kind="unigram", vocab_size=200).save(tmp_path / name)
        for name in ("one", "other")
    ]
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert json.loads(paths[0].read_bytes())["model"]["unk_id"] == 1


def test_an_unknown_kind() -> None:
    with pytest.raises(TextError, match="does not exist"):
        make_tokenizer(PAIRS, task=Task.TRANSLATE, kind="unigrams")
