"""Real checkpoints: every site on several texts, and the story that the reference tells."""

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
import torch

from clearhead.models import DecoderOnly
from clearhead.testing import assert_parity
from clearhead.testing.reference import load_reference, run_reference
from clearhead.testing.side_by_side import Batch, align, record
from clearhead.text import load_tokenizer
from clearhead.weights import load_checkpoint, save_checkpoint

from .table import as_property

TEXTS = [
    "Once upon a time",
    "Lily and Ben went to the park. They saw a big red ball, and they wanted to play with it all day long!",
    "x",
    "Il était une fois… 3.14 €",
]
# Reading a large SentencePiece file takes seconds where every call is checked.
tokenizer_of = cache(load_tokenizer)

MODELS = ["stories15M", "all-MiniLM-L6-v2"]


def padded(rows: list[list[int]]) -> Batch:
    length = max(map(len, rows))
    ids = torch.tensor([[*row, *[0] * (length - len(row))] for row in rows])
    return Batch(ids_BS=ids, mask_BS=torch.tensor([[place < len(row) for place in range(length)] for row in rows]))


@pytest.mark.parametrize("name", MODELS)
def test_every_site_is_the_references(shared: Path, name: str, record_property: Callable[[str, object], None]) -> None:
    folder = shared / "models" / name
    tokenizer, checkpoint, reference = tokenizer_of(folder), load_checkpoint(folder), load_reference(folder)
    head = checkpoint.config.head
    together = [list(tokenizer.encode(text).ids) for text in TEXTS]
    for rows in [together, *([row] for row in together)]:
        batch = padded(rows)
        sites = align(record(checkpoint.model, batch), run_reference(reference, batch, head=head), batch)
        found = assert_parity(*sites)
        record_property(*as_property("real", name, found))


@pytest.mark.parametrize("name", MODELS)
def test_what_we_write_the_reference_computes_alike(shared: Path, name: str, tmp_path: Path) -> None:
    folder = shared / "models" / name
    checkpoint = load_checkpoint(folder)
    save_checkpoint(checkpoint, tmp_path)
    batch = padded([list(tokenizer_of(folder).encode(text).ids) for text in TEXTS])
    before, after = (
        run_reference(load_reference(where), batch, head=checkpoint.config.head) for where in (folder, tmp_path)
    )
    assert before.keys() == after.keys()
    assert all(torch.equal(before[site], after[site]) for site in before)


@torch.no_grad()
def test_the_story_goes_on_as_the_reference_tells_it(shared: Path) -> None:
    start, story = re.search(r'greedy from "(.*?)": "(.*?)"', (shared / "models/README.md").read_text()).groups()
    folder = shared / "models/stories15M"
    tokenizer, model = tokenizer_of(folder), load_checkpoint(folder).model
    assert isinstance(model, DecoderOnly)
    read = list(tokenizer.encode(start).ids)
    n_new = len(tokenizer.encode(story).ids)
    cache = model.new_cache(capacity=len(read) + n_new)
    ids, new = torch.tensor([read]), []
    for _ in range(n_new):
        new.append(int(model(ids, cache=cache).logits_BTV[0, -1].argmax()))
        ids = torch.tensor([new[-1:]])
    assert tokenizer.decode([*read, *new]).startswith(start + story)

    theirs = load_reference(folder).generate(torch.tensor([read]), max_new_tokens=n_new, do_sample=False)
    assert theirs[0].tolist() == [*read, *new]
