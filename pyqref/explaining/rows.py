"""One output of a packed weight as other systems see it: two rows, multiplied and summed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arithmetic.base import Arithmetic
from ..arithmetic.layer import Layer, layer_of
from ..arithmetic.scaling import Scaling
from ..arithmetic.step import Note
from ..numerics.elementwise import Grid
from .draft import Elsewhere

__all__ = ["OneOutput", "dynamic_elsewhere", "fused_elsewhere", "in_order", "weight_in_order"]


def in_order(packed: Any, window: np.ndarray) -> np.ndarray:
    """A window ``(C, *kernel)`` as a row, in the order of :func:`pyqref.arithmetic.patches`."""
    if hasattr(packed, "stride") and packed.transposed:  # its taps meet the inputs the other way
        window = np.flip(window, tuple(range(1, window.ndim)))
    return np.moveaxis(window, 0, -1).ravel()


def weight_in_order(packed: Any, index: tuple[int, ...]) -> np.ndarray:
    """The weight of the channel of an output, in the same order."""
    weight = packed._integers()
    if not hasattr(packed, "stride"):
        row: np.ndarray = weight[index[-1]]
        return row
    if not packed.transposed:
        return in_order(packed, weight[index[1]])
    group, own = divmod(index[1], packed.shape[1])
    count = packed.shape[0] // packed.groups
    return in_order(packed, weight[group * count : (group + 1) * count, own])


@dataclass
class OneOutput:
    """Part of a packed weight that computes one output.

    Attributes
    ----------
    packed
        The packed weight.
    layer
        As the explainers see it: scale, zero point and bias of the channel.
    index
        Which output.
    padded : ndarray
        ``(C, *kernel)``: where the window lies in the padding.
    """

    packed: Any
    layer: Any
    index: tuple[int, ...]
    padded: np.ndarray

    @property
    def scale(self) -> Any:
        """The scale of the weight; an array with one element where it is per channel."""
        own = self.layer.weight_scale
        return np.array([own]) if self.layer.per_channel else own

    @property
    def bias(self) -> Any:
        """float32 ``(1,)``, or None."""
        return None if self.layer.bias is None else np.array([self.layer.bias], np.float32)

    @property
    def place(self) -> Layer:
        """Kind of the layer."""
        return layer_of(self.packed)

    @property
    def outside(self) -> np.ndarray | None:
        """Taps that lie beside the image; None for a linear layer."""
        if not hasattr(self.packed, "stride"):
            return None
        return in_order(self.packed, np.asarray(self.padded.all(axis=0, keepdims=True)))

    def accumulated(self, model: Arithmetic, q: np.ndarray, zero_point: int, note: Note) -> Any:
        """The sum of a row of stored integers, with its steps."""
        weight, outside = weight_in_order(self.packed, self.index)[None], self.outside
        beside = None if outside is None else outside[None]
        zeros = zero_point, weight, self.layer.weight_zero_point
        return model._accumulate(q[None], *zeros, self.place, beside, note).reshape(1)


def fused_elsewhere(
    one: OneOutput, inputs: np.ndarray, x_grid: Grid, out: Grid, function: Any
) -> Elsewhere:
    """A layer, and a real function of its result; ``inputs`` are less their zero point."""

    def run(model: Any, note: Note) -> Any:
        if not model.real_layers or (model.engine and model.exact_sums):
            return None
        row = in_order(one.packed, inputs) + x_grid.zero_point
        total = one.accumulated(model, row, x_grid.zero_point, note)
        real = model.before_function(total, one.bias, x_grid.scale, one.scale, note)
        label = "eq-requantize-function"
        value = note("function of it", function(real), label, "f({x})", x=real)
        return model.after_function(value, out, note)

    return run


def dynamic_elsewhere(
    one: OneOutput, window: np.ndarray, whole: np.ndarray, reduce_range: bool, relu: bool
) -> Elsewhere:
    """A layer that quantizes its real input over the range of the ``whole``."""

    def run(model: Any, note: Note) -> Any:
        if not model.real_layers:
            return None
        ends = (whole.min(), whole.max()) if whole.size else (0.0, 0.0)
        grid = model.dynamic_grid(*ends, reduce_range)
        scale, z = np.float64(grid.scale), grid.zero_point
        low, high = (np.float32(end) for end in ends)
        label = "eq-dynamic-input"
        note("scale of the input", scale, label, "scale of {a} to {b}", a=low, b=high)
        note("its zero point", z, label, "zero point of {a} to {b}", a=low, b=high)
        q = in_order(one.packed, model.on_dynamic_grid(window, grid)).astype(np.int64)
        q[in_order(one.packed, one.padded)] = z
        total = one.accumulated(model, q, z, note)
        if model.engine is not None and one.place.kind == "conv":
            scaling = Scaling(grid.scale, one.scale, grid.scale, z, 0, 255, one.place)
            q_y = model._requantize(total, one.bias, scaling, note)
            label = "eq-affine-dequantize"
            less = note("less the zero point", q_y - z, label, "{q} - {z}", q=q_y, z=z)
            value = less.astype(np.float32) * np.float32(scale)
            return note("real number", value, label, "{d} * fl32({s})", d=less, s=scale)
        real = model.dequantize(total, one.bias, grid.scale, one.scale, note)
        single = real.astype(np.float32)
        if real.dtype != np.float32:
            note("as float32", single, "eq-real-result", "fl32({v})", v=real)
        if relu:
            single = np.maximum(single, np.float32(0))
            note("ReLU", single, "eq-linear-dynamic", "max({v}, 0)", v=real)
        return single

    return run
