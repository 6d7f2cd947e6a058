"""A trace's file: what goes in comes out, and nothing hostile does harm."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open

from clearhead.errors import TraceError
from clearhead.model import Model
from clearhead.trace import Trace, load_trace, record_generation, save_trace

Make = Callable[..., Model]


@pytest.fixture
def trace(tiny_model: Make) -> Trace:
    return record_generation(tiny_model("marian").loaded, "The cat.", beams=3, max_new_tokens=5).trace


def test_a_saved_trace_comes_back(trace: Trace, tmp_path: Path) -> None:
    again = load_trace(save_trace(trace, tmp_path / "t.safetensors"))
    assert again.sites == trace.sites and again.source == trace.source and again.target == trace.target
    assert again.beams == trace.beams and again.score == trace.score and again.config == trace.config
    for site in trace:
        np.testing.assert_array_equal(again[site], trace[site])


def test_others_read_it_as_safetensors(trace: Trace, tmp_path: Path) -> None:
    with safe_open(save_trace(trace, tmp_path / "t.safetensors"), "np") as file:
        np.testing.assert_array_equal(file.get_tensor("logits"), trace["logits"])


def rewritten(path: Path, change: Callable[[dict[str, object], dict[str, object]], None]) -> Path:
    """The same file with another header."""
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    facts = json.loads(header["__metadata__"]["trace"])
    change(header, facts)
    header["__metadata__"]["trace"] = json.dumps(facts)
    new = json.dumps(header).encode()
    path.write_bytes(len(new).to_bytes(8, "little") + new + content[8 + length :])
    return path


def drop_tokens(header: dict[str, object], facts: dict[str, object]) -> None:
    facts["target"] = []


def other_axes(header: dict[str, object], facts: dict[str, object]) -> None:
    facts["sites"]["logits"]["axes"] = "B?V"  # type: ignore[index]


def lying_shape(header: dict[str, object], facts: dict[str, object]) -> None:
    facts["sites"]["logits"]["shape"] = [1, 2, 3]  # type: ignore[index]


def missing_site(header: dict[str, object], facts: dict[str, object]) -> None:
    del facts["sites"]["logits"]  # type: ignore[attr-defined]


def odd_key(header: dict[str, object], facts: dict[str, object]) -> None:
    facts["run_me"] = "import os"


def wrong_kind(header: dict[str, object], facts: dict[str, object]) -> None:
    facts["scores"] = "many"


def other_format(header: dict[str, object], facts: dict[str, object]) -> None:
    header["__metadata__"]["format"] = "pt"  # type: ignore[index]


@pytest.mark.parametrize(
    "change", [drop_tokens, other_axes, lying_shape, missing_site, odd_key, wrong_kind, other_format]
)
def test_a_file_that_contradicts_itself_is_refused(trace: Trace, tmp_path: Path, change: Callable[..., None]) -> None:
    path = rewritten(save_trace(trace, tmp_path / "t.safetensors"), change)
    with pytest.raises(TraceError):
        load_trace(path)


def test_a_file_that_is_cut_is_refused(trace: Trace, tmp_path: Path) -> None:
    path = save_trace(trace, tmp_path / "t.safetensors")
    whole = path.read_bytes()
    for length in (0, 4, 20, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(TraceError):
            load_trace(path)
    path.write_bytes(whole)
    opened = load_trace(path)
    path.write_bytes(whole[:-8])
    with pytest.raises(TraceError, match="cut short"):
        _ = [opened[site] for site in opened]


def test_a_place_that_cannot_be_written_is_said(trace: Trace, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TraceError, match="cannot be saved"):
        save_trace(trace, tmp_path / "file" / "t.safetensors")
