"""What is asked of encoders: hidden tokens, labels, and which texts mean alike."""

from typing import Any

import torch
from torch import Tensor

from clearhead.data.collate import IGNORED, mask_tokens
from clearhead.errors import TrainingError
from clearhead.models import EncoderOnly, Network
from clearhead.training.loss import cross_entropy, distillation, in_batch_contrast, score_regression
from clearhead.training.objective import Batch, LossParts, real_rows


class MaskedLanguageModelObjective:
    """Hidden tokens from those around them, both ways (Devlin et al. 2019).

    Tokens are hidden anew at every step, unless the batch comes with `label`.

    Args:
        mask_id: What stands in the place of a hidden token.
        vocab_size: Pieces that a hidden token may be replaced by instead.
        special_ids: Pieces that are never hidden.
        share: Share of the tokens to hide.
    """

    by_row = True

    def __init__(
        self, *, mask_id: int, vocab_size: int, special_ids: tuple[int, ...] = (), share: float = 0.15
    ) -> None:
        self.mask_id = mask_id
        self.vocab_size = vocab_size
        self.special_ids = special_ids
        self.share = share

    def prepare(self, batch: Batch) -> Batch:
        """The batch with some of its tokens hidden, and `label` that say what they were."""
        if "label" in batch:
            return batch
        ids, mask = batch["text"].cpu().numpy(), batch["text_mask"].cpu().numpy()
        seed = int(torch.randint(2**62, ()))
        hidden, labels = mask_tokens(
            ids, mask, self.special_ids, seed=seed, mask_id=self.mask_id, vocab_size=self.vocab_size, share=self.share
        )
        return {**batch, "text": torch.as_tensor(hidden), "label": torch.as_tensor(labels)}

    def count(self, batch: Batch) -> int:
        """The hidden tokens."""
        return int((batch["label"] != IGNORED).sum())

    def n_tokens(self, batch: Batch) -> tuple[int, int]:
        """All real tokens; none for a decoder."""
        return int(batch["text_mask"].sum()), 0

    def __call__(self, network: Network[Any], batch: Batch) -> LossParts:
        """The loss of every hidden token."""
        encoder = _encoder(network)
        ids_BS, labels_BS = batch["text"], batch["label"]
        asked_BS = labels_BS != IGNORED
        hidden_BSD = encoder.encoder(ids_BS, mask_BK=batch["text_mask"])
        if encoder.head is None:
            raise TrainingError(
                "a model without a head has no logits to train", expected="a masked-language-model head"
            )
        logits_TV: Tensor = encoder.head(real_rows(hidden_BSD, asked_BS).unsqueeze(0)).squeeze(0)
        loss, n_correct = cross_entropy(logits_TV, labels_BS[asked_BS])
        return LossParts(loss_sum=loss, count=int(asked_BS.sum()), n_correct=n_correct)


class ClassifyObjective:
    """The label of a text.

    Args:
        smoothing: Label smoothing.
    """

    by_row = True

    def __init__(self, *, smoothing: float = 0.0) -> None:
        self.smoothing = smoothing

    def prepare(self, batch: Batch) -> Batch:
        """The batch itself."""
        return batch

    def count(self, batch: Batch) -> int:
        """The texts."""
        return len(batch["label"])

    def n_tokens(self, batch: Batch) -> tuple[int, int]:
        """All real tokens; none for a decoder."""
        return int(batch["text_mask"].sum()), 0

    def __call__(self, network: Network[Any], batch: Batch) -> LossParts:
        """The loss of every text."""
        output = _encoder(network)(batch["text"], mask_BS=batch["text_mask"])
        if output.logits is None or output.logits.ndim != 2:
            raise TrainingError("a model without labels cannot classify", expected="a sequence-classification head")
        loss, n_correct = cross_entropy(output.logits, batch["label"], smoothing=self.smoothing)
        return LossParts(loss_sum=loss, count=len(batch["label"]), n_correct=n_correct)


class SimilarityObjective:
    """Texts that mean alike get vectors that point alike.

    What a batch holds decides what is asked: `teacher` asks for the teacher's vectors of the sources; `score` asks
    for that cosine of the pairs; pairs alone ask for each one's partner.

    Args:
        temperature: What cosines are divided by where partners compete.
        score_range: The scores that stand for cosines of 0 and of 1.
    """

    by_row = False  # texts may be compared with all others of their batch

    def __init__(self, *, temperature: float = 0.05, score_range: tuple[float, float] = (0.0, 1.0)) -> None:
        self.temperature = temperature
        self.score_range = score_range

    def prepare(self, batch: Batch) -> Batch:
        """The batch itself."""
        return batch

    def count(self, batch: Batch) -> int:
        """The texts, or the pairs."""
        return len(batch["source"])

    def n_tokens(self, batch: Batch) -> tuple[int, int]:
        """All real tokens; none for a decoder."""
        masks = [mask for name, mask in batch.items() if name.endswith("_mask")]
        return sum(int(mask.sum()) for mask in masks), 0

    def __call__(self, network: Network[Any], batch: Batch) -> LossParts:
        """The loss of every text or pair."""
        encoder, count = _encoder(network), self.count(batch)
        first_BD = _vectors(encoder, batch["source"], batch["source_mask"])
        if "teacher" in batch:
            return LossParts(loss_sum=distillation(first_BD, batch["teacher"]), count=count)
        second_BD = _vectors(encoder, batch["target"], batch["target_mask"])
        if "score" in batch:
            low, high = self.score_range
            cosine_B = (batch["score"] - low) / (high - low)
            return LossParts(loss_sum=score_regression(first_BD, second_BD, cosine_B), count=count)
        loss, n_found = in_batch_contrast(first_BD, second_BD, temperature=self.temperature)
        return LossParts(loss_sum=loss, count=count, n_correct=n_found)


def _encoder(network: Network[Any]) -> EncoderOnly:
    if not isinstance(network, EncoderOnly):
        raise TrainingError("this task trains an encoder", got=type(network).__name__, expected="encoder-only model")
    return network


def _vectors(encoder: EncoderOnly, ids_BS: Tensor, mask_BS: Tensor) -> Tensor:
    output = encoder(ids_BS, mask_BS=mask_BS)
    if output.vector_BD is None:
        raise TrainingError("a model without one vector a text", expected="a sentence head")
    return output.vector_BD
