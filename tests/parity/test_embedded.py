"""Every embedded folder opens in the reference, with our numbers at every site, and it writes the same."""

import pytest
import torch

import clearhead
from clearhead.config import Family
from clearhead.testing import assert_parity
from clearhead.testing.reference import load_reference, run_reference
from clearhead.testing.side_by_side import Batch, align, record
from clearhead.weights.locate import embedded_models

TEXTS = ["The cat sat on the mat.", "a wonderful, moving film"]


@pytest.mark.parametrize("name", sorted(embedded_models()))
def test_every_site_is_the_references(name: str) -> None:
    model = clearhead.load(name)
    reference = load_reference(embedded_models()[name])
    for text in TEXTS:
        ids = torch.tensor([model.tokenizer.encode(text).ids])
        reads_and_writes = model.family is Family.ENCODER_DECODER
        target = torch.tensor([[model.config.tokens.decoder_start, 20, 30, 40]]) if reads_and_writes else None
        batch = Batch(ids_BS=ids, target_ids_BT=target)
        sites = align(record(model.network, batch), run_reference(reference, batch, head=model.config.head), batch)
        assert_parity(*sites)


@pytest.mark.parametrize("to", ["fr", "de", "hi"])
def test_the_reference_translates_alike(to: str) -> None:
    """Through the reference's own tokenizer and its own `generate`, with the folder's own settings."""
    import transformers  # noqa: PLC0415  (seconds, which collecting tests need not wait for)

    folder = embedded_models()["translator"]
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    reference = load_reference(folder)
    for text in TEXTS:
        batch = tokenizer([f">>{to}<< {text}"], return_tensors="pt")
        found = reference.generate(input_ids=batch["input_ids"], num_beams=4, max_new_tokens=60)  # type: ignore[operator]
        theirs = tokenizer.decode(found[0], skip_special_tokens=True)
        assert clearhead.load("translator").translate(text, to=to, beams=4, max_new_tokens=60) == theirs
