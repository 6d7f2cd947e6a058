"""Search: passages and their vectors in a folder, and the passages whose vectors are nearest to a query's.

Takes: a file or a folder of text; a function that makes vectors of passages.
Gives: Index (build, load, add, search), and the passages of a corpus with their lines.
Uses:  text, weights (JSON from strangers), errors; numpy.
Never: a model; an approximation; memory that grows with the corpus.
"""

from typing import TYPE_CHECKING

from clearhead.doors import open_lazily

if TYPE_CHECKING:  # for type checkers and editors; at run time the doors below open these one by one
    from clearhead.tasks.index.corpus import Corpus as Corpus
    from clearhead.tasks.index.corpus import read_passages as read_passages
    from clearhead.tasks.index.index import Index as Index
    from clearhead.tasks.index.passage import Hit as Hit
    from clearhead.tasks.index.passage import Passage as Passage

_DOORS = {
    "Corpus": "clearhead.tasks.index.corpus",
    "Hit": "clearhead.tasks.index.passage",
    "Index": "clearhead.tasks.index.index",
    "Passage": "clearhead.tasks.index.passage",
    "read_passages": "clearhead.tasks.index.corpus",
}

if not TYPE_CHECKING:
    __all__ = list(_DOORS)

__getattr__, __dir__ = open_lazily(__name__, _DOORS)
