"""Several tensors to one, and one to several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from .._typing import Ints, Tensor
from ..tape.indexing import Slice
from ..tape.shape import Cat, Stack
from .aliases import alias
from .arguments import as_integer, described, tensors_of
from .axes import axis_of
from .base import TensorBase
from .dispatch import apply
from .memory import require_memory
from .meshes import meshgrid
from .promotion import promote
from .shape import expand, narrow, reshape
from .usual import are_alike, axis_to_join, cut
from .wrong_arguments import explain_errors

#: More of them are no use, and their list would fill the memory.
_MOST_SECTIONS = 1 << 20

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "broadcast_tensors",
    "cartesian_prod",
    "cat",
    "chunk",
    "column_stack",
    "concat",
    "dstack",
    "hstack",
    "split",
    "split_with_sizes",
    "stack",
    "tensor_split",
    "unbind",
    "vstack",
]


def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Tensors one after another along ``dim``; the other lengths must agree.

    An empty tensor of shape (0,) is skipped, as in ``torch``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.cat([pyqref.tensor([[1, 2]]), pyqref.tensor([[3, 4]])], dim=1).tolist()
    [[1, 2, 3, 4]]
    """
    usual = axis_to_join(tensors, dim)
    if usual is not None:
        return apply(Cat, usual, *tensors)
    tensors = tensors_of("cat", tensors)
    if not tensors:
        raise ValueError("cat(): expected a non-empty list of Tensors")
    filled = [each for each in tensors if each._array.shape != (0,)] or tensors[:1]
    first = filled[0]._array.shape
    axis = axis_of(dim, len(first))
    if not first:
        raise RuntimeError(
            "zero-dimensional tensor (at position 0) cannot be concatenated; use stack"
        )
    for position, each in enumerate(filled):
        shape = each._array.shape
        if shape == first:
            continue
        if len(shape) != len(first):
            raise RuntimeError(
                f"Tensors must have same number of dimensions: got {len(first)} and {len(shape)}"
            )
        for other_axis, (length, expected) in enumerate(zip(shape, first, strict=True)):
            if other_axis != axis and length != expected:
                raise RuntimeError(
                    "Sizes of tensors must match except in dimension "
                    f"{axis}. Expected size {expected} but got size {length} for tensor number "
                    f"{position} in the list."
                )
    if tensors[0].is_quantized and tensors[0] is not filled[0]:
        # Its elements are none, but its grid is that of the result.
        filled.insert(0, tensors[0].reshape((*first[:axis], 0, *first[axis + 1 :])))
    return apply(Cat, axis, *promote(*filled))


