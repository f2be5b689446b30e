"""Sliding windows over float images: where they lie, and the largest element of each."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .types import FloatArray, IntArray

__all__ = [
    "Windows",
    "gradient_of_largest",
    "gradient_of_means",
    "in_order",
    "inside",
    "largest",
    "means_of_windows",
    "pad",
    "pad_spatial",
    "taps_within",
]

#: Numbers that are copied in 50 to 500 milliseconds.
_LARGE = 1 << 26


class Windows(NamedTuple):
    """Positions of windows; each tuple has one entry for each spatial axis.

    Attributes
    ----------
    kernel, stride, dilation
        Size of the window, distance between windows, distance inside a window.
    padding
        Elements added before and after each axis, as pairs.

    Examples
    --------
    >>> windows = Windows.make((3,), (2,), (1,), (1,))  # kernel, stride, padding, dilation
    >>> windows.output_size((5,)), windows.padded_size((5,))
    ((3,), (7,))
    """

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]

    @classmethod
    def make(
        cls,
        kernel: tuple[int, ...],
        stride: tuple[int, ...],
        padding: tuple[int, ...],
        dilation: tuple[int, ...],
    ) -> Windows:
        """Windows with the same padding on both sides of an axis."""
        return cls(kernel, stride, dilation, tuple((p, p) for p in padding))

    def output_size(self, size: tuple[int, ...]) -> tuple[int, ...]:
        """Return how many windows fit along each axis of an array of this spatial size."""
        return tuple(
            (length + before + after - dilation * (kernel - 1) - 1) // stride + 1
            for length, kernel, stride, dilation, (before, after) in zip(size, *self, strict=True)
        )

    def padded_size(self, size: tuple[int, ...]) -> tuple[int, ...]:
        """Spatial size with the padding."""
        return tuple(
            length + before + after
            for length, (before, after) in zip(size, self.padding, strict=True)
        )

    def interior(self, size: tuple[int, ...]) -> tuple[Any, ...]:
        """Index ``(..., *slices)`` of the array of this spatial size inside the padded one."""
        slices = (
            slice(before, before + length)
            for length, (before, _) in zip(size, self.padding, strict=True)
        )
        return (..., *slices)

    def positions(
        self, output_size: tuple[int, ...]
    ) -> Iterator[tuple[tuple[int, ...], tuple[Any, ...]]]:
        """Each position in the kernel, and the index of the elements that it meets.

        The index, ``(..., *slices)``, is that of the padded array.
        """
        for position in itertools.product(*map(range, self.kernel)):
            slices = (
                slice(k * dilation, k * dilation + (count - 1) * stride + 1, stride)
                for k, dilation, stride, count in zip(
                    position, self.dilation, self.stride, output_size, strict=True
                )
            )
            yield position, (..., *slices)

    def within(self, size: tuple[int, ...]) -> tuple[Windows, tuple[slice, ...]]:
        """The windows without the taps at either end that meet nothing but padding, and the rest.

        On images that are smaller than the kernel these are most taps: of 3 x 3 on one pixel, 8.

        Examples
        --------
        >>> Windows.make((3,), (1,), (1,), (1,)).within((1,))
        (Windows(kernel=(1,), stride=(1,), dilation=(1,), padding=((0, 0),)), (slice(1, 2, None),))
        """
        taps = tuple(map(taps_within, size, self.output_size(size), *self))
        kernel = tuple(each.stop - each.start for each in taps)
        padding = tuple(
            (before - each.start * dilation, after - (length - each.stop) * dilation)
            for each, length, dilation, (before, after) in zip(
                taps, self.kernel, self.dilation, self.padding, strict=True
            )
        )
        return Windows(kernel, self.stride, self.dilation, padding), taps

    def are_pixels(self) -> bool:
        """Return True if each window is one pixel, and each pixel lies inside its own window."""
        every = set(self.kernel + self.stride)
        return every == {1} and not any(map(sum, self.padding))


def taps_within(
    length: int, count: int, kernel: int, stride: int, dilation: int, padding: tuple[int, int]
) -> slice:
    """The taps along one axis but those at its ends that ``count`` windows put beside the array.

    At least one is kept, and none is left out that would make the padding negative.

    Examples
    --------
    >>> taps_within(5, 5, 3, 1, 6, (6, 6))
    slice(1, 2, None)
    """

    def meets(tap: int) -> bool:
        places = range(tap * dilation - padding[0], length, stride)
        return any(place >= 0 for place in places[:count])

    first, end = 0, kernel
    while end - first > 1 and (first + 1) * dilation <= padding[0] and not meets(first):
        first += 1
    while end - first > 1 and (kernel - end + 1) * dilation <= padding[1] and not meets(end - 1):
        end -= 1
    return slice(first, end)


def pad(x: FloatArray, pairs: tuple[tuple[int, int], ...], value: object) -> FloatArray:
    """``x`` with a border of ``value``.

    Parameters
    ----------
    x
        Any array.
    pairs
        Elements before and after each of its last axes; negative numbers crop.
    value
        Of the border.

    Examples
    --------
    >>> pad(np.float32([1, 2]), ((2, -1),), 5)
    array([5., 5., 1.], dtype=float32)
    """
    places, rest = inside(x.shape[x.ndim - len(pairs) :], pairs)
    leading, size = x.shape[: x.ndim - len(pairs)], x.shape[x.ndim - len(pairs) :]
    sizes = [n + before + after for n, (before, after) in zip(size, pairs, strict=True)]
    padded = np.full((*leading, *sizes), value, dtype=x.dtype)
    padded[places] = x[rest]
    return padded


def inside(
    size: tuple[int, ...], pairs: tuple[tuple[int, int], ...]
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return the places of an array's elements after :func:`pad`, and which elements these are.

    Examples
    --------
    >>> inside((2,), ((2, -1),))
    ((Ellipsis, slice(2, 3, None)), (Ellipsis, slice(0, 1, None)))
    """
    places, rest = [], []
    for length, (before, after) in zip(size, pairs, strict=True):
        places.append(slice(max(before, 0), max(length + before + min(after, 0), 0)))
        rest.append(slice(max(-before, 0), max(length + min(after, 0), 0)))
    return (..., *places), (..., *rest)


