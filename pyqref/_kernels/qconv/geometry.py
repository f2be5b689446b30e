"""The geometry of a convolution: where outputs are, what they see, and which weights these meet."""

from __future__ import annotations

import numpy as np

from pyqref.numerics.windows import taps_within

from .pack import PackedConv, pack_conv
from .structs import Part

__all__ = ["are_centred", "in_space", "part_of"]


def in_space(
    size: tuple[int, ...],
    window: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
    count: tuple[int, ...],
    whole: tuple[int, ...],
    first: tuple[int, ...] | None = None,
    apart: tuple[int, ...] | None = None,
) -> tuple[int, ...]:
    """The geometry of a convolution: nine times depth, height and width.

    ``count`` outputs are computed, of a result as large as ``whole``: all of them, or from
    ``first`` those that are so far ``apart``.
    """
    unit, zero = (1,) * (3 - len(size)), (0,) * (3 - len(size))
    first, apart = first or (0,) * len(size), apart or (1,) * len(size)
    return (
        *(*unit, *size),
        *(*unit, *window),
        *(*unit, *stride),
        *(*zero, *padding),
        *(*unit, *dilation),
        *(*unit, *count),
        *(*unit, *whole),
        *(*zero, *first),
        *(*unit, *apart),
    )


def _without_idle_taps(
    packed: PackedConv, geometry: tuple[int, ...]
) -> tuple[PackedConv, tuple[int, ...]]:
    """Leave out taps at the ends of a window under which there is padding only.

    Padding is real zero, and adds nothing. A wide dilation has such taps, or a small image.
    """
    size, window, stride, padding, dilation, count, *rest = (
        geometry[i : i + 3] for i in range(0, 27, 3)
    )
    # What follows the last pixel is padding, as far as windows reach.
    around = ((p, d * k) for p, d, k in zip(padding, dilation, window, strict=True))
    taps = tuple(map(taps_within, size, count, window, stride, dilation, around))
    left = tuple(each.stop - each.start for each in taps)
    if left == window:
        return packed, geometry
    before = (p - d * each.start for p, d, each in zip(padding, dilation, taps, strict=True))
    seen = (*size, *left, *stride, *before, *dilation, *count, *(i for each in rest for i in each))
    return packed.with_taps(taps[5 - len(packed.shape) :]), seen


def part_of(packed: PackedConv, geometry: tuple[int, ...], *, centred: bool) -> Part:
    """Return the geometry of some outputs for a kernel; ``centred`` weights have no zero points."""
    packed, geometry = _without_idle_taps(packed, geometry)
    if not centred and (packed.joined > 1 or packed.in_strips or packed.is_depthwise):
        # They were packed as if they had none.
        packed = pack_conv(packed.weight, packed.groups, centred=False)
    return Part(
        geometry,
        packed.groups // packed.joined,
        packed.joined,
        packed.is_depthwise,
        packed.in_strips,
        packed.panels,
        packed.sums,
    )


def are_centred(zero_points: np.ndarray | None) -> bool:
    """Return True if all zero points of the weights are 0."""
    return zero_points is None or not np.count_nonzero(zero_points)
