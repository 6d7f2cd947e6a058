"""Heads: one wide vector seen as several narrow ones."""

from jaxtyping import Float
from torch import Tensor


def split_heads(x_BTD: Float[Tensor, "B T D"], n_heads: int) -> Float[Tensor, "B H T C"]:
    """Cuts every vector into heads."""
    batch, length, width = x_BTD.shape
    return x_BTD.reshape(batch, length, n_heads, width // n_heads).transpose(1, 2)


def merge_heads(x_BHTC: Float[Tensor, "B H T C"]) -> Float[Tensor, "B T D"]:
    """Lays the heads of every vector side by side again."""
    return x_BHTC.transpose(1, 2).flatten(2)


def share_heads(x_BGKC: Float[Tensor, "B G K C"], n_heads: int) -> Float[Tensor, "B H K C"]:
    """Gives each key/value head to its group of query heads (Ainslie et al. 2023).

    query heads      0  1  2  3  4  5
                     └──┼──┘  └──┼──┘
    key/value heads     0        1
    """
    n_kv_heads = x_BGKC.shape[1]
    return x_BGKC if n_kv_heads == n_heads else x_BGKC.repeat_interleave(n_heads // n_kv_heads, dim=1)
