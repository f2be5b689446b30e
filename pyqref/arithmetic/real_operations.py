"""Operations on real numbers, between dequantizing and quantizing."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from pyqref.numerics.dynamic_qparams import choose_qparams_dynamic
from pyqref.numerics.elementwise import Grid
from pyqref.numerics.noted import noted
from pyqref.numerics.requantize import accumulator_scale
from pyqref.numerics.types import FloatArray, IntArray

from .._typing import Array, NumberOrArray, Packed
from .ending import on_grid, rounded_to_even
from .operations import Function, Operations
from .packed import on_own_grid, real_of
from .scaling import Scaling
from .step import Note, of, silent

__all__ = ["RealOperations"]

_LABEL = "eq-real-operation"


class RealOperations(Operations):
    r"""Operations on real numbers, each rounded to a grid by a division.

    Equation ``eq-real-operation``:

    .. math:: q = \mathrm{sat}\big(\mathrm{rne}(\mathrm{fl}(f(\hat x_1, \hat x_2, \ldots) / s_y))
              + z_y\big), \qquad \hat x = \mathrm{fl}\big((q_x - z_x)\, s_x\big)

    with every step in one precision. Of a mean, the sum is exact.
    """

    #: In which real numbers are computed.
    precision: ClassVar[type[np.floating[Any]]] = np.float32
    real_layers = True

    def real(self, q: IntArray, grid: Grid, note: Note = silent) -> FloatArray:
        """The real numbers of integers."""
        centred = np.asarray(q).astype(np.int64) - grid.zero_point
        note("less the zero point", centred, _LABEL, "{q} - {z}", q=q, z=grid.zero_point)
        exact, scale = centred.astype(self.precision), self.precision(grid.scale)
        return np.asarray(note("real", exact * scale, _LABEL, "{d} * {s}", d=exact, s=scale))

    def quantize(self, x: FloatArray, out: Grid, note: Note = silent) -> IntArray | None:
        """Divide, round to even, add the zero point, clamp."""
        return self._on_grid(x, out, note=note)

    def _on_grid(
        self, x: FloatArray, out: Grid, relu: bool = False, note: Note = silent
    ) -> IntArray:
        real, scale = np.asarray(x).astype(self.precision), self.precision(out.scale)
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = real / scale
        note("scaled", scaled, _LABEL, "{v} / {s}", v=real, s=scale)
        return on_grid(rounded_to_even(scaled, note, _LABEL), out, relu, note, _LABEL)

    def rescale(self, q: IntArray, grid: Grid, out: Grid, note: Note = silent) -> IntArray | None:
        """Dequantized, and quantized again."""
        return self._on_grid(self.real(q, grid, note), out, note=note)

    def add(
        self,
        a: IntArray,
        a_grid: Grid,
        b: IntArray,
        b_grid: Grid,
        out: Grid,
        relu: bool = False,
        note: Note = silent,
    ) -> IntArray | None:
        """The sum of the real numbers, quantized."""
        left = self.real(a, a_grid, of("first", note))
        right = self.real(b, b_grid, of("second", note))
        total = note("sum", left + right, _LABEL, "{a} + {b}", a=left, b=right)
        return self._on_grid(total, out, relu, note)

    def mul(
        self,
        a: IntArray,
        a_grid: Grid,
        b: IntArray,
        b_grid: Grid,
        out: Grid,
        relu: bool = False,
        note: Note = silent,
    ) -> IntArray | None:
        """The product of the real numbers, quantized."""
        left = self.real(a, a_grid, of("first", note))
        right = self.real(b, b_grid, of("second", note))
        both = note("product", left * right, _LABEL, "{a} * {b}", a=left, b=right)
        return self._on_grid(both, out, relu, note)

    def matmul(
        self,
        a: IntArray,
        a_grid: Grid,
        b: IntArray,
        b_grid: Grid,
        out: Grid,
        note: Note = silent,
    ) -> IntArray | None:
        """The product of a linear layer without a bias."""
        return product(self, a, a_grid, b, b_grid, out, note)

    def average(
        self, taps: IntArray, count: IntArray, grid: Grid, whole: bool, note: Note = silent
    ) -> IntArray | None:
        """The exact sum times the scale, divided by the count, quantized."""
        sums, scale = total_of(taps, note).astype(self.precision), self.precision(grid.scale)
        real = note("real sum", sums * scale, _LABEL, "{S} * {s}", S=sums, s=scale)
        n = np.asarray(noted("count", count)).astype(self.precision)
        mean = note("mean", real / n, _LABEL, "{v} / {n}", v=real, n=n)
        return self._on_grid(mean, grid, note=note)

    def function(
        self, q: IntArray, grid: Grid, out: Grid, function: Function, note: Note = silent
    ) -> IntArray | None:
        """The function of the real numbers, quantized."""
        real = self.real(q, grid, note)
        with np.errstate(over="ignore", invalid="ignore"):
            value = note("function of it", function(real), _LABEL, "f({x})", x=real)
            return self._on_grid(value, out, note=note)

    def fused(
        self, packed: Packed, x: IntArray, x_grid: Grid, out: Grid, function: Function
    ) -> IntArray | None:
        """The function of the real results, quantized."""
        real = real_of(self, packed, x_grid, self.before_function)(x)
        return self.after_function(function(real), out)

    def before_function(
        self,
        accumulator: IntArray,
        bias: Array | None,
        s_x: float,
        s_w: NumberOrArray,
        note: Note = silent,
    ) -> FloatArray:
        """Real results of a layer whose results a function takes."""
        return self.dequantize(accumulator, bias, s_x, s_w, note)

    def after_function(self, x: FloatArray, out: Grid, note: Note = silent) -> IntArray:
        """The result of the function on the grid ``out``."""
        return self._on_grid(x, out, note=note)

    def dynamic(self, packed: Packed, x: FloatArray, reduce_range: bool) -> FloatArray | None:
        """Real results of integers on the grid of the whole input."""
        grid, q = on_own_grid(self, x, reduce_range)
        return np.asarray(real_of(self, packed, grid)(q), dtype=np.float32)

    def dynamic_grid(self, low: Any, high: Any, reduce_range: bool) -> Grid:
        """The grid of an input that is quantized over its own range."""
        scale, zero_point = choose_qparams_dynamic(low, high, 0, 127 if reduce_range else 255)
        return Grid(float(scale), int(zero_point))

    def on_dynamic_grid(self, x: FloatArray, grid: Grid) -> IntArray:
        """Real numbers of an input on that grid."""
        return self._on_grid(x, grid)

    def dequantize(
        self,
        accumulator: IntArray,
        bias: Array | None,
        s_x: float,
        s_w: NumberOrArray,
        note: Note = silent,
    ) -> FloatArray:
        r"""Real results of accumulators (``eq-real-result``).

        .. math:: y = \mathrm{fl}\big(\mathrm{fl}(a\, \mathrm{fl}(s_x s_w)) + b\big)
        """
        label, formula = "eq-real-result", "fl32({s_x}) * fl32({s_w})"
        unit: Any = accumulator_scale(s_x, s_w)
        if self.precision is np.float64:
            unit, formula = np.float64(s_x) * np.asarray(s_w, np.float64), "{s_x} * {s_w}"
        note("unit of the accumulator", unit, label, formula, s_x=s_x, s_w=s_w)
        value = np.asarray(accumulator).astype(self.precision)
        real = note("real result", value * unit, label, "{a} * {unit}", a=value, unit=unit)
        if bias is None:
            return np.asarray(real)
        term = np.asarray(bias, self.precision)
        return np.asarray(note("bias added", real + term, label, "{v} + {b}", v=real, b=term))


def total_of(taps: IntArray, note: Note, label: str = _LABEL) -> IntArray:
    """The exact sum of the integers of a window, less the zero point."""
    formula = "sum of (q - z) over {count} places"
    total = taps.sum(axis=-1)
    return np.asarray(note("sum", total, label, formula, count=taps.shape[-1]))


def product(
    model: Any,
    a: IntArray,
    a_grid: Grid,
    b: IntArray,
    b_grid: Grid,
    out: Grid,
    note: Note = silent,
) -> IntArray:
    """A matrix product whose exact sums are requantized as those of a linear layer."""
    left = np.asarray(a).astype(np.int64) - a_grid.zero_point
    right = np.asarray(b).astype(np.int64) - b_grid.zero_point
    # Integers of 8 bits: float64 holds their sums exactly.
    sums = np.matmul(left.astype(np.float64), right.astype(np.float64)).astype(np.int64)
    formula = "sum of (a - {z_a}) * (b - {z_b}) over {count} products"
    numbers = {"z_a": a_grid.zero_point, "z_b": b_grid.zero_point, "count": left.shape[-1]}
    note("accumulator", sums, "eq-linear-accumulator", formula, **numbers)
    ends = out.zero_point, out.quant_min, out.quant_max
    scaling = Scaling(a_grid.scale, b_grid.scale, out.scale, *ends)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        integers = model._requantize(sums, None, scaling, note)
    return np.asarray(integers.astype(out.storage))
