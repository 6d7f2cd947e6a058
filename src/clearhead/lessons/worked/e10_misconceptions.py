"""E10: five misconceptions, each corrected by computing."""

import torch

from clearhead.errors import ConfigError
from clearhead.figures import Figure, heatmap
from clearhead.lessons.example import Input, Result, WorkedExample, table
from clearhead.lessons.small_models import encoder_decoder
from clearhead.lessons.worked.e06_glove_heads import run
from clearhead.nn import LearnedPosition, SinusoidalPosition
from clearhead.probe import Recorder, listen
from clearhead.text.special import SpecialTokens
from clearhead.text.tokenizer import Tokenizer
from clearhead.text.train import train_tokenizer
from clearhead.text.words import split_words

__all__ = ["work"]

_SOURCE = "I like eating ice cream"
_TARGET = "मुझे आइसक्रीम खाना पसंद है"
_START = "<start>"


def work(*, sentences: tuple[str, ...] = (_SOURCE, _TARGET)) -> WorkedExample:
    """Translates one sentence with recorders everywhere, and asks them.

    Args:
        sentences: The source and the target, of at least three words.

    Raises:
        ConfigError: A target that is too short to have a third position.
    """
    source, target = sentences
    if len(split_words(target)) < 3 or not split_words(source):
        raise ConfigError("a sentence that is too short", got=target, expected="a source, and a target of three words")
    tokenizer = train_tokenizer([source, target], kind="word", special=SpecialTokens(unknown="<unknown>", start=_START))
    recorder = _record(tokenizer, source, target)
    return WorkedExample(
        key="E10",
        title="Five misconceptions, each shown by computing",
        shows=(
            f"An encoder-decoder reads “{source}” and writes “{target}”, shifted right behind {_START}. "
            "Its weights are random; who may look at whom, what goes in where, and how wide things are "
            "does not depend on them."
        ),
        results=(
            *_start_token(recorder, tokenizer, source),
            _third_position(recorder, tokenizer, target),
            _key_width(recorder),
            *_positions(),
            _notebook_head(),
        ),
        figures={"cross": _picture(recorder, tokenizer, source, target)},
        inputs=(Input(key="sentences", name="source and target", value=sentences),),
    )


def _record(tokenizer: Tokenizer, source: str, target: str) -> Recorder:
    model = encoder_decoder(vocab_size=tokenizer.vocab_size)
    source_ids_BS = torch.tensor([tokenizer.encode(source, add_special=False).ids])
    target_ids = tokenizer.encode(target, add_special=False).ids
    # Shifted right: the last word is only predicted, never read.
    target_ids_BT = torch.tensor([[tokenizer.id_of(_START), *target_ids[:-1]]])
    recorder = Recorder("decoder.embed.*", "decoder.0.*")
    with torch.no_grad(), listen(recorder):
        model(source_ids_BS, target_ids_BT)
    return recorder


def _start_token(recorder: Recorder, tokenizer: Tokenizer, source: str) -> tuple[Result, Result]:
    pattern_HK = recorder["decoder.0.cross.pattern"][0, :, 0]
    n_seen, n_source = int((pattern_HK > 0).all(0).sum()), pattern_HK.shape[1]
    looks = Result(
        name=f"source words that the query of {_START} looks at",
        computed=f"{n_seen} of {n_source}",
        printed="the first alone",
        remark="Cross-attention has no causal mask: every target position looks at every source position.",
    )
    words = tokenizer.encode(source, add_special=False).pieces
    shares = Result(
        name=f"and how much {_START} takes from each",
        computed=table(pattern_HK),
        rows=tuple(f"head {head}" for head in range(len(pattern_HK))),
        columns=words,
    )
    return looks, shares


def _third_position(recorder: Recorder, tokenizer: Tokenizer, target: str) -> Result:
    """Finds out whose row of the token table enters at the third position."""
    entered_D = recorder["decoder.embed.token"][0, 2]
    model = encoder_decoder(vocab_size=tokenizer.vocab_size)
    distance_V = (model.decoder.embedding.token.weight.detach() - entered_D).abs().sum(-1)
    found = tokenizer.piece_of(int(distance_V.argmin()))
    _, previous, coming, *_ = tokenizer.encode(target, add_special=False).pieces
    meanings = {previous: "the token written last", coming: "the word still to be generated"}
    return Result(
        name="what makes the query of the third position",
        computed=meanings.get(found, found),
        printed=meanings[coming],
        remark=f"It predicts “{coming}”, so it cannot read it: the vector that went in is that of “{found}”.",
    )


def _key_width(recorder: Recorder) -> Result:
    width = recorder["decoder.0.resid_pre"].shape[-1]
    return Result(
        name="d_k, the width of one head's keys",
        computed=recorder["decoder.0.self.key"].shape[-1],
        printed=width,
        remark=f"{width} is the width of the input; it is divided among the heads, and √d_k takes the quotient.",
    )


def _positions() -> tuple[Result, Result]:
    sinusoidal = SinusoidalPosition(width=4)
    learned = LearnedPosition(max_length=512, width=4)
    n_computed, n_learned = (sum(p.numel() for p in part.parameters()) for part in (sinusoidal, learned))
    return (
        Result(
            name="numbers that training can change in sinusoidal positions",
            computed=f"{n_computed}: they are computed",
            printed="they are learned",
        ),
        Result(
            name="and in learned positions, which exist too",
            computed=n_learned,
            remark=f"{learned.weight.shape[0]} places of width {learned.weight.shape[1]}.",
        ),
    )


def _notebook_head() -> Result:
    return Result(
        name="width of a head when 50 numbers are split over 10 heads",
        computed=run(n_heads=10).head_width,
        printed=10,
        remark="The comment in the notebook names the number of heads.",
    )


def _picture(recorder: Recorder, tokenizer: Tokenizer, source: str, target: str) -> Figure:
    written = tokenizer.encode(target, add_special=False).pieces
    return heatmap(
        recorder["decoder.0.cross.pattern"][0].numpy(),
        rows=[_START, *written[:-1]],
        columns=tokenizer.encode(source, add_special=False).pieces,
        title="Every target position looks at every source position",
    )
