"""Every opened number recomputes from its children, in random models of every family, at random places."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from clearhead.config import HeadKind, RecurrentAttention, RecurrentConfig, RotaryScaling, RotaryScalingKind
from clearhead.decoding import DecodingSettings
from clearhead.engine import Engine, Request
from clearhead.errors import TraceError
from clearhead.explain import Run
from clearhead.explain.arithmetic import Book
from clearhead.explain.node import Node
from clearhead.model import Model
from clearhead.models import build
from clearhead.tasks import Loaded
from clearhead.testing import ByteTokenizer
from clearhead.trace import Tape
from clearhead.trace.record import record_request
from clearhead.weights import Checkpoint

Make = Callable[..., Model]
KINDS = [
    ("gpt2", None),
    ("llama", None),
    ("bert", None),
    ("bert", HeadKind.SEQUENCE_CLASSIFICATION),
    ("bert", HeadKind.TOKEN_CLASSIFICATION),
    ("bert", HeadKind.SENTENCE),
    ("distilbert", None),
    ("t5", None),
    ("flan-t5", None),
    ("marian", None),
    ("original", None),
]
NEAR = 1e-5


def check(node: Node) -> None:
    assert abs(node.recomputed - node.value) <= NEAR * max(1.0, abs(node.value)), node.name


def descend(node: Node, choice: Callable[[int], int], *, depth: int = 12) -> None:
    """Opens one child of a child and so on, each level checked."""
    for _ in range(depth):
        check(node)
        if not node.children:
            assert node.operation == "given" or not node.opens(), node.name
            return
        node = node.children[choice(len(node.children))]


@pytest.mark.parametrize(("kind", "head"), KINDS)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_every_opened_number_recomputes(
    tiny_model: Make, kind: str, head: HeadKind | None, data: st.DataObject
) -> None:
    model = tiny_model(kind, head)
    reads = kind in ("gpt2", "llama", "bert", "distilbert")
    run = model.trace("The cat sat.", **({} if reads else {"max_new_tokens": 4, "beams": 2}))
    site = data.draw(st.sampled_from(sorted(run)))
    index = tuple(data.draw(st.integers(0, n - 1)) for n in run[site].shape)
    if np.isnan(run[site][index]):
        return
    descend(run.book.at(site, *index), lambda n: data.draw(st.integers(0, n - 1)))


def varied(model: Model, variant: str) -> Model:
    """A Llama with grouped heads, a window, or frequencies that are stretched."""
    config = model.config
    decoder = config.decoder
    assert decoder is not None and decoder.position is not None
    if variant in ("grouped", "window"):
        attention = replace(decoder.attention, n_heads=4, head_width=4)
        attention = replace(attention, n_kv_heads=2) if variant == "grouped" else replace(attention, window=3)
        decoder = replace(decoder, attention=attention)
    else:
        scaling = RotaryScaling(kind=RotaryScalingKind(variant), factor=4.0, original_length=6)
        decoder = replace(decoder, position=replace(decoder.position, scaling=scaling))
    network = build(replace(config, decoder=decoder), seed=5)
    checkpoint = Checkpoint(model=network, family="llama", foreign={}, generation={})
    return Model(loaded=Loaded(checkpoint=checkpoint, tokenizer=ByteTokenizer(), name=variant))


@pytest.mark.parametrize("variant", ["grouped", "window", *RotaryScalingKind])
@pytest.mark.parametrize("writes", [False, True])
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_variants_of_attention_recompute_too(tiny_model: Make, variant: str, writes: bool, data: st.DataObject) -> None:
    """Also in the middle of decoding, where dynamic frequencies depend on how long the text was at that step."""
    model = varied(tiny_model("llama"), variant)
    text = "The cat sat."
    run = model.generate(text, trace="*", max_new_tokens=4, temperature=0) if writes else model.trace(text)
    site = data.draw(st.sampled_from(sorted(site for site in run if ".self." in site)))
    index = tuple(data.draw(st.integers(0, n - 1)) for n in run[site].shape)
    if not np.isnan(run[site][index]):
        descend(run.book.at(site, *index), lambda n: data.draw(st.integers(0, n - 1)))


@pytest.mark.parametrize("attention", ["additive", "dot"])
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_the_recurrent_model_recomputes_too(attention: str, data: st.DataObject) -> None:
    config = RecurrentConfig(vocab_size=20, width=16, attention=RecurrentAttention(attention))
    network = build(config, seed=1)
    request = Request(ids=(3, 4, 5), settings=DecodingSettings(max_new_tokens=4, end_ids=()))
    tape = Tape(sites=("*",))
    trace = record_request(
        Engine(network=network, start_id=1), request, tape=tape, config=config, pieces=(str, str)
    ).trace
    site = data.draw(st.sampled_from(sorted(trace)))
    index = tuple(data.draw(st.integers(0, n - 1)) for n in trace[site].shape)
    descend(Book(trace=trace, network=network).at(site, *index), lambda n: data.draw(st.integers(0, n - 1)))


@pytest.mark.parametrize("kind", ["gpt2", "llama", "t5", "marian", "original"])
@pytest.mark.parametrize("place", [0, -1])
def test_a_logit_is_the_sum_of_what_every_block_wrote(tiny_model: Make, kind: str, place: int) -> None:
    model = tiny_model(kind)
    run = model.trace("The cat.", **({} if kind in ("gpt2", "llama") else {"max_new_tokens": 4}))
    for output in (0, 7, 200):
        node = run.why("logits", by="block", T=place, V=output)
        check(node)
        for child in node.children:
            check(child)


@pytest.mark.parametrize("kind", ["gpt2", "marian"])
def test_losses_and_scores_recompute(tiny_model: Make, kind: str) -> None:
    run = tiny_model(kind).generate("The cat.", trace="*", beams=3, max_new_tokens=5)
    score = run.why("score")
    check(score)
    assert score.value == pytest.approx(run.trace.score, rel=1e-4)
    loss = run.why("loss")
    for node in (loss, *loss.children, *loss.children[0].children, *loss.children[0].children[0].children):
        check(node)
    logits = torch.tensor(run["logits"][0])
    followed = [token.id for token in run.trace.target[run.trace.n_prompt :]] + [run.trace.written[-1].id]
    expected = torch.nn.functional.cross_entropy(logits, torch.tensor(followed))
    assert loss.value == pytest.approx(float(expected), rel=1e-5)


def test_a_run_that_read_has_no_score(tiny_model: Make) -> None:
    run: Run = tiny_model("gpt2").trace("The cat.")
    with pytest.raises(TraceError, match="wrote nothing"):
        run.why("score")