def pad_spatial(x: FloatArray, windows: Windows, value: float = 0) -> FloatArray:
    """``x`` of shape ``(..., *size)`` with a border of ``value``; ``x`` itself if there is none.

    Examples
    --------
    >>> pad_spatial(np.float32([1, 2]), Windows.make((3,), (1,), (1,), (1,)))
    array([0., 1., 2., 0.], dtype=float32)
    """
    if not any(before or after for before, after in windows.padding):
        return x
    return pad(x, windows.padding, value)


def in_order(view: FloatArray) -> FloatArray:
    """``np.ascontiguousarray(view)``, copied by parts: Python looks for Ctrl-C between two of them.

    Examples
    --------
    >>> in_order(np.arange(6).reshape(2, 3).T).tolist()
    [[0, 3], [1, 4], [2, 5]]
    """
    if view.size <= _LARGE:
        return np.ascontiguousarray(view)
    copied = np.empty(view.shape, view.dtype)
    _copy(view, copied)
    return copied


def _copy(view: FloatArray, out: FloatArray) -> None:
    step = max(_LARGE * len(view) // view.size, 1)
    for i in range(0, len(view), step):
        if step == 1 and view[i].size > _LARGE:
            _copy(view[i], out[i])
        else:
            out[i : i + step] = view[i : i + step]


def largest(x: FloatArray, windows: Windows, count: tuple[int, ...]) -> tuple[FloatArray, IntArray]:
    """The largest element of each window, and its position in the kernel, in C order.

    The first of equals wins; nan wins over everything. The padding is minus infinity.

    Parameters
    ----------
    x
        Numbers ``(..., *size)``.
    windows
        Where the windows lie.
    count
        Numbers of windows along the spatial axes.

    Examples
    --------
    >>> y, winner = largest(np.float32([1, 3, 2, 2]), Windows.make((2,), (2,), (0,), (1,)), (2,))
    >>> y, winner
    (array([3., 2.], dtype=float32), array([1, 0], dtype=uint8))
    """
    kind: Any = x.dtype
    lowest = -np.inf if kind.kind == "f" else np.iinfo(kind).min
    padded = pad_spatial(x, windows, lowest)
    slices = [where for _, where in windows.positions(count)]
    y = padded[slices[0]].copy()
    winner = np.zeros(y.shape, dtype=np.min_scalar_type(len(slices)))
    may_be_nan = bool(np.isnan(x).any())
    for index, where in enumerate(slices[1:], 1):
        candidate = padded[where]
        wins = candidate > y
        if may_be_nan:
            wins |= np.isnan(candidate)
        np.copyto(y, candidate, where=wins)
        # Places come in order, so that the last winner is the largest.
        np.maximum(winner, winner.dtype.type(index) * wins, out=winner)
    return y, winner


def means_of_windows(
    x: FloatArray, windows: Windows, count: tuple[int, ...], divisor: FloatArray
) -> FloatArray:
    """Sum of each window, one number after the other, over its divisor; of the type of ``x``.

    Parameters
    ----------
    x, windows, count
        As for :func:`largest`, but the padding is zero.
    divisor
        One number for all windows, or an array ``count`` with one for each.

    Examples
    --------
    >>> windows = Windows.make((2,), (1,), (0,), (1,))
    >>> means_of_windows(np.float32([1, 3, 2]), windows, (2,), np.float32([2]))
    array([2. , 2.5], dtype=float32)
    """
    padded = pad_spatial(x, windows)
    first, *others = [where for _, where in windows.positions(count)]
    y: FloatArray = padded[first] + x.dtype.type(0)
    for where in others:
        y += padded[where]
    with np.errstate(all="ignore"):
        y /= divisor
    return y


def gradient_of_largest(
    grad: FloatArray, winner: IntArray, windows: Windows, size: tuple[int, ...]
) -> FloatArray:
    """The gradient ``(..., *size)`` of what :func:`largest` was taken of.

    That of each window goes to its winner; what meets there is added in the order of the positions
    in the kernel, to zero.

    Examples
    --------
    >>> windows = Windows.make((2,), (2,), (0,), (1,))
    >>> gradient_of_largest(np.float32([5, 7]), np.uint8([1, 0]), windows, (4,))
    array([0., 5., 7., 0.], dtype=float32)
    """
    leading, count = grad.shape[: -len(size)], grad.shape[-len(size) :]
    total = np.zeros((*leading, *windows.padded_size(size)), dtype=grad.dtype)
    for index, (_, where) in enumerate(windows.positions(count)):
        total[where] += np.where(winner == index, grad, grad.dtype.type(0))
    inside: FloatArray = total[windows.interior(size)]
    return inside


def gradient_of_means(
    grad: FloatArray, windows: Windows, size: tuple[int, ...], divisor: FloatArray
) -> FloatArray:
    """The gradient ``(..., *size)`` of what :func:`means_of_windows` was taken of.

    Each window gives its share, the quotient, to all that it holds; what meets there is added in
    the order of the positions in the kernel, to zero.

    Examples
    --------
    >>> windows = Windows.make((2,), (1,), (0,), (1,))
    >>> gradient_of_means(np.float32([2, 6]), windows, (3,), np.float32([2]))
    array([1., 4., 3.], dtype=float32)
    """
    with np.errstate(all="ignore"):
        share = grad / divisor
    leading, count = share.shape[: -len(size)], share.shape[-len(size) :]
    total = np.zeros((*leading, *windows.padded_size(size)), dtype=share.dtype)
    for _, where in windows.positions(count):
        total[where] += share
    inside: FloatArray = total[windows.interior(size)]
    return inside
