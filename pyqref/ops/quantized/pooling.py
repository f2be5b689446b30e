"""Pooling of quantized tensors: the largest integer, or the rounded mean."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref import _kernels
from pyqref._typing import Ints, Tensor
from pyqref.backends import quantized as settings
from pyqref.numerics.pooling import adaptive_windows, averaged_windows, pooled_sizes
from pyqref.tape.adaptive_pooling import AdaptiveAvgPool
from pyqref.tape.pooling import AvgPool, MaxPool
from pyqref.tensor.dispatch import quantized_implementation
from pyqref.tensor.quantized import PerTensorQuantizer, make_quantized
from pyqref.tensor.quantized.other_arithmetic import replaced

from .checks import require_flag, require_per_tensor, tuple_of

__all__ = ["max_pool1d", "max_pool2d"]

#: A kernel past this needs padding alone to fit, which no input is worth.
LARGEST_KERNEL = 2**16


def max_pool2d(
    qx: Tensor,
    kernel_size: Ints,
    stride: Ints = (),
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
) -> Tensor:
    r"""Largest integer of each window (equation ``eq-quantized-max-pool``).

    Parameters
    ----------
    qx
        Quantized per tensor, ``(N, C, H, W)`` or ``(C, H, W)``.
    kernel_size, stride, padding, dilation
        An integer or two; an empty stride is ``kernel_size``.
    ceil_mode
        Let a last window reach past the end.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> x = pyqref.arange(16.0).reshape(1, 1, 4, 4)
    >>> q = pyqref.quantize_per_tensor(x, 1.0, 0, pyqref.quint8)
    >>> ops.max_pool2d(q, 2).dequantize().tolist()
    [[[[5.0, 7.0], [13.0, 15.0]]]]
    """
    return _max_pool(2, qx, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool1d(
    qx: Tensor,
    kernel_size: Ints,
    stride: Ints = (),
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """One-dimensional form of :func:`max_pool2d`, for ``(N, C, L)`` or ``(C, L)``.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> q = pyqref.quantize_per_tensor(pyqref.arange(6.0).reshape(1, 1, 6), 1.0, 0, pyqref.quint8)
    >>> ops.max_pool1d(q, 2).dequantize().tolist()
    [[[1.0, 3.0, 5.0]]]
    """
    return _max_pool(1, qx, kernel_size, stride, padding, dilation, ceil_mode)


def _max_pool(
    spatial: int,
    qx: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
) -> Any:
    name = f"quantized.max_pool{spatial}d"
    require_per_tensor(name, qx)
    if qx.dim() not in (spatial + 1, spatial + 2):
        raise RuntimeError(
            f"{name}: input must have {spatial + 1} or {spatial + 2} dimensions, "
            f"got shape {tuple(qx.shape)}"
        )
    kernel = tuple_of(name, "kernel_size", kernel_size, spatial, 1)
    steps = kernel if _is_empty(stride) else tuple_of(name, "stride", stride, spatial, 1)
    padding = tuple_of(name, "padding", padding, spatial, 0)
    dilation = tuple_of(name, "dilation", dilation, spatial, 1)
    if any(2 * p > k for p, k in zip(padding, kernel, strict=True)):
        raise RuntimeError(
            f"{name}: padding must be at most half of kernel_size, got {padding} and {kernel}"
        )
    ceil_mode = require_flag(name, "ceil_mode", ceil_mode)
    if max(kernel) > LARGEST_KERNEL:
        raise RuntimeError(f"{name}: kernel_size must be at most {LARGEST_KERNEL}, got {kernel}")
    try:
        pooled_sizes(qx.shape[-spatial:], kernel, steps, padding, dilation, ceil_mode)
    except ValueError as error:
        raise RuntimeError(f"{name}: {error}") from None
    return _max_pool_of_tensor(qx, kernel, steps, padding, dilation, ceil_mode, False)


def _is_empty(stride: Any) -> bool:
    return stride is None or (isinstance(stride, list | tuple) and not stride)


@quantized_implementation(MaxPool)
def _max_pool_of_tensor(
    x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool, indices: bool
) -> Any:
    own = x._quantizer
    if type(own) is not PerTensorQuantizer:
        own = require_per_tensor("max_pool", x)
    if indices:
        raise RuntimeError(
            "max_pool of a quantized tensor takes return_indices=False only; "
            "call dequantize() first"
        )
    q = x._array
    if q.ndim == len(kernel) + 1:
        pooled = _kernels.max_pool(q[None], kernel, stride, padding, dilation, ceil_mode)[0]
    else:
        pooled = _kernels.max_pool(q, kernel, stride, padding, dilation, ceil_mode)
    return make_quantized(pooled, own)


@quantized_implementation(AvgPool)
def _avg_pool_of_tensor(
    x: Any,
    kernel: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Any:
    own = x._quantizer
    if type(own) is not PerTensorQuantizer:
        own = require_per_tensor("avg_pool", x)
    q = x._array
    unbatched = q.ndim == len(kernel) + 1
    if settings.arithmetic is not None:
        batch = q[None] if unbatched else q
        how = kernel, stride, padding, ceil_mode, count_include_pad, divisor_override
        view, count = averaged_windows(batch, own.zero_point, *how)
        whole = tuple(kernel) == q.shape[-len(kernel) :] and not any(padding)
        made = _average("avg_pool", own, view, count, whole and divisor_override is None)
        if made is not None:
            return make_quantized(made[0] if unbatched else made, own)
    # In three dimensions every engine divides as fbgemm does.
    engine: Any = settings.engine if len(kernel) < 3 else "fbgemm"
    pooled = _kernels.avg_pool(
        q[None] if unbatched else q,
        own.zero_point,
        kernel,
        stride,
        padding,
        ceil_mode,
        count_include_pad,
        divisor_override,
        engine,
        own.scale,
    )
    return make_quantized(pooled[0] if unbatched else pooled, own)


@quantized_implementation(AdaptiveAvgPool)
def _adaptive_avg_pool_of_tensor(x: Any, output_size: Any) -> Any:
    own = require_per_tensor("adaptive_avg_pool", x)
    spatial = len(output_size)
    q = x._array
    unbatched = q.ndim == spatial + 1
    if settings.arithmetic is not None and q.size:
        view, count = adaptive_windows(q, own.zero_point, output_size)
        whole = all(size == 1 for size in output_size)
        made = _average("adaptive_avg_pool", own, view, count, whole)
        if made is not None:
            return make_quantized(made, own)
    engine: Any = settings.engine if spatial < 3 else "fbgemm"
    pooled = _kernels.adaptive_avg_pool(
        q[None] if unbatched else q, own.zero_point, output_size, engine, own.scale
    )
    return make_quantized(pooled[0] if unbatched else pooled, own)


def _average(name: str, own: PerTensorQuantizer, view: Any, count: Any, whole: bool) -> Any:
    """Means of windows in the arithmetic in use; None if the engine is to compute them."""
    spatial = (view.ndim - 2) // 2 if name == "avg_pool" else np.ndim(count)
    taps = view.reshape(*view.shape[: view.ndim - spatial], -1)
    return replaced(name, "average", taps, np.asarray(count), own.grid, whole)
