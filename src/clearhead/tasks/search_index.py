"""Search by meaning: a corpus made into an index by one model, and asked with the same."""

import hashlib
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float32

from clearhead.tasks.index import Corpus, Hit, Index, Passage, read_passages
from clearhead.tasks.loaded import Loaded
from clearhead.tasks.sources import whole_texts
from clearhead.tasks.vectors import embed, embed_encodings
from clearhead.text.words import check_text

Progress = Callable[[int], None]


class SearchIndex:
    """Passages that can be found by what they mean. Made by `build` or `load`.

    Args:
        index: Where passages and vectors are.
        loaded: The model that made the vectors.

    Attributes:
        skipped: How many entries of the corpus were passed over, by reason.
    """

    def __init__(self, *, index: Index, loaded: Loaded) -> None:
        self.index = index
        self.skipped: dict[str, int] = {}
        self._loaded = loaded

    @classmethod
    def build(
        cls, folder: Path | str | None, corpus: Path | str, loaded: Loaded, progress: Progress | None = None
    ) -> "SearchIndex":
        """A new index of a file of lines, or of the text files in a folder.

        Args:
            folder: Where to, empty or not yet there; None for an index that lasts as long as this object.
            corpus: The file or folder to index.
            loaded: The model that makes the vectors.
            progress: Is told after each batch how many passages it had.

        Raises:
            ConfigError: A model that does not embed.
            TextError: A corpus that cannot be read, or holds nothing.
        """
        loaded.require("search")
        passages = _passages(corpus, loaded)
        temporary = Path(tempfile.mkdtemp(prefix="clearhead-")) if folder is None else None
        index = Index.build(
            temporary or Path(folder or ""),
            passages,
            _embedder(loaded, progress),
            model=loaded.name or "a model without a name",
            fingerprint=fingerprint(loaded),
        )
        found = cls(index=index, loaded=loaded)
        if temporary is not None:
            weakref.finalize(found, shutil.rmtree, temporary, ignore_errors=True)
        found._note(passages)
        return found

    @classmethod
    def load(cls, folder: Path | str, loaded: Loaded) -> "SearchIndex":
        """The index of a folder, to be asked with the model that made it.

        Raises:
            WeightsError: A folder that holds none, or one that another model made.
        """
        loaded.require("search")
        index = Index.load(folder)
        index.require(fingerprint(loaded))
        return cls(index=index, loaded=loaded)

    def __len__(self) -> int:
        return len(self.index)

    def add(self, corpus: Path | str, progress: Progress | None = None) -> int:
        """Adds the passages of a file or folder, all or none; gives how many."""
        passages = _passages(corpus, self._loaded)
        n_added = self.index.add(passages, _embedder(self._loaded, progress))
        self._note(passages)
        return n_added

    def add_passages(self, passages: Iterable[Passage], progress: Progress | None = None) -> int:
        """Adds passages that are at hand already, all or none; gives how many."""
        return self.index.add(passages, _embedder(self._loaded, progress))

    def search(self, query: str, n: int = 10) -> list[Hit]:
        """The passages nearest to a query, the nearest first.

        Raises:
            TextError: A query that is longer than the model's context.
        """
        return self.index.search(embed(self._loaded, [check_text(query)])[0], n)

    def _note(self, corpus: Corpus) -> None:
        for reason, count in corpus.skipped.items():
            self.skipped[reason.value] = self.skipped.get(reason.value, 0) + count


def fingerprint(loaded: Loaded) -> str:
    """What tells a model's vectors from every other's: a digest of its weights and of how it pools."""
    digest = hashlib.blake2b(digest_size=16)
    head = loaded.config.head
    digest.update(f"{head.kind} {head.pooling} {head.normalised}".encode())
    for name, parameter in loaded.checkpoint.model.named_parameters():
        digest.update(name.encode())
        digest.update(parameter.detach().contiguous().numpy().data)
    return digest.hexdigest()


def _passages(corpus: Path | str, loaded: Loaded) -> Corpus:
    """Passages that the model can read whole."""
    return read_passages(
        corpus,
        limit=loaded.source_limit,
        length=lambda text: len(loaded.tokenizer.encode(text, literal=True)),
    )


def _embedder(loaded: Loaded, progress: Progress | None) -> Callable[[Sequence[str]], Float32[np.ndarray, "B D"]]:
    def vectors(texts: Sequence[str]) -> Float32[np.ndarray, "B D"]:
        return embed_encodings(loaded, whole_texts(loaded, texts, truncate=False), progress=progress)

    return vectors
