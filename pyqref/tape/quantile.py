"""Quantiles: between two neighbours of the sorted elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from .operation import Array, Operation

__all__ = ["METHODS", "Quantile"]

#: For each method the place that is meant; between two elements both have a share.
_PLACES: dict[str, Any] = {
    "linear": lambda place: place,
    "lower": np.floor,
    "higher": np.ceil,
    "nearest": np.rint,
    "midpoint": lambda place: (np.floor(place) + np.ceil(place)) / 2,
}


METHODS = tuple(_PLACES)


class Quantile(Operation):
    """``Quantile(x, fractions, axis, keepdims, method)``, as NumPy's function of the same name.

    The gradient goes to the two neighbours, by their shares; beside nan, to that.
    """

    def forward(
        self, x: Array, fractions: Array, axis: int | None, keepdims: bool, method: str
    ) -> Array:
        choose: Any = np.quantile
        found = choose(x, fractions, axis=axis, keepdims=keepdims, method=method)
        if self.needs[0]:
            self.shape, self.axis, self.keepdims = x.shape, axis, keepdims
            rows = x.reshape(-1) if axis is None else np.moveaxis(x, axis, -1)
            places = _PLACES[method](fractions.reshape(-1) * (rows.shape[-1] - 1))
            low = np.floor(places).astype(np.int64)
            order, has_nan = rows.argsort(axis=-1, kind="stable"), np.isnan(rows).any(-1)
            order[has_nan] = order[has_nan][..., -1:]
            self.save(order, low, places - low)
        return np.asarray(found, dtype=x.dtype)

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        order, low, share = self.saved
        grad = grads[0].reshape(len(low), *order.shape[:-1], 1)
        rows = np.zeros(order.shape, grad.dtype)
        for each, below, part in zip(grad, low, share, strict=True):
            above = min(below + 1, order.shape[-1] - 1)
            for place, weight in ((below, 1 - part), (above, part)):
                where = order[..., place : place + 1]
                taken = np.take_along_axis(rows, where, -1) + each * grad.dtype.type(weight)
                np.put_along_axis(rows, where, taken, -1)
        if self.axis is None:
            return rows.reshape(self.shape), None, None, None, None
        return np.moveaxis(rows, -1, self.axis), None, None, None, None
