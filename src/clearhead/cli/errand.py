"""A verb on many texts as one value: done line by line here, or chunk by chunk wherever it is sent.

Takes: what the options of a verb were given.
Gives: results where they were asked for.
Uses:  cli.corpora, cli.lines, cli.options, cli.output, cli.usage.
Never: a model inside the value; whoever does the work loads it.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from clearhead.cli.lines import opened, process_lines
from clearhead.cli.options import EngineName, Given
from clearhead.cli.output import Outcome, Output
from clearhead.cli.usage import check_engine

__all__ = ["Errand"]


@dataclass(frozen=True, kw_only=True)
class Errand(ABC):
    """What a verb is to do.

    Attributes:
        given: What the shared options were given.
    """

    given: Given

    verb: ClassVar[str]
    label: ClassVar[str]

    @property
    def task(self) -> str:
        """The task whose embedded model is taken where none is named."""
        return self.verb

    @property
    @abstractmethod
    def columns(self) -> Mapping[str, str]:
        """The columns of a table of results, and what they hold."""

    @abstractmethod
    def outcomes(self, loaded: Any, texts: Sequence[str]) -> Iterable[Outcome]:
        """What comes of texts, by a model that is loaded."""

    @abstractmethod
    def row(self, outcome: Outcome) -> Mapping[str, Any]:
        """An outcome as a row of these columns."""

    def output(self, loaded: Any) -> AbstractContextManager[Output] | None:
        """Where results go if not as lines to where `given` says."""
        del loaded
        return None

    def run(self) -> int:
        """Does it; gives how many texts there were."""
        check_engine(self.given, columns=self.columns)
        if self.is_corpus:
            from clearhead.cli.corpora import process_corpus

            return process_corpus(self)
        loaded = opened(self.given, self.verb, default=self.task)
        work = partial(self.outcomes, loaded)
        return process_lines(self.given, work, label=self.label, output=self.output(loaded))

    @property
    def is_corpus(self) -> bool:
        """Whether it is done chunk by chunk, and goes on where it was stopped."""
        given = self.given
        return given.engine == EngineName.RAY or given.reads_table or given.writes_table or given.writes_zipped

    @property
    def is_array(self) -> bool:
        """Whether results are vectors that become one array."""
        return False
