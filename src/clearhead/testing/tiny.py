"""A small random model of any architecture, with a tokenizer, in milliseconds."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from clearhead.config import SIZES, Family, ModelConfig, Size, architecture
from clearhead.errors import TextError
from clearhead.models import build
from clearhead.testing.bytes import ByteTokenizer


class TinyModel:
    """A small random model that runs on text: enough to test whatever surrounds a model.

        tiny = TinyModel("marian")
        tiny.run(["The cat sat."], ["Le chat"]).logits_BTV

    Args:
        architecture: One of `clearhead.config.ARCHITECTURES`.
        seed: Where its values come from.
        size: How large it is; the `tiny` preset if not given.
        config: The whole configuration, for what no architecture has; it needs the tokenizer's vocabulary.
    """

    def __init__(
        self,
        architecture: str = "original",
        *,
        seed: int = 0,
        size: Size | None = None,
        config: ModelConfig | None = None,
    ) -> None:
        self.tokenizer = ByteTokenizer()
        self.config = config or tiny_config(architecture, size=size, vocab_size=self.tokenizer.vocab_size)
        self.model = build(self.config, seed=seed)

    def batch(self, texts: Sequence[str]) -> tuple[Tensor, Tensor]:
        """The ids of texts, padded at the end, and the mask that is True where a token is real."""
        rows = [self.tokenizer.encode(text, add_special=False).ids for text in texts]
        if not rows or not all(rows):
            raise TextError("a batch needs at least one text, and every text a token", got=f"{list(texts)!r}")
        length = max(map(len, rows))
        pad = self.tokenizer.special.pad
        ids = torch.tensor([[*row, *[pad] * (length - len(row))] for row in rows])
        mask = torch.tensor([[place < len(row) for place in range(length)] for row in rows])
        return ids, mask

    @torch.no_grad()
    def run(self, texts: Sequence[str], targets: Sequence[str] = ()) -> object:
        """The model's output for texts, and for targets where it is an encoder-decoder."""
        ids, mask = self.batch(texts)
        match self.config.family:
            case Family.ENCODER_ONLY:
                return self.model(ids, mask_BS=mask)
            case Family.DECODER_ONLY:
                return self.model(ids, mask_BK=mask)
            case Family.ENCODER_DECODER:
                target_ids, target_mask = self.batch(targets)
                return self.model(ids, target_ids, source_mask_BS=mask, target_mask_BT=target_mask)


def tiny_config(name: str, *, size: Size | None = None, vocab_size: int) -> ModelConfig:
    """An architecture at a size fit for tests, by default narrower than any preset."""
    narrow = replace(SIZES["tiny"], width=32, n_heads=4, feedforward_width=48, max_length=64)
    return architecture(name, size=size or narrow, vocab_size=vocab_size)
