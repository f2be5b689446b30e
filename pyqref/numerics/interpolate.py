"""Resizing of quantized images: nearest and bilinear."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .rounding import clamp_to_int, round_half_even
from .types import FloatArray, IntArray

__all__ = ["bilinear", "nearest", "nearest_source", "source_position"]


def nearest_source(
    size: int, outputs: int, factor: float | None = None, exact: bool = False
) -> IntArray:
    r"""Index of the input that each output copies.

    Equation ``eq-nearest-source``:

    .. math:: i = \min\big(\lfloor (o + h) \cdot r \rfloor,\; size - 1\big), \qquad
              r = \mathrm{fl}_{32}(size / outputs) \text{ or } \mathrm{fl}_{32}(1 / factor)

    in float32, with h = 1/2, the middle of the output, where ``exact`` is true, else h = 0.

    Examples
    --------
    >>> nearest_source(2, 4)
    array([0, 0, 1, 1])
    >>> nearest_source(4, 2), nearest_source(4, 2, exact=True)
    (array([0, 2]), array([1, 3]))
    """
    ratio = np.float32(1.0 / factor) if factor else np.float32(size) / np.float32(outputs)
    middle = np.float32(0.5 if exact else 0)
    position = np.floor((np.arange(outputs, dtype=np.float32) + middle) * ratio)
    return np.minimum(position.astype(np.int64), size - 1)


def nearest(
    q: IntArray,
    output_size: Sequence[int],
    factors: Sequence[float | None] | None = None,
    exact: bool = False,
) -> IntArray:
    r"""Resize by copying the nearest element; the grid stays.

    Equation ``eq-quantized-nearest``:

    .. math:: y_{\mathbf o} = q_{\mathbf i(\mathbf o)}

    Parameters
    ----------
    q
        Integers ``(B, C, *in)``.
    output_size
        One number for each spatial dimension.
    factors
        The factors that a user gave, one for each spatial dimension, or None.
    exact
        Take what lies nearest to the middle of each output, not to its edge.

    Examples
    --------
    >>> nearest(np.uint8([[[1, 2]]]), [5]).tolist()
    [[[1, 1, 1, 2, 2]]]
    """
    q = np.asarray(q)
    factors = factors or [None] * len(output_size)
    # In memory the channels stay last, where copies are of all channels at once.
    last = q.ndim > 3 and not q.flags.c_contiguous
    q, first = (np.moveaxis(q, 1, -1), 1) if last else (q, 2)
    for axis, (outputs, factor) in enumerate(zip(output_size, factors, strict=True), first):
        q = np.take(q, nearest_source(q.shape[axis], outputs, factor, exact), axis=axis)
    return np.moveaxis(q, -1, 1) if last else q


def source_position(
    size: int, outputs: int, align_corners: bool, factor: float | None = None
) -> tuple[IntArray, IntArray, FloatArray]:
    r"""The two inputs between which each output lies, and how far along.

    Equation ``eq-bilinear-source``:

    .. math:: p = \begin{cases} o\, \frac{size - 1}{outputs - 1} & \text{align\_corners} \\
              \max\left((o + \tfrac12)\, r - \tfrac12,\; 0\right) & \text{otherwise}
              \end{cases}, \qquad i = \lfloor p \rfloor, \quad \lambda = p - i

    in float32; the second input is ``i + 1``, or ``i`` at the end.

    Examples
    --------
    >>> lower, upper, share = source_position(2, 4, align_corners=False)
    >>> lower.tolist(), upper.tolist(), share.tolist()
    ([0, 0, 0, 1], [1, 1, 1, 1], [0.0, 0.25, 0.75, 0.25])
    """
    index = np.arange(outputs, dtype=np.float32)
    if align_corners:
        ratio = np.float32(size - 1) / np.float32(outputs - 1) if outputs > 1 else np.float32(0)
        position = index * ratio
    else:
        ratio = np.float32(1.0 / factor) if factor else np.float32(size) / np.float32(outputs)
        position = np.maximum((index + np.float32(0.5)) * ratio - np.float32(0.5), np.float32(0))
    first = np.minimum(position.astype(np.int64), size - 1)
    second = np.minimum(first + 1, size - 1)
    return first, second, position - first.astype(np.float32)


def bilinear(
    q: IntArray,
    zero_point: int,
    output_size: Sequence[int],
    align_corners: bool = False,
    factors: Sequence[float | None] | None = None,
) -> IntArray:
    r"""Resize by interpolating between four neighbours; the grid stays.

    Equation ``eq-quantized-bilinear``:

    .. math::
        \begin{gathered}
        v = (1 - \lambda_h)\big((1 - \lambda_w) q_{00} + \lambda_w q_{01}\big)
          + \lambda_h \big((1 - \lambda_w) q_{10} + \lambda_w q_{11}\big), \\[1ex]
        y = \mathrm{sat}(\mathrm{rne}((v - z) + z))
        \end{gathered}

    in float32, in this order.

    Parameters
    ----------
    q
        Integers ``(B, C, H, W)``.
    zero_point
        Their zero point.

    Examples
    --------
    >>> bilinear(np.uint8([[[[0, 10], [20, 30]]]]), 0, [1, 3], align_corners=True).tolist()
    [[[[0, 5, 10]]]]
    """
    q = np.asarray(q)
    factor_h, factor_w = factors or (None, None)
    top, bottom, down = source_position(q.shape[2], output_size[0], align_corners, factor_h)
    left, right, along = source_position(q.shape[3], output_size[1], align_corners, factor_w)
    down = down[:, None]
    x = q.astype(np.float32)
    one = np.float32(1)

    def across(rows: FloatArray) -> FloatArray:
        return (one - along) * rows[..., left] + along * rows[..., right]

    value = (one - down) * across(x[:, :, top]) + down * across(x[:, :, bottom])
    offset = np.float32(zero_point)
    limits = np.iinfo(q.dtype)
    rounded = round_half_even((value - offset) + offset)
    return clamp_to_int(rounded, int(limits.min), int(limits.max), q.dtype)
