"""The tree of a beam search, from the record of its steps."""

from collections.abc import Callable

from clearhead.decoding import Fate
from clearhead.errors import TraceError
from clearhead.figures import Branch, Figure, tree
from clearhead.trace import Token, Trace

_MOST_DROPPED = 2


def beam_tree(trace: Trace, piece_of: Callable[[int], str]) -> Figure:
    """A picture of all that a search followed; of the candidates that died at once, the likeliest of each step.

    Raises:
        TraceError: The run did not search.
    """
    if not trace.beams:
        raise TraceError("this run searched with no beams", got="one beam", expected="beams=2 or more")
    best = [token.id for token in trace.written]
    branches: list[Branch] = []
    running: dict[int, tuple[int, list[int]]] = {0: (-1, [])}
    for step in trace.beams:
        after: dict[int, tuple[int, list[int]]] = {}
        n_dropped = 0
        for candidate in step:
            if candidate.parent not in running:
                continue
            parent, ids = running[candidate.parent]
            path = [*ids, candidate.id]
            is_best = path == best[: len(path)] and candidate.fate is not Fate.DROPPED
            if candidate.fate is Fate.DROPPED:
                n_dropped += 1
                if n_dropped > _MOST_DROPPED:
                    continue
            fate = "best" if is_best else candidate.fate.value
            word = Token(id=candidate.id, piece=piece_of(candidate.id)).shown
            branches.append(Branch(word=word, parent=parent, fate=fate, score=candidate.score))
            if candidate.place is not None:
                after[candidate.place] = (len(branches) - 1, path)
        running = after
    return tree(branches, title="beam search: ★ the text, ✓ finished, × dropped")
