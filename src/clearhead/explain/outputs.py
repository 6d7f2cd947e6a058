"""Outputs of a head by the words that people call them by."""

from collections.abc import Sequence

from clearhead.errors import TextError, TraceError
from clearhead.text import Tokenizer


def output_index(word: str, *, labels: Sequence[str] = (), tokenizer: Tokenizer | None = None) -> int:
    """The place of a word among the outputs of a head.

    Args:
        word: A label, a piece as the vocabulary spells it, or a word that is one piece; with a space before it, the
            piece that begins a word.
        labels: The labels of a classifying head.
        tokenizer: What turns words into pieces.

    Raises:
        TraceError: No output is called so.
    """
    if word in labels:
        return labels.index(word)
    if tokenizer is None or labels:
        raise TraceError("no output of this name", got=repr(word), expected=", ".join(labels) or "a number")
    target = tokenizer.target
    bare = word.removeprefix(" ")
    marked = (f"▁{bare}", f"Ġ{bare}") if bare != word else ()
    for piece in (*marked, word):
        try:
            return target.id_of(piece)
        except TextError:
            continue
    ids = target.encode(word, add_special=False, literal=True).ids
    if len(ids) != 1:
        pieces = " ".join(target.piece_of(one) for one in ids)
        raise TraceError("a word of several pieces", got=f"{word!r}: {pieces}", expected="one piece of the vocabulary")
    return ids[0]
