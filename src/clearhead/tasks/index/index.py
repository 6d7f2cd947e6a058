"""The index: passages and their vectors in a folder, found by cosine.

Takes: passages, a function that makes vectors of their texts, vectors of queries.
Gives: Index; hits, the best first.
Uses:  errors, append, manifest, nearest, passage, stored.
Never: a model of its own, or an open file between two calls.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path

import numpy as np
from jaxtyping import Float, Float32

from clearhead.errors import ShapeMismatch, TextError, WeightsError
from clearhead.tasks.index.append import appending, locked
from clearhead.tasks.index.manifest import FILES, MANIFEST, MAX_WIDTH, Manifest, check_name
from clearhead.tasks.index.nearest import nearest_rows, unit_rows
from clearhead.tasks.index.passage import Hit, Passage
from clearhead.tasks.index.stored import check_offsets, read_blocks, read_passages_at
from clearhead.weights.strict_json import as_weights_error

__all__ = ["Embed", "Index"]

MOST_HITS = 10_000
_PASSAGES_AT_ONCE = 1024

Embed = Callable[[Sequence[str]], Float[np.ndarray, "K D"]]
"""Makes a vector of each text; of what length does not matter."""

_Chunk = tuple[list[Passage], Float32[np.ndarray, "K D"]]


class Index:
    """Passages that can be found by what they mean. Made by `build` or `load`.

    Args:
        folder: Where its files are.
        manifest: What they hold.
    """

    def __init__(self, *, folder: Path, manifest: Manifest) -> None:
        self.folder = folder
        self._manifest = manifest

    @classmethod
    def build(
        cls,
        folder: Path | str,
        passages: Iterable[Passage],
        embed: Embed,
        *,
        model: str,
        fingerprint: str | None = None,
    ) -> "Index":
        """A new index, there wholly or not at all.

        Args:
            folder: Where to; must be empty or not yet there.
            passages: What can be found; read once, a chunk at a time.
            embed: Makes the vectors.
            model: The name to load the model behind `embed` by.
            fingerprint: What tells that model from every other; its name by default.
        """
        folder = Path(folder)
        _check_free(folder)
        is_new = not folder.exists()
        rest = iter(passages)
        first = list(islice(rest, _PASSAGES_AT_ONCE))
        if not first:
            raise TextError("no passages to search", expected="at least one")
        # Before anything is made: a model that fails mostly fails here.
        vector_KD = _embedded(embed, first)
        empty = Manifest(
            width=vector_KD.shape[1],
            count=0,
            passage_bytes=0,
            model=check_name("model", model),
            fingerprint=check_name("fingerprint", fingerprint or model),
        )
        with as_weights_error():
            folder.mkdir(parents=True, exist_ok=True)
        with locked(folder):
            _check_free(folder)
            try:
                index = cls(folder=folder, manifest=empty)
                index._append(chain([(first, vector_KD)], _chunks(rest, embed, width=empty.width)))
            except BaseException:
                _remove(folder, is_new=is_new)
                raise
        return index

    @classmethod
    def load(cls, folder: Path | str) -> "Index":
        """The index of a folder, or a WeightsError where its files do not fit each other."""
        manifest = Manifest.read(Path(folder))
        check_offsets(Path(folder), manifest)
        return cls(folder=Path(folder), manifest=manifest)

    def __len__(self) -> int:
        return self._manifest.count

    @property
    def width(self) -> int:
        """How many numbers a vector has."""
        return self._manifest.width

    @property
    def model(self) -> str:
        """The name of the model that made the vectors."""
        return self._manifest.model

    def require(self, fingerprint: str) -> None:
        """Refuse a model that did not make these vectors: its own would point elsewhere."""
        if fingerprint != self._manifest.fingerprint:
            raise WeightsError(
                "an index made by another model",
                got=fingerprint,
                expected=f"{self.model} ({self._manifest.fingerprint})",
                advice=f"ask with {self.model}, or build the index again",
            )

    def add(self, passages: Iterable[Passage], embed: Embed) -> int:
        """Add passages behind those that are there; all count or, where anything fails, none. Gives how many."""
        with locked(self.folder):
            current = Manifest.read(self.folder)  # another process may have added since
            if (current.width, current.fingerprint) != (self.width, self._manifest.fingerprint):
                raise WeightsError("an index that another has replaced", got=self.folder, advice="load it again")
            self._manifest = current
            return self._append(_chunks(passages, embed, width=self.width))

    def search(self, query_D: Float[np.ndarray, " D"], n: int = 10) -> list[Hit]:
        """The `n` passages nearest to a query's vector, of equally near ones the earlier first."""
        return self.search_many(query_D[None], n)[0]

    def search_many(self, query_QD: Float[np.ndarray, "Q D"], n: int = 10) -> list[list[Hit]]:
        """The `n` nearest passages of each query, in one pass through the index."""
        if not 1 <= n <= MOST_HITS:
            raise TextError("an impossible number of hits", got=n, expected=f"1 to {MOST_HITS}")
        unit_QD = _checked(query_QD, n_rows=len(query_QD), width=self.width)
        found = nearest_rows(unit_QD, read_blocks(self.folder, self._manifest), n=n)
        hits: list[list[Hit]] = []
        for best in found:
            passages = read_passages_at(self.folder, self._manifest, best.rows.tolist())
            scores = np.clip(best.scores, -1, 1).tolist()  # rounding may leave a little more than one
            hits.append([Hit(score, *passage) for score, passage in zip(scores, passages, strict=True)])
        return hits

    def _append(self, chunks: Iterable[_Chunk]) -> int:
        """Write, sync, and only then say so. The index must be locked."""
        former = self._manifest
        with appending(self.folder, former) as appender:
            for passages, vector_KD in chunks:
                appender.write(passages, vector_KD)
            if appender.manifest != former:
                appender.sync()
                appender.manifest.write(self.folder)
                self._manifest = appender.manifest
        return len(self) - former.count


