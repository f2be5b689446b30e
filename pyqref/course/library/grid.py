"""Ways to miss a grid of integers: roundings, clamps, and the traits by which they show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .model import Change, Trait
from .parts import rows, tie

__all__ = ["CLAMPS", "ROUNDINGS", "clamps_of", "grid_traits", "roundings_of"]

_AWAY = "Ties go to the even neighbour; C's round goes away from zero. Use np.rint."
_EVEN = "Ties go to the even neighbour (2.5 to 2): use np.rint"


def roundings_of(piece: str) -> tuple[Change, ...]:
    """Other ways to round than that of a piece, which holds ``np.rint``."""
    ways = (
        ("rounds halves up", f"{_EVEN}, not floor(v + 0.5).", "half_up"),
        ("rounds halves away from zero", _AWAY, "half_away"),
        ("rounds halves down", f"{_EVEN}.", "half_down"),
        ("rounds halves towards zero", f"{_EVEN}.", "half_to_zero"),
        (
            "adds a half and cuts off",
            "int(v + 0.5) rounds numbers below zero to the wrong side: use np.rint.",
            "half_cut",
        ),
        (
            "rounds to one decimal first",
            "Two roundings may end at the wrong integer: round once.",
            "half_twice",
        ),
        (
            "truncates",
            "A cast to an integer drops the fraction: round before the cast.",
            "np.trunc",
        ),
        ("rounds down", "Floor is off by up to a whole step: use np.rint.", "np.floor"),
        ("rounds up", "Ceil is off by up to a whole step: use np.rint.", "np.ceil"),
    )
    return rows(piece, *((name, why, piece.replace("np.rint", way)) for name, why, way in ways))


_FIRST = "Numbers outside the range must become its ends, quant_min and quant_max."
_RANGE = "The range is an argument: clamp to quant_min and quant_max."
_WRAPS = "A cast to eight bits wraps around: 300 becomes 44. Clamp first."
_CAST = "A cast to eight bits wraps around: 300 becomes 44. Clamp with np.clip."
_LATER = "This type does not hold the whole range quant_min..quant_max: 200 in int8 is -56."


def clamps_of(q: str, point: str = "zero_point") -> tuple[Change, ...]:
    """Other ways to clamp than ``np.clip(q, quant_min, quant_max)``."""
    clamp = f"np.clip({q}, quant_min, quant_max)"
    outside = f"({q} < quant_min) | ({q} > quant_max)"
    return rows(
        clamp,
        ("does not clamp", _FIRST, f"np.asarray({q})"),
        ("clamps to 0..255 always", _RANGE, f"np.clip({q}, 0, 255)"),
        ("clamps to -128..127 always", _RANGE, f"np.clip({q}, -128, 127)"),
        ("clamps to 0..127 always", _RANGE, f"np.clip({q}, 0, 127)"),
        (
            "clamps above only",
            "Numbers below the range must become its lower end, quant_min.",
            f"np.minimum({q}, quant_max)",
        ),
        (
            "clamps below only",
            "Numbers above the range must become its upper end, quant_max.",
            f"np.maximum({q}, quant_min)",
        ),
        (
            "never reaches quant_max",
            "The range includes both of its ends: clamp to quant_max itself.",
            f"np.clip({q}, quant_min, quant_max - 1)",
        ),
        (
            "never reaches quant_min",
            "The range includes both of its ends: clamp to quant_min itself.",
            f"np.clip({q}, quant_min + 1, quant_max)",
        ),
        (
            "lets quant_max + 1 through",
            "The range includes quant_max and ends there.",
            f"np.clip({q}, quant_min, quant_max + 1)",
        ),
        (
            "clamps at 0 instead of quant_min",
            "The lower end is quant_min, which is negative for signed integers.",
            f"np.clip({q}, 0, quant_max)",
        ),
        (
            "clamps to -quant_max..quant_max",
            "The lower end is an argument of its own: quant_min.",
            f"np.clip({q}, -quant_max, quant_max)",
        ),
        (
            "clamps to 0..quant_max - quant_min",
            "The integers count from quant_min, not from 0.",
            f"np.clip({q}, 0, quant_max - quant_min)",
        ),
        (
            "swaps the ends",
            "Numbers below the range become quant_min, those above it quant_max.",
            f"np.where({q} < quant_min, quant_max, np.where({q} > quant_max, quant_min, {q}))",
        ),
        (
            "makes 0 of numbers outside the range",
            _FIRST,
            f"np.where({outside}, 0, {q})",
        ),
        (
            "makes the zero point of numbers outside the range",
            _FIRST,
            f"np.where({outside}, {point}, {q})",
        ),
        (
            "wraps around in the range",
            "Numbers outside the range must become its ends; modulo starts again at the other end.",
            f"(np.mod({q} - quant_min, quant_max - quant_min + 1) + quant_min)",
        ),
        *(
            ("casts before it clamps", _WRAPS, f"np.clip(wrap({q}, {low}), quant_min, quant_max)")
            for low in ("quant_min", "0", "-1")
        ),
        *(
            ("casts instead of clamping", _CAST, f"wrap({q}, {low})")
            for low in ("quant_min", "0", "-1")
        ),
        (
            "casts to 16 bits before it clamps",
            "A cast to 16 bits wraps around: 40000 becomes -25536. Clamp first.",
            (
                f"np.clip((np.asarray({q}).astype(np.int64) + 2**15) % 2**16 - 2**15,"
                " quant_min, quant_max)"
            ),
        ),
        ("casts to uint8 after clamping", _LATER, f"wrap({clamp}, 0)"),
        ("casts to int8 after clamping", _LATER, f"wrap({clamp}, -1)"),
    )


ROUNDINGS, CLAMPS = roundings_of("q = np.rint("), clamps_of("q")


def grid_traits(
    place: Callable[..., Any], step: Callable[..., Any], noun: str = "number"
) -> tuple[Trait, ...]:
    """Traits of functions whose last two arguments are quant_min and quant_max.

    Parameters
    ----------
    place
        Of all arguments: what is rounded.
    step
        Of all arguments: the integers before the clamp.
    noun
        For what is rounded.
    """

    def beside(words: str, holds: Callable[[Any, int, int], Any]) -> Trait:
        return Trait(words, lambda *a: holds(np.asarray(step(*a)), a[-2], a[-1]))

    return (
        Trait(f"the {noun} lies half way between two integers (a tie)", lambda *a: tie(place(*a))),
        Trait(f"the {noun} is no integer", lambda *a: place(*a) != np.rint(place(*a))),
        beside(
            "the number lies outside the range quant_min..quant_max",
            lambda q, low, high: (q < low) | (q > high),
        ),
        beside("the number lies inside the range", lambda q, low, high: (q >= low) & (q <= high)),
        beside("the number lies below the range", lambda q, low, high: q < low),
        beside("the number lies above the range", lambda q, low, high: q > high),
        beside(
            "the number lies at an end of the range", lambda q, low, high: (q == low) | (q == high)
        ),
        Trait("the range is not 0..255", lambda *a: a[-2:] != (0, 255)),
        Trait("quant_min is negative", lambda *a: a[-2] < 0),
        Trait("quant_min is not 0", lambda *a: a[-2] != 0),
        Trait("the range has not 8 bits", lambda *a: a[-1] - a[-2] < 254),
    )
