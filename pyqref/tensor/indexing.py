"""``x[key]`` and ``x[key] = value``, and the named ways to choose elements.

A key is taken apart as in ``torch``: first all integers, slices, None and Ellipsis
(a view), then all integer tensors and masks together (a copy). NumPy differs where
integers and integer arrays meet in one key.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..tape import indexing
from .axes import axis_of
from .base import TensorBase, wrap
from .dispatch import apply, check_in_place, refuse_quantized, store
from .inplace import in_place
from .promotion import cast

__all__ = [
    "gather",
    "getitem",
    "index_add",
    "index_copy",
    "index_fill",
    "index_put",
    "index_put_",
    "index_select",
    "masked_fill",
    "masked_scatter",
    "masked_select",
    "nonzero",
    "scatter",
    "scatter_add",
    "setitem",
    "take",
    "take_along_dim",
]


def _as_index(item: Any) -> Any:
    """A tensor, array or nested list of an index as NumPy array."""
    try:
        array = np.asarray(item._array if isinstance(item, TensorBase) else item)
    except ValueError:
        raise IndexError(f"lists in an index must have equal lengths, got {item!r:.60}") from None
    if array.size == 0 and array.dtype.kind == "f":
        array = array.astype(np.int64)
    if array.dtype == np.uint8 and isinstance(item, TensorBase):
        array = array.astype(np.bool_)
    if array.dtype.kind not in "biu":
        raise IndexError(
            "tensors used as indices must be long, int, byte or bool tensors, "
            f"got {array.dtype.name}"
        )
    return array


def _is_advanced(item: Any) -> bool:
    return isinstance(item, (TensorBase, np.ndarray, list, tuple, bool, np.bool_, range))


def taken_apart(shape: tuple[int, ...], key: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The basic key, and the advanced key for its result (empty if there is none)."""
    items = list(key) if isinstance(key, tuple) else [key]
    items = [_as_index(each) if _is_advanced(each) else each for each in items]
    used = sum(
        each.ndim if isinstance(each, np.ndarray) and each.dtype == np.bool_ else 1
        for each in items
        if each is not None and each is not Ellipsis
    )
    if used > len(shape):
        raise IndexError(f"too many indices for tensor of dimension {len(shape)}")
    if not any(each is Ellipsis for each in items):
        items.append(Ellipsis)
    basic: list[Any] = []
    advanced: list[Any] = []
    position = 0
    for item in items:
        if item is Ellipsis:
            rest = len(shape) - used
            basic += [slice(None)] * rest
            advanced += [slice(None)] * rest
            position += rest
            used = len(shape)
        elif item is None:
            basic.append(None)
            advanced.append(slice(None))
        elif isinstance(item, slice):
            basic.append(_checked_slice(item))
            advanced.append(slice(None))
            position += 1
        elif isinstance(item, np.ndarray) and item.ndim == 0 and item.dtype == np.bool_:
            basic.append(None)
            advanced.append(item.reshape(1))
        elif isinstance(item, np.ndarray) and item.ndim:
            width = item.ndim if item.dtype == np.bool_ else 1
            _check_advanced(item, shape, position, width)
            basic += [slice(None)] * width
            advanced.append(item)
            position += width
        else:
            basic.append(_checked_integer(item, shape, position))
            position += 1
    if not any(isinstance(each, np.ndarray) for each in advanced):
        return tuple(basic), ()
    return tuple(basic), tuple(advanced)


def _checked_slice(item: slice) -> slice:
    start, stop, step = (
        None if each is None else int(each) for each in (item.start, item.stop, item.step)
    )
    if step is not None and step <= 0:
        raise ValueError("step must be greater than zero; use flip() for reversed order")
    return slice(start, stop, step)


def _checked_integer(item: Any, shape: tuple[int, ...], position: int) -> int:
    try:
        index = item.__index__()
    except AttributeError:
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are "
            f"valid indices (got {type(item).__name__})"
        ) from None
    length = shape[position]
    if not -length <= index < length:
        raise IndexError(
            f"index {index} is out of bounds for dimension {position} with size {length}"
        )
    return int(index)


def _check_advanced(item: Any, shape: tuple[int, ...], position: int, width: int) -> None:
    if item.dtype == np.bool_:
        if item.shape != shape[position : position + width]:
            raise IndexError(
                f"The shape of the mask {list(item.shape)} at index {position} does not match "
                f"the shape of the indexed tensor {list(shape)} at index {position}"
            )
        return
    length = shape[position]
    if item.size and not (-length <= item.min() and item.max() < length):
        wrong = item[(item < -length) | (item >= length)].flat[0]
        raise IndexError(
            f"index {wrong} is out of bounds for dimension {position} with size {length}"
        )


