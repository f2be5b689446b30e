"""Fake quantization by the kernel in use. What no kernel covers goes to its twin in NumPy.

The mask of a kernel has a bit for each number in C order, that of a twin a boolean;
:func:`straight_through` takes both.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, TypeAlias

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import PART, contiguous, empty
from pyqref._kernels.parts import MOST, copied_by_parts, parts
from pyqref.numerics import fake_quantize as reference
from pyqref.numerics.types import BoolArray, Convention, FloatArray

from ..._typing import Array

__all__ = [
    "fake_quantize_per_channel",
    "fake_quantize_per_tensor",
    "is_grid",
    "straight_through",
    "unpacked",
]

_FLOAT32 = np.dtype(np.float32)
_BOOL, _BITS = np.dtype(np.bool_), np.dtype(np.uint8)
#: Booleans of the shape of the numbers, or bytes of a bit for each.
MaskArray: TypeAlias = np.ndarray[Any, Any]
# Where the zero point comes in: in a fused multiply-add, before the rounding, after it.
_FUSED, _BEFORE, _AFTER = 0, 1, 2
#: Up to here float32 holds every integer, and every difference of two.
_EXACT = 2**23


def _is_whole(x: np.ndarray) -> bool:
    """Return True if the NumPy equation takes the whole array, which makes temporary arrays."""
    return x.size <= MOST or (registry.twin("fake_quantize") is None and _is_plain(x))


def _is_plain(x: np.ndarray) -> bool:
    return x.flags.c_contiguous and x.flags.aligned


def _by_parts(
    function: Callable[..., tuple[FloatArray, MaskArray | None]], x: np.ndarray, masked: bool
) -> tuple[FloatArray, MaskArray | None]:
    """Fake quantize copies of parts of an array; the results are in C order.

    Those of one that is contiguous are small: no kernel has taken it.
    """
    y = np.empty(x.shape, x.dtype.newbyteorder("="))
    mask = np.empty(x.shape, _BOOL) if masked else None
    for at in parts(x, most=MOST if _is_plain(x) else PART):
        y[at], some = function(np.array(x[at], order="C"), at)
        if mask is not None and some is not None:
            mask[at] = unpacked(some, mask[at].shape)
    return y, mask


def is_grid(
    scales: np.ndarray,
    zero_points: np.ndarray,
    channels: int,
    quant_min: int,
    quant_max: int,
) -> bool:
    """Return True if these are scales and zero points for this number of channels.

    Positive and finite float32, and int32 in the range, in C order. False may also say that
    they are of other types, or that there is no kernel to look.

    Examples
    --------
    >>> is_grid(np.float32([0.1, 0.0]), np.int32([0, 3]), 2, 0, 255)
    False
    """
    kernel = registry.twin("fake_quantize")
    if kernel is None:
        return False
    return bool(kernel.is_grid(scales, zero_points, channels, quant_min, quant_max))


def fake_quantize_per_tensor(
    x: FloatArray,
    scale: float,
    zero_point: int,
    quant_min: int,
    quant_max: int,
    convention: Convention = "documented",
    masked: bool = True,
) -> tuple[FloatArray, MaskArray | None]:
    """Fast form of :func:`pyqref.numerics.fake_quantize.fake_quantize_per_tensor`.

    Equations ``eq-fake-quantize``, ``eq-fake-quantize-mask``.
    """
    kernel = registry.twin("fake_quantize")
    if kernel is not None and quant_min >= -_EXACT and quant_max <= _EXACT:
        found: tuple[FloatArray, MaskArray | None] | None = kernel.fake_quantize_per_tensor(
            x,
            _FLOAT32,
            masked,
            scale,
            zero_point,
            quant_min,
            quant_max,
            _AFTER if convention == "torch" else _FUSED,
            threads.limit,
        )
        if found is not None:
            return found
    x = np.asarray(x)
    run = reference.fake_quantize_per_tensor if _is_whole(x) else _per_tensor_by_parts
    return run(x, scale, zero_point, quant_min, quant_max, convention, masked)


def _per_tensor_by_parts(x: np.ndarray, *grid: Any) -> tuple[FloatArray, MaskArray | None]:
    return _by_parts(lambda part, _: fake_quantize_per_tensor(part, *grid), x, masked=grid[-1])


def fake_quantize_per_channel(
    x: FloatArray,
    scales: FloatArray,
    zero_points: Array,
    axis: int,
    quant_min: int,
    quant_max: int,
    convention: Convention = "documented",
    masked: bool = True,
) -> tuple[FloatArray, MaskArray | None]:
    """Fast form of :func:`pyqref.numerics.fake_quantize.fake_quantize_per_channel`.

    Equations ``eq-fake-quantize-channel``, ``eq-fake-quantize-mask``.
    """
    kernel = registry.twin("fake_quantize")
    if kernel is not None and quant_min >= -_EXACT and quant_max <= _EXACT:
        found: tuple[FloatArray, MaskArray | None] | None = kernel.fake_quantize_per_channel(
            x,
            _FLOAT32,
            masked,
            scales,
            zero_points,
            axis,
            quant_min,
            quant_max,
            _AFTER if convention == "torch" else _BEFORE,
            threads.limit,
        )
        if found is not None:
            return found
    x = np.asarray(x)
    run = reference.fake_quantize_per_channel if _is_whole(x) else _per_channel_by_parts
    return run(x, scales, zero_points, axis, quant_min, quant_max, convention, masked)


def _per_channel_by_parts(
    x: np.ndarray, scales: Any, zero_points: Any, axis: int, *rest: Any
) -> tuple[FloatArray, MaskArray | None]:
    def run(part: np.ndarray, at: tuple[slice, ...]) -> tuple[FloatArray, MaskArray | None]:
        grid = np.asarray(scales)[at[axis]], np.asarray(zero_points)[at[axis]]
        return fake_quantize_per_channel(part, *grid, axis, *rest)

    return _by_parts(run, x, masked=rest[-1])


def straight_through(gradient: FloatArray, mask: MaskArray) -> FloatArray:
    """Fast :func:`pyqref.numerics.fake_quantize.straight_through` (``eq-straight-through``)."""
    kernel = registry.twin("fake_quantize")
    mask = np.asarray(mask)  # without axes, a comparison gives a scalar
    if kernel is not None:
        result: FloatArray | None = kernel.straight_through(gradient, mask, _FLOAT32, threads.limit)
        if result is not None:
            return result
        if gradient.dtype == _FLOAT32 and mask.dtype == _BITS:
            copy = empty(gradient.shape, _FLOAT32)
            np.copyto(copy, gradient)
            return np.asarray(kernel.straight_through(copy, mask, copy, threads.limit))
        if gradient.dtype == _FLOAT32 and gradient.shape == mask.shape:
            return _straight_through_by_parts(gradient, mask)
    return reference.straight_through(gradient, unpacked(mask, gradient.shape))


def _straight_through_by_parts(gradient: FloatArray, mask: BoolArray) -> FloatArray:
    return copied_by_parts(
        lambda part, at: straight_through(part, contiguous(mask[at])), gradient, _FLOAT32, "C"
    )


def unpacked(mask: MaskArray, shape: tuple[int, ...]) -> BoolArray:
    """A mask with an element for each number, of one that may have a bit.

    Examples
    --------
    >>> _, mask = fake_quantize_per_tensor(np.float32([-1.0, 3.0, 300.0]), 1.0, 0, 0, 255)
    >>> unpacked(mask, (3,))
    array([False,  True, False])
    """
    if mask.dtype == _BOOL:
        return mask
    bits = np.unpackbits(mask, count=prod(shape), bitorder="little")
    return bits.view(_BOOL).reshape(shape)
