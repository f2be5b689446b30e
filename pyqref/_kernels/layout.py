"""How an array is seen by kernels, which walk through memory from one end to the other.

``_layout.pyx`` holds the same functions compiled; :mod:`.arrays` takes what there is.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

__all__ = [
    "contiguous",
    "dense",
    "elements_per_channel",
    "images",
    "in_result_order",
    "laid_as",
    "room_like",
]

#: The order of the axes in memory, channels last, for arrays of 4 and 5 axes.
_CHANNELS_LAST = {4: (0, 2, 3, 1), 5: (0, 2, 3, 4, 1)}


def contiguous(x: Any) -> np.ndarray:
    """Return ``x`` itself if its elements lie in C order without gaps, else a copy that does."""
    x = np.asarray(x)
    flags = x.flags
    return x if flags.c_contiguous and flags.aligned else np.array(x, order="C")


def dense(x: np.ndarray) -> np.ndarray:
    """Return ``x`` itself if its elements lie without gaps, else a copy in their order.

    In C order or Fortran's, or with the channels last: :func:`room_like` makes room for a result
    in the same order, so that a kernel may walk through the memory of both.
    """
    return x if x.flags.forc or _has_channels_last(x) else np.array(x, order="K")


def _has_channels_last(x: np.ndarray) -> bool:
    order = _CHANNELS_LAST.get(x.ndim)
    return order is not None and x.transpose(order).flags.c_contiguous


def in_result_order(x: Any) -> np.ndarray:
    """Return ``x`` itself if it lies in C order or with the channels last, else a copy in C order.

    That is the order in which a result lies; :func:`room_like` makes room for it.
    """
    x = np.asarray(x)
    in_order = x.flags.c_contiguous or _has_channels_last(x)
    return x if in_order and x.flags.aligned else np.array(x, order="C")


def laid_as(first: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return ``other`` itself if it lies in memory as ``first`` does, else a copy that does.

    Parameters
    ----------
    first
        From :func:`dense`.
    other
        Of the same shape.
    """
    if first is other or (first.flags.c_contiguous and other.flags.c_contiguous):
        return other
    if first.strides == other.strides:
        return other
    copy = np.empty_like(first, other.dtype)
    np.copyto(copy, other)
    return copy


def room_like(x: np.ndarray, dtype: Any) -> np.ndarray:
    """Room for a result of ``dtype`` that lies in memory as ``x``, from :func:`dense`, does."""
    return np.empty_like(x, dtype)


def images(q: np.ndarray, sizes: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """An input and its result as ``(outer, height, width, inner)``, and the result as asked.

    Parameters
    ----------
    q
        ``(B, C, H, W)`` or ``(B, C, W)``. The channels are innermost if they are in memory, else
        they are outermost.
    sizes
        Of the result, in place of H and W.
    """
    batch, channels, *size = q.shape
    if q.flags.c_contiguous or channels == 1:
        result = np.empty((batch, channels, *sizes), q.dtype)
        room = result.reshape(batch * channels, *(1, *sizes)[-2:], 1)
        return contiguous(q).reshape(batch * channels, *(1, *size)[-2:], 1), room, result
    image = contiguous(np.moveaxis(q, 1, -1)).reshape(batch, *(1, *size)[-2:], channels)
    room = np.empty((batch, *(1, *sizes)[-2:], channels), q.dtype)
    return image, room, np.moveaxis(room.reshape(batch, *sizes, channels), -1, 1)


def elements_per_channel(x: np.ndarray, axis: int) -> int:
    """``inner`` where ``x`` is seen as ``(outer, channels, inner)`` with channels at ``axis``."""
    return prod(x.shape[axis % x.ndim + 1 :])
