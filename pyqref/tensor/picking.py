"""Elements picked by indices or masks, and written there."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .._typing import Function, Tensor
from ..tape import indexing
from .axes import axis_of
from .base import ANY_TENSOR, TensorBase, wrap
from .dispatch import apply
from .foreign import no_tensor
from .inplace import in_place
from .promotion import cast, fitting
from .refusal import refuse_quantized, undefined_index
from .wrong_arguments import explain_errors

__all__ = [
    "gather",
    "index_add",
    "index_copy",
    "index_fill",
    "index_select",
    "masked_fill",
    "masked_scatter",
    "masked_select",
    "scatter",
    "scatter_add",
    "take",
    "take_along_dim",
]


_INT64, _UINT64 = np.dtype(np.int64), np.dtype(np.uint64)
_largest = np.maximum.reduce


def _checked_index(name: str, index: Any, length: int) -> Any:
    array = index._array
    if index.is_quantized:
        raise undefined_index(index)
    if array.dtype.kind not in "iu":
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index, got {index.dtype}")
    if array.dtype == _INT64 and array.size and _largest(array.view(_UINT64), None) < length:
        return array  # as a number without a sign, a negative one is larger than any length
    if array.size and (array.min() < 0 or array.max() >= length):
        wrong = array[(array < 0) | (array >= length)].flat[0]
        raise IndexError(f"{name}(): index {wrong} is out of bounds for size {length}")
    return array.astype(np.int64, copy=False)


def _also_of_one_number(function: Function) -> Function:
    """Let the function take a tensor without axes as a tensor of one element."""

    @functools.wraps(function)
    def run(input: Any, dim: int, *args: Any, **kwargs: Any) -> Any:
        if input.ndim:
            return function(input, dim, *args, **kwargs)
        args = tuple(_in_a_row(each) for each in args)
        named = {name: _in_a_row(each) for name, each in kwargs.items()}
        return function(input.reshape(1), axis_of(dim, 0), *args, **named).reshape(())

    result: Any = run
    return result


def _in_a_row(value: Any) -> Any:
    return value.reshape(-1) if hasattr(value, "reshape") else value


def _with_axes(tensor: Any) -> Any:
    return tensor if tensor.ndim else tensor.reshape(1)


def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """The slices at ``index`` (1-D) along ``dim``, as a copy.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.index_select(pyqref.tensor([[1, 2], [3, 4]]), 1, pyqref.tensor([1, 1])).tolist()
    [[2, 2], [4, 4]]
    """
    if not isinstance(input, ANY_TENSOR):
        raise no_tensor("index_select", "input", input)
    axis = axis_of(dim, input.ndim)
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    length = input._array.shape[axis] if input.ndim else 1
    where = _checked_index("index_select", index, length).reshape(-1)
    if input.ndim == 0:
        if where.size != 1:
            raise RuntimeError(
                f"index_select(): Index to scalar can have only 1 value, got {where.size} value(s)"
            )
        return input.reshape(1)[wrap(where)].reshape(())
    return apply(indexing.IndexSelect, input, axis, where)


def gather(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """``out[i][j] = input[index[i][j]][j]`` for ``dim`` 0, and so on.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.gather(pyqref.tensor([[1, 2], [3, 4]]), 1, pyqref.tensor([[1], [0]])).tolist()
    [[2], [3]]
    """
    axis = axis_of(dim, input.ndim)
    _same_rank("gather", input, index)
    length = input._array.shape[axis] if input.ndim else 1
    where = _checked_index("gather", index, length)
    for other, (needed, present) in enumerate(zip(where.shape, input._array.shape, strict=False)):
        if other != axis and needed > present:
            raise RuntimeError(
                f"Size does not match at dimension {other} expected index {list(where.shape)} to "
                f"be no larger than self {list(input._array.shape)} apart from dimension {axis}"
            )
    if input.ndim and not where.ndim:
        return apply(indexing.Gather, input, axis, where.reshape(1)).reshape(())
    return apply(indexing.Gather, input, axis, where)


def _same_rank(name: str, input: Any, index: Any) -> None:
    if max(input.ndim, 1) != max(index.ndim, 1):
        raise RuntimeError(
            f"{name}: Index tensor must have the same number of dimensions as input tensor, got "
            f"{index.ndim} and {input.ndim}"
        )


def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """:func:`gather` with broadcasting; without ``dim``, of the flattened tensor.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.tensor([[1, 2], [4, 3]])
    >>> pyqref.take_along_dim(x, pyqref.tensor([[1], [0]]), 1).tolist()
    [[2], [4]]
    """
    if dim is None:
        return gather(input.reshape(-1), 0, indices.reshape(-1))
    _same_rank("take_along_dim", input, indices)
    axis, input, indices = axis_of(dim, input.ndim), _with_axes(input), _with_axes(indices)
    shape = [
        1 if other == axis else length
        for other, length in enumerate(
            np.broadcast_shapes(
                tuple(1 if a == axis else n for a, n in enumerate(input.shape)),
                tuple(1 if a == axis else n for a, n in enumerate(indices.shape)),
            )
        )
    ]
    data_shape, index_shape = list(shape), list(shape)
    data_shape[axis], index_shape[axis] = input.shape[axis], indices.shape[axis]
    return gather(input.expand(data_shape), axis, indices.expand(index_shape))


def take(input: Tensor, index: Tensor) -> Tensor:
    """Elements of the flattened tensor at ``index``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.take(pyqref.tensor([[1, 2], [3, 4]]), pyqref.tensor([0, 3])).tolist()
    [1, 4]
    """
    if not isinstance(input, ANY_TENSOR):
        raise no_tensor("take", "input", input)
    refuse_quantized(input)
    return input.reshape(-1)[index]


@_also_of_one_number
def scatter(
    input: Tensor,
    dim: int,
    index: Tensor,
    src: Any = None,
    *,
    value: Any = None,
) -> Tensor:
    """``input`` with ``src`` (a tensor or a number) written at ``index`` along ``dim``.

    Examples
    --------
    >>> import pyqref
    >>> values = pyqref.tensor([5.0, 6.0])
    >>> pyqref.scatter(pyqref.zeros(3), 0, pyqref.tensor([2, 0]), values).tolist()
    [6.0, 0.0, 5.0]
    """
    source = value if src is None else src
    if not isinstance(source, TensorBase):
        source = wrap(np.full(index._array.shape, fitting(source, input._array.dtype)))
    axis, index, source = axis_of(dim, input.ndim), _with_axes(index), _with_axes(source)
    _check_scatter("scatter", input, axis, index, source)
    where = _checked_index("scatter", index, input._array.shape[axis])
    return apply(indexing.Scatter, input, axis, where, source)


@_also_of_one_number
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """``input`` with ``src`` added at ``index`` along ``dim``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.scatter_add(pyqref.zeros(3), 0, pyqref.tensor([0, 0, 2]), pyqref.ones(3)).tolist()
    [2.0, 0.0, 1.0]
    """
    axis, index, src = axis_of(dim, input.ndim), _with_axes(index), _with_axes(src)
    _check_scatter("scatter_add", input, axis, index, src)
    where = _checked_index("scatter_add", index, input._array.shape[axis])
    return apply(indexing.ScatterAdd, input, axis, where, src)


def _check_scatter(name: str, input: Any, axis: int, index: Any, source: Any) -> None:
    _same_rank(name, input, index)
    if input._array.dtype != source._array.dtype:
        refuse_quantized(input, source)
        raise RuntimeError(f"{name}(): Expected self.dtype to be equal to src.dtype")
    too_large = any(
        needed > present for needed, present in zip(index.shape, source.shape, strict=False)
    ) or any(
        needed > present
        for other, (needed, present) in enumerate(zip(index.shape, input.shape, strict=False))
        if other != axis
    )
    if too_large or source.ndim != index.ndim:
        raise RuntimeError(
            f"{name}: expected index {list(index.shape)} to be no larger than self "
            f"{list(input.shape)} apart from dimension {axis} and to be no larger size than src "
            f"{list(source.shape)}"
        )


@_also_of_one_number
def index_add(
    input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: float = 1
) -> Tensor:
    """``input`` with slices of ``source`` added at ``index`` along ``dim``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.index_add(pyqref.zeros(3), 0, pyqref.tensor([0, 0, 2]), pyqref.ones(3)).tolist()
    [2.0, 0.0, 1.0]
    """
    axis = axis_of(dim, input.ndim)
    where = _checked_slices("index_add", input, axis, index, source)
    return apply(indexing.IndexAdd, input, axis, where, source if alpha == 1 else source * alpha)


def _checked_slices(name: str, input: Any, axis: int, index: Any, source: Any) -> Any:
    """The places along an axis at which as many slices of ``source`` go."""
    if index.ndim > 1:
        raise IndexError(f"{name}(): Index is supposed to be a vector, got {list(index.shape)}")
    where = _checked_index(name, index, input._array.shape[axis]).reshape(-1)
    shape = (*input._array.shape[:axis], len(where), *input._array.shape[axis + 1 :])
    if (source._array.shape or (1,)) != shape:
        raise RuntimeError(
            f"{name}(): source must have the shape of self with the length of index at dimension "
            f"{axis}, which is {list(shape)}, got {list(source.shape)}"
        )
    return where


@_also_of_one_number
def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """``input`` with slices of ``source`` written at ``index`` along ``dim``.

    Examples
    --------
    >>> import pyqref
    >>> rows = pyqref.tensor([5.0, 6.0])
    >>> pyqref.index_copy(pyqref.zeros(3), 0, pyqref.tensor([2, 0]), rows).tolist()
    [6.0, 0.0, 5.0]
    """
    refuse_quantized(input, source)
    axis = axis_of(dim, input.ndim)
    where = _checked_slices("index_copy", input, axis, index, source)
    return apply(indexing.IndexPut, input, source, (slice(None),) * axis + (where,), False)


@_also_of_one_number
def index_fill(input: Tensor, dim: int, index: Tensor, value: Tensor | float) -> Tensor:
    """``input`` with ``value`` written at ``index`` along ``dim``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.index_fill(pyqref.zeros(3), 0, pyqref.tensor([0, 2]), 7.0).tolist()
    [7.0, 0.0, 7.0]
    """
    refuse_quantized(input, value, index)
    if index._array.dtype.kind not in "iu":
        raise IndexError(f"index_fill(): Expected dtype int64 for index, got {index.dtype}")
    if not isinstance(value, TensorBase):
        value = wrap(np.asarray(fitting(value, input._array.dtype)))
    elif value._array.size > 1:
        raise RuntimeError(
            "index_fill only supports a 0-dimensional value tensor, but got tensor with "
            f"{value._array.ndim} dimension(s)."
        )
    else:
        fitting(value._array.item(), input._array.dtype)
    axis = axis_of(dim, input.ndim)
    chosen = np.zeros(input._array.shape[axis], np.bool_)
    chosen[index._array] = True
    mask = wrap(chosen.reshape(-1, *(1,) * (input.ndim - axis - 1)))
    return apply(indexing.MaskedFill, input, mask, *cast(input._array.dtype, value))


def masked_fill(input: Tensor, mask: Tensor, value: Tensor | float) -> Tensor:
    """``input`` with ``value`` where ``mask`` holds.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.masked_fill(pyqref.tensor([1.0, 2.0]), pyqref.tensor([True, False]), 0.0).tolist()
    [0.0, 2.0]
    """
    if mask._array.dtype.kind != "b":
        raise RuntimeError(f"masked_fill only supports boolean masks, but got mask {mask.dtype}")
    if isinstance(value, TensorBase) and value._array.ndim:
        raise RuntimeError(
            "masked_fill only supports a 0-dimensional value tensor, but got tensor with "
            f"{value._array.ndim} dimension(s)."
        )
    if input.is_quantized:
        return apply(indexing.MaskedFill, input, mask, value)
    refuse_quantized(mask, value)
    if not isinstance(value, TensorBase):
        value = wrap(np.asarray(fitting(value, input._array.dtype)))
    else:
        fitting(value._array.item(), input._array.dtype)
    return apply(indexing.MaskedFill, input, mask, *cast(input._array.dtype, value))


def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The elements where ``mask`` holds, in a row.

    Examples
    --------
    >>> import pyqref
    >>> mask = pyqref.tensor([True, False, True])
    >>> pyqref.masked_select(pyqref.tensor([1, 2, 3]), mask).tolist()
    [1, 3]
    """
    if mask._array.dtype.kind != "b":
        raise RuntimeError(f"masked_select: expected BoolTensor for mask, got {mask.dtype}")
    return apply(indexing.MaskedSelect, input, mask._array)


