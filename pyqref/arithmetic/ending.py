"""How integers of a result end: rounded, the zero point added, clamped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyqref.numerics.noted import noted
from pyqref.numerics.rounding import clamp_to_int, round_half_even
from pyqref.numerics.types import FloatArray, IntArray

from .step import Note

if TYPE_CHECKING:
    from pyqref.numerics.elementwise import Grid

__all__ = [
    "clamped",
    "on_grid",
    "rounded_then_shifted",
    "rounded_to_even",
    "saturated",
    "shifted",
    "tie",
]


def rounded_then_shifted(
    scaled: np.ndarray, z_y: int, low: int, high: int, note: Note, label: str = "eq-requantize"
) -> IntArray:
    """Round to even, add the zero point, clamp: how most systems end."""
    rounded = note(
        "rounded",
        saturated(round_half_even(scaled)),
        label,
        "rne({v})",
        lambda: tie(scaled, "to the even integer"),
        v=scaled,
    )
    return shifted(rounded, z_y, low, high, note, label)


def shifted(
    rounded: IntArray, z_y: int, low: int, high: int, note: Note, label: str = "eq-requantize"
) -> IntArray:
    """Add the zero point to integers and clamp."""
    total = note("zero point added", rounded + int(z_y), label, "{q} + {z}", q=rounded, z=z_y)
    return clamped(total, low, high, note, label)


def clamped(
    total: IntArray, low: int, high: int, note: Note, label: str = "eq-requantize"
) -> IntArray:
    """Clamp integers to the range of the output."""
    result = np.clip(total, noted("low", low), noted("high", high))
    return note(
        "clamped",
        result,
        label,
        "min(max({q}, {low}), {high})",
        lambda: "" if np.array_equal(result, total) else f"clamped to {int(result.reshape(-1)[0])}",
        q=total,
        low=low,
        high=high,
    )


def saturated(values: np.ndarray) -> IntArray:
    """Whole numbers as int64; what is beyond 2**62 stays there, and nan is 0."""
    wide = np.nan_to_num(values.astype(np.float64), nan=0.0, posinf=2.0**62, neginf=-(2.0**62))
    return np.clip(wide, -(2.0**62), 2.0**62).astype(np.int64)


def tie(value: np.ndarray, which: str) -> str:
    """Say so if one number lies in the middle between two integers."""
    number = float(np.asarray(value).reshape(-1)[0])
    return f"tie, {which}" if number % 1.0 == 0.5 else ""


def on_grid(
    rounded: Any,
    out: Grid,
    relu: bool,
    note: Note,
    label: str,
    offset: int | None = None,
) -> IntArray:
    """Whole numbers with the zero point added, clamped, as the grid ``out`` stores them.

    Parameters
    ----------
    rounded
        Whole numbers of any type; nan becomes the largest integer.
    out
        Of the result.
    relu
        Clamp below at the zero point.
    offset
        What is added in the place of the zero point; 0 where it is in the numbers already.
    """
    low, high = out.lowest if relu else (out.quant_min, out.quant_max)
    total = np.asarray(rounded).astype(np.float64)
    if offset != 0:
        z = out.zero_point if offset is None else offset
        before, total = saturated(total), total + z
        note("zero point added", saturated(total), label, "{q} + {z}", q=before, z=z)
    clamped(saturated(total), low, high, note, label)
    return clamp_to_int(total, low, high, out.storage)


def rounded_to_even(value: FloatArray, note: Note, label: str, which: str = "") -> FloatArray:
    """Whole numbers of real ones, ties to even; ``which`` says more of the integer."""
    rounded = round_half_even(value)
    note(
        "rounded",
        saturated(rounded),
        label,
        "rne({v})",
        lambda: tie(value, f"to the even integer{which}"),
        v=value,
    )
    return rounded