def basic_view(input: Any, basic: tuple[Any, ...]) -> Any:
    """The view for a basic key, as :func:`taken_apart` gives it."""
    return apply(indexing.Slice, input, basic)


def getitem(input: Any, key: Any) -> Any:
    """``input[key]``: a view for integers, slices, None and Ellipsis; else a copy."""
    basic, advanced = taken_apart(input._array.shape, key)
    result = apply(indexing.Slice, input, basic)
    if not advanced:
        return result
    try:
        return apply(indexing.Index, result, advanced)
    except IndexError as error:
        raise IndexError(f"shape mismatch: {error}") from None


def setitem(input: Any, key: Any, value: Any) -> None:
    """``input[key] = value``; ``value`` is broadcast and cast."""
    basic, advanced = taken_apart(input._array.shape, key)
    check_in_place(input)
    target = apply(indexing.Slice, input, basic)
    if not isinstance(value, TensorBase):
        value = wrap(np.asarray(value, dtype=None if np.ndim(value) else input._array.dtype))
    if not advanced:
        while value.ndim > target.ndim and value._array.shape[0] == 1:
            value = value[0]
        target.copy_(value)
        return
    _put(target, advanced, value, accumulate=False)


def _put(target: Any, advanced: tuple[Any, ...], values: Any, *, accumulate: bool) -> None:
    (values,) = cast(target._array.dtype, values)
    try:
        before = target if target._edge() is None and values._edge() is None else target.clone()
        result = apply(indexing.IndexPut, before, values, advanced, accumulate)
    except ValueError as error:
        raise RuntimeError(f"shape mismatch: {error}") from None
    store(target, result)


