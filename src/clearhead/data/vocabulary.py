"""A tokenizer made for a corpus, laid out for the family that its task trains.

Takes: records.
Gives: a tokenizer that adds by itself the tokens that its model expects around a text.
Uses:  text, data.{layout,record,tags}.
Never: holds the corpus in memory.
"""

import json
import tempfile
from collections.abc import Iterable, Iterator
from typing import IO

from clearhead.data.layout import arrange
from clearhead.data.record import Record, Task
from clearhead.data.tags import spell_tag
from clearhead.text.kinds import TokenizerKind, default_tokens
from clearhead.text.special import SpecialTokens
from clearhead.text.tokenizer import Tokenizer
from clearhead.text.train import DEFAULT_VOCAB_SIZE, train_tokenizer

__all__ = ["default_kind", "make_tokenizer", "shortfall"]

_MARIAN = SpecialTokens(pad="<pad>", unknown="<unk>", end="</s>")


def default_kind(task: Task) -> TokenizerKind:
    """The kind of tokenizer that suits a task: BERT's for what its family does, bytes for what writes text."""
    writes = task in (Task.TRANSLATE, Task.LANGUAGE_MODEL)
    return TokenizerKind.BPE if writes else TokenizerKind.WORDPIECE


def make_tokenizer(
    records: Iterable[Record],
    *,
    task: Task,
    kind: TokenizerKind | str | None = None,
    vocab_size: int = DEFAULT_VOCAB_SIZE,
    lowercase: bool = False,
    joint: bool = True,
) -> Tokenizer:
    """Learn a vocabulary from records.

    Args:
        records: The corpus, read once.
        task: What the tokenizer is for. A translator's ends every text with `</s>`, and has a piece such as `>>fr<<`
            for each target language where there are several; the others' but a language model's put their start and
            end around a text.
        kind: What the pieces are; by default what suits the task.
        vocab_size: The most pieces to have, tags not counted. A corpus that does not hold as many gives fewer:
            `shortfall` says so.
        lowercase: Whether case is forgotten.
        joint: Whether source and target of a translation share one vocabulary. If not, the tokenizer's `target` is
            the other one, and as many pieces are learned for each.
    """
    kind = TokenizerKind(kind) if kind in set(TokenizerKind) else kind or default_kind(task)
    if task is Task.TRANSLATE:
        return _translator(records, kind=kind, vocab_size=vocab_size, lowercase=lowercase, joint=joint)
    texts = (text for record in records for text in (record.source, record.target) if text is not None)
    tokenizer = train_tokenizer(texts, kind=kind, vocab_size=vocab_size, lowercase=lowercase)
    special = default_tokens(TokenizerKind(kind))
    if task is Task.LANGUAGE_MODEL:
        return arrange(tokenizer, special=special)
    return arrange(tokenizer, special=special, around=(special.start, special.end))


def shortfall(tokenizer: Tokenizer, vocab_size: int) -> str | None:
    """What to tell the user where a corpus gave fewer pieces than were asked for, or None."""
    sides = {"text": tokenizer}
    if tokenizer.target is not tokenizer:
        sides = {"source": tokenizer, "target": tokenizer.target}
    sizes = {name: side.vocab_size for name, side in sides.items() if side.vocab_size < vocab_size}
    few = [f"the {name} holds no more than {size} pieces" for name, size in sizes.items()]
    return f"{' and '.join(few)} ({vocab_size} were asked for)" if few else None


def _translator(
    records: Iterable[Record], *, kind: TokenizerKind | str, vocab_size: int, lowercase: bool, joint: bool
) -> Tokenizer:
    tags: set[str] = set()

    def learn(texts: Iterable[str]) -> Tokenizer:
        return train_tokenizer(texts, kind=kind, vocab_size=vocab_size, special=_MARIAN, lowercase=lowercase)

    if joint:
        shared = learn(_texts(records, tags))
        return _laid_out(shared, tags)
    with tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n") as spool:
        source = learn(_sources(records, tags, spool))
        spool.seek(0)
        target = learn(json.loads(line) for line in spool)
    return _laid_out(source, tags, target=_laid_out(target, set(), separate=True), separate=True)


def _laid_out(
    tokenizer: Tokenizer, tags: set[str], *, target: Tokenizer | None = None, separate: bool = False
) -> Tokenizer:
    codes = [spell_tag(tag) for tag in sorted(tags)] if len(tags) > 1 else []
    first = ["</s>", "<unk>", *(["<pad>"] if separate else []), *codes]
    last = [] if separate else ["<pad>"]
    return arrange(tokenizer, special=_MARIAN, first=first, last=last, around=(None, "</s>"), target=target)


def _texts(records: Iterable[Record], tags: set[str]) -> Iterator[str]:
    for record in records:
        if record.tag is not None:
            tags.add(record.tag)
        yield record.source
        yield record.target or ""


def _sources(records: Iterable[Record], tags: set[str], spool: IO[str]) -> Iterator[str]:
    """The sources, while the targets are laid aside for later."""
    for record in records:
        if record.tag is not None:
            tags.add(record.tag)
        spool.write(json.dumps(record.target or "") + "\n")
        yield record.source
