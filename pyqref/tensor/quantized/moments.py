"""Mean and standard deviation of a quantized tensor; of a large one, part by part."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import _kernels
from ..._kernels.layout import PART
from ..._kernels.reductions import Total, reduced_by_parts
from ...backends import quantized as settings
from ...dtypes import quint8
from ...numerics.pooling import quantized_mean
from ...tape import Array
from ...tape.reduction import Mean, Std
from ..dispatch import quantized_implementation
from .operations import per_tensor_of, run_operation
from .other_arithmetic import keeps_engine, replaced
from .quantizer import PerTensorQuantizer
from .tensor import make_quantized

__all__: list[str] = []


@quantized_implementation(Mean)
def _mean(tensor: Any, axes: tuple[int, ...], keepdim: bool) -> Any:
    """Over the last axes by ``eq-quantized-mean``; over others in float, quantized again.

    qnnpack divides in its own way in one case, the mean of quint8 images over height and
    width.
    """
    quantizer = per_tensor_of("mean", tensor)
    array, ndim = tensor._array, tensor._array.ndim
    if axes != tuple(range(ndim - len(axes), ndim)) or array.dtype.itemsize != 1 or not array.size:
        keeps_engine("mean")
        if array.size > PART:
            return _by_parts(_mean_of_reals(array, axes, quantizer), tensor, axes, keepdim)
        sums = quantizer.dequantize(array).sum(axis=axes, keepdims=keepdim)
        with np.errstate(invalid="ignore"):  # of no elements
            mean = np.asarray(sums / np.float32(_count(array, axes)))
        return make_quantized(quantizer.quantize(mean), quantizer)
    made = _mean_elsewhere(array, axes, keepdim, quantizer)
    if made is not None:
        return make_quantized(made, quantizer)
    images = ndim == 4 and len(axes) == 2
    engine: Any = settings.engine if images and quantizer.dtype is quint8 else "fbgemm"
    kept = array.shape[: ndim - len(axes)]
    if images:
        sizes: tuple[int, ...] = (1, 1)
    elif array.size > PART and not array.flags.c_contiguous:
        made = reduced_by_parts(_mean_of_integers(array, axes, quantizer), array, axes, keepdim)
        return make_quantized(np.ascontiguousarray(made).reshape(made.shape), quantizer)
    else:
        array, sizes = array.reshape(1, math.prod(kept), -1), (1,)
    integers = _kernels.adaptive_avg_pool(
        array, quantizer.zero_point, sizes, engine, quantizer.scale
    )
    shape = (*kept, *(1,) * len(axes)) if keepdim else kept
    return make_quantized(integers.reshape(shape), quantizer)


def _mean_elsewhere(
    array: Array, axes: tuple[int, ...], keepdim: bool, quantizer: PerTensorQuantizer
) -> Array | None:
    """The mean over the last axes in the arithmetic in use; None: the engine computes it."""
    if settings.arithmetic is None:
        return None
    kept = array.shape[: array.ndim - len(axes)]
    taps = array.reshape(*kept, -1).astype(np.int64) - quantizer.zero_point
    count = np.int64(taps.shape[-1])
    made: Array | None = replaced("mean", "average", taps, count, quantizer.grid, True)
    if made is None:
        return None
    return made.reshape((*kept, *(1,) * len(axes))) if keepdim else made


@quantized_implementation(Std)
def _std(tensor: Any, axes: tuple[int, ...], keepdim: bool, correction: float = 1) -> Any:
    """Compute in float, and quantize the result again."""
    quantizer, array = per_tensor_of("std", tensor), tensor._array
    keeps_engine("std")
    if array.size > PART:
        return _by_parts(_std_of_reals(array, axes, quantizer, correction), tensor, axes, keepdim)
    numbers = run_operation(Std, quantizer.dequantize(array), axes, keepdim, correction)
    return make_quantized(quantizer.quantize(np.asarray(numbers)), quantizer)


def _by_parts(
    function: Callable[[Total], Array], tensor: Any, axes: tuple[int, ...], keepdim: bool
) -> Any:
    made = reduced_by_parts(function, tensor._array, axes, keepdim)
    return make_quantized(made, tensor._quantizer)


def _count(array: Array, axes: tuple[int, ...]) -> int:
    return math.prod(array.shape[axis] for axis in axes)


def _mean_of_integers(
    array: Array, axes: tuple[int, ...], quantizer: PerTensorQuantizer
) -> Callable[[Total], Array]:
    count, zero_point, limits = _count(array, axes), quantizer.zero_point, np.iinfo(array.dtype)

    def mean(total: Total) -> Array:
        sums = total(lambda q: q.astype(np.int64) - zero_point)
        least, most = int(limits.min), int(limits.max)
        return quantized_mean(sums, count, zero_point, least, most, array.dtype)

    return mean


def _mean_of_reals(
    array: Array, axes: tuple[int, ...], quantizer: PerTensorQuantizer
) -> Callable[[Total], Array]:
    """Sums of float32 in the order of NumPy, of torch too, divided."""
    count = np.float32(_count(array, axes))
    return lambda total: quantizer.quantize(total(quantizer.dequantize) / count)


def _std_of_reals(
    array: Array, axes: tuple[int, ...], quantizer: PerTensorQuantizer, correction: float
) -> Callable[[Total], Array]:
    """Compute :class:`Std` from the deviations from the mean, which is computed before."""
    count = _count(array, axes)
    divisor = np.float64(max(0.0, count - correction))

    def double(q: Array) -> Array:
        return quantizer.dequantize(q).astype(np.float64)

    def std(total: Total) -> Array:
        mean = total(double) / np.float64(count)
        squares = total(lambda q: np.square(double(q) - mean))
        with np.errstate(invalid="ignore"):
            variance = squares / divisor
        return quantizer.quantize(np.sqrt(variance.astype(np.float32)))

    return std
