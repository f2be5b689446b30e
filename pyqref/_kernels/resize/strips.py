"""Images of any order in memory, given to a kernel with their channels last."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from pyqref._kernels.layout import contiguous
from pyqref.numerics.types import IntArray

__all__ = ["are_wanted", "in_strips"]

#: Bytes of a copy with the channels last.
MOST = 1 << 18

#: Called with an image, the planes it is made of, rows of the result, the row of the whole image
#: that is the first of this one, and where the result goes.
Kernel = Callable[[IntArray, IntArray, slice, int, IntArray], None]


def are_wanted(q: IntArray) -> bool:
    """Return True if a copy of ``q``, which has gaps or channels not last, would be too large."""
    last = (0, *range(2, q.ndim), 1)
    return q.size > MOST and not q.transpose(last).flags.c_contiguous


def in_strips(
    run: Kernel,
    q: IntArray,
    output_size: Sequence[int],
    planes: IntArray,
    first: IntArray,
    last: IntArray,
) -> IntArray:
    """Give ``run`` one strip of rows after the other; the channels of the result lie last.

    Parameters
    ----------
    run
        Computes some rows of ``(batch, depth, height, width, channels)``.
    q
        ``(batch, channels, *sizes)``.
    planes, first, last
        Plane that each plane of the result is made of, and the rows that each row is.
    """
    batch, channels, *sizes = q.shape
    ones = (1,) * (3 - len(sizes))
    lines = q.reshape(batch, channels, *ones, *sizes).transpose(0, 2, 3, 4, 1)
    out = np.empty((batch, *ones, *output_size, channels), q.dtype)
    most = MOST // (lines.shape[3] * channels)
    for image, plane in np.ndindex(out.shape[:2]):
        source = lines[image : image + 1, planes[plane] : planes[plane] + 1]
        for rows, low, high in strips(first, last, most):
            part = out[image : image + 1, plane : plane + 1, rows]
            strip = contiguous(source[:, :, low:high])
            run(_seen(strip), np.zeros(1, np.int64), rows, low, _seen(part))
    return _seen(out.reshape(batch, *output_size, channels))


def _seen(images: IntArray) -> IntArray:
    """``(batch, channels, *sizes)`` of images with their channels last."""
    return images.transpose(0, images.ndim - 1, *range(1, images.ndim - 1))


def strips(first: IntArray, last: IntArray, most: int) -> Iterator[tuple[slice, int, int]]:
    """Rows of the result that are made of at most ``most`` rows, and from where to where these go.

    Examples
    --------
    >>> list(strips(np.array([0, 0, 1, 1, 2]), np.array([1, 1, 2, 2, 2]), 2))
    [(slice(0, 2, None), 0, 2), (slice(2, 5, None), 1, 3)]
    """
    start = 0
    while start < len(first):
        low = int(first[start])
        stop = max(start + 1, int(np.searchsorted(last, low + most)))
        yield slice(start, stop), low, int(last[stop - 1]) + 1
        start = stop
