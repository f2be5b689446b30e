"""Operations that an arithmetic may define, beside linear layers and convolutions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pyqref.numerics.affine import dequantize_per_tensor, quantize_per_tensor, reciprocal32
from pyqref.numerics.dynamic import dequantize_accumulator
from pyqref.numerics.dynamic_qparams import choose_qparams_dynamic
from pyqref.numerics.elementwise import Grid
from pyqref.numerics.requantize import accumulator_scale
from pyqref.numerics.rounding import fma32
from pyqref.numerics.types import FloatArray, IntArray

from .._typing import Array, NumberOrArray, Packed
from .ending import on_grid, rounded_to_even
from .packed import on_own_grid, real_of, run_of
from .step import Note, silent

if TYPE_CHECKING:
    from pyqref.numerics.types import Engine

__all__ = ["EngineOperations", "Operations"]

#: A real function of an array.
Function = Callable[[Any], Any]


class Operations:
    """Sums, products, means and other operations of quantized arrays, in another arithmetic.

    Each method gives the integers of the result, or None where the arithmetic does not define the
    operation. Then the engine computes it: silently where :attr:`Arithmetic.engine` names one,
    because it belongs to that engine, and with a warning elsewhere. Each quantity passes through
    ``note``, as in :meth:`Arithmetic.steps`.
    """

    #: The engine that computes what the arithmetic does not define.
    engine: ClassVar[str | None] = None
    #: Whether :meth:`fused` and :meth:`dynamic` are defined.
    real_layers: ClassVar[bool] = False

    @property
    def belongs_to_engine(self) -> bool:
        """True if operations that the arithmetic does not define belong to its engine."""
        return self.engine is not None

    def quantize(self, x: FloatArray, out: Grid, note: Note = silent) -> IntArray | None:
        """Integers that stand for real numbers on the grid ``out``."""
        return None

    def rescale(self, q: IntArray, grid: Grid, out: Grid, note: Note = silent) -> IntArray | None:
        """Integers on another grid, as where tensors are joined."""
        return None

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
        """Sum of two arrays that broadcast together; with ``relu``, none below the zero point."""
        return None

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
        """Product of two arrays that broadcast together; parameters of :meth:`add`."""
        return None

    def matmul(
        self,
        a: IntArray,
        a_grid: Grid,
        b: IntArray,
        b_grid: Grid,
        out: Grid,
        note: Note = silent,
    ) -> IntArray | None:
        """Matrix product ``(*, M, K)`` by ``(*, K, N)``."""
        return None

    def average(
        self, taps: IntArray, count: IntArray, grid: Grid, whole: bool, note: Note = silent
    ) -> IntArray | None:
        """Means of windows, on the grid of the input.

        Parameters
        ----------
        taps
            Integers less the zero point, ``(..., K)``; 0 beside the image.
        count
            What each sum is divided by; broadcasts against ``(...)``.
        grid
            Of input and output.
        whole
            The window is the whole image.
        """
        return None

    def function(
        self, q: IntArray, grid: Grid, out: Grid, function: Function, note: Note = silent
    ) -> IntArray | None:
        """A real function, such as the logistic one, of each element."""
        return None

    def fused(
        self, packed: Packed, x: IntArray, x_grid: Grid, out: Grid, function: Function
    ) -> IntArray | None:
        """A layer with a packed weight, a real function of its results, one rounding for both."""
        return None

    def dynamic(self, packed: Packed, x: FloatArray, reduce_range: bool) -> FloatArray | None:
        """Real results of a layer that quantizes its real input over its own range."""
        return None


class EngineOperations(Operations):
    """Torch's engines: what they do otherwise than the kernels of this package, and no more."""

    #: Whether :meth:`Arithmetic.accumulate` gives the exact sum.
    exact_sums: ClassVar[bool] = True
    real_layers = True

    def fused(
        self, packed: Packed, x: IntArray, x_grid: Grid, out: Grid, function: Function
    ) -> IntArray | None:
        """Return None, for the engine to compute, unless sums saturate.

        Equation ``eq-requantize-function``.
        """
        if self.exact_sums:
            return None
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
        """Real results, by a product and a sum that are rounded each: as qnnpack."""
        return _real(accumulator, bias, s_x, s_w, "qnnpack", note)

    def after_function(self, x: FloatArray, out: Grid, note: Note = silent) -> IntArray:
        """The result of the function on the grid ``out`` (``eq-affine-quantize``)."""
        label, inverse = "eq-affine-quantize", reciprocal32(out.scale)
        note("reciprocal", inverse, label, "1 / fl32({s})", s=out.scale)
        total = fma32(x, inverse, np.float32(out.zero_point))
        formula, numbers = "fma({v}, {i}, {z})", {"v": x, "i": inverse, "z": out.zero_point}
        note("with the zero point", total, label, formula, **numbers)
        rounded = rounded_to_even(total, note, label, ", zero point included")
        on_grid(rounded, out, False, note, label, offset=0)
        return np.asarray(quantize_per_tensor(x, *out))

    def dynamic(self, packed: Packed, x: FloatArray, reduce_range: bool) -> FloatArray | None:
        """Linear layers by ``eq-linear-dynamic``, convolutions by ``eq-conv-dynamic``."""
        grid, q = on_own_grid(self, x, reduce_range)
        if packed.operation == "qgemm":
            return np.asarray(real_of(self, packed, grid)(q))
        integers = run_of(self, packed, grid, grid, relu=False)(q)
        return dequantize_per_tensor(integers, grid.scale, grid.zero_point)

    def dynamic_grid(self, low: Any, high: Any, reduce_range: bool) -> Grid:
        """The grid of an input that is quantized over its own range; qnnpack has 8 bits always."""
        bits = 127 if reduce_range and self.engine != "qnnpack" else 255
        scale, zero_point = choose_qparams_dynamic(low, high, 0, bits)
        return Grid(float(scale), int(zero_point))

    def on_dynamic_grid(self, x: FloatArray, grid: Grid) -> IntArray:
        """Real numbers of an input on that grid."""
        return np.asarray(quantize_per_tensor(x, *grid))

    def dequantize(
        self,
        accumulator: IntArray,
        bias: Array | None,
        s_x: float,
        s_w: NumberOrArray,
        note: Note = silent,
    ) -> FloatArray:
        """Real results of a layer whose input is quantized dynamically (``eq-dynamic-output``).

        Parameters
        ----------
        accumulator
            Integers ``(..., N)``.
        bias
            None, or the real bias, float32 ``(N,)``.
        s_x, s_w
            Scales of input and weight; of the weight a scalar, or ``(N,)`` per channel.
        """
        engine: Engine = "qnnpack" if self.engine == "qnnpack" else "fbgemm"
        return _real(accumulator, bias, s_x, s_w, engine, note)


def _real(
    accumulator: IntArray,
    bias: Array | None,
    s_x: float,
    s_w: NumberOrArray,
    engine: Engine,
    note: Note,
) -> FloatArray:
    label, unit = "eq-dynamic-output", accumulator_scale(s_x, s_w)
    note("unit of the accumulator", unit, label, "fl32({s_x}) * fl32({s_w})", s_x=s_x, s_w=s_w)
    real = dequantize_accumulator(accumulator, s_x, s_w, bias, engine)
    value = np.asarray(accumulator).astype(np.float32)
    numbers = {"a": value, "unit": unit, "b": bias}
    if bias is None:
        note("real result", real, label, "{a} * {unit}", a=value, unit=unit)
    elif engine != "qnnpack":
        note("real result, with the bias", real, label, "fma({a}, {unit}, {b})", **numbers)
    else:
        note("real result", value * unit, label, "{a} * {unit}", a=value, unit=unit)
        note("bias added", real, label, "{v} + {b}", v=value * unit, b=bias)
    return real
