"""The page that says what was measured, from the numbers alone."""

import json
from pathlib import Path
from typing import Any

Found = dict[str, dict[str, Any]]
COMMAND = "make bench"


def write(found: Found, out: Path) -> None:
    """Writes the page and the numbers that it was made from."""
    out.mkdir(parents=True, exist_ok=True)
    (out / "benchmarks.json").write_text(json.dumps(found, indent=2) + "\n")
    (out / "benchmarks.md").write_text("\n".join(page(found)) + "\n")


def page(found: Found) -> list[str]:
    """The page, line by line."""
    lines = ["# How fast it is, beside others", ""]
    lines += [f"Written by `{COMMAND}`; the same numbers are in [`benchmarks.json`](benchmarks.json).", ""]
    if "machine" in found:
        lines += _machine(found["machine"])
    lines += _decoding(found)
    if "recording" in found:
        costs = ", ".join(f"{kind} {ratio} times" for kind, ratio in found["recording"].items())
        lines += ["## Recording", "", f"Every attention pattern of every step recorded, beside none: {costs}.", ""]
    if "translation" in found:
        lines += _translation(found["translation"])
    if "embedding" in found:
        lines += _embedding(found["embedding"])
    if "starting" in found:
        start = found["starting"]
        lines += ["## Starting", "", '`clearhead translate "Hello" --to fr` from nothing takes ']
        lines[-1] += f"{start['seconds']['translate']} s, importing torch alone {start['seconds']['import torch']} s: "
        lines[-1] += f"{start['ratio']} times."
    return lines


def _machine(machine: dict[str, Any]) -> list[str]:
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    return [
        f"{machine['processor']}, {machine['cores']} cores, {machine['threads']} threads each; memory is read at "
        f"{machine['memory_limit_gb_s']} GB/s. Clock: {machine['clock']} time; load {machine['load_when_measured']}. "
        f"Python {machine['python']}, {versions}. Runs take turns, and the figures are medians.",
        "",
    ]


def _decoding(found: Found) -> list[str]:
    lines: list[str] = []
    for name in ("decode_1", "decode_16"):
        if name not in found:
            continue
        one = found[name]
        lines += [f"## Decoding, batch {one['rows']}", "", "GPT-2 size, random weights, greedy.", ""]
        lines += ["| | tokens/s |", "|---|---|"]
        lines += [f"| {who} | {rate} |" for who, rate in one["tokens_per_second"].items()]
        lines += ["", f"Beside CTranslate2: int8 {one['int8_ratio']} times, float32 {one['float32_ratio']} times. "]
        lines[-1] += f"Of {one['rows']} rows, {one['int8_rows_equal_by_parts']} have the same ids in int8 by kernels "
        lines[-1] += f"and by PyTorch, {one['float32_rows_equal_to_transformers']} the same as transformers in float32."
        if name == "decode_1" and "machine" in found:
            used = one["tokens_per_second"]["clearhead int8"] * one["int8_mb"] / 1e3
            share = 100 * used / found["machine"]["memory_limit_gb_s"]
            lines[-1] += f" Int8 weights are read at {used:.1f} GB/s, {share:.0f} % of what memory gives."
        lines.append("")
    return lines


def _translation(one: dict[str, Any]) -> list[str]:
    lines = [
        "## Translation",
        "",
        f"The embedded translator, {one['sentences']} sentences of Tatoeba's test, 4 beams.",
        "",
    ]
    lines += ["| | sentences/s | BLEU |", "|---|---|---|"]
    lines += [f"| {who} | {rate} | {one['bleu'][who]} |" for who, rate in one["sentences_per_second"].items()]
    return [
        *lines,
        "",
        f"Beside CTranslate2: int8 {one['int8_ratio']} times, float32 {one['float32_ratio']} times.",
        "",
    ]


def _embedding(one: dict[str, Any]) -> list[str]:
    lines = [
        "## Vectors of sentences",
        "",
        f"all-MiniLM-L6-v2, float32, {one['sentences']} sentences of STS-B, by length.",
        "",
    ]
    lines += ["| | sentences/s |", "|---|---|"]
    lines += [f"| {who} | {rate} |" for who, rate in one["sentences_per_second"].items()]
    apart = f"{one['largest_difference']:.1e}"
    return [*lines, "", f"Beside onnxruntime: {one['ratio']} times; the vectors differ by {apart} at most.", ""]
