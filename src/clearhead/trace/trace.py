"""A trace: what a run computed, as plain data."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from clearhead.config import Family
from clearhead.decoding import BeamCandidate
from clearhead.errors import TraceError, nearest
from clearhead.trace.sites import tokens_of


@dataclass(frozen=True, kw_only=True)
class Token:
    """One token of a run."""

    id: int
    piece: str
    text: str = ""

    @property
    def shown(self) -> str:
        """The piece as people read it: without the marks that stand for a space."""
        return self.text or self.piece.replace("▁", " ").replace("Ġ", " ").replace("Ċ", "\n").strip(" ") or self.piece


@dataclass(frozen=True, kw_only=True)
class SourceLine:
    """The line of this package that computed a value.

    Attributes:
        file: Its file, from the package's folder on.
        line: Its number.
        code: What it says.
    """

    file: str
    line: int
    code: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, kw_only=True)
class SiteRecord:
    """What is known of a site beside its values.

    Attributes:
        axes: The letters of its axes.
        shape: How long each of them is.
        operation: How its values are computed, as an equation.
        inputs: The sites that they are computed from.
        parameters: The parameters that they are computed with.
        line: The line that computed them.
        edited: Whether an edit could change them on their way, so that they need not follow from their inputs.
    """

    axes: str
    shape: tuple[int, ...]
    operation: str = ""
    inputs: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    line: SourceLine | None = None
    edited: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Trace:
    """What passed every site that was asked for.

    `trace["decoder.5.self.pattern"]` is an array with the axes `trace.sites["decoder.5.self.pattern"].axes`. A cell
    that the run never computed, such as the score of a key that came later, is NaN; its pattern is 0.

    Attributes:
        model: The name of the model.
        family: What kind of model it is.
        config: What the network is, as data.
        weights: What tells the network's weights from others, in a trace from a file; otherwise empty.
        source: What was read by an encoder.
        target: What a decoder was given, position by position: the last id that was written is not among it.
        written: What was written, where the run wrote.
        n_prompt: How many of the target's tokens were there before the run wrote.
        scores: For each token that was written, the logarithm of its probability; of a beam search, after settings
            that forbid or force ids.
        beams: Every candidate of every step of a beam search.
        score: What the search ranked the text by, where there was one.
        length_penalty: The exponent of the length that it was divided by.
        sites: What is known of each site.
        values: The values of each site.
    """

    model: str
    family: Family
    config: Mapping[str, Any]
    weights: str = ""
    source: tuple[Token, ...] = ()
    target: tuple[Token, ...] = ()
    written: tuple[Token, ...] = ()
    n_prompt: int = 0
    scores: tuple[float, ...] = ()
    beams: tuple[tuple[BeamCandidate, ...], ...] = ()
    score: float | None = None
    length_penalty: float = 1.0
    sites: Mapping[str, SiteRecord] = field(default_factory=dict[str, SiteRecord])
    values: Mapping[str, np.ndarray] = field(default_factory=dict[str, np.ndarray])

    def __getitem__(self, site: str) -> np.ndarray:
        self.record(site)
        return self.values[site]

    def __contains__(self, site: object) -> bool:
        return site in self.sites

    def __iter__(self) -> Iterator[str]:
        return iter(self.sites)

    def __len__(self) -> int:
        return len(self.sites)

    def record(self, site: str) -> SiteRecord:
        """What is known of a site.

        Raises:
            TraceError: It was not recorded.
        """
        if site not in self.sites:
            known = ", ".join(list(self.sites)[:5]) + (" …" if len(self.sites) > 5 else "")
            raise TraceError(
                "this site was not recorded",
                got=site,
                expected=known or "nothing was recorded at all",
                advice=nearest(site, self.sites) or "a run that records it: sites='*' records everything",
            )
        return self.sites[site]

    def tokens(self, site: str, letter: str) -> tuple[Token, ...] | None:
        """The tokens along an axis of a site; None along an axis that has no tokens."""
        record = self.record(site)
        if letter not in record.axes:
            raise TraceError(f"{site} has no axis {letter}", got=letter, expected=" ".join(record.axes))
        whose = tokens_of(site, letter, family=self.family)
        if not whose:
            return None
        every = self.source if whose == "source" else self.target
        length = record.shape[record.axes.index(letter)]
        return every[len(every) - length :]  # where a run looked at the last positions alone, these are theirs

    def labels(self, site: str, letter: str) -> list[str]:
        """What to write along an axis of a site: tokens where there are any, otherwise numbers."""
        tokens = self.tokens(site, letter)
        if tokens is not None:
            return [token.shown for token in tokens]
        record = self.sites[site]
        length = record.shape[record.axes.index(letter)]
        return [str(index) for index in range(length)]

    def __repr__(self) -> str:
        tokens = f"{len(self.source)} source and {len(self.target)} target tokens"
        return f"<trace of {self.model or 'a model'!r}: {len(self.sites)} sites, {tokens}>"
