"""The range with the least squared error of quantization, on counted data."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._typing import Array
from .types import FloatArray, IntArray

__all__ = ["golden_section", "grid_search", "staircase_error"]

#: The golden ratio's reciprocal: what is left of an interval after a step of the search.
GOLDEN = 0.6180339887498949

#: Errors of candidates ``(..., rows)``, each for the row at its place.
Errors = Callable[[FloatArray], FloatArray]


def staircase_error(
    counts: IntArray,
    edges: FloatArray,
    scale: Array,
    zero_point: Array,
    quant_min: int,
    quant_max: int,
) -> FloatArray:
    r"""The squared error that quantization makes on counted data.

    Equation ``eq-staircase-error``, with bins that are filled evenly, :math:`u = x / s + z` and
    :math:`k = \mathrm{sat}(\mathrm{rne}(u))`:

    .. math::
        \begin{gathered}
        E = \sum_i \frac{n_i}{e_{i+1} - e_i} \int_{e_i}^{e_{i+1}} (x - s (k - z))^2 \,dx
          = \sum_i n_i\, \frac{\Phi(e_{i+1}) - \Phi(e_i)}{e_{i+1} - e_i}, \\[1ex]
        \Phi(x) = s^3 \left( \frac{k - q_{min}}{12} + \frac{(u - k)^3}{3} \right)
        \end{gathered}

    in double. :math:`\Phi` is the integral: every whole step adds :math:`s^3 / 12`, and beyond the
    ends :math:`u - k` grows, which is the error of clipping. Terms are added in eight lanes, that
    of bin i in lane i mod 8, from left to right; then the second half of the lanes is added to the
    first one, until one is left.

    Parameters
    ----------
    counts, edges
        ``(rows, bins)`` and ``(rows, bins + 1)``.
    scale, zero_point
        ``(rows,)``.
    quant_min, quant_max
        Range of the integers.

    Examples
    --------
    >>> counts, edges = np.array([[12]]), np.array([[-0.5, 0.5]])
    >>> staircase_error(counts, edges, np.array([1.0]), np.array([0]), -1, 1).tolist()
    [1.0]
    """
    s = np.asarray(scale, np.float64)[:, None]
    u = edges / s + np.asarray(zero_point, np.float64)[:, None]
    k = np.clip(np.rint(u), quant_min, quant_max)
    rest = u - k
    integral = (k - quant_min) / 12 + rest * rest * rest / 3
    mean = (integral[:, 1:] - integral[:, :-1]) / (edges[:, 1:] - edges[:, :-1])
    return _in_lanes(counts * mean) * (s * s * s)[:, 0]


def _in_lanes(terms: FloatArray) -> FloatArray:
    """Sums of rows, in eight lanes."""
    rows, size = terms.shape
    filled = np.zeros((rows, -(-size // 8) * 8))
    filled[:, :size] = terms
    lanes = np.zeros((rows, 8))
    for each in filled.reshape(rows, -1, 8).transpose(1, 0, 2):
        lanes += each
    for half in (4, 2, 1):
        lanes = lanes[:, :half] + lanes[:, half:]
    return lanes[:, 0]


def grid_search(errors: Errors, rows: int, steps: int) -> FloatArray:
    r"""The best of equally spaced shares, for each row.

    Equation ``eq-grid-search``:

    .. math:: \alpha = \operatorname*{arg\,min}_{\alpha \in \{1/N, 2/N, \dots, 1\}} E(\alpha)

    Of equal ones, the largest.

    Examples
    --------
    >>> grid_search(lambda share: (share - 0.31) ** 2, 1, 10).tolist()
    [0.3]
    """
    shares = np.arange(steps, 0, -1) / steps
    candidates = np.repeat(shares[:, None], rows, axis=1)
    return np.asarray(shares[np.argmin(errors(candidates), axis=0)])


def golden_section(errors: Errors, rows: int, steps: int) -> FloatArray:
    r"""The best share, for each row, if the error falls and then rises.

    Equation ``eq-golden-section``: with :math:`\varphi = (\sqrt 5 - 1) / 2`, the interval
    :math:`[a, b]`, at first :math:`[0, 1]`, has two inner points

    .. math:: c = b - \varphi\,(b - a), \qquad d = a + \varphi\,(b - a)

    and becomes :math:`[a, d]` if :math:`E(c) < E(d)`, else :math:`[c, b]`. After ``steps`` steps
    its middle is compared with 1, and the better one is the result. One point of each step is the
    next one's, so that a step costs one error sum.

    Examples
    --------
    >>> share = golden_section(lambda share: (share - 0.31) ** 2, 1, 20)
    >>> round(float(share[0]), 3)
    0.31
    """
    low, high = np.zeros(rows), np.ones(rows)
    left, right = high - GOLDEN, low + GOLDEN
    error_left, error_right = errors(left), errors(right)
    for _ in range(steps):
        is_left = error_left < error_right
        low, high = np.where(is_left, low, left), np.where(is_left, right, high)
        kept, kept_error = (
            np.where(is_left, left, right),
            np.where(is_left, error_left, error_right),
        )
        new = np.where(is_left, high - GOLDEN * (high - low), low + GOLDEN * (high - low))
        new_error = errors(new)
        left, right = np.where(is_left, new, kept), np.where(is_left, kept, new)
        error_left = np.where(is_left, new_error, kept_error)
        error_right = np.where(is_left, kept_error, new_error)
    share, whole = (low + high) / 2, np.ones(rows)
    return np.where(errors(share) < errors(whole), share, whole)
