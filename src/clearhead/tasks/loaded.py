"""A model as tasks need it: a network ready to run, its tokenizer, and what its folder says about decoding."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from clearhead.config import Family, HeadKind, ModelConfig
from clearhead.data.tags import tags_among
from clearhead.engine import Engine, Overflow, WeightFormat, prepare
from clearhead.engine.limits import context_of
from clearhead.errors import ConfigError, TextError, WeightsError
from clearhead.models import DecoderOnly, EncoderDecoder, EncoderOnly
from clearhead.text import Tokenizer, has_tokenizer, load_tokenizer
from clearhead.weights import Checkpoint, load_checkpoint, resolve
from clearhead.weights.strict_json import read_object

_VERBS = {
    HeadKind.LANGUAGE_MODEL: {
        Family.ENCODER_DECODER: ("translate", "summarize", "answer", "complete", "chat"),
        Family.DECODER_ONLY: ("complete", "answer", "chat"),
    },
    HeadKind.MASKED_LANGUAGE_MODEL: {Family.ENCODER_ONLY: ("fill", "embed", "search", "classify")},
    HeadKind.SEQUENCE_CLASSIFICATION: {Family.ENCODER_ONLY: ("classify", "embed", "search")},
    HeadKind.TOKEN_CLASSIFICATION: {Family.ENCODER_ONLY: ("label", "embed", "search")},
    HeadKind.QUESTION_ANSWERING: {Family.ENCODER_ONLY: ("answer", "embed", "search")},
    HeadKind.SENTENCE: {Family.ENCODER_ONLY: ("embed", "search", "classify", "summarize", "answer")},
    HeadKind.NONE: {Family.ENCODER_ONLY: ("embed", "search", "classify", "summarize", "answer")},
}
_USUAL_SOURCE = 512
_MAX_JSON_BYTES = 16 * 2**20


class Loaded:
    """A model with all that belongs to it, ready for any task that it can do.

    Args:
        checkpoint: The network and its configuration.
        tokenizer: What turns text into its ids; None where the folder had none.
        name: What it was asked for by.
        weights: How weights are held while it runs.
        overflow: What happens where a text outgrows the context.
        folder: Where its files are; None where it has none.
    """

    def __init__(
        self,
        *,
        checkpoint: Checkpoint,
        tokenizer: Tokenizer | None = None,
        name: str = "",
        weights: WeightFormat | str = WeightFormat.FLOAT32,
        overflow: Overflow | str = Overflow.ERROR,
        folder: Path | None = None,
    ) -> None:
        self.checkpoint = checkpoint
        self.name = name
        self.folder = folder
        self._tokenizer = tokenizer
        try:
            self.weights, self.overflow = WeightFormat(weights), Overflow(overflow)
        except ValueError:
            raise ConfigError(
                "an unknown format of weights, or an unknown answer to overflow",
                got=f"weights={str(weights)!r}, overflow={str(overflow)!r}",
                expected=f"weights: {', '.join(WeightFormat)}; overflow: {', '.join(Overflow)}",
            ) from None

    @classmethod
    def open(cls, name: Path | str, **options: Any) -> "Loaded":
        """A model by name: an embedded one's, a folder, or a hub id such as `owner/name`.

        Raises:
            WeightsError: Nothing of that name, or a folder that cannot be loaded.
        """
        folder = resolve(name)
        checkpoint = load_checkpoint(folder)
        try:
            tokenizer = load_tokenizer(folder) if has_tokenizer(folder) else None
        except TextError as error:  # a damaged folder is one kind of error, whichever file is damaged
            raise WeightsError(error.problem, got=error.got, expected=error.expected, advice=error.advice) from None
        return cls(checkpoint=checkpoint, tokenizer=tokenizer, name=str(name), folder=folder, **options)

    @property
    def config(self) -> ModelConfig:
        """What the network is."""
        return self.checkpoint.config

    @property
    def verbs(self) -> tuple[str, ...]:
        """What this model can be asked to do."""
        return _VERBS.get(self.config.head.kind, {}).get(self.config.family, ())

    @property
    def tokenizer(self) -> Tokenizer:
        """What turns text into the network's ids.

        Raises:
            TextError: The folder had none.
        """
        if self._tokenizer is None:
            raise TextError(
                "this model has no tokenizer",
                got=self.name or "a network without one",
                advice="a folder that holds tokenizer.json or the files it is made from",
            )
        return self._tokenizer

    @property
    def own_tokenizer(self) -> Tokenizer | None:
        """The tokenizer, or None where the folder had none."""
        return self._tokenizer

    @property
    def defaults(self) -> Mapping[str, Any]:
        """What the folder says about decoding: in a file of its own, or in older folders in config.json."""
        return self.checkpoint.generation or self.checkpoint.foreign

    @cached_property
    def engine(self) -> Engine:
        """The network ready to write.

        Raises:
            ConfigError: It is a model that only reads.
        """
        network = self.checkpoint.model
        if isinstance(network, EncoderOnly):
            raise self.cannot("write")
        tokens = self.config.tokens
        first = tokens.decoder_start if isinstance(network, EncoderDecoder) else tokens.start
        if first is None and isinstance(network, DecoderOnly) and tokens.end:
            first = tokens.end[0]  # where texts follow one another, the end of one is the start of the next
        return Engine(
            network=network,
            to_text=None if self._tokenizer is None else self._decode,
            weights=self.weights,
            overflow=self.overflow,
            start_id=first,
        )

    @cached_property
    def reader(self) -> EncoderOnly:
        """The network ready to read.

        Raises:
            ConfigError: It is a model that writes.
        """
        network = self.checkpoint.model
        if not isinstance(network, EncoderOnly):
            raise self.cannot("read a text as a whole")
        return prepare(network, weights=self.weights)

    def require(self, verb: str) -> None:
        """Refuses a task that this model cannot do.

        Raises:
            ConfigError: It cannot, and what it can do instead.
        """
        if verb not in self.verbs:
            raise self.cannot(verb)

    def cannot(self, verb: str) -> ConfigError:
        """The error that says what this model is, and what it can do instead."""
        family = {Family.ENCODER_ONLY: "an encoder", Family.DECODER_ONLY: "a decoder"}.get(
            self.config.family, "an encoder-decoder"
        )
        can = ", ".join(self.verbs) or "nothing by itself: it has no head that a task needs"
        return ConfigError(
            f"this model cannot {verb}",
            got=f"{self.name or 'a model'}: {family} with the head {self.config.head.kind.value!r}",
            expected=f"this is {family}: it can {can}",
        )

    def side_file(self, name: str) -> Mapping[str, Any]:
        """What a small JSON file beside the weights says; nothing where there is none."""
        path = None if self.folder is None else self.folder / name
        return {} if path is None or not path.is_file() else read_object(path, limit=_MAX_JSON_BYTES)

    @cached_property
    def tags(self) -> Mapping[str, int]:
        """The ids of the pieces that name a target language, such as >>fr<<, by the language."""
        return tags_among(self.tokenizer.vocabulary)

    @cached_property
    def source_limit(self) -> int:
        """How many tokens a source, or a text to read as a whole, may have."""
        stack = self.config.encoder
        context = context_of(stack)
        if context is None:  # relative positions have no end, but such models were trained on texts that had
            said: Any = self.checkpoint.foreign.get("n_positions")
            context = said if type(said) is int and said > 0 else _USUAL_SOURCE
        if self.config.head.kind is HeadKind.SENTENCE:
            trained: Any = self.side_file("sentence_bert_config.json").get("max_seq_length")
            context = min(context, trained) if type(trained) is int and trained > 0 else context
        return context

    def _decode(self, ids: Sequence[int]) -> str:
        return self.tokenizer.target.decode(ids)
