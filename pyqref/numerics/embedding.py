"""Quantized embedding tables: rows of integers, each with a scale and an offset.

A row stands for ``scale * q + offset``. Rows of bytes keep scale and offset as float32,
rows of 4 or 2 bits as float16.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .rounding import clamp_to_int, fma32, round_half_even
from .types import FloatArray, IntArray

__all__ = [
    "bag",
    "bits_of_row",
    "lookup",
    "narrower_ranges",
    "pack_bits",
    "quantize_rows_byte",
    "quantize_rows_narrow",
    "row_parameters",
    "search_row_range",
    "unpack_bits",
]


def pack_bits(q: IntArray, bits: int) -> IntArray:
    r"""Several small integers in a byte, the first one lowest.

    Equation ``eq-pack-bits``:

    .. math:: p_j = \sum_{k < n} 2^{k b}\, q_{n j + k}, \qquad n = 8 / b

    Parameters
    ----------
    q
        Integers ``(R, D)`` in [0, 2**bits - 1].
    bits
        b: 2, 4 or 8.

    Returns
    -------
    uint8 ``(R, ceil(D / n))``; what is missing in the last byte is zero.

    Examples
    --------
    >>> pack_bits(np.uint8([[1, 2, 15]]), 4).tolist()
    [[33, 15]]
    """
    number = 8 // bits
    q = np.asarray(q, np.uint8)
    q = np.pad(q, ((0, 0), (0, -q.shape[1] % number)))
    parts = q.reshape(q.shape[0], q.shape[1] // number, number)
    shifts = np.arange(number, dtype=np.uint8) * bits
    return np.bitwise_or.reduce(parts << shifts.astype(np.uint8), axis=2, dtype=np.uint8)


def unpack_bits(packed: IntArray, bits: int) -> IntArray:
    r"""The small integers of packed bytes.

    Equation ``eq-unpack-bits``:

    .. math:: q_{n j + k} = \lfloor p_j / 2^{k b} \rfloor \bmod 2^b, \qquad n = 8 / b

    Examples
    --------
    >>> unpack_bits(np.uint8([[33, 15]]), 4).tolist()
    [[1, 2, 15, 0]]
    """
    packed = np.asarray(packed, np.uint8)
    number = 8 // bits
    if number == 1:
        return packed
    # All at once, in words of as many bytes: integer k, at bit k b, belongs at bit 8 k.
    words = packed.astype(f"<u{number}")
    spread = words.copy()
    for k in range(1, number):
        spread |= words << words.dtype.type(k * (8 - bits))
    spread &= words.dtype.type(sum((2**bits - 1) << 8 * k for k in range(number)))
    return spread.view(np.uint8)


def bits_of_row(bits: int) -> type[np.floating]:
    """Type of scale and offset of rows of ``bits`` bits.

    Examples
    --------
    >>> bits_of_row(8).__name__, bits_of_row(4).__name__
    ('float32', 'float16')
    """
    return np.float32 if bits == 8 else np.float16


def row_parameters(
    scales: FloatArray, zero_points: FloatArray, bits: int
) -> tuple[FloatArray, FloatArray]:
    r"""Scale and offset of each row, from scale and (float) zero point.

    Equation ``eq-embedding-row``:

    .. math:: s_r, \qquad o_r = -z_r s_r, \qquad
              \text{both rounded to half precision for fewer than 8 bits}

    Returns
    -------
    float32 ``(R,)`` each.

    Examples
    --------
    >>> scales, offsets = row_parameters(np.float32([0.5]), np.float32([10.0]), 8)
    >>> scales.tolist(), offsets.tolist()
    ([0.5], [-5.0])
    """
    scales = np.asarray(scales, np.float32)
    offsets = -np.asarray(zero_points, np.float32) * scales
    kept = bits_of_row(bits)
    return scales.astype(kept).astype(np.float32), offsets.astype(kept).astype(np.float32)


def lookup(q: IntArray, scales: FloatArray, offsets: FloatArray, indices: IntArray) -> FloatArray:
    r"""Rows of the table as real numbers.

    Equation ``eq-embedding-lookup``:

    .. math:: y_{i,d} = \mathrm{fma}(q_{r,d},\; s_r,\; o_r), \qquad r = index_i

    Parameters
    ----------
    q
        Integers ``(R, D)``.
    scales, offsets
        float32 ``(R,)``.
    indices
        Integers ``(...)`` in [0, R - 1].

    Returns
    -------
    float32 ``(..., D)``.

    Examples
    --------
    >>> q, scales, offsets = np.uint8([[1, 2], [3, 4]]), np.float32([1, 2]), np.float32([0, 10])
    >>> lookup(q, scales, offsets, np.array([1, 0])).tolist()
    [[16.0, 18.0], [1.0, 2.0]]
    """
    rows = np.asarray(q)[indices].astype(np.float32)
    return fma32(rows, scales[indices][..., None], offsets[indices][..., None])


def bag(
    q: IntArray,
    scales: FloatArray,
    offsets: FloatArray,
    indices: IntArray,
    starts: IntArray,
    ends: IntArray,
    weights: FloatArray | None = None,
) -> FloatArray:
    r"""Sums of rows, bag by bag, one row after the other.

    Equation ``eq-embedding-bag``:

    .. math:: y_d \leftarrow \mathrm{fma}\big(q_{r,d},\; w_i s_r,\; y_d + w_i o_r\big),
              \qquad r = index_i

    for i in the bag, from zero; without weights :math:`w_i = 1`.

    Parameters
    ----------
    indices
        Integers ``(I,)`` in [0, R - 1].
    starts, ends
        Integers ``(B,)``: bag b holds ``indices[starts[b]:ends[b]]``.
    weights
        float32 ``(I,)``, or None.

    Returns
    -------
    float32 ``(B, D)``.

    Examples
    --------
    >>> q, scales, offsets = np.uint8([[1, 2], [3, 4]]), np.float32([1, 2]), np.float32([0, 10])
    >>> indices, starts, ends = np.array([0, 1, 1]), np.array([0, 2]), np.array([2, 3])
    >>> bag(q, scales, offsets, indices, starts, ends, None).tolist()
    [[17.0, 20.0], [16.0, 18.0]]
    """
    q = np.asarray(q)
    total = np.zeros((len(starts), q.shape[1]), np.float32)
    lengths = np.asarray(ends) - starts
    with np.errstate(over="ignore", invalid="ignore"):
        for step in range(int(lengths.max(initial=0))):
            active = np.nonzero(lengths > step)[0]
            place = starts[active] + step
            row = indices[place]
            scale, offset = scales[row][:, None], offsets[row][:, None]
            if weights is not None:
                share = np.asarray(weights, np.float32)[place][:, None]
                scale, offset = scale * share, offset * share
            total[active] = fma32(q[row].astype(np.float32), scale, total[active] + offset)
    return total


def quantize_rows_byte(
    weight: FloatArray, low: FloatArray | None = None, high: FloatArray | None = None
) -> tuple[IntArray, FloatArray, FloatArray]:
    r"""Rows of bytes over the range that each row has.

    Equation ``eq-embedding-rows-byte``:

    .. math::
        \begin{gathered}
        o_r = \min_d x_{r,d}, \quad \rho_r = \max_d x_{r,d} - o_r, \quad
        s_r = \rho_r / 255, \\[1ex]
        q_{r,d} = \mathrm{rne}\left((x_{r,d} - o_r) \cdot
        \frac{255}{\rho_r + 10^{-8}}\right)
        \end{gathered}

    Parameters
    ----------
    weight
        float32 ``(R, D)``.
    low, high
        Range of each row, float32 ``(R,)``, in place of its own; results are clamped.

    Returns
    -------
    uint8 ``(R, D)``; scale and offset, float32 ``(R,)``.

    Examples
    --------
    >>> q, scales, offsets = quantize_rows_byte(np.float32([[-1.0, 0.0, 50.0]]))
    >>> q.tolist(), offsets.tolist()
    ([[0, 5, 255]], [-1.0])
    """
    x = np.asarray(weight, np.float32)
    bottom = x.min(axis=1, initial=np.inf) if low is None else np.asarray(low, np.float32)
    top = x.max(axis=1, initial=-np.inf) if high is None else np.asarray(high, np.float32)
    width = top - bottom
    inverse = np.float32(255) / (width + np.float32(1e-8))
    with np.errstate(over="ignore", invalid="ignore"):  # of a range that does not hold the row
        rounded = round_half_even((x - bottom[:, None]) * inverse[:, None])
    return clamp_to_int(rounded, 0, 255, np.uint8), width / np.float32(255), bottom


def quantize_rows_narrow(
    weight: FloatArray,
    bits: int,
    low: FloatArray | None = None,
    high: FloatArray | None = None,
) -> tuple[IntArray, FloatArray, FloatArray]:
    r"""Rows of 4 or 2 bits, with scale and offset in half precision.

    Equation ``eq-embedding-rows-narrow``:

    .. math:: o_r = \mathrm{fl}_{16}\big(\min_d x_{r,d}\big), \quad
              s_r = \mathrm{fl}_{16}\left(\frac{\max_d x_{r,d} - o_r}{2^b - 1}\right), \quad
              q_{r,d} = \mathrm{sat}\big(\mathrm{rne}((x_{r,d} - o_r) \cdot \iota(s_r))\big)

    A scale of zero, and one whose reciprocal is infinite, is replaced by 1.

    Returns
    -------
    uint8 ``(R, D)``; scale and offset, float16 ``(R,)``.

    Examples
    --------
    >>> q, scales, offsets = quantize_rows_narrow(np.float32([[-1.0, 0.0, 6.5]]), 4)
    >>> q.tolist(), scales.tolist(), offsets.tolist()
    ([[0, 2, 15]], [0.5], [-1.0])
    """
    x = np.asarray(weight, np.float32)
    bottom = x.min(axis=1, initial=np.inf) if low is None else np.asarray(low, np.float32)
    top = x.max(axis=1, initial=-np.inf) if high is None else np.asarray(high, np.float32)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        offset = bottom.astype(np.float16)
        start = offset.astype(np.float32)
        width = top - start
        half = (width / np.float32(2**bits - 1)).astype(np.float16)
        half = np.where(half == 0, np.float16(1), half)
        inverse = np.float32(1) / half.astype(np.float32)
        rounded = round_half_even((x - start[:, None]) * inverse[:, None])
    return clamp_to_int(rounded, 0, 2**bits - 1, np.uint8), half, offset


def search_row_range(
    row: FloatArray, bits: int, bins: int = 200, ratio: float = 0.16
) -> tuple[float, float]:
    r"""A narrower range of a row, with a smaller quantization error.

    Equation ``eq-embedding-search``: from the whole range, take one of ``bins`` equal
    steps from the end where that leaves the smaller error

    .. math:: \varepsilon(lo, hi) = \sqrt{\textstyle\sum_d (\hat x_d - x_d)^2}

    (from the upper end if they are equal) until a part ``ratio`` of the range is gone,
    and return the best range met. :math:`\hat x` follows ``eq-embedding-rows-narrow``.

    Examples
    --------
    >>> row = np.float32([0.0, 0.1, 0.2, 0.3, 0.4, 1.0])
    >>> [round(float(each), 3) for each in search_row_range(row, 2)]
    [0.015, 0.965]
    """
    x = np.asarray(row, np.float32)

    def error(bottom: np.float32, top: np.float32) -> float:
        q, scale, offset = quantize_rows_narrow(
            x[None], bits, np.atleast_1d(bottom), np.atleast_1d(top)
        )
        with np.errstate(over="ignore", invalid="ignore"):  # beyond float16: infinite, or nan
            real = q.astype(np.float32) * scale.astype(np.float32) + offset.astype(np.float32)
            return float(np.square(real - x, dtype=np.float64).sum())

    chosen, best, _ = next(ranges := narrower_ranges(x, bins, ratio, error))
    for each, found, _ in ranges:
        if found < best:
            best, chosen = found, each
    return float(chosen[0]), float(chosen[1])


def narrower_ranges(
    x: FloatArray, bins: int, ratio: float, error: Callable[[np.float32, np.float32], Any]
) -> Iterator[tuple[tuple[np.float32, np.float32], Any, tuple[Any, Any] | None]]:
    """The ranges of the search of ``eq-embedding-search``, from the whole one on.

    Parameters
    ----------
    x
        The numbers, float32.
    bins
        Steps from one end to the other.
    ratio
        Which part of the range is taken off, in [0, 1].
    error
        The error of a range, from its two ends.

    Yields
    ------
    tuple
        The two ends; the error; and the errors of the two ranges that come into question next,
        without the lowest step and without the highest, or None at the end of the search.

    Examples
    --------
    >>> x = np.float32([0.0, 4.0])
    >>> [(float(low), float(high)) for (low, high), *_ in narrower_ranges(x, 4, 0.5, min)]
    [(0.0, 4.0), (0.0, 3.0), (0.0, 2.0)]
    """
    low, high = x.min(), x.max()
    step = (high - low) / np.float32(bins)
    least = np.float32(bins) * (np.float32(1) - np.float32(ratio)) * step
    now = error(low, high)
    while low + least < high:
        from_below, from_above = error(low + step, high), error(low, high - step)
        before = low, high
        yield before, now, (from_below, from_above)
        if from_below < from_above:
            low, now = low + step, from_below
        else:
            high, now = high - step, from_above
        if (low, high) == before:  # the step is less than float32 can tell
            return
    yield (low, high), now, None
