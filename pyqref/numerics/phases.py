"""Places of images that meet the same taps of windows: their gradients are a convolution each."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .windows import Windows

__all__ = ["Phase", "filters_of_phase", "phases", "places_of_phase", "windows_of_phase"]


class Phase(NamedTuple):
    """Places along one axis, a stride apart, whose gradients meet the same taps.

    Attributes
    ----------
    first, step, places
        The first place, how far apart they are, and how many.
    taps
        Those that they meet, the last first; ``range(0)`` where they meet none.
    dilation, before
        What the taps meet in the gradient of the results: how far it is apart, and how much is
        padded before the first (0 without taps).

    Examples
    --------
    >>> Phase(0, 2, places=3, taps=range(2, -1, -2), dilation=1, before=1).places
    3
    """

    first: int
    step: int
    places: int
    taps: range
    dilation: int
    before: int


def phases(windows: Windows, size: tuple[int, ...]) -> Iterator[tuple[Phase, ...]]:
    """The places of an image of this size, by their remainder along each axis.

    Examples
    --------
    >>> windows = Windows.make((3,), (2,), (1,), (1,))
    >>> for (phase,) in phases(windows, (5,)):
    ...     print(phase.first, phase.places, list(phase.taps), phase.before)
    0 3 [1] 0
    1 2 [2, 0] 0
    """
    axes = zip(size, windows.kernel, windows.stride, windows.dilation, windows.padding, strict=True)
    return itertools.product(*([_phase(first, *axis) for first in range(axis[2])] for axis in axes))


def _phase(
    first: int, length: int, kernel: int, stride: int, dilation: int, padding: tuple[int, int]
) -> Phase:
    apart = stride // math.gcd(stride, dilation)
    lowest = next(
        (t for t in range(kernel) if (first + padding[0] - t * dilation) % stride == 0),
        kernel,
    )
    taps = range(lowest, kernel, apart)[::-1] or range(0)
    before = (taps[0] * dilation - padding[0] - first) // stride if taps else 0
    return Phase(
        first, stride, -(-(length - first) // stride), taps, apart * dilation // stride, before
    )


def windows_of_phase(phase: tuple[Phase, ...], size: tuple[int, ...]) -> Windows:
    """The windows in a gradient of this size that the places of a phase meet.

    Examples
    --------
    >>> (phase,) = phases(Windows.make((3,), (1,), (1,), (1,)), (5,))
    >>> windows_of_phase(phase, (5,)).padding
    ((1, 1),)
    """
    return Windows(
        tuple(len(part.taps) for part in phase),
        (1,) * len(phase),
        tuple(part.dilation for part in phase),
        tuple(map(_padding, phase, size)),
    )


def filters_of_phase(
    phase: tuple[Phase, ...], weight: np.ndarray[Any, Any]
) -> np.ndarray[Any, Any]:
    """The taps of ``weight (..., *kernel)`` that a phase meets, the last first.

    Examples
    --------
    >>> (phase,) = phases(Windows.make((3,), (1,), (1,), (1,)), (5,))
    >>> filters_of_phase(phase, np.array([[1, 2, 3]]))
    array([[3, 2, 1]])
    """
    taps = (part.taps for part in phase)
    ends = (slice(t.start, t.stop if t.stop >= 0 else None, t.step) for t in taps)
    where: tuple[Any, ...] = (..., *ends)
    return weight[where]


def places_of_phase(phase: tuple[Phase, ...]) -> tuple[Any, ...]:
    """Index of the places of a phase in images ``(..., *size)``.

    Examples
    --------
    >>> places_of_phase((Phase(1, 2, 3, range(1), 1, 0),))
    (Ellipsis, slice(1, None, 2))
    """
    return (..., *(slice(part.first, None, part.step) for part in phase))


def _padding(part: Phase, length: int) -> tuple[int, int]:
    """Return the padding of a gradient of this length that makes as many windows as places."""
    reach = (len(part.taps) - 1) * part.dilation
    return part.before, part.places + reach - length - part.before
