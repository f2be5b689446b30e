"""Pooling of quantized arrays: the largest integer, or the rounded mean."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np

from .convolution import windows
from .noted import noted
from .rounding import clamp_to_int, round_half_even
from .types import Engine, IntArray

__all__ = [
    "adaptive_avg_pool",
    "avg_pool",
    "adaptive_windows",
    "averaged_windows",
    "max_pool",
    "pooled_size",
    "pooled_sizes",
    "quantized_mean",
]


def pooled_size(
    size: int, kernel: int, stride: int, padding: int, dilation: int = 1, ceil_mode: bool = False
) -> int:
    r"""Number of windows along one axis.

    Equation ``eq-pooled-size``:

    .. math:: o = \left\lfloor \frac{i + 2p - d(k - 1) - 1 \;(+\, t - 1)}{t} \right\rfloor + 1

    with stride t. The extra :math:`t - 1` is added with ``ceil_mode``, where a last
    window that would start in the far padding is dropped.

    Examples
    --------
    >>> pooled_size(5, 2, 2, 0), pooled_size(5, 2, 2, 0, ceil_mode=True)
    (2, 3)
    """
    room = size + 2 * padding - dilation * (kernel - 1) - 1
    count = (room + (stride - 1 if ceil_mode else 0)) // stride + 1
    if ceil_mode and (count - 1) * stride >= size + padding:
        count -= 1
    return count


def pooled_sizes(
    size: Sequence[int],
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool = False,
) -> tuple[int, ...]:
    """Numbers of windows along all axes (``eq-pooled-size``), at least one along each.

    Raises
    ------
    ValueError
        No window fits into the padded input.

    Examples
    --------
    >>> pooled_sizes((5, 6), (2, 3), (2, 1), (0, 1), (1, 1))
    (2, 6)
    """
    axes = zip(size, kernel, stride, padding, dilation, strict=True)
    sizes = tuple([pooled_size(i, k, s, p, d, ceil_mode) for i, k, s, p, d in axes])
    if min(sizes) < 1:
        raise ValueError(
            f"input of size {list(size)} with padding {list(padding)} is too small for "
            f"kernel_size {list(kernel)} with dilation {list(dilation)}: the output would have "
            f"size {list(sizes)}"
        )
    return sizes


def _padded(
    x: np.ndarray,
    fill: int,
    sizes: Sequence[int],
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> np.ndarray:
    """Spatial axes padded in front by ``padding``, behind so that every window is full."""
    widths = [(0, 0), (0, 0)]
    for i, o, k, t, p, d in zip(x.shape[2:], sizes, kernel, stride, padding, dilation, strict=True):
        needed = (o - 1) * t + d * (k - 1) + 1
        widths.append((p, max(0, needed - i - p)))
    return np.pad(x, widths, constant_values=fill)


def _pooled_windows(
    x: np.ndarray,
    fill: int,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
) -> np.ndarray:
    sizes = pooled_sizes(x.shape[2:], kernel, stride, padding, dilation, ceil_mode)
    padded = _padded(x, fill, sizes, kernel, stride, padding, dilation)
    view = windows(padded, kernel, stride, dilation)
    return view[(slice(None), slice(None), *(slice(0, o) for o in sizes))]


def max_pool(
    q: IntArray,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool = False,
) -> IntArray:
    r"""Largest integer of each window, which is also the largest real number.

    Equation ``eq-quantized-max-pool``:

    .. math:: y_{\mathbf o} = \max_{\mathbf k} q_{\mathbf o \cdot stride + \mathbf k \cdot
              dilation - padding}

    Parameters
    ----------
    q
        Integers ``(B, C, *in)``; padding never wins.
    kernel, stride, padding, dilation
        One number for each spatial dimension.

    Raises
    ------
    ValueError
        No window fits into the padded input.

    Examples
    --------
    >>> max_pool(np.uint8([[[1, 9, 2, 3]]]), [2], [1], [1], [1]).tolist()
    [[[1, 9, 9, 3, 3]]]
    """
    q = np.asarray(q)
    lowest = int(np.iinfo(q.dtype).min)
    view = _pooled_windows(q, lowest, kernel, stride, padding, dilation, ceil_mode)
    # One pass over all windows for each place in them: NumPy is slow along short last axes.
    places = np.ndindex(*view.shape[-len(kernel) :])
    return reduce(np.maximum, (view[(..., *place)] for place in places)).copy()


def quantized_mean(
    total: IntArray,
    count: int | IntArray,
    zero_point: int,
    quant_min: int,
    quant_max: int,
    storage: object,
    engine: Engine = "fbgemm",
    scale: float = 1.0,
) -> IntArray:
    r"""Integer that stands for the mean of ``count`` elements.

    Equation ``eq-quantized-mean``:

    .. math:: q_{fbgemm} = \mathrm{sat}(\mathrm{rne}(S / n + z)), \qquad
              q_{qnnpack} = \mathrm{sat}\Big(\mathrm{rne}\big(
              S \cdot \mathrm{fl}_{32}(s / \mathrm{fl}_{32}(s\, n))\big) + z\Big)

    Parameters
    ----------
    total
        S, the sum of ``q - zero_point`` over the elements.
    count
        n, positive; an array that broadcasts against ``total``, or one number.
    scale
        s, of the input and the output. It does not cancel: qnnpack forms its multiplier as
        for any other requantization, with two roundings.

    Examples
    --------
    >>> quantized_mean(np.array([6, 14]), 4, 10, 0, 255, np.uint8).tolist()  # 1.5 and 3.5: ties
    [12, 14]
    """
    summed = np.asarray(noted("sum", total)).astype(np.float32)
    number = np.asarray(noted("count", count)).astype(np.float32)
    if engine == "qnnpack":
        multiplier = noted("multiplier", np.float32(scale) / (np.float32(scale) * number))
        rounded = noted("rounded", round_half_even(noted("scaled", summed * multiplier)))
        return clamp_to_int(rounded.astype(np.float64) + zero_point, quant_min, quant_max, storage)
    scaled = noted("scaled", summed / number)
    shifted = round_half_even(noted("with zero point", scaled + np.float32(zero_point)))
    return clamp_to_int(noted("rounded", shifted), quant_min, quant_max, storage)


def avg_pool(
    q: IntArray,
    zero_point: int,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    engine: Engine = "fbgemm",
    scale: float = 1.0,
) -> IntArray:
    r"""Rounded mean of each window.

    Equation ``eq-quantized-avg-pool``: ``eq-quantized-mean`` with

    .. math:: S_{\mathbf o} = \sum_{\mathbf k} (q_{\mathbf o \cdot stride + \mathbf k -
              padding} - z)

    where the padding adds nothing, and n the number of positions of the window inside
    the padded image (``count_include_pad``), or inside the image, or ``divisor_override``.

    Parameters
    ----------
    q
        Integers ``(B, C, *in)``; the result is on the same grid.
    zero_point
        Their zero point.
    kernel, stride, padding
        One number for each spatial dimension.
    engine
        With ``ceil_mode`` every engine divides as fbgemm does.
    scale
        Of the input; see :func:`quantized_mean`.

    Raises
    ------
    ValueError
        No window fits into the padded input.

    Examples
    --------
    >>> x = np.uint8([[[1, 3, 9]]])
    >>> avg_pool(x, 0, [2], [1], [1]).tolist()
    [[[0, 2, 6, 4]]]
    >>> avg_pool(x, 0, [2], [1], [1], count_include_pad=False).tolist()
    [[[1, 2, 6, 9]]]
    """
    limits = np.iinfo(np.asarray(q).dtype)
    view, count = averaged_windows(
        q, zero_point, kernel, stride, padding, ceil_mode, count_include_pad, divisor_override
    )
    total = view.sum(axis=tuple(range(-len(kernel), 0)))
    engine = "fbgemm" if ceil_mode else engine
    return quantized_mean(
        total, count, zero_point, int(limits.min), int(limits.max), limits.dtype, engine, scale
    )


def averaged_windows(
    q: IntArray,
    zero_point: int,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> tuple[IntArray, int | IntArray]:
    """The windows of an average, and what their sums are divided by (``eq-quantized-avg-pool``).

    Parameters as of :func:`avg_pool`.

    Returns
    -------
    windows
        Integers less the zero point, ``(B, C, *out, *kernel)``; 0 beside the image.
    count
        A number, or an array that broadcasts against the sums of the windows.

    Examples
    --------
    >>> view, count = averaged_windows(np.uint8([[[1, 3]]]), 1, [2], [1], [1], False, False)
    >>> view.tolist(), count.tolist()
    ([[[[0, 0], [0, 2], [2, 0]]]], [[[1, 2, 1]]])
    """
    q = np.asarray(q)
    axes = tuple(range(-len(kernel), 0))
    ones = [1] * len(kernel)
    centred = q.astype(np.int64) - zero_point
    view = _pooled_windows(centred, 0, kernel, stride, padding, ones, ceil_mode)
    count: int | IntArray
    if divisor_override is not None:
        count = divisor_override
    else:
        inside = np.ones((1, 1, *q.shape[2:]), np.int64)
        rest = padding
        if count_include_pad:
            inside = np.pad(inside, [(0, 0), (0, 0), *((p, p) for p in padding)], "edge")
            rest = [0] * len(kernel)
        sizes = view.shape[2 : 2 + len(kernel)]
        canvas = _padded(inside, 0, sizes, kernel, stride, rest, ones)
        counts = windows(canvas, kernel, stride, ones)
        counts = counts[(slice(None), slice(None), *(slice(0, o) for o in sizes))]
        count = counts.sum(axis=axes)
    return view, count


def adaptive_windows(
    q: IntArray, zero_point: int, output_size: Sequence[int]
) -> tuple[IntArray, IntArray]:
    """The windows of ``eq-quantized-adaptive-avg-pool``, and how many elements each has.

    Returns
    -------
    windows
        Integers less the zero point, ``(..., *output_size, *kernel)``; 0 behind a window that is
        shorter than others.
    count
        Broadcasts against the sums of the windows.

    Examples
    --------
    >>> view, count = adaptive_windows(np.uint8([[[1, 2, 3]]]), 0, [2])
    >>> view.tolist(), count.tolist()
    ([[[[1, 2], [2, 3]]]], [2, 2])
    """
    view = np.asarray(q).astype(np.int64) - zero_point
    spatial = len(output_size)
    leading = view.ndim - spatial
    count = np.ones((1,) * spatial, np.int64)
    for place, outputs in enumerate(output_size):
        axis = leading + place
        size = view.shape[axis]
        first = np.arange(outputs) * size // max(outputs, 1)
        last = -(-(np.arange(outputs) + 1) * size // max(outputs, 1))
        longest = int((last - first).max(initial=1))
        index = first[:, None] + np.arange(longest)
        inside = index < last[:, None]
        taken = np.take(view, np.minimum(index, size - 1), axis=axis)
        shape = [1] * taken.ndim
        shape[axis : axis + 2] = inside.shape
        # What is inside a window goes to the end; the axes of the outputs stay where they are.
        view = np.moveaxis(taken * inside.reshape(shape), axis + 1, -1)
        count = count * (last - first).reshape([-1 if k == place else 1 for k in range(spatial)])
    return view, count


def adaptive_avg_pool(
    q: IntArray,
    zero_point: int,
    output_size: Sequence[int],
    engine: Engine = "fbgemm",
    scale: float = 1.0,
) -> IntArray:
    r"""Rounded mean over windows laid so that ``output_size`` results come out.

    Equation ``eq-quantized-adaptive-avg-pool``: ``eq-quantized-mean`` over

    .. math:: \lfloor o \cdot i / n \rfloor \;\le\; \text{position} \;<\;
              \lceil (o + 1) \cdot i / n \rceil

    along each axis, with i inputs, n outputs and o the index of the output. Where n
    does not divide i, so that windows overlap, every engine divides as fbgemm does.

    Raises
    ------
    ValueError
        There are no pixels.

    Examples
    --------
    >>> adaptive_avg_pool(np.uint8([[[1, 2, 3, 10, 11]]]), 0, [2]).tolist()
    [[[2, 8]]]
    """
    q = np.asarray(q)
    spatial = len(output_size)
    sizes = q.shape[q.ndim - spatial :]
    if 0 in sizes and 0 not in output_size:
        raise ValueError(f"the input must have pixels, got size {list(sizes)}")
    even = all(o > 0 and i % o == 0 for i, o in zip(sizes, output_size, strict=True))
    engine = engine if even else "fbgemm"
    total = q.astype(np.int64) - zero_point
    count = np.ones((1,) * q.ndim, np.int64)
    for axis, outputs in zip(range(q.ndim - spatial, q.ndim), output_size, strict=True):
        size = q.shape[axis]
        places = np.arange(outputs)
        first = places * size // max(outputs, 1)
        last = -(-(places + 1) * size // max(outputs, 1))
        before = np.cumsum(total, axis=axis)
        before = np.insert(before, 0, 0, axis=axis)
        total = np.take(before, last, axis=axis) - np.take(before, first, axis=axis)
        shape = [1] * q.ndim
        shape[axis] = outputs
        count = count * (last - first).reshape(shape)
    limits = np.iinfo(q.dtype)
    return quantized_mean(
        total, count, zero_point, int(limits.min), int(limits.max), q.dtype, engine, scale
    )
