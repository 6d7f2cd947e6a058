"""What decoding promises, whatever the logits, the ids and the settings."""

from collections.abc import Callable, Sequence
from functools import cache

import pytest
import tokenizers
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import decoders, models
from torch import Tensor

from clearhead.decoding import DecodingSettings, Row, TextStream, beam_search, decode
from clearhead.decoding.choose import candidates
from clearhead.decoding.processors import process
from clearhead.engine import Engine, Request
from clearhead.models import DecoderOnly, EncoderDecoder
from clearhead.testing import ByteTokenizer
from clearhead.text import Tokenizer, TokenizerKind, train_tokenizer

SIZE = 9
TEXTS = [
    "The cat sat on the mat, didn't it?",
    "नमस्ते दुनिया",
    "e\u0301tude 👩‍👩‍👧 naïve 😀😀",
    "日本語 and 한국어",
    "a\nb  c",
]
ids_list = st.lists(st.integers(0, SIZE - 1), min_size=1, max_size=12)
logits_V = st.lists(st.floats(-8, 8, width=32), min_size=SIZE, max_size=SIZE, unique=True).map(torch.tensor)


@given(ids=ids_list, logits=logits_V, penalty=st.floats(0.3, 3.0))
@settings(max_examples=40, deadline=None)
def test_repetition_is_penalised_once_an_id(ids: list[int], logits: Tensor, penalty: float) -> None:
    found = logits.clone()
    process(found, ids=ids, n_new=0, n_most=9, settings=DecodingSettings(repetition_penalty=penalty))
    for index, (before, after) in enumerate(zip(logits.tolist(), found.tolist(), strict=True)):
        naive = (before * penalty if before < 0 else before / penalty) if index in ids else before
        assert after == pytest.approx(naive, rel=1e-5, abs=1e-30)


