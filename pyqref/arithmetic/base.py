"""Base of every model of an arithmetic: stages on whole arrays, and the steps of one sum."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pyqref.numerics.linear import linear_accumulator
from pyqref.numerics.types import IntArray

from .._typing import Array, NumberOrArray, Packed
from .layer import LINEAR, Layer
from .operations import Operations
from .packed import run_of
from .scaling import Scaling
from .step import Note, Recorder, Step, silent

if TYPE_CHECKING:
    from pyqref.numerics.elementwise import Grid

__all__ = ["Arithmetic"]


class Arithmetic(Operations, ABC):
    """How a system computes the integers of a quantized layer.

    The stages are NumPy functions of whole arrays, output channels last. A subclass says in
    :meth:`_requantize` how an accumulator becomes an output integer; the numbers of
    :meth:`requantize` and the records of :meth:`steps` come from that one text.

    Attributes
    ----------
    name : str
        As :func:`pyqref.arithmetic.get` takes it.
    summary : str
        One sentence: what is modelled, and what is particular about it.
    engine : str or None
        The value of ``pyqref.backends.quantized.engine`` whose other operations (sums, pooling)
        belong to it; None leaves them to the engine that is set.

    Examples
    --------
    >>> from pyqref import arithmetic
    >>> model = arithmetic.get("qnnpack")
    >>> sums = model.accumulate(np.uint8([[5, 6]]), 5, np.int8([[1, 2], [3, 4]]), 0)
    >>> sums.tolist()
    [[2, 4]]
    >>> model.requantize(sums, np.float32([0.5, -0.5]), 0.5, 0.25, 0.1, 10, 0, 255).tolist()
    [[18, 10]]
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    #: Whether :meth:`accumulate` gives the exact sum, whatever the data.
    exact_sums: ClassVar[bool] = True

    def accumulate(
        self,
        x: IntArray,
        x_zero_point: int,
        weight: IntArray,
        weight_zero_points: int | Array,
        layer: Layer = LINEAR,
        outside: np.ndarray | None = None,
    ) -> IntArray:
        r"""Sums of products (``eq-linear-accumulator``).

        .. math:: \sum_k (x_k - z_x)(w_{nk} - z_{w,n})

        Parameters
        ----------
        x
            Stored integers ``(..., K)``. Of a convolution: the taps of a window, one after the
            other, with the channels of each tap side by side; where the window reaches over the
            edge, the zero point.
        x_zero_point
            Their zero point.
        weight
            Stored integers ``(N, K)``, in the same order.
        weight_zero_points
            A scalar, ``(1,)`` or ``(N,)``.
        layer
            Which kind of layer it is.
        outside
            Which taps of a window lie beside the image, ``(..., taps)``; None if there are no such.

        Returns
        -------
        int64 ``(..., N)``.
        """
        return linear_accumulator(x, x_zero_point, weight, weight_zero_points)

    @abstractmethod
    def bias(self, bias: Array, s_x: float, s_w: NumberOrArray) -> np.ndarray:
        """The bias in units of the accumulator, as the system stores or uses it.

        Parameters
        ----------
        bias
            float32 ``(N,)``.
        s_x, s_w
            Scales of input and weight; of the weight a scalar, or ``(N,)`` per channel.

        Returns
        -------
        ``(N,)``: int64 where it is rounded to an integer, else float32 or float64.
        """

    def requantize(
        self,
        accumulator: IntArray,
        bias: Array | None,
        s_x: float,
        s_w: NumberOrArray,
        s_y: float,
        z_y: int,
        low: int = 0,
        high: int = 255,
        layer: Layer = LINEAR,
    ) -> IntArray:
        """Output integers of accumulators.

        Parameters
        ----------
        accumulator
            Integers ``(..., N)``.
        bias
            None, or the real bias, float32 ``(N,)``.
        s_x, s_w, s_y
            Scales of input, weight and output. ``s_w`` is a scalar, or ``(N,)`` per channel: fbgemm
            treats the two differently, also if N is 1.
        z_y
            Zero point of the output.
        low, high
            Clamp of the output, ends included. A fused ReLU has raised ``low`` to ``z_y``.
        layer
            Which kind of layer it is: onednn looks at it.

        Returns
        -------
        int64 ``(..., N)``.
        """
        accumulator = np.asarray(accumulator, np.int64)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            scaling = Scaling(s_x, s_w, s_y, z_y, low, high, layer)
            return self._requantize(accumulator, bias, scaling, silent)

    def steps(
        self,
        x: IntArray,
        x_zero_point: int,
        weight: IntArray,
        weight_zero_point: int,
        bias: float | None,
        s_x: float,
        s_w: NumberOrArray,
        s_y: float,
        z_y: int,
        low: int = 0,
        high: int = 255,
        layer: Layer = LINEAR,
        outside: np.ndarray | None = None,
    ) -> list[Step]:
        """From the integers of one output to that output, step by step.

        Parameters
        ----------
        x, weight
            Stored integers ``(K,)``, in the order of :meth:`accumulate`.
        bias
            None, or the real bias of the output channel.
        s_w
            A scalar, or ``(1,)`` where the weight is quantized per channel.

        The other parameters are those of :meth:`accumulate` and :meth:`requantize`.

        Returns
        -------
        The last record's value is the integer of :meth:`requantize`.

        Examples
        --------
        >>> from pyqref import arithmetic
        >>> model, scales = arithmetic.get("qnnpack"), (0.5, 0.25, 0.1)
        >>> for step in model.steps([5, 6], 5, [3, 4], 0, -0.5, *scales, 10):
        ...     print(f"{step.name}: {step.formula} = {step.value}")
        accumulator: sum of (x - 5) * (w - 0) over 2 products = 4
        unit of the accumulator: fl32(0.5) * fl32(0.25) = 0.125
        multiplier: 0.125 * fl32(1 / fl32(0.1)) = 1.25
        bias: rne(fl32((-0.5) * fl32(1 / fl32(fl64(0.5 * 0.25))))) = -4
        sum: 4 + (-4) = 0
        scaled: 0.0 * 1.25 = 0.0
        rounded: rne(0.0) = 0
        zero point added: 0 + 10 = 10
        clamped: min(max(10, 0), 255) = 10
        """
        note = Recorder()
        rows, columns = np.asarray(x).reshape(1, -1), np.asarray(weight).reshape(1, -1)
        places = layer, None if outside is None else np.asarray(outside).reshape(1, -1)
        sums = self._accumulate(rows, x_zero_point, columns, weight_zero_point, *places, note)
        total = int(sums.reshape(-1)[0])
        return note.steps + self.requantize_steps(total, bias, s_x, s_w, s_y, z_y, low, high, layer)

    def requantize_steps(
        self,
        accumulator: int,
        bias: float | None,
        s_x: float,
        s_w: NumberOrArray,
        s_y: float,
        z_y: int,
        low: int = 0,
        high: int = 255,
        layer: Layer = LINEAR,
    ) -> list[Step]:
        """The steps after the accumulator; parameters as of :meth:`requantize`, for one channel."""
        note = Recorder()
        one = None if bias is None else np.asarray([bias], np.float32)
        sums = np.asarray([accumulator], np.int64)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            self._requantize(sums, one, Scaling(s_x, s_w, s_y, z_y, low, high, layer), note)
        return note.steps

    def prepare(
        self, packed: Packed, x_grid: Grid, out: Grid, relu: bool
    ) -> Callable[[np.ndarray], np.ndarray]:
        """Make a function from the integers of a layer's input to those of its output.

        Operations call this where :func:`pyqref.arithmetic.use` has put the model.

        Parameters
        ----------
        packed
            The packed weight of a linear layer or of a convolution.
        x_grid, out
            Grids of input and output.
        relu
            Clamp below at the zero point of the output.
        """
        return run_of(self, packed, x_grid, out, relu)

    def _accumulate(
        self,
        x: IntArray,
        x_zero_point: int,
        weight: IntArray,
        weight_zero_point: int,
        layer: Layer,
        outside: np.ndarray | None,
        note: Note,
    ) -> IntArray:
        """Like :meth:`accumulate`, for one output, with its steps."""
        total = self.accumulate(x, x_zero_point, weight, weight_zero_point, layer, outside)
        formula = "sum of (x - {z_x}) * (w - {z_w}) over {count} products"
        numbers = {"z_x": x_zero_point, "z_w": weight_zero_point, "count": x.size}
        return note("accumulator", total, "eq-linear-accumulator", formula, **numbers)

    @abstractmethod
    def _requantize(
        self, accumulator: IntArray, bias: Any, scaling: Scaling, note: Note
    ) -> IntArray:
        """Like :meth:`requantize`; each quantity passes through ``note``."""

    def __repr__(self) -> str:
        return f"<arithmetic {self.name!r}: {self.summary}>"
