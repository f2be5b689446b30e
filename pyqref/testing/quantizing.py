"""Real numbers on a grid: quantized per tensor and per channel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from .. import course
from ..course import Mistake
from ..dtypes import qint8, quint8
from ..numerics import affine
from ..numerics.affine import along_axis, reciprocal32
from ..numerics.rounding import fma32, round_half_even
from ..tensor import from_numpy, quantize_per_channel, quantize_per_tensor
from .operation import Arguments, Operation, Recipe, Stages
from .rounded import Changes, Parts, Rounded, derived, ends_of

__all__ = ["Quantize", "QuantizePerChannel"]


class Quantize(Rounded):
    """``eq-affine-quantize``."""

    name = "quantize"
    arithmetic = "eq-affine-quantize"
    names = ("x", "scale", "zero_point", "quant_min", "quant_max")

    def exercise(self, engine: str) -> str:
        return "quantize"

    def expected(self, arguments: Arguments, engine: str) -> np.ndarray:
        ends = arguments["quant_min"], arguments["quant_max"]
        storage = np.int8 if ends[0] < 0 else np.uint8
        numbers = arguments["x"], arguments["scale"], arguments["zero_point"]
        return affine.quantize_per_tensor(*numbers, *ends, storage)

    def parts(self, arguments: Arguments, engine: str) -> Parts:
        # Exact in double precision.
        inverse = np.float64(reciprocal32(arguments["scale"]))
        return Parts(arguments["x"].astype(np.float64), inverse, "quantize")

    def mistakes(self, engine: str) -> Iterator[Mistake]:
        yield from super().mistakes(engine)
        # The same mistakes where numbers are rounded to float32 on the way, twice or once.
        for mistake in course.get("quantize").mistakes:
            for numbers in (_product, _sum):
                function = partial(_rounded_on_the_way, numbers, mistake)
                yield Mistake(mistake.name, mistake.explanation, function)
        yield Mistake(
            "divides by the scale",
            "The reciprocal of the scale is rounded to float32, and multiplied.",
            partial(_quantized, lambda x, s, z: np.float64(x) / s + z),
        )
        yield Mistake(
            "divides by the scale in float32",
            "The reciprocal of the scale is rounded to float32, and multiplied.",
            partial(_quantized, lambda x, s, z: x / np.float32(s) + np.float32(z)),
        )
        yield Mistake(
            "computes in double precision",
            "Product and zero point are rounded to float32, once: a number next to a tie becomes "
            "one.",
            partial(_quantized, lambda x, s, z: np.float64(x) * np.float64(reciprocal32(s)) + z),
        )
        yield Mistake(
            "rounds the product before it adds the zero point",
            "Product and zero point are added with one rounding: a fused multiply-add.",
            partial(_quantized, lambda x, s, z: x * reciprocal32(s) + np.float32(z)),
        )

    def changes(self, engine: str) -> Changes:
        return iter(())

    def derivation(self, arguments: Arguments, engine: str, index: tuple[int, ...]) -> str:
        kind = qint8 if arguments["quant_min"] < 0 else quint8
        x, grid = from_numpy(arguments["x"].copy()), (arguments["scale"], arguments["zero_point"])
        return derived(lambda: quantize_per_tensor(x, *grid, kind), engine, index)

    def recipes(self, engine: str, signed: bool) -> Iterator[Recipe]:
        rng = np.random.default_rng(0)
        ends = ends_of(signed)
        low, high = ends["quant_min"], ends["quant_max"]
        middle = low + 119
        x = (rng.standard_normal((7, 9, 5)) * 4).astype(np.float32)
        grid = {"scale": 0.037, "zero_point": middle, **ends}
        yield Recipe("ordinary", ("odd shape",), {"x": x, **grid})
        halves = (np.arange(-50, 50) + 0.5).astype(np.float32)
        ties = {"x": halves * np.float32(0.25), "scale": 0.25, **ends}
        yield Recipe("ties", ("tie", "tie, odd zero point"), {**ties, "zero_point": middle})
        yield Recipe("ties, even zero point", ("tie",), {**ties, "zero_point": middle + 1})
        # Half a step and a little more or less: what float32 holds of it decides.
        steps = (halves[:, None] + np.array([-3e-6, -1e-6, 1e-6, 3e-6], np.float32)) * np.float32(
            0.37
        )
        near = {"x": steps.astype(np.float32), "scale": 0.37, **ends, "zero_point": middle}
        yield Recipe("next to ties", ("tie by rounding",), near)
        extreme = np.array([-1e30, 1e30, -300, 300, -np.inf, np.inf, 0], np.float32)
        far = {**grid, "x": extreme}
        hits = ("clamp below", "clamp above", "infinity")
        yield Recipe("far outside", hits, far)
        for end, zero_point in (("lower", low), ("upper", high)):
            hit = f"zero point at the {end} end"
            yield Recipe(hit, (hit,), {**grid, "x": x, "zero_point": zero_point})
        one = {**grid, "x": np.array([0.1], np.float32)}
        yield Recipe("one number", ("odd shape",), one)


def _product(a: Arguments) -> tuple[Any, int]:
    return a["x"] * reciprocal32(a["scale"]), a["zero_point"]


def _sum(a: Arguments) -> tuple[Any, int]:
    return fma32(a["x"], reciprocal32(a["scale"]), np.float32(a["zero_point"])), 0


def _rounded_on_the_way(numbers: Callable[..., Any], mistake: Mistake, a: Arguments) -> Any:
    value, zero_point = numbers(a)
    return mistake.function(value, 1.0, zero_point, a["quant_min"], a["quant_max"])


def _quantized(values: Callable[..., Any], a: Arguments) -> np.ndarray:
    whole = round_half_even(values(a["x"], a["scale"], a["zero_point"]))
    return np.clip(whole, a["quant_min"], a["quant_max"]).astype(np.int64)


class QuantizePerChannel(Operation):
    """``eq-affine-quantize-channel``."""

    name = "quantize_per_channel"
    arithmetic = "eq-affine-quantize-channel"
    names = ("x", "scales", "zero_points", "axis", "quant_min", "quant_max")

    def expected(self, arguments: Arguments, engine: str) -> np.ndarray:
        ends = arguments["quant_min"], arguments["quant_max"]
        storage = np.int8 if ends[0] < 0 else np.uint8
        names = ("x", "scales", "zero_points", "axis")
        given: list[Any] = [*(arguments[name] for name in names), *ends, storage]
        return affine.quantize_per_channel(*given)

    def stages(self, arguments: Arguments, engine: str) -> Stages:
        x, axis = arguments["x"], arguments["axis"]
        inverse = along_axis(reciprocal32(arguments["scales"]), x.ndim, axis)
        points = along_axis(arguments["zero_points"], x.ndim, axis)
        scaled = x.astype(np.float64) * inverse + points
        ends = arguments["quant_min"], arguments["quant_max"]
        return Stages(None, scaled, round_half_even(scaled), *ends)

    def mistakes(self, engine: str) -> Iterator[Mistake]:
        for mistake in course.get("quantize_per_channel").mistakes:
            function = partial(self._layout, mistake)
            yield Mistake(mistake.name, mistake.explanation, function)
        for mistake in course.get("quantize").mistakes:
            function = partial(self._ending, mistake)
            yield Mistake(mistake.name, mistake.explanation, function)

    def _layout(self, mistake: Mistake, a: Arguments) -> Any:
        return mistake.function(*(a[name] for name in self.names))

    def _ending(self, mistake: Mistake, a: Arguments) -> Any:
        places = a["x"].ndim, a["axis"]
        scales, points = (along_axis(a[name], *places) for name in ("scales", "zero_points"))
        scaled = a["x"].astype(np.float64) * reciprocal32(scales)
        return mistake.function(scaled, 1.0, points, a["quant_min"], a["quant_max"])

    def derivation(self, arguments: Arguments, engine: str, index: tuple[int, ...]) -> str:
        kind = qint8 if arguments["quant_min"] < 0 else quint8
        names = ("x", "scales", "zero_points")
        given: list[Any] = [from_numpy(arguments[name].copy()) for name in names]
        given += [arguments["axis"], kind]
        return derived(lambda: quantize_per_channel(*given), engine, index)

    def recipes(self, engine: str, signed: bool) -> Iterator[Recipe]:
        rng = np.random.default_rng(0)
        ends = ends_of(signed)
        low, high = ends["quant_min"], ends["quant_max"]
        x = (rng.standard_normal((5, 7, 5)) * 30).astype(np.float32)
        scales = np.array([1.0, 0.5, 0.25, 2.0, 0.125])
        points = np.array([low, high, low + 119, low + 120, low + 7])
        hits: tuple[str, ...] = ("per channel", "odd shape", "clamp below", "clamp above")
        hits += ("zero point at the lower end", "zero point at the upper end")
        for axis in (0, 2):
            given = {"x": x, "scales": scales, "zero_points": points, "axis": axis, **ends}
            yield Recipe(f"axis {axis}", hits, given)
        middle = np.array([low + 119, low + 120, low + 101])
        halves = np.arange(-20, 20) + 0.5
        steps = np.array([1.0, 0.5, 0.25])
        ties = (halves[None] * steps[:, None]).astype(np.float32)
        given = {"x": ties, "scales": steps, "zero_points": middle, "axis": 0, **ends}
        yield Recipe("ties", ("tie",), given)
