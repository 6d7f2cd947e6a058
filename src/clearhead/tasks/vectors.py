"""Embedding: a vector for each text, near where meanings are near."""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float, Float32
from torch import Tensor
from torch.nn import functional

from clearhead.engine import Reading, read
from clearhead.tasks.loaded import Loaded
from clearhead.tasks.sources import whole_texts
from clearhead.tasks.written import check_texts
from clearhead.text import Encoding


def embed(
    loaded: Loaded,
    texts: Sequence[str],
    *,
    truncate: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Float32[np.ndarray, "B D"]:
    """The vectors of texts, in batches of like length.

    A folder of sentence-transformers says itself how the vectors of tokens become one; those of other encoders are
    their mean, of length one.

    Args:
        loaded: The model.
        texts: The texts; an empty one has a vector too.
        truncate: Whether the end of a text that is too long is cut off.
        progress: Is told after each batch how many texts it had.

    Raises:
        ConfigError: A model that does not embed.
        TextError: A text is longer than the context, and may not be cut.
    """
    loaded.require("embed")
    encodings = whole_texts(loaded, check_texts(texts), truncate=truncate)
    return embed_encodings(loaded, encodings, progress=progress)


def embed_encodings(
    loaded: Loaded, encodings: Sequence[Encoding], *, progress: Callable[[int], None] | None = None
) -> Float32[np.ndarray, "B D"]:
    """The vectors of texts that are ids already."""
    vectors_BD = np.zeros((len(encodings), loaded.config.width), dtype=np.float32)
    for reading in read(loaded.reader, encodings, pad_id=loaded.config.tokens.pad or 0):
        vectors_BD[reading.places] = _pooled(reading).float().numpy()
        if progress is not None:
            progress(len(reading.places))
    return vectors_BD


def _pooled(reading: Reading) -> Float[Tensor, "B D"]:
    if reading.output.vector_BD is not None:
        return reading.output.vector_BD
    real_BS1 = reading.mask_BS.unsqueeze(-1)
    mean_BD = (reading.output.hidden_BSD * real_BS1).sum(1) / real_BS1.sum(1)
    return functional.normalize(mean_BD, dim=-1)
