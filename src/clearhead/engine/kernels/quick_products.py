"""Products of layers that learn, by kernels, where a thread multiplies by itself.

Where several share out each product, torch's own threads would still look out for work on the same processors.
"""

import threading
from functools import cache

import torch
from torch import Tensor

from clearhead.engine.kernels import fields as at
from clearhead.engine.kernels.fleet import Kernel
from clearhead.engine.kernels.pages import aligned, large
from clearhead.engine.kernels.ready import Learning, load_learning


class QuickProducts:
    """Multiplies by kernels: `clearhead.nn.product.Products`.

    Args:
        found: The kernels.
    """

    def __init__(self, *, found: Learning) -> None:
        self._found = found
        self._memory = threading.local()

    def takes(self, weight: Tensor) -> bool:
        """Whether both sizes of a matrix are those of whole panels, and this thread is alone."""
        return torch.get_num_threads() == 1 and weight.shape[0] % at.PANEL == 0 and weight.shape[1] % at.PANEL == 0

    def forwards(self, x: Tensor, weight: Tensor, bias: Tensor | None, *, out: Tensor | None = None) -> Tensor:
        """Every row times the weights, and the bias."""
        out = x.new_empty(len(x), len(weight)) if out is None else out
        bias = _zeros(len(weight)) if bias is None else bias.contiguous()
        self._run(self._found.forwards, x, weight, bias, out)
        return out

    def to_rows(self, to_y: Tensor, weight: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The gradient of every row."""
        out = to_y.new_empty(len(to_y), weight.shape[1]) if out is None else out
        self._run(self._found.to_rows, to_y, weight, _zeros(weight.shape[1]), out)
        return out

    def add_to_weights(self, to_y: Tensor, x: Tensor, *, out: Tensor) -> None:
        """Adds the gradient of the weights to what is there."""
        assert out.stride(1) == 1
        to_y, x = _in_rows(to_y), _in_rows(x)
        n_rows, n_inputs, n_outputs = len(x), x.shape[1], to_y.shape[1]
        room = self._room(at.BLOCK * (n_inputs + at.STRIP))
        self._found.to_weights(
            *(to_y.data_ptr(), 4 * to_y.stride(0), n_rows, x.data_ptr(), 4 * x.stride(0), n_inputs, n_outputs),
            *(room.data_ptr(), out.data_ptr(), 4 * out.stride(0)),
        )

    def _run(self, kernel: Kernel, rows: Tensor, weight: Tensor, bias: Tensor, out: Tensor) -> None:
        assert out.stride(1) == 1
        rows, weight = _in_rows(rows), _in_rows(weight)
        n_outputs, n_inputs = weight.shape
        inner = weight.numel() // (out.shape[1])
        room = self._room(max(at.ROOM, 2 * at.PANEL * inner))
        kernel(
            *(rows.data_ptr(), 4 * rows.stride(0), len(rows), weight.data_ptr(), 4 * weight.stride(0)),
            *(n_inputs, n_outputs, bias.data_ptr(), room.data_ptr(), out.data_ptr(), 4 * out.stride(0)),
        )

    def _room(self, n: int) -> Tensor:
        """Memory of this thread, in which a product lays out what it reads."""
        held: Tensor | None = getattr(self._memory, "room", None)
        if held is None or len(held) < n:
            held = self._memory.room = large(n, dtype=torch.float32)
        return held


def quick_products() -> QuickProducts | None:
    """Products by kernels, which are compiled if need be; None where there are none."""
    found = load_learning()
    return None if found is None else QuickProducts(found=found)


def _in_rows(matrix: Tensor) -> Tensor:
    return matrix if matrix.stride(1) == 1 else matrix.contiguous()


@cache
def _zeros(n: int) -> Tensor:
    return aligned(n, dtype=torch.float32)
