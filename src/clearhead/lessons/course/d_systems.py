"""Whole systems: the three families, training, and writing one token at a time."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch.nn import functional

from clearhead.config import SIZES, architecture, preset
from clearhead.decoding import DecodingSettings
from clearhead.engine import Engine, Request
from clearhead.lessons.course.chapter import Chapter, Live, Question, right, wrong
from clearhead.lessons.small_models import encoder_decoder
from clearhead.models import DecoderOnly, build
from clearhead.probe import Recorder, listen

_START = 0
_TARGET = [11, 12, 13, 2]


def _family(name: str) -> Callable[[], str]:
    def show() -> str:
        config = preset("tiny", architecture=name, vocab_size=9)
        stacks = [key for key, stack in (("an encoder", config.encoder), ("a decoder", config.decoder)) if stack]
        return f"The configuration of {name} has {' and '.join(stacks)}: {config.family}."

    return show


def _writer() -> Engine:
    config = preset("tiny", architecture="gpt2", vocab_size=40)
    network = build(config, seed=2)
    assert isinstance(network, DecoderOnly)
    return Engine(network=network, start_id=1)


def _written(engine: Engine, **settings: Any) -> tuple[int, ...]:
    request = Request(ids=(5, 6, 7), settings=DecodingSettings(max_new_tokens=6, end_ids=(), **settings))
    return engine.generate([request])[0].best.ids


def _beams() -> str:
    greedy = _written(_writer())
    return f"Greedy: {list(greedy)}; four beams: {list(_written(_writer(), beams=4))}."


def _cache() -> str:
    model = build(preset("tiny", architecture="gpt2", vocab_size=40), seed=2)
    assert isinstance(model, DecoderOnly)
    ids = [5, 6, 7]
    with torch.no_grad():
        for _ in range(6):
            ids.append(int(model(torch.tensor([ids])).logits_BTV[0, -1].argmax()))
    return f"All read again at every step: {ids[3:]}; with the cache: {list(_written(_writer()))}."


def _once() -> str:
    recorder = Recorder("encoder.0.resid_pre", "decoder.0.resid_pre")
    engine = Engine(network=encoder_decoder(vocab_size=9), start_id=_START)
    with listen(recorder):
        engine.generate([Request(ids=(1, 2, 3), settings=DecodingSettings(max_new_tokens=10, end_ids=()))])
    counts = [len(recorder.history[f"{stack}.0.resid_pre"]) for stack in ("encoder", "decoder")]
    return f"Ten tokens were written: the encoder ran {counts[0]} time, the decoder {counts[1]} times."


def _read() -> list[int]:
    """What the decoder reads in training for the target."""
    shifted = functional.pad(torch.tensor([_TARGET])[:, :-1], (1, 0), value=_START)
    return [int(index) for index in shifted[0]]


def _shifted() -> str:
    return f"Target {_TARGET}; the decoder reads {_read()}."


def _third() -> str:
    return f"Position 2 reads {_read()[2]}, the token written before it, and predicts {_TARGET[2]}."


def _loss() -> str:
    return ", ".join(f"p = {p}: {-math.log(p):.3f}" for p in (0.9, 0.5, 0.01)) + "."


def _cold() -> str:
    logits = torch.tensor([2.0, 1.0, 0.0])
    shown = [f"{t}: {float((logits / t).softmax(-1)[0]):.3f}" for t in (2.0, 1.0, 0.1)]
    return "Probability of the likeliest token by temperature: " + ", ".join(shown) + "."


def _last() -> str:
    config = architecture("marian", size=replace(SIZES["tiny"], width=16, n_heads=2, n_layers=3), vocab_size=9)
    model = build(config, seed=0)
    assert config.encoder is not None and config.decoder is not None
    recorder = Recorder("encoder.*.resid_post", "decoder.*.cross.key")
    with torch.no_grad(), listen(recorder):
        model(torch.tensor([[1, 2, 3]]), torch.tensor([[1]]))
    last = recorder[f"encoder.{config.encoder.n_layers - 1}.resid_post"]
    found: list[str] = []
    for layer in range(config.decoder.n_layers):
        key = model.get_submodule(f"decoder.blocks.{layer}.cross_attention.key")
        with torch.no_grad():
            made = key(last)
        heads = recorder[f"decoder.{layer}.cross.key"]
        same = float((made - heads.transpose(1, 2).flatten(2)).abs().max())
        found.append(f"block {layer}: {same:.0e}")
    return "Keys computed from the last encoder block differ from those used by " + ", ".join(found) + "."


CHAPTERS = (
    Chapter(
        key="D1",
        title="Three families",
        text=(
            "An encoder reads a whole text at once: good for telling what it is. A decoder goes on with a text. An encoder "
            "and a decoder together read one text and write another. The parts are the same; which stacks a model has, "
            "and who may look at whom, makes the family.",
        ),
        live=(Live(view="flow", says="Choose each model above: the drawing comes from its own configuration."),),
        questions=(
            Question(
                key="transformer",
                text="What is true of a Transformer with encoder and decoder?",
                choices=(
                    right("it is a neural network"),
                    right("the encoder gives a representation of its input"),
                    right("the decoder writes tokens from that representation"),
                    wrong("it always has one block of each", "Stacks have as many as one likes; the first had six."),
                ),
                show=_family("original"),
            ),
            Question(
                key="bert",
                text="What kind of model is BERT?",
                choices=(right("an encoder"), wrong("a decoder"), wrong("both")),
                show=_family("bert"),
            ),
            Question(
                key="gpt",
                text="What kind of model is GPT-2?",
                choices=(wrong("an encoder"), right("a decoder"), wrong("both")),
                show=_family("gpt2"),
            ),
            Question(
                key="t5",
                text="What kind of model is T5?",
                choices=(wrong("an encoder"), wrong("a decoder"), right("both")),
                show=_family("t5"),
            ),
            Question(
                key="last-block",
                text="Which encoder block do the decoder's blocks look at?",
                choices=(
                    right("all at the last one"),
                    wrong(
                        "each at the one of its own number", "Every cross-attention reads the encoder's last output."
                    ),
                ),
                show=_last,
            ),
        ),
    ),
    Chapter(
        key="D2",
        title="Training",
        text=(
            "The target is shifted right by one, with a start token before it: at each position the decoder reads the true "
            "tokens so far and predicts the next. All positions are computed at once, and the loss is the mean of -log p.",
        ),
        questions=(
            Question(
                key="shifted",
                text="The target is 11 12 13 2. What does the decoder read in training, with start token 0?",
                choices=(
                    right("0 11 12 13"),
                    wrong("11 12 13 2", "Then it would read the answer."),
                    wrong("2 13 12 11"),
                ),
                show=_shifted,
            ),
            Question(
                key="third",
                text="What is the third position's query made from?",
                choices=(
                    wrong("the word that is to be written there", "That one is not known when writing."),
                    right("the token before it"),
                ),
                show=_third,
            ),
            Question(
                key="loss",
                text="The right token had probability 0.5. What is its loss?",
                choices=(wrong("0.5"), right("0.693"), wrong("2")),
                show=_loss,
            ),
        ),
    ),
    Chapter(
        key="D3",
        title="Writing",
        text=(
            "One token at a time: the encoder reads once, the decoder takes a step for each token and keeps keys and values "
            "of what it has read. The next token is the likeliest, or drawn, or the best of several texts that are followed "
            "at once.",
        ),
        live=(Live(view="flow", says="Step through it: play, back, next; open the beam tree."),),
        questions=(
            Question(
                key="once",
                text="Ten tokens are written. How often does the encoder run?",
                choices=(right("once"), wrong("ten times", "The source does not change.")),
                show=_once,
            ),
            Question(
                key="cache",
                text="Does a cache of keys and values change what is written?",
                choices=(right("no"), wrong("yes", "It keeps what would be computed again.")),
                show=_cache,
            ),
            Question(
                key="beams",
                text="Is the text of a beam search always the one that greedy decoding writes?",
                choices=(wrong("yes"), right("no", "It may find a likelier text that begins less likely.")),
                show=_beams,
            ),
            Question(
                key="cold",
                text="What does a temperature near 0 do?",
                choices=(
                    right("the likeliest token nearly always wins"),
                    wrong("all tokens become equally likely", "That is a high one."),
                ),
                show=_cold,
            ),
        ),
    ),
)
