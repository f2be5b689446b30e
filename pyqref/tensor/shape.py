"""Other shapes of the same elements: views of the tensor where possible."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from .._typing import Ints, Shape, Tensor, TensorBase
from ..tape import shape as operations
from ..tape.indexing import Slice
from .aliases import alias
from .arguments import as_integer
from .axes import axes_of, axis_of, shape_argument
from .base import ANY_TENSOR
from .dispatch import apply, require_tensor
from .foreign import no_tensor
from .usual import exchanged, usual_axes, usual_expansion, usual_shape
from .wrong_arguments import explains_errors

__all__ = [
    "broadcast_to",
    "expand",
    "expand_as",
    "flatten",
    "movedim",
    "narrow",
    "permute",
    "ravel",
    "reshape",
    "reshape_as",
    "select",
    "squeeze",
    "swapaxes",
    "t",
    "transpose",
    "unflatten",
    "unsqueeze",
    "view",
    "view_as",
]


#: Views compute nothing that NumPy could warn about.
_explains = partial(explains_errors, quiet=False)


def _resolved(shape: tuple[int, ...], numel: int) -> tuple[int, ...]:
    """The shape with its -1 worked out."""
    if math.prod(shape) == numel and (not shape or min(shape) >= 0):
        return shape
    unknown = shape.count(-1)
    if unknown > 1:
        raise RuntimeError("only one dimension can be inferred")
    known = math.prod(shape) * (-1 if unknown else 1)
    if min(shape, default=0) < -1:
        raise RuntimeError(f"invalid shape dimension {min(shape)}")
    if unknown and known == 0:
        raise RuntimeError(
            f"cannot reshape tensor of {numel} elements into shape {list(shape)} because the "
            "unspecified dimension size -1 can be any value and is ambiguous"
        )
    if not unknown or numel % known:
        raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {numel}")
    return tuple([numel // known if n == -1 else n for n in shape])


def reshape(input: Tensor, *shape: Ints) -> Tensor:
    """Another shape of the same elements; a view if possible, else a copy.

    Parameters
    ----------
    *shape
        Lengths, as ints or one tuple; one of them may be -1, to be worked out.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.reshape(pyqref.arange(6), (2, -1)).tolist()
    [[0, 1, 2], [3, 4, 5]]
    """
    if not isinstance(input, ANY_TENSOR):
        raise no_tensor("reshape", "input", input)
    size = input._array.size
    lengths = usual_shape(shape, size) or _resolved(shape_argument(shape), size)
    return apply(operations.Reshape, input, lengths)


def view(input: Tensor, *shape: Ints) -> Tensor:
    """Another shape of the same memory; an error if the strides do not allow it."""
    if not isinstance(input, ANY_TENSOR):
        raise no_tensor("view", "input", input)
    size = input._array.size
    lengths = usual_shape(shape, size)
    if lengths is None:
        if len(shape) == 1 and not isinstance(shape[0], (int, tuple, list, np.integer)):
            raise TypeError(f"view: a shape is needed, got {shape[0]!r}; use to(dtype) to convert")
        lengths = _resolved(shape_argument(shape), size)
    return apply(operations.View, input, lengths)


def view_as(input: Tensor, other: Tensor) -> Tensor:
    """``input.view(other.shape)``."""
    require_tensor("view_as", "other", other)
    return view(input, tuple(other.shape))


def reshape_as(input: Tensor, other: Tensor) -> Tensor:
    """``input.reshape(other.shape)``."""
    require_tensor("reshape_as", "other", other)
    return reshape(input, tuple(other.shape))


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Join the axes from ``start_dim`` to ``end_dim`` into one.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.flatten(pyqref.ones(2, 3, 4), 1).shape
    pyqref.Size([2, 12])
    """
    require_tensor("flatten", "input", input)
    shape = input._array.shape
    if not shape:
        axis_of(start_dim, 0), axis_of(end_dim, 0)
        return reshape(input, 1)
    are_whole = type(start_dim) is type(end_dim) is int and start_dim == 0 and end_dim == -1
    if are_whole and len(shape) > 1:
        return apply(operations.Reshape, input, (input._array.size,))
    start, end = axis_of(start_dim, len(shape)), axis_of(end_dim, len(shape))
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if start == end:
        return input
    joined = math.prod(shape[start : end + 1])
    return apply(operations.Reshape, input, (*shape[:start], joined, *shape[end + 1 :]))


