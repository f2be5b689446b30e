"""Exercises on whole networks: sums of two branches, and which layers to leave in float."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._typing import Array
from .affine import UINT8
from .arrays import uint8
from .exercise import Case, Exercise, Mistake
from .wrong import right, saturate, wrap

__all__ = ["QUANTIZED_ADD", "SPARE_LAYERS"]


def real(q: Array, scale: float, zero_point: int) -> Array:
    """The numbers for which integers stand."""
    return (q.astype(np.int64) - zero_point) * scale


def on_grid(values: Array, scale: float, zero_point: int) -> Array:
    """The nearest integers, not yet clamped."""
    return right(values / scale) + zero_point


def add(a: Array, sa: float, za: int, b: Array, sb: float, zb: int, s: float, z: int) -> Array:
    """Solution."""
    return saturate(on_grid(real(a, sa, za) + real(b, sb, zb), s, z), *UINT8)


def as_integers(
    a: Array, _sa: float, za: int, b: Array, _sb: float, zb: int, _s: float, z: int
) -> Array:
    """Centred integers, as if all grids were one."""
    return saturate(a.astype(np.int64) - za + b.astype(np.int64) - zb + z, *UINT8)


def rounded_apart(
    a: Array, sa: float, za: int, b: Array, sb: float, zb: int, s: float, z: int
) -> Array:
    """Each side brought to the grid of the result."""
    sides = on_grid(real(a, sa, za), s, 0) + on_grid(real(b, sb, zb), s, 0)
    return saturate(sides + z, *UINT8)


def point_inside(
    a: Array, sa: float, za: int, b: Array, sb: float, zb: int, s: float, z: int
) -> Array:
    """The zero point of the result rounded with it."""
    return saturate(right((real(a, sa, za) + real(b, sb, zb)) / s + z), *UINT8)


def centred_in_8_bits(
    a: Array, sa: float, za: int, b: Array, sb: float, zb: int, s: float, z: int
) -> Array:
    """Differences that wrap around."""
    sides = wrap(a.astype(np.int64) - za, 0) * sa + wrap(b.astype(np.int64) - zb, 0) * sb
    return saturate(on_grid(sides, s, z), *UINT8)


def cast_first(
    a: Array, sa: float, za: int, b: Array, sb: float, zb: int, s: float, z: int
) -> Array:
    """Eight bits before the clamp."""
    return wrap(on_grid(real(a, sa, za) + real(b, sb, zb), s, z), 0)


_A, _B = uint8([0, 10, 128, 255, 131]), uint8([3, 0, 7, 255, 40])

QUANTIZED_ADD = Exercise(
    name="quantized_add",
    task=(
        "Add two arrays of bytes, a and b, each with its own scale and zero point, as a residual "
        "connection does: the result (integers 0..255) has a scale and a zero point of its own. "
        "Give the real numbers, add them, round once to the grid of the result with ties to even, "
        "add its zero point, clamp."
    ),
    signature=(
        "quantized_add(a, a_scale, a_zero_point, b, b_scale, b_zero_point, scale, zero_point)"
    ),
    results=("integers",),
    label="eq-quantized-add",
    reference="pyqref.numerics.elementwise.add",
    solution=add,
    cases=(
        Case("one grid for all", (_A, 0.5, 0, _B, 0.5, 0, 0.5, 0)),
        Case("a coarser result", (_A, 0.25, 0, _B, 0.25, 0, 1.0, 0)),
        Case("two scales", (_A, 0.25, 0, _B, 0.5, 0, 0.5, 0)),
        Case("zero points", (_A, 0.25, 128, _B, 0.5, 3, 0.5, 60)),
        Case("ties, odd zero point", (uint8([1, 3, 5]), 0.5, 0, uint8([0, 1, 1]), 1, 0, 1, 3)),
        Case("halves on both sides", (uint8([1, 3, 5]), 0.5, 0, uint8([1, 1, 3]), 0.5, 0, 1, 0)),
    ),
    mistakes=(
        Mistake(
            "adds the integers",
            "Integers of different scales count different things: dequantize both sides first.",
            as_integers,
        ),
        Mistake(
            "takes one scale for both sides",
            "Each side has a scale of its own.",
            lambda a, sa, za, b, _sb, zb, s, z: add(a, sa, za, b, sa, zb, s, z),
        ),
        Mistake(
            "forgets the zero points of the inputs",
            "The real number 0 of each side is its zero point: subtract it.",
            lambda a, sa, _za, b, sb, _zb, s, z: add(a, sa, 0, b, sb, 0, s, z),
        ),
        Mistake(
            "forgets the zero point of the result",
            "The real number 0 is stored as the zero point of the result: add it.",
            lambda a, sa, za, b, sb, zb, s, _z: add(a, sa, za, b, sb, zb, s, 0),
        ),
        Mistake(
            "rounds each side by itself",
            "Two roundings may be wrong by a whole step: add the real numbers, then round once.",
            rounded_apart,
        ),
        Mistake(
            "rounding order: the zero point inside the rounding",
            "Here the zero point is added to the rounded sum: with an odd one, ties differ.",
            point_inside,
        ),
        Mistake(
            "centres in eight bits",
            "0 - 128 is 128 in uint8: widen before you subtract.",
            centred_in_8_bits,
        ),
        Mistake(
            "casts before it clamps",
            "A cast to eight bits wraps around: 510 becomes 254. Clamp first.",
            cast_first,
        ),
    ),
)


def together(ratios: object) -> float:
    """The ratio of several independent noises: their powers add up."""
    return float(-10 * np.log10(np.sum(10 ** (-np.asarray(ratios) / 10))))


def spared_by(
    order: Callable[[Sequence[float]], Any] = np.argsort,
    total: Callable[[Any], float] = together,
) -> Callable[..., list[int]]:
    """Layers are spared in an order until the total of the others suffices."""

    def spare(ratios: Sequence[float], wanted: float) -> list[int]:
        ranked = list(order(ratios))
        for count in range(len(ratios)):
            if total([ratios[each] for each in ranked[count:]]) >= wanted:
                return ranked[:count]
        return ranked

    return spare


def amplitudes(ratios: object) -> float:
    """The ratio if noises added up as amplitudes."""
    return float(-20 * np.log10(np.sum(10 ** (-np.asarray(ratios) / 20))))


def each_alone(ratios: Sequence[float], wanted: float) -> list[int]:
    """Those that are below what is wanted by themselves."""
    return [index for index, ratio in enumerate(ratios) if ratio < wanted]


def at_least_one(ratios: Sequence[float], wanted: float) -> list[int]:
    """The worst is spared before anything is added up."""
    return spared_by()(ratios, wanted) or [int(np.argmin(ratios))]


def as_text(function: Callable[..., Any], ratios: list[float], wanted: float) -> str | None:
    """The layers in one form, whatever holds them."""
    layers = function(ratios, wanted)
    if layers is None:
        return None
    return str(sorted(int(each) if each == int(each) else float(each) for each in layers))


SPARE_LAYERS = Exercise(
    name="spare_layers",
    task=(
        "Each layer of a network was quantized alone; ratios[k] is the signal to noise ratio of "
        "the network's output, in dB, with layer k quantized. Say which layers (their numbers) to "
        "leave in float, as few as possible, so that all the others quantized together leave at "
        "least `wanted` dB. The noises are independent: their powers add up."
    ),
    signature="spare_layers(ratios, wanted)",
    results=("layers",),
    label="eq-noise-sum",
    reference="pyqref.measure.add_noises",
    solution=spared_by(),
    use=as_text,
    cases=(
        Case("one layer hurts", ([40.0, 25.0, 42.0, 44.0], 36.0)),
        Case("good enough", ([40.0, 45.0, 50.0], 35.0)),
        Case("each alone is good enough", ([41.0, 40.5, 43.0, 42.0], 38.0)),
        Case("two layers hurt", ([30.0, 50.0, 45.0, 31.0, 48.0], 40.0)),
        Case("many small noises", ([50 + k / 100 for k in range(16)] + [46.0, 47.0], 37.5)),
        Case("the last layer", ([38.0, 37.0, 39.0, 29.0], 33.0)),
        Case("one layer, just good enough", ([40.0], 40.0)),
        Case("none is good enough", ([20.0, 10.0, 15.0], 30.0)),
    ),
    mistakes=(
        Mistake(
            "looks at each layer alone",
            "Noises add up: four layers of 41 dB leave only 35 dB together.",
            each_alone,
        ),
        Mistake(
            "averages decibels",
            "A decibel is a logarithm: take 10 ** (-ratio / 10), add up, and go back.",
            spared_by(total=lambda ratios: float(np.mean(ratios))),
        ),
        Mistake(
            "adds amplitudes",
            "Of independent noises the powers add up, 10 ** (-ratio / 10), not the amplitudes.",
            spared_by(total=amplitudes),
        ),
        Mistake(
            "spares the best layers",
            "A small ratio is much noise: spare the smallest first.",
            spared_by(order=lambda ratios: np.argsort(ratios)[::-1]),
        ),
        Mistake(
            "spares layers in the order of the network",
            "Spare those that make the most noise first, wherever they stand.",
            spared_by(order=lambda ratios: range(len(ratios))),
        ),
        Mistake(
            "spares a layer where none need be",
            "Add up all the noises first: it may be good enough as it is.",
            at_least_one,
        ),
    ),
)
