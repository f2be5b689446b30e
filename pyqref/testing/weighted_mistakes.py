"""Mistakes in linear layers and convolutions: those of the course, and those of layouts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from .. import arithmetic, course
from ..course import Mistake
from .operation import Arguments
from .rounded import in_double
from .weighted import ENGINES, Weighted, by_arithmetic, model_of, with_ending

__all__ = ["mistakes_of"]


def mistakes_of(operation: Weighted, engine: str) -> Iterator[Mistake]:
    """Each as a function from the arguments of a case to a result."""
    exercise = course.get("requantize")
    right, own = exercise.solution, model_of(engine)
    for mistake in course.get("accumulate").mistakes:
        function = partial(by_arithmetic, model=own, accumulate=mistake.function)
        yield Mistake(mistake.name, mistake.explanation, function)
    for mistake in exercise.mistakes:
        for ending in (mistake.function, in_double(mistake.function)):
            function = partial(_with, engine, ending)
            yield Mistake(mistake.name, mistake.explanation, function)
    if engine not in ENGINES:
        yield Mistake(
            "rounds halves to even",
            f"Ties go elsewhere in {own.summary}.",
            partial(_with, engine, right),
        )
    yield Mistake(
        "keeps 16 bits of the multiplier",
        "The multiplier needs all bits of a float32, or 31 bits of an integer.",
        partial(_with, engine, right, channels=_of_16_bits),
    )
    yield Mistake(
        "takes the scale of another axis",
        "The multipliers belong to the output channels: axis 1 of an image, the last of a matrix.",
        partial(_with, engine, right, channels=_along_another_axis),
    )
    if operation.name != "linear":
        yield Mistake(
            "pads with 0 instead of the zero point",
            "Padding stands for the real number 0, whose integer is the zero point of the input.",
            partial(by_arithmetic, model=own, fill=0),
        )
    for name, why, change in _changes(operation.name):
        yield Mistake(name, why, _changed(operation, engine, change))
    for name in arithmetic.names():
        model = arithmetic.get(name)
        if name != own.name:
            yield Mistake(
                f"computes as {name}",
                f"The results are those of {model.summary}.",
                partial(by_arithmetic, model=model),
            )


def _with(engine: str, ending: Any, arguments: Arguments, **changes: Any) -> np.ndarray:
    return with_ending(arguments, engine, ending, **changes)


def _of_16_bits(multiplier: np.ndarray, value: np.ndarray) -> np.ndarray:
    fraction, exponent = np.frexp(multiplier.astype(np.float64))
    return np.ldexp(np.rint(fraction * 2**16), exponent - 16)


def _along_another_axis(multiplier: np.ndarray, value: np.ndarray) -> np.ndarray:
    """The place along the last axis of the image, or the row, chooses the multiplier."""
    places = np.arange(value.shape[-2]) % multiplier.size
    return multiplier[places][:, np.newaxis]


def _changed(
    operation: Weighted, engine: str, change: Callable[[Arguments], Arguments]
) -> Callable[[Arguments], np.ndarray]:
    return lambda arguments: operation.expected({**arguments, **change(arguments)}, engine)


def _unit(a: Arguments) -> Any:
    """Return the value of one unit of the accumulator."""
    return a["x_scale"] * np.asarray(a["weight_scale"], np.float64)


def _in_units(a: Arguments, bias: Any) -> Arguments:
    """A bias that is added to the accumulator as it is."""
    return {"bias": None if a["bias"] is None else np.float32(np.rint(bias) * _unit(a))}


def _bias(a: Arguments) -> Any:
    return 0 if a["bias"] is None else a["bias"].astype(np.float64)


def _changes(name: str) -> Iterator[tuple[str, str, Callable[[Arguments], Arguments]]]:
    """Mistakes that are right for other arguments."""
    yield (
        "forgets the bias",
        "The bias is added to the accumulator, before the multiplication.",
        lambda _: {"bias": None},
    )
    yield (
        "adds the bias in units of the output",
        "It is added to the accumulator, whose unit is x_scale * weight_scale.",
        lambda a: _in_units(a, _bias(a) / a["output_scale"]),
    )
    yield (
        "adds the bias in units of the input",
        "The unit of the accumulator is the product x_scale * weight_scale.",
        lambda a: _in_units(a, _bias(a) / a["x_scale"]),
    )
    yield (
        "adds the bias in units of the weight",
        "The unit of the accumulator is the product x_scale * weight_scale.",
        lambda a: _in_units(a, _bias(a) / np.asarray(a["weight_scale"])),
    )
    yield (
        "adds the real bias to the accumulator",
        "It is added to the accumulator, whose unit is x_scale * weight_scale, not 1.",
        lambda a: _in_units(a, _bias(a)),
    )
    yield (
        "truncates the bias to units of the accumulator",
        "The bias is rounded to the nearest unit on some engines, and stays real on others.",
        lambda a: _in_units(a, np.trunc(_bias(a) / _unit(a))),
    )
    yield (
        "rounds the bias to units of the accumulator",
        "Here the bias stays real until the sum is multiplied.",
        lambda a: _in_units(a, np.rint(_bias(a) / _unit(a))),
    )
    yield (
        "forgets the ReLU",
        "A fused ReLU clamps below at the zero point of the output.",
        lambda a: {"relu": False, "lower": a["quant_min"]},
    )
    yield (
        "clamps the ReLU at 0 instead of the zero point",
        "The real number 0 is stored as the zero point.",
        _clamped_at_zero,
    )
    yield (
        "takes the scale of the first channel for all",
        "Each output channel has a multiplier of its own.",
        lambda a: {"weight_scale": np.full_like(a["weight_scale"], np.ravel(a["weight_scale"])[0])},
    )
    yield from _layouts(name)


def _clamped_at_zero(a: Arguments) -> Arguments:
    low = max(0, a["quant_min"])
    return {"relu": False, "quant_min": low, "lower": low} if a["relu"] else {}


def _layouts(name: str) -> Iterator[tuple[str, str, Callable[[Arguments], Arguments]]]:
    """Weights that are read in another order."""
    if name == "linear":
        yield (
            "reads the weight transposed",
            "The weight is (N, K): a row for each output.",
            lambda a: {"weight": _read(a["weight"], a["weight"].T.shape, (1, 0))},
        )
        return
    yield (
        "reads the weight with its channels last",
        "The weight is (N, C, *kernel) in memory, not (N, *kernel, C).",
        lambda a: {"weight": _channels_last(a["weight"])},
    )
    yield (
        "flips the kernel",
        "Tap k of the weight meets input o * stride + k * dilation; a transposed layer scatters.",
        lambda a: {"weight": np.flip(a["weight"], tuple(range(2, a["weight"].ndim)))},
    )
    if name != "depthwise_conv2d":
        yield (
            "exchanges the channels of the weight",
            "Outputs are the first axis of a weight, and the second of a transposed layer.",
            lambda a: {"weight": _exchanged(a["weight"])},
        )


def _read(weight: np.ndarray, shape: tuple[int, ...], axes: tuple[int, ...]) -> np.ndarray:
    """The bytes of a weight read in another shape, its axes then put in order."""
    return np.ascontiguousarray(weight).reshape(shape).transpose(axes)


def _channels_last(weight: np.ndarray) -> np.ndarray:
    outputs, channels, *kernel = weight.shape
    last = weight.ndim - 1
    if channels == 1:  # depthwise: the channels are those of the image
        return _read(weight, (*kernel, outputs), (last - 1, *range(last - 1)))[:, np.newaxis]
    return _read(weight, (outputs, *kernel, channels), (0, last, *range(1, last)))


def _exchanged(weight: np.ndarray) -> np.ndarray:
    outputs, channels, *kernel = weight.shape
    return _read(weight, (channels, outputs, *kernel), (1, 0, *range(2, weight.ndim)))
