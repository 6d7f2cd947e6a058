"""Sentence-transformers folders: what modules.json says of pooling."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from clearhead.config import HeadConfig, HeadKind, Pooling
from clearhead.errors import TextError, WeightsError
from clearhead.text.files import read_bounded

MODULES = "modules.json"
POOLING = "1_Pooling"
_MAX_BYTES = 2**20
_MODES = {
    "pooling_mode_mean_tokens": Pooling.MEAN,
    "pooling_mode_cls_token": Pooling.FIRST,
    "pooling_mode_max_tokens": Pooling.MAX,
    "pooling_mode_lasttoken": Pooling.LAST,
}
_SPELLED = {Pooling.MEAN: "mean", Pooling.FIRST: "cls", Pooling.MAX: "max", Pooling.LAST: "lasttoken"}


def read_sentence_head(folder: Path, head: HeadConfig) -> HeadConfig | None:
    """The head that a sentence-transformers folder asks for; None where the folder is none."""
    if not (folder / MODULES).is_file() or head.kind is not HeadKind.NONE:
        return None
    modules = _read(folder / MODULES)
    if not isinstance(modules, list):
        raise WeightsError(f"{folder / MODULES} is not a list of modules", got=type(modules).__name__)
    types = [_table(item).get("type") for item in cast("list[object]", modules)]
    kinds = {str(kind).rpartition(".")[2] for kind in types}
    unknown = kinds - {"Transformer", "Pooling", "Normalize"}
    if unknown or "Pooling" not in kinds:
        raise WeightsError(
            f"{folder / MODULES}: modules that are not supported",
            got=", ".join(sorted(kinds)),
            expected="Transformer, Pooling, and Normalize or not",
        )
    return replace(
        head,
        kind=HeadKind.SENTENCE,
        pooling=_pooling(folder / POOLING / "config.json"),
        normalised="Normalize" in kinds,
    )


def sentence_files(head: HeadConfig, *, width: int, max_length: int | None) -> dict[str, Any]:
    """The files that make a folder one of sentence-transformers: names and contents."""
    modules = [("Transformer", ""), ("Pooling", POOLING)] + ([("Normalize", "2_Normalize")] if head.normalised else [])
    return {
        MODULES: [
            {"idx": index, "name": str(index), "path": path, "type": f"sentence_transformers.models.{name}"}
            for index, (name, path) in enumerate(modules)
        ],
        f"{POOLING}/config.json": {
            "word_embedding_dimension": width,
            "pooling_mode": _SPELLED[head.pooling],
            **{key: mode is head.pooling for key, mode in _MODES.items()},
        },
        "sentence_bert_config.json": {"max_seq_length": max_length, "do_lower_case": False},
    }


def _pooling(path: Path) -> Pooling:
    settings = _table(_read(path))
    chosen = [mode for key, mode in _MODES.items() if settings.get(key)]
    if len(chosen) != 1:
        raise WeightsError(f"{path}: one way of pooling is supported", got=str(settings), expected=", ".join(_MODES))
    return chosen[0]


def _table(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _read(path: Path) -> object:
    try:
        return json.loads(read_bounded(path, limit=_MAX_BYTES))
    except (TextError, ValueError, RecursionError) as error:
        raise WeightsError(f"{path} cannot be read", got=str(error)[:200]) from None
