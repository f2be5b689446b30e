"""Several elements that meet at one place: their sum, product, mean, largest or smallest."""

from __future__ import annotations

from typing import Any

import numpy as np

from .indexing import along
from .operation import Array, Operation

__all__ = ["REDUCTIONS", "IndexReduce", "ScatterReduce"]

#: For each reduction, what two elements become.
REDUCTIONS: dict[str, Any] = {
    "sum": np.add,
    "prod": np.multiply,
    "mean": np.add,
    "amax": np.maximum,
    "amin": np.minimum,
}


class ScatterReduce(Operation):
    """``x`` with the elements of ``source`` that meet at ``index`` along an axis reduced there.

    A place that no index names keeps its element. One that is named begins with its element
    where ``include_self`` holds, else with the first that comes.
    """

    def forward(
        self, x: Array, axis: int, index: Array, source: Array, reduce: str, include_self: bool
    ) -> Array:
        where = along(index, axis)
        part = tuple(slice(0, length) for length in index.shape)
        return self._reduce(x, where, source, part, reduce, include_self)

    def _reduce(
        self, x: Array, where: Any, source: Array, part: Any, reduce: str, include_self: bool
    ) -> Array:
        self.where, self.part, self.reduce, self.include_self = where, part, reduce, include_self
        self.source_shape = source.shape
        values = source[part]
        result = x.copy()
        if not include_self:
            result[where] = _neutral(reduce, x.dtype)
        REDUCTIONS[reduce].at(result, where, values)
        self.count = np.zeros(x.shape, dtype=np.int64)
        np.add.at(self.count, where, 1)
        self.count += include_self
        np.maximum(self.count, 1, out=self.count)
        if reduce == "mean":
            whole = x.dtype.kind in "iu"
            result = result // self.count if whole else result / self.count
            result = result.astype(x.dtype, copy=False)
        if any(self.needs):
            self.save(x, values, result)
        return result

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        x, values, result = self.saved
        grad, where = grads[0], self.where
        named = np.zeros(x.shape, dtype=bool)
        named[where] = True
        begins = ~named if not self.include_self else np.ones(x.shape, dtype=bool)
        if self.reduce in ("sum", "mean"):
            share = grad / self.count if self.reduce == "mean" else grad
            of_x, of_values = share, share[where]
        elif self.reduce == "prod":
            of_x, of_values = self._of_product(x, values, grad, begins)
        else:
            hits, equal = values == result[where], (x == result) & begins
            ties = equal.astype(grad.dtype)
            np.add.at(ties, where, hits.astype(grad.dtype))
            share = grad / ties  # of nan, which is equal to nothing, nan
            of_x, of_values = share * equal, share[where] * hits
        of_x = np.where(begins, of_x, grad.dtype.type(0))
        of_source = np.zeros(self.source_shape, dtype=grad.dtype)
        of_source[self.part] = of_values
        return of_x, None, None, of_source, None, None

    def _of_product(
        self, x: Array, values: Array, grad: Array, begins: Array
    ) -> tuple[Array, Array]:
        """The product of the others: what is not zero divided out, zeros counted beside it."""
        start = np.where(begins, x, x.dtype.type(1))
        zeros = (start == 0).astype(np.int64)
        np.add.at(zeros, self.where, values == 0)
        rest = np.where(start == 0, x.dtype.type(1), start)
        np.multiply.at(rest, self.where, np.where(values == 0, x.dtype.type(1), values))

        def others(own: Array, zeros: Array, rest: Array) -> Array:
            others_zero = zeros - (own == 0) > 0
            return np.where(others_zero, 0, rest / np.where(own == 0, x.dtype.type(1), own))

        of_x = grad * others(start, zeros, rest)
        return of_x, grad[self.where] * others(values, zeros[self.where], rest[self.where])


class IndexReduce(ScatterReduce):
    """:class:`ScatterReduce` of whole slices, at a 1-D index along an axis."""

    def forward(
        self, x: Array, axis: int, index: Array, source: Array, reduce: str, include_self: bool
    ) -> Array:
        where: tuple[Any, ...] = (slice(None),) * axis + (index,)
        return self._reduce(x, where, source, (...,), reduce, include_self)


def _neutral(reduce: str, dtype: np.dtype[Any]) -> Any:
    """Return the number that changes no element when it is reduced with it."""
    if reduce in ("sum", "mean"):
        return dtype.type(0)
    if reduce == "prod":
        return dtype.type(1)
    if dtype.kind == "b":
        return dtype.type(reduce == "amin")
    if dtype.kind == "f":
        return dtype.type(-np.inf if reduce == "amax" else np.inf)
    limits = np.iinfo(dtype)
    return dtype.type(limits.min if reduce == "amax" else limits.max)
