"""Texts through an encoder, in batches of like length."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool
from torch import Tensor

from clearhead.config import HeadKind
from clearhead.engine.batching import buckets, even_buckets
from clearhead.engine.limits import check_fits, context_of
from clearhead.engine.padding import pad_right
from clearhead.engine.side_by_side import one_by_one, pays
from clearhead.errors import TextError
from clearhead.models import EncoderOnly, EncoderOutput
from clearhead.probe import present
from clearhead.text import Encoding

_TOKENS_AT_ONCE = 1024
"""Tokens in a batch, about: what a kernel takes at a time, twice."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What an encoder gave for one batch.

    Attributes:
        places: Where each row's text stood among all texts.
        output: The model's output, padding included.
        mask_BS: True where a token is real.
    """

    places: list[int]
    output: EncoderOutput
    mask_BS: Bool[Tensor, "B S"]


def read(
    network: EncoderOnly, texts: Sequence[Encoding], *, pad_id: int = 0, most_tokens: int = 8192
) -> Iterator[Reading]:
    """Reads texts batch by batch, the longest first.

    Raises:
        DecodingError: A text is longer than the context.
        TextError: A text has no token.
    """
    context = context_of(network.config.encoder)
    for text in texts:
        if not text.ids:
            raise TextError("an empty text", advice="a text to read, or none at all")
        check_fits(
            len(text), context=context, what="the text", advice="a shorter text, or truncate=True, which cuts its end"
        )
    segmented = network.n_segments > 0

    def one(places: list[int]) -> Reading:
        ids_BS, mask_BS = pad_right([texts[place].ids for place in places], pad_id=pad_id)
        segments = pad_right([texts[place].segments for place in places])[0] if segmented else None
        with torch.no_grad():
            output = network(ids_BS, mask_BS=mask_BS, segment_ids_BS=segments)
        real_BS = torch.ones_like(ids_BS, dtype=torch.bool) if mask_BS is None else mask_BS
        return Reading(places=places, output=output, mask_BS=real_BS)

    lengths = [len(text) for text in texts]
    if network.config.head.kind is HeadKind.MASKED_LANGUAGE_MODEL:  # whose logits fill memory, batch by batch
        yield from map(one, buckets(lengths, most_tokens=most_tokens))
        return
    apart = pays(sum(lengths) // _TOKENS_AT_ONCE) and not present()
    n_threads = torch.get_num_threads() if apart else 1
    batches = even_buckets(lengths, tokens=_TOKENS_AT_ONCE, multiple=n_threads, most_tokens=most_tokens)
    yield from one_by_one(one, batches) if apart else map(one, batches)
