"""Fake quantization: to the integer grid and straight back, so that training sees the error.

Two conventions. ``"documented"`` is the formula of the documentation, with the
zero point added *before* rounding: exactly ``dequantize(quantize(x))``.
``"torch"`` is what torch 2.13 computes, with the zero point added *after* rounding.
They differ only at ties, and only when the zero point is odd.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._typing import Array
from .affine import along_axis, reciprocal32
from .rounding import fma32, round_half_even
from .types import BoolArray, Convention, FloatArray

__all__ = [
    "fake_quantize_grid",
    "fake_quantize_per_channel",
    "fake_quantize_per_tensor",
    "straight_through",
]


def fake_quantize_grid(
    shifted: FloatArray,
    scale: Any,
    zero_point: Any,
    quant_min: int,
    quant_max: int,
) -> tuple[FloatArray, BoolArray]:
    r"""Clamp grid positions, map them back to real numbers, and tell which were inside.

    Equation ``eq-fake-quantize-mask``:

    .. math:: m = [\,q_{min} \le v \le q_{max}\,], \qquad
              y = (\mathrm{sat}(v) - z) \cdot s

    where :math:`v` is the rounded and shifted number, not yet clamped. ``y`` is worked
    out in double and is left there: the caller rounds it once. nan has mask False
    and gives ``quant_min``, as in torch.

    Examples
    --------
    >>> fake_quantize_grid(np.float32([-1.0, 3.0, 256.0]), 0.5, 2, 0, 255)
    (array([ -1. ,   0.5, 126.5]), array([False,  True, False]))
    """
    with np.errstate(invalid="ignore"):
        mask = (shifted >= quant_min) & (shifted <= quant_max)
        clamped = np.clip(shifted.astype(np.float64), quant_min, quant_max)
    clamped = np.where(np.isnan(clamped), quant_min, clamped)
    clamped = clamped + 0.0  # an integer has no negative zero
    return (clamped - zero_point) * np.asarray(scale, dtype=np.float64), mask


def fake_quantize_per_tensor(
    x: Array,
    scale: float,
    zero_point: int,
    quant_min: int,
    quant_max: int,
    convention: Convention = "documented",
    masked: bool = True,
) -> tuple[FloatArray, BoolArray | None]:
    r"""Quantize and dequantize with one scale and zero point.

    Equation ``eq-fake-quantize``:

    .. math::
        v_{documented} = \mathrm{rne}(\mathrm{fma}(x, \iota(s), z)), \qquad
        v_{torch} = \mathrm{rne}(x\, \iota(s)) + z

    followed by ``eq-fake-quantize-mask``.

    Parameters
    ----------
    x
        Real numbers of any shape. float16 and float64 keep their type; float64 is
        multiplied in double, and its result rounded to float32 all the same.
    scale, zero_point, quant_min, quant_max
        As in :func:`pyqref.numerics.affine.quantize_per_tensor`.
    convention
        ``"documented"`` or ``"torch"``.
    masked
        Whether the mask is wanted.

    Returns
    -------
    y
        ``(sat(v) - z) * s``, of the shape and type of ``x``.
    mask
        True where the gradient passes: ``v`` in [quant_min, quant_max]. None if not wanted.

    Examples
    --------
    >>> y, mask = fake_quantize_per_tensor(np.float32([0.5, 1.5, 300]), 1.0, 1, 0, 255)
    >>> y, mask
    (array([  1.,   1., 254.], dtype=float32), array([ True,  True, False]))
    >>> fake_quantize_per_tensor(np.float32([0.5, 1.5]), 1.0, 1, 0, 255, "torch")[0]
    array([0., 2.], dtype=float32)
    """
    x = np.asarray(x)
    kind = x.dtype.type
    inverse, offset = reciprocal32(scale), np.float32(zero_point)
    with np.errstate(over="ignore", invalid="ignore"):
        if convention == "torch":
            shifted = round_half_even(x * inverse) + offset
        elif kind is np.float64:
            shifted = round_half_even(x * inverse + offset)
        else:
            shifted = round_half_even(fma32(x, inverse, offset))
    y, mask = fake_quantize_grid(shifted, np.float32(scale), offset, quant_min, quant_max)
    with np.errstate(over="ignore"):  # a scale near the largest float32
        return np.asarray(y.astype(np.float32), kind), np.asarray(mask) if masked else None


def fake_quantize_per_channel(
    x: Array,
    scales: Sequence[float] | Array,
    zero_points: Sequence[int] | Array,
    axis: int,
    quant_min: int,
    quant_max: int,
    convention: Convention = "documented",
    masked: bool = True,
) -> tuple[FloatArray, BoolArray | None]:
    r"""Quantize and dequantize with a scale and zero point for each index of ``axis``.

    Equation ``eq-fake-quantize-channel``:

    .. math::
        v_{documented} = \mathrm{rne}(x_c\, \iota(s_c) + z_c), \qquad
        v_{torch} = \mathrm{rne}(x_c\, \iota(s_c)) + z_c

    with product and sum rounded separately; then ``eq-fake-quantize-mask``. Float zero
    points (scheme ``per_channel_affine_float_qparams``) are added before rounding under
    both conventions, by a fused multiply-add, and subtracted in double.

    Parameters
    ----------
    x
        Real numbers, ``(..., C, ...)`` with C at ``axis``.
    scales, zero_points
        ``(C,)``, float32 and integer (or float, see above).
    axis, quant_min, quant_max, convention, masked
        As elsewhere.

    Returns
    -------
    The pair ``y, mask`` of :func:`fake_quantize_per_tensor`.

    Examples
    --------
    >>> x = np.float32([[0.6, 300.0], [0.6, 300.0]])
    >>> y, mask = fake_quantize_per_channel(x, [1.0, 2.0], [0, 0], 0, 0, 255)
    >>> y.tolist(), mask.tolist()
    ([[1.0, 255.0], [0.0, 300.0]], [[True, False], [True, True]])
    """
    x = np.asarray(x)
    kind = x.dtype.type
    zero_points = np.asarray(zero_points)
    scale = along_axis(np.asarray(scales, dtype=np.float32), x.ndim, axis)
    offset = along_axis(zero_points.astype(np.float32), x.ndim, axis)
    whole = zero_points.dtype.kind in "iu"
    with np.errstate(over="ignore", invalid="ignore"):
        if not whole:
            shifted = round_half_even(fma32(x, reciprocal32(scale), offset))
            scale, offset = scale.astype(np.float64), offset.astype(np.float64)
        elif convention == "torch":
            shifted = round_half_even(x * reciprocal32(scale)) + offset
        else:
            shifted = round_half_even(x * reciprocal32(scale) + offset)
    y, mask = fake_quantize_grid(shifted, scale, offset, quant_min, quant_max)
    with np.errstate(over="ignore"):
        return y.astype(np.promote_types(kind, np.float32)).astype(kind), mask if masked else None


def straight_through(gradient: FloatArray, mask: BoolArray) -> FloatArray:
    r"""Gradient of fake quantization with respect to its input.

    Equation ``eq-straight-through``:

    .. math:: \frac{\partial L}{\partial x} = m \cdot \frac{\partial L}{\partial y}

    Rounding, whose derivative is zero almost everywhere, is treated as the
    identity; outside the range the clamp is flat and the gradient is zero.

    Notes
    -----
    Error bound ``eq-straight-through-error``: over a distance ``d`` inside the range the mean
    slope of the staircase is one within ``scale / d``.

    Examples
    --------
    >>> _, mask = fake_quantize_per_tensor(np.float32([-1.0, 3.0, 300.0]), 1.0, 0, 0, 255)
    >>> straight_through(np.float32([5.0, 5.0, 5.0]), mask).tolist()
    [0.0, 5.0, 0.0]
    """
    return np.where(mask, gradient, gradient.dtype.type(0))
