"""A trained network as a folder that opens everywhere."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clearhead.data import Task
from clearhead.models import DecoderOnly, EncoderDecoder, EncoderOnly, Network
from clearhead.tasks.loaded import Loaded
from clearhead.text import Tokenizer
from clearhead.weights import Checkpoint, family_of, save_checkpoint

_BEAMS = 4


def export(
    network: Network[Any], *, folder: Path, tokenizer: Tokenizer, task: Task, start: Loaded | None
) -> Path | None:
    """Writes the network beside its run, in the layout that its family is published in.

    Returns:
        The folder; None for a recurrent network, which no published layout has a place for.
    """
    if not isinstance(network, EncoderOnly | DecoderOnly | EncoderDecoder):
        return None
    foreign: Mapping[str, Any] = {} if start is None else start.checkpoint.foreign
    same_head = start is not None and start.config.head == network.config.head
    checkpoint = Checkpoint(
        model=network,
        family=family_of(network.config) if start is None else start.checkpoint.family,
        foreign=foreign if same_head else {},
        generation=generation_of(network, task) if start is None else start.checkpoint.generation,
    )
    tokenizer.save(folder)
    save_checkpoint(checkpoint, folder)
    return folder


def generation_of(network: EncoderOnly | DecoderOnly | EncoderDecoder, task: Task) -> dict[str, Any]:
    """How the model is best decoded, for generation_config.json."""
    tokens = network.config.tokens
    ids = {
        "pad_token_id": tokens.pad,
        "bos_token_id": tokens.start,
        "eos_token_id": tokens.end[0] if tokens.end else None,
        "decoder_start_token_id": tokens.decoder_start,
    }
    known: dict[str, Any] = {name: index for name, index in ids.items() if index is not None}
    longest = network.config.output_stack.position.max_length
    if task is Task.TRANSLATE:
        bad = [] if tokens.pad is None else [[tokens.pad]]
        limit = {} if longest is None else {"max_length": longest}
        return {**known, **limit, "num_beams": _BEAMS, "bad_words_ids": bad}
    if task is Task.LANGUAGE_MODEL:
        return {**known, "do_sample": True, "temperature": 0.8, "top_p": 0.95}
    return {}
