"""What we write, CTranslate2 converts, and computes the same: a third opinion.

Its converter reads through the reference, so the folder needs a tokenizer too: a table of made-up words, with
padding last, where Marian's vocabularies have it.
"""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from clearhead.models import EncoderDecoder
from clearhead.testing import assert_parity
from clearhead.weights import load_checkpoint, save_checkpoint

from .configurations import CASES, N_PIECES
from .specimen import Specimen, make_batch

WORDS = [*(f"word{index}" for index in range(N_PIECES - 3)), "</s>", "<unk>", "<pad>"]
END, PAD = WORDS.index("</s>"), WORDS.index("<pad>")
DECODERS = ("gpt2-plain", "gpt2-untied-one-layer", "llama-plain", "llama-rope-linear", "qwen2-tied")
ENCODERS = ("bert-pooler", "bert-masked", "distilbert-bare", "distilbert-masked")
PAIRS = ("t5-relu-tied", "marian-shared-swish-scaled", "marian-shared-gelu")
# CTranslate2 itself computes other numbers here than the reference: it scales what an untied T5 gives, because the
# reference calls every T5 tied since version 5, and it stretches llama3's frequencies by rules of its own.
OTHERWISE = ("t5-gated-gelu-untied", "llama-rope-llama3")


def named(*names: str) -> pytest.MarkDecorator:
    cases = [case for case in CASES if str(case) in names]
    assert len(cases) == len(names)
    return pytest.mark.parametrize("specimen", cases, indirect=True, ids=str)


@named(*DECODERS)
@torch.no_grad()
def test_decoders(specimen: Specimen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_checkpoint(specimen.checkpoint, tmp_path)
    ids = make_batch(specimen.case, padded=False).ids_BS
    theirs = generated(convert(tmp_path, monkeypatch), ids)
    assert_parity({"logits": specimen.checkpoint.model(ids).logits_BTV}, {"logits": theirs})


@named(*ENCODERS)
@torch.no_grad()
def test_encoders(specimen: Specimen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import ctranslate2  # noqa: PLC0415  (seconds, as elsewhere)

    save_checkpoint(specimen.checkpoint, tmp_path)
    ids = make_batch(specimen.case, padded=False).ids_BS
    encoder = ctranslate2.Encoder(convert(tmp_path, monkeypatch), intra_threads=1)
    theirs = torch.from_numpy(np.array(encoder.forward_batch(words(ids)).last_hidden_state))
    assert_parity({"hidden": specimen.checkpoint.model(ids).hidden_BSD}, {"hidden": theirs})


@named(*PAIRS)
@torch.no_grad()
def test_pairs(specimen: Specimen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoint = load_checkpoint(specimen.folder)
    model = checkpoint.model
    assert isinstance(model, EncoderDecoder)
    is_marian = specimen.case.family == "marian"
    if is_marian:
        model.encoder.embedding.token.weight[PAD] = 0  # its decoders start from nothing, and so does CTranslate2
    save_checkpoint(checkpoint, tmp_path)
    batch = make_batch(specimen.case, padded=False)
    assert batch.target_ids_BT is not None
    start, end = (torch.full((len(batch.ids_BS), 1), index) for index in (PAD if is_marian else 0, END))
    logits = model(batch.ids_BS, torch.cat([start, batch.target_ids_BT], dim=1)).logits_BTV
    logits = logits[..., :PAD] if is_marian else logits  # CTranslate2 forgets Marian's padding
    said = torch.cat([batch.target_ids_BT, end], dim=1).unsqueeze(-1)
    ours = logits.log_softmax(-1).gather(-1, said).squeeze(-1)
    theirs = scored(convert(tmp_path, monkeypatch), batch.ids_BS, batch.target_ids_BT)
    assert_parity({"scores": ours}, {"scores": theirs})


@named(*OTHERWISE)
def test_where_it_computes_otherwise_it_does_so_from_the_references_folder_too(
    specimen: Specimen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_checkpoint(specimen.checkpoint, tmp_path / "ours")
    shutil.copytree(specimen.folder, tmp_path / "theirs")
    batch = make_batch(specimen.case, padded=False)
    found: list[Tensor] = []
    for name in ("ours", "theirs"):
        converted = convert(tmp_path / name, monkeypatch)
        target = batch.target_ids_BT
        found.append(generated(converted, batch.ids_BS) if target is None else scored(converted, batch.ids_BS, target))
    assert torch.equal(*found)


def convert(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Runs the command on a folder, in this process."""
    from ctranslate2.converters.transformers import main  # noqa: PLC0415  (seconds, as elsewhere)

    write_tokenizer(folder)
    out = str(folder / "converted")
    monkeypatch.setattr(sys, "argv", ["ct2-transformers-converter", "--model", str(folder), "--output_dir", out])
    main()
    return out


def generated(converted: str, ids: Tensor) -> Tensor:
    import ctranslate2  # noqa: PLC0415  (seconds, as elsewhere)

    return torch.from_numpy(np.array(ctranslate2.Generator(converted, intra_threads=1).forward_batch(words(ids))))


def scored(converted: str, source_ids: Tensor, target_ids: Tensor) -> Tensor:
    import ctranslate2  # noqa: PLC0415  (seconds, as elsewhere)

    translator = ctranslate2.Translator(converted, intra_threads=1)
    return torch.tensor([one.log_probs for one in translator.score_batch(words(source_ids), words(target_ids))])


def write_tokenizer(folder: Path) -> None:
    model = {"type": "WordLevel", "vocab": {word: index for index, word in enumerate(WORDS)}, "unk_token": "<unk>"}
    spoken = {"eos_token": "</s>", "bos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    whole = {"version": "1.0", "model": model, "pre_tokenizer": {"type": "WhitespaceSplit"}, "added_tokens": []}
    (folder / "tokenizer.json").write_text(json.dumps(whole))
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast", **spoken}))


def words(ids: Tensor) -> list[list[str]]:
    return [[WORDS[index] for index in row] for row in ids.tolist()]
