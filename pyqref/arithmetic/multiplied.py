"""Integers times a real multiplier that is held as 31 bits and an exponent."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref.numerics.fixed_point import Ties, fixed_point_multiplier, multiply_rounded_twice
from pyqref.numerics.types import IntArray

from .step import Note

__all__ = ["as_fixed_point", "multiplied_twice", "shift_tie"]

#: An exponent above 0 shifts the sum to the left, within 32 bits.
_SHIFTED = "min(max({x} * 2**{left}, -2147483648), 2147483647)"
_MARKS = {"away": "rsr", "up": "rsu"}
_WAYS = {"away": "away from zero", "up": "upward"}


def as_fixed_point(multiplier: Any, note: Note) -> tuple[IntArray, IntArray]:
    """The integer and the exponent of a real multiplier (``eq-fixed-point-multiplier``)."""
    integer, exponent = fixed_point_multiplier(multiplier)
    label = "eq-fixed-point-multiplier"
    above = exponent - np.frexp(multiplier)[1] + 1  # 2 where the integer would have 32 bits
    formula = "floor(log2({M})) + {above}"
    note("exponent", exponent, label, formula, M=multiplier, above=above)
    formula = "rha({M} * 2**(31 - {e}))"
    note("multiplier", integer, label, formula, M=multiplier, e=exponent)
    return integer, exponent


def multiplied_twice(
    total: IntArray, integer: Any, exponent: Any, first: Ties, second: Ties, note: Note
) -> IntArray:
    """Integers times a multiplier: the upper half, then a shift (``eq-multiply-rounded-twice``)."""
    label = "eq-multiply-rounded-twice"
    left, right = np.maximum(exponent, 0), np.maximum(-exponent, 0)
    high = multiply_rounded_twice(total, integer, left, first, second)
    formula = f"{_MARKS[first]}({_SHIFTED} * {{m}}, 31)"
    note("product, upper half", high, label, formula, x=total, left=left, m=integer)
    return note(
        "rounded",
        multiply_rounded_twice(total, integer, exponent, first, second),
        label,
        f"{_MARKS[second]}({{v}}, {{right}})",
        lambda: shift_tie(high, right, second),
        v=high,
        right=right,
    )


def shift_tie(value: Any, shift: Any, ties: Ties) -> str:
    """Say so if one number lies in the middle between two multiples of a power of two."""
    number, places = int(np.asarray(value).reshape(-1)[0]), int(np.asarray(shift).reshape(-1)[0])
    is_tie = places > 0 and number % 2**places == 2 ** (places - 1)
    return f"tie, {_WAYS[ties]}" if is_tie else ""
