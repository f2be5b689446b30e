"""Quantized convolution in one, two and three dimensions, and its transpose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .linear import exact_matmul
from .requantize import Requantization, requantize
from .types import IntArray

__all__ = [
    "conv_accumulator",
    "conv_transpose_accumulator",
    "quantized_conv",
    "quantized_conv_transpose",
    "transpose_canvas",
    "transpose_weight",
    "windows",
]


def windows(
    x: np.ndarray, kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int]
) -> np.ndarray:
    """View ``(B, C, *out, *kernel)`` of the windows that a kernel sees in ``(B, C, *in)``.

    ``out = (in - dilation * (kernel - 1) - 1) // stride + 1``; no data is copied.

    Examples
    --------
    >>> windows(np.array([[[1, 2, 3, 4]]]), [2], [1], [2])[0, 0].tolist()
    [[1, 3], [2, 4]]
    """
    span = tuple(d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True))
    axes = tuple(range(2, x.ndim))
    view = np.lib.stride_tricks.sliding_window_view(x, span, axis=axes)
    steps = tuple(slice(None, None, s) for s in stride)
    taps = tuple(slice(None, None, d) for d in dilation)
    return view[(slice(None), slice(None), *steps, *taps)]


def conv_accumulator(
    x: IntArray,
    weight: IntArray,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> IntArray:
    r"""Exact accumulators of a convolution of centred integers.

    Equation ``eq-conv-accumulator``:

    .. math:: a_{b,n,\mathbf o} = \sum_{c,\mathbf k} \tilde x_{b,\,c,\,
              \mathbf o \cdot stride + \mathbf k \cdot dilation - padding}\;
              \tilde w_{n,c,\mathbf k}

    where :math:`\tilde x = x - z_x` is zero outside the image (the padding is the
    zero point, so that it stands for 0.0), :math:`\tilde w = w - z_w`, and c runs
    over the input channels of the group of n.

    Parameters
    ----------
    x
        Centred integers ``(B, C, *in)`` with one to three spatial dimensions.
    weight
        Centred integers ``(N, C // groups, *kernel)``.
    stride, padding, dilation
        One number for each spatial dimension.
    groups
        Divides C and N.

    Returns
    -------
    int64 ``(B, *out, N)``, channels last, as :func:`requantize` wants them.

    Examples
    --------
    >>> x, ones = np.array([[[1, 2, 3]]]), np.ones((1, 1, 2), int)
    >>> conv_accumulator(x, ones, [1], [1], [1], 1)[0, :, 0].tolist()
    [1, 3, 5, 3]
    """
    batch, channels = x.shape[:2]
    outputs, kernel = weight.shape[0], weight.shape[2:]
    # In float64 from here on, where the integers stay exact: see exact_matmul.
    padded = np.pad(x.astype(np.float64), [(0, 0), (0, 0), *((p, p) for p in padding)])
    patches = windows(padded, kernel, stride, dilation)
    out = patches.shape[2 : 2 + len(kernel)]
    per_group = channels // groups
    # (B, C, *out, *kernel) -> (groups, B * out, C/groups * kernel)
    patches = patches.reshape(batch, groups, per_group, *out, *kernel)
    space = tuple(range(3, 3 + len(out)))
    taps = tuple(range(3 + len(out), patches.ndim))
    rows = patches.transpose(1, 0, *space, 2, *taps)
    depth = per_group * int(np.prod(kernel))
    rows = rows.reshape(groups, batch * int(np.prod(out)), depth)
    columns = weight.reshape(groups, outputs // groups, depth).transpose(0, 2, 1)
    products = exact_matmul(rows, columns).transpose(1, 0, 2)
    return products.reshape(batch, *out, outputs)


def conv_transpose_accumulator(
    x: IntArray,
    weight: IntArray,
    stride: Sequence[int],
    padding: Sequence[int],
    output_padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> IntArray:
    r"""Exact accumulators of a transposed convolution of centred integers.

    Equation ``eq-conv-transpose-accumulator``:

    .. math:: a_{b,n,\mathbf o} = \sum_{c,\mathbf i,\mathbf k \,:\,
              \mathbf i \cdot stride + \mathbf k \cdot dilation - padding = \mathbf o}
              \tilde x_{b,c,\mathbf i}\; \tilde w_{c,n,\mathbf k}

    computed as a convolution: zeros are put between the inputs, the kernel is
    flipped, and its input and output channels are swapped.

    Parameters
    ----------
    x
        Centred integers ``(B, C, *in)``.
    weight
        Centred integers ``(C, N // groups, *kernel)``.
    stride, padding, output_padding, dilation
        One number for each spatial dimension.
    groups
        Divides C and N.

    Returns
    -------
    int64 ``(B, *out, N)``
        ``out = (in - 1) * stride - 2 * padding + dilation * (kernel - 1) + output_padding + 1``.

    Examples
    --------
    >>> x, weight = np.array([[[1, 2]]]), np.array([[[10, 1]]])
    >>> conv_transpose_accumulator(x, weight, [2], [0], [0], [1], 1)[0, :, 0].tolist()
    [10, 1, 20, 2]
    """
    kernel = weight.shape[2:]
    canvas = transpose_canvas(x, 0, kernel, stride, padding, output_padding, dilation)
    ones, none = [1] * len(kernel), [0] * len(kernel)
    swapped = transpose_weight(weight, groups)
    return conv_accumulator(canvas, swapped, ones, none, dilation, groups)


def transpose_canvas(
    x: IntArray,
    fill: int,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    output_padding: Sequence[int],
    dilation: Sequence[int],
) -> IntArray:
    """Return ``x`` spread out with margins, which a convolution reads to compute a transposed one.

    Position ``o + tap`` of the canvas, where ``tap = dilation * k``, holds input
    ``(o + tap - margin) / stride`` where that is one, else ``fill``, with
    ``margin = dilation * (kernel - 1) - padding``.

    Examples
    --------
    >>> transpose_canvas(np.uint8([[[1, 2]]]), 9, [2], [2], [0], [0], [1])
    array([[[9, 1, 9, 2, 9]]], dtype=uint8)
    """
    size = [
        (i - 1) * s - 2 * p + d * (k - 1) + extra + 1
        for i, s, p, d, k, extra in zip(
            x.shape[2:], stride, padding, dilation, kernel, output_padding, strict=True
        )
    ]
    margin = [d * (k - 1) - p for d, k, p in zip(dilation, kernel, padding, strict=True)]
    canvas_size = [o + d * (k - 1) for o, d, k in zip(size, dilation, kernel, strict=True)]
    canvas = np.full((*x.shape[:2], *canvas_size), fill, dtype=x.dtype)
    source, target = [slice(None)] * 2, [slice(None)] * 2
    for i, m, s, limit in zip(x.shape[2:], margin, stride, canvas_size, strict=True):
        first = max(0, -(m // s))
        last = max(first, min(i, (limit - 1 - m) // s + 1))
        source.append(slice(first, last))
        target.append(slice(m + first * s, m + last * s, s))
    canvas[tuple(target)] = x[tuple(source)]
    return canvas


def transpose_weight(weight: IntArray, groups: int) -> IntArray:
    """The weight ``(N, C // groups, *kernel)`` of the convolution over the canvas.

    The weight ``(C, N // groups, *kernel)`` of the transposed convolution with its kernel
    flipped, and input and output channels swapped in each group. Doing it twice gives
    back what was given.

    Examples
    --------
    >>> weight = np.array([[[1, 2], [3, 4]]])  # one input channel, two output channels
    >>> transpose_weight(weight, 1).tolist()
    [[[2, 1]], [[4, 3]]]
    """
    channels, per_group, *kernel = weight.shape
    flipped = np.flip(weight, axis=tuple(range(2, weight.ndim)))
    grouped = flipped.reshape(groups, channels // groups, per_group, *kernel)
    return grouped.swapaxes(1, 2).reshape(groups * per_group, channels // groups, *kernel)


def _centred(q: IntArray, zero_points: Any) -> IntArray:
    """Integers without their zero points, of which there is one, or one for each of axis 0."""
    q = np.asarray(q)
    column = np.asarray(zero_points, dtype=np.int64).reshape(-1, *(1,) * (q.ndim - 1))
    return q.astype(np.int64) - column


def quantized_conv(
    x: IntArray,
    x_zero_point: int,
    weight: IntArray,
    weight_zero_points: object,
    requant: Requantization,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> IntArray:
    """Quantized convolution: ``eq-conv-accumulator``, then ``eq-requantize``.

    Parameters
    ----------
    x
        Integers ``(B, C, *in)`` with one, two or three spatial dimensions.
    x_zero_point
        Their zero point, which is also what the padding holds.
    weight
        Integers ``(N, C // groups, *kernel)``.
    weight_zero_points
        A scalar, ``(1,)`` or ``(N,)``.
    requant
        From :func:`pyqref.numerics.requantize.requantization`.
    stride, padding, dilation
        One number for each spatial dimension.
    groups
        Divides C and N.

    Returns
    -------
    Integers ``(B, N, *out)`` of the type ``requant.storage``.

    Examples
    --------
    >>> from pyqref.numerics.requantize import requantization
    >>> requant = requantization("fbgemm", 1.0, 1.0, 1.0, 0)
    >>> x, ones = np.uint8([[[11, 12, 13]]]), np.int8([[[1, 1]]])
    >>> quantized_conv(x, 10, ones, 0, requant, [1], [1], [1], 1).tolist()
    [[[1, 3, 5, 3]]]
    """
    accumulator = conv_accumulator(
        _centred(x, x_zero_point),
        _centred(weight, weight_zero_points),
        stride,
        padding,
        dilation,
        groups,
    )
    return np.ascontiguousarray(np.moveaxis(requantize(accumulator, requant), -1, 1))


def quantized_conv_transpose(
    x: IntArray,
    x_zero_point: int,
    weight: IntArray,
    weight_zero_points: object,
    requant: Requantization,
    stride: Sequence[int],
    padding: Sequence[int],
    output_padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> IntArray:
    """Quantized transposed convolution: ``eq-conv-transpose-accumulator``, ``eq-requantize``.

    Parameters
    ----------
    weight
        Integers ``(C, N // groups, *kernel)``.
    weight_zero_points
        A scalar, ``(1,)`` or ``(N,)``: the outputs of the first group come first.
    output_padding
        Extra rows at the far end, one number for each spatial dimension.

    The other parameters and the result are those of :func:`quantized_conv`.

    Examples
    --------
    >>> from pyqref.numerics.requantize import requantization
    >>> requant = requantization("fbgemm", 1.0, 1.0, 1.0, 0)
    >>> x, weight = np.uint8([[[11, 12]]]), np.int8([[[10, 1]]])
    >>> quantized_conv_transpose(x, 10, weight, 0, requant, [2], [0], [0], [1], 1).tolist()
    [[[10, 1, 20, 2]]]
    """
    # Swapped, so that axis 0 is the outputs of all groups, and swapped back.
    swapped = _centred(transpose_weight(weight, groups), weight_zero_points)
    accumulator = conv_transpose_accumulator(
        _centred(x, x_zero_point),
        transpose_weight(swapped, groups),
        stride,
        padding,
        output_padding,
        dilation,
        groups,
    )
    return np.ascontiguousarray(np.moveaxis(requantize(accumulator, requant), -1, 1))
