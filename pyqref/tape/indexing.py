"""Elements chosen by index, mask or slice, and written there."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from pyqref._kernels.layout import part
from pyqref._kernels.parts import taken

from .operation import Array, Operation, unbroadcast
from .selection import first_places, sorted_places

__all__ = [
    "Argsort",
    "Gather",
    "Index",
    "IndexAdd",
    "IndexPut",
    "IndexSelect",
    "MaskedFill",
    "MaskedSelect",
    "Msort",
    "Scatter",
    "ScatterAdd",
    "Slice",
    "Sort",
    "TakeAlong",
]


class Slice(Operation):
    """Basic indexing: integers, slices, None and Ellipsis; a view."""

    compute = staticmethod(part)
    is_view = is_quiet = True

    def forward(self, x: Array, key: tuple[Any, ...]) -> Array:
        self.shape, self.key = x.shape, key
        return part(x, key)

    def name(self) -> str:
        has_integer = any(isinstance(each, int) for each in self.key)
        return "SelectBackward0" if has_integer else super().name()

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        result = np.zeros(self.shape, dtype=grads[0].dtype)
        result[self.key] = grads[0]
        return result, None


class Index(Operation):
    """Indexing by integer arrays and masks; a copy."""

    def forward(self, x: Array, key: tuple[Any, ...]) -> Array:
        self.shape, self.key = x.shape, key
        return np.asarray(x[key])

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        result = np.zeros(self.shape, dtype=grads[0].dtype)
        np.add.at(result, self.key, grads[0])
        return result, None


class IndexPut(Operation):
    """``x`` with ``values`` written (or added) at ``key``."""

    def forward(self, x: Array, values: Array, key: tuple[Any, ...], accumulate: bool) -> Array:
        self.key, self.accumulate, self.values_shape = key, accumulate, values.shape
        result = x.copy()
        if accumulate:
            # NumPy reads beyond values of fewer axes than the index has.
            chosen = np.broadcast_to(np.False_, x.shape)[key]
            np.add.at(result, key, np.broadcast_to(values, chosen.shape))
        else:
            result[key] = values
        return result

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        grad_x = grads[0]
        if self.needs[0] and not self.accumulate:
            grad_x = grad_x.copy()
            grad_x[self.key] = 0
        grad_values = None
        if self.needs[1]:
            chosen = np.asarray(grads[0][self.key])
            extra = len(self.values_shape) - chosen.ndim
            inner = self.values_shape[extra:] if extra > 0 else self.values_shape
            grad_values = unbroadcast(chosen, inner).reshape(self.values_shape)
        return grad_x if self.needs[0] else None, grad_values, None, None


def along(index: Array, axis: int) -> tuple[Array, ...]:
    """Full index arrays that pick ``index`` along ``axis`` and the same place elsewhere."""
    grids = _grids(index.shape)
    return (*grids[:axis], index, *grids[axis + 1 :])


def across(index: Array, axis: int) -> tuple[Array, ...]:
    """Full index arrays of what ``index`` picks along ``axis``, which it does not have itself."""
    grids = _grids(index.shape)
    return (*grids[:axis], index, *grids[axis:])


@lru_cache(maxsize=64)
def _grids(shape: tuple[int, ...]) -> tuple[Array, ...]:
    """Each axis counted, one broadcast against the other."""
    return tuple(np.ix_(*map(np.arange, shape)))


class Gather(Operation):
    """``out[i][j] = x[index[i][j]][j]`` for axis 0, and so on."""

    def forward(self, x: Array, axis: int, index: Array) -> Array:
        self.shape, self.axis, self.index = x.shape, axis, index
        if x.ndim == 0:
            return x.reshape(1)[index.reshape(-1)].reshape(index.shape)
        return x[along(index, axis)]

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        result = np.zeros(self.shape, dtype=grads[0].dtype)
        if not self.shape:
            return grads[0].sum().reshape(()), None, None
        np.add.at(result, along(self.index, self.axis), grads[0])
        return result, None, None


class TakeAlong(Gather):
    """:class:`Gather` where every index occurs once (sorting, the largest k)."""

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        result = np.zeros(self.shape, dtype=grads[0].dtype)
        if self.shape:
            result[along(self.index, self.axis)] = grads[0]
        else:
            result[...] = grads[0]
        return result, None, None


class Scatter(Operation):
    """``x`` with ``source`` written at ``index`` along an axis."""

    def forward(self, x: Array, axis: int, index: Array, source: Array) -> Array:
        self.axis, self.index = axis, index
        self.source_shape = source.shape
        result = x.copy()
        part = tuple(slice(0, length) for length in index.shape)
        result[along(index, axis)] = source[part] if source.shape else source
        return result

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        where = along(self.index, self.axis)
        grad_x = grads[0].copy()
        grad_x[where] = 0
        grad_source = None
        if self.needs[3]:
            grad_source = np.zeros(self.source_shape, dtype=grads[0].dtype)
            grad_source[tuple(slice(0, length) for length in self.index.shape)] = grads[0][where]
        return grad_x, None, None, grad_source


class ScatterAdd(Operation):
    """``x`` with ``source`` added at ``index`` along an axis."""

    def forward(self, x: Array, axis: int, index: Array, source: Array) -> Array:
        self.axis, self.index, self.source_shape = axis, index, source.shape
        result = x.copy()
        part = tuple(slice(0, length) for length in index.shape)
        np.add.at(result, along(index, axis), source[part])
        return result

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        grad_source = None
        if self.needs[3]:
            grad_source = np.zeros(self.source_shape, dtype=grads[0].dtype)
            part = tuple(slice(0, length) for length in self.index.shape)
            grad_source[part] = grads[0][along(self.index, self.axis)]
        return grads[0], None, None, grad_source


class IndexSelect(Operation):
    """Whole slices along an axis, chosen by a 1-D index."""

    def forward(self, x: Array, axis: int, index: Array) -> Array:
        self.shape, self.axis, self.index = x.shape, axis, index
        return taken(x, index, axis)

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        result = np.zeros(self.shape, dtype=grads[0].dtype)
        key: tuple[Any, ...] = (slice(None),) * self.axis + (self.index,)
        np.add.at(result, key, grads[0])
        return result, None, None


class IndexAdd(Operation):
    """``x`` with whole slices of ``source`` added at a 1-D index along an axis."""

    def forward(self, x: Array, axis: int, index: Array, source: Array) -> Array:
        self.key: tuple[Any, ...] = (slice(None),) * axis + (index,)
        result = x.copy()
        np.add.at(result, self.key, source)
        return result

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        return grads[0], None, None, grads[0][self.key]


class MaskedFill(Operation):
    """``x`` with ``value`` where ``mask`` holds."""

    @staticmethod
    def compute(x: Array, mask: Array, value: Array) -> Array:
        return np.where(mask, value, x)

    def forward(self, x: Array, mask: Array, value: Array) -> Array:
        self.shape = x.shape
        self.save(mask)
        return self.compute(x, mask, value)

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        (mask,) = self.saved
        zero = grads[0].dtype.type(0)
        grad_value = np.where(mask, grads[0], zero).sum() if self.needs[2] else None
        return (
            unbroadcast(np.where(mask, zero, grads[0]), self.shape),
            None,
            None if grad_value is None else np.asarray(grad_value),
        )


class MaskedSelect(Operation):
    """The elements of ``x`` where ``mask`` holds, in a row."""

    def forward(self, x: Array, mask: Array) -> Array:
        self.shape = x.shape
        self.full = np.broadcast_shapes(x.shape, mask.shape)
        self.mask = np.broadcast_to(mask, self.full)
        return np.broadcast_to(x, self.full)[self.mask]

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        result = np.zeros(self.full, dtype=grads[0].dtype)
        result[self.mask] = grads[0]
        return unbroadcast(result, self.shape), None


class Sort(Operation):
    """Elements in order along an axis, and where each was."""

    def forward(
        self, x: Array, axis: int, descending: bool, count: int | None
    ) -> tuple[Array, Array]:
        self.shape, self.axis = x.shape, axis
        if x.ndim == 0:
            self.index = np.zeros((), dtype=np.int64)
            return x.copy(), self.index.copy()
        if count is None:
            index = sorted_places(x, axis, descending)
        else:
            index = first_places(x, axis, descending, count)
        self.index = np.ascontiguousarray(index)
        return x[along(self.index, axis)], self.index.copy()

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        if not self.shape:
            return grads[0], None, None, None
        result = np.zeros(self.shape, dtype=grads[0].dtype)
        np.put_along_axis(result, self.index, grads[0], self.axis)
        return result, None, None, None


class Argsort(Sort):
    """Find the former place of each element in order."""

    def forward(self, x: Array, axis: int, descending: bool) -> Array:  # type: ignore[override]
        return super().forward(x, axis, descending, None)[1]


class Msort(Sort):
    """Elements in order along the first axis."""

    def forward(self, x: Array) -> Array:  # type: ignore[override]
        return super().forward(x, 0, False, None)[0]

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        return super().backward(*grads)[:1]
