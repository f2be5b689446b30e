"""Parts of an accumulator: its largest products, and the contribution of the zero points."""

from __future__ import annotations

import numpy as np

from ..draft import Draft, Table
from ..record import Value
from ..steps import Operand

__all__ = ["show_parts"]

#: So many products are shown.
_MOST = 8


def show_parts(
    draft: Draft,
    x: Value,
    places: np.ndarray,
    inputs: Operand,
    weights: Operand,
    zeros: tuple[int, int],
) -> None:
    r"""Put two tables beside an accumulator.

    The sum of the second is the accumulator:

    .. math:: \sum_k (x_k - z_x)(w_k - z_w) = \sum_k x_k w_k - z_x \sum_k w_k - z_w \sum_k x_k
              + K z_x z_w

    Parameters
    ----------
    x, places
        The input, and where the elements lie in it.
    inputs, weights
        The stored integers that meet.
    zeros
        The zero points of input and weight.
    """
    q, w = (np.asarray(each.value).astype(np.int64) for each in (inputs, weights))
    z_x, z_w = zeros
    products = (q - z_x) * (w - z_w)
    order = np.argsort(-np.abs(products), kind="stable")[:_MOST]
    at = np.stack(np.unravel_index(places[order], x.shape), axis=-1).tolist() if order.size else []
    rows = tuple(
        (f"{inputs.symbol}{place}", *map(int, (q[k], w[k], products[k])))
        for place, k in zip(at, order, strict=True)
    )
    title = "the largest products" if products.size > _MOST else "the products"
    head = "from", inputs.symbol, weights.symbol, "less the zero points, multiplied"
    draft.tables.append(Table(title, head, rows))
    parts = (
        ("Σ x·w", int((q * w).sum())),
        ("-z_x · Σ w", -z_x * int(w.sum())),
        ("-z_w · Σ x", -z_w * int(q.sum())),
        (f"{q.size} · z_x · z_w", q.size * z_x * z_w),
        ("together", int(products.sum())),
    )
    draft.tables.append(Table("what the zero points contribute to the sum", ("part", "is"), parts))
