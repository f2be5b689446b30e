"""A function of the real result of a layer, computed before its one rounding."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._typing import Array, NumberOrArray
from .affine import quantize_per_tensor
from .dynamic import dequantize_accumulator
from .types import FloatArray, IntArray

__all__ = ["leaky", "plus", "requantize_function"]


def requantize_function(
    accumulator: IntArray,
    input_scale: float,
    weight_scales: NumberOrArray,
    bias: Array | None,
    function: Callable[[FloatArray], FloatArray],
    output_scale: float,
    output_zero_point: int,
) -> IntArray:
    r"""Output integers of a function of exact accumulators.

    Equation ``eq-requantize-function``:

    .. math:: q_n = \mathrm{quantize}\big(g(\mathrm{fl}_{32}(a_n A_n) + b_n);\; s_y, z_y\big)

    with :math:`A_n` of ``eq-accumulator-scale`` and the quantization of
    ``eq-affine-quantize``: between accumulator and output there is no other grid.

    Parameters
    ----------
    accumulator
        Integers ``(..., N)``, output channels last.
    input_scale, weight_scales
        Of the input, and of the rows of the weight; their product is
        ``eq-accumulator-scale``.
    bias
        None or ``(N,)`` float32.
    function
        g, on float32 arrays, such as ``numpy.tanh`` or :func:`leaky`.
    output_scale, output_zero_point
        Parameters of the output, uint8.

    Examples
    --------
    >>> requantize_function(np.array([[-8, 3]]), 1.0, 0.5, None, leaky(0.5), 1.0, 10)
    array([[ 8, 12]], dtype=uint8)
    """
    # The engine that has these operations multiplies and adds in two steps.
    real = dequantize_accumulator(accumulator, input_scale, weight_scales, bias, "qnnpack")
    value = function(real).astype(np.float32)
    return quantize_per_tensor(value, output_scale, output_zero_point, 0, 255, np.uint8)


def leaky(negative_slope: float) -> Callable[[FloatArray], FloatArray]:
    """The function ``x`` where ``x > 0``, else ``negative_slope * x``.

    Examples
    --------
    >>> leaky(0.1)(np.float32([-10.0, 10.0])).tolist()
    [-1.0, 10.0]
    """
    slope = np.float32(negative_slope)
    if 0 < slope <= 1:  # the same, without choosing element by element
        return lambda x: np.maximum(x, x * slope)

    def choose(x: FloatArray) -> FloatArray:
        with np.errstate(over="ignore", invalid="ignore"):
            return np.where(x > 0, x, x * slope)

    return choose


def plus(other: FloatArray, relu: bool) -> Callable[[FloatArray], FloatArray]:
    """The function ``x + other``, not below 0 with ``relu``.

    Examples
    --------
    >>> plus(np.float32([1.0, 1.0]), relu=True)(np.float32([-5.0, 5.0])).tolist()
    [0.0, 6.0]
    """

    def add(x: FloatArray) -> FloatArray:
        with np.errstate(over="ignore", invalid="ignore"):
            total = x + other
        return np.maximum(total, np.float32(0)) if relu else total

    return add
