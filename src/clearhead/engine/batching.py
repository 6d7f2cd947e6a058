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


def even_buckets(
    lengths: Sequence[int], *, tokens: int, multiple: int = 1, most_tokens: int = MOST_TOKENS
) -> list[list[int]]:
    """Places of texts, grouped into batches of about equal work, the longest texts first.

    Args:
        lengths: How long each text is.
        tokens: About so many tokens are in a batch, padding not counted.
        multiple: What the number of batches is a multiple of, so that so many threads are busy to the end; where one
            text has as many tokens as a batch, or batches are cut for their padding, it is not.
        most_tokens: Tokens in a batch, padding counted; a longer text is a batch of its own.
    """
    order = sorted(range(len(lengths)), key=lambda place: (-lengths[place], place))
    total = sum(lengths)
    n_batches = -(-max(1, round(total / tokens)) // multiple) * multiple
    batches: list[list[int]] = []
    before, last = 0, -1
    for place in order:
        share = (2 * before + lengths[place]) * n_batches // max(1, 2 * total)  # where the middle of the text lies
        before += lengths[place]
        batch = batches[-1] if share == last else []
        if batch and lengths[batch[0]] * (len(batch) + 1) <= most_tokens:
            batch.append(place)
        else:
            batches.append([place])
        last = share
    return batches