def ravel(input: Tensor) -> Tensor:
    """All elements in a row.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.ravel(pyqref.tensor([[1, 2], [3, 4]])).tolist()
    [1, 2, 3, 4]
    """
    return reshape(input, -1)


@_explains
def unflatten(input: Tensor, dim: int, sizes: Shape) -> Tensor:
    """Split the axis ``dim`` into axes of lengths ``sizes``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.unflatten(pyqref.ones(6, 4), 0, (2, -1)).shape
    pyqref.Size([2, 3, 4])
    """
    shape = input._array.shape
    axis = axis_of(dim, len(shape))
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    inner = _resolved(tuple(sizes), shape[axis])
    return view(input, (*shape[:axis], *inner, *shape[axis + 1 :]))


def permute(input: TensorBase, *dims: Ints) -> Tensor:
    """Axes in the order ``dims``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.permute(pyqref.ones(2, 3, 4), (2, 0, 1)).shape
    pyqref.Size([4, 2, 3])
    """
    if not isinstance(input, ANY_TENSOR):
        raise no_tensor("permute", "input", input)
    ndim = input._array.ndim
    axes = usual_axes(dims, ndim)
    if axes is not None and len(axes) == ndim:
        return apply(operations.Permute, input, axes)
    order = shape_argument(dims)
    if len(order) != ndim:
        raise RuntimeError(
            "permute: number of dimensions in the tensor input does not match the length of the "
            f"desired ordering of dimensions i.e. input.dim() = {ndim} is not equal to "
            f"len(dims) = {len(order)}"
        )
    return apply(operations.Permute, input, axes_of(order, ndim) if order else ())


def transpose(input: TensorBase, dim0: int, dim1: int) -> Tensor:
    """Exchange two axes.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.transpose(pyqref.ones(2, 3, 4), 0, 2).shape
    pyqref.Size([4, 3, 2])
    """
    if not isinstance(input, ANY_TENSOR):
        raise no_tensor("transpose", "input", input)
    ndim = input._array.ndim
    order = exchanged(ndim, dim0, dim1)
    if order is None:
        first, second = axis_of(dim0, ndim), axis_of(dim1, ndim)
        order = exchanged(ndim, first, second) if ndim else ()
    return apply(operations.Permute, input, order)


def t(input: Tensor) -> Tensor:
    """Exchange the axes of a matrix; vectors and single numbers stay as they are.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.t(pyqref.ones(2, 3)).shape
    pyqref.Size([3, 2])
    """
    if not isinstance(input, ANY_TENSOR):
        raise no_tensor("t", "input", input)
    ndim = input._array.ndim
    if ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {ndim}D")
    return apply(operations.Permute, input, (1, 0)) if ndim == 2 else input[...]


@_explains
def movedim(input: Tensor, source: Ints, destination: Ints) -> Tensor:
    """Move axes to other places; the rest keep their order.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.movedim(pyqref.ones(2, 3, 4), 0, -1).shape
    pyqref.Size([3, 4, 2])
    """
    sources = axes_of(source if isinstance(source, (tuple, list)) else (source,), input.ndim)
    places = axes_of(
        destination if isinstance(destination, (tuple, list)) else (destination,), input.ndim
    )
    if len(sources) != len(places):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({list(sources)} dims) should "
            f"contain the same number of dims as destination ({list(places)} dims)"
        )
    order = [axis for axis in range(input.ndim) if axis not in sources]
    for place, axis in sorted(zip(places, sources, strict=True)):
        order.insert(place, axis)
    return apply(operations.Permute, input, tuple(order))


