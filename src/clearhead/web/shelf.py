"""The models that the page may open, and the runs that it has made."""

import secrets
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from clearhead.errors import ServerError, nearest
from clearhead.explain import Run
from clearhead.model import Model, load
from clearhead.weights.locate import embedded_models, resolve

MOST_RUNS = 24
MOST_BYTES = 768 * 2**20


@dataclass(frozen=True, kw_only=True)
class Shelved:
    """A run that was kept, and how much memory it holds."""

    run: Run
    n_bytes: int


class Shelf:
    """Models by name, loaded when they are first asked for; runs by number, the oldest forgotten first.

    Only the names given here can be opened: nothing that comes with a request is ever looked for on the disk.

    Args:
        names: Embedded models, folders or hub ids; the embedded models by default.
        weights: How weights are held while a model runs.
    """

    def __init__(self, *, names: Sequence[str] = (), weights: str = "float32") -> None:
        self._weights = weights
        given = list(names) or list(embedded_models())
        self._sources = {self._label(name): name for name in given}
        if len(self._sources) < len(set(given)):
            raise ServerError("two models of one name", got=", ".join(given), expected="folders called differently")
        self._models: dict[str, Model] = {}
        self._runs: OrderedDict[str, Shelved] = OrderedDict()
        self._lock = threading.Lock()
        self._loading = {name: threading.Lock() for name in self._sources}
        self.busy = threading.Lock()
        """Held while a model runs: one run at a time is as fast as two cores go."""

    @property
    def names(self) -> list[str]:
        """The models, in the order in which they were named."""
        return list(self._sources)

    def model(self, name: str) -> Model:
        """A model by its name.

        Raises:
            ServerError: There is none of that name.
        """
        if name not in self._sources:
            raise ServerError(
                "no such model here",
                got=name[:100],
                expected=", ".join(self._sources) or "none",
                advice=nearest(name, self._sources),
            )
        with self._loading[name]:
            if name not in self._models:
                model = load(self._sources[name], weights=self._weights)
                model.loaded.name = name  # and not where it lies: what is told of a model is told to others
                self._models[name] = model
            return self._models[name]

    def folder(self, name: str) -> Path:
        """The folder of a model by its name; nothing is loaded."""
        return resolve(self._sources[name])

    @property
    def loaded(self) -> list[str]:
        """The models that are in memory."""
        return [name for name in self._sources if name in self._models]

    def find(self) -> None:
        """Finds every model, so that one that is missing is missed before it is asked for; loads none.

        Raises:
            WeightsError: One is not there.
        """
        for name in self._sources:
            self.folder(name)

    def keep(self, run: Run) -> str:
        """Puts a run on the shelf; gives what it is known by."""
        n_bytes = sum(4 * _size(record.shape) for record in run.trace.sites.values())
        key = secrets.token_urlsafe(9)
        with self._lock:
            self._runs[key] = Shelved(run=run, n_bytes=n_bytes)
            while len(self._runs) > 1 and (len(self._runs) > MOST_RUNS or self._held() > MOST_BYTES):
                self._runs.popitem(last=False)
        return key

    def run(self, key: str) -> Run:
        """A run by what it is known by.

        Raises:
            ServerError: It was never there, or was forgotten.
        """
        with self._lock:
            if key not in self._runs:
                raise ServerError("this run is gone", got=key[:40], advice="run it again: the page does so by itself")
            self._runs.move_to_end(key)
            return self._runs[key].run

    def _held(self) -> int:
        return sum(one.n_bytes for one in self._runs.values())

    def _label(self, name: str) -> str:
        return Path(name).name if Path(name).is_dir() else name


def _size(shape: tuple[int, ...]) -> int:
    size = 1
    for length in shape:
        size *= length
    return size
