"""Corpora in chunks: read in order, worked on here or by Ray's workers, written in order, each chunk once.

Takes: a file of lines or a Parquet file, and a job that workers can open for themselves.
Gives: chunks that depend on the file and their size alone; an output that goes on where it was stopped.
Uses:  doors, errors, text; numpy, pyarrow and ray, each when it is asked for.
Never: a whole corpus in memory, a result twice, or ray where nobody asked for it.
"""

from typing import TYPE_CHECKING

from clearhead.doors import open_lazily

if TYPE_CHECKING:  # for type checkers and editors; at run time the doors below open these one by one
    from clearhead.corpora.chunks import Chunk as Chunk
    from clearhead.corpora.chunks import Corpus as Corpus
    from clearhead.corpora.chunks import fixed_chunks as fixed_chunks
    from clearhead.corpora.chunks import read_chunks as read_chunks
    from clearhead.corpora.failure import Failure as Failure
    from clearhead.corpora.growing import Growing as Growing
    from clearhead.corpora.jobs import Done as Done
    from clearhead.corpora.jobs import Job as Job
    from clearhead.corpora.jobs import map_here as map_here
    from clearhead.corpora.layouts import Array as Array
    from clearhead.corpora.layouts import Layout as Layout
    from clearhead.corpora.layouts import Lines as Lines
    from clearhead.corpora.layouts import Table as Table
    from clearhead.corpora.on_ray import cluster as cluster
    from clearhead.corpora.on_ray import map_on_ray as map_on_ray
    from clearhead.corpora.tables import batch_bytes as batch_bytes

_DOORS = {
    "Array": "clearhead.corpora.layouts",
    "Chunk": "clearhead.corpora.chunks",
    "Corpus": "clearhead.corpora.chunks",
    "Done": "clearhead.corpora.jobs",
    "Failure": "clearhead.corpora.failure",
    "Growing": "clearhead.corpora.growing",
    "Job": "clearhead.corpora.jobs",
    "Layout": "clearhead.corpora.layouts",
    "Lines": "clearhead.corpora.layouts",
    "Table": "clearhead.corpora.layouts",
    "batch_bytes": "clearhead.corpora.tables",
    "cluster": "clearhead.corpora.on_ray",
    "fixed_chunks": "clearhead.corpora.chunks",
    "map_here": "clearhead.corpora.jobs",
    "map_on_ray": "clearhead.corpora.on_ray",
    "read_chunks": "clearhead.corpora.chunks",
}

if not TYPE_CHECKING:
    __all__ = list(_DOORS)

__getattr__, __dir__ = open_lazily(__name__, _DOORS)
