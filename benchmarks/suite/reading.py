"""Translation with beams, and vectors of sentences: the embedded translator and MiniLM beside their peers."""

import gzip
import itertools
import json
from pathlib import Path

import numpy as np
import peers
import sacrebleu
import torch
from timing import taking_turns

import clearhead
from clearhead.decoding import DecodingSettings
from clearhead.engine import Request
from clearhead.tasks import Loaded
from clearhead.tasks.language_pairs import instruction
from clearhead.tasks.sources import source_ids, whole_texts
from clearhead.tasks.vectors import embed_encodings

BEAMS, BATCH = 4, 32
TRANSLATOR = Path(clearhead.__file__).parent / "pretrained/translator"


def lines(path: Path, n: int) -> list[list[str]]:
    """The first lines of a table."""
    with gzip.open(path, "rt", encoding="utf-8") as rows:
        return [row.rstrip("\n").split("\t") for row in itertools.islice(rows, n)]


def measure_translation(
    work: Path, shared: Path, *, n_lines: int, rounds: int, clock: str, threads: int
) -> dict[str, object]:
    """Sentences a second and BLEU, by both, of the same ids."""
    pairs = lines(shared / "data/tatoeba/en-fr.test.tsv.gz", n_lines)
    sources, targets = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    loaded = {kind: Loaded.open("translator", weights=kind) for kind in ("int8", "float32")}
    one = loaded["int8"]
    told = instruction(one, to="fr")
    ids = source_ids(one, sources, prefix=told.prefix, tag=told.tag)
    config = json.loads((TRANSLATOR / "config.json").read_text())
    end = config["eos_token_id"]
    settings = DecodingSettings(beams=BEAMS, max_new_tokens=128, end_ids=(end,))
    requests = [Request(ids=row, settings=settings) for row in ids]
    words = [[peers.word(index, config) for index in row] for row in ids]
    theirs = {kind: peers.translator(TRANSLATOR, work, kind, threads=threads) for kind in loaded}

    def text(row: list[int] | tuple[int, ...]) -> str:
        return one.tokenizer.target.decode([index for index in row if index != end])

    def ours(kind: str) -> list[str]:
        return [text(reply.best.ids) for reply in loaded[kind].engine.generate(requests)]

    def with_ctranslate2(kind: str) -> list[str]:
        found = theirs[kind].translate_batch(words, beam_size=BEAMS, max_batch_size=BATCH, max_decoding_length=128)
        names = {peers.word(index, config): index for index in range(config["vocab_size"])}
        return [text([names[name] for name in one.hypotheses[0]]) for one in found]

    runs = {f"clearhead {kind}": lambda kind=kind: ours(kind) for kind in loaded}
    runs |= {f"ctranslate2 {kind}": lambda kind=kind: with_ctranslate2(kind) for kind in loaded}
    bleu = {name: round(sacrebleu.corpus_bleu(run(), [targets]).score, 2) for name, run in runs.items()}
    seconds = taking_turns(runs, rounds=rounds, clock=clock)
    return {
        "sentences_per_second": {name: round(n_lines / taken, 1) for name, taken in seconds.items()},
        "bleu": bleu,
        "int8_ratio": round(seconds["ctranslate2 int8"] / seconds["clearhead int8"], 2),
        "float32_ratio": round(seconds["ctranslate2 float32"] / seconds["clearhead float32"], 2),
        "sentences": n_lines,
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
        "largest_difference": apart,
        "sentences": len(texts),
        "threads_of_torch": torch.get_num_threads(),
    }
