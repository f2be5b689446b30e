"""Operations on tensors when the tensor is quantized.

Order is kept by quantizing (scales are positive), so extremes work on the integers. The
functions of a fixed range have fixed output parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from ... import _kernels
from ..._kernels.parts import by_parts
from ..._typing import Tensor
from ...dtypes import qint8, quint8
from ...numerics import activation
from ...tape import Operation
from ...tape.bounds import Clamp
from ...tape.indexing import MaskedFill, MaskedSelect
from ...tape.reduction import Amax, Amin, Max, MaxDim, Min, MinDim
from ...tape.unary import Relu, Sigmoid, Tanh
from ..arguments import as_number, described
from ..base import TensorBase, wrap
from ..dispatch import quantized_implementation
from ..refusal import called_function, undefined_for_quantized
from .other_arithmetic import clamped_elsewhere, function_elsewhere, replaced
from .quantizer import PerChannelQuantizer, PerTensorQuantizer, per_tensor_quantizer
from .tensor import make_quantized, number_of

__all__ = ["per_tensor_of", "run_operation"]


def per_tensor_of(name: str, *tensors: Tensor) -> PerTensorQuantizer:
    """The quantizer of the first tensor; an error if one of them is per channel."""
    for tensor in tensors:
        if not isinstance(tensor, TensorBase):
            raise TypeError(f"{called_function(name)}: expected a tensor, got {described(tensor)}")
        if not tensor.is_quantized:
            raise RuntimeError(
                f"{called_function(name)}: quantized and float tensors cannot be mixed; "
                "quantize or dequantize one"
            )
        if isinstance(tensor._quantizer, PerChannelQuantizer):
            raise RuntimeError(
                f"{called_function(name)} is defined for per tensor quantized tensors only, got "
                f"{tensor._quantizer.qscheme._name}; call dequantize() first"
            )
    quantizer: PerTensorQuantizer = tensors[0]._quantizer
    return quantizer


def run_operation(operation: type[Operation], *args: object) -> Any:
    """Run an operation on arrays without keeping anything for a gradient."""
    if operation.computes:
        return operation.compute(*args)
    node = operation()
    node.needs = (False,) * len(args)
    return node.forward(*args)


def _on_integers(operation: type[Operation]) -> None:
    """Register an operation that chooses elements: it runs on the integers."""

    @quantized_implementation(operation)
    def run(tensor: Any, *args: Any) -> Any:
        quantizer = per_tensor_of(operation.__name__.lower(), tensor)
        result = run_operation(operation, tensor._array, *args)
        if isinstance(result, tuple):
            return make_quantized(result[0], quantizer), wrap(result[1])
        return make_quantized(np.asarray(result), quantizer)


for _operation in (Amax, Amin, Max, MaxDim, Min, MinDim):
    _on_integers(_operation)


@quantized_implementation(Relu)
def _relu(tensor: Any) -> Any:
    """``max(q, zero_point)``."""
    quantizer = tensor._quantizer
    if type(quantizer) is not PerTensorQuantizer:
        quantizer = per_tensor_of("relu", tensor)
    return make_quantized(_kernels.relu(tensor._array, quantizer.zero_point), quantizer)


@quantized_implementation(Clamp)
def _clamp(tensor: Any, low: Any, high: Any) -> Any:
    """Clamp the integers to those of the bounds."""
    quantizer = per_tensor_of("clamp", tensor)
    if any(isinstance(each, TensorBase) and each._array.ndim for each in (low, high)):
        raise undefined_for_quantized("clamp", tensor)
    low, high = number_of(low), number_of(high)
    low, high = (
        None if bound is None else as_number(bound, f"clamp: {name}")
        for bound, name in ((low, "min"), (high, "max"))
    )
    integers = clamped_elsewhere("clamp", tensor._array, quantizer.grid, low, high)
    if integers is None:
        integers = _kernels.clamp(tensor._array, quantizer.grid, low, high)
    return make_quantized(integers, quantizer)


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
        own, array = per_tensor_of(operation.__name__.lower(), tensor), tensor._array
        out = per_tensor_quantizer(own.dtype, scale, zero_points.get(own.dtype, 0))
        narrow = array.dtype.itemsize == 1
        name = operation.__name__.lower()
        integers = function_elsewhere(name, array, own.grid, out.grid, function)
        if integers is not None:
            return make_quantized(integers, out)
        if narrow:
            return make_quantized(_kernels.look_up(table(own, out), array), out)
        return make_quantized(by_parts(lambda q: integers_of(q, own, out), array), out)


_fixed_range(Sigmoid, activation.sigmoid, 1 / 256, middle=False)
_fixed_range(Tanh, activation.tanh, 2 / 256, middle=True)


@quantized_implementation(MaskedFill)
def _masked_fill(tensor: Any, mask: Any, value: Any) -> Any:
    """The quantized value where the mask holds."""
    quantizer = per_tensor_of("masked_fill", tensor)
    number = np.array([number_of(value)], np.float32)
    stored = replaced("masked_fill", "quantize", number, quantizer.grid)
    if stored is None:
        stored = quantizer.quantize(number)
    filled = np.where(mask._array, stored[0], tensor._array)
    return make_quantized(filled, quantizer)


@quantized_implementation(MaskedSelect)
def _masked_select(tensor: Any, mask: Any) -> Any:
    """The integers where the mask holds."""
    return make_quantized(
        run_operation(MaskedSelect, tensor._array, mask), per_tensor_of("masked_select", tensor)
    )
