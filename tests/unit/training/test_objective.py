from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from clearhead.config import HeadConfig, HeadKind, RecurrentConfig, architecture
from clearhead.errors import TrainingError
from clearhead.models import build
from clearhead.probe import Recorder, listen
from clearhead.training import (
    ClassifyObjective,
    LanguageModelObjective,
    MaskedLanguageModelObjective,
    Objective,
    SimilarityObjective,
    TranslateObjective,
    with_head,
)

from .specimen import PAD, SIZE, VOCAB_SIZE

SMOOTHING = 0.1
TEXT = {
    "text": torch.tensor([[2, 3, 4, 5], [6, 7, PAD, PAD]]),
    "text_mask": torch.tensor([[True] * 4, [True, True, False, False]]),
}
PAIRS = {
    "source": torch.tensor([[2, 3, 4, 0], [5, 0, PAD, PAD]]),
    "source_mask": torch.tensor([[True] * 4, [True, True, False, False]]),
    "target": torch.tensor([[4, 3, 0], [5, 0, PAD]]),
    "target_mask": torch.tensor([[True] * 3, [True, True, False]]),
}


def network(name: str, **head: Any) -> Any:
    config = architecture(name, size=SIZE, vocab_size=VOCAB_SIZE)
    return build(replace(config, head=HeadConfig(**head)) if head else config, seed=1)


def sentences() -> Any:
    return network("bert", kind=HeadKind.SENTENCE)


def reference(logits: Tensor, labels: Tensor, mask: Tensor) -> Tensor:
    return functional.cross_entropy(logits[mask], labels[mask], label_smoothing=SMOOTHING, reduction="sum")


@pytest.mark.parametrize("name", ["original", "marian", "t5", "flan-t5", "recurrent"])
def test_translation_is_asked_with_the_target_shifted_right(name: str) -> None:
    model = build(RecurrentConfig(vocab_size=VOCAB_SIZE, width=8), seed=1) if name == "recurrent" else network(name)
    parts = TranslateObjective(decoder_start=PAD, smoothing=SMOOTHING)(model, PAIRS)
    shifted = torch.tensor([[PAD, 4, 3], [PAD, 5, 0]])
    output = model(PAIRS["source"], shifted, source_mask_BS=PAIRS["source_mask"], target_mask_BT=PAIRS["target_mask"])
    torch.testing.assert_close(parts.loss_sum, reference(output.logits_BTV, PAIRS["target"], PAIRS["target_mask"]))
    right = output.logits_BTV.argmax(-1) == PAIRS["target"]
    assert int(parts.n_correct) == int((right & PAIRS["target_mask"]).sum())
    assert parts.count == 5


@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_a_language_model_is_asked_for_every_next_token(name: str) -> None:
    model, objective = network(name), LanguageModelObjective(smoothing=SMOOTHING)
    logits = model(TEXT["text"]).logits_BTV[:, :-1]
    padded = objective(model, TEXT)
    torch.testing.assert_close(padded.loss_sum, reference(logits, TEXT["text"][:, 1:], TEXT["text_mask"][:, 1:]))
    assert padded.count == objective.count(TEXT) == 4
    whole = objective(model, {"text": TEXT["text"]})
    torch.testing.assert_close(
        whole.loss_sum, reference(logits, TEXT["text"][:, 1:], torch.ones(2, 3, dtype=torch.bool))
    )
    assert whole.count == 6


def test_a_listener_sees_logits_and_the_same_loss() -> None:
    model, objective = network("gpt2"), LanguageModelObjective(smoothing=SMOOTHING)
    with listen(recorder := Recorder("logits")):
        seen = objective(model, TEXT)
    assert recorder["logits"].shape[-1] == VOCAB_SIZE
    torch.testing.assert_close(seen.loss_sum, objective(model, TEXT).loss_sum)


