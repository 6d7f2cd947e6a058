"""What was trained on the page, opened like any other model: it writes, and every step of it is recorded."""

from dataclasses import dataclass
from typing import Any

from clearhead.decoding import DecodingSettings
from clearhead.engine import Engine, Request
from clearhead.explain import Run
from clearhead.models import EncoderDecoder, Recurrent
from clearhead.text import Tokenizer
from clearhead.trace import Tape
from clearhead.trace.record import record_request

_MOST_NEW = 40


@dataclass(frozen=True, kw_only=True)
class Student:
    """A network that was trained here.

    Attributes:
        name: What the page calls it.
        network: The network, as its training left it.
        tokenizer: What turns text into its ids.
        example: The pair that was watched.
        texts: Sources that it learned from.
    """

    name: str
    network: EncoderDecoder | Recurrent
    tokenizer: Tokenizer
    example: tuple[str, str]
    texts: tuple[str, ...]

    def write(self, text: str, **options: Any) -> Run:
        """What it writes for a source, recorded from the first step to the last.

        Args:
            text: The source.
            **options: How to decode, by the names of DecodingSettings.
        """
        source, target = as_ids(self.tokenizer, (text, ""))
        given: dict[str, Any] = {"max_new_tokens": _MOST_NEW, **options, "end_ids": (target[-1],)}
        settings = DecodingSettings(**given)
        found = record_request(
            Engine(network=self.network, start_id=target[0]),
            Request(ids=tuple(source), settings=settings),
            tape=Tape(sites=("*",)),
            config=self.network.config,
            pieces=(self.tokenizer, self.tokenizer.target),
            name=self.name,
        )
        written = [token.id for token in found.trace.written if token.id != target[-1]]
        text = self.tokenizer.target.decode(written)
        return Run(trace=found.trace, network=self.network, tokenizer=self.tokenizer, text=text)


def as_ids(tokenizer: Tokenizer, pair: tuple[str, str]) -> tuple[list[int], list[int]]:
    """The source as the encoder reads it, and the target with its start and its end."""
    end, pad = tokenizer.special.end, tokenizer.special.pad
    assert end is not None and pad is not None
    source = [*tokenizer.encode(pair[0], add_special=False, literal=True).ids, end]
    target = [*tokenizer.target.encode(pair[1], add_special=False, literal=True).ids, end]
    return source, [pad, *target]
