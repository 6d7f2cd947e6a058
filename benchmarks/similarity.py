"""Sentence similarity on STS-B dev, beside the reference: Spearman's correlation with people's scores.

    python benchmarks/similarity.py [--model FOLDER]

The reference is `transformers` with the folder's own pooling done by hand; both read the same lines.
"""

import argparse
import gzip
import os
import sys
import time
from pathlib import Path

import numpy as np
import torch
import transformers
from scipy.stats import spearmanr

import clearhead

SHARED = Path(os.environ.get("CLEARHEAD_SHARED", Path(__file__).parents[1] / "../shared")).resolve()
BATCH = 64


def pairs() -> tuple[list[str], list[str], list[float]]:
    """First sentences, second sentences and scores."""
    path = SHARED / "data/stsb/dev.tsv.gz"
    if not path.is_file():
        sys.exit(f"no STS-B at {path}: set CLEARHEAD_SHARED")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines]
    return [row[5] for row in rows], [row[6] for row in rows], [float(row[4]) for row in rows]


def reference(folder: Path, texts: list[str]) -> np.ndarray:
    """Mean-pooled, normalised vectors by `transformers`."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder, dtype=torch.float32).eval()
    vectors = []
    for first in range(0, len(texts), BATCH):
        batch = tokenizer(texts[first : first + BATCH], padding=True, truncation=True, return_tensors="pt")
        with torch.no_grad():
            hidden = model(**batch).last_hidden_state
        mask = batch["attention_mask"].unsqueeze(-1)
        vectors.append(torch.nn.functional.normalize((hidden * mask).sum(1) / mask.sum(1), dim=-1))
    return torch.cat(vectors).numpy()


def main() -> None:
    """Embed twice, correlate, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=SHARED / "models/all-MiniLM-L6-v2")
    options = parser.parse_args()
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    first, second, scores = pairs()
    model = clearhead.load(options.model)
    found = {}
    for name, embed in (("clearhead", model.embed), ("transformers", lambda texts: reference(options.model, texts))):
        start = time.perf_counter()
        similarity = (embed(first) * embed(second)).sum(1)
        taken = time.perf_counter() - start
        found[name] = spearmanr(similarity, scores).statistic
        print(f"{name:13} Spearman {found[name]:.4f}   {2 * len(first) / taken:6.0f} sentences/s")
    print(f"difference    {abs(found['clearhead'] - found['transformers']):.6f}")


if __name__ == "__main__":
    main()
