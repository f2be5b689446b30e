"""Operations on real numbers, between dequantizing and quantizing."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from pyqref.numerics.dynamic_qparams import choose_qparams_dynamic
from pyqref.numerics.elementwise import Grid
from pyqref.numerics.noted import noted
from pyqref.numerics.requantize import accumulator_scale
from pyqref.numerics.rounding import clamp_to_int, round_half_even
from pyqref.numerics.types import FloatArray, IntArray

from .._typing import Array, NumberOrArray, Packed
from .operations import Function, Operations
from .packed import real_of

__all__ = ["RealOperations"]


class RealOperations(Operations):
    r"""Operations on real numbers, each rounded to a grid by a division.

    Equation ``eq-real-operation``:

    .. math:: q = \mathrm{sat}\big(\mathrm{rne}(\mathrm{fl}(f(\hat x_1, \hat x_2, \ldots) / s_y))
              + z_y\big), \qquad \hat x = \mathrm{fl}\big((q_x - z_x)\, s_x\big)

    with every step in one precision. Of a mean, the sum is exact.
    """

    #: In which real numbers are computed.
    precision: ClassVar[type[np.floating[Any]]] = np.float32

    def real(self, q: IntArray, grid: Grid) -> FloatArray:
        """The real numbers of integers."""
        centred = np.asarray(q).astype(np.int64) - grid.zero_point
        return np.asarray(centred.astype(self.precision) * self.precision(grid.scale))

    def quantize(self, x: FloatArray, out: Grid) -> IntArray | None:
        """Divide, round to even, add the zero point, clamp."""
        return self._on_grid(x, out)

    def _on_grid(self, x: FloatArray, out: Grid, relu: bool = False) -> IntArray:
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = noted(
                "scaled", np.asarray(x).astype(self.precision) / self.precision(out.scale)
            )
        low, high = out.lowest if relu else (out.quant_min, out.quant_max)
        rounded = noted("rounded", round_half_even(scaled)).astype(np.float64) + out.zero_point
        return clamp_to_int(rounded, low, high, out.storage)

    def rescale(self, q: IntArray, grid: Grid, out: Grid) -> IntArray | None:
        """Dequantized, and quantized again."""
        return self._on_grid(self.real(q, grid), out)

    def add(
        self, a: IntArray, a_grid: Grid, b: IntArray, b_grid: Grid, out: Grid, relu: bool = False
    ) -> IntArray | None:
        """The sum of the real numbers, quantized."""
        real_a, real_b = (
            noted("real a", self.real(a, a_grid)),
            noted("real b", self.real(b, b_grid)),
        )
        return self._on_grid(noted("sum", real_a + real_b), out, relu)

    def mul(
        self, a: IntArray, a_grid: Grid, b: IntArray, b_grid: Grid, out: Grid, relu: bool = False
    ) -> IntArray | None:
        """The product of the real numbers, quantized."""
        real_a, real_b = (
            noted("real a", self.real(a, a_grid)),
            noted("real b", self.real(b, b_grid)),
        )
        return self._on_grid(noted("product", real_a * real_b), out, relu)

    def matmul(
        self, a: IntArray, a_grid: Grid, b: IntArray, b_grid: Grid, out: Grid
    ) -> IntArray | None:
        """As a linear layer without a bias."""
        return product(self, a, a_grid, b, b_grid, out)

    def average(self, taps: IntArray, count: IntArray, grid: Grid, whole: bool) -> IntArray | None:
        """The exact sum times the scale, divided by the count, quantized."""
        total = noted("sum", taps.sum(axis=-1)).astype(self.precision) * self.precision(grid.scale)
        return self._on_grid(total / np.asarray(noted("count", count)).astype(self.precision), grid)

    def function(self, q: IntArray, grid: Grid, out: Grid, function: Function) -> IntArray | None:
        """The function of the real numbers, quantized."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self._on_grid(function(self.real(q, grid)), out)

    def fused(
        self, packed: Packed, x: IntArray, x_grid: Grid, out: Grid, function: Function
    ) -> IntArray | None:
        """The function of the real results, quantized."""
        return self._on_grid(function(real_of(self, packed, x_grid)(x)), out)

    def dynamic(self, packed: Packed, x: FloatArray, reduce_range: bool) -> FloatArray | None:
        """Real results of integers on the grid of the whole input."""
        low, high = (x.min(), x.max()) if x.size else (0.0, 0.0)
        grid = self.dynamic_grid(low, high, reduce_range)
        real = real_of(self, packed, grid)(self._on_grid(x, grid))
        return np.asarray(real, dtype=np.float32)

    def dynamic_grid(self, low: Any, high: Any, reduce_range: bool) -> Grid:
        """The grid of an input that is quantized over its own range."""
        scale, zero_point = choose_qparams_dynamic(low, high, 0, 127 if reduce_range else 255)
        return Grid(float(scale), int(zero_point))

    def dequantize(
        self, accumulator: IntArray, bias: Array | None, s_x: float, s_w: NumberOrArray
    ) -> FloatArray:
        r"""Real results of accumulators (``eq-real-result``).

        .. math:: y = \mathrm{fl}\big(\mathrm{fl}(a\, \mathrm{fl}(s_x s_w)) + b\big)
        """
        unit: Any = accumulator_scale(s_x, s_w)
        if self.precision is np.float64:
            unit = np.float64(s_x) * np.asarray(s_w, np.float64)
        real = np.asarray(accumulator).astype(self.precision) * unit
        return np.asarray(real if bias is None else real + np.asarray(bias, self.precision))


def product(
    model: Any, a: IntArray, a_grid: Grid, b: IntArray, b_grid: Grid, out: Grid
) -> IntArray:
    """A matrix product whose exact sums are requantized as those of a linear layer."""
    left = np.asarray(a).astype(np.int64) - a_grid.zero_point
    right = np.asarray(b).astype(np.int64) - b_grid.zero_point
    # Integers of 8 bits: float64 holds their sums exactly.
    sums = np.matmul(left.astype(np.float64), right.astype(np.float64)).astype(np.int64)
    noted("accumulator", sums)
    ends = out.zero_point, out.quant_min, out.quant_max
    integers = model.requantize(sums, None, a_grid.scale, b_grid.scale, out.scale, *ends)
    return np.asarray(integers.astype(out.storage))
