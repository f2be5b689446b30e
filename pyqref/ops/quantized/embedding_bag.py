"""Bags of embeddings: rows of a quantized table, dequantized and summed."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from pyqref import _kernels
from pyqref._typing import Tensor
from pyqref.dtypes import uint8
from pyqref.numerics.packed_rows import packed_rows, parameter_bytes
from pyqref.tensor.arguments import described
from pyqref.tensor.base import TensorBase, wrap

from .checks import require_flag, require_float, require_integer
from .embedding import PackedEmbedding, require_indices, require_table

__all__ = [
    "bag_lengths",
    "bag_limits",
    "embedding_bag_2bit_rowwise_offsets",
    "embedding_bag_4bit",
    "embedding_bag_4bit_rowwise_offsets",
    "embedding_bag_byte",
    "embedding_bag_byte_rowwise_offsets",
    "rows_of",
]

#: Integers ``(R, D)``, scales and offsets.
Rows: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]


def embedding_bag_byte(
    weight: PackedEmbedding,
    indices: Tensor,
    offsets: Tensor | None = None,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    pruned_weights: bool = False,
    per_sample_weights: Tensor | None = None,
    compressed_indices_mapping: Tensor | None = None,
    include_last_offset: bool = False,
) -> Tensor:
    r"""Sums of rows of a table of bytes (equation ``eq-embedding-bag``).

    Parameters
    ----------
    weight
        From :func:`embedding_bag_prepack`, ``(R, D)``, of quint8.
    indices
        int32 or int64 in [0, R - 1]: ``(I,)`` with offsets, or ``(B, L)``, one bag a row.
    offsets
        Where each bag begins, ``(B,)``; the first one is 0. None for 2-D indices.
    scale_grad_by_freq
        Has a meaning in training only; must be False.
    mode
        0, the sum.
    pruned_weights, compressed_indices_mapping
        With both, index i means row ``compressed_indices_mapping[i]``, and nothing where
        that is -1.
    per_sample_weights
        A factor for each index, float32 of the shape of ``indices``, or None.
    include_last_offset
        The last offset is the number of indices, not the beginning of a bag.

    Returns
    -------
    float32 ``(B, D)``.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> rows = pyqref.tensor([[0.0, 255.0], [10.0, 20.0]])
    >>> q = pyqref.quantize_per_channel(rows, pyqref.ones(2), pyqref.zeros(2), 0, pyqref.quint8)
    >>> ops.embedding_bag_byte(ops.embedding_bag_prepack(q), pyqref.tensor([[0, 1]])).tolist()
    [[10.0, 275.0]]
    """
    name = "quantized.embedding_bag_byte"
    table = require_table(name, weight, 8).rows
    given = (indices, offsets, scale_grad_by_freq, mode, pruned_weights, per_sample_weights)
    return _bag(name, table, *given, compressed_indices_mapping, include_last_offset)


def embedding_bag_4bit(
    weight: PackedEmbedding,
    indices: Tensor,
    offsets: Tensor | None = None,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    pruned_weights: bool = False,
    per_sample_weights: Tensor | None = None,
    compressed_indices_mapping: Tensor | None = None,
    include_last_offset: bool = False,
) -> Tensor:
    """Form of :func:`embedding_bag_byte` for quint4x2, which has two elements in a byte."""
    name = "quantized.embedding_bag_4bit"
    table = require_table(name, weight, 4).rows
    given = (indices, offsets, scale_grad_by_freq, mode, pruned_weights, per_sample_weights)
    return _bag(name, table, *given, compressed_indices_mapping, include_last_offset)


def embedding_bag_byte_rowwise_offsets(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor | None = None,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    pruned_weights: bool = False,
    per_sample_weights: Tensor | None = None,
    compressed_indices_mapping: Tensor | None = None,
    include_last_offset: bool = False,
) -> Tensor:
    """Form of :func:`embedding_bag_byte` for results of ``embedding_bag_byte_prepack``."""
    name = "quantized.embedding_bag_byte_rowwise_offsets"
    table = _PackedRows(name, weight, 8)
    given = (indices, offsets, scale_grad_by_freq, mode, pruned_weights, per_sample_weights)
    return _bag(name, table, *given, compressed_indices_mapping, include_last_offset)


def embedding_bag_4bit_rowwise_offsets(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor | None = None,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    pruned_weights: bool = False,
    per_sample_weights: Tensor | None = None,
    compressed_indices_mapping: Tensor | None = None,
    include_last_offset: bool = False,
) -> Tensor:
    """Form of :func:`embedding_bag_byte` for results of ``embedding_bag_4bit_prepack``."""
    name = "quantized.embedding_bag_4bit_rowwise_offsets"
    table = _PackedRows(name, weight, 4)
    given = (indices, offsets, scale_grad_by_freq, mode, pruned_weights, per_sample_weights)
    return _bag(name, table, *given, compressed_indices_mapping, include_last_offset)


def embedding_bag_2bit_rowwise_offsets(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor | None = None,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    pruned_weights: bool = False,
    per_sample_weights: Tensor | None = None,
    compressed_indices_mapping: Tensor | None = None,
    include_last_offset: bool = False,
) -> Tensor:
    """Form of :func:`embedding_bag_byte` for results of ``embedding_bag_2bit_prepack``."""
    name = "quantized.embedding_bag_2bit_rowwise_offsets"
    table = _PackedRows(name, weight, 2)
    given = (indices, offsets, scale_grad_by_freq, mode, pruned_weights, per_sample_weights)
    return _bag(name, table, *given, compressed_indices_mapping, include_last_offset)


def bag_lengths(
    indices: Tensor, offsets: Tensor | None, include_last_offset: bool = False
) -> Tensor:
    """Return the number of indices of each bag, float32 ``(B,)``; arguments as of the look-ups."""
    starts, ends = bag_limits("bag_lengths", indices._array, offsets, include_last_offset)
    return wrap((ends - starts).astype(np.float32))


def rows_of(name: str, packed: Tensor, bits: int) -> Rows:
    """Integers ``(R, D)``, scales and offsets of rows of bytes that end in both of these."""
    return packed_rows(_bytes_of(name, packed, bits), bits)


class _PackedRows:
    """A table of bytes whose rows end in scale and offset."""

    def __init__(self, name: str, packed: Any, bits: int) -> None:
        self.array, self.bits = _bytes_of(name, packed, bits), bits

    def __len__(self) -> int:
        return len(self.array)


def _bytes_of(name: str, packed: Any, bits: int) -> np.ndarray:
    if not isinstance(packed, TensorBase) or packed.is_quantized or packed.dtype is not uint8:
        raise TypeError(
            f"{name}: weight must be a uint8 tensor made by a prepack of {bits} bits, "
            f"got {described(packed)}"
        )
    size = parameter_bytes(bits)
    array: np.ndarray = packed._array
    if array.ndim != 2 or array.shape[1] <= size:
        raise RuntimeError(
            f"{name}: weight must have 2 dimensions, the last one longer than the {size} bytes of "
            f"scale and offset, got shape {array.shape}"
        )
    return array


def _require_options(name: str, scale_grad_by_freq: bool, mode: int) -> None:
    if require_flag(name, "scale_grad_by_freq", scale_grad_by_freq):
        raise RuntimeError(
            f"{name}: scale_grad_by_freq must be False, nothing is trained here, "
            f"got {described(scale_grad_by_freq)}"
        )
    if require_integer(name, "mode", mode) != 0:
        raise RuntimeError(f"{name}: mode must be 0 (sum), got {mode}")


def _bag(
    name: str,
    table: Rows | _PackedRows,
    indices: Any,
    offsets: Any,
    scale_grad_by_freq: bool,
    mode: int,
    pruned: bool,
    weights: Any,
    mapping: Any,
    include_last: bool,
) -> Any:
    _require_options(name, scale_grad_by_freq, mode)
    pruned = require_flag(name, "pruned_weights", pruned)
    include_last = require_flag(name, "include_last_offset", include_last)
    count = len(table) if isinstance(table, _PackedRows) else len(table[1])
    rows = None
    if pruned and mapping is not None:
        rows = require_indices(name, "compressed_indices_mapping", mapping, count, low=-1)
    array = require_indices(name, "indices", indices, count if rows is None else rows.size)
    starts, ends = bag_limits(name, array, offsets, include_last)
    factors = None
    if weights is not None:
        require_float(name, weights, "per_sample_weights")
        if weights._array.size != array.size:
            raise RuntimeError(
                f"{name}: per_sample_weights must have one element for each index, got shapes "
                f"{tuple(weights.shape)} and {tuple(array.shape)}"
            )
        factors = weights.detach()._array.reshape(-1)
    array = array.reshape(-1)
    if rows is not None:
        array = rows.reshape(-1)[array]
        kept = array >= 0
        before = np.concatenate([[0], np.cumsum(kept)])
        starts, ends, array = before[starts], before[ends], array[kept]
        factors = None if factors is None else factors[kept]
    if isinstance(table, _PackedRows):
        packed = table.array, table.bits
        return wrap(_kernels.packed_bag(*packed, array, starts, ends, factors))
    return wrap(_kernels.embedding_bag(*table, array, starts, ends, factors))


def bag_limits(
    name: str, indices: np.ndarray, offsets: Tensor | None, include_last: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return where each bag begins and ends."""
    if indices.ndim == 2:
        if offsets is not None:
            raise RuntimeError(
                f"{name}: offsets must be None where indices have 2 dimensions, "
                f"got {described(offsets)}"
            )
        starts = np.arange(indices.shape[0]) * indices.shape[1]
        return starts, starts + indices.shape[1]
    if indices.ndim != 1:
        raise RuntimeError(
            f"{name}: indices must have 1 or 2 dimensions, got shape {tuple(indices.shape)}"
        )
    if offsets is None:
        raise RuntimeError(
            f"{name}: offsets must be given where indices have 1 dimension, got None"
        )
    bounds = require_indices(name, "offsets", offsets, indices.size + 1)
    falls = bounds.ndim != 1 or np.logical_or.reduce(bounds[1:] < bounds[:-1])
    if falls or (bounds.size and bounds[0] != 0):
        raise RuntimeError(
            f"{name}: offsets must be 1-D, begin with 0 and not decrease, got {bounds.tolist()}"
        )
    if include_last:
        if bounds.size == 0 or bounds[-1] != indices.size:
            raise RuntimeError(
                f"{name}: with include_last_offset the last offset must be the number of indices, "
                f"{indices.size}, got {bounds.tolist()}"
            )
        return bounds[:-1], bounds[1:]
    ends = np.empty_like(bounds)
    ends[:-1], ends[-1:] = bounds[1:], indices.size
    return bounds, ends
