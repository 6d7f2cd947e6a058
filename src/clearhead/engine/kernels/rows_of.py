"""What is done to rows by themselves, by a kernel: a product, a look into a table, or the search for the likeliest."""

import threading

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from clearhead.decoding.leaders import Leaders, leading
from clearhead.engine.kernels import fields as at
from clearhead.engine.kernels.fleet import crew
from clearhead.engine.kernels.pages import aligned
from clearhead.engine.kernels.ready import kernels
from clearhead.engine.kernels.tables import PackedMatrix, Product

_CURVE = 32
"""Multiplications that one exponential takes as long as."""


class _Scratch(threading.local):
    """Memory for rounded rows, a piece for each thread that asks for products."""

    def __init__(self) -> None:
        self.rounded: Tensor = torch.empty(0, dtype=torch.int16)
        self.scales: Tensor = torch.empty(0)

    def room(self, n_rows: int, n_shorts: int) -> tuple[Tensor, Tensor]:
        if self.rounded.numel() < n_rows * n_shorts:
            self.rounded = aligned(n_rows * n_shorts, dtype=torch.int16)
        if len(self.scales) < n_rows:
            self.scales = aligned(n_rows, dtype=torch.float32)
        return self.rounded, self.scales


_scratch = _Scratch()


def multiply(rows: Float[Tensor, "... D"], product: Product) -> Float[Tensor, "... outputs"]:
    """Rows times a matrix, plus its bias; whoever asks knows that there are kernels."""
    found = kernels()
    assert found is not None
    rows = rows if rows.stride(1) == 1 else rows.contiguous()
    n_rows, n_outputs = len(rows), product.n_outputs
    out = torch.empty(n_rows, -(-n_outputs // at.OUTPUTS) * at.OUTPUTS)
    if n_rows == 0:
        return out[:, :n_outputs]
    n_shorts = -(-product.n_inputs // 32) * 32
    rounded, scales = _scratch.room(n_rows, n_shorts) if product.kind == at.INT8 else (out, out)
    strides = np.array([4 * rows.stride(0), 2 * n_shorts, 4 * out.stride(0)], dtype=np.int64)
    crew(n_rows * n_outputs * product.n_inputs).run(
        found.multiply_rows,
        product.kind,
        product.table,
        rows.data_ptr(),
        rounded.data_ptr(),
        scales.data_ptr(),
        n_rows,
        out.data_ptr(),
        strides,
    )
    return out[:, :n_outputs]


def look_up(ids: np.ndarray, matrix: PackedMatrix, *, scale: float) -> Float[Tensor, "rows D"]:
    """Rows of a matrix of whole numbers, as floats; whoever asks knows that there are kernels, and such rows."""
    found = kernels()
    assert found is not None
    out = np.empty((len(ids), matrix.width), dtype=np.float32)
    weight, scales = matrix.packed.data_ptr(), matrix.scales.data_ptr()
    found.look_up(
        np.ascontiguousarray(ids, dtype=np.int64), weight, scales, out, np.float32(scale)
    )  # too little for several threads
    return torch.as_tensor(out)


def lead(logits_BV: Float[Tensor, "B V"], count: int) -> Leaders:
    """The largest logits of every row, by a kernel where there is one."""
    found = kernels()
    if found is None or logits_BV.dtype is not torch.float32 or logits_BV.device.type != "cpu":
        return leading(logits_BV, count)
    logits_BV = logits_BV if logits_BV.stride(1) == 1 else logits_BV.contiguous()
    n_rows, size = logits_BV.shape
    count = min(count, size)
    values, ids = np.empty((n_rows, count), dtype=np.float32), np.empty((n_rows, count), dtype=np.int64)
    totals = np.empty((n_rows, 1), dtype=np.float32)
    workers = crew(_CURVE * n_rows * size)
    peaks = np.empty((workers.size, -(-size // at.CHUNK)), dtype=np.float32)
    addresses = (values.ctypes.data, ids.ctypes.data, totals.ctypes.data, peaks.ctypes.data)
    workers.run(found.lead, logits_BV.data_ptr(), 4 * logits_BV.stride(0), n_rows, size, count, *addresses)
    return Leaders(log_p=values - totals, ids=ids)
