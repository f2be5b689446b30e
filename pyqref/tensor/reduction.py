"""Sums, means, extremes: one number from many."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._typing import Ints, Tensor, TensorOrNumber
from ..dtypes import dtype as dtype_
from ..tape import cumulation, reduction
from .arguments import as_flag, as_integer
from .axes import axes_of, axis_of
from .base import TensorBase, wrap
from .creation import numpy_type
from .dispatch import apply, require_tensor
from .joining import cat
from .promotion import cast, promote, to_floating
from .refusal import refuse_quantized, require_input
from .wrong_arguments import explain_errors

__all__ = [
    "all",
    "any",
    "count_nonzero",
    "cumprod",
    "cumsum",
    "diff",
    "dist",
    "logsumexp",
    "mean",
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
    require_input(input)
    if dtype is not None:
        return cast(numpy_type(dtype), input)[0]
    if input._array.dtype.kind in "biu" and not input.is_quantized:
        return cast(np.dtype(np.int64), input)[0]
    return input


def sum(
    input: Tensor, dim: Ints | None = None, keepdim: bool = False, *, dtype: dtype_ | None = None
) -> Tensor:
    """Sum over the axes ``dim`` (all of them if None); integers are summed as int64.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.sum(pyqref.tensor([[1.0, 2.0], [3.0, 4.0]]), dim=0).tolist()
    [4.0, 6.0]
    >>> pyqref.sum(pyqref.tensor([True, True])).dtype
    pyqref.int64
    """
    if dtype is not None or not isinstance(input, TensorBase) or input._array.dtype.kind != "f":
        input = _summed_type(input, dtype)
    if keepdim is not False:
        keepdim = as_flag(keepdim, "sum(): keepdim")
    return apply(reduction.Sum, input, axes_of(dim, input._array.ndim), keepdim)


def nansum(
    input: Tensor, dim: Ints | None = None, keepdim: bool = False, *, dtype: dtype_ | None = None
) -> Tensor:
    """Sum that takes nan as zero.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nansum(pyqref.tensor([1.0, float("nan"), 3.0])).item()
    4.0
    """
    refuse_quantized(input)
    mask = wrap(np.isnan(input._array))
    return sum(input.masked_fill(mask, 0), dim, keepdim, dtype=dtype)


def mean(
    input: Tensor, dim: Ints | None = None, keepdim: bool = False, *, dtype: dtype_ | None = None
) -> Tensor:
    """Mean over the axes ``dim``, of a floating point tensor.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.mean(pyqref.tensor([[1.0, 3.0], [5.0, 7.0]]), dim=1).tolist()
    [2.0, 6.0]
    """
    require_tensor("mean", "input", input)
    if dtype is not None:
        input = cast(numpy_type(dtype), input)[0]
    if input._array.dtype.kind != "f" and not input.is_quantized:
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point "
            f"or complex dtype. Got: {input.dtype}"
        )
    keepdim = as_flag(keepdim, "mean(): keepdim")
    return apply(reduction.Mean, input, axes_of(dim, input._array.ndim), keepdim)


def prod(
    input: Tensor, dim: Ints | None = None, keepdim: bool = False, *, dtype: dtype_ | None = None
) -> Tensor:
    """Product over the axis ``dim`` (over all if None).

    Examples
    --------
    >>> import pyqref
    >>> pyqref.prod(pyqref.tensor([2.0, 3.0, 4.0])).item()
    24.0
    """
    input = _summed_type(input, dtype)
    return apply(reduction.Prod, input, axes_of(dim, input._array.ndim), keepdim)


def _spread(
    operation: Any, input: Any, dim: Any, unbiased: Any, keepdim: bool, correction: Any
) -> Any:
    require_input(input)
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if unbiased is not None:
        correction = 1 if unbiased else 0
    if input._array.dtype.kind != "f" and not input.is_quantized:
        raise RuntimeError("std and var only support floating point dtypes")
    correction = 1 if correction is None else correction
    return apply(operation, input, axes_of(dim, input._array.ndim), keepdim, correction)


def var(
    input: Tensor,
    dim: Ints | bool | None = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Tensor:
    """Variance over ``dim``: the sum of squares is divided by count - correction (1).

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.tensor([1.0, 3.0])
    >>> pyqref.var(x).item(), pyqref.var(x, unbiased=False).item()
    (2.0, 1.0)
    """
    return _spread(reduction.Var, input, dim, unbiased, keepdim, correction)


def std(
    input: Tensor,
    dim: Ints | bool | None = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Tensor:
    """Standard deviation over ``dim``: the square root of :func:`var`.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.std(pyqref.tensor([1.0, 3.0]), unbiased=False).item()
    1.0
    """
    return _spread(reduction.Std, input, dim, unbiased, keepdim, correction)


def var_mean(
    input: Tensor,
    dim: Ints | bool | None = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Tensor, ...]:
    """Variance and mean.

    Examples
    --------
    >>> import pyqref
    >>> var, mean = pyqref.var_mean(pyqref.tensor([1.0, 3.0]))
    >>> var.item(), mean.item()
    (2.0, 2.0)
    """
    return var(input, dim, unbiased, keepdim, correction=correction), mean(input, dim, keepdim)


def std_mean(
    input: Tensor,
    dim: Ints | bool | None = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Tensor, ...]:
    """Standard deviation and mean.

    Examples
    --------
    >>> import pyqref
    >>> std, mean = pyqref.std_mean(pyqref.tensor([1.0, 3.0]), unbiased=False)
    >>> std.item(), mean.item()
    (1.0, 2.0)
    """
    return std(input, dim, unbiased, keepdim, correction=correction), mean(input, dim, keepdim)


def _logical(function: Any, input: Any, dim: Any, keepdim: bool) -> Any:
    refuse_quantized(input)
    axes = axes_of(dim, input._array.ndim)
    result = np.asarray(function(input._array, axis=axes, keepdims=keepdim))
    return wrap(result.astype(np.uint8) if input._array.dtype == np.uint8 else result)


def all(input: Tensor, dim: Ints | None = None, keepdim: bool = False) -> Tensor:
    """Return True if every element is non-zero.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.tensor([[1, 1], [0, 1]])
    >>> pyqref.all(x).item(), pyqref.all(x, dim=1).tolist()
    (False, [True, False])
    """
    return _logical(np.logical_and.reduce, input, dim, keepdim)


def any(input: Tensor, dim: Ints | None = None, keepdim: bool = False) -> Tensor:
    """Return True if some element is non-zero.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.tensor([[0, 0], [0, 1]])
    >>> pyqref.any(x).item(), pyqref.any(x, dim=1).tolist()
    (True, [False, True])
    """
    return _logical(np.logical_or.reduce, input, dim, keepdim)


def count_nonzero(input: Tensor, dim: Any = None, *more: int) -> Tensor:
    """Number of non-zero elements: of all, or along ``dim`` and ``more``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.count_nonzero(pyqref.tensor([[0, 1], [2, 3]]), dim=0).tolist()
    [1, 2]
    """
    refuse_quantized(input)
    axes = axes_of((dim, *more) if more else dim, input.ndim)
    return wrap(np.asarray(np.count_nonzero(input._array, axis=axes)))


def norm(
    input: Tensor,
    p: float | str = "fro",
    dim: Ints | None = None,
    keepdim: bool = False,
    *,
    dtype: dtype_ | None = None,
) -> Tensor:
    """``(sum |x|**p) ** (1/p)``; ``p`` is a number, ``inf``, ``-inf`` or ``"fro"`` (2).

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.tensor([3.0, 4.0])
    >>> pyqref.norm(x).item(), pyqref.norm(x, p=1).item()
    (5.0, 7.0)
    """
    if dtype is not None:
        input = cast(numpy_type(dtype), input)[0]
    if input._array.dtype.kind != "f":
        refuse_quantized(input)
        raise RuntimeError(
            "norm(): Expected a floating point tensor as input. Got: " + str(input.dtype)
        )
    order = 2.0 if p is None or p == "fro" else float(p)
    return apply(reduction.Norm, input, axes_of(dim, input._array.ndim), keepdim, order)


def logsumexp(input: Tensor, dim: Ints, keepdim: bool = False) -> Tensor:
    """``log(sum(exp(input)))`` over ``dim``, without overflow.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.logsumexp(pyqref.tensor([1000.0, 0.0]), 0).item()
    1000.0
    """
    (input,) = to_floating(input)
    return apply(reduction.Logsumexp, input, axes_of(dim, input._array.ndim), keepdim)


def cumsum(input: Tensor, dim: int, *, dtype: dtype_ | None = None) -> Tensor:
    """Running sum along ``dim``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.cumsum(pyqref.tensor([1.0, 2.0, 3.0]), 0).tolist()
    [1.0, 3.0, 6.0]
    """
    input = _summed_type(input, dtype)
    return apply(cumulation.Cumsum, input, axis_of(dim, input.ndim))


def cumprod(input: Tensor, dim: int, *, dtype: dtype_ | None = None) -> Tensor:
    """Running product along ``dim``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.cumprod(pyqref.tensor([1.0, 2.0, 3.0]), 0).tolist()
    [1.0, 2.0, 6.0]
    """
    input = _summed_type(input, dtype)
    return apply(cumulation.Cumprod, input, axis_of(dim, input.ndim))


def nanmean(input: Tensor, dim: Ints | None = None, keepdim: bool = False) -> Tensor:
    """Mean of the elements that are not nan.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nanmean(pyqref.tensor([1.0, float("nan"), 3.0])).item()
    2.0
    """
    refuse_quantized(input)
    mask = wrap(np.isnan(input._array))
    count = sum(~mask, dim, keepdim)
    return sum(input.masked_fill(mask, 0), dim, keepdim) / count


def diff(
    input: Tensor,
    n: int = 1,
    dim: int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
) -> Tensor:
    """Differences of neighbours along ``dim``, taken ``n`` times; of bools, whether they differ.

    Before, ``prepend`` and ``append`` are joined to ``input`` along ``dim``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.diff(pyqref.tensor([1.0, 4.0, 9.0])).tolist()
    [3.0, 5.0]
    """
    if input.ndim == 0:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    axis = axis_of(dim, input.ndim)
    if prepend is not None or append is not None:
        input = cat([each for each in (prepend, input, append) if each is not None], axis)
    # No elements are left after as many times as there are.
    for _ in range(min(as_integer(n, "diff(): n", 0), input._array.shape[axis])):
        length = max(input._array.shape[axis] - 1, 0)
        after, before = (input.narrow(axis, min(at, length), length) for at in (1, 0))
        input = after != before if input._array.dtype == np.bool_ else after - before
    return input


def dist(input: Tensor, other: TensorOrNumber, p: float = 2) -> Tensor:
    """Norm of the difference.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.dist(pyqref.tensor([3.0, 4.0]), pyqref.tensor([0.0, 0.0])).item()
    5.0
    """
    a, b = promote(input, other)
    return norm(a - b, p if p != math.inf else math.inf)


explain_errors(globals(), quiet=False)
