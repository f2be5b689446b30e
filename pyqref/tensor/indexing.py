"""``x[key]`` and ``x[key] = value``, and the named ways to choose elements.

A key is taken apart as in ``torch``: first all integers, slices, None and Ellipsis
(a view), then all integer tensors and masks together (a copy). NumPy differs where
integers and integer arrays meet in one key.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._typing import Index, Tensor, TensorOrNumber
from ..dtypes import from_numpy_dtype
from ..tape import indexing
from .arguments import described
from .base import TensorBase, wrap
from .dispatch import apply
from .foreign import kind_of, refuse_foreign
from .promotion import cast, fitting
from .refusal import refuse_quantized, undefined_index
from .storing import check_in_place, require_apart, require_own_places, store
from .usual import usual_key
from .wrong_arguments import explains_errors

__all__ = [
    "getitem",
    "index_put",
    "index_put_",
    "setitem",
]


def _as_index(item: Any) -> Any:
    """A tensor, array or nested list of an index as NumPy array."""
    try:
        array = np.asarray(item._array if isinstance(item, TensorBase) else item)
        if isinstance(item, TensorBase) and item.is_quantized:
            raise undefined_index(item)
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


_ADVANCED = (TensorBase, np.ndarray, list, tuple, bool, np.bool_, range)


def taken_apart(shape: tuple[int, ...], key: object) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The basic key, and the advanced key for its result (empty if there is none)."""
    usual = usual_key(shape, key)
    if usual is not None:
        return usual, ()
    items: list[Any] = []
    used = 0
    has_ellipsis = is_advanced = False
    for item in key if isinstance(key, tuple) else (key,):
        if isinstance(item, _ADVANCED):
            index = _as_index(item)
            items.append(index)
            used += index.ndim if index.dtype == np.bool_ else 1
            is_advanced = is_advanced or index.ndim > 0 or index.dtype == np.bool_
            continue
        items.append(item)
        if item is Ellipsis:
            has_ellipsis = True
        elif item is not None:
            used += 1
    if used > len(shape):
        raise IndexError(f"too many indices for tensor of dimension {len(shape)}")
    if not has_ellipsis:
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
    if not is_advanced:
        return tuple(basic), ()
    _check_together(advanced)
    return tuple(basic), tuple(advanced)


def _checked_slice(item: slice) -> slice:
    start, stop, step = item.start, item.stop, item.step
    start = None if start is None else int(start)
    stop = None if stop is None else int(stop)
    step = None if step is None else int(step)
    if step is not None and step <= 0:
        raise ValueError("step must be greater than zero; use flip() for reversed order")
    return slice(start, stop, step)


def _checked_integer(item: Any, shape: tuple[int, ...], position: int) -> int:
    try:
        index = item.__index__()
    except AttributeError:
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are "
            f"valid indices (got {kind_of(item)})"
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


def _check_together(advanced: list[Any]) -> None:
    """Index tensors are broadcast together; a mask stands for an index of the places it has."""
    shapes: list[tuple[int, ...]] = []
    for each in advanced:
        if isinstance(each, np.ndarray):
            is_mask = each.dtype == np.bool_
            shapes += [(int(np.count_nonzero(each)),)] * each.ndim if is_mask else [each.shape]
    if len(shapes) < 2:
        return
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        raise IndexError(
            "shape mismatch: indexing tensors could not be broadcast together with shapes "
            + ", ".join(str(list(each)) for each in shapes)
        ) from None


def basic_view(input: Tensor, basic: tuple[Any, ...]) -> Tensor:
    """The view for a basic key, as :func:`taken_apart` gives it."""
    return apply(indexing.Slice, input, basic)


def getitem(input: Tensor, key: Index) -> Tensor:
    """``input[key]``: a view for integers, slices, None and Ellipsis; else a copy."""
    usual = usual_key(input._array.shape, key)
    if usual is not None:
        return apply(indexing.Slice, input, usual)
    basic, advanced = taken_apart(input._array.shape, key)
    result = apply(indexing.Slice, input, basic)
    return apply(indexing.Index, result, advanced) if advanced else result