@given(ids=ids_list, logits=logits_V, length=st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_what_is_forbidden_is_what_would_repeat_a_run(ids: list[int], logits: Tensor, length: int) -> None:
    process(logits, ids=ids, n_new=0, n_most=9, settings=DecodingSettings(no_repeat_ngram=length))
    runs = {tuple(ids[n : n + length]) for n in range(len(ids) - length + 1)}
    for index in range(SIZE):
        longer = (*ids, index)
        assert bool(logits[index] == -torch.inf) == (len(longer) >= length and longer[-length:] in runs)


@given(ids=ids_list, logits=logits_V, words=st.lists(ids_list.map(lambda ids: tuple(ids[:3])), min_size=1, max_size=4))
@settings(max_examples=40, deadline=None)
def test_what_is_forbidden_is_what_would_complete_a_bad_word(
    ids: list[int], logits: Tensor, words: list[tuple[int, ...]]
) -> None:
    process(logits, ids=ids, n_new=0, n_most=9, settings=DecodingSettings(bad_words=tuple(words)))
    for index in range(SIZE):
        longer = (*ids, index)
        assert bool(logits[index] == -torch.inf) == any(longer[-len(word) :] == word for word in words)


@given(
    logits=logits_V,
    temperature=st.floats(0.2, 3.0),
    top_k=st.integers(0, SIZE + 2),
    top_p=st.floats(0.05, 1.0),
    min_p=st.floats(0.0, 1.0),
)
@settings(max_examples=40, deadline=None)
def test_who_may_be_drawn_is_found_one_rule_after_another(
    logits: Tensor, temperature: float, top_k: int, top_p: float, min_p: float
) -> None:
    asked = DecodingSettings(sample=True, temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p)
    ids, score = candidates(logits[None], asked)
    found = {int(index) for index, value in zip(ids[0], score[0], strict=True) if value > -torch.inf}
    share = (logits.double() / temperature).softmax(-1).tolist()
    order = sorted(range(SIZE), key=lambda index: -share[index])[: top_k or SIZE]
    whole = sum(share[index] for index in order)
    sums = [sum(share[index] for index in order[:n]) / whole for n in range(len(order))]
    ratios = [share[index] / share[order[0]] for index in order]
    # Where a rule is met to the last digit, either answer is right.
    surely = {i for i, s, r in zip(order, sums, ratios, strict=True) if s < top_p - 1e-5 and r > min_p + 1e-5}
    perhaps = {i for i, s, r in zip(order, sums, ratios, strict=True) if s < top_p + 1e-5 and r > min_p - 1e-5}
    assert surely | {order[0]} <= found <= perhaps | {order[0]}


@cache
def trained(kind: TokenizerKind) -> Tokenizer:
    return train_tokenizer(TEXTS * 3, kind=kind, vocab_size=400)


def assert_streamed(tokenizer: Tokenizer, ids: Sequence[int], *, exact: bool) -> None:
    stream = TextStream(decode=tokenizer.decode)
    shown = [stream.push(index) for index in ids]
    assert not any(piece.endswith("\ufffd") for piece in shown)
    joined, whole = "".join(shown) + stream.close(), tokenizer.decode(ids)
    if exact or "\ufffd" not in whole:
        assert joined == whole
    else:
        assert len(joined.replace("\ufffd", "")) >= len(whole.replace("\ufffd", ""))


@pytest.mark.parametrize("kind", TokenizerKind)
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_a_stream_of_any_ids_is_their_text(kind: TokenizerKind, data: st.DataObject) -> None:
    tokenizer = trained(kind)
    ids = st.lists(st.integers(0, tokenizer.vocab_size - 1), max_size=25)
    assert_streamed(tokenizer, data.draw(ids, "ids"), exact=True)


@given(ids=st.lists(st.integers(0, ByteTokenizer().vocab_size - 1), max_size=25))
@settings(max_examples=40, deadline=None)
def test_a_stream_of_any_bytes_is_their_text(ids: list[int]) -> None:
    assert_streamed(ByteTokenizer(), ids, exact=True)


@pytest.mark.parametrize("kind", TokenizerKind)
@given(text=st.lists(st.sampled_from(TEXTS), min_size=1, max_size=2).map(" ".join), cut=st.integers(0, 60))
@settings(max_examples=10, deadline=None)
def test_a_stream_of_a_text_cut_anywhere_is_its_text(kind: TokenizerKind, text: str, cut: int) -> None:
    assert_streamed(trained(kind), trained(kind).encode(text).ids[:cut], exact=True)


@cache
def with_spare_bytes() -> Tokenizer:
    """Decodes as published SentencePiece vocabularies do: pieces that begin with a space, and bytes for all else."""
    words = ["▁", "▁the", "▁cat", "s", "a", "é", "न", "▁▁"]
    pieces = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *words]
    vocabulary = {piece: index for index, piece in enumerate(pieces)}
    inner = tokenizers.Tokenizer(models.BPE(vocab=vocabulary, merges=[], byte_fallback=True))
    inner.add_special_tokens(["<unk>", "<s>", "</s>"])
    inner.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return Tokenizer(inner=inner)


@given(text=st.text(max_size=8), words=st.lists(st.integers(0, 266), max_size=3), cut=st.integers(0, 30))
@settings(max_examples=40, deadline=None)
def test_a_stream_of_characters_in_spare_bytes_is_its_text(text: str, words: list[int], cut: int) -> None:
    spelt = [3 + byte for byte in text.encode("utf-8", errors="ignore")]
    assert_streamed(with_spare_bytes(), [*words, *spelt, *words][:cut], exact=False)


@given(ids=st.lists(st.one_of(st.integers(0, 266), st.sampled_from([0xE2 + 3, 0x82 + 3, 0xAC + 3])), max_size=25))
@settings(max_examples=60, deadline=None)
def test_spare_bytes_that_are_no_text_lose_nothing(ids: list[int]) -> None:
    assert_streamed(with_spare_bytes(), ids, exact=False)


class _Table:
    """Logits by the last id."""

    def __init__(self, table_VV: Tensor, prompts: Sequence[Sequence[int]]) -> None:
        self.table_VV, self.last_B = table_VV, torch.tensor([prompt[-1] for prompt in prompts])

    def start(self) -> Tensor:
        return self.table_VV[self.last_B]

    def step(self, ids_B: Tensor) -> Tensor:
        self.last_B = ids_B
        return self.start()

    def select(self, rows_B: Tensor) -> None:
        self.last_B = self.last_B[rows_B]


