"""Linear layers that choose the grid of their input as they run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import course
from ..course import Mistake
from ..numerics.dynamic import dequantize_accumulator, linear_dynamic, quantize_input
from ..numerics.linear import linear_accumulator
from ..ops import quantized as ops
from ..tensor import from_numpy
from .operation import Arguments, Operation, Recipe, Stages
from .rounded import derived, weight_tensor

__all__ = ["LinearDynamic"]


class LinearDynamic(Operation):
    """``eq-linear-dynamic``."""

    name = "linear_dynamic"
    arithmetic = "eq-dynamic-input, eq-linear-accumulator, eq-dynamic-output"
    names = (*("x", "weight", "weight_scale", "weight_zero_point", "bias", "relu", "reduce_range"),)

    def expected(self, arguments: Arguments, engine: str) -> np.ndarray:
        given: list[Any] = [arguments[name] for name in self.names[:-1]]
        return linear_dynamic(*[*given, engine, arguments["reduce_range"]])

    def stages(self, arguments: Arguments, engine: str) -> Stages:
        q, _, zero_point = _input(arguments, engine)
        weight = arguments["weight"], arguments["weight_zero_point"]
        return Stages(linear_accumulator(q, zero_point, *weight))

    def mistakes(self, engine: str) -> Iterator[Mistake]:
        for mistake in course.get("accumulate").mistakes:
            yield Mistake(
                mistake.name,
                mistake.explanation,
                lambda a, f=mistake.function: _with(a, engine, f),
            )
        for name, why, change in (
            ("forgets the bias", "The bias is added to the real result.", {"bias": None}),
            ("forgets the ReLU", "A fused ReLU replaces negative results by 0.", {"relu": False}),
        ):
            yield Mistake(name, why, lambda a, c=change: self.expected({**a, **c}, engine))
        yield Mistake(
            "takes the other number of bits",
            "reduce_range says whether the input has 7 bits; qnnpack always takes 8.",
            lambda a: self.expected(
                {**a, "reduce_range": engine == "qnnpack" or not a["reduce_range"]},
                "fbgemm" if engine == "qnnpack" else engine,
            ),
        )
        yield Mistake(
            "takes the scale of the first channel for all",
            "Each output channel has a scale of its own.",
            lambda a: self.expected(
                {**a, "weight_scale": float(np.ravel(a["weight_scale"])[0])}, engine
            ),
        )
        yield Mistake(
            "takes a grid for each row",
            "One scale and one zero point hold for the whole input.",
            lambda a: np.concatenate(
                [self.expected({**a, "x": row[None]}, engine) for row in a["x"]]
            ),
        )
        yield Mistake(
            "does not quantize the input",
            "That is a weight-only layer: the sums must be of integers on both sides.",
            lambda a: _unquantized(a),
        )
        other = "fbgemm" if engine == "qnnpack" else "qnnpack"
        yield Mistake(
            "adds the bias as the other engine does",
            "fbgemm rounds the product and the sum once, qnnpack rounds each.",
            lambda a: _with(a, engine, linear_accumulator, other),
        )
        yield Mistake(
            f"computes as {other}",
            f"The results are those of the engine {other}.",
            lambda a: self.expected(a, other),
        )

    def derivation(self, arguments: Arguments, engine: str, index: tuple[int, ...]) -> str:
        def run() -> Any:
            bias = arguments["bias"]
            packed = ops.linear_prepack(
                weight_tensor(arguments), None if bias is None else from_numpy(bias.copy())
            )
            function = ops.linear_relu_dynamic if arguments["relu"] else ops.linear_dynamic
            return function(from_numpy(arguments["x"].copy()), packed, arguments["reduce_range"])

        return derived(run, engine, index)

    def recipes(self, engine: str, signed: bool) -> Iterator[Recipe]:
        rng = np.random.default_rng(0)
        x = rng.standard_normal((5, 7)).astype(np.float32)
        given: Arguments = {
            "x": x,
            "weight": rng.integers(-128, 128, (3, 7)).astype(np.int8),
            "weight_scale": 0.013,
            "weight_zero_point": 0,
            "bias": rng.standard_normal(3).astype(np.float32),
            "relu": False,
            "reduce_range": True,
        }
        yield Recipe("ordinary", ("bias", "odd shape", "negative accumulator"), given)
        yield Recipe("8 bits", ("bias",), {**given, "reduce_range": False})
        yield Recipe("no bias", (), {**given, "bias": None})
        scales = np.array([0.013, 0.002, 0.02])
        yield Recipe(
            "a scale for each channel", ("per channel",), {**given, "weight_scale": scales}
        )
        hits = ("weight zero point",)
        yield Recipe("a zero point of the weight", hits, {**given, "weight_zero_point": -7})
        yield Recipe("above zero only", (), {**given, "x": np.abs(x) + np.float32(0.5)})
        yield Recipe("below zero only", (), {**given, "x": -np.abs(x) - np.float32(0.5)})
        yield Recipe("zeros", (), {**given, "x": np.zeros_like(x)})
        yield Recipe("a fused ReLU", ("bias",), {**given, "relu": True})
        deep = {"x": np.abs(rng.standard_normal((3, 301))).astype(np.float32)}
        deep["weight"] = rng.integers(90, 128, (3, 301)).astype(np.int8)
        yield Recipe("a long sum", ("beyond 16 bits",), {**given, **deep})
        one = {"x": x[:1, :1], "weight": given["weight"][:1, :1], "bias": given["bias"][:1]}
        yield Recipe("one of everything", ("odd shape",), {**given, **one})


def _input(arguments: Arguments, engine: str) -> tuple[np.ndarray, float, int]:
    return quantize_input(arguments["x"], engine, arguments["reduce_range"])  # type: ignore[arg-type]


def _with(a: Arguments, engine: str, accumulate: Any, ending: str = "") -> np.ndarray:
    """The layer with other sums, or with the bias added as another engine does."""
    q, scale, zero_point = _input(a, engine)
    sums = accumulate(q, zero_point, a["weight"], a["weight_zero_point"])
    scales = scale, a["weight_scale"]
    which: Any = ending or engine
    y = dequantize_accumulator(np.asarray(sums), *scales, a["bias"], which)
    return np.maximum(y, np.float32(0)) if a["relu"] else y


def _unquantized(a: Arguments) -> np.ndarray:
    weight = (a["weight"].astype(np.float64) - a["weight_zero_point"]).T * a["weight_scale"]
    y = a["x"].astype(np.float64) @ weight + (0 if a["bias"] is None else a["bias"])
    return np.maximum(y, 0) if a["relu"] else y
