"""Vectors of texts."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from clearhead.config import HeadKind
from clearhead.errors import ConfigError, TextError
from clearhead.tasks import embed

from .conftest import Make

TEXTS = ["the cat sat on the mat .", "", "paris", "who is in france ?"]


@pytest.mark.parametrize("kind", [HeadKind.SENTENCE, HeadKind.NONE, HeadKind.MASKED_LANGUAGE_MODEL])
def test_a_vector_is_the_mean_of_the_tokens_and_of_length_one(reader: Make, kind: HeadKind) -> None:
    loaded = reader(kind)
    found = embed(loaded, TEXTS)
    assert found.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, rtol=1e-5)
    for text, vector in zip(TEXTS, found, strict=True):
        ids = torch.tensor([loaded.tokenizer.encode(text).ids])
        with torch.no_grad():
            mean = loaded.checkpoint.model(ids).hidden_BSD[0].mean(0)
        np.testing.assert_allclose(vector, (mean / mean.norm()).numpy(), rtol=1e-4, atol=1e-5)


def test_progress_counts_every_text_once(reader: Make) -> None:
    told: list[int] = []
    embed(reader(HeadKind.SENTENCE), TEXTS * 200, progress=told.append)
    assert sum(told) == len(TEXTS) * 200
    assert len(told) > 1


def test_no_texts_have_no_vectors(reader: Make) -> None:
    assert embed(reader(HeadKind.SENTENCE), []).shape == (0, 16)


def test_the_length_that_a_sentence_folder_was_trained_on_counts(reader: Make, tmp_path: Path) -> None:
    (tmp_path / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 6}))
    loaded = reader(HeadKind.SENTENCE, folder=tmp_path)
    with pytest.raises(TextError, match="at most 6"):
        embed(loaded, ["cat " * 5])
    cut, same = embed(loaded, ["cat " * 9, "cat " * 4], truncate=True)
    np.testing.assert_array_equal(cut, same)
    (tmp_path / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": "many"}))
    assert reader(HeadKind.SENTENCE, folder=tmp_path).source_limit == 48


def test_a_decoder_does_not_embed(writer: Make) -> None:
    with pytest.raises(ConfigError, match="this is a decoder: it can complete"):
        embed(writer("gpt2"), ["a"])
