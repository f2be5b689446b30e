"""Layers with a weight: linear and convolutions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from .. import arithmetic
from ..course import Mistake
from ..numerics.accumulator import saturating_pairs
from ..numerics.convolution import quantized_conv, quantized_conv_transpose
from ..numerics.linear import linear_accumulator, quantized_linear
from ..numerics.requantize import Requantization, requantization, scaled_accumulator
from ..numerics.rounding import round_half_even
from .operation import Arguments, Operation, Recipe, Stages
from .rows import Accumulate, accumulators, rows_of

__all__ = ["ENGINES", "Weighted", "by_arithmetic", "model_of", "with_ending"]

#: Whose integers :mod:`pyqref.numerics` defines; of other systems :mod:`pyqref.arithmetic` does.
ENGINES = ("fbgemm", "x86", "qnnpack")
#: Turns a sum, the multiplier, zero point and both ends of the clamp into integers.
Ending = Callable[..., Any]
_OF_ALL = (
    *("x", "x_scale", "x_zero_point", "weight", "weight_scale", "weight_zero_point", "bias"),
    *("output_scale", "output_zero_point", "quant_min", "quant_max", "relu", "lower", "upper"),
    *("multiplier", "bias_integer"),
)


class Weighted(Operation):
    """A linear layer, or a convolution.

    Parameters
    ----------
    name
        Of the operation.
    recipes
        Makes the cases, from the name.
    mistakes
        Makes the known mistakes, from the operation and the engine.
    """

    any_arithmetic = True

    def __init__(
        self,
        name: str,
        recipes: Callable[[str], Iterator[Recipe]],
        mistakes: Callable[[Any, str], Iterator[Mistake]],
    ) -> None:
        self.name = name
        self._recipes, self._mistakes = recipes, mistakes
        self.names = _OF_ALL
        label = "eq-linear-accumulator"
        if name != "linear":
            self.names += ("stride", "padding", "dilation", "groups")
            label = "eq-conv-accumulator"
        if "transpose" in name:
            self.names += ("output_padding",)
            label = "eq-conv-transpose-accumulator"
        self.arithmetic = f"{label}, eq-requantize-bias, eq-requantize"

    def recipes(self, engine: str, signed: bool) -> Iterator[Recipe]:
        for recipe in self._recipes(self.name):
            arguments = _signed(recipe.arguments) if signed else recipe.arguments
            yield recipe._replace(arguments=_completed(arguments, engine))

    def expected(self, arguments: Arguments, engine: str) -> np.ndarray:
        if engine not in ENGINES:
            return by_arithmetic(arguments, arithmetic.get(engine))
        requant = _requantization(arguments, engine)
        names = ("x", "x_zero_point", "weight", "weight_zero_point")
        given: list[Any] = [*(arguments[name] for name in names), requant]
        if self.name == "linear":
            return quantized_linear(*given)
        names = ("stride", "padding", "dilation", "groups")
        if "transpose" not in self.name:
            return quantized_conv(*given, **{name: arguments[name] for name in names})
        names += ("output_padding",)  # type: ignore[assignment]
        return quantized_conv_transpose(*given, **{name: arguments[name] for name in names})

    def stages(self, arguments: Arguments, engine: str) -> Stages:
        sums = accumulators(arguments)
        value, multiplier = _parts(arguments, engine, sums)
        scaled = value * multiplier
        whole = round_half_even(scaled).astype(np.float64) + arguments["output_zero_point"]
        pairs = accumulators(arguments, _in_pairs)
        ends = arguments["lower"], arguments["upper"]
        sums, scaled, whole, pairs = (
            _in_layout(arguments, each) for each in (sums, scaled, whole, pairs)
        )
        return Stages(sums, scaled, whole, *ends, pairs)

    def mistakes(self, engine: str) -> Iterator[Mistake]:
        return self._mistakes(self, engine)

    def derivation(self, arguments: Arguments, engine: str, index: tuple[int, ...]) -> str:
        place = index if self.name == "linear" else (index[0], *index[2:], index[1])
        rows = rows_of(arguments)
        each = rows.weights[0].shape[0]
        group, channel = divmod(place[-1], each)
        scale, bias = arguments["weight_scale"], arguments["bias"]
        steps = model_of(engine).steps(
            rows.inputs[group][place[:-1]],
            arguments["x_zero_point"],
            rows.weights[group][channel],
            arguments["weight_zero_point"],
            None if bias is None else bias[place[-1]],
            arguments["x_scale"],
            scale if np.ndim(scale) == 0 else np.asarray(scale)[place[-1:],],
            arguments["output_scale"],
            arguments["output_zero_point"],
            arguments["lower"],
            arguments["upper"],
            _layer(arguments),
            _outside(arguments, place[:-1]),
        )
        lines = []
        for step in steps:
            decision = f"  > {step.decision}" if step.decision else ""
            lines.append(f"{step.name}: {step.formula} = {step.value}  [{step.label}]{decision}")
        return "\n".join(lines)


def model_of(engine: str) -> arithmetic.Arithmetic:
    """The arithmetic of an engine, or of that name."""
    return arithmetic.get("fbgemm" if engine == "x86" else engine)


def with_ending(
    arguments: Arguments,
    engine: str,
    ending: Ending,
    accumulate: Accumulate = linear_accumulator,
    fill: int | None = None,
    channels: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
) -> np.ndarray:
    """The layer with other sums, another ending, or another multiplier for each place.

    Parameters
    ----------
    arguments, engine
        Of the case.
    ending
        Makes integers.
    accumulate
        Makes sums.
    fill
        Integer beside the image; the zero point if None.
    channels
        From multipliers ``(N,)`` and sums ``(..., N)``, the multiplier of each sum.
    """
    value, multiplier = _parts(arguments, engine, accumulators(arguments, accumulate, fill))
    if channels is not None:
        multiplier = channels(np.asarray(multiplier), value)
    limits = arguments["output_zero_point"], arguments["lower"], arguments["upper"]
    return _in_layout(arguments, np.asarray(ending(value, multiplier, *limits)))


def _in_pairs(x: Any, x_zero_point: Any, weight: Any, weight_zero_point: Any) -> Any:
    """Sums of pairs that saturate at 16 bits, of inputs as bytes from 0 up."""
    if x.dtype == np.int8:
        x, x_zero_point = (x.astype(np.int64) + 128).astype(np.uint8), x_zero_point + 128
    centred = weight.astype(np.int64) - weight_zero_point
    exact = x.astype(np.int64) @ weight.astype(np.int64).T
    lost = exact - saturating_pairs(x, weight)
    return (x.astype(np.int64) - x_zero_point) @ centred.T - lost


def _in_layout(arguments: Arguments, channels_last: np.ndarray) -> np.ndarray:
    if "stride" not in arguments:
        return channels_last
    return np.ascontiguousarray(np.moveaxis(channels_last, -1, 1))


def _requantization(arguments: Arguments, engine: str) -> Requantization:
    return requantization(
        engine,  # type: ignore[arg-type]
        arguments["x_scale"],
        arguments["weight_scale"],
        arguments["output_scale"],
        arguments["output_zero_point"],
        arguments["bias"],
        arguments["quant_min"],
        arguments["quant_max"],
        arguments["relu"],
        arguments["x"].dtype.type,
    )


def _parts(arguments: Arguments, engine: str, sums: np.ndarray) -> tuple[Any, Any]:
    """Sums with their bias, in units of the accumulator, and the multiplier."""
    if engine in ENGINES:
        requant = _requantization(arguments, engine)
        alone = replace(requant, multiplier=np.ones_like(requant.multiplier))
        return scaled_accumulator(sums, alone), requant.multiplier
    scales = arguments["x_scale"], np.asarray(arguments["weight_scale"], np.float64)
    value = sums.astype(np.float64)
    if arguments["bias"] is not None:
        value = value + model_of(engine).bias(arguments["bias"], *scales)
    return value, np.atleast_1d(scales[0] * scales[1] / arguments["output_scale"])


def _layer(arguments: Arguments) -> arithmetic.Layer:
    if "stride" not in arguments:
        return arithmetic.Layer()
    groups, weight = arguments["groups"], arguments["weight"]
    channels = arguments["x"].shape[1] // groups
    is_transposed = "output_padding" in arguments
    outputs = weight.shape[1] if is_transposed else len(weight) // groups
    return arithmetic.Layer("conv", channels, outputs, groups)


def _outside(arguments: Arguments, place: tuple[int, ...] | None = None) -> np.ndarray | None:
    """Which taps lie beside the image; None if there are no such."""
    if "stride" not in arguments:
        return None
    image = {**arguments, "x": np.zeros_like(arguments["x"])}
    rows = rows_of(image, fill=1).inputs[0]
    beside = _layer(arguments).taps(rows)[..., 0] != 0
    if not beside.any():
        return None
    return beside if place is None else beside[place]


def by_arithmetic(
    arguments: Arguments,
    model: arithmetic.Arithmetic,
    accumulate: Accumulate | None = None,
    fill: int | None = None,
) -> np.ndarray:
    """The layer in an arithmetic, with other sums if given; parameters as of `with_ending`."""
    layer, outside = _layer(arguments), _outside(arguments)

    def its_own(x: Any, x_zero_point: Any, weight: Any, weight_zero_point: Any) -> Any:
        beside = None if outside is None else outside.reshape(len(x), -1)
        return model.accumulate(x, x_zero_point, weight, weight_zero_point, layer, beside)

    names = ("bias", "x_scale", "weight_scale", "output_scale", "output_zero_point")
    sums = accumulators(arguments, accumulate or its_own, fill)
    given: list[Any] = [arguments[name] for name in (*names, "lower", "upper")]
    integers = model.requantize(*[sums, *given, layer])
    return _in_layout(arguments, integers.astype(arguments["x"].dtype))


def _signed(arguments: Arguments) -> Arguments:
    """Return the same real numbers in [-128, 127]."""
    moved = dict(arguments, quant_min=-128, quant_max=127)
    moved["x"] = (arguments["x"].astype(np.int64) - 128).astype(np.int8)
    for name in ("x_zero_point", "output_zero_point"):
        moved[name] = arguments[name] - 128
    return moved


def _completed(arguments: Arguments, engine: str) -> Arguments:
    """With what follows from the arguments: ends of the clamp, multiplier, bias as integers."""
    a = dict(arguments)
    a["lower"] = max(a["quant_min"], a["output_zero_point"]) if a["relu"] else a["quant_min"]
    a["upper"] = a["quant_max"]
    outputs = a["weight"].shape[0]
    if "output_padding" in a:
        outputs = a["weight"].shape[1] * a["groups"]
    _, multiplier = _parts(a, engine, np.zeros((1, outputs), np.int64))
    a["multiplier"] = np.broadcast_to(multiplier, (outputs,)).copy()
    rounding = model_of(engine if engine not in ENGINES else "qnnpack")
    bias = np.zeros(outputs) if a["bias"] is None else a["bias"]
    units = rounding.bias(bias, a["x_scale"], np.asarray(a["weight_scale"]))
    a["bias_integer"] = np.asarray(round_half_even(units)).astype(np.int32)
    return a
