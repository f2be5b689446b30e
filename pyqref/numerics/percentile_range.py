"""The range between two percentiles of counted data."""

from __future__ import annotations

import numpy as np

from .types import FloatArray, IntArray

__all__ = ["fold_magnitudes", "percentile_range", "percentile_threshold"]


def fold_magnitudes(counts: IntArray) -> IntArray:
    r"""The counts of the magnitudes, from counts on a grid that is centred on zero.

    Equation ``eq-fold-magnitudes``:

    .. math:: m_j = n_{B/2 + j} + n_{B/2 - 1 - j}, \qquad 0 \le j < \tfrac{B}{2}

    Examples
    --------
    >>> fold_magnitudes(np.array([1, 2, 30, 40])).tolist()
    [32, 41]
    """
    half = counts.size // 2
    return np.asarray(counts[half:] + counts[:half][::-1])


def percentile_range(
    counts: IntArray, edges: FloatArray, percentile: float, *, whole_bin: bool = True
) -> tuple[float, float]:
    r"""The range that leaves out the same share of the data on either side.

    Equation ``eq-percentile-range``, with :math:`F_i = \sum_{j \le i} n_j / n` and the share
    :math:`c = (100 - p) / 200`:

    .. math::
        \begin{gathered}
        l = \min\{ i : F_i \ge c \}, \qquad r = \min\{ i : F_i \ge 1 - c \}, \\[1ex]
        x_{min} = edge_l, \qquad
        x_{max} = \begin{cases} edge_{r + 1} & \text{the whole bin} \\
                                edge_r & \text{onnxruntime} \end{cases}
        \end{gathered}

    in double, the shares added from the left.

    Examples
    --------
    >>> counts, edges = np.array([1, 49, 49, 1]), np.arange(5.0)
    >>> percentile_range(counts, edges, 90.0)
    (1.0, 3.0)
    >>> percentile_range(counts, edges, 90.0, whole_bin=False)
    (1.0, 2.0)
    """
    reached = np.cumsum(counts / counts.sum())
    cut = (100.0 - percentile) / 200.0
    first = int(np.searchsorted(reached, cut))
    last = int(np.searchsorted(reached, 1.0 - cut))
    return float(edges[first]), float(edges[_upper(last, edges, whole_bin)])


def percentile_threshold(
    counts: IntArray, edges: FloatArray, percentile: float, *, whole_bin: bool = True
) -> float:
    r"""The magnitude that leaves out a share of the largest magnitudes.

    Equation ``eq-percentile-threshold``, of counts of magnitudes:

    .. math:: r = \min\{ i : F_i \ge p / 100 \}, \qquad T = edge_{r + 1} \text{ or } edge_r

    as in ``eq-percentile-range``; the range is :math:`[-T, T]`.

    Examples
    --------
    >>> percentile_threshold(np.array([90, 9, 1]), np.arange(4.0), 99.0)
    2.0
    """
    last = int(np.searchsorted(np.cumsum(counts / counts.sum()), percentile / 100.0))
    return float(edges[_upper(last, edges, whole_bin)])


def _upper(last: int, edges: FloatArray, whole_bin: bool) -> int:
    """The index of the upper edge; the sum of all shares can miss 1 by a rounding error."""
    return min(last + whole_bin, edges.size - 1)
