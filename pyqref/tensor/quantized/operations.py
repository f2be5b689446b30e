"""What operations on tensors do when the tensor is quantized.

Order is kept by quantizing (scales are positive), so extremes and sorting work on the
integers. The functions of a fixed range have fixed output parameters.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from ... import _kernels
from ...backends import quantized as settings
from ...dtypes import qint8, quint8
from ...tape import Operation
from ...tape.bounds import Clamp
from ...tape.indexing import IndexPut, MaskedFill, MaskedSelect, Sort
from ...tape.reduction import Amax, Amin, Max, MaxDim, Mean, Min, MinDim, Std
from ...tape.shape import Cat, Stack
from ...tape.unary import Relu, Sigmoid, Tanh, sigmoid
from ..base import TensorBase, wrap
from ..dispatch import quantized_implementation
from .quantizer import PerChannelQuantizer, PerTensorQuantizer, per_tensor_quantizer
from .tensor import make_quantized

__all__: list[str] = []


def _per_tensor(name: str, *tensors: Any) -> PerTensorQuantizer:
    """The quantizer of the first tensor; an error if one of them is per channel."""
    for tensor in tensors:
        if not tensor.is_quantized:
            raise RuntimeError(
                f"{name}: quantized and float tensors cannot be mixed; quantize or dequantize one"
            )
        if isinstance(tensor._quantizer, PerChannelQuantizer):
            raise RuntimeError(
                f"{name} is defined for per tensor quantized tensors only, got "
                f"{tensor._quantizer.qscheme._name}; call dequantize() first"
            )
    quantizer: PerTensorQuantizer = tensors[0]._quantizer
    return quantizer


def _run(operation: type[Operation], *args: Any) -> Any:
    node = operation()
    node.needs = (False,) * len(args)
    return node.forward(*args)


def _on_integers(operation: type[Operation]) -> None:
    """Register an operation that chooses elements: it runs on the integers."""

    @quantized_implementation(operation)
    def run(tensor: Any, *args: Any) -> Any:
        quantizer = _per_tensor(operation.__name__.lower(), tensor)
        result = _run(operation, tensor._array, *args)
        if isinstance(result, tuple):
            return make_quantized(result[0], quantizer), wrap(result[1])
        return make_quantized(np.asarray(result), quantizer)


for _operation in (Amax, Amin, Max, MaxDim, Min, MinDim, Sort):
    _on_integers(_operation)


@quantized_implementation(Relu)
def _relu(tensor: Any) -> Any:
    """``max(q, zero_point)``."""
    quantizer = tensor._quantizer
    if type(quantizer) is not PerTensorQuantizer:
        quantizer = _per_tensor("relu", tensor)
    return make_quantized(_kernels.relu(tensor._array, quantizer.zero_point), quantizer)


@quantized_implementation(Clamp)
def _clamp(tensor: Any, low: Any, high: Any) -> Any:
    """Clamp the integers to those of the bounds."""
    quantizer = _per_tensor("clamp", tensor)
    low, high = (
        bound._array.item() if isinstance(bound, TensorBase) else bound for bound in (low, high)
    )
    integers = _kernels.clamp(tensor._array, quantizer.grid, low, high)
    return make_quantized(np.asarray(integers), quantizer)


@quantized_implementation(Mean)
def _mean(tensor: Any, axes: tuple[int, ...], keepdim: bool) -> Any:
    """Over the last axes by ``eq-quantized-mean``; over others in float, quantized again.

    qnnpack divides in its own way in one case, the mean of quint8 images over height and
    width.
    """
    quantizer = _per_tensor("mean", tensor)
    array, ndim = tensor._array, tensor._array.ndim
    if axes != tuple(range(ndim - len(axes), ndim)) or array.dtype.itemsize != 1 or not array.size:
        numbers = quantizer.dequantize(array)
        return make_quantized(quantizer.quantize(_run(Mean, numbers, axes, keepdim)), quantizer)
    images = quantizer.dtype is quint8 and ndim == 4 and len(axes) == 2
    engine: Any = settings.engine if images else "fbgemm"
    kept = array.shape[: ndim - len(axes)]
    if ndim == 4 and len(axes) == 2:
        sizes: tuple[int, ...] = (1, 1)
    else:
        array, sizes = array.reshape(1, math.prod(kept), -1), (1,)
    integers = _kernels.adaptive_avg_pool(
        array, quantizer.zero_point, sizes, engine, quantizer.scale
    )
    shape = (*kept, *(1,) * len(axes)) if keepdim else kept
    return make_quantized(integers.reshape(shape), quantizer)


@quantized_implementation(Std)
def _std(tensor: Any, axes: tuple[int, ...], keepdim: bool, correction: float = 1) -> Any:
    """In float, quantized again."""
    quantizer = _per_tensor("std", tensor)
    numbers = _run(Std, quantizer.dequantize(tensor._array), axes, keepdim, correction)
    return make_quantized(quantizer.quantize(np.asarray(numbers)), quantizer)


def _fixed_range(
    operation: type[Operation], function: Callable[[Any], Any], scale: float, middle: bool
) -> None:
    """Register a function whose values have a fixed range: fixed scale and zero point."""
    zero_points = {quint8: 128 if middle else 0, qint8: 0 if middle else -128}

    def integers_of(q: Any, own: PerTensorQuantizer, out: PerTensorQuantizer) -> Any:
        return out.quantize(function(own.dequantize(q)).astype(np.float32))

    @lru_cache(maxsize=64)
    def table(own: PerTensorQuantizer, out: PerTensorQuantizer) -> Any:
        """The result for each byte; kept, since a layer asks for it each time."""
        return integers_of(np.arange(256, dtype=np.uint8).view(own.grid.storage), own, out)

    @quantized_implementation(operation)
    def run(tensor: Any) -> Any:
        own, array = _per_tensor(operation.__name__.lower(), tensor), tensor._array
        out = per_tensor_quantizer(own.dtype, scale, zero_points.get(own.dtype, 0))
        narrow = array.dtype.itemsize == 1
        made = _kernels.look_up(table(own, out), array) if narrow else integers_of(array, own, out)
        return make_quantized(made, out)


_fixed_range(Sigmoid, sigmoid, 1 / 256, middle=False)
_fixed_range(Tanh, np.tanh, 2 / 256, middle=True)


def _joined(operation: type[Operation], axis: int, tensors: tuple[Any, ...]) -> Any:
    """Join the integers; tensors of other parameters are quantized again with the first's."""
    quantizer = _per_tensor(operation.__name__.lower(), *tensors)
    arrays = []
    for tensor in tensors:
        if tensor.dtype is not quantizer.dtype:
            raise RuntimeError(
                f"{operation.__name__.lower()}: all tensors must have one dtype, got "
                f"{quantizer.dtype} and {tensor.dtype}"
            )
        same = tensor._quantizer == quantizer
        integers = tensor._array
        if not same:
            integers = quantizer.quantize(tensor._quantizer.dequantize(integers))
        arrays.append(integers)
    return make_quantized(_run(operation, axis, *arrays), quantizer)


