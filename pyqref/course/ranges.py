"""Exercises on choosing the scale and the zero point: parameters of a range, observers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._typing import Array
from .arrays import float32
from .exercise import Case, Exercise, Mistake
from .wrong import right

__all__ = ["AFFINE_QPARAMS", "MIN_MAX_OBSERVER", "MOVING_AVERAGE_OBSERVER", "SYMMETRIC_SCALE"]

EPS = 2.0**-23


def affine(low: float, high: float, quant_min: int, quant_max: int) -> tuple[float, int]:
    """Solution."""
    low, high = min(low, 0.0), max(high, 0.0)
    return _with_scale(low, high, quant_min, quant_max, quant_max - quant_min)


def _with_scale(low: float, high: float, quant_min: int, quant_max: int, steps: int) -> Any:
    scale = max((high - low) / steps, EPS)
    return scale, int(np.clip(quant_min - right(low / scale), quant_min, quant_max))


def without_zero(low: float, high: float, quant_min: int, quant_max: int) -> tuple[float, int]:
    """The range as it is."""
    return _with_scale(low, high, quant_min, quant_max, quant_max - quant_min)


def by_count(low: float, high: float, quant_min: int, quant_max: int) -> tuple[float, int]:
    """Divided by 256."""
    low, high = min(low, 0.0), max(high, 0.0)
    return _with_scale(low, high, quant_min, quant_max, quant_max - quant_min + 1)


def without_quant_min(low: float, high: float, quant_min: int, quant_max: int) -> tuple[float, int]:
    """The zero point counted from 0."""
    scale, _ = affine(low, high, quant_min, quant_max)
    return scale, int(np.clip(-right(min(low, 0.0) / scale), quant_min, quant_max))


def truncated_point(low: float, high: float, quant_min: int, quant_max: int) -> tuple[float, int]:
    """The zero point by a cast."""
    scale, _ = affine(low, high, quant_min, quant_max)
    return scale, int(np.clip(quant_min - int(min(low, 0.0) / scale), quant_min, quant_max))


def real_point(low: float, high: float, quant_min: int, quant_max: int) -> tuple[float, float]:
    """The zero point not rounded."""
    scale, _ = affine(low, high, quant_min, quant_max)
    return scale, float(np.clip(quant_min - min(low, 0.0) / scale, quant_min, quant_max))


def without_smallest(low: float, high: float, quant_min: int, quant_max: int) -> tuple[float, int]:
    """A scale that may be 0."""
    scale, point = affine(low, high, quant_min, quant_max)
    width = max(high, 0.0) - min(low, 0.0)
    return (scale, point) if width > EPS else (width / (quant_max - quant_min), point)


AFFINE_QPARAMS = Exercise(
    name="affine_qparams",
    task=(
        "Give the scale and the zero point with which quant_min..quant_max covers the range "
        "low..high. Widen the range so that it holds 0, divide its width by the number of steps, "
        "take 2**-23 where that is less, and let the zero point be the integer (rounded with ties "
        "to even, clamped) on which the real number 0 falls."
    ),
    signature="affine_qparams(low, high, quant_min, quant_max)",
    results=("scale", "zero_point"),
    label="eq-affine-qparams",
    reference="pyqref.numerics.qparams.affine_qparams",
    solution=affine,
    cases=(
        Case("on both sides of zero", (-1.0, 3.0, 0, 255)),
        Case("signed integers", (-1.5, 3.0, -128, 127)),
        Case("above zero only", (0.5, 2.0, 0, 255)),
        Case("below zero only", (-3.0, -1.0, 0, 255)),
        Case("nothing but zero", (0.0, 0.0, 0, 255)),
        Case("four bits", (-0.33, 1.0, 0, 15)),
    ),
    mistakes=(
        Mistake(
            "the range does not hold zero",
            "0 must be an integer exactly (padding, ReLU): take min(low, 0) and max(high, 0).",
            without_zero,
        ),
        Mistake(
            "divides by the number of integers",
            "256 integers have 255 steps between them: divide by quant_max - quant_min.",
            by_count,
        ),
        Mistake(
            "forgets quant_min",
            "The smallest number falls on quant_min, not on 0: z = quant_min - round(low / scale).",
            without_quant_min,
        ),
        Mistake(
            "truncates the zero point",
            "int() drops the fraction: round to the nearest.",
            truncated_point,
        ),
        Mistake(
            "leaves the zero point real",
            "The zero point is one of the integers: round it.",
            real_point,
        ),
        Mistake(
            "lets the scale become 0",
            "A range without width would divide by 0 later: take at least 2**-23.",
            without_smallest,
        ),
    ),
)


def symmetric(low: float, high: float, quant_min: int, quant_max: int) -> float:
    """Solution."""
    return max(max(-low, high, 0.0) / ((quant_max - quant_min) / 2), EPS)


SYMMETRIC_SCALE = Exercise(
    name="symmetric_scale",
    task=(
        "Give the scale of the range low..high made symmetric about 0: its larger half, divided "
        "by half of the steps from quant_min to quant_max, and 2**-23 at least."
    ),
    signature="symmetric_scale(low, high, quant_min, quant_max)",
    results=("scale",),
    label="eq-symmetric-scale",
    reference="pyqref.numerics.qparams.symmetric_qparams",
    solution=symmetric,
    cases=(
        Case("larger above", (-1.0, 3.0, -128, 127)),
        Case("larger below", (-4.0, 1.0, -128, 127)),
        Case("above zero only", (0.5, 2.0, -128, 127)),
        Case("nothing but zero", (0.0, 0.0, -128, 127)),
        Case("narrow range", (-2.0, 1.5, -127, 127)),
    ),
    mistakes=(
        Mistake(
            "off by one: 127 for 127.5",
            "Half of the steps from -128 to 127 is 127.5, not quant_max.",
            lambda low, high, _low, top: max(max(-low, high, 0.0) / top, EPS),
        ),
        Mistake(
            "takes the range as it is",
            "Symmetric means that both halves are as wide as the larger one.",
            lambda low, high, bottom, top: max((high - low) / (top - bottom), EPS),
        ),
        Mistake(
            "looks at the upper end only",
            "The lower end may lie farther from 0: take max(-low, high).",
            lambda _low, high, bottom, top: max(max(high, 0.0) / ((top - bottom) / 2), EPS),
        ),
        Mistake(
            "lets the scale become 0",
            "A range without width would divide by 0 later: take at least 2**-23.",
            lambda low, high, bottom, top: max(-low, high, 0.0) / ((top - bottom) / 2),
        ),
    ),
)


def observe(
    observer: Callable[..., MinMax], arguments: tuple[Any, ...], batches: tuple[Any, ...]
) -> tuple[float, float, int]:
    """Make an observer, show it the batches; what it saw, and whether it gave the last back."""
    made = observer(*arguments)
    returned = None
    for batch in batches:
        returned = made.forward(batch)
    is_same = returned is not None and np.array_equal(np.asarray(returned), batches[-1])
    return _number(made, "min_val"), _number(made, "max_val"), int(is_same)


def _number(observer: MinMax, name: str) -> float:
    value = getattr(observer, name)
    try:
        return float(value)
    except TypeError:
        raise TypeError(f"{name} should be one number, got {value!r}") from None


class MinMax:
    """Solution."""

    def __init__(self) -> None:
        self.min_val, self.max_val = np.inf, -np.inf

    def forward(self, x: Array) -> Array | None:
        """Widen the range."""
        self.see(float(np.min(x)), float(np.max(x)))
        return x

    def see(self, low: float, high: float) -> None:
        """Take the range of a batch."""
        self.min_val, self.max_val = min(self.min_val, low), max(self.max_val, high)


class LastOnly(MinMax):
    """Remembers one batch."""

    def see(self, low: float, high: float) -> None:
        """Forget what was."""
        self.min_val, self.max_val = low, high


class FirstOnly(MinMax):
    """Looks once."""

    def see(self, low: float, high: float) -> None:
        """Keep what was."""
        if self.min_val > self.max_val:
            self.min_val, self.max_val = low, high


class FromZero(MinMax):
    """Begins with a range that holds 0."""

    def __init__(self) -> None:
        self.min_val = self.max_val = 0.0


class Silent(MinMax):
    """Gives nothing back."""

    def forward(self, x: Array) -> None:
        """Widen the range."""
        super().forward(x)


_BATCHES = tuple(float32(each) for each in ([-1.0, 0.5, 2.0], [-3.0, 0.25, 1.0], [0.5, 0.75, 1.5]))
RESULTS = ("min_val", "max_val", "whether forward returns its input")
SILENT = Mistake(
    "does not return its input",
    "An observer stands in the middle of a model: forward must hand x on.",
    Silent,
)

MIN_MAX_OBSERVER = Exercise(
    name="min_max_observer",
    task=(
        "Write a class whose forward(x) widens the range min_val..max_val to hold everything that "
        "it was ever shown, and returns x."
    ),
    signature="class MinMaxObserver: __init__(self), forward(self, x), min_val, max_val",
    results=RESULTS,
    label="eq-running-range",
    reference="pyqref.quantization.MinMaxObserver",
    solution=MinMax,
    use=lambda observer, *batches: observe(observer, (), batches),
    cases=(
        Case("one batch", _BATCHES[:1]),
        Case("a wider batch follows", _BATCHES[:2]),
        Case("a narrower batch follows", _BATCHES),
        Case("above zero only", (float32([2.0, 3.0]), float32([4.0]))),
        Case("below zero only", (float32([[-2.0], [-3.0]]),)),
    ),
    mistakes=(
        Mistake(
            "remembers the last batch only",
            "Compare with the range so far: min(min_val, x.min()).",
            LastOnly,
        ),
        Mistake("remembers the first batch only", "Later batches count as well.", FirstOnly),
        Mistake(
            "begins at zero",
            "Before any data the range is empty: min_val = inf, max_val = -inf.",
            FromZero,
        ),
        SILENT,
    ),
)


class MovingAverage(MinMax):
    """Solution."""

    def __init__(self, constant: float) -> None:
        super().__init__()
        self.constant = constant

    def see(self, low: float, high: float) -> None:
        """Move a part of the way."""
        if self.min_val > self.max_val:
            self.min_val, self.max_val = low, high
        else:
            self.min_val += self.part() * (low - self.min_val)
            self.max_val += self.part() * (high - self.max_val)

    def part(self) -> float:
        """How much a new batch counts."""
        return self.constant


class Swapped(MovingAverage):
    """The other part."""

    def part(self) -> float:
        """How much an old batch should count."""
        return 1 - self.constant


class AverageFromZero(MovingAverage):
    """The first batch is averaged with nothing."""

    def __init__(self, constant: float) -> None:
        super().__init__(constant)
        self.min_val = self.max_val = 0.0


class PlainMean(MovingAverage):
    """All batches count alike."""

    seen = 0

    def part(self) -> float:
        """One by the number of batches."""
        return 1 / self.seen

    def see(self, low: float, high: float) -> None:
        """Count, then move."""
        self.seen += 1
        super().see(low, high)


class NeverForgets(MovingAverage):
    """Min-max after all."""

    def see(self, low: float, high: float) -> None:
        """Widen the range."""
        MinMax.see(self, low, high)


class SilentAverage(MovingAverage):
    """Gives nothing back."""

    def forward(self, x: Array) -> None:
        """Move the range."""
        super().forward(x)


MOVING_AVERAGE_OBSERVER = Exercise(
    name="moving_average_observer",
    task=(
        "Write a class whose forward(x) moves min_val and max_val by the part averaging_constant "
        "towards those of x, starting with those of the first batch, and returns x."
    ),
    signature=(
        "class MovingAverageMinMaxObserver: __init__(self, averaging_constant), forward(self, x), "
        "min_val, max_val"
    ),
    results=RESULTS,
    label="eq-average-range",
    reference="pyqref.quantization.MovingAverageMinMaxObserver",
    solution=MovingAverage,
    use=lambda observer, constant, *batches: observe(observer, (constant,), batches),
    cases=(
        Case("one batch", (0.25, *_BATCHES[:1])),
        Case("two batches", (0.25, *_BATCHES[:2])),
        Case("three batches", (0.25, *_BATCHES)),
        Case("a large constant", (0.75, *_BATCHES)),
    ),
    mistakes=(
        Mistake(
            "swaps the parts",
            "The new batch counts averaging_constant, the old range the rest.",
            Swapped,
        ),
        Mistake(
            "averages the first batch with zero",
            "The first batch is the range: there is nothing to average with.",
            AverageFromZero,
        ),
        Mistake("lets all batches count alike", "The average is exponential.", PlainMean),
        Mistake("never forgets", "The range may shrink: average, do not widen.", NeverForgets),
        Mistake(SILENT.name, SILENT.explanation, SilentAverage),
    ),
)
