"""Memory for weights in large pages, which a processor finds faster than many small ones.

A step of decoding reads all weights once. Memory comes in pages of 4 kB, and looking up where each page lies costs a
tenth of the reading and more; on Linux a program may ask for pages of 2 MB. Elsewhere this is memory like any other.
"""

import ctypes
import mmap
import sys
import threading
import weakref
from math import prod

import torch
from torch import Tensor, nn

_PAGE = 2 * 2**20
_PIECE = 64 * 2**20
"""So much is asked for at once; what is never written costs nothing."""
_SMALL = 2**18
"""Weights of fewer bytes stay where they are."""
_LINE = 64
_POSSIBLE = hasattr(mmap, "MADV_HUGEPAGE")


class _Piece(mmap.mmap):
    """Memory that several tensors lie in; it is given back when the last of them is gone."""

    first: int
    used: int


class _Shelf:
    """The piece that the next weights go to."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pieces: list[weakref.ref[_Piece]] = []
        self.freed = 0

    def holds(self, address: int) -> bool:
        """Whether what lies at an address is in large pages already."""
        pieces = [piece for one in self._pieces if (piece := one()) is not None]
        return any(piece.first <= address < piece.first + len(piece) for piece in pieces)

    def take(self, n_bytes: int) -> tuple[_Piece, int]:
        """Room for so many bytes: the piece, and where in it."""
        with self._lock:
            piece = self._pieces[-1]() if self._pieces else None
            if piece is None or piece.used + n_bytes > len(piece):
                piece = _new_piece(max(_PIECE, n_bytes))
                self._pieces = [one for one in self._pieces if one() is not None] + [weakref.ref(piece)]
            first = piece.used
            piece.used += -(-n_bytes // _LINE) * _LINE
            return piece, first


_shelf = _Shelf()


def aligned(*shape: int, dtype: torch.dtype) -> Tensor:
    """Zeros that begin where a line of the processor's cache begins."""
    n_bytes = dtype.itemsize * prod(shape)
    with torch.inference_mode(mode=False):  # memory that outlives the mode it was first needed in
        raw = torch.zeros(n_bytes + _LINE, dtype=torch.int8)
        start = -raw.data_ptr() % _LINE
        return raw[start : start + n_bytes].view(dtype).view(*shape)


def spread(*shape: int, dtype: torch.dtype) -> Tensor:
    """Zeros in large pages, where there are any and the tensor is not small."""
    n_bytes = dtype.itemsize * prod(shape)
    if n_bytes < _SMALL or not _POSSIBLE:
        return aligned(*shape, dtype=dtype)
    with torch.inference_mode(mode=False):
        piece, first = _shelf.take(n_bytes)
        return torch.frombuffer(piece, dtype=dtype, count=prod(shape), offset=first).view(*shape)


def large(*shape: int, dtype: torch.dtype) -> Tensor:
    """Zeros in large pages of their own, which are given back with them; a small tensor is `aligned`."""
    n_bytes = dtype.itemsize * prod(shape)
    if n_bytes < _SMALL or not _POSSIBLE:
        return aligned(*shape, dtype=dtype)
    with torch.inference_mode(mode=False):
        piece = _new_piece(n_bytes)
        return torch.frombuffer(piece, dtype=dtype, count=prod(shape), offset=piece.used).view(*shape)


def settle(weight: nn.Parameter) -> None:
    """Moves a parameter into large pages; it stays the same parameter. Small ones stay where they are."""
    n_bytes = weight.numel() * weight.element_size()
    if n_bytes < _SMALL or not _POSSIBLE or weight.device.type != "cpu" or _shelf.holds(weight.data_ptr()):
        return
    with torch.no_grad():
        weight.data = spread(*weight.shape, dtype=weight.dtype).copy_(weight.detach())
    moved(n_bytes)


def moved(n_bytes: int) -> None:
    """Takes note of memory that was freed; once it is much, the system gets it back, where C libraries can be asked."""
    _shelf.freed += n_bytes
    if _shelf.freed >= _PIECE and sys.platform == "linux":
        _shelf.freed = 0
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def _new_piece(n_bytes: int) -> _Piece:
    piece = _Piece(-1, n_bytes + _PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    piece.madvise(mmap.MADV_HUGEPAGE)
    piece.first = torch.frombuffer(piece, dtype=torch.int8, count=1).data_ptr()
    piece.used = -piece.first % _PAGE
    return piece
