"""Sums, products and joining of quantized tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pyqref import _kernels
from pyqref._typing import Tensor
from pyqref.backends import quantized as settings
from pyqref.numerics import scalar
from pyqref.tensor.arguments import described
from pyqref.tensor.quantized import PerTensorQuantizer, make_quantized
from pyqref.tensor.quantized.joining import joined_elsewhere, warn_of_unlike_grids
from pyqref.tensor.quantized.other_arithmetic import keeps_engine, replaced
from pyqref.tensor.quantized.validation import check_scale

from .checks import output_quantizer, require_axis, require_number, require_per_tensor
from .grid import grid_of, tensor_on

__all__ = [
    "add",
    "add_relu",
    "add_scalar",
    "add_scalar_relu",
    "cat",
    "cat_relu",
    "mul",
    "mul_relu",
    "mul_scalar",
    "mul_scalar_relu",
]


def add(
    qa: Tensor, qb: Tensor, scale: float | None = None, zero_point: int | None = None
) -> Tensor:
    r"""Sum of two quantized tensors, on a grid of its own.

    Equation ``eq-quantized-add``, or ``eq-add-fixed-point`` on qnnpack.

    Parameters
    ----------
    qa, qb
        Quantized per tensor, of one dtype; their shapes broadcast. If one is a number,
        this is :func:`add_scalar`.
    scale, zero_point
        Of the result, which has the dtype of the arguments.

    Raises
    ------
    RuntimeError
        An argument is not quantized per tensor, or the dtypes differ.
    ValueError
        The scale is not positive and finite, or the zero point is out of range.

    Examples
    --------
    >>> import pyqref
    >>> a = pyqref.quantize_per_tensor(pyqref.tensor([1.0, 2.0]), 0.5, 0, pyqref.quint8)
    >>> pyqref.ops.quantized.add(a, a, 1.0, 10).int_repr().tolist()
    [12, 14]
    """
    return _add("quantized.add", qa, qb, scale, zero_point, False)


def add_relu(
    qa: Tensor, qb: Tensor, scale: float | None = None, zero_point: int | None = None
) -> Tensor:
    """:func:`add`, with no integer below the zero point of the result.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> a = pyqref.quantize_per_tensor(pyqref.tensor([-1.0, 2.0]), 0.5, 10, pyqref.quint8)
    >>> b = pyqref.quantize_per_tensor(pyqref.tensor([0.5, 1.5]), 0.5, 10, pyqref.quint8)
    >>> ops.add_relu(a, b, 0.25, 10).dequantize().tolist()
    [0.0, 3.5]
    """
    return _add("quantized.add_relu", qa, qb, scale, zero_point, True)


def mul(
    qa: Tensor, qb: Tensor, scale: float | None = None, zero_point: int | None = None
) -> Tensor:
    r"""Product of two quantized tensors, element by element, on a grid of its own.

    Equation ``eq-quantized-mul``. Parameters and errors as of :func:`add`.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> a = pyqref.quantize_per_tensor(pyqref.tensor([-1.0, 2.0]), 0.5, 10, pyqref.quint8)
    >>> b = pyqref.quantize_per_tensor(pyqref.tensor([0.5, 1.5]), 0.5, 10, pyqref.quint8)
    >>> ops.mul(a, b, 0.25, 10).dequantize().tolist()
    [-0.5, 3.0]
    """
    return _mul("quantized.mul", qa, qb, scale, zero_point, False)


def mul_relu(
    qa: Tensor, qb: Tensor, scale: float | None = None, zero_point: int | None = None
) -> Tensor:
    """:func:`mul`, with no integer below the zero point of the result.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> a = pyqref.quantize_per_tensor(pyqref.tensor([-1.0, 2.0]), 0.5, 10, pyqref.quint8)
    >>> b = pyqref.quantize_per_tensor(pyqref.tensor([0.5, 1.5]), 0.5, 10, pyqref.quint8)
    >>> ops.mul_relu(a, b, 0.25, 10).dequantize().tolist()
    [0.0, 3.0]
    """
    return _mul("quantized.mul_relu", qa, qb, scale, zero_point, True)


def add_scalar(qa: Tensor, b: float) -> Tensor:
    r"""Add a number (equation ``eq-add-scalar``): moves the zero point where it can.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> a = pyqref.quantize_per_tensor(pyqref.tensor([-1.0, 2.0]), 0.5, 10, pyqref.quint8)
    >>> ops.add_scalar(a, 3.0).dequantize().tolist()
    [2.0, 5.0]
    """
    return _with_number("quantized.add_scalar", scalar.add_scalar, qa, b, False)


def add_scalar_relu(qa: Tensor, b: float) -> Tensor:
    """:func:`add_scalar`, then ReLU.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> a = pyqref.quantize_per_tensor(pyqref.tensor([-1.0, 2.0]), 0.5, 10, pyqref.quint8)
    >>> ops.add_scalar_relu(a, 3.0).dequantize().tolist()
    [2.0, 5.0]
    """
    return _with_number("quantized.add_scalar_relu", scalar.add_scalar, qa, b, True)


def mul_scalar(qa: Tensor, b: float) -> Tensor:
    r"""Multiply by a number (equation ``eq-mul-scalar``): changes the scale.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> a = pyqref.quantize_per_tensor(pyqref.tensor([-1.0, 2.0]), 0.5, 10, pyqref.quint8)
    >>> ops.mul_scalar(a, 3.0).dequantize().tolist()
    [-3.0, 6.0]
    """
    return _with_number("quantized.mul_scalar", scalar.mul_scalar, qa, b, False)


def mul_scalar_relu(qa: Tensor, b: float) -> Tensor:
    """:func:`mul_scalar`, then ReLU.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> a = pyqref.quantize_per_tensor(pyqref.tensor([-1.0, 2.0]), 0.5, 10, pyqref.quint8)
    >>> ops.mul_scalar_relu(a, 3.0).dequantize().tolist()
    [0.0, 6.0]
    """
    return _with_number("quantized.mul_scalar_relu", scalar.mul_scalar, qa, b, True)


def cat(
    qx: Sequence[Any], dim: int = 0, scale: float | None = None, zero_point: int | None = None
) -> Tensor:
    r"""Quantized tensors one after the other along ``dim``.

    Equation ``eq-quantized-cat``.

    Parameters
    ----------
    qx
        Tensors quantized per tensor, of one dtype.
    dim
        The axis along which their lengths may differ.
    scale, zero_point
        Of the result; those of the first tensor if None.

    Warns
    -----
    UnlikeGridsWarning
        Neither is given, and a tensor lies on another grid than the first.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> a = pyqref.quantize_per_tensor(pyqref.tensor([-1.0, 2.0]), 0.5, 10, pyqref.quint8)
    >>> b = pyqref.quantize_per_tensor(pyqref.tensor([0.5, 1.5]), 0.5, 10, pyqref.quint8)
    >>> ops.cat([a, b], 0, 0.5, 10).dequantize().tolist()
    [-1.0, 2.0, 0.5, 1.5]
    """
    return _cat("quantized.cat", qx, dim, scale, zero_point, False)


def cat_relu(
    qx: Sequence[Any], dim: int = 0, scale: float | None = None, zero_point: int | None = None
) -> Tensor:
    """:func:`cat`, with no integer below the zero point of the result.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> a = pyqref.quantize_per_tensor(pyqref.tensor([-1.0, 2.0]), 0.5, 10, pyqref.quint8)
    >>> b = pyqref.quantize_per_tensor(pyqref.tensor([0.5, 1.5]), 0.5, 10, pyqref.quint8)
    >>> ops.cat_relu([a, b], 0, 0.5, 10).dequantize().tolist()
    [0.0, 2.0, 0.5, 1.5]
    """
    return _cat("quantized.cat_relu", qx, dim, scale, zero_point, True)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def _add(
    name: str, qa: Any, qb: Any, scale: float | None, zero_point: int | None, relu: bool
) -> Any:
    if _is_number(qa):
        qa, qb = qb, qa
    if _is_number(qb):
        return _with_number(name, scalar.add_scalar, qa, qb, relu)
    a, b, out = _quantizers(name, qa, qb, scale, zero_point)
    operands = qa._array, a.grid, qb._array, b.grid, out.grid
    integers = replaced(name, "add", *operands, relu)
    if integers is None:
        engine: Any = settings.engine
        integers = _kernels.add(*operands, engine, relu)
    return make_quantized(integers, out)


def _mul(
    name: str, qa: Any, qb: Any, scale: float | None, zero_point: int | None, relu: bool
) -> Any:
    if _is_number(qa):
        qa, qb = qb, qa
    if _is_number(qb):
        return _with_number(name, scalar.mul_scalar, qa, qb, relu)
    a, b, out = _quantizers(name, qa, qb, scale, zero_point)
    operands = qa._array, a.grid, qb._array, b.grid, out.grid
    integers = replaced(name, "mul", *operands, relu)
    if integers is None:
        integers = _kernels.mul(*operands, relu)
    return make_quantized(integers, out)


def _quantizers(
    name: str, qa: Any, qb: Any, scale: float | None, zero_point: int | None
) -> tuple[PerTensorQuantizer, PerTensorQuantizer, PerTensorQuantizer]:
    """Return the quantizers of the arguments and of the result."""
    a = require_per_tensor(name, qa, None, "qa")
    b = require_per_tensor(name, qb, None, "qb")
    if a.dtype is not b.dtype:
        raise RuntimeError(
            f"{name}: both arguments must have the same dtype, got {qa.dtype} and {qb.dtype}"
        )
    if qa._array.shape != qb._array.shape:
        _require_broadcast(name, qa, qb)
    if scale is None or zero_point is None:
        raise TypeError(
            f"{name}: scale and zero_point of the result must be given, "
            f"got {described(scale)} and {described(zero_point)}"
        )
    return a, b, output_quantizer(name, scale, zero_point, a.dtype)


def _require_broadcast(name: str, qa: Any, qb: Any) -> None:
    try:
        np.broadcast(qa._array, qb._array)
    except ValueError:
        raise RuntimeError(
            f"{name}: the shapes {tuple(qa.shape)} and {tuple(qb.shape)} do not broadcast"
        ) from None


def _with_number(name: str, function: Any, qa: Any, number: Any, relu: bool) -> Any:
    require_per_tensor(name, qa, None, "qa")
    number = require_number(name, "b", number)
    if function is scalar.mul_scalar:
        check_scale(abs(number) * qa.q_scale() or 1.0, f"{name}: the scale of qa times b")
    elif abs(number) / qa.q_scale() >= 2**31:
        raise ValueError(f"{name}: b must be less than 2**31 scales {qa.q_scale()}, got {number}")
    array = qa._array
    if array.dtype.itemsize > 1:
        keeps_engine(name)
        integers, grid = function(array, grid_of(qa), number, relu)
        return tensor_on(integers, grid, qa.dtype)
    # What becomes of each byte; often it stays, and the grid alone moves.
    every = np.arange(256, dtype=np.uint8).view(array.dtype)
    values, grid = function(every, grid_of(qa), number, relu)
    if np.array_equal(values, every):
        return tensor_on(array, grid, qa.dtype)
    keeps_engine(name)
    return tensor_on(_kernels.look_up(values, array), grid, qa.dtype)


def _cat(
    name: str,
    qx: Sequence[Any],
    dim: int,
    scale: float | None,
    zero_point: int | None,
    relu: bool,
) -> Any:
    if not isinstance(qx, list | tuple) or not qx:
        wrong = RuntimeError if isinstance(qx, list | tuple) else TypeError
        raise wrong(f"{name}: qx must be a non-empty list of tensors, got {described(qx)}")
    first = require_per_tensor(name, qx[0], None, "qx", 0)
    grids, dtypes = [first.grid], (first.dtype,)
    for index, each in enumerate(qx[1:], 1):
        grids.append(require_per_tensor(name, each, dtypes, "qx", index).grid)
    if scale is None and zero_point is None:
        warn_of_unlike_grids(name, qx)
    scale = first.scale if scale is None else scale
    zero_point = first.zero_point if zero_point is None else zero_point
    out = output_quantizer(name, scale, zero_point, first.dtype)
    arrays = [each._array for each in qx]
    dim = _joining_axis(name, arrays, dim)
    integers = joined_elsewhere(name, arrays, grids, dim, out.grid)
    if integers is None:
        integers = _kernels.cat(arrays, grids, dim, out.grid)
    if relu:
        np.maximum(integers, integers.dtype.type(out.zero_point), out=integers)
    return make_quantized(integers, out)


def _joining_axis(name: str, arrays: list[np.ndarray], dim: int) -> int:
    """The axis ``dim``, counted from the front; the others must be as long in all arrays."""
    shapes = [each.shape for each in arrays]
    ndim = len(shapes[0])
    if ndim == 0:
        raise RuntimeError(f"{name}: qx must not hold tensors without dimensions, got {shapes}")
    dim = require_axis(name, "dim", dim, ndim)
    if shapes.count(shapes[0]) == len(shapes):
        return dim
    rests = {(*shape[:dim], *shape[dim + 1 :]) for shape in shapes}
    if len(rests) > 1 or any(len(shape) != ndim for shape in shapes):
        raise RuntimeError(f"{name}: sizes must match except in dimension {dim}, got {shapes}")
    return dim