def setitem(input: Tensor, key: Index, value: Any) -> None:
    """``input[key] = value``; ``value`` is broadcast and cast."""
    basic, advanced = taken_apart(input._array.shape, key)
    check_in_place(input)
    target, value = apply(indexing.Slice, input, basic), _as_values(value, input)
    if advanced:
        _put(target, advanced, value, accumulate=False)
        return
    while value.ndim > target.ndim and value._array.shape[0] == 1:
        value = value[0]
    # What is broadcast is read before anything is written, as in torch.
    if value._array.shape != target._array.shape and not value.is_quantized:
        value = value.clone()
    target.copy_(value)


def _as_values(values: Any, input: Any) -> Any:
    """Return the written values as a tensor; a number takes the dtype of the target."""
    if isinstance(values, TensorBase):
        return values
    try:
        return wrap(np.asarray(values if np.ndim(values) else fitting(values, input._array.dtype)))
    except ValueError:
        raise ValueError(
            f"the values must be a number, a tensor or rows of one length, got {described(values)}"
        ) from None


def _put(target: Any, advanced: tuple[Any, ...], values: Any, *, accumulate: bool) -> None:
    require_apart(target, values)
    (values,) = cast(target._array.dtype, values)
    while values.ndim > 1 and values._array.shape[0] == 1:
        values = values[0]
    try:
        before = target if target._edge() is None and values._edge() is None else target.clone()
        result = apply(indexing.IndexPut, before, values, advanced, accumulate)
    except ValueError as error:
        raise RuntimeError(f"shape mismatch: {error}") from None
    store(target, result)


@explains_errors
def index_put_(
    input: Any,
    indices: Sequence[Tensor | None],
    values: TensorOrNumber,
    accumulate: bool = False,
) -> Tensor:
    """Write (or add) ``values`` at the places given by one index tensor an axis."""
    check_in_place(input)
    key = _places(input._array.shape, indices)
    if input.is_quantized:
        if accumulate:
            raise RuntimeError(
                "index_put(accumulate=True) is not defined for quantized tensors; "
                "call dequantize() first"
            )
        require_own_places(input)
        input._put(key, values)
        input._version[0] += 1
        return input
    refuse_foreign("index_put(): argument 'values'", values)
    refuse_quantized(values)
    if isinstance(values, TensorBase) and values._array.dtype != input._array.dtype:
        raise RuntimeError(
            f"index_put: values must have the dtype of the tensor, {input.dtype}, got "
            f"{from_numpy_dtype(values._array.dtype)}"
        )
    _put(input, key, _as_values(values, input), accumulate=accumulate)
    return input


def _places(shape: tuple[int, ...], indices: Any) -> tuple[Any, ...]:
    """The key of an index or a mask for each axis in turn, or None for the whole axis."""
    key: list[Any] = []
    position = 0
    for each in indices:
        if each is None:
            key.append(slice(None))
            position += 1
            continue
        item = _as_index(each)
        width = item.ndim if item.dtype == np.bool_ else 1
        if position + width > len(shape):
            raise IndexError(f"too many indices for tensor of dimension {len(shape)}")
        _check_advanced(item, shape, position, width)
        key.append(item)
        position += width
    if all(each is None for each in indices):
        raise IndexError("index_put: at least one of the indices must be a tensor")
    _check_together(key)
    return tuple(key)


@explains_errors
def index_put(
    input: Tensor,
    indices: Sequence[Tensor | None],
    values: TensorOrNumber,
    accumulate: bool = False,
) -> Tensor:
    """Return a copy changed by :func:`index_put_`.

    Examples
    --------
    >>> import pyqref
    >>> values = pyqref.tensor([5.0, 6.0])
    >>> pyqref.index_put(pyqref.zeros(3), (pyqref.tensor([0, 2]),), values).tolist()
    [5.0, 0.0, 6.0]
    """
    return index_put_(input.clone(), indices, values, accumulate)
