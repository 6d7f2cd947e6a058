"""The façade that `load()` returns: a network, its tokenizer and its folder, under one roof.

Takes: an embedded model's name, a folder or a hub id.
Gives: a Model, whose methods are thin calls into the rooms that do the work.
Uses:  weights, models, text.
Never: arithmetic of its own.
"""

from pathlib import Path

from clearhead.config import Family, ModelConfig
from clearhead.errors import TextError, WeightsError
from clearhead.models import DecoderOnly, EncoderDecoder, EncoderOnly
from clearhead.text import Tokenizer, has_tokenizer, load_tokenizer
from clearhead.weights import Checkpoint, family_of, load_checkpoint, resolve, save_checkpoint

__all__ = ["Model", "load"]


class Model:
    """A model with all that belongs to it.

    Args:
        checkpoint: The network and its configuration.
        tokenizer: What turns text into its ids; None where the folder had none.
        name: What it was asked for by.
    """

    def __init__(self, *, checkpoint: Checkpoint, tokenizer: Tokenizer | None = None, name: str = "") -> None:
        self.checkpoint = checkpoint
        self.name = name
        self._tokenizer = tokenizer

    @classmethod
    def of(cls, network: EncoderOnly | DecoderOnly | EncoderDecoder, *, tokenizer: Tokenizer | None = None) -> "Model":
        """A model around a network that was built here.

        Raises:
            WeightsError: No published layout has a place for its configuration.
        """
        family = family_of(network.config)
        return cls(checkpoint=Checkpoint(model=network, family=family, foreign={}, generation={}), tokenizer=tokenizer)

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

    def save_pretrained(self, folder: Path | str) -> Path:
        """Writes a folder that other programs open; gives its path.

        Raises:
            WeightsError: The folder cannot be written.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        if self._tokenizer is not None:
            self._tokenizer.save(folder)
        save_checkpoint(self.checkpoint, folder)
        return folder

    def __repr__(self) -> str:
        millions = self.network.n_parameters / 1e6
        return f"<{self.checkpoint.family} model {self.name!r}: {self.family}, {millions:.1f} million parameters>"


def load(name: Path | str) -> Model:
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
    return Model(checkpoint=checkpoint, tokenizer=tokenizer, name=str(name))