def squeeze(input: Tensor, dim: Any = None, *more: int) -> Tensor:
    """Drop axes of length 1: all of them, or those of ``dim`` and ``more``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.squeeze(pyqref.ones(1, 2, 1)).shape, pyqref.squeeze(pyqref.ones(1, 2, 1), 0).shape
    (pyqref.Size([2]), pyqref.Size([2, 1]))
    """
    require_tensor("squeeze", "input", input)
    shape = input._array.shape
    dim = (dim, *more) if more else dim
    candidates = () if isinstance(dim, (tuple, list)) and not dim else axes_of(dim, len(shape))
    return apply(operations.Squeeze, input, tuple([a for a in candidates if shape[a] == 1]))


def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """Insert an axis of length 1 at ``dim``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.unsqueeze(pyqref.ones(3), 0).shape, pyqref.unsqueeze(pyqref.ones(3), -1).shape
    (pyqref.Size([1, 3]), pyqref.Size([3, 1]))
    """
    if not isinstance(input, ANY_TENSOR):
        raise no_tensor("unsqueeze", "input", input)
    return apply(operations.Unsqueeze, input, axis_of(dim, input._array.ndim + 1))


def expand(input: Tensor, *shape: Ints) -> Tensor:
    """Repeat axes of length 1 without copying; -1 keeps a length."""
    require_tensor("expand", "input", input)
    own = input._array.shape
    usual = usual_expansion(own, shape)
    if usual is not None:
        return apply(operations.Expand, input, usual)
    wanted = shape_argument(shape)
    extra = len(wanted) - len(own)
    if extra < 0:
        raise RuntimeError(
            f"expand: the number of sizes provided ({len(wanted)}) must be greater or equal to "
            f"the number of dimensions in the tensor ({len(own)})"
        )
    full = []
    for position, length in enumerate(wanted):
        current = own[position - extra] if position >= extra else 1
        if length == -1 and position < extra:
            raise RuntimeError(
                f"The expanded size of the tensor ({length}) isn't allowed in a leading, "
                f"non-existing dimension {position}"
            )
        length = current if length == -1 else length
        if current not in (1, length):
            raise RuntimeError(
                f"The expanded size of the tensor ({length}) must match the existing size "
                f"({current}) at non-singleton dimension {position}.  Target sizes: "
                f"{list(wanted)}.  Tensor sizes: {list(own)}"
            )
        full.append(length)
    return apply(operations.Expand, input, tuple(full))


def broadcast_to(input: Tensor, size: Shape) -> Tensor:
    """``input.expand(size)``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.broadcast_to(pyqref.tensor([1, 2]), (2, 2)).tolist()
    [[1, 2], [1, 2]]
    """
    return expand(input, size)


def expand_as(input: Tensor, other: Tensor) -> Tensor:
    """``input.expand(other.shape)``."""
    require_tensor("expand_as", "other", other)
    return expand(input, tuple(other.shape))


@_explains
def select(input: Tensor, dim: int, index: int) -> Tensor:
    """The slice at ``index`` along ``dim``, which axis is dropped.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.select(pyqref.tensor([[1, 2], [3, 4]]), 1, 0).tolist()
    [1, 3]
    """
    if input.ndim == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    axis, length = axis_of(dim, input.ndim), input._array.shape[axis_of(dim, input.ndim)]
    index = as_integer(index, "select(): index")
    if not -length <= index < length:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size "
            f"{list(input._array.shape)} at dimension {axis}"
        )
    return apply(Slice, input, (slice(None),) * axis + (int(index),))


@_explains
def narrow(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """``length`` slices from ``start`` along ``dim``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.narrow(pyqref.arange(5), 0, 1, 3).tolist()
    [1, 2, 3]
    """
    axis = axis_of(dim, input.ndim)
    size = input._array.shape[axis]
    start = int(start) + size if start < 0 else int(start)
    if length < 0 or not 0 <= start <= size or start + length > size:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return apply(Slice, input, (slice(None),) * axis + (slice(start, start + length),))


swapaxes, swapdims = alias(transpose, "swapaxes"), alias(transpose, "swapdims")
moveaxis = alias(movedim, "moveaxis")
