"""Activations that move from one grid to another, and softmax."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from pyqref import _kernels
from pyqref._kernels.layout import contiguous, laid_as
from pyqref._kernels.parts import MOST, by_parts
from pyqref._typing import Tensor
from pyqref.backends import quantized as settings
from pyqref.numerics import activation
from pyqref.numerics.affine import quantize_per_tensor
from pyqref.numerics.elementwise import Grid
from pyqref.numerics.exponential import exp_below
from pyqref.numerics.float_softmax import PLACES, sum_by_halves, sums_of_places
from pyqref.tensor.arguments import described
from pyqref.tensor.base import TensorBase, wrap
from pyqref.tensor.quantized import PerTensorQuantizer, make_quantized
from pyqref.tensor.quantized.other_arithmetic import function_elsewhere, keeps_engine

from .checks import (
    output_quantizer,
    require_axis,
    require_flag,
    require_number,
    require_per_tensor,
)
from .grid import same_grid

__all__ = [
    "celu",
    "dropout",
    "elu",
    "hardswish",
    "prelu",
    "run_pointwise",
    "sigmoid",
    "softmax",
    "threshold",
]

#: Values of a byte, and bytes that tables of them may take.
_BYTES, _MOST_IN_TABLES = 256, 1 << 17


def run_pointwise(
    x: Tensor,
    function: Callable[..., np.ndarray],
    out: PerTensorQuantizer,
    *parameters: float,
    table: bool = False,
) -> Tensor:
    """A real function on a quantized tensor; of bytes, each of the 256 values only once.

    Equation ``eq-quantized-pointwise``; with ``table``, on qnnpack and for quint8,
    ``eq-quantized-table``.

    Parameters
    ----------
    x
        Quantized per tensor.
    function
        Of :mod:`pyqref.numerics.activation`; takes an array and the ``parameters``.
    out
        Of the result, whose dtype is that of ``x``.
    """
    array, grid = x._array, x._quantizer.grid
    name = f"quantized.{function.__name__}"
    made = function_elsewhere(name, array, grid, out.grid, lambda x: function(x, *parameters))
    if made is not None:
        return make_quantized(made, out)
    qnnpack = table and settings.engine == "qnnpack"
    if array.dtype.itemsize > 1:
        return make_quantized(_values(array, function, parameters, grid, out.grid, qnnpack), out)
    values = _table(function, parameters, grid, out.grid, qnnpack)
    return make_quantized(_kernels.look_up(values, array), out)


@lru_cache(maxsize=256)
def _table(
    function: Callable[..., np.ndarray],
    parameters: tuple[float, ...],
    grid: Grid,
    out: Grid,
    qnnpack: bool,
) -> np.ndarray:
    """The result for each byte, taken as unsigned; kept, since a layer asks for it each time."""
    every = np.arange(_BYTES, dtype=np.uint8).view(grid.storage)
    values = _values(every, function, parameters, grid, out, qnnpack)
    values.flags.writeable = False
    return values


def _values(
    q: np.ndarray,
    function: Callable[..., np.ndarray],
    parameters: tuple[float, ...],
    grid: Grid,
    out: Grid,
    qnnpack: bool,
) -> np.ndarray:
    own_table = qnnpack and np.dtype(out.storage) == np.uint8
    run = activation.pointwise_table if own_table else activation.pointwise
    # What overflows saturates.
    with np.errstate(over="ignore", invalid="ignore"):
        return run(lambda x: function(x, *parameters), q, grid, out)


def _out(name: str, x: Any, scale: Any, zero_point: Any) -> PerTensorQuantizer:
    own = require_per_tensor(name, x, None, "qx")
    return output_quantizer(name, scale, zero_point, own.dtype)


def sigmoid(qx: Tensor, output_scale: float, output_zero_point: int) -> Tensor:
    r"""Logistic function (equation ``eq-logistic``) on a grid of its own.

    Parameters
    ----------
    qx
        Quantized per tensor, of any dtype and shape.
    output_scale, output_zero_point
        Of the result, which has the dtype of ``qx``.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.quantize_per_tensor(pyqref.tensor([-8.0, 0.0, 8.0]), 0.1, 128, pyqref.quint8)
    >>> pyqref.ops.quantized.sigmoid(x, 1 / 256, 0).int_repr().tolist()
    [0, 128, 255]
    """
    out = _out("quantized.sigmoid", qx, output_scale, output_zero_point)
    return run_pointwise(qx, activation.sigmoid, out, table=True)


def hardswish(input: Tensor, output_scale: float, output_zero_point: int) -> Tensor:
    r"""Hardswish (equation ``eq-hardswish``) on a grid of its own; parameters as of sigmoid.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> a = pyqref.quantize_per_tensor(pyqref.tensor([-1.0, 2.0]), 0.5, 10, pyqref.quint8)
    >>> ops.hardswish(a, 0.1, 20).dequantize()
    tensor([-0.3000,  1.7000])
    """
    out = _out("quantized.hardswish", input, output_scale, output_zero_point)
    return run_pointwise(input, activation.hardswish, out, table=True)


def elu(
    self: Tensor,
    output_scale: float,
    output_zero_point: int,
    alpha: float = 1,
    scale: float = 1,
    input_scale: float = 1,
) -> Tensor:
    r"""Exponential linear unit (equation ``eq-elu``) on a grid of its own.

    Parameters
    ----------
    self
        Quantized per tensor, of any dtype and shape.
    output_scale, output_zero_point
        Of the result, which has the dtype of ``self``.
    alpha, scale, input_scale
        Of the formula.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> a = pyqref.quantize_per_tensor(pyqref.tensor([-1.0, 2.0]), 0.5, 10, pyqref.quint8)
    >>> ops.elu(a, 0.1, 20).dequantize()
    tensor([-0.6000,  2.0000])
    """
    out = _out("quantized.elu", self, output_scale, output_zero_point)
    given = (("alpha", alpha), ("scale", scale), ("input_scale", input_scale))
    parameters = [require_number("quantized.elu", name, value) for name, value in given]
    return run_pointwise(self, activation.elu, out, *parameters)


def celu(self: Tensor, output_scale: float, output_zero_point: int, alpha: float = 1) -> Tensor:
    r"""ELU with :math:`\beta = 1 / \alpha` (equation ``eq-elu``), smooth at zero.

    Raises
    ------
    ValueError
        ``alpha`` is zero.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> a = pyqref.quantize_per_tensor(pyqref.tensor([-1.0, 2.0]), 0.5, 10, pyqref.quint8)
    >>> ops.celu(a, 0.1, 20).dequantize()
    tensor([-0.6000,  2.0000])
    """
    out = _out("quantized.celu", self, output_scale, output_zero_point)
    alpha = require_number("quantized.celu", "alpha", alpha)
    if alpha == 0:
        raise ValueError("quantized.celu: alpha must not be 0, got 0")
    return run_pointwise(self, activation.elu, out, alpha, 1.0, 1 / alpha)


def threshold(qx: Tensor, threshold: float, value: float) -> Tensor:
    r"""``value`` for all that is not above ``threshold`` (``eq-threshold``); the grid stays.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> a = pyqref.quantize_per_tensor(pyqref.tensor([-1.0, 2.0]), 0.5, 10, pyqref.quint8)
    >>> ops.threshold(a, 1.0, 0.0).dequantize().tolist()
    [0.0, 2.0]
    """
    own = require_per_tensor("quantized.threshold", qx)
    name = "quantized.threshold"
    low = require_number(name, "threshold", threshold)
    below = require_number(name, "value", value)
    return run_pointwise(qx, activation.threshold, own, low, below)


def prelu(qx: Tensor, weight: Tensor, output_scale: float, output_zero_point: int) -> Tensor:
    r"""ReLU with a quantized slope below zero (equation ``eq-quantized-prelu``).

    Parameters
    ----------
    qx
        Quantized per tensor, any shape.
    weight
        Slopes of the same dtype, quantized per tensor: one, or one for each channel
        (axis 1, or axis 0 of a 1-D tensor).
    output_scale, output_zero_point
        Of the result.

    Notes
    -----
    torch 2.13 multiplies positive elements by 1 as the grid of the weight holds it. With
    ``backends.quantized.conventions = "torch"`` this function does the same.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> a = pyqref.quantize_per_tensor(pyqref.tensor([-1.0, 2.0]), 0.5, 10, pyqref.quint8)
    >>> slope = pyqref.quantize_per_tensor(pyqref.tensor([0.25]), 0.01, 0, pyqref.quint8)
    >>> ops.prelu(a, slope, 0.25, 10).dequantize().tolist()
    [-0.25, 2.0]
    """
    name = "quantized.prelu"
    keeps_engine(name)
    out = _out(name, qx, output_scale, output_zero_point)
    grid = require_per_tensor(name, weight, (qx.dtype,), "weight").grid
    channels = qx.shape[1] if qx.dim() > 1 else qx.numel()
    if weight.dim() > 1 or weight.numel() not in (1, channels):
        raise RuntimeError(
            f"{name}: weight must have 1 element, or one for each of the {channels} channels, "
            f"got shape {tuple(weight.shape)}"
        )
    slopes = weight._array.reshape((-1,) + (1,) * max(qx.dim() - 2, 0))
    slopes = slopes if qx.dim() else slopes.reshape(())
    conventions: Any = settings.conventions

    def run(q: np.ndarray, slope: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore", invalid="ignore"):
            return activation.prelu(q, qx._quantizer.grid, slope, grid, out.grid, conventions)

    if qx._array.dtype.itemsize == 1 and _BYTES * slopes.size <= min(qx.numel(), _MOST_IN_TABLES):
        return make_quantized(_of_bytes(run, qx._array, slopes), out)
    return make_quantized(by_parts(run, qx._array, slopes), out)


def _of_bytes(
    function: Callable[[np.ndarray, np.ndarray], np.ndarray], q: np.ndarray, slopes: np.ndarray
) -> np.ndarray:
    """``function(q, slopes)``, computed once for each slope and byte, taken as unsigned."""
    every = np.arange(_BYTES, dtype=np.uint8).view(q.dtype)
    tables = function(every, slopes.reshape(-1, 1))
    if slopes.size == 1:
        return _kernels.look_up(tables[0], q)
    first = _BYTES * np.arange(slopes.size).reshape(slopes.shape)
    return by_parts(lambda part, at: tables.take(part.view(np.uint8) + at), q, first)


def softmax(qx: Tensor, dim: int, output_scale: float, output_zero_point: int) -> Tensor:
    r"""Softmax along ``dim`` (equation ``eq-float-softmax``) on a grid of its own.

    Parameters
    ----------
    qx
        Quantized per tensor, of any dtype, at least one dimension.
    dim
        The axis along which the results sum to about one.
    output_scale, output_zero_point
        Of the result.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> a = pyqref.quantize_per_tensor(pyqref.tensor([-1.0, 2.0]), 0.5, 10, pyqref.quint8)
    >>> ops.softmax(a, 0, 1 / 256, 0).int_repr().tolist()
    [12, 244]
    """
    name = "quantized.softmax"
    keeps_engine(name)
    out = _out(name, qx, output_scale, output_zero_point)
    dim = require_axis(name, "dim", dim, qx.dim())

    if not qx.dim():
        return make_quantized(quantize_per_tensor(np.ones((), np.float32), *out.grid), out)

    axes = range(qx.dim())
    order = (*axes[:dim], *axes[dim + 1 :], dim)
    back = (*axes[:dim], axes[-1], *axes[dim:-1])

    def real(q: np.ndarray) -> np.ndarray:
        return _kernels.dequantize_per_tensor(q, qx.q_scale(), qx.q_zero_point())

    def run(q: np.ndarray) -> np.ndarray:
        rows = contiguous(q.transpose(order))  # bytes are moved in less time than floats
        y: Any = _kernels.softmax(real(rows), -1)
        return laid_as(q, _kernels.quantize_per_tensor(y, *out.grid).transpose(back))

    if qx._array.shape[dim] > _LONG:
        return make_quantized(_long_softmax(real, qx._array, dim, out.grid), out)
    return make_quantized(by_parts(run, qx._array, whole=(dim,), most=_LONG), out)


#: Elements whose real numbers are held at a time.
_LONG = 1 << 16


def _long_softmax(
    real: Callable[[np.ndarray], np.ndarray], q: np.ndarray, axis: int, grid: Grid
) -> np.ndarray:
    """Softmax along an axis that is too long to be real numbers as a whole.

    The exponentials are added up as in ``eq-sum-of-places``.
    """
    result = np.empty_like(q)
    lines, results = np.moveaxis(q, axis, -1), np.moveaxis(result, axis, -1)
    for place in np.ndindex(lines.shape[:-1]):
        _softmax_of_line(real, lines[place], results[place], grid)
    return result


def _softmax_of_line(
    real: Callable[[np.ndarray], np.ndarray], q: np.ndarray, result: np.ndarray, grid: Grid
) -> None:
    largest = real(q.max(keepdims=True))  # the scale is positive

    def powers(first: int) -> np.ndarray:
        return exp_below(real(q[first : first + MOST]) - largest)

    places = np.zeros((1, PLACES), np.float32)
    for first in range(0, q.size, MOST):
        places = sums_of_places(powers(first)[np.newaxis], places)
    inverse = np.float32(1) / sum_by_halves(places)[0]
    for first in range(0, q.size, MOST):
        y = powers(first) * inverse
        result[first : first + MOST] = _kernels.quantize_per_tensor(y, *grid)


def dropout(
    self: Tensor,
    output_scale: float,
    output_zero_point: int,
    p: float = 0.5,
    training: bool = False,
) -> Tensor:
    """A copy: dropout has no effect when a quantized model runs.

    Scale and zero point stay as they are; as in torch the output parameters have no
    effect, and neither has ``training``.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> a = pyqref.quantize_per_tensor(pyqref.tensor([-1.0, 2.0]), 0.5, 10, pyqref.quint8)
    >>> ops.dropout(a, 0.5, 10).dequantize()
    tensor([-1.,  2.])
    """
    if not isinstance(self, TensorBase):
        raise TypeError(f"quantized.dropout: self must be a tensor, got {described(self)}")
    p = require_number("quantized.dropout", "p", p)
    if not 0 <= p <= 1:
        raise ValueError(f"quantized.dropout: p must be in [0, 1], got {p}")
    require_flag("quantized.dropout", "training", training)
    copied = self._array.copy()
    return same_grid(copied, self) if self.is_quantized else wrap(copied)
