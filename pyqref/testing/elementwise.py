"""Sums and products of quantized arrays."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, ClassVar

import numpy as np

from .. import course
from ..course import Mistake
from ..numerics.affine import reciprocal32
from ..numerics.elementwise import Grid, add, dequantize_fused, mul, sum_fixed_point, zero_is_coarse
from ..numerics.requantize import requantization
from ..ops import quantized as ops
from .operation import Arguments, Recipe
from .rounded import Changes, Parts, Rounded, derived, ends_of, tensor_of

__all__ = ["Add", "Multiply"]

_NAMES = (
    *("a", "a_scale", "a_zero_point", "b", "b_scale", "b_zero_point"),
    *("output_scale", "output_zero_point", "quant_min", "quant_max", "relu", "lower", "upper"),
)


class _Pair(Rounded):
    """Base of sums and products."""

    names = _NAMES
    #: Scales of both sides with which every other result on a grid of step 1 is a tie.
    halves: ClassVar[tuple[float, float]]

    def recipes(self, engine: str, signed: bool) -> Iterator[Recipe]:
        for recipe in _recipes(self.halves):
            yield recipe._replace(arguments=_completed(recipe.arguments, signed))

    def changes(self, engine: str) -> Changes:
        yield (
            "takes one scale for both sides",
            "Each side has a scale of its own.",
            lambda a: {"b_scale": a["a_scale"]},
        )
        yield (
            "forgets the zero points of the inputs",
            "The real number 0 of each side is its zero point: subtract it.",
            lambda _: {"a_zero_point": 0, "b_zero_point": 0},
        )
        yield (
            "forgets the ReLU",
            "A fused ReLU clamps below at the zero point of the result.",
            lambda a: {"relu": False, "lower": a["quant_min"]},
        )
        yield (
            "clamps the ReLU at 0 instead of the zero point",
            "The real number 0 is stored as the zero point.",
            lambda a: {"relu": False, "quant_min": max(0, a["quant_min"])} if a["relu"] else {},
        )


class Add(_Pair):
    """``eq-quantized-add``, and ``eq-add-fixed-point`` on qnnpack."""

    name = "add"
    arithmetic = "eq-quantized-add, or eq-add-fixed-point on qnnpack"
    halves = (0.5, 1.0)
    has_engines = True

    def expected(self, arguments: Arguments, engine: str) -> np.ndarray:
        a, b, out = _grids(arguments)
        pair = arguments["a"], a, arguments["b"], b, out
        return add(*pair, engine, arguments["relu"])  # type: ignore[arg-type]

    def mistakes(self, engine: str) -> Iterator[Mistake]:
        yield from super().mistakes(engine)
        right = Mistake("rounds halves to even", "", course.get("requantize").solution)
        why = "The engine qnnpack rounds halves away from zero where it adds."
        if engine == "qnnpack":
            yield Mistake(right.name, why, partial(self.ended, engine, right))

    def parts(self, arguments: Arguments, engine: str) -> Parts:
        a, b, out = _grids(arguments)
        if engine == "qnnpack" and out.storage == np.uint8:
            total, shift = sum_fixed_point(arguments["a"], a, arguments["b"], b, out)
            return Parts(total.astype(np.float64), 2.0**-shift)
        exact_zero = zero_is_coarse(a, b, out)
        left, right = (
            dequantize_fused(arguments[name], grid, exact_zero)
            for name, grid in (("a", a), ("b", b))
        )
        return Parts(left + right, reciprocal32(out.scale))

    def changes(self, engine: str) -> Changes:
        yield from super().changes(engine)
        yield (
            "adds the integers",
            "Integers of different scales count different things: they need one scale first.",
            lambda a: {"a_scale": a["output_scale"], "b_scale": a["output_scale"]},
        )

    def derivation(self, arguments: Arguments, engine: str, index: tuple[int, ...]) -> str:
        function = ops.add_relu if arguments["relu"] else ops.add
        return derived(lambda: function(*_tensors(arguments)), engine, index)


class Multiply(_Pair):
    """``eq-quantized-mul``."""

    name = "mul"
    arithmetic = "eq-quantized-mul"
    halves = (0.5, 1.0)

    def expected(self, arguments: Arguments, engine: str) -> np.ndarray:
        a, b, out = _grids(arguments)
        return mul(arguments["a"], a, arguments["b"], b, out, arguments["relu"])

    def parts(self, arguments: Arguments, engine: str) -> Parts:
        # The multiplier has the form of eq-multiplier-qnnpack on every engine.
        a, b, out = _grids(arguments)
        left = arguments["a"].astype(np.int64) - a.zero_point
        right = arguments["b"].astype(np.int64) - b.zero_point
        requant = requantization("qnnpack", a.scale, b.scale, out.scale, out.zero_point)
        return Parts((left * right).astype(np.float32), requant.multiplier[0])

    def derivation(self, arguments: Arguments, engine: str, index: tuple[int, ...]) -> str:
        function = ops.mul_relu if arguments["relu"] else ops.mul
        return derived(lambda: function(*_tensors(arguments)), engine, index)


def _recipes(halves: tuple[float, float]) -> Iterator[Recipe]:
    every = np.arange(256, dtype=np.uint8)
    pairs = {"a": np.repeat(every, 256), "b": np.tile(every, 256)}
    scales = {"a_scale": 0.037, "b_scale": 0.051, "output_scale": 0.07}
    points = {"a_zero_point": 103, "b_zero_point": 131, "output_zero_point": 101}
    grids = {**scales, **points}
    hits: tuple[str, ...] = ("clamp below", "clamp above")
    yield Recipe("every pair of bytes", hits, {**pairs, **grids})
    fifth = every[::5]  # both ends among them
    some = {"a": np.repeat(fifth, fifth.size), "b": np.tile(fifth, fifth.size)}
    few = {"a": np.repeat(every[122:135], 13), "b": np.tile(every[122:135], 13)}
    steps = {"a_scale": halves[0], "b_scale": halves[1], "output_scale": 1.0}
    ties = {**few, **steps, "a_zero_point": 128, "b_zero_point": 128}
    hits = ("tie", "negative tie", "tie, odd zero point")
    yield Recipe("ties", hits, {**ties, "output_zero_point": 101})
    yield Recipe("ties, even zero point", hits[:2], {**ties, "output_zero_point": 100})
    for end, zero_point in (("lower", 0), ("upper", 255)):
        names = ("a_zero_point", "b_zero_point", "output_zero_point")
        at_end = dict.fromkeys(names, zero_point)
        hit = f"zero point at the {end} end"
        yield Recipe(f"zero points at the {end} end", (hit,), {**some, **scales, **at_end})
    yield Recipe("a fused ReLU", ("relu",), {**some, **grids, "relu": True})
    # So coarse that the rounding error of real zero shows.
    coarse = {"a_scale": 1028.02, "b_scale": 0.1, "output_scale": 0.2}
    points = {"a_zero_point": 255, "b_zero_point": 7, "output_zero_point": 60}
    yield Recipe("a coarse zero", ("clamp below",), {**some, **coarse, **points})
    odd = {"a": every[-105:].reshape(3, 5, 7), "b": every[:105].reshape(3, 5, 7)}
    yield Recipe("odd sizes", ("odd shape",), {**odd, **grids})


def _completed(arguments: Arguments, signed: bool) -> Arguments:
    """With ranges and ends of the clamp; the same real numbers in [-128, 127] if signed."""
    a: Arguments = {"relu": False, **ends_of(signed), **arguments}
    if signed:
        for name in ("a", "b"):
            a[name] = (a[name].astype(np.int64) - 128).astype(np.int8)
        for name in ("a_zero_point", "b_zero_point", "output_zero_point"):
            a[name] -= 128
    a["lower"] = max(a["quant_min"], a["output_zero_point"]) if a["relu"] else a["quant_min"]
    a["upper"] = a["quant_max"]
    return a


def _grids(arguments: Arguments) -> tuple[Grid, Grid, Grid]:
    ends = arguments["quant_min"], arguments["quant_max"], arguments["a"].dtype.type
    a, b, out = (
        Grid(arguments[f"{name}_scale"], arguments[f"{name}_zero_point"], *ends)
        for name in ("a", "b", "output")
    )
    return a, b, out


def _tensors(arguments: Arguments) -> tuple[Any, Any, float, int]:
    left, right = (
        tensor_of(arguments[name], arguments[f"{name}_scale"], arguments[f"{name}_zero_point"])
        for name in ("a", "b")
    )
    return left, right, arguments["output_scale"], arguments["output_zero_point"]
