"""The page that says what was measured, from the numbers alone."""

import json
from pathlib import Path
from typing import Any

from clearhead.figures import bars

Found = dict[str, dict[str, Any]]
COMMAND = "make bench"


GOALS = {
    "decode_1": (
        ("int8_ratio", "decoding int8, batch 1, beside CTranslate2", 3.0),
        ("float32_ratio", "decoding float32, batch 1, beside CTranslate2", 1.2),
    ),
    "decode_16": (("int8_ratio", "decoding int8, batch 16, beside CTranslate2", 1.5),),
    "translation": (
        ("int8_ratio", "translation int8, 4 beams, beside CTranslate2", 1.5),
        ("int8_ratio_to_the_faster", "the same, beside CTranslate2 with a thread for each batch", 1.5),
    ),
    "embedding": (("ratio", "vectors of sentences, beside onnxruntime", 1.2),),
}
"""What is compared with a goal: the section, the number in it, what it is called, and how much it should be."""


def write(found: Found, out: Path) -> None:
    """Writes the page, the numbers that it was made from, and a chart of the ratios."""
    out.mkdir(parents=True, exist_ok=True)
    (out / "benchmarks.json").write_text(json.dumps(found, indent=2) + "\n")
    ratios = {name: found[section][key] for section, key, name, _ in goals(found)}
    if ratios:
        bars(list(ratios.values()), names=list(ratios), title="Times as fast as", spelling=".2f").save(
            out / "benchmarks.svg"
        )
    (out / "benchmarks.md").write_text("\n".join(page(found)) + "\n")


def goals(found: Found) -> list[tuple[str, str, str, float]]:
    """What was measured of what has a goal."""
    return [(section, *one) for section, all_of in GOALS.items() if section in found for one in all_of]


def page(found: Found) -> list[str]:
    """The page, line by line."""
    lines = ["# How fast it is, beside others", ""]
    lines += [f"Written by `{COMMAND}`; the same numbers are in [`benchmarks.json`](benchmarks.json).", ""]
    if "machine" in found:
        lines += _machine(found["machine"])
    if goals(found):
        lines += ["| | times as fast | goal |", "|---|---|---|"]
        lines += [f"| {name} | {found[section][key]} | {goal} |" for section, key, name, goal in goals(found)]
        lines += ["", "![Times as fast as the others](benchmarks.svg)", ""]
    for name, told in SECTIONS.items():
        if name in found:
            lines += told(name, found)
    return lines


def _prefill(name: str, found: Found) -> list[str]:
    told = ", ".join(f"{who} {taken} s" for who, taken in found[name]["seconds"].items())
    return ["## A long text", "", f"The first token after {found[name]['tokens']}, GPT-2 size: {told}.", ""]


def _growing(name: str, found: Found) -> list[str]:
    lines = ["## Cost by length", "", "GPT-2 size, int8.", ""]
    lines += ["| tokens | read, ms | the next token, ms | cache, MB |", "|---|---|---|---|"]
    rows = [(length, *one.values()) for length, one in found[name].items()]
    return [*lines, *("| " + " | ".join(map(str, row)) + " |" for row in rows), ""]


def _memory(name: str, found: Found) -> list[str]:
    lines = ["## Memory", "", "The most of a process that opens GPT-2's size and writes 32 tokens.", ""]
    lines += ["| | MB |", "|---|---|", *(f"| {who} | {size} |" for who, size in found[name].items())]
    return [*lines, ""]


def _training(name: str, found: Found) -> list[str]:
    lines = ["## Training", "", "A translator of preset small on multi30k with AdamW, tokens a second."]
    lines += ["", "| | clearhead | torch.nn.Transformer | times | of the peak of torch's product | of its fastest |"]
    lines += ["|---|---|---|---|---|---|"]
    both = {"as the machine is": found[name], "with AVX2 alone": found[name].get("with_avx2_alone")}
    for how, one in both.items():
        if one is not None:
            shares = f"{one['percent_of_peak']} % | {one['percent_of_fastest_peak']} %"
            lines += [
                f"| {how} | {' | '.join(map(str, one['tokens_per_second'].values()))} | {one['ratio']} | {shares} |"
            ]
    return [*lines, ""]


def _recording(name: str, found: Found) -> list[str]:
    rows = [f"| {kind} | {one['median']} | {one['from']} to {one['to']} |" for kind, one in found[name].items()]
    told = "Every attention pattern of every step recorded, beside none, in pairs: how many times as long it takes."
    return ["## Recording", "", told, "", "| | median | middle half |", "|---|---|---|", *rows, ""]


def _starting(name: str, found: Found) -> list[str]:
    seconds, ratio = found[name]["seconds"], found[name]["ratio"]
    told = f'`clearhead translate "Hello" --to fr` from nothing takes {seconds["translate"]} s, importing torch alone '
    return ["## Starting", "", f"{told}{seconds['import torch']} s: {ratio} times.", ""]