def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Tensors of one shape along a new axis ``dim``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.stack([pyqref.tensor([1, 2]), pyqref.tensor([3, 4])], dim=1).tolist()
    [[1, 3], [2, 4]]
    """
    if are_alike(tensors):
        return apply(Stack, axis_of(dim, tensors[0]._array.ndim + 1), *tensors)
    tensors = tensors_of("stack", tensors)
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    first = tensors[0]._array.shape
    for position, each in enumerate(tensors):
        if each._array.shape != first:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(first)} at entry 0 "
                f"and {list(each._array.shape)} at entry {position}"
            )
    return apply(Stack, axis_of(dim, len(first) + 1), *promote(*tensors))


def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """Stack as rows.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.vstack([pyqref.tensor([1, 2]), pyqref.tensor([3, 4])]).tolist()
    [[1, 2], [3, 4]]
    """
    return cat([_as_rows(each) for each in tensors_of("vstack", tensors)], 0)


def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """Join along the second axis (the first, for vectors).

    Examples
    --------
    >>> import pyqref
    >>> pyqref.hstack([pyqref.tensor([1, 2]), pyqref.tensor([3])]).tolist()
    [1, 2, 3]
    """
    tensors = atleast_1d(tensors_of("hstack", tensors))
    return cat(tensors, 1 if tensors and tensors[0].ndim > 1 else 0)


def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """Join along the third axis.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.dstack([pyqref.tensor([1, 2]), pyqref.tensor([3, 4])]).tolist()
    [[[1, 3], [2, 4]]]
    """
    return cat([_as_slices(each) for each in tensors_of("dstack", tensors)], 2)


def atleast_1d(*tensors: Tensor | Sequence[Tensor]) -> Any:
    """A vector of one element from a single number; others stay.

    Of several tensors, or of a list, a tuple.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.atleast_1d(pyqref.tensor(3.0)).shape
    pyqref.Size([1])
    """
    return _one_or_several("atleast_1d", lambda t: reshape(t, 1) if t.ndim == 0 else t, tensors)


def atleast_2d(*tensors: Tensor | Sequence[Tensor]) -> Any:
    """Return a tensor with at least two axes, new ones in front; of several tensors, a tuple.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.atleast_2d(pyqref.tensor([1.0, 2.0])).shape
    pyqref.Size([1, 2])
    """
    return _one_or_several("atleast_2d", _as_rows, tensors)


def atleast_3d(*tensors: Tensor | Sequence[Tensor]) -> Any:
    """Return a tensor with at least three axes.

    For a matrix the new axis is last, for a vector there is one on either side.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.atleast_3d(pyqref.ones(2)).shape, pyqref.atleast_3d(pyqref.ones(2, 3)).shape
    (pyqref.Size([1, 2, 1]), pyqref.Size([2, 3, 1]))
    """
    return _one_or_several("atleast_3d", _as_slices, tensors)


def _as_rows(tensor: Any) -> Any:
    return reshape(tensor, 1, tensor.numel()) if tensor.ndim < 2 else tensor


def _as_slices(tensor: Any) -> Any:
    return _as_rows(tensor).unsqueeze(2) if tensor.ndim < 3 else tensor


def _one_or_several(name: str, function: Callable[[Any], Any], tensors: tuple[Any, ...]) -> Any:
    given = tensors[0] if len(tensors) == 1 else tensors
    if isinstance(given, TensorBase):
        return function(given)
    return tuple(map(function, tensors_of(name, given)))


def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Vectors as columns of a matrix, next to matrices.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.column_stack([pyqref.tensor([1, 2]), pyqref.tensor([3, 4])]).tolist()
    [[1, 3], [2, 4]]
    """
    tensors = tensors_of("column_stack", tensors)
    return cat([reshape(t, t.numel(), 1) if t.ndim < 2 else t for t in tensors], 1)


def cartesian_prod(*tensors: Tensor) -> Tensor:
    """All combinations of the elements of vectors, a row each; one vector is given back.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.cartesian_prod(pyqref.tensor([1, 2]), pyqref.tensor([8, 9])).tolist()
    [[1, 8], [1, 9], [2, 8], [2, 9]]
    """
    if len(tensors) == 1:
        return tensors[0]
    shape = (*(each._array.size for each in tensors), len(tensors))
    require_memory(shape, 8, "cartesian_prod: a result")
    return stack([reshape(each, -1) for each in meshgrid(*tensors)], 1)


