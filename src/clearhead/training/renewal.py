"""A trained model that is given another vocabulary, and forgets no more than it must.

    new row = old row                               where both vocabularies have the piece
    new row = mean of the old rows that spell it     where only the new one has it

(Gee et al. 2022, "Fast Vocabulary Transfer".) What its stacks have learned stays as it is; training mends the rest.
"""

from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import Tensor

from clearhead.config import ModelConfig, StackConfig
from clearhead.data import Task
from clearhead.errors import TrainingError
from clearhead.models import build
from clearhead.tasks.loaded import Loaded
from clearhead.text import Tokenizer
from clearhead.training.export import generation_of
from clearhead.training.networks import token_ids
from clearhead.weights import Checkpoint


def renewed(start: Loaded, tokenizer: Tokenizer, task: Task) -> tuple[Loaded, str]:
    """The model with the other tokenizer's vocabulary, and what to tell the user about it.

    Args:
        start: The model.
        tokenizer: The tokenizer that it reads and writes from now on.
        task: What that tokenizer was made for.

    Raises:
        TrainingError: Source and target have vocabularies of their own.
    """
    old = start.tokenizer
    if old.target is not old or tokenizer.target is not tokenizer:
        raise TrainingError(
            "only one vocabulary can be renewed",
            got="vocabularies for source and target apart",
            expected="a joint one, before and after",
            advice="tokenizer.joint=true, or training without a start model",
        )
    places = _places(old, tokenizer)
    network = start.checkpoint.model
    config = _resized(network.config, tokenizer, task)
    new = build(config, seed=0)
    sizes = {stack.embedding.vocab_size for stack in _stacks(network.config)}
    new.set_parameters(
        {
            name: _rows(tensor.detach(), places) if tensor.shape[0] in sizes and _by_piece(name) else tensor.detach()
            for name, tensor in network.named_parameters()
        }
    )
    checkpoint = Checkpoint(
        model=new,
        family=start.checkpoint.family,
        foreign=start.checkpoint.foreign,
        generation=generation_of(new, task),
    )
    n_known = sum(len(place) == 1 for place in places)
    said = f"a new vocabulary: {n_known:,} of its {len(places):,} pieces keep the vector that they had"
    return Loaded(checkpoint=checkpoint, tokenizer=tokenizer, name=start.name), said


def _places(old: Tokenizer, new: Tokenizer) -> list[tuple[int, ...]]:
    """For each piece of the new vocabulary, the old pieces that spell it; all of them where none do."""
    known = {old.piece_of(index): index for index in range(old.vocab_size)}
    longest = max(map(len, known))
    everything = tuple(known.values())
    return [_spelled(new.piece_of(index), known, longest) or everything for index in range(new.vocab_size)]


def _spelled(piece: str, known: Mapping[str, int], longest: int) -> tuple[int, ...]:
    """The piece in old ones, each as long as can be, from left to right; letters that no piece has are left out."""
    found: list[int] = []
    at = 0
    while at < len(piece):
        ends = range(min(len(piece), at + longest), at, -1)
        end = next((end for end in ends if piece[at:end] in known), None)
        if end is not None:
            found.append(known[piece[at:end]])
        at = end or at + 1
    return tuple(found)


def _rows(table: Tensor, places: list[tuple[int, ...]]) -> Tensor:
    return torch.stack([table[list(place)].mean(0) for place in places])


def _by_piece(name: str) -> bool:
    """Whether a parameter has a row for each piece: the tables of vectors, and what makes logits."""
    return name.endswith("embedding.token.weight") or name.startswith("head.")


def _resized(config: ModelConfig, tokenizer: Tokenizer, task: Task) -> ModelConfig:
    stacks: dict[str, StackConfig] = {}
    for name in ("encoder", "decoder"):
        stack: StackConfig | None = getattr(config, name)
        if stack is not None:
            stacks[name] = replace(stack, embedding=replace(stack.embedding, vocab_size=tokenizer.vocab_size))
    return replace(config, **stacks, tokens=token_ids(task, tokenizer))


def _stacks(config: ModelConfig) -> list[StackConfig]:
    return [stack for stack in (config.encoder, config.decoder) if stack is not None]
