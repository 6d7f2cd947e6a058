"""Tiny random models of every family and head as folders, and a run of the command line in this process."""

import io
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from clearhead.cli import main
from clearhead.config import SIZES, HeadConfig, HeadKind, ModelConfig, TokenIds, architecture
from clearhead.data.layout import arrange
from clearhead.models import build
from clearhead.testing import ByteTokenizer
from clearhead.text import SpecialTokens, Tokenizer, load_tokenizer, train_tokenizer
from clearhead.weights import Checkpoint, save_checkpoint

CONTEXT = 48
SIZE = replace(SIZES["tiny"], width=16, n_heads=2, feedforward_width=24, n_layers=1, max_length=CONTEXT)
CORPUS = ["the cat sat on the mat .", "le chat est sur le tapis .", "die Katze sitzt auf der Matte ."] * 3
PIECES = """\
[PAD] [UNK] [CLS] [SEP] [MASK] a b c d e f g h i j k l m n o p q r s t u v w x y z . , ? ! the cat sat on mat paris is \
in france who where play ##ing ##ed ##s ##a ##b ##c ##d ##e"""
LABELS = ("good", "b\x1b[31mad")


class Ran(NamedTuple):
    """What a run left behind."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.split("\n")[:-1]

    @property
    def records(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.lines]


Run = Callable[..., Ran]


def make_run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """A function that runs the command line here: run("translate", "x", stdin=b"...")."""

    def run(*arguments: object, stdin: bytes = b"") -> Ran:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as caught:
            main([str(argument) for argument in arguments])
        return Ran(int(caught.value.code or 0), *capsys.readouterr())

    return run


def make_folders(root: Path) -> Path:
    """The folders gpt2, t5 and marian (bytes), polyglot (German and French), bert-* (WordPiece)."""
    tokenizer = ByteTokenizer()
    tokens = TokenIds(pad=0, start=1, end=(2,), decoder_start=0)
    for name in ("gpt2", "t5", "marian"):
        config = architecture(name, size=SIZE, vocab_size=tokenizer.vocab_size)
        _save(root / name, replace(config, tokens=tokens), tokenizer, family=name)
    (root / "vocab.txt").write_text(PIECES.replace(" ", "\n") + "\n")
    wordpiece = load_tokenizer(root)
    for name, kind, labels in (
        ("bert-masks", HeadKind.MASKED_LANGUAGE_MODEL, ()),
        ("bert-labels", HeadKind.SEQUENCE_CLASSIFICATION, LABELS),
        ("bert-answers", HeadKind.QUESTION_ANSWERING, ()),
        ("bert", HeadKind.NONE, ()),
    ):
        config = architecture("bert", size=SIZE, vocab_size=wordpiece.vocab_size)
        vocabulary = {"bias": True} if kind is HeadKind.MASKED_LANGUAGE_MODEL else {}
        head = HeadConfig(kind=kind, labels=labels, **vocabulary)
        _save(root / name, replace(config, head=head, tokens=TokenIds(pad=0)), wordpiece, family="bert")
    special = SpecialTokens(pad="<pad>", unknown="<unk>", end="</s>")
    trained = train_tokenizer(CORPUS, kind="bpe", vocab_size=320, special=special)
    first = ["</s>", "<unk>", ">>de<<", ">>fr<<"]
    polyglot = arrange(trained, special=special, first=first, last=["<pad>"], around=(None, "</s>"))
    pad = polyglot.id_of("<pad>")
    config = architecture("marian", size=SIZE, vocab_size=polyglot.vocab_size)
    tokens = TokenIds(pad=pad, end=(0,), decoder_start=pad)
    _save(root / "polyglot", replace(config, tokens=tokens), polyglot, family="marian")
    return root


def _save(folder: Path, config: ModelConfig, tokenizer: Tokenizer, *, family: str) -> None:
    tokenizer.save(folder)
    save_checkpoint(Checkpoint(model=build(config, seed=0), family=family, foreign={}, generation={}), folder)
