"""The reference implementation: its numbers, under our names.

Takes: a folder, or a model of `transformers`; a batch.
Gives: a value for every site that our model of the same weights has.
Uses:  weights, config, errors; torch; transformers, only when called.
Never: a number of ours; what is compared here is computed there.
"""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from clearhead.config import HeadConfig, HeadKind, Pooling
from clearhead.errors import TraceError
from clearhead.testing.reference_hooks import Look, Observed, observe
from clearhead.testing.reference_tables import TABLES, BlockTable, Tap
from clearhead.testing.side_by_side import Batch
from clearhead.weights.families import DIALECTS

_LOGITS = ("logits", "prediction_logits")
"""What the reference calls the head's logits; a pre-training model has a second head and says which."""


def load_reference(folder: Path) -> nn.Module:
    """The model of a folder, as `transformers` reads it, in float32.

    Raises:
        TraceError: `transformers` is not installed, or cannot read the folder.
    """
    transformers = _transformers()
    with _quiet(transformers):
        try:
            config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True)
            # GPT-2 has a second attention for half precision, with the same numbers in single.
            config.reorder_and_upcast_attn = False
            named = config.architectures or [DIALECTS[config.model_type].default]
            kind = getattr(transformers, named[0])
            return kind.from_pretrained(
                folder,
                config=config,
                dtype=torch.float32,
                attn_implementation="eager",
                local_files_only=True,
                use_safetensors=True,  # nothing is ever unpickled, there as here
            ).eval()
        except (OSError, ValueError, KeyError, AttributeError, RuntimeError) as error:
            raise TraceError(
                "the reference implementation cannot read this folder", got=f"{type(error).__name__}: {error}"[:400]
            ) from None


def reference_version() -> str:
    """The version of `transformers` that is compared with.

    Raises:
        TraceError: It is not installed.
    """
    return str(_transformers().__version__)


def run_reference(model: nn.Module, batch: Batch, *, head: HeadConfig) -> dict[str, Tensor]:
    """Every site of a reference model in one pass, by our names and in our shapes.

    Args:
        model: A model of `transformers`, with eager attention.
        batch: What it reads.
        head: The head of our model, for what the reference leaves to other programs.
    """
    foreign = cast("Any", model)
    table = TABLES[foreign.config.model_type]
    prefix: str = foreign.base_model_prefix
    body = f"{prefix}." if hasattr(model, prefix) else ""
    seen = observe(model, _arguments(batch))
    sites: dict[str, Tensor] = {}
    for site, tap in table.body.items():
        _add(sites, site, _read(model, seen, tap, body))
    for stack, block in table.blocks.items():
        sites |= _blocks(model, seen, stack, block, body)
    for site, tap in table.heads.get(head.kind, {}).items():
        _add(sites, site, _read(model, seen, tap, ""))
    _add(sites, "logits", _logits(seen.output))
    if head.kind is HeadKind.SENTENCE:
        sites["vector"] = _sentence_vector(seen.output["last_hidden_state"], batch.real_source, head)
    return sites


def _arguments(batch: Batch) -> dict[str, Any]:
    given = {
        "input_ids": batch.ids_BS,
        "attention_mask": batch.mask_BS,
        "decoder_input_ids": batch.target_ids_BT,
        "decoder_attention_mask": batch.target_mask_BT,
        "token_type_ids": batch.segment_ids_BS,
    }
    # Masks are whole numbers there.
    said = {name: value.long() for name, value in given.items() if value is not None}
    return said | {"return_dict": True}


def _blocks(model: nn.Module, seen: Observed, stack: str, block: BlockTable, body: str) -> dict[str, Tensor]:
    sites: dict[str, Tensor] = {}
    paths: set[str] = {name for name, _ in cast("Any", model).named_modules()}
    n = 0
    while (path := body + block.path.format(n=n)) in paths:
        looks = {name: seen.looks[f"{path}.{attention}"] for name, attention in block.attentions.items()}
        for name, look in looks.items():
            sites |= {f"{stack}.{n}.{name}.{part}": value for part, value in _steps(look, rotary=block.rotary).items()}
        for site, tap in block.taps.items():
            value = _read(model, seen, tap, f"{path}." if tap.module else path)
            assert value is not None, f"no value at {path}.{tap.module}"
            if tap.split:
                width = looks["self"].query_BHQC.shape[-1]
                value = value.reshape(*value.shape[:-1], -1, width).transpose(1, 2)
            sites[f"{stack}.{n}.{site}"] = value
        n += 1
    return sites


def _steps(look: Look, *, rotary: bool) -> dict[str, Tensor]:
    turned = "rotated_" if rotary else ""
    return {
        f"{turned}query": look.query_BHQC,
        f"{turned}key": look.key_BGKC,
        "value": look.value_BGKC,
        "score": look.score_BHQK,
        "pattern": look.pattern_BHQK,
        "mixed": look.mixed_BHQC,
    }


def _read(model: nn.Module, seen: Observed, tap: Tap, before: str) -> Tensor | None:
    """The value at a tap; None where the model has no such module."""
    value = (seen.entered if tap.entering else seen.left).get(before + tap.module)
    if value is None or tap.scale is None:
        return value
    owner, _, name = (before + tap.scale).rpartition(".")
    return value * cast("float", getattr(model.get_submodule(owner), name))


def _add(sites: dict[str, Tensor], site: str, value: Tensor | None) -> None:
    if value is not None:
        sites[site] = value


def _logits(output: Mapping[str, Any]) -> Tensor | None:
    if "start_logits" in output:
        return torch.stack([output["start_logits"], output["end_logits"]], dim=-1)
    return next((output[name] for name in _LOGITS if name in output), None)


def _sentence_vector(hidden_BSD: Tensor, real_BS: Tensor, head: HeadConfig) -> Tensor:
    """One vector a text: `transformers` leaves that to others, so it is made here, a row at a time."""
    rows: list[Tensor] = []
    for hidden_SD, real_S in zip(hidden_BSD, real_BS, strict=True):
        told_SD = hidden_SD[real_S]
        match head.pooling:
            case Pooling.MEAN:
                rows.append(told_SD.mean(0))
            case Pooling.MAX:
                rows.append(told_SD.max(0).values)
            case Pooling.FIRST:
                rows.append(told_SD[0])
            case Pooling.LAST:
                rows.append(told_SD[-1])
    vector_BD = torch.stack(rows)
    return functional.normalize(vector_BD, dim=-1) if head.normalised else vector_BD


def _transformers() -> Any:
    try:
        import transformers  # noqa: PLC0415  (it takes seconds, and only a comparison needs it)
    except ImportError:
        raise TraceError(
            "the reference implementation is not installed",
            got="no transformers",
            advice="pip install 'clearhead[verify]'",
        ) from None
    return transformers


@contextmanager
def _quiet(transformers: Any) -> Generator[None]:
    """Keeps the reference from talking about what it loads."""
    speech = transformers.utils.logging
    level, bars = speech.get_verbosity(), speech.is_progress_bar_enabled()
    speech.set_verbosity_error()
    speech.disable_progress_bar()
    try:
        yield
    finally:
        speech.set_verbosity(level)
        if bars:
            speech.enable_progress_bar()
