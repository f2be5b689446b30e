"""Dynamic quantization: the input's parameters are chosen when the layer runs.

Weights are integers beforehand; the output stays real, so nothing is requantized.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from .._typing import Array, NumberOrArray
from .affine import dequantize_per_tensor, quantize_per_tensor
from .convolution import quantized_conv
from .dynamic_qparams import choose_qparams_dynamic
from .linear import linear_accumulator
from .qparams import reduce_range as take_one_bit_off
from .requantize import accumulator_scale, requantization
from .rounding import fma32
from .types import Engine, FloatArray, IntArray

__all__ = [
    "conv_dynamic",
    "dequantize_accumulator",
    "linear_dynamic",
    "quantize_input",
    "weight_to_float16",
]


def quantize_input(
    x: Array, engine: Engine = "fbgemm", reduce_range: bool = True
) -> tuple[IntArray, float, int]:
    r"""Quantize a whole input with parameters chosen from its own range.

    Equation ``eq-dynamic-input``:

    .. math:: (s, z) = \text{choose-qparams-dynamic}(\min x, \max x), \qquad
              q = \mathrm{quantize}(x, s, z)

    over 7 bits with ``reduce_range``, except by qnnpack, which ignores it. The integers
    are clamped to all 8 bits. An empty input gives scale 0.1 and zero point 0.

    Parameters
    ----------
    x
        float32 of any shape.
    engine
        ``"fbgemm"`` or ``"qnnpack"``.
    reduce_range
        Use 7 bits only.

    Returns
    -------
    The integers (uint8), the scale (a double) and the zero point.

    Examples
    --------
    >>> quantize_input(np.float32([-27.0, 100.0]))
    (array([  0, 127], dtype=uint8), 1.0, 27)
    >>> quantize_input(np.float32([-27.0, 100.0]), "qnnpack")[0]
    array([  0, 255], dtype=uint8)
    """
    x = np.asarray(x, np.float32)
    low, high = (x.min(), x.max()) if x.size else (0.0, 0.0)
    limits = take_one_bit_off(0, 255) if reduce_range and engine != "qnnpack" else (0, 255)
    scale, zero_point = choose_qparams_dynamic(low, high, *limits)
    q = quantize_per_tensor(x, float(scale), int(zero_point), 0, 255, np.uint8)
    return q, float(scale), int(zero_point)


def dequantize_accumulator(
    accumulator: IntArray,
    input_scale: float,
    weight_scales: NumberOrArray,
    bias: Array | None,
    engine: Engine = "fbgemm",
) -> FloatArray:
    r"""Real numbers of exact accumulators, with the bias added.

    Equation ``eq-dynamic-output``:

    .. math:: y_{fbgemm} = \mathrm{fma}(a,\, s_x s_w,\, b), \qquad
              y_{qnnpack} = \mathrm{fl}_{32}(\mathrm{fl}_{32}(a \cdot s_x s_w) + b)

    Examples
    --------
    >>> dequantize_accumulator(np.array([[200]]), 0.5, 0.25, np.float32([1.0])).tolist()
    [[26.0]]
    """
    scale = accumulator_scale(input_scale, weight_scales)
    value = np.asarray(accumulator).astype(np.float32)
    if bias is not None and engine != "qnnpack":
        return fma32(value, scale, bias)
    with np.errstate(over="ignore", invalid="ignore"):
        return value * scale if bias is None else value * scale + np.asarray(bias, np.float32)


def linear_dynamic(
    x: Array,
    weight: IntArray,
    weight_scales: NumberOrArray,
    weight_zero_points: int | Array,
    bias: Array | None = None,
    relu: bool = False,
    engine: Engine = "fbgemm",
    reduce_range: bool = True,
) -> FloatArray:
    r"""Linear layer with real input and output and integer weights.

    Equation ``eq-linear-dynamic``:

    .. math:: y = \mathrm{dequantize\_accumulator}\Big(
              \sum_k (q_{mk} - z_x)(w_{nk} - z_{w,n})\Big)

    of ``eq-dynamic-input``, ``eq-linear-accumulator`` and ``eq-dynamic-output``.

    Parameters
    ----------
    x
        float32 ``(..., K)``; its parameters are chosen over the whole array.
    weight
        Integers ``(N, K)``.
    weight_scales, weight_zero_points
        Scalars, or ``(N,)``.
    bias
        None or ``(N,)`` float32.
    relu
        Replace negative results by zero.

    Returns
    -------
    float32 ``(..., N)``.

    Notes
    -----
    Error bound ``eq-dynamic-error``: half a step of each input times its weight, and half a
    step of each weight times its input.

    Examples
    --------
    >>> linear_dynamic(np.float32([[0.0, 127.0]]), np.int8([[1, 2]]), 0.5, 0, np.float32([1.0]))
    array([[128.]], dtype=float32)
    """
    q, scale, zero_point = quantize_input(x, engine, reduce_range)
    accumulator = linear_accumulator(q, zero_point, weight, weight_zero_points)
    y = dequantize_accumulator(accumulator, scale, weight_scales, bias, engine)
    return np.maximum(y, np.float32(0)) if relu else y


def conv_dynamic(
    x: Array,
    weight: IntArray,
    weight_scales: NumberOrArray,
    weight_zero_points: int,
    bias: ArrayLike | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
    engine: Engine = "fbgemm",
    reduce_range: bool = True,
) -> FloatArray:
    r"""Convolution with real input and output and integer weights.

    Equation ``eq-conv-dynamic``:

    .. math:: (q, s, z) = \text{dynamic-input}(x), \qquad
              y = \mathrm{dequantize}\big(\mathrm{conv}(q;\; s_y = s,\, z_y = z);\; s, z\big)

    with ``eq-dynamic-input`` and a static convolution (``eq-conv-accumulator``,
    ``eq-requantize``) whose output lies on the grid of the input, as in torch 2.13:
    results beyond that grid saturate.

    Parameters
    ----------
    x
        float32 ``(B, C, *in)``.
    weight, weight_zero_points, stride, padding, dilation, groups
        As in :func:`pyqref.numerics.convolution.quantized_conv`.
    weight_scales, bias
        As in :func:`pyqref.numerics.requantize.requantization`.
    engine, reduce_range
        As in :func:`quantize_input`.

    Returns
    -------
    float32 ``(B, N, *out)``.

    Examples
    --------
    >>> x, weight = np.float32([[[0.0, 1.0]]]), np.int8([[[100]]])
    >>> conv_dynamic(x, weight, 0.04, 0, None, [1], [0], [1], 1, reduce_range=False).tolist()
    [[[0.0, 1.0]]]
    """
    q, scale, zero_point = quantize_input(x, engine, reduce_range)
    requant = requantization(engine, scale, weight_scales, scale, zero_point, bias)
    y = quantized_conv(
        q, zero_point, weight, weight_zero_points, requant, stride, padding, dilation, groups
    )
    return dequantize_per_tensor(y, scale, zero_point)


def weight_to_float16(weight: Sequence[float] | Array) -> FloatArray:
    r"""Weights rounded to half precision, saturating, back in float32.

    Equation ``eq-float16-weight``:

    .. math:: w' = \mathrm{fl}_{16}\big(\min(\max(w, -65504), 65504)\big)

    Examples
    --------
    >>> weight_to_float16([0.1, 1e6]).tolist()
    [0.0999755859375, 65504.0]
    """
    clipped = np.clip(np.asarray(weight, np.float32), -65504, 65504)
    return clipped.astype(np.float16).astype(np.float32)
