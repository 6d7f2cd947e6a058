"""What holds for every text."""

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearhead.text import Tokenizer, TokenizerKind, scramble_words, split_words, train_tokenizer

CORPUS = ["The cat sat on the mat, didn't it?", "नमस्ते दुनिया, यह एक वाक्य है।", "naïve café — über 漢字 😀", "\t\r\n  x"]
ANY = st.text(st.characters(exclude_categories=["Cs"]))
SEEN = st.text(sorted(set("".join(CORPUS))))
KINDS = st.sampled_from(TokenizerKind)


@cache
def trained(kind: TokenizerKind) -> Tokenizer:
    return train_tokenizer(CORPUS * 3, kind=kind, vocab_size=500)


@pytest.fixture(scope="module", autouse=True)
def ready() -> None:
    """Training belongs to no example's time."""
    for kind in TokenizerKind:
        trained(kind)


@given(ANY | st.lists(st.sampled_from(["<s>", "</s>", "<pad>", " ", "a"])).map("".join))
def test_bpe_gives_back_any_text(text: str) -> None:
    tokenizer = trained(TokenizerKind.BPE)
    assert tokenizer.decode(tokenizer.encode(text, literal=True).ids) == text


@given(SEEN)
def test_characters_give_back_any_text_of_their_alphabet(text: str) -> None:
    tokenizer = trained(TokenizerKind.CHARACTER)
    encoding = tokenizer.encode(text, literal=True)
    assert tokenizer.decode(encoding.ids) == text
    assert encoding.pieces == tuple(text)


@given(KINDS, ANY | SEEN)
def test_offsets_lie_in_the_text_in_order(kind: TokenizerKind, text: str) -> None:
    encoding = trained(kind).encode(text, add_special=False)
    starts = [start for start, _ in encoding.offsets]
    assert starts == sorted(starts)
    assert all(0 <= start <= end <= len(text) for start, end in encoding.offsets)
    assert len(encoding.ids) == len(encoding.pieces) == len(encoding.offsets) == len(encoding.special)


@given(SEEN)
def test_offsets_give_back_what_a_piece_was_read_from(text: str) -> None:
    for kind, spelled in (
        (TokenizerKind.WORD, str),
        (TokenizerKind.WORDPIECE, lambda piece: piece.removeprefix("##")),
    ):
        encoding = trained(kind).encode(text, add_special=False)
        for piece, (start, end), special in zip(encoding.pieces, encoding.offsets, encoding.special, strict=True):
            assert special or text[start:end] == spelled(piece)


@given(ANY)
def test_byte_pieces_cover_the_text_without_gaps(text: str) -> None:
    tokenizer = trained(TokenizerKind.BPE)
    encoding = tokenizer.encode(text, literal=True)
    covered = {place for start, end in encoding.offsets for place in range(start, end)}
    assert covered == set(range(len(text)))
    for index, (start, end) in zip(encoding.ids, encoding.offsets, strict=True):
        decoded = tokenizer.decode([index])
        assert "\ufffd" in decoded or decoded == text[start:end]


@given(KINDS, st.lists(ANY, max_size=4))
def test_a_batch_is_a_loop(kind: TokenizerKind, texts: list[str]) -> None:
    tokenizer = trained(kind)
    assert tokenizer.encode_batch(texts) == [tokenizer.encode(text) for text in texts]


@given(ANY, st.integers(0, 3))
def test_scrambling_keeps_everything_but_the_order_inside_words(text: str, seed: int) -> None:
    scrambled = scramble_words(text, seed=seed)
    assert sorted(scrambled) == sorted(text)
    assert [(place, letter) for place, letter in enumerate(scrambled) if letter.isspace() or letter.isdigit()] == [
        (place, letter) for place, letter in enumerate(text) if letter.isspace() or letter.isdigit()
    ]


@given(ANY)
def test_words_are_the_text_without_its_spaces(text: str) -> None:
    assert "".join("".join(split_words(text)).split()) == "".join(text.split())
