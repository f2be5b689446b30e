"""Conditions that cases hit, and how many elements of a case hit each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..numerics.requantize import accumulator_scale, multiplier_fbgemm, multiplier_qnnpack
from .operation import Arguments, Stages

__all__ = ["CONDITIONS", "Condition", "counts"]


class Condition(NamedTuple):
    """Something that an implementation may get wrong.

    Attributes
    ----------
    meaning
        In words.
    occurs
        In which elements of a case, or in how many.
    """

    meaning: str
    occurs: Callable[[Arguments, Stages], Any]


def _inside(stages: Stages) -> Any:
    """Where the clamp changes nothing, and would not if the result were one step further."""
    assert stages.whole is not None
    return (stages.whole > stages.lower) & (stages.whole < stages.upper)


def _ties(arguments: Arguments, stages: Stages) -> Any:
    if stages.scaled is None:
        return np.zeros(0, bool)
    with np.errstate(invalid="ignore"):
        return (np.abs(stages.scaled) % 1 == 0.5) & _inside(stages)


def _negative_ties(arguments: Arguments, stages: Stages) -> Any:
    return 0 if stages.scaled is None else _ties(arguments, stages) & (stages.scaled < 0)


def _odd_ties(arguments: Arguments, stages: Stages) -> Any:
    return _ties(arguments, stages) if _zero_point(arguments) % 2 else 0


def _by_rounding(arguments: Arguments, stages: Stages) -> Any:
    """Not a tie, but float32 rounds it, or the multiplier, to one."""
    if stages.scaled is None:
        return 0
    if stages.accumulator is not None and arguments.get("bias") is None:
        unit = arguments["x_scale"] * np.asarray(arguments["weight_scale"])
        exact = stages.accumulator * np.float64(unit.flat[0] / arguments["output_scale"])
        return _ties(arguments, stages) & (np.abs(exact) % 1 != 0.5)
    with np.errstate(over="ignore", invalid="ignore"):
        narrow = np.float32(stages.scaled).astype(np.float64)
        return (narrow % 1 == 0.5) & (stages.scaled % 1 != 0.5) & _inside(stages)


def _beside(arguments: Arguments, stages: Stages) -> Any:
    """So near to a tie that a multiplier of 16 bits makes it one."""
    if stages.scaled is None:
        return 0
    with np.errstate(invalid="ignore"):
        distance = np.abs(np.abs(stages.scaled) % 1 - 0.5)
        return (distance > 0) & (distance < 2.0**-9) & _inside(stages)


def _below(arguments: Arguments, stages: Stages) -> Any:
    return 0 if stages.whole is None else stages.whole < stages.lower


def _above(arguments: Arguments, stages: Stages) -> Any:
    return 0 if stages.whole is None else stages.whole > stages.upper


def _relu(arguments: Arguments, stages: Stages) -> Any:
    """Clamped by the ReLU, not by the range."""
    if not arguments.get("relu") or stages.whole is None:
        return 0
    return (stages.whole < stages.lower) & (stages.whole >= arguments["quant_min"])


def _zero_point(arguments: Arguments) -> int:
    return int(arguments.get("output_zero_point") or arguments.get("zero_point") or 0)


def _zero_points(end: str) -> Callable[[Arguments, Stages], Any]:
    def count(arguments: Arguments, stages: Stages) -> Any:
        names = [each for each in arguments if each.rstrip("s").endswith("zero_point")]
        names = [each for each in names if not each.startswith("weight")]
        values = [np.asarray(arguments[each]) == arguments[end] for each in names]
        return sum(int(each.sum()) for each in values)

    return count


def _beyond(bits: int) -> Callable[[Arguments, Stages], Any]:
    def count(arguments: Arguments, stages: Stages) -> Any:
        sums = stages.accumulator
        return 0 if sums is None else np.abs(sums) >= 2 ** (bits - 1)

    return count


def _negative(arguments: Arguments, stages: Stages) -> Any:
    return 0 if stages.accumulator is None else stages.accumulator < 0


def _saturating(arguments: Arguments, stages: Stages) -> Any:
    return 0 if stages.saturating is None else stages.saturating != stages.accumulator


def _bias(arguments: Arguments, stages: Stages) -> Any:
    return 0 if arguments.get("bias") is None else arguments["bias"] != 0


def _between_units(arguments: Arguments, stages: Stages) -> Any:
    """The bias over the unit of the accumulator is no integer, by far."""
    if arguments.get("bias") is None or "x_scale" not in arguments:
        return 0
    units = arguments["bias"] / (arguments["x_scale"] * np.asarray(arguments["weight_scale"]))
    return np.abs(np.abs(units) % 1 - 0.5) < 0.3


def _reciprocal(arguments: Arguments, stages: Stages) -> Any:
    """Division and multiplication by the reciprocal give other multipliers."""
    if "weight_scale" not in arguments or "output_scale" not in arguments:
        return 0
    unit = accumulator_scale(arguments["x_scale"], arguments["weight_scale"])
    scale = arguments["output_scale"]
    return multiplier_fbgemm(unit, scale) != multiplier_qnnpack(unit, scale)


def _odd(arguments: Arguments, stages: Stages) -> Any:
    """No axis is a multiple of a vector of four."""
    first = next(each for each in arguments.values() if isinstance(each, np.ndarray))
    return int(first.ndim > 0 and all(size % 4 for size in first.shape))


def _padding(arguments: Arguments, stages: Stages) -> Any:
    zero_point = arguments.get("x_zero_point", arguments.get("zero_point", 0))
    return int(any(arguments.get("padding", ()))) and int(zero_point != 0)


def _per_channel(arguments: Arguments, stages: Stages) -> Any:
    scales = np.asarray(arguments.get("weight_scale", arguments.get("scales", 1.0)))
    return int(scales.ndim > 0 and len(np.unique(scales)) > 1)


def _weight_zero_point(arguments: Arguments, stages: Stages) -> Any:
    return int(arguments.get("weight_zero_point", 0) != 0)


def _infinite(arguments: Arguments, stages: Stages) -> Any:
    x = arguments.get("x")
    return 0 if x is None or x.dtype.kind != "f" else np.isinf(x)


CONDITIONS: dict[str, Condition] = {
    "tie": Condition("in the middle of two integers, inside the range", _ties),
    "negative tie": Condition("a tie below zero", _negative_ties),
    "tie, odd zero point": Condition("a tie whose zero point is odd", _odd_ties),
    "tie by rounding": Condition("no tie, but float32 makes it one", _by_rounding),
    "beside a tie": Condition("within 2**-9 of a tie", _beside),
    "clamp below": Condition("below the lower end", _below),
    "clamp above": Condition("above the upper end", _above),
    "relu": Condition("below the zero point, and clamped to it", _relu),
    "zero point at the lower end": Condition("quant_min", _zero_points("quant_min")),
    "zero point at the upper end": Condition("quant_max", _zero_points("quant_max")),
    "negative accumulator": Condition("a sum below zero", _negative),
    "beyond 16 bits": Condition("a sum that 16 bits do not hold", _beyond(16)),
    "beyond 24 bits": Condition("a sum that float32 may round", _beyond(25)),
    "pairs beyond 16 bits": Condition("pairs of products saturate at 16 bits", _saturating),
    "bias": Condition("a bias that is not zero", _bias),
    "bias between units": Condition("no multiple of the unit of the accumulator", _between_units),
    "reciprocal": Condition("the multiplier is another one by division", _reciprocal),
    "odd shape": Condition("no axis is a multiple of four", _odd),
    "padding": Condition("padding, where the zero point is not 0", _padding),
    "per channel": Condition("a scale for each channel", _per_channel),
    "weight zero point": Condition("a weight whose zero point is not 0", _weight_zero_point),
    "infinity": Condition("an infinite number", _infinite),
}
"""Conditions that cases can meet, by name."""


def counts(arguments: Arguments, stages: Stages) -> dict[str, int]:
    """How many elements hit each condition; conditions that none hits are left out."""
    found = {
        name: int(np.sum(condition.occurs(arguments, stages)))
        for name, condition in CONDITIONS.items()
    }
    return {name: count for name, count in found.items() if count}
