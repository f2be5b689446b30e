"""Why two arithmetics give other integers for the same ingredients, element by element.

Each reason is tried alone, in exact arithmetic: the value before rounding is an integer
accumulator, times a fraction, and either lies on a tie or it does not.
"""

from __future__ import annotations

import warnings
from fractions import Fraction
from functools import cache, partial
from typing import Any

import numpy as np

from ..arithmetic import X86Saturating, use
from ..arithmetic.layer import layer_of
from ..arithmetic.packed import patches, weight_rows
from ..nn.diagnostics import NoEffectWarning
from ..nn.modules import Module
from ..ops.quantized.packed import PackedWeight
from ..tensor import from_numpy
from .float_forms import packed_weight_of, run_with_weight
from .running import Call
from .stages import TensorQParams
from .values import is_quantized, leaves
from .variants import Ingredients

__all__ = ["ARITHMETIC", "decided"]

TIE = "tie broken the other way"
BIAS = "bias rounded to integer"
MULTIPLIER = "multiplier rounded otherwise"
TWICE = "rounded twice"
SATURATION = "saturation"
OTHERWISE = "rounded otherwise on the way"
CLAMP = "clamp range"
REST = "not explained"
ARITHMETIC = (TIE, BIAS, MULTIPLIER, TWICE, SATURATION, OTHERWISE, CLAMP, REST)
"""Reasons that an arithmetic can have, in the order in which they are tried."""

ULPS = 2.0**-21
"""Relative error that float32 multipliers and sums may have: eight rounding errors."""

Array = np.ndarray[Any, Any]


def decided(
    call: Call,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    given: Ingredients | None,
    grid: TensorQParams,
    ours: Array,
    theirs: Array,
) -> Array:
    """Return for each element the index in :data:`ARITHMETIC` of the reason for its difference.

    Parameters
    ----------
    call, args, kwargs
        The operation and its inputs.
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
        exact = _in_double(call, args, kwargs, ours.shape)
        if exact is not None:
            # An integer next to the rounded exact result is a matter of rounding on the way to it.
            near = (np.abs(ours - exact) <= 1) & (np.abs(theirs - exact) <= 1)
            reasons[near] = ARITHMETIC.index(OTHERWISE)
        return _clamps(reasons, ours, theirs)
    sums = _Sums(call, args, given, packed, grid, ours, theirs)
    for index in zip(*where, strict=True):
        name = sums.reason(index, int(ours[index]), int(theirs[index]))
        reasons[index] = ARITHMETIC.index(name)
    return _clamps(reasons, ours, theirs)


def _in_double(
    call: Call, args: tuple[Any, ...], kwargs: dict[str, Any], shape: tuple[int, ...]
) -> Array | None:
    """The integers of an operation that computes in double precision and rounds once."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoEffectWarning)
        with use("float64"):
            result = leaves(call.run(*args, **kwargs))[0]
    if not is_quantized(result) or tuple(result.shape) != shape:
        return None
    return np.asarray(result.int_repr()).astype(np.int64)


def _clamps(reasons: Array, ours: Array, theirs: Array) -> Array:
    """Mark other differences that lie beyond the least or the largest integer of a side."""
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
        grid: TensorQParams,
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
        self.saturated = cache(partial(_saturated, x, packed, layer))

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
        for after in self._twice(accumulator + in_units, unit / self.step):
            if any(
                self._turns(each, after, near, ours, theirs)
                or self._turns(after, each, near, ours, theirs)
                for each in (value, other)
            ):
                return TWICE
        cut = int(self.saturated()[index])
        for added in (bias, in_units * unit):
            after = (cut * unit + added) / self.step + int(self.grid.zero_point)
            if cut != accumulator and (
                self._turns(value, after, near, ours, theirs)
                or self._turns(after, value, near, ours, theirs)
            ):
                return SATURATION
        return REST

    def _twice(self, units: int, multiplier: Fraction) -> list[Fraction]:
        """Return results of fixed point: rounded after the 31-bit product, before the shift."""
        shift = 0
        while 0 < multiplier < Fraction(1, 2):
            multiplier, shift = multiplier * 2, shift + 1
        if not shift:
            return []
        product = units * multiplier
        ends = {round(product - Fraction(ULPS)), round(product + Fraction(ULPS))}
        return [Fraction(each, 2**shift) + int(self.grid.zero_point) for each in ends]

    def _turns(
        self, before: Fraction, after: Fraction, near: Fraction, ours: int, theirs: int
    ) -> bool:
        """Return True if each value rounds to its own integer and not to that of the other."""
        ends = self._rounds(before, near, ours), self._rounds(after, near, theirs)
        same = self._rounds(before, near, theirs) and self._rounds(after, near, ours)
        return all(ends) and not same

    def _rounds(self, value: Fraction, near: Fraction, integer: int) -> bool:
        """Return True if a value rounds to an integer, give or take the error of float32."""
        clamped = min(max(value, Fraction(self.low)), Fraction(self.high))
        return abs(clamped - integer) <= Fraction(1, 2) + near


def _saturated(x: Any, packed: Any, layer: Any) -> Array:
    """Accumulators whose pairs of products are cut to 16 bits (``eq-saturating-pairs``)."""
    model, zero_point = X86Saturating(), x.q_zero_point()
    weights, zero_points = weight_rows(packed)
    if packed.operation == "qgemm":
        left = np.asarray(x.int_repr())
        return np.asarray(model.accumulate(left, zero_point, weights[0], zero_points[0]))
    x = layer._padded(x) if hasattr(layer, "_padded") else x
    parts = [
        np.concatenate(
            [
                model.accumulate(each, zero_point, weight, zeros, layer_of(packed), outside)
                for each, weight, zeros in zip(rows, weights, zero_points, strict=True)
            ],
            axis=-1,
        )
        for _, rows, outside in patches(packed, np.asarray(x.int_repr()), zero_point)
    ]
    return np.moveaxis(np.concatenate(parts), -1, 1)
