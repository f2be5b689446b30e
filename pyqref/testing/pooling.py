"""Average pooling of quantized arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..course import Mistake
from ..nn import functional
from ..numerics.pooling import averaged_windows, avg_pool
from ..numerics.requantize import multiplier_fbgemm
from .operation import Arguments, Recipe
from .rounded import Changes, Parts, Rounded, derived, ends_of, tensor_of

__all__ = ["AveragePool"]

#: By number of spatial axes: shape, kernel, stride, padding.
_SHAPES: dict[int, tuple[tuple[int, ...], ...]] = {
    1: ((3, 3, 11), (3,), (2,), (1,)),
    2: ((1, 3, 7, 9), (3, 2), (2, 1), (1, 1)),
    3: ((1, 3, 3, 5, 7), (2, 3, 2), (1, 2, 1), (1, 1, 0)),
}


class AveragePool(Rounded):
    """``eq-quantized-avg-pool`` in one, two or three dimensions.

    Parameters
    ----------
    spatial
        How many.
    """

    names = (
        *("x", "scale", "zero_point", "kernel", "stride", "padding", "ceil_mode"),
        *("count_include_pad", "quant_min", "quant_max", "lower", "upper"),
    )
    arithmetic = "eq-quantized-avg-pool, eq-quantized-mean"

    def __init__(self, spatial: int) -> None:
        self.spatial = spatial
        self.name = f"avg_pool{spatial}d"

    has_engines = True

    def exercise(self, engine: str) -> str:
        return "requantize" if engine == "qnnpack" else "quantize"

    def mistakes(self, engine: str) -> Iterator[Mistake]:
        # A mean of integers lies in their range.
        without = ("casts before it clamps", "does not clamp")
        return (each for each in super().mistakes(engine) if each.name not in without)

    def expected(self, arguments: Arguments, engine: str) -> np.ndarray:
        scale = arguments["scale"]
        x, zero_point, kernel, stride, padding, *flags = _windows(arguments)
        ceil_mode, count_include_pad = flags
        return avg_pool(
            *(x, zero_point, kernel, stride, padding),
            ceil_mode=ceil_mode,
            count_include_pad=count_include_pad,
            engine=engine,  # type: ignore[arg-type]
            scale=scale,
        )

    def parts(self, arguments: Arguments, engine: str) -> Parts:
        view, count = averaged_windows(*_windows(arguments))
        total = view.sum(axis=tuple(range(-self.spatial, 0))).astype(np.float32)
        number = np.asarray(count).astype(np.float32)
        if engine == "qnnpack" and not arguments["ceil_mode"]:
            # eq-quantized-mean: the scale of the result is that of the input times the count.
            scale = np.float32(arguments["scale"])
            divisor: Any = scale * number
            return Parts(total, multiplier_fbgemm(scale, divisor))
        return Parts(total / number, np.float32(1), "quantize")

    def changes(self, engine: str) -> Changes:
        yield (
            "counts the padding the other way",
            "count_include_pad says whether the sum is divided by all places of a window.",
            lambda a: {"count_include_pad": not a["count_include_pad"]},
        )
        yield (
            "pads with 0 instead of the zero point",
            "Padding stands for the real number 0, whose integer is the zero point.",
            _padded_with_zero,
        )

    def derivation(self, arguments: Arguments, engine: str, index: tuple[int, ...]) -> str:
        x, zero_point, *places = _windows(arguments)
        function = getattr(functional, self.name)
        tensor = tensor_of(x, arguments["scale"], zero_point)
        return derived(lambda: function(tensor, *places), engine, index)

    def recipes(self, engine: str, signed: bool) -> Iterator[Recipe]:
        for recipe in self._recipes():
            yield recipe._replace(arguments=_completed(recipe.arguments, signed))

    def _recipes(self) -> Iterator[Recipe]:
        rng = np.random.default_rng(0)
        shape, kernel, stride, padding = _SHAPES[self.spatial]
        names = ("kernel", "stride", "padding")
        whole = (0,) * self.spatial
        places = dict(zip(names, (kernel, stride, padding), strict=True))
        x = rng.integers(0, 256, shape).astype(np.uint8)
        given = {"x": x, "scale": 0.1, "zero_point": 119, **places}
        yield Recipe("ordinary", ("padding", "odd shape"), given)
        hits = ("padding",)
        yield Recipe("padding not counted", hits, {**given, "count_include_pad": False})
        yield Recipe("a last window of a part", (), {**given, "ceil_mode": True})
        # Pairs of neighbours along the last axis.
        pairs = dict(zip(names, ((1,) * (self.spatial - 1) + (2,),) * 2 + (whole,), strict=True))
        near = (119 + rng.integers(-9, 10, shape)).astype(np.uint8)
        ties = {"x": near, "scale": 0.1, "zero_point": 119, **pairs}
        yield Recipe("ties", ("tie", "tie, odd zero point"), ties)
        yield Recipe("ties, even zero point", ("tie",), {**ties, "zero_point": 118})
        for end, zero_point in (("lower", 0), ("upper", 255)):
            hit = f"zero point at the {end} end"
            points = {**given, "zero_point": zero_point}
            yield Recipe(f"zero point at the {end} end", (hit,), points)
        ones = dict(zip(names, ((1,) * self.spatial,) * 2 + (whole,), strict=True))
        one = {**ones, "x": x.reshape(-1)[:1].reshape((1,) * x.ndim)}
        yield Recipe("one of everything", ("odd shape",), {**given, **one})


def _windows(a: Arguments) -> tuple[Any, ...]:
    names = ("x", "zero_point", "kernel", "stride", "padding", "ceil_mode", "count_include_pad")
    return tuple(a[name] for name in names)


def _completed(arguments: Arguments, signed: bool) -> Arguments:
    a: Arguments = {"ceil_mode": False, "count_include_pad": True, **arguments}
    a.update(ends_of(signed))
    if signed:
        a["x"] = (a["x"].astype(np.int64) - 128).astype(np.int8)
        a["zero_point"] -= 128
    return {**a, "lower": a["quant_min"], "upper": a["quant_max"]}


def _padded_with_zero(a: Arguments) -> Arguments:
    if not a["count_include_pad"] or a["ceil_mode"]:
        return {}
    border = [(0, 0), (0, 0), *((p, p) for p in a["padding"])]
    return {"x": np.pad(a["x"], border), "padding": (0,) * len(a["padding"])}
