"""E13: the sentences of the notes, and what can be computed about them."""

import torch
from torch import Tensor

from clearhead.config import AttentionConfig, PositionKind, preset
from clearhead.errors import ConfigError
from clearhead.lessons.example import Input, Result, WorkedExample, shape
from clearhead.lessons.small_models import encoder, encoder_decoder, filled
from clearhead.nn import Attention, AttentionMask
from clearhead.probe import Recorder, listen
from clearhead.text.document_vectors import DocumentVectors
from clearhead.text.train import train_tokenizer
from clearhead.text.words import split_words

__all__ = ["work"]

_ORDER = (("I ate pizza", "Pizza ate I"), ("Nithish killed lion", "lion killed Nithish"))
_PAIRS = (
    ("How are you?", "आप कैसे हैं"),
    ("Congratulations", "बधाई हो"),
    ("Thank you", "धन्यवाद"),
    ("I like eating ice cream", "मुझे आइसक्रीम खाना पसंद है"),
)
_ALONE = ("We are friends", "I am good", "The cat sat on the mat")
_IDIOM = "piece of cake"
_N_TARGET_WORDS = 10_000


def work(*, pair: tuple[str, ...] = _ORDER[1]) -> WorkedExample:
    """Cuts the sentences into words, turns them round, and builds the output layer.

    Args:
        pair: Two sentences of the same words in another order.

    Raises:
        ConfigError: They share no word.
    """
    return WorkedExample(
        key="E13",
        title="The sentences of the notes",
        shows=(
            "Word order carries meaning that counting loses and that attention alone loses too, until positions are "
            "added. The sentences to translate are cut into words as every tokenizer begins, and the output layer "
            "has one number for each target word."
        ),
        results=(*_orders(pair), *_translations(), *_output_layer(), _heads(), _quiz()),
        inputs=(Input(key="pair", name="two sentences of the same words", value=pair),),
    )


def _orders(pair: tuple[str, ...]) -> tuple[Result, ...]:
    results: list[Result] = []
    for each in (_ORDER[0], pair):
        counts = DocumentVectors(documents=each, lowercase=True).matrix
        name = f"difference of the count vectors of “{each[0]}” and “{each[1]}”"
        results.append(Result(name=name, computed=float(abs(counts[0] - counts[1]).max()), digits=0))
    first, second = pair
    shared = [word for word in split_words(first) if word in split_words(second)]
    if not shared:
        raise ConfigError("sentences that share no word", got=f"{first} | {second}", expected="the same words")
    word = "lion" if "lion" in shared else shared[-1]
    for position, how in ((PositionKind.NONE, "without positions"), (PositionKind.SINUSOIDAL, "with positions")):
        apart = _apart(first, second, word=word, position=position)
        results.append(Result(name=f"difference of “{word}” in the two after an encoder block, {how}", computed=apart))
    return tuple(results)


def _apart(first: str, second: str, *, word: str, position: PositionKind) -> float:
    """How far apart the vectors of one word are in two sentences."""
    tokenizer = train_tokenizer([first, second], kind="word")
    model = encoder(vocab_size=tokenizer.vocab_size, position=position)

    def vector(sentence: str) -> Tensor:
        encoding = tokenizer.encode(sentence, add_special=False)
        with torch.no_grad():
            return model(torch.tensor([encoding.ids])).hidden_BSD[0, encoding.pieces.index(word)]

    return float((vector(first) - vector(second)).abs().max())


def _translations() -> tuple[Result, ...]:
    pairs = [Result(name=f"“{source}”", computed=f"{_cut(source)}  →  {_cut(target)}") for source, target in _PAIRS]
    idiom = Result(
        name=f"“{_IDIOM}”",
        computed=_cut(_IDIOM),
        remark="An idiom: translated word by word it speaks of cake; its meaning is in no single word.",
    )
    alone = [Result(name=f"“{sentence}”", computed=_cut(sentence)) for sentence in _ALONE]
    return (*pairs, *alone, idiom)


def _output_layer() -> tuple[Result, ...]:
    model = encoder_decoder(vocab_size=_N_TARGET_WORDS)
    with torch.no_grad():
        logits_BTV = model(torch.tensor([[5, 6, 7]]), torch.tensor([[1, 8, 9]])).logits_BTV
    assert logits_BTV is not None
    total_BT = logits_BTV.double().softmax(-1).sum(-1)
    return (
        Result(name="neurons of the output layer", computed=logits_BTV.shape[-1], printed=_N_TARGET_WORDS),
        Result(name="shape of the logits of three target words", computed=shape(logits_BTV[0])),
        Result(name="sum of the probabilities of one word", computed=float(total_BT[0, 0])),
    )


def _heads() -> Result:
    columns = [_attention_sizes(n_heads) for n_heads in (1, 8)]
    return Result(
        name="one head or eight, at width 512",
        computed=tuple(zip(*columns, strict=True)),
        rows=("patterns", "width of a head", "cells of the patterns, 6 words", "parameters"),
        columns=("single head", "multi head"),
        remark=(
            "One head has one pattern and so one shallow view of the sentence; eight have eight, for as many "
            "parameters. What costs more is only the patterns themselves."
        ),
    )


def _attention_sizes(n_heads: int) -> tuple[int, int, int, int]:
    """Patterns, width of a head, cells of the patterns of six words, parameters; as an attention has them."""
    config = AttentionConfig(n_heads=n_heads)
    attention = filled(lambda: Attention(config=config, width=512, head_width=512 // n_heads))
    x_BTD = torch.zeros(1, 6, 512)
    recorder = Recorder("pattern", "query")
    with torch.no_grad(), listen(recorder):
        attention(x_BTD, x_BTD, mask=AttentionMask(n_queries=6, n_keys=6))
    pattern_BHQK = recorder["pattern"]
    n_parameters = sum(parameter.numel() for parameter in attention.parameters())
    return pattern_BHQK.shape[1], recorder["query"].shape[-1], pattern_BHQK.numel(), n_parameters


def _quiz() -> Result:
    stack = preset("original-base", vocab_size=_N_TARGET_WORDS).encoder
    assert stack is not None
    return Result(
        name="blocks in each stack of the original Transformer",
        computed=stack.n_layers,
        remark=(
            "So “always one block each” is the one wrong answer of the first quiz question. The other three are "
            "right: a Transformer is a neural network, its encoder gives a latent representation, and its decoder "
            "makes tokens from it."
        ),
    )


def _cut(text: str) -> str:
    return " · ".join(split_words(text))
