"""Sorting, the largest k, medians, unique values, counts."""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np

from .._insides.numpy_errors import quiet
from .._typing import Tensor
from ..tape import indexing
from ..tape.quantile import METHODS, Quantile
from ..tape.reduction import Median
from .arguments import as_flag, as_integer
from .axes import axes_of, axis_of
from .base import TensorBase, wrap
from .dispatch import apply, require_tensor
from .foreign import no_tensor
from .memory import require_memory
from .refusal import refuse_quantized
from .return_types import RETURN_TYPES, ValuesIndices
from .wrong_arguments import explain_errors

__all__ = [
    "argsort",
    "bincount",
    "bucketize",
    "histc",
    "kthvalue",
    "median",
    "mode",
    "msort",
    "quantile",
    "searchsorted",
    "sort",
    "topk",
    "unique",
    "unique_consecutive",
]


def sort(
    input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False
) -> ValuesIndices:
    """Elements in order along ``dim``, and where each was; equal ones keep their order.

    Examples
    --------
    >>> import pyqref
    >>> values, indices = pyqref.sort(pyqref.tensor([3.0, 1.0, 2.0]), descending=True)
    >>> values.tolist(), indices.tolist()
    ([3.0, 2.0, 1.0], [0, 2, 1])
    """
    require_tensor("sort", "input", input)
    axis = axis_of(dim, input.ndim)
    return RETURN_TYPES["sort"](
        *apply(indexing.Sort, input, axis, as_flag(descending, "sort(): descending"), None)
    )


def argsort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """Indices that would sort along ``dim``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.argsort(pyqref.tensor([3.0, 1.0, 2.0])).tolist()
    [1, 2, 0]
    """
    require_tensor("argsort", "input", input)
    flag = as_flag(descending, "argsort(): descending")
    return apply(indexing.Argsort, input, axis_of(dim, input.ndim), flag)


def msort(input: Tensor) -> Tensor:
    """Sorted along the first axis.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.msort(pyqref.tensor([[3, 1], [2, 4]])).tolist()
    [[2, 1], [3, 4]]
    """
    require_tensor("msort", "input", input)
    return apply(indexing.Msort, input)


