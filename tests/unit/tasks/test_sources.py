"""Sources that end once, prompts that do not end, texts that fit."""

from dataclasses import replace

import pytest

from clearhead.config import HeadKind
from clearhead.errors import TextError
from clearhead.tasks import Loaded
from clearhead.tasks.sources import prompt_ids, shortened, source_ids, source_pieces, whole_texts

from .conftest import Make


def test_a_source_ends_exactly_once(writer: Make, polyglot: Loaded) -> None:
    # One tokenizer adds the end by itself, the other does not.
    assert writer("t5").tokenizer.encode("a").ids[-1] != 2
    assert polyglot.tokenizer.encode("a").ids[-1] == 0
    for loaded, end in ((writer("t5"), 2), (polyglot, 0)):
        for ids in source_ids(loaded, ["the cat", "a </s>", ""]):
            assert ids[-1] == end
            assert ids.count(end) == 1


def test_a_text_cannot_say_its_own_tag(polyglot: Loaded) -> None:
    tags = set(polyglot.tags.values())
    french = polyglot.tags["fr"]
    for text in (">>de<< the cat", "the >>de<< cat", ">>de<<", " >>de<< the"):
        (ids,) = source_ids(polyglot, [text], tag=french)
        assert ids[0] == french
        assert tags.isdisjoint(ids[1:])
        assert ">>de<<" in polyglot.tokenizer.decode(ids[1:])


def test_a_prompt_keeps_its_start_and_has_no_end(writer: Make, reader: Make) -> None:
    loaded = writer("gpt2")
    assert prompt_ids(loaded, "ab") == loaded.tokenizer.encode("ab").ids
    assert prompt_ids(loaded, "") == ()
    framed = reader(HeadKind.NONE).tokenizer
    decoder = Loaded(checkpoint=loaded.checkpoint, tokenizer=framed)
    assert framed.encode("a").pieces == ("[CLS]", "a", "[SEP]")
    assert prompt_ids(decoder, "a") == framed.encode("a").ids[:-1]


def test_pieces_of_a_long_source_fit_and_lose_nothing(writer: Make) -> None:
    loaded = writer("marian")
    text = "One two three. " * 20
    pieces = source_pieces(loaded, text, source_ids(loaded, [text])[0])
    assert len(pieces) > 1
    assert all(len(ids) <= loaded.source_limit for ids in source_ids(loaded, pieces))
    assert " ".join(pieces).split() == text.split()


def test_a_text_that_is_too_long_is_refused_or_cut_before_its_last_tokens(reader: Make) -> None:
    loaded = reader(HeadKind.NONE)
    text = "cat " * 100
    with pytest.raises(TextError, match="text 2 of 2"):
        whole_texts(loaded, ["a", text], truncate=False)
    (cut,) = whole_texts(loaded, [text], truncate=True)
    whole = loaded.tokenizer.encode(text)
    assert len(cut) == loaded.source_limit
    assert cut.pieces[-1] == "[SEP]"
    assert cut.ids[:-1] == whole.ids[: loaded.source_limit - 1]
    assert shortened(whole, len(whole)) == replace(whole)