def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """``input`` with the elements of ``source`` written in order where ``mask`` holds.

    Examples
    --------
    >>> import pyqref
    >>> mask, values = pyqref.tensor([True, False, True]), pyqref.tensor([5.0, 6.0])
    >>> pyqref.masked_scatter(pyqref.zeros(3), mask, values).tolist()
    [5.0, 0.0, 6.0]
    """
    refuse_quantized(input, mask, source)
    if mask._array.dtype.kind != "b":
        raise RuntimeError(f"masked_scatter: expected BoolTensor for mask, got {mask.dtype}")
    if source._array.dtype != input._array.dtype:
        raise RuntimeError(
            "masked_scatter: expected self and source to have same dtypes but got "
            f"{input.dtype} and {source.dtype}"
        )
    full = np.broadcast_to(mask._array, input._array.shape)
    count = int(full.sum())
    if source._array.size < count:
        raise RuntimeError(
            "masked_scatter: expected source to have at least as many elements as ones in mask"
        )
    return apply(indexing.IndexPut, input, source.reshape(-1)[:count], (full,), False)


scatter_ = in_place(scatter)
scatter_add_ = in_place(scatter_add)
index_add_ = in_place(index_add)
index_copy_ = in_place(index_copy)
index_fill_ = in_place(index_fill)
masked_fill_ = in_place(masked_fill, elementwise=True, reads_first=True)
masked_scatter_ = in_place(masked_scatter)


explain_errors(globals())
