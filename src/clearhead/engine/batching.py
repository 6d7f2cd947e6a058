"""Requests as batches: like lengths together, so that little is padding."""

from collections.abc import Sequence

MOST_ROWS = 32
MOST_TOKENS = 8192


def buckets(lengths: Sequence[int], *, most_rows: int = MOST_ROWS, most_tokens: int = MOST_TOKENS) -> list[list[int]]:
    """Places of texts, grouped into batches; the longest texts first, so that memory runs out at once or never.

    Args:
        lengths: How long each text is.
        most_rows: Texts in a batch.
        most_tokens: Tokens in a batch, padding counted; a longer text is a batch of its own.
    """
    order = sorted(range(len(lengths)), key=lambda place: (-lengths[place], place))
    batches: list[list[int]] = []
    for place in order:
        batch = batches[-1] if batches else []
        fits = batch and len(batch) < most_rows and lengths[batch[0]] * (len(batch) + 1) <= most_tokens
        if fits:
            batch.append(place)
        else:
            batches.append([place])
    return batches
