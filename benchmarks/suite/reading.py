"""Translation with beams, and vectors of sentences: the embedded translator and MiniLM beside their peers."""

import gzip
import itertools
import json
from functools import partial
from pathlib import Path

import numpy as np
import peers
import sacrebleu
import torch
from timing import taking_turns

import clearhead
from clearhead.engine import Request
from clearhead.tasks import Loaded
from clearhead.tasks.language_pairs import instruction
from clearhead.tasks.options import settings_of
from clearhead.tasks.sources import source_ids, whole_texts
from clearhead.tasks.vectors import embed_encodings

BATCH = 32
TRANSLATOR = Path(clearhead.__file__).parent / "pretrained/translator"


def lines(path: Path, n: int | None) -> list[list[str]]:
    """The first lines of a table, or all."""
    with gzip.open(path, "rt", encoding="utf-8") as rows:
        return [row.rstrip("\n").split("\t") for row in itertools.islice(rows, n)]


def measure_translation(
    work: Path, shared: Path, *, n_lines: int, beams: int, rounds: int, clock: str, threads: int
) -> dict[str, object]:
    """Sentences a second of some, and BLEU of all, by both, of the same ids.

    CTranslate2 is measured in both ways that it has of using threads: all in one batch, which is its default, and one
    for each batch, which suits a small model better.
    """
    pairs = lines(shared / "data/tatoeba/en-fr.test.tsv.gz", None)
    sources, targets = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    loaded = {kind: Loaded.open("translator", weights=kind) for kind in ("int8", "float32")}
    one = loaded["int8"]
    told = instruction(one, to="fr", source=None)
    ids = source_ids(one, sources, prefix=told.prefix, tag=told.tag)
    config = json.loads((TRANSLATOR / "config.json").read_text())
    end = config["eos_token_id"]
    settings = settings_of(one, usual={}, asked={"beams": beams, "max_new_tokens": 128})  # as `translate` has them
    requests = [Request(ids=row, settings=settings) for row in ids]
    words = [[peers.word(index, config) for index in row] for row in ids]
    names = {peers.word(index, config): index for index in range(config["vocab_size"])}
    theirs = {kind: peers.translator(TRANSLATOR, work, kind, threads=threads) for kind in loaded}
    apart = "int8, a thread a batch"
    if threads > 1:
        theirs[apart] = peers.translator(TRANSLATOR, work, "int8", threads=1, batches=threads)

    def text(row: list[int] | tuple[int, ...]) -> str:
        return one.tokenizer.target.decode([index for index in row if index != end])

    def ours(kind: str, n: int) -> list[str]:
        torch.set_num_threads(threads)  # CTranslate2 sets how many torch has, too
        return [text(reply.best.ids) for reply in loaded[kind].engine.generate(requests[:n])]

    def with_ctranslate2(kind: str, n: int) -> list[str]:
        found = theirs[kind].translate_batch(words[:n], beam_size=beams, max_batch_size=BATCH, max_decoding_length=128)
        return [text([names[name] for name in one.hypotheses[0]]) for one in found]

    made = {f"clearhead {kind}": partial(ours, kind) for kind in loaded}
    made |= {f"ctranslate2 {kind}": partial(with_ctranslate2, kind) for kind in theirs}
    bleu = {
        name: round(sacrebleu.corpus_bleu(run(len(pairs)), [targets]).score, 2)
        for name, run in made.items()
        if not name.endswith(apart)
    }
    seconds = taking_turns({name: partial(run, n_lines) for name, run in made.items()}, rounds=rounds, clock=clock)
    best = min(taken for name, taken in seconds.items() if name.startswith("ctranslate2 int8"))
    return {
        "sentences_per_second": {name: round(n_lines / taken, 1) for name, taken in seconds.items()},
        "bleu": bleu,
        "int8_ratio": round(seconds["ctranslate2 int8"] / seconds["clearhead int8"], 2),
        "int8_ratio_to_the_faster": round(best / seconds["clearhead int8"], 2),
        "float32_ratio": round(seconds["ctranslate2 float32"] / seconds["clearhead float32"], 2),
        "spread": seconds.spread,
        "sentences": n_lines,
        "sentences_of_bleu": len(pairs),
        "beams": beams,
    }


def measure_embedding(
    work: Path, shared: Path, *, n_texts: int, rounds: int, clock: str, threads: int
) -> dict[str, object]:
    """Sentences a second, by both, of the same ids; and how far their vectors are apart."""
    folder = shared / "models/all-MiniLM-L6-v2"
    texts = [row[5] for row in lines(shared / "data/stsb/dev.tsv.gz", n_texts)]
    loaded = Loaded.open(folder)
    encodings = whole_texts(loaded, texts, truncate=True)
    rows = [tuple(encoding.ids) for encoding in encodings]
    peer = peers.OnnxEncoder(folder=folder, work=work, threads=threads)
    runs = {"clearhead": lambda: embed_encodings(loaded, encodings), "onnxruntime": lambda: peer.vectors(rows)}
    apart = float(np.abs(runs["clearhead"]() - runs["onnxruntime"]()).max())
    seconds = taking_turns(runs, rounds=rounds, clock=clock)
    return {
        "sentences_per_second": {name: round(len(texts) / taken, 1) for name, taken in seconds.items()},
        "ratio": round(seconds["onnxruntime"] / seconds["clearhead"], 2),
        "spread": seconds.spread,
        "largest_difference": apart,
        "sentences": len(texts),
        "threads_of_torch": torch.get_num_threads(),
    }