def index_put_(input: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    """Write (or add) ``values`` at the places given by one index tensor an axis."""
    check_in_place(input)
    _, advanced = taken_apart(input._array.shape, tuple(indices))
    if not isinstance(values, TensorBase):
        values = wrap(np.asarray(values, dtype=input._array.dtype))
    _put(input, advanced, values, accumulate=accumulate)
    return input


def index_put(input: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    """As :func:`index_put_`, on a copy."""
    return index_put_(input.clone(), indices, values, accumulate)


def _checked_index(name: str, index: Any, length: int) -> Any:
    array = index._array
    if array.dtype.kind not in "iu":
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index, got {index.dtype}")
    if array.size and (array.min() < 0 or array.max() >= length):
        wrong = array[(array < 0) | (array >= length)].flat[0]
        raise IndexError(f"{name}(): index {wrong} is out of bounds for size {length}")
    return array.astype(np.int64, copy=False)


def index_select(input: Any, dim: int, index: Any) -> Any:
    """The slices at ``index`` (1-D) along ``dim``, as a copy."""
    axis = axis_of(dim, input.ndim)
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    length = input._array.shape[axis] if input.ndim else 1
    where = _checked_index("index_select", index, length).reshape(-1)
    if input.ndim == 0:
        return input.reshape(1)[wrap(where)].reshape(())
    return apply(indexing.IndexSelect, input, axis, where)


def gather(input: Any, dim: int, index: Any) -> Any:
    """``out[i][j] = input[index[i][j]][j]`` for ``dim`` 0, and so on."""
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
    return apply(indexing.Gather, input, axis, where)


def _same_rank(name: str, input: Any, index: Any) -> None:
    if max(input.ndim, 1) != max(index.ndim, 1):
        raise RuntimeError(
            f"{name}: Index tensor must have the same number of dimensions as input tensor, got "
            f"{index.ndim} and {input.ndim}"
        )


def take_along_dim(input: Any, indices: Any, dim: int | None = None) -> Any:
    """:func:`gather` with broadcasting; without ``dim``, of the flattened tensor."""
    if dim is None:
        return gather(input.reshape(-1), 0, indices.reshape(-1))
    axis = axis_of(dim, input.ndim)
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


def take(input: Any, index: Any) -> Any:
    """Elements of the flattened tensor at ``index``."""
    return input.reshape(-1)[index]


def scatter(input: Any, dim: int, index: Any, src: Any = None, *, value: Any = None) -> Any:
    """``input`` with ``src`` (a tensor or a number) written at ``index`` along ``dim``."""
    source = value if src is None else src
    if not isinstance(source, TensorBase):
        source = wrap(np.full(index._array.shape, source, dtype=input._array.dtype))
    axis = axis_of(dim, input.ndim)
    _check_scatter("scatter", input, axis, index, source)
    where = _checked_index("scatter", index, input._array.shape[axis])
    return apply(indexing.Scatter, input, axis, where, source)


def scatter_add(input: Any, dim: int, index: Any, src: Any) -> Any:
    """``input`` with ``src`` added at ``index`` along ``dim``."""
    axis = axis_of(dim, input.ndim)
    _check_scatter("scatter_add", input, axis, index, src)
    where = _checked_index("scatter_add", index, input._array.shape[axis])
    return apply(indexing.ScatterAdd, input, axis, where, src)


def _check_scatter(name: str, input: Any, axis: int, index: Any, source: Any) -> None:
    _same_rank(name, input, index)
    if input._array.dtype != source._array.dtype:
        raise RuntimeError(f"{name}(): Expected self.dtype to be equal to src.dtype")
    too_large = any(
        needed > present for needed, present in zip(index.shape, source.shape, strict=False)
    ) or any(
        needed > present
        for other, (needed, present) in enumerate(zip(index.shape, input.shape, strict=False))
        if other != axis
    )
    if too_large:
        raise RuntimeError(
            f"{name}: expected index {list(index.shape)} to be no larger than self "
            f"{list(input.shape)} apart from dimension {axis} and to be no larger size than src "
            f"{list(source.shape)}"
        )


def index_add(input: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Any:
    """``input`` with slices of ``source`` added at ``index`` along ``dim``."""
    axis = axis_of(dim, input.ndim)
    where = _checked_index("index_add", index, input._array.shape[axis])
    return apply(indexing.IndexAdd, input, axis, where, source if alpha == 1 else source * alpha)


def index_copy(input: Any, dim: int, index: Any, source: Any) -> Any:
    """``input`` with slices of ``source`` written at ``index`` along ``dim``."""
    key = (slice(None),) * axis_of(dim, input.ndim) + (index._array,)
    return apply(indexing.IndexPut, input, source, key, False)


def index_fill(input: Any, dim: int, index: Any, value: Any) -> Any:
    """``input`` with ``value`` written at ``index`` along ``dim``."""
    key = (slice(None),) * axis_of(dim, input.ndim) + (index._array,)
    if not isinstance(value, TensorBase):
        value = wrap(np.asarray(value, dtype=input._array.dtype))
    return apply(indexing.IndexPut, input, value, key, False)


def masked_fill(input: Any, mask: Any, value: Any) -> Any:
    """``input`` with ``value`` where ``mask`` holds."""
    if mask._array.dtype.kind != "b":
        raise RuntimeError(f"masked_fill only supports boolean masks, but got mask {mask.dtype}")
    if not isinstance(value, TensorBase):
        value = wrap(np.asarray(value, dtype=input._array.dtype))
    elif value._array.ndim:
        raise RuntimeError(
            "masked_fill only supports a 0-dimensional value tensor, but got tensor with "
            f"{value._array.ndim} dimension(s)."
        )
    return apply(indexing.MaskedFill, input, mask, *cast(input._array.dtype, value))


def masked_select(input: Any, mask: Any) -> Any:
    """The elements where ``mask`` holds, in a row."""
    if mask._array.dtype.kind != "b":
        raise RuntimeError(f"masked_select: expected BoolTensor for mask, got {mask.dtype}")
    return apply(indexing.MaskedSelect, input, mask._array)


def masked_scatter(input: Any, mask: Any, source: Any) -> Any:
    """``input`` with the elements of ``source`` written in order where ``mask`` holds."""
    full = np.broadcast_to(mask._array, input._array.shape)
    count = int(full.sum())
    if source._array.size < count:
        raise RuntimeError(
            "masked_scatter: expected source to have at least as many elements as ones in mask"
        )
    return apply(indexing.IndexPut, input, source.reshape(-1)[:count], (full,), False)


def nonzero(input: Any, *, as_tuple: bool = False) -> Any:
    """Indices of the non-zero elements: a row each, or one tensor an axis."""
    refuse_quantized("nonzero", input)
    if as_tuple:
        return tuple(wrap(each) for each in np.nonzero(np.atleast_1d(input._array)))
    if input.ndim == 0:
        return wrap(np.zeros((int(bool(input._array)), 0), dtype=np.int64))
    return wrap(np.stack(np.nonzero(input._array), axis=1))


scatter_ = in_place(scatter)
scatter_add_ = in_place(scatter_add)
index_add_ = in_place(index_add)
index_copy_ = in_place(index_copy)
index_fill_ = in_place(index_fill)
masked_fill_ = in_place(masked_fill)
masked_scatter_ = in_place(masked_scatter)
argwhere = nonzero