def test_masked_tokens_are_hidden_by_the_numbers_of_the_step() -> None:
    objective = MaskedLanguageModelObjective(mask_id=15, vocab_size=VOCAB_SIZE, special_ids=(0, PAD, 15), share=0.5)
    torch.manual_seed(3)
    first = objective.prepare(TEXT)
    torch.manual_seed(3)
    again = objective.prepare(TEXT)
    assert torch.equal(first["text"], again["text"])
    torch.manual_seed(4)
    assert any(not torch.equal(first["text"], objective.prepare(TEXT)["text"]) for _ in range(5))
    asked = first["label"] != -100
    assert objective.count(first) == int(asked.sum()) == 3
    assert torch.equal(first["label"][asked], TEXT["text"][asked])
    assert objective.prepare(first) is first


def test_the_loss_of_masked_tokens_is_that_of_all_logits() -> None:
    model = network("bert")
    batch = {**TEXT, "label": torch.tensor([[-100, 3, -100, 9], [6, -100, -100, -100]])}
    parts = MaskedLanguageModelObjective(mask_id=15, vocab_size=VOCAB_SIZE)(model, batch)
    logits = model(TEXT["text"], mask_BS=TEXT["text_mask"]).logits
    wanted = functional.cross_entropy(logits.flatten(0, 1), batch["label"].flatten(), reduction="sum")
    torch.testing.assert_close(parts.loss_sum, wanted)
    assert parts.count == 3


def test_classification_is_asked_once_a_text() -> None:
    model = network("bert", kind=HeadKind.SEQUENCE_CLASSIFICATION, labels=("bad", "good", "fair"))
    batch = {**TEXT, "label": torch.tensor([2, 0])}
    parts = ClassifyObjective(smoothing=SMOOTHING)(model, batch)
    logits = model(TEXT["text"], mask_BS=TEXT["text_mask"]).logits
    torch.testing.assert_close(parts.loss_sum, reference(logits, batch["label"], torch.ones(2, dtype=torch.bool)))
    assert parts.count == 2


def test_what_a_batch_holds_decides_what_similarity_asks() -> None:
    model = sentences()
    vectors = [model(PAIRS[each], mask_BS=PAIRS[f"{each}_mask"]).vector_BD for each in ("source", "target")]
    cosine = functional.cosine_similarity(*vectors)
    objective = SimilarityObjective(score_range=(0.0, 5.0))
    scored = objective(model, {**PAIRS, "score": torch.tensor([5.0, 2.5])})
    torch.testing.assert_close(scored.loss_sum, (cosine - torch.tensor([1.0, 0.5])).square().sum())
    taught = objective(model, {**PAIRS, "teacher": vectors[0].detach()})
    assert float(taught.loss_sum.detach()) == pytest.approx(0.0, abs=1e-5)
    assert scored.n_correct is None and taught.n_correct is None
    assert objective(model, PAIRS).n_correct is not None
    assert objective.n_tokens(PAIRS) == (11, 0)


@pytest.mark.parametrize(
    ("objective", "model", "batch"),
    [
        (TranslateObjective(decoder_start=PAD), network("gpt2"), PAIRS),
        (LanguageModelObjective(), network("bert"), TEXT),
        (ClassifyObjective(), network("gpt2"), {**TEXT, "label": torch.tensor([0, 1])}),
        (ClassifyObjective(), sentences(), {**TEXT, "label": torch.tensor([0, 1])}),
        (SimilarityObjective(), network("bert"), PAIRS),
        (TranslateObjective(decoder_start=PAD), network("original", kind=HeadKind.NONE), PAIRS),
    ],
    ids=["translate", "language-model", "classify", "no labels", "no vector", "no head"],
)
def test_a_model_that_does_not_fit_is_refused(objective: Objective, model: Any, batch: Mapping[str, Tensor]) -> None:
    with pytest.raises(TrainingError):
        objective(model, batch)


def test_a_new_head_leaves_the_body_as_it_was() -> None:
    model = network("bert")
    new = with_head(model, HeadConfig(kind=HeadKind.SEQUENCE_CLASSIFICATION, labels=("a", "b")))
    old_body, new_body = dict(model.encoder.named_parameters()), dict(new.encoder.named_parameters())
    assert all(torch.equal(old_body[name], parameter) for name, parameter in new_body.items())
    assert new(TEXT["text"]).logits.shape == (2, 2)
    with torch.no_grad():
        next(new.parameters()).zero_()
    assert any(parameter.any() for parameter in model.parameters())
    assert not torch.equal(next(new.parameters()), next(model.parameters()))
