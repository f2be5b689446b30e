"""The rules by which each step of a derivation follows from its operands.

A rule is computed in two ways: quickly, as the layers do it, and exactly, with fractions. A
derivation is built by the first and checked by the second.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from .._typing import NumberOrArray
from ..numerics.rounding import fma32
from .exact import Number, exact, half_away, half_even, root, to_float32, to_float64
from .functions import apply_function
from .record import plain

__all__ = ["RULES", "Rule", "is_finite"]


@dataclass(frozen=True)
class Rule:
    """Rule by which a value follows from operands.

    Attributes
    ----------
    quick
        With numbers of NumPy, as layers compute it.
    exactly
        With fractions; None where the function is no rational one, and the quick way counts.
    text, latex
        The formula; ``{0}``, ``{1}``, ... stand for the operands.
    decide
        What the rounding or the clamp decided, in words.
    """

    quick: Callable[..., Any]
    exactly: Callable[..., Any] | None
    text: str
    latex: str
    decide: Callable[..., str] | None = None


def is_finite(value: NumberOrArray | str) -> bool:
    """Return True if a number, or every number of an array, is finite."""
    return isinstance(value, int | str) or bool(np.isfinite(value).all())


def _integers(values: Any) -> list[int]:
    return [int(each) for each in np.asarray(values).ravel().tolist()]


def _dot(x: Any, x_zero: Any, w: Any, w_zero: Any) -> int:
    left = np.asarray(x).astype(np.int64) - x_zero
    right = np.asarray(w).astype(np.int64) - w_zero
    return int((left * right).sum())


def _dot_exactly(x: Any, x_zero: Fraction, w: Any, w_zero: Fraction) -> int:
    pairs = zip(_integers(x), _integers(w), strict=True)
    return sum((a - int(x_zero)) * (b - int(w_zero)) for a, b in pairs)


def _whole(x: Number) -> Number:
    """Round half to even; what is not finite stays as it is."""
    rounded = np.rint(x)
    return int(rounded) if np.isfinite(rounded) else rounded


def _clamp(value: Number, low: int, high: int) -> int:
    if value != value:
        return high
    return int(min(max(value, low), high))


def _away(x: Number) -> int:
    return half_away(exact(x))


def _say_tie(x: Number, value: Number) -> str:
    if isinstance(x, int) or not np.isfinite(x):
        return ""
    number = exact(x)
    distance = abs(number - (number.numerator // number.denominator) - Fraction(1, 2))
    if not distance:
        return f"a tie: to {value}"
    return f"no tie: {float(distance):.6g} away from one"


def _say_even(x: Number, value: Number) -> str:
    said = _say_tie(x, value)
    return said.replace("a tie: to", "a tie: to the even") if said.startswith("a tie") else said


def _say_clamp(value: Number, low: int, high: int, result: int) -> str:
    if value != value:
        return f"not a number: {result}"
    if value < low:
        return f"below {low}: clamped"
    if value > high:
        return f"above {high}: clamped"
    return f"in [{low}, {high}]: not clamped"


def _extreme(choose: Callable[..., Any], x: Any) -> Any:
    return plain(np.asarray(x).dtype.type(choose(np.asarray(x).ravel().tolist())))


def _quantize_each(x: Any, inverse: Any, z: Any, low: int, high: int) -> np.ndarray:
    rounded = np.rint(fma32(x, inverse, z))
    return np.clip(rounded, low, high).astype(np.int64)


def _quantize_each_exactly(x: Any, inverse: Any, z: Any, low: int, high: int) -> np.ndarray:
    rows = np.asarray(x).ravel().tolist()
    whole = (half_even(exact(to_float32(exact(each) * inverse + z))) for each in rows)
    return np.array([int(min(max(each, low), high)) for each in whole])


def _of_32(operation: Callable[..., Any]) -> Callable[..., np.float32]:
    """Wrap an operation so that it runs in float32, without warnings of overflow."""

    def quick(*operands: Any) -> np.float32:
        with np.errstate(all="ignore"):
            return np.float32(operation(*(np.float32(each) for each in operands)))

    return quick


def _of_64(operation: Callable[..., Any]) -> Callable[..., np.float64]:
    def quick(*operands: Any) -> np.float64:
        with np.errstate(all="ignore"):
            return np.float64(operation(*(np.float64(each) for each in operands)))

    return quick


def _rational(operation: Callable[..., Any], text: str, latex: str, wide: bool = False) -> Rule:
    """A rational operation, rounded once."""
    to = to_float64 if wide else to_float32
    quick = (_of_64 if wide else _of_32)(operation)
    mark, bits = ("fl64", 64) if wide else ("fl32", 32)
    return Rule(
        quick,
        lambda *operands: to(Fraction(operation(*operands))),
        f"{mark}({text})",
        rf"\mathrm{{{{fl}}}}_{{{{{bits}}}}}({latex})",
    )


RULES: dict[str, Rule] = {
    # integers
    "take": Rule(lambda a: a, lambda a: a, "{0}", "{0}"),
    "difference": Rule(lambda a, b: a - b, lambda a, b: int(a - b), "{0} - {1}", "{0} - {1}"),
    "plus": Rule(
        lambda a, b: a + b if isinstance(a, int) else float(a) + b,
        lambda a, b: int(a + b),
        "{0} + {1}",
        "{0} + {1}",
    ),
    "times": Rule(lambda a, b: a * b, lambda a, b: int(a * b), "{0} · {1}", r"{0} \cdot {1}"),
    "dot": Rule(_dot, _dot_exactly, "Σ ({0} - {1})·({2} - {3})", r"\sum ({0} - {1})({2} - {3})"),
    "total": Rule(
        lambda x, z: int((np.asarray(x).astype(np.int64) - z).sum()),
        lambda x, z: sum(each - int(z) for each in _integers(x)),
        "Σ ({0} - {1})",
        r"\sum ({0} - {1})",
    ),
    "sum": Rule(lambda x: sum(_integers(x)), lambda x: sum(_integers(x)), "Σ {0}", r"\sum {0}"),
    "sum of squares": Rule(
        lambda x: sum(each * each for each in _integers(x)),
        lambda x: sum(each**2 for each in _integers(x)),
        "Σ {0}²",
        r"\sum {0}^2",
    ),
    "largest": Rule(
        lambda x: np.asarray(x).max().item(), lambda x: max(_integers(x)), "max {0}", r"\max {0}"
    ),
    "smallest": Rule(
        lambda x: np.asarray(x).min().item(), lambda x: min(_integers(x)), "min {0}", r"\min {0}"
    ),
    "half even": Rule(_whole, half_even, "rne({0})", r"\mathrm{{rne}}({0})", _say_even),
    "half away": Rule(_away, half_away, "rha({0})", r"\mathrm{{rha}}({0})", _say_tie),
    "right shift": Rule(
        lambda x, s: half_away(Fraction(x) / 2**s),
        lambda x, s: half_away(x / 2 ** int(s)),
        "rha({0} / 2^{1})",
        r"\mathrm{{rha}}({0} / 2^{{{1}}})",
        lambda x, s, value: _say_tie(np.float64(exact(x) / 2**s), value),
    ),
    "clamp": Rule(
        _clamp,
        lambda v, low, high: int(min(max(v, low), high)),
        "min(max({0}, {1}), {2})",
        r"\min(\max({0}, {1}), {2})",
        _say_clamp,
    ),
    "max": Rule(max, lambda a, b: int(max(a, b)), "max({0}, {1})", r"\max({0}, {1})"),
    "min": Rule(min, lambda a, b: int(min(a, b)), "min({0}, {1})", r"\min({0}, {1})"),
    # float32
    "single": _rational(lambda a: a, "{0}", "{0}"),
    "times32": _rational(lambda a, b: a * b, "{0} · {1}", r"{0} \cdot {1}"),
    "over32": _rational(lambda a, b: a / b, "{0} / {1}", "{0} / {1}"),
    "plus32": _rational(lambda a, b: a + b, "{0} + {1}", "{0} + {1}"),
    "minus32": _rational(lambda a, b: a - b, "{0} - {1}", "{0} - {1}"),
    "max32": _rational(max, "max({0}, {1})", r"\max({0}, {1})"),
    "min32": _rational(min, "min({0}, {1})", r"\min({0}, {1})"),
    "negative32": _rational(lambda a: -a, "-({0})", "-({0})"),
    "reciprocal32": _rational(lambda a: 1 / a, "1 / {0}", "1 / {0}"),
    "fma32": Rule(
        lambda a, b, c: np.float32(fma32(a, b, c)),
        lambda a, b, c: to_float32(a * b + c),
        "fma({0}, {1}, {2})",
        r"\mathrm{{fma}}({0}, {1}, {2})",
    ),
    "root32": Rule(_of_32(np.sqrt), root, "fl32(√{0})", r"\mathrm{{fl}}_{{32}}\sqrt{{{0}}}"),
    # float64
    "double": _rational(lambda a: a, "{0}", "{0}", wide=True),
    "times64": _rational(lambda a, b: a * b, "{0} · {1}", r"{0} \cdot {1}", wide=True),
    "over64": _rational(lambda a, b: a / b, "{0} / {1}", "{0} / {1}", wide=True),
    "plus64": _rational(lambda a, b: a + b, "{0} + {1}", "{0} + {1}", wide=True),
    "minus64": _rational(lambda a, b: a - b, "{0} - {1}", "{0} - {1}", wide=True),
    "min64": _rational(min, "min({0}, {1})", r"\min({0}, {1})", wide=True),
    "max64": _rational(max, "max({0}, {1})", r"\max({0}, {1})", wide=True),
    # rows of numbers
    "lowest": Rule(
        lambda x: plain(np.asarray(x).min()),
        lambda x: _extreme(min, x),
        "min {0}",
        r"\min {0}",
    ),
    "highest": Rule(
        lambda x: plain(np.asarray(x).max()),
        lambda x: _extreme(max, x),
        "max {0}",
        r"\max {0}",
    ),
    "each quantized": Rule(
        _quantize_each,
        _quantize_each_exactly,
        "min(max(rne(fma({0}, {1}, {2})), {3}), {4})",
        r"\mathrm{{sat}}(\mathrm{{rne}}(\mathrm{{fma}}({0}, {1}, {2})))",
    ),
    "each dequantized": Rule(
        lambda q, z, s: (np.asarray(q).astype(np.int64) - z).astype(np.float32) * s,
        lambda q, z, s: np.array([to_float32((each - z) * s) for each in _integers(q)]),
        "fl32(({0} - {1}) · {2})",
        r"\mathrm{{fl}}_{{32}}(({0} - {1}) \cdot {2})",
    ),
    # the rest
    "function": Rule(apply_function, None, "{0}({1})", r"\mathrm{{{0}}}({1})"),
}
