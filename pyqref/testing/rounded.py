"""Operations that end in one rounding: what is rounded, and the course's mistakes in doing so."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .. import course
from ..backends import quantized as settings
from ..course import Mistake
from ..dtypes import per_channel_affine, qint8, quint8
from ..numerics.rounding import round_half_even
from ..tensor.quantized import make_per_channel, make_per_tensor
from .operation import Arguments, Operation, Stages

__all__ = [
    "Changes",
    "Parts",
    "Rounded",
    "derived",
    "ends_of",
    "in_double",
    "tensor_of",
    "weight_tensor",
]


#: Mistakes that are right for other arguments: name, explanation, what to change.
Changes = Iterator[tuple[str, str, Callable[[Arguments], Arguments]]]


class Parts(NamedTuple):
    """Parts of the number that is rounded.

    Attributes
    ----------
    value, multiplier
        Their product is in units of the result.
    exercise
        Of the course: ``"requantize"`` where the zero point is added after the rounding,
        ``"quantize"`` where it is added before.
    """

    value: Any
    multiplier: Any
    exercise: str = "requantize"


class Rounded(Operation):
    """An operation with one rounding, one zero point and one clamp.

    Attributes
    ----------
    has_engines : bool
        Whether the engines differ.
    """

    has_engines: ClassVar[bool] = False

    def exercise(self, engine: str) -> str:
        """The exercise that most cases end as."""
        return "requantize"

    @abstractmethod
    def parts(self, arguments: Arguments, engine: str) -> Parts:
        """Return the parts of the number that is rounded."""

    @abstractmethod
    def changes(self, engine: str) -> Changes:
        """Mistakes that are right for other arguments: name, explanation, what to change."""

    def stages(self, arguments: Arguments, engine: str) -> Stages:
        value, multiplier, exercise = self.parts(arguments, engine)
        scaled = np.asarray(value * multiplier, np.float64)
        zero_point, lower, upper = _limits(arguments)
        if exercise == "quantize":
            scaled = scaled + zero_point
            return Stages(None, scaled, round_half_even(scaled), lower, upper)
        return Stages(None, scaled, round_half_even(scaled) + zero_point, lower, upper)

    def mistakes(self, engine: str) -> Iterator[Mistake]:
        exercise = self.exercise(engine)
        for mistake in course.get(exercise).mistakes:
            yield Mistake(mistake.name, mistake.explanation, partial(self.ended, engine, mistake))
            if exercise == "requantize":
                other = Mistake(mistake.name, mistake.explanation, in_double(mistake.function))
                yield Mistake(other.name, other.explanation, partial(self.ended, engine, other))
        for name, why, change in self.changes(engine):
            yield Mistake(name, why, partial(self._changed, engine, change))
        if self.has_engines:
            second = "fbgemm" if engine == "qnnpack" else "qnnpack"
            why = f"The results are those of the engine {second}."
            yield Mistake(f"computes as {second}", why, lambda a: self.expected(a, second))

    def ended(self, engine: str, mistake: Mistake, arguments: Arguments) -> Any:
        """The operation with a mistake of the course at its end."""
        value, multiplier, exercise = self.parts(arguments, engine)
        if exercise != self.exercise(engine):
            others = {each.name: each for each in course.get(exercise).mistakes}
            if mistake.name not in others:
                return self.expected(arguments, engine)
            mistake = others[mistake.name]
        if exercise == "quantize":
            return mistake.function(value * multiplier, 1.0, *_limits(arguments))
        return mistake.function(value, multiplier, *_limits(arguments))

    def _changed(self, engine: str, change: Any, arguments: Arguments) -> Any:
        return self.expected({**arguments, **change(arguments)}, engine)


def in_double(ending: Callable[..., Any]) -> Callable[..., Any]:
    """An ending that starts from the product in float32, and goes on in double precision.

    C's ``round`` is exact, where adding a half in float32 is not.
    """

    def end(value: Any, multiplier: Any, *limits: int) -> Any:
        return ending(np.asarray(value * multiplier, np.float64), 1.0, *limits)

    return end


def _limits(arguments: Arguments) -> tuple[int, int, int]:
    name = "output_zero_point" if "output_zero_point" in arguments else "zero_point"
    ends = ("lower", "upper") if "lower" in arguments else ("quant_min", "quant_max")
    return (arguments[name], *(arguments[each] for each in ends))


def ends_of(signed: bool) -> Arguments:
    """Ends of the range of 8 bits."""
    low, high = (-128, 127) if signed else (0, 255)
    return {"quant_min": low, "quant_max": high}


def derived(operation: Callable[[], Any], engine: str, index: tuple[int, ...]) -> str:
    """The derivation of one element of what an operation on tensors gives."""
    from ..explaining import recording

    before = settings.engine
    settings.engine = engine
    try:
        with recording():
            result = operation()
        return str(result.why(index))
    finally:
        settings.engine = before


def tensor_of(integers: np.ndarray, scale: float, zero_point: int) -> Any:
    """A quantized tensor of stored integers."""
    kind = quint8 if integers.dtype == np.uint8 else qint8
    return make_per_tensor(integers, scale, zero_point, kind)


def weight_tensor(arguments: Arguments) -> Any:
    """The weight of a layer as a quantized tensor, per channel where it has several scales."""
    weight, scale = arguments["weight"], np.asarray(arguments["weight_scale"], np.float64)
    zero_point = arguments["weight_zero_point"]
    if not scale.ndim:
        return make_per_tensor(weight, float(scale), zero_point, qint8)
    points = np.full(scale.shape, zero_point)
    return make_per_channel(weight, scale, points, 0, qint8, per_channel_affine)
