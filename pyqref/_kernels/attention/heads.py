"""Attention by the kernel in use. What is not covered is left to products and a softmax."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import contiguous
from pyqref.numerics import attention as reference
from pyqref.numerics.types import FloatArray

__all__ = ["attend", "is_attention_covered"]

_FLOAT32 = np.dtype(np.float32)
#: Queries below which packing keys and values takes longer than it saves.
_LEAST_QUERIES = 4


def is_attention_covered(
    queries: FloatArray, keys: FloatArray, values: FloatArray, bias: FloatArray | None
) -> bool:
    """Return True if the kernel computes this attention.

    There must be enough queries, all arrays must be float32, and the leading axes, two at most,
    must agree.

    The bias, if any, broadcasts to the scores.

    Examples
    --------
    >>> is_attention_covered(*np.ones((3, 4, 2), np.float32), None)
    True
    """
    lead = queries.shape[:-2]
    return (
        queries.dtype == keys.dtype == values.dtype == _FLOAT32
        and (bias is None or (bias.dtype == _FLOAT32 and bias.flags.aligned))
        and len(lead) <= 2
        and lead == keys.shape[:-2] == values.shape[:-2]
        and queries.shape[-2] >= _LEAST_QUERIES
        and 0 not in (queries.size, keys.size, values.size)
    )


def attend(
    queries: FloatArray,
    keys: FloatArray,
    values: FloatArray,
    bias: FloatArray | None,
    is_causal: bool,
    scale: float,
) -> FloatArray:
    """Fast form of :func:`pyqref.numerics.attention.attention`, for what is covered.

    Examples
    --------
    >>> x = np.ones((4, 2), np.float32)
    >>> attend(x, x, x, None, False, 1.0).tolist() == x.tolist()
    True
    """
    shape = (*queries.shape[:-1], values.shape[-1])
    kernel = registry.twin("attention")
    if kernel is None:
        return reference.attention(queries, keys, values, bias, is_causal, scale)
    if bias is not None:
        bias = _four(np.broadcast_to(bias, (*queries.shape[:-1], keys.shape[-2])))
    out = np.empty(shape, _FLOAT32)
    given = (_four(_in_rows(each)) for each in (queries, keys, values))
    kernel.attention(*given, bias, is_causal, scale, _four(out), threads.limit)
    return out


def _in_rows(x: FloatArray) -> FloatArray:
    """The array, where the numbers of each row lie side by side."""
    return x if x.strides[-1] == x.itemsize and x.flags.aligned else contiguous(x)


def _four(x: FloatArray) -> Any:
    return x[(np.newaxis,) * (4 - x.ndim)]