def topk(
    input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> ValuesIndices:
    """The ``k`` largest (or smallest) elements along ``dim``, in order, and where they were.

    Examples
    --------
    >>> import pyqref
    >>> values, indices = pyqref.topk(pyqref.tensor([3.0, 1.0, 2.0]), 2)
    >>> values.tolist(), indices.tolist()
    ([3.0, 2.0], [0, 2])
    """
    axis = axis_of(dim, input.ndim)
    length = input._array.shape[axis] if input.ndim else 1
    k, sorted = as_integer(k, "topk(): k"), as_flag(sorted, "topk(): sorted")
    if not 0 <= k <= length:
        raise RuntimeError(f"selected index k out of range: k is {k}, the axis has {length}")
    return RETURN_TYPES["topk"](
        *apply(indexing.Sort, input, axis, as_flag(largest, "topk(): largest"), k)
    )


def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> ValuesIndices:
    """The ``k``-th smallest element along ``dim`` (counted from 1), and where it was.

    Examples
    --------
    >>> import pyqref
    >>> value, index = pyqref.kthvalue(pyqref.tensor([3.0, 1.0, 2.0]), 2)
    >>> value.item(), index.item()
    (2.0, 2)
    """
    refuse_quantized(input)
    axis = axis_of(dim, input.ndim)
    length = input._array.shape[axis] if input.ndim else 1
    if not 1 <= k <= length:
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {axis}")
    values, indices = sort(input, axis)
    if input.ndim == 0:
        return RETURN_TYPES["kthvalue"](values, indices)
    values, indices = values.narrow(axis, k - 1, 1), indices.narrow(axis, k - 1, 1)
    if not keepdim:
        values, indices = values.squeeze(axis), indices.squeeze(axis)
    return RETURN_TYPES["kthvalue"](values, indices)


@overload
def median(input: Tensor, dim: None = None, keepdim: bool = False) -> Tensor: ...
@overload
def median(input: Tensor, dim: int, keepdim: bool = False) -> ValuesIndices: ...
def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor | ValuesIndices:
    """The middle element (the lower of two); with ``dim``, values and indices.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.tensor([4.0, 1.0, 2.0, 3.0])
    >>> pyqref.median(x).item()  # the lower of the two in the middle
    2.0
    """
    refuse_quantized(input)
    if dim is None:
        if input._array.size == 0:
            return wrap(np.asarray(np.nan, dtype=input._array.dtype))
        return apply(Median, input, axes_of(None, input.ndim), False)
    with_nan = np.isnan(input._array)
    if input.ndim and with_nan.any():
        axis = axis_of(dim, input.ndim)
        _, indices = median(input.masked_fill(wrap(with_nan), np.inf), dim, True)
        first = wrap(with_nan.argmax(axis=axis, keepdims=True))
        indices = first.where(wrap(with_nan.any(axis=axis, keepdims=True)), indices)
        found = (input.gather(axis, indices), indices)
        return RETURN_TYPES["median"](*(each if keepdim else each.squeeze(axis) for each in found))
    length = input._array.shape[axis_of(dim, input.ndim)] if input.ndim else 1
    return RETURN_TYPES["median"](*kthvalue(input, (length + 1) // 2, dim, keepdim))


def mode(input: Tensor, dim: int = -1, keepdim: bool = False) -> ValuesIndices:
    """The most frequent element along ``dim`` (the smallest of several), and its last place.

    Examples
    --------
    >>> import pyqref
    >>> value, index = pyqref.mode(pyqref.tensor([1, 2, 2]))
    >>> value.item(), index.item()
    (2, 2)
    """
    refuse_quantized(input)
    axis = axis_of(dim, input.ndim)
    rows = np.moveaxis(np.atleast_1d(input._array), axis, -1)
    place = np.empty((*rows.shape[:-1], 1), dtype=np.int64)
    for at in np.ndindex(rows.shape[:-1]):
        values, counts = np.unique(rows[at], return_counts=True)
        place[at] = np.flatnonzero(rows[at] == values[counts.argmax()])[-1]
    index = wrap(np.ascontiguousarray(np.moveaxis(place, -1, axis)))
    found = input.gather(axis, index) if input.ndim else input.clone()
    if input.ndim == 0:
        return RETURN_TYPES["mode"](found, index.reshape(()))
    if not keepdim:
        found, index = found.squeeze(axis), index.squeeze(axis)
    return RETURN_TYPES["mode"](found, index)


def quantile(
    input: Tensor,
    q: float,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
) -> Tensor:
    """The ``q``-th quantiles, ``q`` in [0, 1]: a number or a tensor of them.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.quantile(pyqref.tensor([0.0, 1.0, 2.0, 4.0]), 0.5).item()
    1.5
    """
    refuse_quantized(input, q)
    if input._array.dtype.kind != "f":
        raise RuntimeError(f"quantile(): input must be floating point, got {input.dtype}")
    fractions = np.asarray(getattr(q, "_array", q))
    if not ((fractions >= 0) & (fractions <= 1)).all():
        raise RuntimeError("quantile() q values must be in the range [0, 1]")
    if interpolation not in METHODS:
        raise RuntimeError(
            f"quantile(): interpolation must be one of {METHODS}, got {interpolation!r}"
        )
    axis = None if dim is None or input.ndim == 0 else axis_of(dim, input.ndim)
    return apply(Quantile, input, fractions, axis, keepdim, interpolation)


@overload
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    dim: int | None = None,
) -> Tensor: ...
@overload
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any: ...
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Tensor | tuple[Tensor, ...]:
    """The different elements (or slices along ``dim``) in order.

    Examples
    --------
    >>> import pyqref
    >>> values, counts = pyqref.unique(pyqref.tensor([3, 1, 3]), return_counts=True)
    >>> values.tolist(), counts.tolist()
    ([1, 3], [1, 2])
    """
    refuse_quantized(input)
    axis = None if dim is None else axis_of(dim, input.ndim)
    values, inverse, counts = np.unique(
        input._array, return_inverse=True, return_counts=True, axis=axis
    )
    if axis is None:
        inverse = inverse.reshape(input._array.shape)
    wanted = [wrap(values)]
    if return_inverse:
        wanted.append(wrap(np.asarray(inverse)))
    if return_counts:
        wanted.append(wrap(counts))
    return wanted[0] if len(wanted) == 1 else tuple(wanted)


def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False
) -> Any:
    """The first element of each run of equal elements.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.unique_consecutive(pyqref.tensor([3, 3, 1, 3])).tolist()
    [3, 1, 3]
    """
    refuse_quantized(input)
    flat = input._array.reshape(-1)
    starts = np.concatenate([[True], flat[1:] != flat[:-1]]) if flat.size else np.zeros(0, bool)
    wanted = [wrap(flat[starts])]
    if return_inverse:
        wanted.append(wrap((np.cumsum(starts) - 1).reshape(input._array.shape)))
    if return_counts:
        wanted.append(wrap(np.diff(np.append(np.flatnonzero(starts), flat.size))))
    return wanted[0] if len(wanted) == 1 else tuple(wanted)


def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """Count how often each of 0, 1, ... occurs (or add up its weights).

    Examples
    --------
    >>> import pyqref
    >>> pyqref.bincount(pyqref.tensor([0, 2, 2])).tolist()
    [1, 0, 2]
    """
    refuse_quantized(input, weights)
    array = input._array
    if array.ndim != 1 or array.dtype.kind not in "iu" or (array.size and array.min() < 0):
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    minlength = as_integer(minlength, "bincount: minlength")
    if minlength < 0:
        raise RuntimeError(f"bincount: minlength must be at least 0, got {minlength}")
    if weights is not None and weights._array.shape != array.shape:
        raise RuntimeError(
            f"bincount: weights must have the shape of input, {array.shape}, "
            f"got {weights._array.shape}"
        )
    length = int(array.max()) + 1 if array.size else 0
    require_memory((length if length > minlength else minlength,), 8, "bincount: a result")
    if weights is None or not array.size:
        return wrap(np.bincount(array, None, minlength))
    kind = np.float32 if weights._array.dtype == np.float32 else np.float64
    return wrap(np.bincount(array, weights._array, minlength).astype(kind))


def histc(input: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """Counts in ``bins`` equal bins from ``min`` to ``max`` (of the data, if both are 0).

    Examples
    --------
    >>> import pyqref
    >>> pyqref.histc(pyqref.tensor([0.0, 1.0, 2.0, 4.0]), bins=4, min=0, max=4).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    refuse_quantized(input)
    array = input._array.reshape(-1)
    if array.dtype.kind != "f":
        raise RuntimeError(f"histc: a floating point tensor is needed, got {input.dtype}")
    bins = as_integer(bins, "histc: bins")
    if bins <= 0:
        raise RuntimeError(f"histc: bins must be > 0, got {bins}")
    require_memory((bins,), 8, "histc: a result")
    low, high = float(min), float(max)
    if low == high and array.size:
        low, high = float(array.min()), float(array.max())
    if low == high:
        low, high = low - 1, high + 1
    if not (np.isfinite(low) and np.isfinite(high)):
        raise RuntimeError(f"range of [{low}, {high}] is not finite")
    if low > high:
        raise RuntimeError("max must be larger than min")
    number = array.dtype.type
    inside = array[(array >= low) & (array <= high)]
    with quiet():
        place = (inside - number(low)) * number(bins) / (number(high) - number(low))
        index = np.clip(place.astype(np.int64), 0, bins - 1)
    return wrap(np.bincount(index, minlength=bins).astype(array.dtype))


def searchsorted(
    sorted_sequence: Tensor, input: Tensor, *, right: bool = False, side: str | None = None
) -> Tensor:
    """Return where ``input`` would be inserted into a sorted vector, or into each sorted row.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.searchsorted(pyqref.tensor([1.0, 3.0, 5.0]), pyqref.tensor([3.0, 4.0])).tolist()
    [1, 2]
    """
    if not isinstance(input, (TensorBase, int, float)):
        raise no_tensor("searchsorted", "input", input)
    refuse_quantized(sorted_sequence, input)
    from_right = right or side == "right"
    values, rows = np.asarray(getattr(input, "_array", input)), sorted_sequence._array
    where: Literal["left", "right"] = "right" if from_right else "left"
    if rows.ndim <= 1:
        return wrap(np.asarray(np.searchsorted(rows, values, where)))
    if values.shape[:-1] != rows.shape[:-1] or values.ndim != rows.ndim:
        raise RuntimeError(
            "searchsorted: sorted_sequence must be a vector, or have the shape of input but for "
            f"the last axis, got {list(rows.shape)} and {list(values.shape)}"
        )
    found = np.empty(values.shape, np.int64)
    for index in np.ndindex(rows.shape[:-1]):
        found[index] = np.searchsorted(rows[index], values[index], where)
    return wrap(found)


def bucketize(input: Tensor, boundaries: Tensor, *, right: bool = False) -> Tensor:
    """The bucket of each element, between sorted ``boundaries``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.bucketize(pyqref.tensor([0.5, 1.0, 9.0]), pyqref.tensor([1.0, 2.0])).tolist()
    [0, 0, 2]
    """
    return searchsorted(boundaries, input, right=right)


explain_errors(globals())
