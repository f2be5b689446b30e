"""Why two arithmetics give other integers for the same ingredients, element by element.

Each reason is tried alone, in exact arithmetic: the value before rounding is an integer
accumulator, times a fraction, and either lies on a tie or it does not.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from ..nn.modules import Module
from ..ops.quantized.packed import PackedWeight
from ..tensor import from_numpy
from .float_forms import packed_weight_of, run_with_weight
from .running import Call
from .stages import Grid
from .values import is_quantized
from .variants import Ingredients

__all__ = ["ARITHMETIC", "decided"]

TIE = "tie broken the other way"
BIAS = "bias rounded to integer"
MULTIPLIER = "multiplier rounded otherwise"
SATURATION = "saturation"
CLAMP = "clamp range"
REST = "not explained"
ARITHMETIC = (TIE, BIAS, MULTIPLIER, SATURATION, CLAMP, REST)
"""Reasons that an arithmetic can have, in the order in which they are tried."""

ULPS = 2.0**-21
"""Relative error that float32 multipliers and sums may have: eight rounding errors."""

Array = np.ndarray[Any, Any]


def decided(
    call: Call,
    args: tuple[Any, ...],
    given: Ingredients | None,
    grid: Grid,
    ours: Array,
    theirs: Array,
) -> Array:
    """For each element the index in :data:`ARITHMETIC` of the reason that it differs.

    Parameters
    ----------
    call, args
        The operation and its input.
    given
        Its weight and bias; None for an operation without.
    grid
        Of the result.
    ours, theirs
        The integers of the two arithmetics.
    """
    where = np.nonzero(ours != theirs)
    reasons = np.full(ours.shape, ARITHMETIC.index(REST))
    packed = packed_weight_of(call.what, args)
    if given is None or packed is None or not is_quantized(args[0]):
        return _clamps(reasons, ours, theirs)
    sums = _Sums(call, args, given, packed, grid, ours, theirs)
    for index in zip(*where, strict=True):
        name = sums.reason(index, int(ours[index]), int(theirs[index]))
        reasons[index] = ARITHMETIC.index(name)
    return _clamps(reasons, ours, theirs)


def _clamps(reasons: Array, ours: Array, theirs: Array) -> Array:
    """What is left lies beyond the least or the largest integer that one side has."""
    for low, high, inside, beyond in (
        (theirs.min(initial=0), theirs.max(initial=0), theirs, ours),
        (ours.min(initial=0), ours.max(initial=0), ours, theirs),
    ):
        left = reasons == ARITHMETIC.index(REST)
        cut = ((inside == high) & (beyond > high)) | ((inside == low) & (beyond < low))
        reasons[left & cut & (ours != theirs)] = ARITHMETIC.index(CLAMP)
    return reasons


class _Sums:
    """The exact accumulators of a layer, and what follows them."""

    def __init__(
        self,
        call: Call,
        args: tuple[Any, ...],
        given: Ingredients,
        packed: PackedWeight,
        grid: Grid,
        ours: Array,
        theirs: Array,
    ) -> None:
        x = args[0]
        self.grid = grid
        self.low = min(int(ours.min()), int(theirs.min()))
        self.high = max(int(ours.max()), int(theirs.max()))
        weight = given.weight
        integers = np.asarray(weight.int_repr(), dtype=np.float64)
        zero_points: Any = np.float64(np.asarray(packed.weight_zero_points))
        axis = 1 if getattr(packed, "transposed", False) else 0
        if zero_points.size > 1:
            zero_points = zero_points.reshape(
                [-1 if k == axis else 1 for k in range(integers.ndim)]
            )
        left = np.asarray(x.int_repr(), dtype=np.float64) - x.q_zero_point()
        layer = call.what if isinstance(call.what, Module) else None
        sums = run_with_weight(
            packed, from_numpy(left), from_numpy(integers - zero_points), None, layer
        )
        # Sums of integers below 2**53 are exact in double, in any order.
        self.accumulators = np.rint(np.asarray(sums))
        self.channel = ours.ndim - 1 if packed.operation == "qgemm" else 1
        scales = np.atleast_1d(np.asarray(packed.weight_scales, dtype=np.float64))
        self.units = [Fraction(float(each)) * Fraction(x.q_scale()) for each in scales]
        self.step = Fraction(float(grid.scale))
        self.bias = None if given.bias is None else np.asarray(given.bias, dtype=np.float64)
        self.saturated = _saturated(x, weight, packed, zero_points)

    def reason(self, index: tuple[int, ...], ours: int, theirs: int) -> str:
        """Why two integers of one accumulator differ."""
        accumulator = int(self.accumulators[index])
        channel = int(index[self.channel])
        unit = self.units[channel if len(self.units) > 1 else 0]
        bias = Fraction(0) if self.bias is None else Fraction(float(self.bias[channel]))
        real = accumulator * unit
        value = (real + bias) / self.step + int(self.grid.zero_point)
        in_units = round(bias / unit) if unit else 0
        other = (real + in_units * unit) / self.step + int(self.grid.zero_point)
        size = (abs(real) + abs(bias)) / self.step
        near = Fraction(ULPS) * (size + abs(int(self.grid.zero_point)) + 1)
        apart = abs(ours - theirs) == 1
        middle = Fraction(ours + theirs, 2)
        if apart and value == middle:
            return TIE
        if bias != in_units * unit and (
            self._turns(value, other, near, ours, theirs)
            or self._turns(other, value, near, ours, theirs)
        ):
            return BIAS
        if apart and abs(value - middle) <= near:
            return MULTIPLIER
        if self.saturated is not None:
            cut = int(self.saturated[index])
            after = (cut * unit + bias) / self.step + int(self.grid.zero_point)
            if cut != accumulator and (
                self._turns(value, after, near, ours, theirs)
                or self._turns(after, value, near, ours, theirs)
            ):
                return SATURATION
        return REST

    def _turns(
        self, before: Fraction, after: Fraction, near: Fraction, ours: int, theirs: int
    ) -> bool:
        """Whether one value rounds to one integer, and the other to the other one."""
        ends = self._rounds(before, near, ours), self._rounds(after, near, theirs)
        same = self._rounds(before, near, theirs) and self._rounds(after, near, ours)
        return all(ends) and not same

    def _rounds(self, value: Fraction, near: Fraction, integer: int) -> bool:
        """Whether a value rounds to an integer, give or take what float32 adds."""
        clamped = min(max(value, Fraction(self.low)), Fraction(self.high))
        return abs(clamped - integer) <= Fraction(1, 2) + near


def _saturated(x: Any, weight: Any, packed: PackedWeight, zero_points: Any) -> Array | None:
    """Accumulators of a linear layer whose pairs of products are cut to 16 bits."""
    if packed.operation != "qgemm":
        return None
    left = np.asarray(x.int_repr(), dtype=np.int64)
    left = left.reshape(-1, left.shape[-1])
    right = np.asarray(weight.int_repr(), dtype=np.int64)
    if left.shape[1] % 2:
        left, right = np.pad(left, ((0, 0), (0, 1))), np.pad(right, ((0, 0), (0, 1)))
    products = left[:, None, :] * right[None]
    pairs = products.reshape(*products.shape[:2], -1, 2).sum(axis=-1)
    lost = (np.clip(pairs, -(2**15), 2**15 - 1) - pairs).sum(axis=-1)
    if not lost.any():
        return None
    exact = (left - x.q_zero_point())[:, None, :] * (right - zero_points.astype(np.int64))[None]
    return (exact.sum(axis=-1) + lost).reshape(*x.shape[:-1], right.shape[0])
