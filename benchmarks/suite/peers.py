"""The same weights for the peers: folders as their converters want them."""

import json
import shutil
from pathlib import Path

import ctranslate2
import numpy as np
import torch
import transformers
from ctranslate2.converters import TransformersConverter

transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()


def gpt2_folder(work: Path) -> Path:
    """A GPT-2 of the published size with random weights."""
    folder = work / "gpt2"
    if not (folder / "model.safetensors").is_file():
        torch.manual_seed(0)
        transformers.GPT2LMHeadModel(transformers.GPT2Config()).save_pretrained(folder)
    return folder


def converted(folder: Path, work: Path) -> Path:
    """A folder as CTranslate2 reads it; pieces are named by their ids, so that both sides get the same ones."""
    out = work / f"{folder.name}-ct2"
    if not (out / "model.bin").is_file():
        plain = work / f"{folder.name}-plain"
        shutil.copytree(folder, plain, dirs_exist_ok=True)
        config = json.loads((plain / "config.json").read_text())
        _write_words(plain, config)
        TransformersConverter(str(plain)).convert(str(out), force=True)
    return out


def word(index: int, config: dict) -> str:
    """The name of a piece."""
    return {config.get("eos_token_id"): "</s>", config.get("pad_token_id"): "<pad>"}.get(index, f"<w{index}>")


def _write_words(folder: Path, config: dict) -> None:
    for old in ("tokenizer.json", "tokenizer_config.json", "source.spm", "target.spm", "vocab.json", "README.md"):
        (folder / old).unlink(missing_ok=True)
    words = {word(index, config): index for index in range(config["vocab_size"])}
    model = {"type": "WordLevel", "vocab": words, "unk_token": "<w1>"}
    whole = {"version": "1.0", "model": model, "pre_tokenizer": {"type": "WhitespaceSplit"}, "added_tokens": []}
    end = word(config["eos_token_id"], config)
    spoken = {"eos_token": end, "bos_token": end, "unk_token": "<w1>"}
    spoken |= {} if config.get("pad_token_id") is None else {"pad_token": "<pad>"}
    (folder / "tokenizer.json").write_text(json.dumps(whole))
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast", **spoken}))


def generator(folder: Path, work: Path, kind: str, *, threads: int) -> ctranslate2.Generator:
    """CTranslate2 with a decoder."""
    return ctranslate2.Generator(
        str(converted(folder, work)), compute_type=kind, inter_threads=1, intra_threads=threads
    )


def translator(folder: Path, work: Path, kind: str, *, threads: int, batches: int = 1) -> ctranslate2.Translator:
    """CTranslate2 with an encoder-decoder: so many batches at a time, and threads for each."""
    return ctranslate2.Translator(
        str(converted(folder, work)), compute_type=kind, inter_threads=batches, intra_threads=threads
    )


class OnnxEncoder:
    """onnxruntime with an encoder.

    Args:
        folder: A Hugging Face folder.
        work: Where the graph is kept.
        threads: How many threads it uses.
    """

    def __init__(self, *, folder: Path, work: Path, threads: int) -> None:
        import onnxruntime  # noqa: PLC0415

        path = work / f"{folder.name}.onnx"
        if not path.is_file():
            model = transformers.AutoModel.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager")
            ids = torch.ones(2, 8, dtype=torch.long)
            names = ["input_ids", "attention_mask", "token_type_ids"]
            axes = {name: {0: "batch", 1: "length"} for name in [*names, "hidden"]}
            torch.onnx.export(
                _Hidden(model.eval()),
                (ids, ids, torch.zeros_like(ids)),
                str(path),
                input_names=names,
                output_names=["hidden"],
                dynamic_axes=axes,
                opset_version=17,
                dynamo=False,
            )
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def vectors(self, rows: list[tuple[int, ...]], *, batch: int = 32) -> np.ndarray:
        """Mean-pooled, normalised vectors; texts of like length together."""
        order = sorted(range(len(rows)), key=lambda place: -len(rows[place]))
        found: list[np.ndarray] = []
        for first in range(0, len(order), batch):
            some = [rows[place] for place in order[first : first + batch]]
            ids = np.zeros((len(some), len(some[0])), dtype=np.int64)
            mask = np.zeros_like(ids)
            for place, row in enumerate(some):
                ids[place, : len(row)], mask[place, : len(row)] = row, 1
            given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            hidden = np.asarray(self._session.run(["hidden"], given)[0])
            mean = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
            found.append(mean / np.linalg.norm(mean, axis=1, keepdims=True))
        vectors = np.empty((len(rows), found[0].shape[1]), dtype=np.float32)
        vectors[order] = np.concatenate(found)
        return vectors


class _Hidden(torch.nn.Module):
    """The last hidden state alone."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: torch.Tensor, mask: torch.Tensor, segments: torch.Tensor) -> torch.Tensor:
        """What the encoder gives."""
        return self.model(input_ids=ids, attention_mask=mask, token_type_ids=segments).last_hidden_state
