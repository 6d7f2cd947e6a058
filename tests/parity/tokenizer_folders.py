"""Folders of every published layout, made on the spot, and texts that are hard to read."""

import gzip
import io
import json
import random
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import sentencepiece

from clearhead.text import SpecialTokens, train_tokenizer

__all__ = ["HARD", "SPELLED", "make_bert", "make_gpt2", "make_marian", "make_spm", "random_texts", "read_corpus"]

HARD = [
    "",
    " ",
    "   ",
    " " * 40,
    " a",
    "a ",
    "  a  b   c  ",
    "\t\n x\r\n",
    "line\n\nline\n",
    "नमस्ते दुनिया, यह एक वाक्य है। क्\u200dष",
    "Äpfel über Straße, GRÜẞE",
    "L'été n'est pas qu’hier; «œuvre»",
    "汉字与漢字、かな",
    "👩\u200d👩\u200d👧\u200d👦 👍🏽 🇩🇪",
    "a\x00b\x07c\x7fd\x9fe",
    "각 한국어",
    "ﬁ ﬃ ① Ｈｅｌｌｏ ㍿ ﷺ ½",
    "e\u0301\u0323 q\u0307\u0323 n\u0303",
    "▁a▁▁b▁",
    "<0x0A> ##ing Ġthe",
    "¡\u2028x\u2029y\u0085z\u1680w\u200bv\u3000u",
    "\ufeffbom \u00ad soft",
    "aaaaaaaaaaaaaaaaaaa",
    "x" * 3000,
    "1234567 3,14 10%",
    "＜s＞ ＜/s＞",
]
"""Texts that break one tokenizer or another."""

SPELLED = [
    "<s>hello</s> world",
    "x</s>",
    "</s>",
    "a <unk> b",
    "<pad> <pad>",
    "hello <extra_id_0> big <extra_id_99> x",
    "[CLS] a [MASK][SEP]",
    "end<|endoftext|> begin",
    ">>fr<< hello",
    ">>fr<<hello there",
]
"""Texts that spell out special tokens."""

_SCRIPTS = [
    *((0x20, 0x7E), (0x20, 0x7E), (0xA0, 0x24F), (0x300, 0x36F), (0x370, 0x52F), (0x590, 0x6FF), (0x900, 0x97F)),
    *((0x900, 0x97F), (0xE00, 0xE7F), (0x1100, 0x11FF), (0x1E00, 0x1FFF), (0x2000, 0x206F), (0x2070, 0x218F)),
    *((0x3000, 0x30FF), (0x3300, 0x33FF), (0x4E00, 0x4FFF), (0xAC00, 0xAD00), (0xF900, 0xFAFF), (0xFB00, 0xFDFF)),
    *((0xFE00, 0xFFFF), (0x1F300, 0x1F6FF), (0x1D400, 0x1D4FF), (0x0, 0x1F), (0x7F, 0x9F), (0x20000, 0x20100)),
]
_BETWEEN = [" ", "  ", "\t", "\n", "\u200d", "\u0301", "\u093c", " \u00a0"]


def random_texts(n_texts: int) -> list[str]:
    """Texts of a few runs from mixed scripts, with spaces, joiners and accents between."""
    chance = random.Random(0)  # noqa: S311
    texts: list[str] = []
    for _ in range(n_texts):
        letters: list[str] = []
        for _ in range(chance.randint(1, 4)):
            low, high = chance.choice(_SCRIPTS)
            letters += (chr(chance.randint(low, high)) for _ in range(chance.randint(1, 8)))
            if chance.random() < 0.4:
                letters.append(chance.choice(_BETWEEN))
        texts.append("".join(letters))
    return texts


def read_corpus(shared: Path) -> list[str]:
    """A few thousand lines of English, German, French and Hindi."""
    lines = _lines(shared / "data/text/shakespeare.txt.gz", 3000)
    for pair in ("en-de", "en-fr", "en-hi"):
        for line in _lines(shared / f"data/tatoeba/{pair}.dev.tsv.gz", 600):
            lines += line.split("\t")[:2]
    return [line for line in lines if line]


def make_spm(path: Path, corpus: Sequence[str], **options: Any) -> Path:
    """A SentencePiece file, trained by its own library."""
    path.parent.mkdir(parents=True, exist_ok=True)
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(corpus), model_writer=model, minloglevel=2, num_threads=1, **options
    )
    path.write_bytes(model.getvalue())
    return path


def make_marian(folder: Path, corpus: Sequence[str]) -> Path:
    """A source and a target, and a vocabulary that lacks some pieces of both and knows a language."""
    pieces: list[str] = []
    for name, size in (("source", 900), ("target", 1000)):
        path = make_spm(folder / f"{name}.spm", corpus[: 20 * size // 9], vocab_size=size)
        processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
        pieces += (processor.id_to_piece(index) for index in range(processor.get_piece_size()))
    usual = ["</s>", "<unk>"]
    kept = [piece for place, piece in enumerate(dict.fromkeys(pieces)) if place % 37 != 5]
    ordered = dict.fromkeys([*usual, *kept, ">>fr<<", "<pad>"])
    vocabulary = {piece: index for index, piece in enumerate(ordered)}
    (folder / "vocab.json").write_text(json.dumps(vocabulary))
    return folder


def make_gpt2(folder: Path, corpus: Sequence[str]) -> Path:
    """vocab.json and merges.txt of byte-level BPE."""
    end = "<|endoftext|>"
    trained = train_tokenizer(corpus, kind="bpe", vocab_size=1200, special=SpecialTokens(start=end, end=end))
    model = json.loads(trained.save(folder / "made").read_text(encoding="utf-8"))["model"]
    (folder / "vocab.json").write_text(json.dumps(model["vocab"]))
    merges = "".join(" ".join(merge) + "\n" for merge in model["merges"])
    (folder / "merges.txt").write_text("#version: 0.2\n" + merges, encoding="utf-8")
    return folder


def make_bert(folder: Path, corpus: Sequence[str], *, lowercase: bool, **settings: object) -> Path:
    """vocab.txt of WordPiece."""
    folder.mkdir(parents=True, exist_ok=True)
    trained = train_tokenizer(corpus, kind="wordpiece", vocab_size=1500, lowercase=lowercase)
    pieces = [trained.piece_of(index) for index in range(trained.vocab_size)]
    (folder / "vocab.txt").write_text("".join(piece + "\n" for piece in pieces), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": lowercase, **settings}))
    return folder


def _lines(path: Path, n_lines: int) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        return [line.rstrip("\n") for line in islice(stream, n_lines)]
