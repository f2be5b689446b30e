"""Integers back to the real numbers for which they stand."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from .. import course
from ..course import Mistake
from ..numerics.affine import dequantize_per_tensor
from .operation import Arguments, Operation, Recipe, Stages
from .rounded import derived, ends_of, tensor_of

__all__ = ["Dequantize"]


class Dequantize(Operation):
    """``eq-affine-dequantize``."""

    name = "dequantize"
    arithmetic = "eq-affine-dequantize"
    names = ("x", "scale", "zero_point", "quant_min", "quant_max")

    def expected(self, arguments: Arguments, engine: str) -> np.ndarray:
        return dequantize_per_tensor(arguments["x"], arguments["scale"], arguments["zero_point"])

    def stages(self, arguments: Arguments, engine: str) -> Stages:
        return Stages()

    def mistakes(self, engine: str) -> Iterator[Mistake]:
        for mistake in course.get("dequantize").mistakes:
            function = partial(self._with, mistake)
            yield Mistake(mistake.name, mistake.explanation, function)
        yield Mistake(
            "keeps the scale in double precision",
            "The scale is rounded to float32 before it multiplies.",
            lambda a: (a["x"].astype(np.int64) - a["zero_point"]) * a["scale"],
        )

    def _with(self, mistake: Mistake, a: Arguments) -> Any:
        # float32 times an integer of nine bits is exact in double precision.
        return mistake.function(a["x"], float(np.float32(a["scale"])), a["zero_point"])

    def derivation(self, arguments: Arguments, engine: str, index: tuple[int, ...]) -> str:
        grid = arguments["scale"], arguments["zero_point"]
        return derived(lambda: tensor_of(arguments["x"], *grid).dequantize(), engine, index)

    def recipes(self, engine: str, signed: bool) -> Iterator[Recipe]:
        ends = ends_of(signed)
        low, high = ends["quant_min"], ends["quant_max"]
        every = np.arange(low, high + 1).astype(np.int8 if signed else np.uint8)
        for name, zero_point, hits in (
            ("every integer", low + 119, ()),
            ("zero point at the lower end", low, ("zero point at the lower end",)),
            ("zero point at the upper end", high, ("zero point at the upper end",)),
        ):
            given = {"x": every, "scale": 0.037, "zero_point": zero_point, **ends}
            yield Recipe(name, hits, given)
        odd = every[:105].reshape(3, 5, 7)
        given = {"x": odd, "scale": 0.1, "zero_point": low + 3, **ends}
        yield Recipe("odd sizes", ("odd shape",), given)
