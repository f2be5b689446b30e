"""Scaled dot-product attention of float32: the order of operations that kernels keep."""

from __future__ import annotations

import numpy as np

from .exponential import exp_below
from .float_product import float_product
from .float_softmax import largest_of_rows, sum_of_rows
from .types import FloatArray

__all__ = ["attention"]


def attention(
    queries: FloatArray,
    keys: FloatArray,
    values: FloatArray,
    bias: FloatArray | None,
    is_causal: bool,
    scale: float,
) -> FloatArray:
    r"""Means of ``values (..., S, D)``, weighted for each of ``queries (..., L, E)``.

    Equation ``eq-attention``, with ``eq-float-product``, ``eq-exp-below`` and
    ``eq-sum-of-places``:

    .. math::
        t = \mathrm{fl}(q s)\, k^T + b, \qquad e_j = e^{t_j - \max_i t_i}, \qquad
        y = (e\, v) \cdot \frac{1}{\sum_j e_j}

    Parameters
    ----------
    keys
        ``(..., S, E)``.
    bias
        b, which broadcasts to ``(..., L, S)``, or None.
    is_causal
        A query looks only at keys that are not after it: what is after has a weight of 0.
    scale
        s, rounded to float32.

    Returns
    -------
    float32 ``(..., L, D)``; zeros of a query that looks nowhere: of a bias of minus infinity.

    Examples
    --------
    >>> queries, values = np.zeros((2, 1), np.float32), np.float32([[2], [4]])
    >>> attention(queries, queries, values, None, True, 1.0).tolist()
    [[2.0], [3.0]]
    """
    with np.errstate(all="ignore"):
        scores = float_product(queries * np.float32(scale), keys.swapaxes(-1, -2))
        if bias is not None:
            scores = scores + bias
        powers, sums = np.zeros_like(scores), np.ones_like(scores[..., :1])
        length, number = scores.shape[-2:]
        for row in range(length):
            most = min(row + 1, number) if is_causal else number
            part = scores[..., row, :most].reshape(-1, most)
            found = exp_below(part - largest_of_rows(part))
            total = sum_of_rows(found)
            if bias is not None:
                nowhere = np.isneginf(part).all(axis=1)
                found[nowhere], total[nowhere] = 0, 1
            powers[..., row, :most] = found.reshape(*scores.shape[:-2], most)
            sums[..., row, :] = total.reshape(*scores.shape[:-2], 1)
        return np.asarray(float_product(powers, values) * (np.float32(1) / sums))
