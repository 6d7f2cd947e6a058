"""The façade that `load()` returns: a network, its tokenizer and its folder, under one roof.

Takes: an embedded model's name, a folder or a hub id.
Gives: a Model, whose methods are thin calls into the rooms that do the work.
Uses:  explain, trace, tasks, engine, weights, models, text, probe.
Never: arithmetic of its own.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeVar, overload

import numpy as np
from jaxtyping import Float32

from clearhead import tasks
from clearhead.config import Family, ModelConfig
from clearhead.engine import WeightFormat
from clearhead.errors import ConfigError
from clearhead.explain.run import Run
from clearhead.models import DecoderOnly, EncoderDecoder, EncoderOnly
from clearhead.probe import Listener, listen
from clearhead.tasks import Filling, Label, Loaded, SearchIndex, Span, TokenLabel, Written
from clearhead.text import Tokenizer
from clearhead.trace import Generated, Trace, record_generation, record_reading
from clearhead.weights import Checkpoint, family_of, save_checkpoint

__all__ = ["Model", "load"]

Result = TypeVar("Result")


class Model:
    """A model with all that belongs to it.

    Methods that take a text take a list of texts too, and then give a list. Keyword arguments beyond those named
    are options of decoding: `temperature`, `top_k`, `top_p`, `min_p`, `seed`, `beams`, `max_new_tokens` and the
    other fields of `clearhead.decoding.DecodingSettings`.

    Args:
        loaded: The model as tasks need it.
    """

    def __init__(self, *, loaded: Loaded) -> None:
        self.loaded = loaded

    @classmethod
    def of(cls, network: EncoderOnly | DecoderOnly | EncoderDecoder, *, tokenizer: Tokenizer | None = None) -> "Model":
        """A model around a network that was built here.

        Raises:
            WeightsError: No published layout has a place for its configuration.
        """
        family = family_of(network.config)
        checkpoint = Checkpoint(model=network, family=family, foreign={}, generation={})
        return cls(loaded=Loaded(checkpoint=checkpoint, tokenizer=tokenizer))

    @property
    def name(self) -> str:
        """What it was asked for by."""
        return self.loaded.name

    @property
    def checkpoint(self) -> Checkpoint:
        """The network and what its folder says of it."""
        return self.loaded.checkpoint

    @property
    def network(self) -> EncoderOnly | DecoderOnly | EncoderDecoder:
        """The network itself, which takes ids and gives tensors."""
        return self.checkpoint.model

    @property
    def config(self) -> ModelConfig:
        """What the network is."""
        return self.checkpoint.config

    @property
    def family(self) -> Family:
        """Encoder-only, decoder-only or encoder-decoder."""
        return self.config.family

    @property
    def verbs(self) -> tuple[str, ...]:
        """What this model can be asked to do."""
        return self.loaded.verbs

    @property
    def tokenizer(self) -> Tokenizer:
        """What turns text into the network's ids.

        Raises:
            TextError: The folder had none.
        """
        return self.loaded.tokenizer

    @overload
    def translate(self, text: str, *, to: str | None = ..., source: str | None = ..., **options: Any) -> str: ...  # pyright: ignore[reportOverlappingOverload]  (a str is a sequence of str)
    @overload
    def translate(
        self, text: Sequence[str], *, to: str | None = ..., source: str | None = ..., **options: Any
    ) -> list[str]: ...
    def translate(
        self, text: str | Sequence[str], *, to: str | None = None, source: str | None = None, **options: Any
    ) -> str | list[str]:
        """The text in another language; paragraphs and line breaks stay where they are.

        Args:
            text: A text or several, of any length.
            to: The language to write, as a code or an English name; needed where the model knows several.
            source: The language of the text, where the model knows several.
            **options: How to decode.
        """
        found = tasks.translate(self.loaded, _listed(text), to=to, source=source, **options)
        return _like(text, [one.text for one in found])

    def summarize(self, text: str | Sequence[str], **options: Any) -> str | list[str]:
        """A shorter text that says the same; long ones are summarised by pieces."""
        return _like(text, [one.text for one in tasks.summarize(self.loaded, _listed(text), **options)])

    def complete(self, text: str | Sequence[str], **options: Any) -> str | list[str]:
        """How the text goes on: what comes after it, without the text itself."""
        return _like(text, [found[0].text for found in tasks.complete(self.loaded, _listed(text), **options)])

    def stream(self, text: str, **options: Any) -> Iterator[str]:
        """What comes after the text, piece by piece as it is written; whole characters only."""
        return tasks.stream(self.loaded, text, **options)

    def chat(self, messages: Sequence[Mapping[str, str]], **options: Any) -> str:
        """The answer to a conversation of messages, each with a `role` and a `content`."""
        return tasks.chat(self.loaded, messages, **options).text

    def answer(self, question: str, passage: str | None = None, *, n: int = 1, **options: Any) -> list[Span | Written]:
        """Answers to a question, the best first: spans of the passage, or texts that the model writes."""
        return list(tasks.answer(self.loaded, question, passage, n=n, **options))

    def classify(self, text: str | Sequence[str], **options: Any) -> list[Label] | list[list[Label]]:
        """Labels with scores, the best first; `labels=[...]` for labels of your own."""
        return _like(text, tasks.classify(self.loaded, _listed(text), **options))

    def fill(self, text: str | Sequence[str], **options: Any) -> list[list[Filling]] | list[list[list[Filling]]]:
        """The likeliest words of each mask."""
        return _like(text, tasks.fill(self.loaded, _listed(text), **options))

    def label(self, text: str | Sequence[str]) -> list[TokenLabel] | list[list[TokenLabel]]:
        """A label for each token, where the model has such a head."""
        return _like(text, tasks.label(self.loaded, _listed(text)))

    def embed(self, text: str | Sequence[str], **options: Any) -> Float32[np.ndarray, "*n D"]:
        """A vector for each text."""
        vectors = tasks.embed(self.loaded, _listed(text), **options)
        return vectors[0] if isinstance(text, str) else vectors

    def trace(
        self,
        text: str,
        second: str | None = None,
        *,
        to: str | None = None,
        sites: str | Sequence[str] = "*",
        out: Path | str | None = None,
        **options: Any,
    ) -> Run:
        """Runs the model and records what passes its sites; the numbers are those of any other run.

        One pass over a text for a model that reads or goes on, one pass over a pair for an encoder-decoder. An
        encoder-decoder that is given no target writes one, and the whole of that is recorded.

        Args:
            text: The text, or the source.
            second: The target of an encoder-decoder, or the second text of an encoder.
            to: The target's language, where the model knows several.
            sites: Site names or globs, such as `decoder.*.cross.pattern`; what is not asked for costs nothing.
            out: A .safetensors file for the trace; values then go through the disk, so that memory stays small.
            **options: How to decode, where a target is written.

        Raises:
            TraceError: No site of that name.
        """
        wanted, path = _sites(sites), None if out is None else Path(out)
        if self.family is Family.ENCODER_DECODER and second is None:
            return self._run(record_generation(self.loaded, text, to=to, sites=wanted, out=path, **options))
        if options:
            raise ConfigError("a pass over a text decodes nothing", got=", ".join(options), expected="no such options")
        return self._run(record_reading(self.loaded, text, second, to=to, sites=wanted, out=path))

    def generate(
        self,
        text: str,
        *,
        to: str | None = None,
        trace: str | Sequence[str] = (),
        out: Path | str | None = None,
        **options: Any,
    ) -> Run:
        """Writes what `translate` or `complete` would write for one sentence, and records prefill and every step.

        Args:
            text: The text to go on with, or the source.
            to: The language to write, where the model translates.
            trace: Site names or globs; the logits alone by default.
            out: A .safetensors file for the trace.
            **options: How to decode.
        """
        path = None if out is None else Path(out)
        sites = _sites(trace) or ("logits",)
        return self._run(record_generation(self.loaded, text, to=to, sites=sites, out=path, **options))

    def edit(self, *edits: Listener) -> AbstractContextManager[None]:
        """Changes runs inside the block: `with model.edit(clearhead.ablate("decoder.5.self", head=1)): …`.

        Raises:
            TraceError: When the block ends, where an edit found nothing to change.
        """
        return listen(*edits)

    def _run(self, recorded: Trace | Generated) -> Run:
        text, trace = ("", recorded) if isinstance(recorded, Trace) else (recorded.text, recorded.trace)
        exact = self.loaded.weights is WeightFormat.FLOAT32
        return Run(trace=trace, network=self.network, tokenizer=self.loaded.own_tokenizer, text=text, exact=exact)

    def index(self, corpus: Path | str, folder: Path | str) -> SearchIndex:
        """An index of a file of lines or a folder of texts, kept in a folder; `.search(query)` finds passages."""
        return SearchIndex.build(Path(folder), Path(corpus), self.loaded)

    def save_pretrained(self, folder: Path | str, *, precision: str = "float32") -> Path:
        """Writes a folder that other programs open; gives its path.

        Args:
            folder: Where to.
            precision: How numbers are written: float32; float16 or bfloat16 in half the room; int8 in a quarter, for
                clearhead alone.

        Raises:
            ConfigError: No such precision.
            WeightsError: The folder cannot be written.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        if self.loaded.own_tokenizer is not None:
            self.loaded.own_tokenizer.save(folder)
        save_checkpoint(self.checkpoint, folder, precision=precision)
        return folder

    def __repr__(self) -> str:
        millions = self.network.n_parameters / 1e6
        return f"<{self.checkpoint.family} model {self.name!r}: {self.family}, {millions:.1f} million parameters>"


def load(name: Path | str, **options: Any) -> Model:
    """A model by name: an embedded one's, a folder, or a hub id such as `owner/name`.

    Args:
        name: What to load.
        **options: `weights` ("float32" or "int8") and `overflow` ("error" or "slide").

    Raises:
        WeightsError: Nothing of that name, or a folder that cannot be loaded.
    """
    return Model(loaded=Loaded.open(name, **options))


def _sites(sites: str | Sequence[str]) -> tuple[str, ...]:
    return (sites,) if isinstance(sites, str) else tuple(sites)


def _listed(text: str | Sequence[str]) -> list[str]:
    return [text] if isinstance(text, str) else list(text)


def _like(text: str | Sequence[str], found: list[Result]) -> Any:
    """One result where one text was given, otherwise all."""
    return found[0] if isinstance(text, str) else found