@quantized_implementation(Cat)
def _cat(axis: int, *tensors: Any) -> Any:
    """One after another, with the parameters of the first."""
    for each in tensors:
        if each.is_quantized and isinstance(each._quantizer, PerChannelQuantizer):
            return _cat_channels(axis, tensors)
    return _joined(Cat, axis, tensors)


def _cat_channels(axis: int, tensors: tuple[Any, ...]) -> Any:
    raise RuntimeError(
        "cat is defined for per tensor quantized tensors only; dequantize, join and quantize again"
    )


@quantized_implementation(Stack)
def _stack(axis: int, *tensors: Any) -> Any:
    """Along a new axis, with the parameters of the first."""
    return _joined(Stack, axis, tensors)


@quantized_implementation(MaskedFill)
def _masked_fill(tensor: Any, mask: Any, value: Any) -> Any:
    """The quantized value where the mask holds."""
    quantizer = _per_tensor("masked_fill", tensor)
    number = np.float32(value._array if isinstance(value, TensorBase) else value)
    filled = np.where(mask._array, quantizer.quantize(number.reshape(1))[0], tensor._array)
    return make_quantized(filled, quantizer)


@quantized_implementation(MaskedSelect)
def _masked_select(tensor: Any, mask: Any) -> Any:
    """The integers where the mask holds."""
    return make_quantized(
        _run(MaskedSelect, tensor._array, mask), _per_tensor("masked_select", tensor)
    )


@quantized_implementation(IndexPut)
def _index_put(tensor: Any, values: Any, key: Any, accumulate: bool) -> Any:
    """Quantized values written at ``key``."""
    quantizer = _per_tensor("index_put", tensor)
    if accumulate:
        raise RuntimeError("index_put(accumulate=True) is not defined for quantized tensors")
    real = values._quantizer.dequantize(values._array) if values.is_quantized else values._array
    integers = tensor._array.copy()
    integers[key] = quantizer.quantize(real.astype(np.float32))
    return make_quantized(integers, quantizer)
