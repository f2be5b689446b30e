"""Sums, means, extremes: one number from many."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..dtypes import dtype as dtype_
from ..tape import reduction
from .arguments import as_flag
from .arithmetic import maximum, minimum
from .axes import axes_of, axis_of
from .base import TensorBase, wrap
from .dispatch import apply, refuse_quantized
from .promotion import cast, promote, to_floating
from .return_types import RETURN_TYPES, AMinMax

__all__ = [
    "all",
    "amax",
    "amin",
    "aminmax",
    "any",
    "argmax",
    "argmin",
    "count_nonzero",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "diff",
    "dist",
    "logsumexp",
    "max",
    "mean",
    "min",
    "nanmean",
    "nansum",
    "norm",
    "prod",
    "std",
    "std_mean",
    "sum",
    "var",
    "var_mean",
]


def _summed_type(input: Any, dtype: dtype_ | None) -> Any:
    """Integers and bools are summed as int64."""
    if dtype is not None:
        return cast(dtype.numpy_dtype, input)[0]
    if input._array.dtype.kind in "biu" and not input.is_quantized:
        return cast(np.dtype(np.int64), input)[0]
    return input


def sum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: dtype_ | None = None) -> Any:
    """Sum over the axes ``dim`` (all of them if None); integers are summed as int64."""
    input = _summed_type(input, dtype)
    keepdim = as_flag(keepdim, "sum(): keepdim")
    return apply(reduction.Sum, input, axes_of(dim, input.ndim), keepdim)


def nansum(
    input: Any, dim: Any = None, keepdim: bool = False, *, dtype: dtype_ | None = None
) -> Any:
    """Sum that takes nan as zero."""
    mask = wrap(np.isnan(input._array))
    return sum(input.masked_fill(mask, 0), dim, keepdim, dtype=dtype)


def mean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: dtype_ | None = None) -> Any:
    """Mean over the axes ``dim``, of a floating point tensor."""
    if dtype is not None:
        input = cast(dtype.numpy_dtype, input)[0]
    if input._array.dtype.kind != "f" and not input.is_quantized:
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point "
            f"or complex dtype. Got: {input.dtype}"
        )
    keepdim = as_flag(keepdim, "mean(): keepdim")
    return apply(reduction.Mean, input, axes_of(dim, input.ndim), keepdim)


def prod(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: dtype_ | None = None) -> Any:
    """Product over the axis ``dim`` (over all if None)."""
    input = _summed_type(input, dtype)
    return apply(reduction.Prod, input, axes_of(dim, input.ndim), keepdim)


def _spread(
    operation: Any, input: Any, dim: Any, unbiased: Any, keepdim: bool, correction: Any
) -> Any:
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if unbiased is not None:
        correction = 1 if unbiased else 0
    if input._array.dtype.kind != "f" and not input.is_quantized:
        raise RuntimeError("std and var only support floating point dtypes")
    correction = 1 if correction is None else correction
    return apply(operation, input, axes_of(dim, input.ndim), keepdim, correction)


def var(
    input: Any,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Any:
    """Variance over ``dim``: the sum of squares is divided by count - correction (1)."""
    return _spread(reduction.Var, input, dim, unbiased, keepdim, correction)


def std(
    input: Any,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Any:
    """Standard deviation over ``dim``: the square root of :func:`var`."""
    return _spread(reduction.Std, input, dim, unbiased, keepdim, correction)


def var_mean(
    input: Any,
    dim: Any = None,
    unbiased: Any = None,
    keepdim: bool = False,
    *,
    correction: Any = None,
) -> Any:
    """Variance and mean."""
    return var(input, dim, unbiased, keepdim, correction=correction), mean(input, dim, keepdim)


def std_mean(
    input: Any,
    dim: Any = None,
    unbiased: Any = None,
    keepdim: bool = False,
    *,
    correction: Any = None,
) -> Any:
    """Standard deviation and mean."""
    return std(input, dim, unbiased, keepdim, correction=correction), mean(input, dim, keepdim)


def _extreme(operation: Any, name: str, input: Any, dim: Any, keepdim: bool) -> Any:
    axes = axes_of(dim, input.ndim)
    every = dim is None or dim == ()
    if input._array.size == 0 and every:
        raise RuntimeError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. "
            "Specify the reduction dim with the 'dim' argument."
        )
    for axis in axes:
        if input._array.shape[axis] == 0:
            raise IndexError(f"{name}(): Expected reduction dim {axis} to have non-zero size.")
    return apply(operation, input, axes, keepdim)


def amax(input: Any, dim: Any = (), keepdim: bool = False) -> Any:
    """Largest element over ``dim``; ties share the gradient."""
    return _extreme(reduction.Amax, "amax", input, dim, keepdim)


def amin(input: Any, dim: Any = (), keepdim: bool = False) -> Any:
    """Smallest element over ``dim``; ties share the gradient."""
    return _extreme(reduction.Amin, "amin", input, dim, keepdim)


def aminmax(input: Any, *, dim: Any = None, keepdim: bool = False) -> AMinMax:
    """Smallest and largest element."""
    return AMinMax(amin(input, dim, keepdim), amax(input, dim, keepdim))


def _extreme_along(operation: Any, name: str, input: Any, dim: Any, keepdim: bool) -> Any:
    axis = axis_of(dim, input.ndim)
    if input.ndim and input._array.shape[axis] == 0:
        raise IndexError(f"{name}(): Expected reduction dim {axis} to have non-zero size.")
    keepdim = as_flag(keepdim, f"{name}(): keepdim")
    return RETURN_TYPES[name](*apply(operation, input, axis, keepdim))


def max(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Largest element; with ``dim``, values and indices along that axis.

    ``max(a, b)`` with two tensors is :func:`maximum`.
    """
    if isinstance(dim, TensorBase):
        return maximum(input, dim)
    if dim is None:
        return _extreme(reduction.Max, "max", input, (), keepdim)
    return _extreme_along(reduction.MaxDim, "max", input, dim, keepdim)


