"""What an arithmetic says of operations beside linear layers and convolutions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pyqref.numerics.affine import dequantize_per_tensor, quantize_per_tensor
from pyqref.numerics.dynamic import dequantize_accumulator
from pyqref.numerics.dynamic_qparams import choose_qparams_dynamic
from pyqref.numerics.elementwise import Grid
from pyqref.numerics.types import FloatArray, IntArray

from .._typing import Array, NumberOrArray, Packed
from .packed import real_of, run_of

if TYPE_CHECKING:
    from pyqref.numerics.types import Engine

__all__ = ["EngineOperations", "Operations"]

#: A real function of an array.
Function = Callable[[Any], Any]


class Operations:
    """Sums, products, means and other operations of quantized arrays, in another arithmetic.

    Each method gives the integers of the result, or None where the arithmetic does not define the
    operation. Then the engine computes it: silently where :attr:`Arithmetic.engine` names one,
    because it belongs to that engine, and with a warning elsewhere.
    """

    #: The engine that computes what the arithmetic does not define.
    engine: ClassVar[str | None] = None

    @property
    def belongs_to_engine(self) -> bool:
        """Whether what the arithmetic does not define belongs to its engine."""
        return self.engine is not None

    def quantize(self, x: FloatArray, out: Grid) -> IntArray | None:
        """Integers that stand for real numbers on the grid ``out``."""
        return None

    def rescale(self, q: IntArray, grid: Grid, out: Grid) -> IntArray | None:
        """Integers on another grid, as where tensors are joined."""
        return None

    def add(
        self, a: IntArray, a_grid: Grid, b: IntArray, b_grid: Grid, out: Grid, relu: bool = False
    ) -> IntArray | None:
        """Sum of two arrays that broadcast together; with ``relu``, none below the zero point."""
        return None

    def mul(
        self, a: IntArray, a_grid: Grid, b: IntArray, b_grid: Grid, out: Grid, relu: bool = False
    ) -> IntArray | None:
        """Product of two arrays that broadcast together; parameters of :meth:`add`."""
        return None

    def matmul(
        self, a: IntArray, a_grid: Grid, b: IntArray, b_grid: Grid, out: Grid
    ) -> IntArray | None:
        """Matrix product ``(*, M, K)`` by ``(*, K, N)``."""
        return None

    def average(self, taps: IntArray, count: IntArray, grid: Grid, whole: bool) -> IntArray | None:
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

    def function(self, q: IntArray, grid: Grid, out: Grid, function: Function) -> IntArray | None:
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

    def fused(
        self, packed: Packed, x: IntArray, x_grid: Grid, out: Grid, function: Function
    ) -> IntArray | None:
        """As the engine, unless sums saturate (``eq-requantize-function``)."""
        if self.exact_sums:
            return None
        in_two_steps = _InTwoSteps(self)
        real = function(real_of(in_two_steps, packed, x_grid)(x))
        return np.asarray(quantize_per_tensor(real, *out))

    def dynamic(self, packed: Packed, x: FloatArray, reduce_range: bool) -> FloatArray | None:
        """Linear layers by ``eq-linear-dynamic``, convolutions by ``eq-conv-dynamic``."""
        low, high = (x.min(), x.max()) if x.size else (0.0, 0.0)
        bits = 127 if reduce_range and self.engine != "qnnpack" else 255
        scale, zero_point = choose_qparams_dynamic(low, high, 0, bits)
        grid = Grid(float(scale), int(zero_point))
        q = quantize_per_tensor(x, *grid)
        if packed.operation == "qgemm":
            return np.asarray(real_of(self, packed, grid)(q))
        integers = run_of(self, packed, grid, grid, relu=False)(q)
        return dequantize_per_tensor(integers, grid.scale, grid.zero_point)

    def dequantize(
        self, accumulator: IntArray, bias: Array | None, s_x: float, s_w: NumberOrArray
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
        return dequantize_accumulator(accumulator, s_x, s_w, bias, engine)


class _InTwoSteps:
    """Sums of an arithmetic, dequantized with a product and a sum that are rounded each."""

    def __init__(self, model: Any) -> None:
        self.accumulate = model.accumulate

    @staticmethod
    def dequantize(
        accumulator: IntArray, bias: Array | None, s_x: float, s_w: NumberOrArray
    ) -> FloatArray:
        return dequantize_accumulator(accumulator, s_x, s_w, bias, "qnnpack")
