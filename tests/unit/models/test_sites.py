"""The exact sites of one tiny model of each family, in the order of the pass.

A renamed, moved or lost site fails here: traces, edits and the page find values by these names.
"""

import torch

from clearhead.config import HeadConfig, HeadKind, ModelConfig, RecurrentConfig, Size, architecture
from clearhead.models import build
from clearhead.probe import Recorder, listen

SIZE = Size(n_layers=1, width=8, n_heads=2, feedforward_width=12, max_length=6)
SOURCE = torch.tensor([[1, 2, 3]])
TARGET = torch.tensor([[0, 4]])


def sites(config: ModelConfig | RecurrentConfig, *inputs: torch.Tensor) -> list[str]:
    recorder = Recorder()
    with listen(recorder):
        build(config, seed=0)(*inputs)
    return list(recorder)


def test_the_sites_of_an_encoder_only_model() -> None:
    assert sites(architecture("bert", size=SIZE, vocab_size=9), SOURCE) == [
        "embed.token",
        "embed.position",
        "embed.segment",
        "embed.norm",
        "encoder.0.resid_pre",
        "encoder.0.self.query",
        "encoder.0.self.key",
        "encoder.0.self.value",
        "encoder.0.self.score",
        "encoder.0.self.pattern",
        "encoder.0.self.mixed",
        "encoder.0.self.output",
        "encoder.0.self.norm",
        "encoder.0.resid_mid",
        "encoder.0.ffn.hidden",
        "encoder.0.ffn.output",
        "encoder.0.ffn.norm",
        "encoder.0.resid_post",
        "transform",
        "logits",
    ]


def test_the_sites_of_a_decoder_only_model() -> None:
    assert sites(architecture("gpt2", size=SIZE, vocab_size=9), SOURCE) == [
        "embed.token",
        "embed.position",
        "decoder.0.resid_pre",
        "decoder.0.self.norm",
        "decoder.0.self.query",
        "decoder.0.self.key",
        "decoder.0.self.value",
        "decoder.0.self.score",
        "decoder.0.self.pattern",
        "decoder.0.self.mixed",
        "decoder.0.self.output",
        "decoder.0.resid_mid",
        "decoder.0.ffn.norm",
        "decoder.0.ffn.hidden",
        "decoder.0.ffn.output",
        "decoder.0.resid_post",
        "decoder.final_norm",
        "logits",
    ]


def test_rotary_positions_have_sites_of_their_own() -> None:
    assert sites(architecture("llama", size=SIZE, vocab_size=9), SOURCE) == [
        "embed.token",
        "decoder.0.resid_pre",
        "decoder.0.self.norm",
        "decoder.0.self.query",
        "decoder.0.self.rotated_query",
        "decoder.0.self.key",
        "decoder.0.self.value",
        "decoder.0.self.rotated_key",
        "decoder.0.self.score",
        "decoder.0.self.pattern",
        "decoder.0.self.mixed",
        "decoder.0.self.output",
        "decoder.0.resid_mid",
        "decoder.0.ffn.norm",
        "decoder.0.ffn.hidden",
        "decoder.0.ffn.output",
        "decoder.0.resid_post",
        "decoder.final_norm",
        "logits",
    ]


def test_the_sites_of_an_encoder_decoder() -> None:
    assert sites(architecture("original", size=SIZE, vocab_size=9), SOURCE, TARGET) == [
        "encoder.embed.token",
        "encoder.embed.position",
        "encoder.0.resid_pre",
        "encoder.0.self.query",
        "encoder.0.self.key",
        "encoder.0.self.value",
        "encoder.0.self.score",
        "encoder.0.self.pattern",
        "encoder.0.self.mixed",
        "encoder.0.self.output",
        "encoder.0.self.norm",
        "encoder.0.resid_mid",
        "encoder.0.ffn.hidden",
        "encoder.0.ffn.output",
        "encoder.0.ffn.norm",
        "encoder.0.resid_post",
        "decoder.embed.token",
        "decoder.embed.position",
        "decoder.0.resid_pre",
        "decoder.0.self.query",
        "decoder.0.self.key",
        "decoder.0.self.value",
        "decoder.0.self.score",
        "decoder.0.self.pattern",
        "decoder.0.self.mixed",
        "decoder.0.self.output",
        "decoder.0.self.norm",
        "decoder.0.resid_mid",
        "decoder.0.cross.query",
        "decoder.0.cross.key",
        "decoder.0.cross.value",
        "decoder.0.cross.score",
        "decoder.0.cross.pattern",
        "decoder.0.cross.mixed",
        "decoder.0.cross.output",
        "decoder.0.cross.norm",
        "decoder.0.resid_cross",
        "decoder.0.ffn.hidden",
        "decoder.0.ffn.output",
        "decoder.0.ffn.norm",
        "decoder.0.resid_post",
        "logits",
    ]


def test_an_encoder_decoder_with_norms_before_has_the_same_sites_and_two_final_norms() -> None:
    after = set(sites(architecture("original", size=SIZE, vocab_size=9), SOURCE, TARGET))
    before = set(sites(architecture("t5", size=SIZE, vocab_size=9), SOURCE, TARGET))
    assert before - after == {"encoder.final_norm", "decoder.final_norm"}
    assert after - before == {"encoder.embed.position", "decoder.embed.position"}


def test_the_sites_of_the_recurrent_baseline() -> None:
    assert sites(RecurrentConfig(vocab_size=9, width=4), SOURCE, TARGET) == [
        "encoder.embed.token",
        "encoder.hidden",
        "decoder.embed.token",
        "decoder.cross.key",
        "decoder.cross.query",
        "decoder.cross.score",
        "decoder.cross.pattern",
        "decoder.cross.mixed",
        "decoder.hidden",
        "logits",
    ]


def test_a_second_block_has_the_sites_of_the_first() -> None:
    two = Size(n_layers=2, width=8, n_heads=2, feedforward_width=12, max_length=6)
    for name, inputs in {"bert": (SOURCE,), "gpt2": (SOURCE,), "original": (SOURCE, TARGET)}.items():
        found = sites(architecture(name, size=two, vocab_size=9), *inputs)
        first = [site for site in found if ".0." in site]
        assert [site.replace(".0.", ".1.") for site in first] == [site for site in found if ".1." in site]


def test_the_sites_of_the_other_heads() -> None:
    encoder = architecture("bert", size=SIZE, vocab_size=9).encoder
    labels = ("a", "b")
    ends = {
        HeadConfig(kind=HeadKind.SEQUENCE_CLASSIFICATION, labels=labels): ["pooled", "logits"],
        HeadConfig(kind=HeadKind.TOKEN_CLASSIFICATION, labels=labels): ["logits"],
        HeadConfig(kind=HeadKind.QUESTION_ANSWERING): ["logits"],
        HeadConfig(kind=HeadKind.SENTENCE): ["vector"],
        HeadConfig(pooler=True): ["pooled"],
        HeadConfig(): [],
    }
    for head, expected in ends.items():
        found = sites(ModelConfig(encoder=encoder, head=head), SOURCE)
        assert found[found.index("encoder.0.resid_post") + 1 :] == expected
