"""The threshold at which quantized data tells least apart from the data: calibration by entropy.

S. Migacz, *8-bit inference with TensorRT*, GTC 2017, and the calibrator of ONNX Runtime. They
disagree about details, each of which is a field of :class:`EntropyRules`.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from .logarithm import log
from .types import FloatArray, IntArray

__all__ = [
    "EntropyRules",
    "entropy_bins",
    "flattened_zero",
    "kl_divergence",
    "quantized_distribution",
    "smoothed_distribution",
]


class EntropyRules(NamedTuple):
    """The details of which the definitions of calibration by entropy disagree.

    Attributes
    ----------
    symmetric
        True: the counts are those of magnitudes, and a candidate holds the first bins. False:
        they are those of values, and a candidate holds the bins around the middle.
    quantized_bins
        Number of levels.
    zero_bins
        Level of a bin without data: ``"empty"`` gives it nothing, ``"filled"`` as much as the
        other bins of its level.
    smoothing
        What a bin without data counts afterwards; 0 for no smoothing.
    remainder
        Where the bins do not divide by the levels: ``"even"`` spreads the levels, ``"last"`` gives
        all levels the same number of bins, and the count of what is left to the last one.
    whole_counts
        Whether the counts of the levels are truncated to integers.
    zero_spike
        ``"kept"``, or ``"flattened"`` (:func:`flattened_zero`).

    Examples
    --------
    >>> EntropyRules(True, 128, "empty", 0.0, "even", False).quantized_bins
    128
    """

    symmetric: bool
    quantized_bins: int
    zero_bins: Literal["empty", "filled"]
    smoothing: float
    remainder: Literal["even", "last"]
    whole_counts: bool
    zero_spike: Literal["kept", "flattened"] = "kept"


def flattened_zero(counts: IntArray, zero_bin: int) -> IntArray:
    r"""Counts in which the bin that holds zero counts as much as the next one.

    Equation ``eq-flattened-zero``, with bin i that of zero:

    .. math:: n'_i = n_{i+1}

    After a ReLU half of the numbers are zero, which every range represents without error; they
    would outweigh all others.

    Examples
    --------
    >>> flattened_zero(np.array([900, 40, 30]), 0).tolist()
    [40, 40, 30]
    """
    counts = counts.copy()
    counts[zero_bin] = counts[zero_bin + 1]
    return counts


def quantized_distribution(
    counts: IntArray, has_data: np.ndarray, rules: EntropyRules
) -> FloatArray:
    r"""The counts of a range after its bins were merged to levels and spread out again.

    Equation ``eq-quantized-distribution``, with level :math:`l(i)` of bin i of m, and Q levels:

    .. math::
        \begin{gathered}
        l(i) = \left\lfloor \frac{i\, Q}{m} \right\rfloor \text{ (even)}, \qquad
        l(i) = \min\left( \left\lfloor \frac{i}{\lfloor m / Q \rfloor} \right\rfloor,\, Q - 1
        \right) \text{ (last)}, \\[1ex]
        q_i = \frac{\sum_{l(j) = l(i)} n_j}{\#\{ j : l(j) = l(i),\, p_j \ne 0 \}}
        \end{gathered}

    Where zero bins stay empty, :math:`q_i = 0` for :math:`p_i = 0`. With the remainder in the last
    level, its bins beyond :math:`Q \lfloor m / Q \rfloor` are 0 and not counted below. A level
    without data is 0.

    Examples
    --------
    >>> counts = np.array([1, 0, 2, 3, 5, 3, 1, 7])
    >>> rules = EntropyRules(True, 2, "empty", 0.0, "even", False)
    >>> quantized_distribution(counts, counts > 0, rules).tolist()
    [2.0, 0.0, 2.0, 2.0, 4.0, 4.0, 4.0, 4.0]
    """
    levels, size = rules.quantized_bins, counts.size
    if rules.remainder == "even":
        starts = -((np.arange(levels) * -size) // levels)
        level = np.arange(size) * levels // size
        spread = size
    else:
        width = size // levels
        starts = np.arange(levels) * width
        level = np.minimum(np.arange(size) // width, levels - 1)
        spread = width * levels
    total = np.add.reduceat(counts, starts)
    filled = np.add.reduceat(has_data[:spread].astype(np.int64), starts)
    share = np.where(filled > 0, total / np.maximum(filled, 1), 0.0)
    if rules.whole_counts:
        share = np.trunc(share)
    spread_out = share[level]
    spread_out[spread:] = 0.0
    return np.where(has_data, spread_out, 0.0) if rules.zero_bins == "empty" else spread_out


def smoothed_distribution(counts: FloatArray | IntArray, smoothing: float) -> FloatArray | None:
    r"""Counts without zeros, in float32; None if all are zero.

    Equation ``eq-smoothed-distribution``, with Z bins without data and N others:

    .. math:: p'_i = \begin{cases} \varepsilon & p_i = 0 \\
                                  p_i - \varepsilon\, Z / N & p_i \ne 0 \end{cases}

    Examples
    --------
    >>> smoothed_distribution(np.array([0, 2, 2]), 0.5).tolist()
    [0.5, 1.75, 1.75]
    """
    is_zero = counts == 0
    zeros = float(np.count_nonzero(is_zero))
    others = counts.size - zeros
    if not others:
        return None
    if not smoothing:
        return counts.astype(np.float32)
    less = np.float32(-(smoothing * zeros / others))
    return counts.astype(np.float32) + np.where(is_zero, np.float32(smoothing), less)


def kl_divergence(p: FloatArray, q: FloatArray) -> float:
    r"""How much a distribution differs from a reference: Kullback and Leibler's divergence.

    Equation ``eq-kl-divergence``, of counts that are first divided by their sums:

    .. math:: D(P \Vert Q) = \sum_i p_i \log \frac{p_i}{q_i}

    in float32. A term is 0 for :math:`p_i = 0`, and infinite for :math:`q_i = 0 < p_i`.

    Examples
    --------
    >>> kl_divergence(np.float32([1, 1]), np.float32([2, 2])), kl_divergence(
    ...     np.float32([1, 1]), np.float32([2, 0]))
    (0.0, inf)
    """
    p, q = p / np.sum(p), q / np.sum(q)
    counts = p > 0
    if (q[counts] <= 0).any():
        return float("inf")
    term = np.zeros_like(p)
    term[counts] = p[counts] * log(p[counts] / q[counts])
    return float(np.sum(term))


def entropy_bins(counts: IntArray, rules: EntropyRules) -> tuple[int, int]:
    r"""The bins of the candidate with the least divergence: the first, and the one after the last.

    Equation ``eq-entropy-range``, with P the counts of the candidate's bins, those outside added
    to its ends, and Q the same quantized (``eq-quantized-distribution``):

    .. math:: (a, b) = \operatorname*{arg\,min}_{(a, b)} D\big(P' \,\Vert\, Q'\big), \qquad
              \begin{cases} a = 0,\; b = Q, \dots, B & \text{symmetric} \\
              a = \frac{B}{2} - i,\; b = \frac{B}{2} + i + 1,\; i = \frac{Q}{2}, \dots, \frac{B}{2}
              & \text{otherwise} \end{cases}

    where the strokes are ``eq-smoothed-distribution``. Of equal candidates, the narrowest. With
    fewer bins than levels, all of them.

    Examples
    --------
    >>> rules = EntropyRules(True, 2, "empty", 0.0, "even", False)
    >>> entropy_bins(np.array([40, 38, 20, 18, 0, 0, 0, 1]), rules)
    (0, 4)
    """
    if rules.zero_spike == "flattened":
        counts = flattened_zero(counts, 0 if rules.symmetric else counts.size // 2)
    best, least = (0, counts.size), np.inf
    from_left = np.concatenate([[0], np.cumsum(counts)])
    for first, after in _candidates(counts.size, rules):
        inside = counts[first:after]
        reference = inside.copy()
        reference[0] += from_left[first]
        reference[-1] += from_left[-1] - from_left[after]
        quantized = quantized_distribution(inside, reference != 0, rules)
        p = smoothed_distribution(reference, rules.smoothing)
        q = smoothed_distribution(quantized, rules.smoothing)
        divergence = np.inf if p is None or q is None else kl_divergence(p, q)
        if divergence < least:
            best, least = (first, after), divergence
    return best


def _candidates(bins: int, rules: EntropyRules) -> list[tuple[int, int]]:
    """The candidates of ``eq-entropy-range``, the narrowest first."""
    if rules.symmetric:
        return [(0, after) for after in range(rules.quantized_bins, bins + 1)]
    middle = bins // 2
    halves = range(rules.quantized_bins // 2, middle + 1)
    return [(middle - each, min(middle + each + 1, bins)) for each in halves]