def _machine(machine: dict[str, Any]) -> list[str]:
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    return [
        f"{machine['processor']}, {machine['cores']} cores, {machine['threads']} threads each. "
        f"Clock: {machine['clock']} time; load {machine['load_when_measured']}. "
        f"Python {machine['python']}, {versions}. Runs take turns, and the figures are "
        "medians; the spread is how far the slowest round was from the quickest, as a share of the median.",
        "",
    ]


def _decoding(name: str, found: Found) -> list[str]:
    one = found[name]
    kinds = {"decode": "GPT-2 size, random weights", "stories": "stories15M", "storyteller": "storyteller"}
    model = kinds[name.split("_", maxsplit=1)[0]]
    peer = "CTranslate2" if name.startswith("decode") else "transformers in float32"
    lines = [
        f"## Decoding, {model}, batch {one['rows']}",
        "",
        "Greedy.",
        "",
        "| | tokens/s | spread |",
        "|---|---|---|",
    ]
    lines += [f"| {who} | {rate} | {one['spread'][who]:.0%} |" for who, rate in one["tokens_per_second"].items()]
    lines += ["", f"Beside {peer}: int8 {one['int8_ratio']} times, float32 {one['float32_ratio']} times. "]
    lines[-1] += f"Of {one['rows']} rows, {one['int8_rows_equal_by_parts']} have the same first {one['checked']} ids "
    lines[-1] += f"in int8 by kernels and by PyTorch, {one['float32_rows_equal_to_transformers']} all the ids that "
    lines[-1] += "transformers has in float32."
    if "times_llama_cpp" in one:
        times, alike = one["times_llama_cpp"], one["float32_rows_begin_as_llama_cpp"]
        lines[-1] += f" Beside llama.cpp, whose int8 is Q8_0: int8 {times['int8']} times, float32 {times['float32']} "
        lines[-1] += f"times; {alike} of {one['rows']} rows have the same first {one['checked']} ids in float32."
    if "memory_gb_s" in one:
        used = one["tokens_per_second"]["clearhead int8"] * one["int8_mb"] / 1e3
        share = 100 * used / one["memory_gb_s"]
        lines[-1] += f" Int8 weights are read at {used:.1f} GB/s, {share:.0f} % of the {one['memory_gb_s']} GB/s "
        lines[-1] += "that memory gave to those who did nothing but read, in turn with all others."
    return [*lines, ""]


def _quality(name: str, found: Found) -> list[str]:
    one = found[name]
    lines = [
        "## What int8 costs",
        "",
        f"Perplexity over {one['texts']} stories of the development set; BLEU as above.",
    ]
    lines += ["", "| | float32 | int8 | |", "|---|---|---|---|"]
    for who in ("storyteller", "stories15M"):
        given = one[who]
        lines += [f"| {who}, perplexity | {given['float32']} | {given['int8']} | {given['percent_worse']:+} % |"]
    if "translation" in found:
        bleu = found["translation"]["bleu"]
        less = bleu["clearhead int8"] - bleu["clearhead float32"]
        lines += [f"| translator, BLEU | {bleu['clearhead float32']} | {bleu['clearhead int8']} | {less:+.2f} |"]
    return [*lines, ""]


def _translation(name: str, found: Found) -> list[str]:
    one = found[name]
    lines = [
        f"## Translation, beams: {one['beams']}",
        "",
        f"The embedded translator on {one['sentences']} sentences of Tatoeba's test, English to French; BLEU of all "
        f"{one['sentences_of_bleu']}.",
        "",
    ]
    lines += ["| | sentences/s | spread | BLEU |", "|---|---|---|---|"]
    for who, rate in one["sentences_per_second"].items():
        lines += [f"| {who} | {rate} | {one['spread'][who]:.0%} | {one['bleu'].get(who, '')} |"]
    told = f"Beside CTranslate2 as it is by default: int8 {one['int8_ratio']} times, float32 {one['float32_ratio']} "
    told += f"times; beside the faster of its two ways of using threads: int8 {one['int8_ratio_to_the_faster']} times."
    return [*lines, "", told, ""]


def _embedding(name: str, found: Found) -> list[str]:
    one = found[name]
    lines = [
        "## Vectors of sentences",
        "",
        f"all-MiniLM-L6-v2, float32, {one['sentences']} sentences of STS-B, by length.",
        "",
    ]
    lines += ["| | sentences/s | spread |", "|---|---|---|"]
    lines += [f"| {who} | {rate} | {one['spread'][who]:.0%} |" for who, rate in one["sentences_per_second"].items()]
    apart = f"{one['largest_difference']:.1e}"
    return [*lines, "", f"Beside onnxruntime: {one['ratio']} times; the vectors differ by {apart} at most.", ""]


SECTIONS = {
    **dict.fromkeys(("decode_1", "decode_16", "stories_1", "stories_16", "storyteller_1", "storyteller_16"), _decoding),
    "prefill": _prefill,
    "growing": _growing,
    "recording": _recording,
    **dict.fromkeys(("translation", "translation_1"), _translation),
    "quality": _quality,
    "embedding": _embedding,
    "starting": _starting,
    "memory": _memory,
    "training": _training,
}
"""Who tells of which section, in the order of the page."""
