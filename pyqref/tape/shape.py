"""Other shapes and orders of the same elements: views where possible, else copies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy import ndarray
from numpy.typing import DTypeLike

from pyqref import _kernels
from pyqref._kernels.layout import copied, expanded, lies_in_result_order, reshaped

from .memory import add_where, as_strided, overlaps, same_layout
from .operation import Array, Operation, unbroadcast

__all__ = [
    "AsStrided",
    "Cast",
    "Cat",
    "ChannelShuffle",
    "Clone",
    "Copy",
    "Diagonal",
    "Expand",
    "Unsqueeze",
    "Flip",
    "Permute",
    "Repeat",
    "Reshape",
    "Roll",
    "Squeeze",
    "Stack",
    "Triangle",
    "View",
]


def _viewed(x: Array, shape: tuple[int, ...]) -> Array:
    if x.flags.c_contiguous:
        return x.reshape(shape)
    try:
        return x.reshape(shape, copy=False)
    except ValueError:
        raise RuntimeError(
            f"view size {list(shape)} is not compatible with input tensor's size "
            f"{list(x.shape)} and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead."
        ) from None


def _squeezed(x: Array, axes: tuple[int, ...]) -> Array:
    return x.squeeze(axes) if axes else x[...]


def _unsqueezed(x: Array, axis: int) -> Array:
    return x[(*(slice(None),) * axis, None)]


class _Reshaping(Operation):
    """The gradient takes the old shape again."""

    is_view = is_quiet = True
    shape: tuple[int, ...]

    def forward(self, x: Array, how: Any) -> Array:
        self.shape = x.shape
        result: Array = self.compute(x, how)
        return result

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        return reshaped(grads[0], self.shape), None


class Reshape(_Reshaping):
    """Return the elements in another shape, as a view where the strides allow it."""

    label = "ViewBackward0"
    compute = staticmethod(reshaped)


class View(_Reshaping):
    """Return the memory in another shape, or raise where the strides do not allow it."""

    compute = staticmethod(_viewed)


class Squeeze(_Reshaping):
    """Drop the given axes, which have length 1."""

    compute = staticmethod(_squeezed)


class Unsqueeze(_Reshaping):
    """Insert an axis of length 1."""

    compute = staticmethod(_unsqueezed)


class Permute(Operation):
    """Axes in another order."""

    compute = staticmethod(ndarray.transpose)
    is_view = is_quiet = True

    def forward(self, x: Array, order: tuple[int, ...]) -> Array:
        self.order = order
        return x.transpose(order)

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        return grads[0].transpose(np.argsort(self.order)), None


class Expand(Operation):
    """Axes of length 1 repeated without a copy."""

    compute = staticmethod(expanded)
    is_view = is_quiet = True

    def forward(self, x: Array, shape: tuple[int, ...]) -> Array:
        self.shape = x.shape
        return expanded(x, shape)

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        return unbroadcast(grads[0], self.shape), None


class AsStrided(Operation):
    """A view by sizes, strides and offset (in elements) of the storage of ``x``."""

    is_view = is_quiet = True

    def forward(
        self, x: Array, size: tuple[int, ...], stride: tuple[int, ...], offset: int | None
    ) -> Array:
        width = x.itemsize
        result = as_strided(
            x, size, [step * width for step in stride], None if offset is None else offset * width
        )
        if self.needs[0]:
            self.x_layout, self.result_layout = _span(x), _span(result)
            self.start = result.__array_interface__["data"][0] - x.__array_interface__["data"][0]
            self.dtype = x.dtype
        return result

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        grad, flat = same_layout(*self.x_layout, self.dtype)
        add_where(flat, self.start, *self.result_layout, grads[0])
        if overlaps(grad):
            # The elements of x that share a place share its gradient.
            _, sharing = same_layout(*self.x_layout, self.dtype)
            add_where(sharing, 0, *self.x_layout, 1)
            flat /= np.maximum(sharing, 1)
        return grad, None, None, None


def _span(array: Array) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return array.shape, array.strides


class Diagonal(Operation):
    """A diagonal of two axes, as the last axis; a view."""

    is_view = is_quiet = True

    def forward(self, x: Array, offset: int, axis1: int, axis2: int) -> Array:
        self.shape, self.where = x.shape, (offset, axis1, axis2)
        result = np.diagonal(x, offset, axis1, axis2)
        return as_strided(result, result.shape, result.strides)

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        grad = np.zeros(self.shape, dtype=grads[0].dtype)
        view = np.diagonal(grad, *self.where)
        as_strided(view, view.shape, view.strides)[...] = grads[0]
        return grad, None, None, None


class Flip(Operation):
    """Elements in reversed order along some axes; a copy."""

    def forward(self, x: Array, axes: tuple[int, ...]) -> Array:
        self.axes = axes
        return copied(np.asarray(np.flip(x, axes)), "K")

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        return np.flip(grads[0], self.axes), None


class Roll(Operation):
    """Elements shifted along some axes, those that fall off come in again."""

    @staticmethod
    def compute(x: Array, shifts: tuple[int, ...], axes: tuple[int, ...] | None) -> Array:
        if axes is None:
            return Roll.compute(reshaped(x, (x.size,)), shifts, (0,)).reshape(x.shape)
        along = [0] * x.ndim
        for axis, shift in zip(axes, shifts, strict=True):
            along[axis] = (along[axis] + shift) % max(x.shape[axis], 1)
        return _kernels.bordered(x, tuple([(shift, 0) for shift in along]), "roll")

    def forward(self, x: Array, shifts: tuple[int, ...], axes: tuple[int, ...] | None) -> Array:
        self.shifts, self.axes = shifts, axes
        return self.compute(x, shifts, axes)

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        return self.compute(grads[0], tuple(-shift for shift in self.shifts), self.axes), None, None


class ChannelShuffle(Operation):
    """Channels of `(N, C, *)`, which are so many groups, with one of each group in turn.

    They stay last in memory where they are.
    """

    @staticmethod
    def compute(x: Array, groups: int) -> Array:
        batch, channels, *size = x.shape
        each = channels // groups
        if x.flags.c_contiguous or not lies_in_result_order(x):
            split = reshaped(x, (batch, groups, each, *size))
            return copied(split.swapaxes(1, 2), "C").reshape(x.shape)
        axes = range(2, x.ndim)
        split = x.transpose(0, *axes, 1).reshape(-1, groups, each)
        shuffled = copied(split.swapaxes(1, 2), "C").reshape(batch, *size, channels)
        return shuffled.transpose(0, x.ndim - 1, *[axis - 1 for axis in axes])

    def forward(self, x: Array, groups: int) -> Array:
        self.groups = groups
        return self.compute(x, groups)

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        return self.compute(grads[0], grads[0].shape[1] // self.groups), None


class Repeat(Operation):
    """The whole array tiled ``repeats`` times along each axis."""

    def forward(self, x: Array, repeats: tuple[int, ...]) -> Array:
        self.shape = (1,) * (len(repeats) - x.ndim) + x.shape
        self.original, self.repeats = x.shape, repeats
        # np.tile copies once for each axis.
        pairs = list(zip(repeats, self.shape, strict=True))
        result = np.empty([times * length for times, length in pairs], x.dtype)
        if not result.size:
            return result
        added = (np.newaxis,) * (2 * (len(pairs) - x.ndim))
        spread = x[(*added, *(np.newaxis, slice(None)) * x.ndim)]
        result.reshape([each for pair in pairs for each in pair])[...] = spread
        return result

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        split: list[int] = []
        for times, length in zip(self.repeats, self.shape, strict=True):
            split += [times, length]
        summed = grads[0].reshape(split).sum(axis=tuple(range(0, len(split), 2)))
        return summed.reshape(self.original), None


class Cat(Operation):
    """Arrays one after another along an axis."""

    runs_quietly = True

    @staticmethod
    def compute(axis: int, *arrays: Array) -> Array:
        return _kernels.join(arrays, axis)

    def forward(self, axis: int, *arrays: Array) -> Array:
        self.axis = axis
        self.lengths = [each.shape[axis] for each in arrays]
        return self.compute(axis, *arrays)

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        return (None, *np.split(grads[0], np.cumsum(self.lengths)[:-1], axis=self.axis))


class Stack(Operation):
    """Arrays of one shape along a new axis."""

    runs_quietly = True

    @staticmethod
    def compute(axis: int, *arrays: Array) -> Array:
        place = (*(slice(None),) * axis, None)
        return _kernels.join(tuple([each[place] for each in arrays]), axis)

    def forward(self, axis: int, *arrays: Array) -> Array:
        self.axis = axis
        return self.compute(axis, *arrays)

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        return (None, *np.moveaxis(grads[0], self.axis, 0))


class Triangle(Operation):
    """The lower (``tril``) or upper (``triu``) triangle of the last two axes."""

    def forward(self, x: Array, function: Callable[..., Array], diagonal: int) -> Array:
        self.function, self.diagonal = function, diagonal
        return np.asarray(function(x, diagonal), order="C")

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        return self.function(grads[0], self.diagonal), None, None


class Cast(Operation):
    """Convert the values to another NumPy type."""

    compute = staticmethod(ndarray.astype)
    label = "ToCopyBackward0"

    def forward(self, x: Array, dtype: DTypeLike) -> Array:
        self.dtype = x.dtype
        return x.astype(dtype)

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        return grads[0].astype(self.dtype), None


class Clone(Operation):
    """A copy; ``order`` is NumPy's ``"K"`` (as it lies) or ``"C"`` (contiguous)."""

    runs_quietly = True

    @staticmethod
    def compute(x: Array, order: Literal["C", "F", "A", "K"] = "K") -> Array:
        return copied(x, order)

    def forward(self, x: Array, order: Literal["C", "F", "A", "K"] = "K") -> Array:
        return self.compute(x, order)

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        return grads[0], None


class Copy(Operation):
    """``source`` in the shape and type of ``target``."""

    @staticmethod
    def compute(target: Array, source: Array) -> Array:
        if source.shape == target.shape:
            return source.astype(target.dtype)
        if not source.ndim:
            result = np.empty(target.shape, target.dtype)
            result[...] = source
            return result
        try:
            return np.broadcast_to(source, target.shape).astype(target.dtype)
        except ValueError:
            raise RuntimeError(
                f"The size of source {list(source.shape)} cannot be broadcast to the size of "
                f"the target {list(target.shape)}"
            ) from None

    def forward(self, target: Array, source: Array) -> Array:
        self.shape, self.dtype = source.shape, source.dtype
        return self.compute(target, source)

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        return (
            np.zeros_like(grads[0]) if self.needs[0] else None,
            unbroadcast(grads[0], self.shape).astype(self.dtype, copy=False)
            if self.needs[1]
            else None,
        )