def min(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Smallest element; with ``dim``, values and indices along that axis."""
    if isinstance(dim, TensorBase):
        return minimum(input, dim)
    if dim is None:
        return _extreme(reduction.Min, "min", input, (), keepdim)
    return _extreme_along(reduction.MinDim, "min", input, dim, keepdim)


def _arg(function: Any, input: Any, dim: Any, keepdim: bool) -> Any:
    array = input._array
    if array.size == 0 and dim is None:
        raise IndexError(
            f"{function.__name__}(): Expected reduction dim to be specified for "
            "input.numel() == 0. "
            "Specify the reduction dim with the 'dim' argument."
        )
    if dim is None:
        found = np.asarray(function(array))
        return wrap(found.reshape((1,) * array.ndim) if keepdim else found)
    axis = axis_of(dim, array.ndim)
    if array.ndim == 0:
        return wrap(np.zeros((), dtype=np.int64))
    if array.shape[axis] == 0:
        raise IndexError(
            f"{function.__name__}(): Expected reduction dim {axis} to have non-zero size."
        )
    return wrap(np.asarray(function(array, axis=axis, keepdims=keepdim)))


def argmax(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Index of the (first) largest element, in the flattened tensor or along ``dim``."""
    return _arg(np.argmax, input, dim, keepdim)


def argmin(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Index of the (first) smallest element, in the flattened tensor or along ``dim``."""
    return _arg(np.argmin, input, dim, keepdim)


def _logical(function: Any, input: Any, dim: Any, keepdim: bool) -> Any:
    refuse_quantized(function.__name__, input)
    axes = axes_of(dim, input.ndim)
    result = np.asarray(function(input._array, axis=axes, keepdims=keepdim))
    return wrap(result.astype(np.uint8) if input._array.dtype == np.uint8 else result)


def all(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Whether every element is non-zero."""
    return _logical(np.all, input, dim, keepdim)


def any(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Whether some element is non-zero."""
    return _logical(np.any, input, dim, keepdim)


def count_nonzero(input: Any, dim: Any = None) -> Any:
    """Number of non-zero elements."""
    refuse_quantized("count_nonzero", input)
    return wrap(np.asarray(np.count_nonzero(input._array, axis=axes_of(dim, input.ndim))))


def norm(
    input: Any,
    p: Any = "fro",
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: dtype_ | None = None,
) -> Any:
    """``(sum |x|**p) ** (1/p)``; ``p`` is a number, ``inf``, ``-inf`` or ``"fro"`` (2)."""
    if dtype is not None:
        input = cast(dtype.numpy_dtype, input)[0]
    if input._array.dtype.kind != "f":
        raise RuntimeError(
            "norm(): Expected a floating point tensor as input. Got: " + str(input.dtype)
        )
    order = 2.0 if p is None or p == "fro" else float(p)
    return apply(reduction.Norm, input, axes_of(dim, input.ndim), keepdim, order)


def logsumexp(input: Any, dim: Any, keepdim: bool = False) -> Any:
    """``log(sum(exp(input)))`` over ``dim``, without overflow."""
    (input,) = to_floating(input)
    return apply(reduction.Logsumexp, input, axes_of(dim, input.ndim), keepdim)


def cumsum(input: Any, dim: int, *, dtype: dtype_ | None = None) -> Any:
    """Running sum along ``dim``."""
    input = _summed_type(input, dtype)
    return apply(reduction.Cumsum, input, axis_of(dim, input.ndim))


def cumprod(input: Any, dim: int, *, dtype: dtype_ | None = None) -> Any:
    """Running product along ``dim``."""
    input = _summed_type(input, dtype)
    return apply(reduction.Cumprod, input, axis_of(dim, input.ndim))


def nanmean(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Mean of the elements that are not nan."""
    mask = wrap(np.isnan(input._array))
    count = sum(~mask, dim, keepdim)
    return sum(input.masked_fill(mask, 0), dim, keepdim) / count


def cummax(input: Any, dim: int) -> Any:
    """Running maximum along ``dim``, and where it was (last) reached."""
    return _running(np.maximum, "cummax", input, dim)


def cummin(input: Any, dim: int) -> Any:
    """Running minimum along ``dim``, and where it was (last) reached."""
    return _running(np.minimum, "cummin", input, dim)


def _running(function: Any, name: str, input: Any, dim: int) -> Any:
    axis = axis_of(dim, input.ndim)
    array = input._array
    if array.ndim == 0:
        return RETURN_TYPES[name](input.clone(), wrap(np.zeros((), dtype=np.int64)))
    shape = [-1 if other == axis else 1 for other in range(array.ndim)]
    place = np.arange(array.shape[axis]).reshape(shape)
    reached = array == function.accumulate(array, axis=axis)
    if array.dtype.kind == "f":
        reached = reached | np.isnan(array)
    index = np.maximum.accumulate(np.where(reached, place, 0), axis=axis)
    return RETURN_TYPES[name](input.gather(axis, wrap(index)), wrap(index))


def diff(input: Any, n: int = 1, dim: int = -1) -> Any:
    """Differences of neighbours along ``dim``, taken ``n`` times."""
    axis = axis_of(dim, input.ndim)
    for _ in range(n):
        length = input._array.shape[axis]
        input = input.narrow(axis, 1, length - 1) - input.narrow(axis, 0, length - 1)
    return input


def dist(input: Any, other: Any, p: float = 2) -> Any:
    """Norm of the difference."""
    a, b = promote(input, other)
    return norm(a - b, p if p != math.inf else math.inf)
