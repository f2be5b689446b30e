"""Activations by the kernel in use. What is no float32 gives None: that is left to NumPy."""

from __future__ import annotations

from math import prod

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import contiguous, dense, empty, laid_as
from pyqref.numerics import float_activation as reference
from pyqref.numerics.types import FloatArray

from ..._typing import Array

__all__ = ["activation", "activation_gradient", "glu", "glu_gradient", "prelu"]

_FLOAT32 = np.dtype(np.float32)
_VALUES = (
    "exp",
    "log",
    "erf",
    "rsqrt",
    "sigmoid",
    "tanh",
    "gelu",
    "gelu_tanh",
    "silu",
    "mish",
    "softplus",
    "elu",
    "leaky_relu",
    "hardswish",
    "hardsigmoid",
    "hardtanh",
)
_GRADIENTS = tuple(name for name in _VALUES if name not in ("exp", "rsqrt"))
# In the order of pointwise.h.
_VALUE = {name: number for number, name in enumerate(_VALUES)}
_GLU = len(_VALUES)
_GRADIENT = {name: number for number, name in enumerate(_GRADIENTS, _GLU + 1)}
_GATE_GRADIENT = _GLU + 1 + len(_GRADIENTS)


def activation(
    name: str, x: FloatArray, first: float = 0, second: float = 0, third: float = 0
) -> FloatArray | None:
    """Fast :func:`pyqref.numerics.float_activation.activation`; None where ``x`` is no float32.

    Equation ``eq-float-activation``. In memory the result lies as ``x`` does.

    Examples
    --------
    >>> activation("silu", np.zeros(1))
    """
    kernel = registry.twin("activations")
    if kernel is None:
        if x.dtype != _FLOAT32:
            return None
        return reference.activation(name, np.asarray(x), first, second, third)
    number = _VALUE[name]
    result: FloatArray | None = kernel.pointwise(
        number, x, None, first, second, third, None, threads.limit
    )
    if result is None and x.dtype == _FLOAT32:
        x = dense(np.asarray(x))
        result = kernel.pointwise(number, x, None, first, second, third, None, threads.limit)
    return result


def activation_gradient(
    name: str,
    gradient: FloatArray,
    kept: Array,
    first: float = 0,
    second: float = 0,
    third: float = 0,
) -> FloatArray | None:
    """Fast form of :func:`pyqref.numerics.float_activation.activation_gradient`.

    Equation ``eq-float-activation-gradient``. None where an array is no float32, or the function
    one whose gradient is as quick in NumPy.

    Examples
    --------
    >>> activation_gradient("silu", np.ones(1), np.zeros(1))
    """
    number = _GRADIENT.get(name)
    if number is None:
        return None
    kernel = registry.twin("activations")
    if kernel is not None:
        result: FloatArray | None = kernel.pointwise(
            number, gradient, kept, first, second, third, None, threads.limit
        )
        if result is not None:
            return result
    if gradient.dtype != _FLOAT32 or kept.dtype != _FLOAT32:
        return None
    if kernel is None:
        return reference.activation_gradient(
            name, np.asarray(gradient), np.asarray(kept), first, second, third
        )
    kept = dense(np.asarray(kept))
    gradient = laid_as(kept, np.asarray(gradient))
    return np.asarray(
        kernel.pointwise(number, dense(gradient), kept, first, second, third, None, threads.limit)
    )


def _halves(x: FloatArray, axis: int) -> tuple[FloatArray, FloatArray]:
    """Rows ``(outer, inner)`` of the first and of the second half along an axis."""
    outer = prod(x.shape[:axis])
    rows = x.reshape(outer, -1)
    inner = rows.shape[1] // 2
    return rows[:, :inner], rows[:, inner:]


def glu(x: FloatArray, axis: int) -> FloatArray | None:
    """The first half along an axis times the sigmoid of the second (``eq-glu``).

    None where ``x`` is no float32.

    Examples
    --------
    >>> glu(np.float32([3.0, 4.0, 0.0, 1000.0]), 0)
    array([1.5, 4. ], dtype=float32)
    """
    if x.dtype != _FLOAT32:
        return None
    kernel = registry.twin("activations")
    axis = range(x.ndim)[axis]
    if kernel is None or x.size == 0:
        return reference.glu(*np.split(x, 2, axis=axis))
    x = contiguous(x)
    shape = (*x.shape[:axis], x.shape[axis] // 2, *x.shape[axis + 1 :])
    out = empty(shape, _FLOAT32)
    a, gate = _halves(x, axis)
    kernel.pointwise_rows(_GLU, a, gate, None, out.reshape(a.shape), None, threads.limit)
    return out


def glu_gradient(gradient: FloatArray, x: FloatArray, axis: int) -> FloatArray | None:
    """The gradient of the argument of :func:`glu` (``eq-glu-gradients``).

    Examples
    --------
    >>> glu_gradient(np.float32([1.0]), np.float32([2.0, 0.0]), 0)
    array([0.5, 0.5], dtype=float32)
    """
    if x.dtype != _FLOAT32 or gradient.dtype != _FLOAT32:
        return None
    kernel = registry.twin("activations")
    axis = range(x.ndim)[axis]
    if kernel is None or x.size == 0:
        halves = np.split(x, 2, axis=axis)
        return np.concatenate(reference.glu_gradients(gradient, *halves), axis)
    x = contiguous(x)
    out = empty(x.shape, _FLOAT32)
    a, gate = _halves(x, axis)
    of_a, of_gate = _halves(out, axis)
    rows = contiguous(gradient).reshape(a.shape)
    kernel.pointwise_rows(_GLU, rows, gate, None, of_a, None, threads.limit)
    kernel.pointwise_rows(_GATE_GRADIENT, rows, a, gate, of_gate, None, threads.limit)
    return out


def prelu(
    x: FloatArray, slopes: FloatArray, gradient: FloatArray | None = None
) -> FloatArray | None:
    """``eq-leaky-relu`` with a slope for each channel, or where ``gradient`` is given its gradient.

    None where a number is no float32, or channels are so small that NumPy is as fast.

    Parameters
    ----------
    x
        ``(N, C, *size)``.
    slopes
        ``(C,)``, or ``(1,)``.

    Examples
    --------
    >>> prelu(np.float32([[-4.0]]), np.float32([0.25]))
    array([[-1.]], dtype=float32)
    """
    if slopes.size == 1 and slopes.dtype == _FLOAT32:
        slope = float(slopes.reshape(-1)[0])
        if gradient is None:
            return activation("leaky_relu", x, slope)
        return activation_gradient("leaky_relu", gradient, x, slope)
    kernel = registry.twin("activations")
    arrays = [x, slopes] if gradient is None else [x, slopes, gradient]
    if kernel is None or any(each.dtype != _FLOAT32 for each in arrays) or x.ndim < 3:
        return None
    rows = (x.shape[0] * x.shape[1], prod(x.shape[2:]))
    if rows[1] < _FEW or rows[0] == 0:
        return None
    x, out = contiguous(x), empty(x.shape, _FLOAT32)
    slopes = contiguous(slopes)
    if gradient is None:
        number, a, b = _VALUE["leaky_relu"], x.reshape(rows), None
    else:
        number, a, b = _GRADIENT["leaky_relu"], contiguous(gradient).reshape(rows), x.reshape(rows)
    kernel.pointwise_rows(number, a, b, None, out.reshape(rows), slopes, threads.limit)
    return out


#: Numbers of a channel for which a row of its own is worth while.
_FEW = 16