def split(input: Tensor, split_size_or_sections: Ints, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of ``split_size`` slices each (the last may be smaller), or of the lengths given.

    Examples
    --------
    >>> import pyqref
    >>> [each.tolist() for each in pyqref.split(pyqref.arange(5), 2)]
    [[0, 1], [2, 3], [4]]
    """
    if input.ndim == 0:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    axis = axis_of(dim, input.ndim)
    if isinstance(split_size_or_sections, (tuple, list)):
        return split_with_sizes(input, split_size_or_sections, axis)
    size: Any = split_size_or_sections
    return _pieces(input, int(size), axis)


def _pieces(input: Any, size: int, axis: int) -> tuple[Any, ...]:
    length = input._array.shape[axis]
    if size < 0 or (size == 0 and length != 0):
        raise RuntimeError(
            f"split_size can only be 0 if dimension size is 0, and never negative, got {size} "
            f"for dimension size {length}"
        )
    starts = range(0, length, size) if length else [0]
    return cut(Slice, input, axis, [slice(at, at + size) for at in starts])


def split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Views of the lengths ``split_sizes``, which add up to the length of the axis.

    Examples
    --------
    >>> import pyqref
    >>> [each.tolist() for each in pyqref.split_with_sizes(pyqref.arange(5), [1, 4])]
    [[0], [1, 2, 3, 4]]
    """
    axis = axis_of(dim, input.ndim)
    length = input._array.shape[axis]
    if sum(split_sizes) != length:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {length} (input tensor's "
            f"size at dimension {axis}), but got split_sizes={list(split_sizes)}"
        )
    starts = np.cumsum([0, *split_sizes[:-1]])
    return tuple(
        narrow(input, axis, int(start), int(size))
        for start, size in zip(starts, split_sizes, strict=True)
    )


def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Return at most ``chunks`` views of equal length (the last may be smaller).

    Examples
    --------
    >>> import pyqref
    >>> [each.tolist() for each in pyqref.chunk(pyqref.arange(5), 2)]
    [[0, 1, 2], [3, 4]]
    """
    if type(chunks) is not int or chunks > _MOST_SECTIONS:
        chunks = as_integer(chunks, "chunk(): chunks")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    shape = input._array.shape
    if not shape:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    axis = axis_of(dim, len(shape))
    if shape[axis] == 0:
        return split_with_sizes(input, [0] * chunks, dim)
    return _pieces(input, -(-shape[axis] // chunks), axis)


def tensor_split(
    input: Tensor, indices_or_sections: Ints | Tensor, dim: int = 0
) -> tuple[Tensor, ...]:
    """Views whose lengths differ by one at most, or cut at the given indices.

    Examples
    --------
    >>> import pyqref
    >>> [each.tolist() for each in pyqref.tensor_split(pyqref.arange(5), 3)]
    [[0, 1], [2, 3], [4]]
    """
    axis = axis_of(dim, input.ndim)
    if input.ndim == 0:
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, got 0 dims")
    length = input._array.shape[axis]
    if isinstance(indices_or_sections, int):
        if indices_or_sections < 1:
            raise RuntimeError(
                f"number of sections must be larger than 0, got {indices_or_sections}"
            )
        if indices_or_sections > max(length, _MOST_SECTIONS):
            raise RuntimeError(
                f"tensor_split(): indices_or_sections must be at most {_MOST_SECTIONS} or the "
                f"length {length}, got {described(indices_or_sections)}"
            )
        each, longer = divmod(length, indices_or_sections)
        sizes = [each + (i < longer) for i in range(indices_or_sections)]
        return split_with_sizes(input, sizes, axis)
    cuts = [0, *(min(max(int(i), 0), length) for i in indices_or_sections), length]
    return tuple(narrow(input, axis, start, max(stop - start, 0)) for start, stop in pairwise(cuts))


def unbind(input: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Every slice along ``dim``, as views without that axis.

    Examples
    --------
    >>> import pyqref
    >>> [each.tolist() for each in pyqref.unbind(pyqref.tensor([[1, 2], [3, 4]]))]
    [[1, 2], [3, 4]]
    """
    axis = axis_of(dim, input.ndim)
    return cut(Slice, input, axis, range(input._array.shape[axis]))


def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """All tensors expanded to their common shape.

    Examples
    --------
    >>> import pyqref
    >>> [each.shape for each in pyqref.broadcast_tensors(pyqref.ones(3, 1), pyqref.ones(4))]
    [pyqref.Size([3, 4]), pyqref.Size([3, 4])]
    """
    shape = np.broadcast_shapes(*(each._array.shape for each in tensors))
    return tuple(expand(each, shape) for each in tensors)


explain_errors(globals(), quiet=False)
concat, concatenate = alias(cat, "concat"), alias(cat, "concatenate")
