"""onednn: reciprocals of reciprocals, a real bias, and the zero point before the rounding."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref.numerics.affine import reciprocal32
from pyqref.numerics.rounding import round_half_even
from pyqref.numerics.types import IntArray

from .._typing import Array, NumberOrArray
from .base import Arithmetic, clamped, saturated, tie
from .operations import EngineOperations
from .scaling import Scaling
from .step import Note

__all__ = ["OneDNN"]

_LABEL = "eq-requantize-onednn"


class OneDNN(EngineOperations, Arithmetic):
    r"""torch's onednn, in the order that experiments show.

    Equation ``eq-requantize-onednn``:

    .. math:: q = \mathrm{sat}\Big(\mathrm{rne}\big(\mathrm{fl}_{32}(
              \mathrm{fl}_{32}(v \cdot \iota(s'_y)) + z_y)\big)\Big), \qquad
              v = \mathrm{fl}_{32}\big(\mathrm{fl}_{32}(a\, \mathrm{fl}_{32}(s'_x s'_w)) + b\big)

    Scales go through their reciprocals, :math:`s' = \iota(\iota(s))`, but those of the weights
    of a convolution. The zero point is added before the rounding, so that an odd one moves ties.

    Examples
    --------
    >>> sums = np.int64([[5], [7]])  # 2.5 and 3.5
    >>> OneDNN().requantize(sums, None, 0.5, 0.5, 0.5, 10).tolist()
    [[12], [14]]
    >>> OneDNN().requantize(sums, None, 0.5, 0.5, 0.5, 11).tolist()
    [[14], [14]]
    """

    name = "onednn"
    summary = "torch's onednn: real bias after scaling, zero point added before rounding"
    engine = "onednn"

    def bias(self, bias: Array, s_x: float, s_w: NumberOrArray) -> np.ndarray:
        r"""The bias in units of the accumulator, float32: a number to compare with other systems.

        .. math:: \mathrm{fl}_{32}(b / \mathrm{fl}_{32}(s_x s_w))

        from the scales as they are given. onednn itself never forms it: :meth:`requantize` adds the
        real bias, as it is, to the real result (``eq-requantize-onednn``).
        """
        unit = np.float32(s_x) * np.asarray(s_w).astype(np.float32)
        return np.asarray(np.asarray(bias, np.float32) / unit)

    def dequantize(
        self, accumulator: IntArray, bias: Array | None, s_x: float, s_w: NumberOrArray
    ) -> np.ndarray:
        r"""Real results of a linear layer whose input is quantized dynamically.

        Equation ``eq-dynamic-onednn``:

        .. math:: y = \mathrm{fl}_{32}\big(\mathrm{fl}_{32}(a\,
                  \mathrm{fl}_{32}(s'_x s'_w)) + b\big)

        Parameters
        ----------
        accumulator
            Integers ``(..., N)``.
        bias
            None, or the real bias, float32 ``(N,)``.
        s_x, s_w
            Scales of input and weight; of the weight a scalar, or ``(N,)`` per channel.

        Returns
        -------
        float32 ``(..., N)``.

        Examples
        --------
        >>> OneDNN().dequantize(np.int64([[5]]), np.float32([0.5]), 0.5, 0.5).tolist()
        [[1.75]]
        """
        real = np.asarray(accumulator).astype(np.float32) * (_twice(s_x) * _twice(s_w))
        return np.asarray(real if bias is None else real + np.asarray(bias, np.float32))

    def _requantize(
        self, accumulator: IntArray, bias: Any, scaling: Scaling, note: Note
    ) -> IntArray:
        s_x, s_w, s_y, z_y, low, high, layer = scaling
        s_x = note("input scale", _twice(s_x), _LABEL, "fl32(1 / fl32(1 / {s}))", s=s_x)
        if layer.kind == "conv":
            s_w = np.asarray(s_w).astype(np.float32)
        else:
            first = "1 / {s}" if np.ndim(s_w) == 0 else "1 / fl32({s})"
            s_w = note("weight scale", _twice(s_w), _LABEL, f"fl32(1 / fl32({first}))", s=s_w)
        unit = note(
            "unit of the accumulator",
            s_x * s_w,
            _LABEL,
            "fl32({s_x}) * fl32({s_w})",
            s_x=s_x,
            s_w=s_w,
        )
        value = accumulator.astype(np.float32)
        real = note("real result", value * unit, _LABEL, "{a} * {unit}", a=value, unit=unit)
        if bias is not None:
            term = np.asarray(bias, np.float32)
            real = note("bias added", real + term, _LABEL, "{v} + {b}", v=real, b=term)
        inverse = note(
            "reciprocal of the output scale",
            reciprocal32(_twice(s_y)),
            _LABEL,
            "fl32(1 / fl32(1 / fl32(1 / {s})))",
            s=s_y,
        )
        scaled = note("scaled", real * inverse, _LABEL, "{v} * {M}", v=real, M=inverse)
        z = np.float32(z_y)
        total = note("zero point added", scaled + z, _LABEL, "{v} + {z}", v=scaled, z=z)
        rounded = note(
            "rounded",
            saturated(round_half_even(total)),
            _LABEL,
            "rne({v})",
            lambda: tie(total, "to the even integer, zero point included"),
            v=total,
        )
        return clamped(rounded, low, high, note, _LABEL)


def _twice(scale: Any) -> Any:
    """The reciprocal of the reciprocal: of a number in double, of an array in float32."""
    wide = np.float64(scale) if np.ndim(scale) == 0 else np.asarray(scale).astype(np.float32)
    inverse = (1 / wide).astype(np.float32)
    return np.float32(1) / inverse
