"""Tiny models of every family and head, with real tokenizers."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from clearhead.config import SIZES, HeadConfig, HeadKind, ModelConfig, TokenIds, architecture
from clearhead.data.layout import arrange
from clearhead.models import build
from clearhead.tasks import Loaded
from clearhead.testing import ByteTokenizer
from clearhead.text import SpecialTokens, Tokenizer, load_tokenizer, train_tokenizer
from clearhead.weights import Checkpoint

SIZE = replace(SIZES["tiny"], width=16, n_heads=2, feedforward_width=24, n_layers=1, max_length=48)
BYTE_TOKENS = TokenIds(pad=0, start=1, end=(2,), decoder_start=0)
CORPUS = ["the cat sat on the mat .", "le chat est sur le tapis .", "die Katze sitzt auf der Matte ."] * 3
_VOCABULARY = """
    [PAD] [UNK] [CLS] [SEP] [MASK] a b c d e f g h i j k l m n o p q r s t u v w x y z . , ? !
    the cat sat on mat paris is in france who where play ##ing ##ed ##s ##a ##b ##c ##d ##e
"""

Make = Callable[..., Loaded]


def wordpiece(folder: Path) -> Tokenizer:
    folder.mkdir(exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(_VOCABULARY.split()) + "\n")
    return load_tokenizer(folder)


def assemble(
    config: ModelConfig,
    tokenizer: Tokenizer,
    *,
    family: str,
    name: str = "",
    foreign: Mapping[str, Any] | None = None,
    generation: Mapping[str, Any] | None = None,
    **options: Any,
) -> Loaded:
    checkpoint = Checkpoint(
        model=build(config, seed=0), family=family, foreign=foreign or {}, generation=generation or {}
    )
    return Loaded(checkpoint=checkpoint, tokenizer=tokenizer, name=name, **options)


@pytest.fixture
def writer() -> Make:
    """A model that writes bytes: make("gpt2"), make("marian"), make("t5")."""

    def make(kind: str, **options: Any) -> Loaded:
        tokenizer = ByteTokenizer()
        config = replace(architecture(kind, size=SIZE, vocab_size=tokenizer.vocab_size), tokens=BYTE_TOKENS)
        return assemble(config, tokenizer, family=kind.removeprefix("flan-"), **options)

    return make


@pytest.fixture
def reader(tmp_path: Path) -> Make:
    """An encoder with WordPiece and any head: make(HeadKind.SENTENCE), make(kind, labels=(…))."""

    def make(kind: HeadKind, *, labels: tuple[str, ...] = (), **options: Any) -> Loaded:
        tokenizer = wordpiece(tmp_path / "wordpiece")
        config = architecture("bert", size=SIZE, vocab_size=tokenizer.vocab_size)
        vocabulary = {"bias": True} if kind is HeadKind.MASKED_LANGUAGE_MODEL else {}
        head = HeadConfig(kind=kind, labels=labels, **vocabulary)
        return assemble(replace(config, head=head, tokens=TokenIds(pad=0)), tokenizer, family="bert", **options)

    return make


@pytest.fixture
def polyglot() -> Loaded:
    """A translator into German and French, as one is trained here."""
    special = SpecialTokens(pad="<pad>", unknown="<unk>", end="</s>")
    trained = train_tokenizer(CORPUS, kind="bpe", vocab_size=320, special=special)
    first = ["</s>", "<unk>", ">>de<<", ">>fr<<"]
    tokenizer = arrange(trained, special=special, first=first, last=["<pad>"], around=(None, "</s>"))
    pad = tokenizer.id_of("<pad>")
    config = architecture("marian", size=SIZE, vocab_size=tokenizer.vocab_size)
    tokens = TokenIds(pad=pad, end=(0,), decoder_start=pad)
    return assemble(replace(config, tokens=tokens), tokenizer, family="marian")