def _chunks(passages: Iterable[Passage], embed: Embed, *, width: int) -> Iterator[_Chunk]:
    rest = iter(passages)
    while chunk := list(islice(rest, _PASSAGES_AT_ONCE)):
        yield chunk, _embedded(embed, chunk, width=width)


def _embedded(embed: Embed, chunk: Sequence[Passage], *, width: int | None = None) -> Float32[np.ndarray, "K D"]:
    return _checked(embed([passage.text for passage in chunk]), n_rows=len(chunk), width=width)


def _checked(vectors: np.ndarray, *, n_rows: int, width: int | None) -> Float32[np.ndarray, "K D"]:
    """Vectors made of length one, or an error where they are not what an index of this width can use."""
    n_found, found = vectors.shape if vectors.ndim == 2 else (0, 0)
    if n_found != n_rows or not 1 <= found <= MAX_WIDTH or found != (width or found):
        raise ShapeMismatch(
            "vectors that do not fit the index",
            got=f"shape {tuple(vectors.shape)}",
            expected=f"shape {(n_rows, width or f'1 to {MAX_WIDTH}')}",
            advice="use the model that the index was made with",
        )
    if not np.isfinite(vectors).all():
        raise WeightsError("vectors that hold NaN or infinity", advice="check the model that made them")
    return unit_rows(vectors)


def _check_free(folder: Path) -> None:
    """Refuse a place where something stands, other than what a build that was cut off left."""
    with as_weights_error():
        names = {path.name for path in folder.iterdir()} if folder.is_dir() else set[str]()
        left = {name for name in names if name in FILES or (name.startswith(f".{MANIFEST}.") and name.endswith(".tmp"))}
        is_taken = bool(names - left) or (folder.exists() and not folder.is_dir())
    if is_taken:
        raise WeightsError(
            "a place for an index that is taken",
            got=folder,
            expected="an empty folder, or none yet",
            advice="load the index and add to it" if MANIFEST in names else "another folder",
        )


def _remove(folder: Path, *, is_new: bool) -> None:
    """Take back a build that failed."""
    with suppress(OSError):
        for name in FILES:
            (folder / name).unlink(missing_ok=True)
        if is_new:
            folder.rmdir()
