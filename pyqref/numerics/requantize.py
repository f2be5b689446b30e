"""Requantization: from an exact integer accumulator to the output's integers.

A quantized matrix product or convolution sums ``(x - x_zp) * (w - w_zp)`` exactly.
One unit of that sum is worth ``A = input_scale * weight_scale``; the output's unit
is ``output_scale``. The engines differ in how they get from one to the other: in
how the multiplier is formed, and in whether the bias stays real or is rounded to
an integer first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from .._typing import Array, Number, NumberOrArray
from .rounding import clamp_to_int, fma32, round_half_even
from .types import Engine, FloatArray, IntArray

__all__ = [
    "Requantization",
    "accumulator_scale",
    "bias_as_integer",
    "columns_of",
    "multiplier_fbgemm",
    "multiplier_qnnpack",
    "requantization",
    "requantize",
    "scaled_accumulator",
]

BiasMode = Literal["none", "add", "fma", "integer"]


@dataclass(frozen=True)
class Requantization:
    """Parameters that make output integers of accumulators: plain numbers, ready for a kernel.

    With ``acc`` the accumulator of output channel ``n`` and every array of length 1
    broadcast over the channels, the output is::

        none     v = float32(acc)
        add      v = float32(acc) + bias[n]                      (bias float32)
        fma      v = fma32(bias[n], bias_multiplier, float32(acc))   (bias float32)
        integer  v = float32(acc + bias[n])                      (bias int32)

        q = clamp(rint(v * multiplier[n]) + output_zero_point, lower, upper)

    Attributes
    ----------
    multiplier
        float32, ``(1,)`` or ``(N,)``.
    bias_mode
        Which of the four lines above.
    bias
        None, or ``(N,)``, float32 or int32 as the mode says.
    bias_multiplier
        float32; used by mode ``fma`` only, else 1.
    output_zero_point
        Integer, added after rounding.
    lower, upper
        Clamp of the result, ends included. A fused ReLU has already raised
        ``lower`` to ``output_zero_point``.
    storage
        NumPy integer type of the output.

    Examples
    --------
    >>> requantization('fbgemm', 0.5, 0.25, 1.0, 3).multiplier
    array([0.125], dtype=float32)
    """

    multiplier: FloatArray
    bias_mode: BiasMode
    bias: np.ndarray | None
    bias_multiplier: np.float32
    output_zero_point: int
    lower: int
    upper: int
    storage: np.dtype[Any]


def columns_of(requant: Requantization, columns: slice) -> Requantization:
    """Return the parameters of some output channels.

    Examples
    --------
    >>> both = requantization("fbgemm", 0.5, [0.25, 0.5], 1.0, 3)
    >>> columns_of(both, slice(1, 2)).multiplier
    array([0.25], dtype=float32)
    """
    bias, multiplier = requant.bias, requant.multiplier
    return replace(
        requant,
        multiplier=multiplier[columns] if multiplier.size > 1 else multiplier,
        bias=None if bias is None else bias[columns],
    )


def accumulator_scale(input_scale: float, weight_scales: Number | Sequence[float] | Array) -> Any:
    r"""The real value of one unit of the accumulator.

    Equation ``eq-accumulator-scale``:

    .. math:: A_n = \mathrm{fl}_{32}\big(\mathrm{fl}_{32}(s_x)\,\mathrm{fl}_{32}(s_{w,n})\big)

    Examples
    --------
    >>> accumulator_scale(0.5, [0.25, 0.125]).tolist()
    [0.125, 0.0625]
    """
    return np.float32(input_scale) * np.asarray(weight_scales).astype(np.float32)


def multiplier_fbgemm(scale: Number | Array, output_scale: NumberOrArray) -> Any:
    r"""Units of the output in one unit of the accumulator, by division.

    Equation ``eq-multiplier-fbgemm``:

    .. math:: M_n = \mathrm{fl}_{32}(A_n / \mathrm{fl}_{32}(s_y))

    Examples
    --------
    >>> unit = np.float32(0.2)  # two roundings by qnnpack, one by fbgemm
    >>> float(multiplier_fbgemm(unit, 0.3)), float(multiplier_qnnpack(unit, 0.3))
    (0.6666666269302368, 0.6666666865348816)
    """
    return scale / np.float32(output_scale)


def multiplier_qnnpack(scale: NumberOrArray, output_scale: NumberOrArray) -> Any:
    r"""Units of the output in one unit of the accumulator, by a reciprocal.

    Equation ``eq-multiplier-qnnpack``:

    .. math:: M_n = \mathrm{fl}_{32}(A_n \cdot \iota(s_y))

    Examples
    --------
    >>> float(multiplier_qnnpack(np.float32(0.125), 0.5))
    0.25
    """
    return scale * (np.float32(1) / np.float32(output_scale))


def bias_as_integer(
    bias: ArrayLike,
    input_scale: float,
    weight_scales: NumberOrArray | Sequence[float],
) -> IntArray:
    r"""The bias in units of the accumulator, as qnnpack stores it.

    Equation ``eq-bias-integer``:

    .. math:: b^{int}_n = \mathrm{sat}_{32}\Big(\mathrm{rne}\big(
              b_n \cdot \iota(\mathrm{fl}_{64}(s_x\, s_{w,n}))\big)\Big)

    The product of the scales is taken in double and rounded once to float32.

    Notes
    -----
    Error bound ``eq-engine-difference``: half a unit of the accumulator, and roundings,
    between this and a bias that stays real.

    Examples
    --------
    >>> bias_as_integer([1.0, 1e12], 0.5, [0.25]).tolist()
    [8, 2147483647]
    """
    unit = np.float64(input_scale) * np.asarray(weight_scales, dtype=np.float64)
    scaled = np.asarray(bias, np.float32) * (np.float32(1) / unit.astype(np.float32))
    return clamp_to_int(round_half_even(scaled), -(2**31), 2**31 - 1, np.int32)


def requantization(
    engine: Engine,
    input_scale: float,
    weight_scales: NumberOrArray,
    output_scale: float,
    output_zero_point: int,
    bias: ArrayLike | None = None,
    quant_min: int = 0,
    quant_max: int = 255,
    relu: bool = False,
    storage: type[Any] = np.uint8,
) -> Requantization:
    """Prepare the requantization of one layer, as ``engine`` does it.

    Parameters
    ----------
    engine
        ``"qnnpack"``, or one of ``"fbgemm"``, ``"x86"``, ``"onednn"``, which agree.
    input_scale
        Positive.
    weight_scales
        A scalar for a per-tensor weight, ``(N,)`` for a per-channel one. The
        difference matters: fbgemm adds the bias in another way.
    output_scale, output_zero_point
        Parameters of the output; the zero point in [quant_min, quant_max].
    bias
        None or ``(N,)`` float32.
    quant_min, quant_max
        Range of the output integers.
    relu
        Clamp below at the zero point.
    storage
        NumPy integer type of the output.

    Examples
    --------
    >>> requant = requantization("fbgemm", 0.5, 0.25, 1.0, 10, bias=[3.0])
    >>> requantize(np.array([[0], [8]]), requant).tolist()
    [[13], [14]]
    """
    mode: BiasMode = "none"
    term: np.ndarray | None = None
    bias_multiplier = np.float32(1)
    # Extreme scales give infinite multipliers, and results at the ends of the range.
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        scale = accumulator_scale(input_scale, weight_scales)
        if engine == "qnnpack":
            multiplier = multiplier_qnnpack(scale, output_scale)
            if bias is not None:
                mode, term = "integer", bias_as_integer(bias, input_scale, weight_scales)
        else:
            multiplier = multiplier_fbgemm(scale, output_scale)
            if bias is not None and np.ndim(weight_scales) == 0:
                mode, term = "fma", np.asarray(bias, np.float32)
                bias_multiplier = np.float32(1) / np.float32(scale)
            elif bias is not None:
                mode, term = "add", np.asarray(bias, np.float32) / scale
    return Requantization(
        multiplier=np.atleast_1d(multiplier),
        bias_mode=mode,
        bias=term,
        bias_multiplier=bias_multiplier,
        output_zero_point=int(output_zero_point),
        lower=max(quant_min, int(output_zero_point)) if relu else quant_min,
        upper=quant_max,
        storage=np.dtype(storage),
    )


def scaled_accumulator(accumulator: IntArray, requant: Requantization) -> FloatArray:
    r"""The accumulator with its bias, in units of the output, not yet rounded.

    Equation ``eq-requantize-bias``:

    .. math::
        v_n = M_n \cdot \begin{cases}
            \mathrm{fl}_{32}(a_n) & \text{no bias} \\
            \mathrm{fl}_{32}(a_n) + b_n / A_n & \text{fbgemm, weight per channel} \\
            \mathrm{fma}(b_n,\, 1 / A,\, a_n) & \text{fbgemm, weight per tensor} \\
            \mathrm{fl}_{32}(a_n + b^{int}_n) & \text{qnnpack}
        \end{cases}

    ``accumulator`` has the channels last: ``(..., N)``.

    Examples
    --------
    >>> requant = requantization("fbgemm", 0.5, 0.25, 1.0, 10, bias=[3.0])
    >>> scaled_accumulator(np.array([[0], [8]]), requant).tolist()
    [[3.0], [4.0]]
    """
    value: FloatArray
    if requant.bias is None:
        value = accumulator.astype(np.float32)
    elif requant.bias_mode == "integer":
        value = (accumulator + requant.bias.astype(np.int64)).astype(np.float32)
    elif requant.bias_mode == "fma":
        value = fma32(requant.bias, requant.bias_multiplier, accumulator)
    else:
        value = accumulator.astype(np.float32) + requant.bias
    with np.errstate(over="ignore", invalid="ignore"):
        return value * requant.multiplier


def requantize(accumulator: IntArray, requant: Requantization) -> IntArray:
    r"""Output integers of exact accumulators.

    Equation ``eq-requantize``:

    .. math:: q_n = \min\big(\max(\mathrm{rne}(v_n) + z_y,\; lower),\; upper\big)

    Parameters
    ----------
    accumulator
        Integers ``(..., N)``, output channels last.
    requant
        From :func:`requantization`.

    Notes
    -----
    Error bound ``eq-requantize-error``: half a step, eight roundings of the sum and twelve
    of the bias; with qnnpack half a unit of the accumulator more.

    Examples
    --------
    >>> requant = requantization("fbgemm", 0.5, 0.25, 1.0, 10)
    >>> requantize(np.array([[-100, 4, 12, 20]]), requant)
    array([[ 0, 10, 12, 12]], dtype=uint8)
    """
    rounded = round_half_even(scaled_accumulator(accumulator, requant)).astype(np.float64)
    shifted = rounded + requant.output_zero_point
    return clamp_to_int(shifted, requant.lower, requant.upper, requant.storage)
