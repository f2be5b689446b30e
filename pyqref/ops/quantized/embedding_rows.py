"""Float tables to rows of bytes with scale and offset at the end of each, and back.

The layout of a row of ``D`` elements of ``b`` bits::

    bytes 0 ... ceil(D * b / 8) - 1    the integers, the first one lowest in its byte
    then scale and offset              float32 for 8 bits, float16 for 4 and 2
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref._typing import Tensor
from pyqref.numerics import embedding
from pyqref.tensor.base import wrap

from .checks import require_flag, require_float, require_integer, require_number
from .embedding_bag import rows_of

__all__ = [
    "embedding_bag_2bit_prepack",
    "embedding_bag_2bit_prepack_with_rowwise_min_max",
    "embedding_bag_2bit_unpack",
    "embedding_bag_4bit_prepack",
    "embedding_bag_4bit_prepack_with_rowwise_min_max",
    "embedding_bag_4bit_unpack",
    "embedding_bag_byte_prepack",
    "embedding_bag_byte_prepack_with_rowwise_min_max",
    "embedding_bag_byte_unpack",
]

#: Steps in which a range is narrowed: more take minutes and find nothing better.
MOST_BINS = 1 << 16


def embedding_bag_byte_prepack(weight: Tensor) -> Tensor:
    r"""Quantize each row to bytes over its own range (equation ``eq-embedding-rows-byte``).

    Parameters
    ----------
    weight
        float32 ``(R, D)``.

    Returns
    -------
    uint8 ``(R, D + 8)``.

    Examples
    --------
    >>> import pyqref
    >>> rows = pyqref.ops.quantized.embedding_bag_byte_prepack(pyqref.tensor([[0.0, 255.0]]))
    >>> rows.tolist()
    [[0, 255, 0, 0, 128, 63, 0, 0, 0, 0]]
    """
    return _prepack("quantized.embedding_bag_byte_prepack", weight, 8)


def embedding_bag_byte_prepack_with_rowwise_min_max(
    weight: Tensor, rowwise_min_max: Tensor
) -> Tensor:
    """Form of :func:`embedding_bag_byte_prepack` with given ranges, float32 ``(R, 2)``.

    Examples
    --------
    >>> import pyqref
    >>> prepack = pyqref.ops.quantized.embedding_bag_byte_prepack_with_rowwise_min_max
    >>> rows = pyqref.tensor([[0.0, 1.0, 2.0, -1.0]])
    >>> prepack(rows, pyqref.tensor([[0.0, 1.0]]))[0, :4].tolist()  # clamped to the range
    [0, 255, 255, 0]
    """
    name = "quantized.embedding_bag_byte_prepack_with_rowwise_min_max"
    return _prepack(name, weight, 8, rowwise_min_max)


def embedding_bag_byte_unpack(weight: Tensor) -> Tensor:
    """The float table ``(R, D)`` for which the rows stand (``eq-embedding-lookup``).

    Examples
    --------
    >>> import pyqref
    >>> packed = pyqref.ops.quantized.embedding_bag_byte_prepack(pyqref.tensor([[-1.0, 0.1, 2.0]]))
    >>> rows = pyqref.ops.quantized.embedding_bag_byte_unpack(packed)
    >>> [round(each, 3) for each in rows.flatten().tolist()]
    [-1.0, 0.106, 2.0]
    """
    return _unpack("quantized.embedding_bag_byte_unpack", weight, 8)


def embedding_bag_4bit_prepack(
    weight: Tensor, optimized_qparams: bool = False, nbins: int = 200, ratio: float = 0.16
) -> Tensor:
    r"""Quantize each row to 4 bits over its own range (equation ``eq-embedding-rows-narrow``).

    Parameters
    ----------
    weight
        float32 ``(R, D)``.
    optimized_qparams
        Search a narrower range with a smaller error (equation ``eq-embedding-search``).
    nbins, ratio
        Of the search.

    Returns
    -------
    uint8 ``(R, ceil(D / 2) + 4)``.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> table = pyqref.tensor([[0.0, 15.0, 7.0, 8.0]])
    >>> packed = ops.embedding_bag_4bit_prepack(table)
    >>> ops.embedding_bag_4bit_unpack(packed).tolist()
    [[0.0, 15.0, 7.0, 8.0]]
    """
    options = (optimized_qparams, nbins, ratio)
    return _prepack("quantized.embedding_bag_4bit_prepack", weight, 4, None, *options)


def embedding_bag_4bit_prepack_with_rowwise_min_max(
    weight: Tensor,
    rowwise_min_max: object,
    optimized_qparams: bool = False,
    nbins: int = 200,
    ratio: float = 0.16,
) -> Tensor:
    """Form of :func:`embedding_bag_4bit_prepack` with given ranges, float32 ``(R, 2)``."""
    name = "quantized.embedding_bag_4bit_prepack_with_rowwise_min_max"
    return _prepack(name, weight, 4, rowwise_min_max, optimized_qparams, nbins, ratio)


def embedding_bag_4bit_unpack(weight: Tensor) -> Tensor:
    """The float table for which the rows stand (``eq-embedding-lookup``).

    Examples
    --------
    >>> import pyqref
    >>> row = pyqref.tensor([[-1.0, 0.1, 0.6, 2.0]])
    >>> packed = pyqref.ops.quantized.embedding_bag_4bit_prepack(row)
    >>> rows = pyqref.ops.quantized.embedding_bag_4bit_unpack(packed)
    >>> [round(each, 3) for each in rows.flatten().tolist()]
    [-1.0, 0.2, 0.6, 1.999]
    """
    return _unpack("quantized.embedding_bag_4bit_unpack", weight, 4)


def embedding_bag_2bit_prepack(
    weight: Tensor, optimized_qparams: bool = False, nbins: int = 200, ratio: float = 0.16
) -> Tensor:
    """Form of :func:`embedding_bag_4bit_prepack` with four elements in a byte."""
    options = (optimized_qparams, nbins, ratio)
    return _prepack("quantized.embedding_bag_2bit_prepack", weight, 2, None, *options)


def embedding_bag_2bit_prepack_with_rowwise_min_max(
    weight: Tensor,
    rowwise_min_max: object,
    optimized_qparams: bool = False,
    nbins: int = 200,
    ratio: float = 0.16,
) -> Tensor:
    """Form of :func:`embedding_bag_2bit_prepack` with given ranges, float32 ``(R, 2)``."""
    name = "quantized.embedding_bag_2bit_prepack_with_rowwise_min_max"
    return _prepack(name, weight, 2, rowwise_min_max, optimized_qparams, nbins, ratio)


def embedding_bag_2bit_unpack(weight: Tensor) -> Tensor:
    """The float table for which the rows stand (``eq-embedding-lookup``).

    Examples
    --------
    >>> import pyqref
    >>> row = pyqref.tensor([[-1.0, 0.1, 0.6, 2.0]])
    >>> packed = pyqref.ops.quantized.embedding_bag_2bit_prepack(row)
    >>> rows = pyqref.ops.quantized.embedding_bag_2bit_unpack(packed)
    >>> [round(each, 3) for each in rows.flatten().tolist()]
    [-1.0, 0.0, 1.0, 2.0]
    """
    return _unpack("quantized.embedding_bag_2bit_unpack", weight, 2)


def _prepack(
    name: str,
    weight: Any,
    bits: int,
    ranges: Any = None,
    search: bool = False,
    bins: int = 200,
    ratio: float = 0.16,
) -> Any:
    require_float(name, weight, "weight")
    if weight.dim() != 2 or weight.shape[1] == 0:
        raise RuntimeError(
            f"{name}: weight must have 2 dimensions, the last one not empty, "
            f"got shape {tuple(weight.shape)}"
        )
    table = weight.detach()._array
    if not np.isfinite(table).all():
        raise ValueError(f"{name}: weight holds nan or infinity, which no scale covers")
    low, high = _ranges(name, ranges, table.shape[0])
    bins = require_integer(name, "nbins", bins)
    ratio = require_number(name, "ratio", ratio)
    if require_flag(name, "optimized_qparams", search):
        if not 1 <= bins <= MOST_BINS or not 0 <= ratio <= 1:
            raise ValueError(
                f"{name}: nbins must be in [1, {MOST_BINS}] and ratio in [0, 1], got {bins} and "
                f"{ratio}"
            )
        found = [embedding.search_row_range(row, bits, bins, ratio) for row in table]
        low, high = np.array(found, np.float32).reshape(-1, 2).T
    if bits == 8:
        q, scale, offset = embedding.quantize_rows_byte(table, low, high)
    else:
        q, scale, offset = embedding.quantize_rows_narrow(table, bits, low, high)
    tail = np.ascontiguousarray(np.stack([scale, offset], axis=1)).view(np.uint8)
    return wrap(np.concatenate([embedding.pack_bits(q, bits), tail], axis=1))


def _ranges(name: str, ranges: Any, rows: int) -> tuple[Any, Any]:
    if ranges is None:
        return None, None
    require_float(name, ranges, "rowwise_min_max")
    if tuple(ranges.shape) != (rows, 2):
        raise RuntimeError(
            f"{name}: rowwise_min_max must have shape {(rows, 2)}, got {tuple(ranges.shape)}"
        )
    limits = ranges.detach()._array
    if not (np.isfinite(limits).all() and (limits[:, 0] <= limits[:, 1]).all()):
        raise ValueError(f"{name}: rowwise_min_max must hold finite pairs with min <= max")
    return limits[:, 0], limits[:, 1]


def _unpack(name: str, weight: Any, bits: int) -> Any:
    q, scales, offsets = rows_of(name, weight, bits)
    return wrap(embedding.lookup(q, scales, offsets, np.arange(len(scales))))
