"""E3: six tokens through one encoder block."""

from collections.abc import Mapping

import torch

from clearhead.lessons.example import Input, Result, Row, Table, WorkedExample, numbers, shape, table
from clearhead.lessons.small_models import encoder
from clearhead.nn import merge_heads
from clearhead.probe import Recorder, listen

__all__ = ["work"]

_SENTENCE = ("the", "cat", "sat", "on", "the", "mat")
_IDS = {"the": 5, "cat": 42, "sat": 33, "on": 14, "mat": 71}
_VECTORS = {
    "the": (0.1, 0.3, 0.5, 0.2),
    "cat": (0.6, 0.4, 0.2, 0.9),
    "sat": (0.3, 0.8, 0.6, 0.1),
    "on": (0.9, 0.2, 0.1, 0.5),
    "mat": (0.7, 0.1, 0.3, 0.4),
}


_TABLE: Table = tuple(_VECTORS.values())


def work(*, vectors: Table = _TABLE) -> WorkedExample:
    """Runs the sentence through a real encoder whose token table holds the notes' vectors.

    Args:
        vectors: One of four numbers for each word of the vocabulary.
    """
    recorder = _run(dict(zip(_VECTORS, vectors, strict=True)))
    token_TD, input_TD = recorder["embed.token"][0], recorder["encoder.0.resid_pre"][0]
    printed = tuple(_VECTORS[word] for word in _SENTENCE)
    return WorkedExample(
        key="E3",
        title="Six tokens through an encoder block",
        shows=(
            "Ids pick rows of the token table, positions are added, and the sum goes through one block: "
            "two heads of width 2, a feed-forward network from 4 to 8 and back, each added to the stream and "
            "normalised. The shape at every step is what the run recorded."
        ),
        results=(
            Result(name="token vectors", computed=table(token_TD), printed=printed, rows=_SENTENCE, digits=1),
            Result(
                name="input of the block: token + position",
                computed=table(input_TD),
                printed=printed,
                remark="The notes name the sum but print the token vectors alone.",
                rows=_SENTENCE,
            ),
            *_shapes(recorder),
            Result(
                name="“cat” after the block",
                computed=numbers(recorder["encoder.0.resid_post"][0, 1]),
                remark="With weights drawn at random; a layer norm leaves mean 0 and variance 1.",
            ),
        ),
        inputs=(
            Input(key="vectors", name="the token vectors", value=vectors, rows=tuple(_VECTORS), least=-20, most=20),
        ),
    )


def _run(vectors: Mapping[str, Row]) -> Recorder:
    vocab_size = max(_IDS.values()) + 1
    model = encoder(vocab_size=vocab_size)
    words = {index: word for word, index in _IDS.items()}
    none = (0.0,) * 4
    rows = [vectors[words[index]] if index in words else none for index in range(vocab_size)]
    model.encoder.embedding.token.set_rows(rows)
    recorder = Recorder()
    with torch.no_grad(), listen(recorder):
        model(torch.tensor([[_IDS[word] for word in _SENTENCE]]))
    return recorder


def _shapes(recorder: Recorder) -> tuple[Result, ...]:
    """Every intermediate shape, beside the one that the notes print."""
    sites = {name: recorder[f"encoder.0.{name}"] for name in ("self.query", "self.key", "self.value", "self.mixed")}
    steps = (
        ("the input", recorder["encoder.0.resid_pre"][0], "(6, 4)"),
        ("Q", merge_heads(sites["self.query"])[0], "(6, 4)"),
        ("K", merge_heads(sites["self.key"])[0], "(6, 4)"),
        ("V", merge_heads(sites["self.value"])[0], "(6, 4)"),
        ("Q split into heads", sites["self.query"], "(1, 2, 6, 2)"),
        ("one head's output", sites["self.mixed"][0, 0], "(6, 2)"),
        ("the heads, concatenated", merge_heads(sites["self.mixed"])[0], "(6, 4)"),
        ("the attention output", recorder["encoder.0.self.output"][0], "(6, 4)"),
        ("add & norm", recorder["encoder.0.resid_mid"][0], "(6, 4)"),
        ("the feed-forward network, inside", recorder["encoder.0.ffn.hidden"][0], None),
        ("the feed-forward output", recorder["encoder.0.ffn.output"][0], "(6, 4)"),
        ("add & norm, again", recorder["encoder.0.resid_post"][0], "(6, 4)"),
    )
    return tuple(Result(name=f"shape of {name}", computed=shape(value), printed=given) for name, value, given in steps)
