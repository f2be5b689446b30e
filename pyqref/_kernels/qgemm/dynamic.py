"""Linear layers that quantize their input, by the kernel in use, else by equations in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import contiguous, empty, in_groups
from pyqref._kernels.observe import min_max
from pyqref._kernels.parts import by_rows
from pyqref._kernels.quantize import quantize_per_tensor
from pyqref.numerics.types import Engine, FloatArray

from ..._typing import Array, NumberOrArray
from ...numerics.types import IntArray
from ..observe.one_range import choose_qparams_of_range
from .finish import finish_of_reals, fits, zero_points_or_none
from .linear import linear_float
from .pack import PackedLinear

__all__ = ["Projection", "linear_dynamic"]

_FLOAT32 = np.dtype(np.float32)


class Projection:
    """An int8 weight of a layer with real inputs: what kernels take of it is made once.

    Parameters
    ----------
    packed, weight_zero_points
        As in :func:`pyqref._kernels.linear`.
    weight_scales
        A float64 scalar, ``(1,)`` or ``(N,)``.
    bias
        None or ``(N,)`` float32.
    engine
        qnnpack ignores ``reduce_range`` and adds the bias after rounding.
    reduce_range
        Quantize the input to 7 bits.

    Attributes
    ----------
    columns
        N.
    has_buffer
        Whether kernels run it: 32 bits hold all sums.
    quant_max, weight
        What they take: the largest integer of the input, and the weight.
    """

    __slots__ = ("_bias", "_own", "columns", "has_buffer", "quant_max", "weight")

    def __init__(
        self,
        packed: PackedLinear,
        weight_zero_points: Any,
        weight_scales: Any,
        bias: Any = None,
        engine: Engine = "fbgemm",
        reduce_range: bool = True,
    ) -> None:
        self._own = packed, weight_zero_points, weight_scales, bias, engine
        self._bias = bias
        self.columns = packed.columns
        self.has_buffer = fits(packed.depth, None, weight_zero_points)
        self.quant_max = 127 if reduce_range and engine != "qnnpack" else 255
        with np.errstate(over="ignore"):
            scales = np.asarray(weight_scales).astype(np.float32).reshape(-1)
        bias = None if bias is None else contiguous(bias)
        zero_points = zero_points_or_none(weight_zero_points)
        self.weight = packed.finished(finish_of_reals(zero_points, scales, bias, engine))

    def adds(self, bias: Array | None) -> bool:
        """Return True if the kernel adds this array in place: it must be writable as it lies."""
        return bias is self._bias and (bias is None or bias.flags.c_contiguous)

    def of(self, x: FloatArray) -> tuple[FloatArray, float, float]:
        """Project rows, on the grid of all of them: see :func:`linear_dynamic`."""
        kernel = registry.twin("qgemm")
        if kernel is None or not self.has_buffer:
            return self._of_parts(x)
        done: Any = kernel.linear_dynamic(x, self.quant_max, _FLOAT32, self.weight, threads.limit)
        if done is None:
            rows = in_groups(x)
            if rows is None:
                return self._of_parts(x)
            out = empty((*x.shape[:-1], self.columns), _FLOAT32)
            done = kernel.linear_dynamic(rows, self.quant_max, out, self.weight, threads.limit)
        return self._of_parts(x) if done is None else done

    def of_bytes(self, q: IntArray, scale: float, zero_point: int) -> FloatArray:
        """Project rows that are quantized, to uint8."""
        packed, weight_zero_points, *rest = self._own
        return linear_float(q, zero_point, packed, weight_zero_points, scale, *rest)

    def _of_parts(self, x: FloatArray) -> tuple[FloatArray, float, float]:
        """Compute :meth:`of` for some rows at a time, with integers made in Python."""
        low, high = map(float, min_max(x)) if x.size else (0.0, 0.0)
        if not np.isfinite([low, high]).all():
            return np.empty((*x.shape[:-1], self.columns), np.float32), low, high
        grid = choose_qparams_of_range(low, high, 0, self.quant_max)

        def run(some: FloatArray) -> FloatArray:
            return self.of_bytes(quantize_per_tensor(some, *grid, 0, 255, np.uint8), *grid)

        return by_rows(run, x, self.columns, np.float32), low, high


def linear_dynamic(
    x: FloatArray,
    packed: PackedLinear,
    weight_zero_points: int | Array,
    weight_scales: NumberOrArray,
    bias: Array | None = None,
    engine: Engine = "fbgemm",
    reduce_range: bool = True,
) -> tuple[FloatArray, float, float]:
    """Fast form of :func:`pyqref.numerics.dynamic.linear_dynamic`, on packed weights, in one call.

    Parameters
    ----------
    x
        float32 ``(..., K)``.
    packed, weight_zero_points, weight_scales, bias, engine, reduce_range
        As in :class:`Projection`, which is what serves many calls.

    Returns
    -------
    y
        float32 ``(..., N)``; of no meaning where the range of ``x`` is not finite.
    low, high
        The smallest and the largest number of ``x``: 0 and 0 where it is empty, not finite where
        nan or infinity is among them.
    """
    return Projection(packed, weight_zero_points, weight_scales, bias, engine, reduce_range).of(x)