@given(data=st.data(), seed=st.integers(0, 999), n_new=st.integers(1, 8), penalty=st.floats(-2, 2))
@settings(max_examples=30, deadline=None)
def test_one_beam_is_greedy(data: st.DataObject, seed: int, n_new: int, penalty: float) -> None:
    table = torch.randn(SIZE, SIZE, generator=torch.Generator().manual_seed(seed))
    prompts = [tuple(ids) for ids in data.draw(st.lists(ids_list, min_size=1, max_size=3), "prompts")]
    asked = DecodingSettings(
        max_new_tokens=n_new,
        length_penalty=penalty,
        end_ids=tuple(data.draw(st.sets(st.integers(0, SIZE - 1), max_size=3), "ends")),
        no_repeat_ngram=data.draw(st.sampled_from([0, 2]), "run"),
        min_new_tokens=data.draw(st.integers(0, 3), "least"),
    )
    found = beam_search(_Table(table, prompts), prompts, settings=asked)
    rows = [Row(name=n, prompt=prompt, settings=asked) for n, prompt in enumerate(prompts)]
    for _ in decode(_Table(table, prompts), rows):
        pass
    for result, row in zip(found, rows, strict=True):
        assert result.beams[0].ids == tuple(row.ids[row.prompt_length :])


def _requests(data: st.DataObject, *, beams: int) -> list[Request]:
    asked: dict[str, object] = {"beams": beams, "n_best": beams} if beams > 1 else {}
    if beams == 1 and data.draw(st.booleans(), "sample"):
        asked = {"sample": True, "seed": data.draw(st.integers(0, 99), "seed"), "top_p": 0.95}
    ids = st.lists(st.integers(0, 12), min_size=1, max_size=5)
    prompts = data.draw(st.lists(ids, min_size=2, max_size=2), "prompts")
    made = DecodingSettings(max_new_tokens=data.draw(st.integers(2, 3), "new"), end_ids=(3, 8), **asked)
    return [Request(ids=tuple(prompt), settings=made, draw=n) for n, prompt in enumerate(prompts)]


def _uncached(engine: Engine, request: Request) -> tuple[int, ...]:
    """The likeliest ids, the whole text read anew for each."""
    network, new = engine.network, []
    prompt = engine.prompt(request)
    while len(new) < (request.settings.max_new_tokens or 0) and (not new or new[-1] not in request.settings.end_ids):
        ids = torch.tensor([[*prompt, *new]])
        with torch.no_grad():
            output = network(ids) if isinstance(network, DecoderOnly) else network(torch.tensor([request.ids]), ids)
        new.append(int(output.logits_BTV[0, -1].argmax()))
    return tuple(new)


def _assert_batch_is_loop(engine: Engine, data: st.DataObject) -> None:
    requests = _requests(data, beams=data.draw(st.sampled_from([1, 1, 2]), "beams"))
    together = engine.generate(requests)
    for request, reply in zip(requests, together, strict=True):
        alone = engine.generate([request])[0]
        assert [answer.ids for answer in alone.answers] == [answer.ids for answer in reply.answers]
        if request.settings.beams == 1 and not request.settings.sample:
            assert reply.best.ids == _uncached(engine, request)


@given(data=st.data())
@settings(max_examples=2, deadline=None)
def test_a_decoder_writes_alone_as_in_company_and_without_a_cache(
    decoder_only: Callable[[st.DataObject], DecoderOnly], data: st.DataObject
) -> None:
    _assert_batch_is_loop(Engine(network=decoder_only(data)), data)


@given(data=st.data())
@settings(max_examples=2, deadline=None)
def test_an_encoder_decoder_writes_alone_as_in_company_and_without_a_cache(
    encoder_decoder: Callable[[st.DataObject], EncoderDecoder], data: st.DataObject
) -> None:
    _assert_batch_is_loop(Engine(network=encoder_decoder(data), start_id=0), data)
