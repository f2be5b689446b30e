"""Names of what lies between the input and the output of a layer.

The arrays come from the equations themselves (:mod:`pyqref.numerics.noted`). Which of them a layer
has depends on the operation and on the arithmetic.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from .vectors import narrow

__all__ = ["STAGES", "clamp_of", "recurrent_stages_of", "stages_of"]

#: Each name, and what it is. The order is that of the computation.
STAGES: dict[str, str] = {
    "scale_of_the_input": "of a dynamic layer: the scale that its input has found",
    "zero_point_of_the_input": "of the same grid",
    "integers_of_the_input": "the input on that grid",
    "accumulator": "exact sum of products of integers less their zero points, without the bias",
    "unit_of_the_accumulator": "what one unit of the accumulator is worth",
    "bias": "the bias in units of the accumulator: an integer where the arithmetic rounds it",
    "real_a": "the first term as a real number",
    "real_b": "the second term as a real number",
    "multiplier_a": "what the first term is multiplied by",
    "exponent_a": "of that multiplier",
    "rounded_a": "the first term in the common unit",
    "multiplier_b": "what the second term is multiplied by",
    "exponent_b": "of that multiplier",
    "rounded_b": "the second term in the common unit",
    "sum": "accumulator and bias; the sum of two terms, or of a window",
    "product": "of two integers less their zero points, or of two real numbers",
    "count": "what the sum of a window is divided by",
    "bias_added_rounded_once": "accumulator and bias by one fused multiply-add",
    "reciprocal_of_the_unit": "what the bias is multiplied by there",
    "real_result": "the accumulator as a real number",
    "bias_added": "the real result and the bias",
    "real_result_with_the_bias": "both in one fused multiply-add",
    "cell_state": "of an LSTM, after each step",
    "real_multiplier": "units of the output in one of the accumulator, before it is an integer",
    "exponent": "with an integer multiplier m: what is multiplied by is m * 2**(exponent - 31)",
    "multiplier": "float32, or an integer of 31 bits",
    "shift": "places to the right, after an integer multiplier",
    "product_upper_half": "after the multiplier, before the shift: rounded for the first time",
    "scaled": "the value in steps of the output, before it is rounded",
    "with_zero_point": "the same and the zero point",
    "rounded": "after rounding",
    "zero_point_added": "after rounding, and the zero point added",
}


def stages_of(
    noted: dict[str, list[Any]], shape: tuple[int, ...], channels_last: bool
) -> dict[str, np.ndarray]:
    """Return the arrays that a layer noted, by the names of :data:`STAGES`, in their order.

    Parameters
    ----------
    noted
        From :func:`pyqref.numerics.noted.noting`.
    shape
        Of the output. What has one number for each of its elements gets this shape.
    channels_last
        It was computed with the channels last, and some images at a time, as convolutions are.
    """
    found = {}
    for name, parts in _named(noted):
        array = _whole(parts, shape, channels_last)
        if array is not None:
            found[name] = narrow(array)
    return found


def recurrent_stages_of(noted: dict[str, list[Any]], ends: list[str]) -> dict[str, np.ndarray]:
    """Return the arrays that a dynamic recurrent layer noted, named by the ends of its weights.

    Those of the product with the input are ``accumulator_ih_l0`` and so on, those of the product
    with the hidden state ``accumulator_hh_l0``: one for each step, in the order of computation.

    Parameters
    ----------
    noted
        From :func:`pyqref.numerics.noted.noting`.
    ends
        For each layer and direction, such as ``["_l0", "_l0_reverse"]``.
    """
    found: dict[str, np.ndarray] = {}
    for name, parts in _named(noted):
        count = len(parts) // len(ends)
        for n, end in enumerate(ends):
            own = parts[n * count : (n + 1) * count]
            named = {name: own}
            if name != "cell_state":
                named = {f"{name}_ih": own[:1], f"{name}_hh": own[1:]}
            for title, arrays in named.items():
                if len({each.shape for each in arrays}) == 1:  # else sequences end on the way
                    whole = arrays[0] if title.endswith("_ih") else np.stack(arrays)
                    found[title + end] = narrow(whole)
    return found


def _named(noted: dict[str, list[Any]]) -> Iterator[tuple[str, list[np.ndarray]]]:
    """Stages that were noted, in the order of computation."""
    named = {re.sub(r"\W+", "_", name): values for name, values in noted.items()}
    for name in STAGES:
        if name in named:
            yield name, [np.asarray(each) for each in named[name]]


def _whole(
    parts: list[np.ndarray], shape: tuple[int, ...], channels_last: bool
) -> np.ndarray | None:
    """One array of those that were noted one after the other; None if they do not fit together."""
    seen = (shape[0], *shape[2:], shape[1]) if channels_last else shape
    alike = seen and all(each.shape[1:] == seen[1:] and each.ndim == len(seen) for each in parts)
    if alike and sum(len(each) for each in parts) == seen[0]:
        array = np.concatenate(parts)
        return np.moveaxis(array, -1, 1) if channels_last else array
    same = all(np.array_equal(each, parts[0]) for each in parts[1:])
    return parts[0] if same else None


def clamp_of(noted: dict[str, list[Any]]) -> tuple[int, int] | None:
    """The ends of the last clamp, which is that of the output."""
    if not noted.get("low") or not noted.get("high"):
        return None
    return int(noted["low"][-1]), int(noted["high"][-1])
