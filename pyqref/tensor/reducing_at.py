"""Elements that are reduced where an index sends them: sums, means, extremes of groups."""

from __future__ import annotations

from typing import Any

from .._typing import Tensor
from ..tape.scatter_reduce import IndexReduce, ScatterReduce
from .arguments import as_flag, described
from .axes import axis_of
from .dispatch import apply
from .inplace import in_place
from .picking import (
    _also_of_one_number,
    _check_scatter,
    _checked_index,
    _checked_slices,
    _with_axes,
)
from .refusal import refuse_quantized
from .wrong_arguments import explain_errors

__all__ = ["index_reduce", "scatter_reduce"]

_OF_ELEMENTS = ("sum", "prod", "mean", "amax", "amin")
_OF_SLICES = ("prod", "mean", "amax", "amin")


def _reduction(name: str, reduce: Any, known: tuple[str, ...]) -> str:
    if not isinstance(reduce, str) or reduce not in known:
        hint = "; index_add adds" if reduce == "sum" else ""
        raise RuntimeError(
            f"{name}(): reduce must be one of {', '.join(known)}, got {described(reduce)}{hint}"
        )
    return reduce


def _no_mean_of_bool(name: str, input: Any, reduce: str) -> None:
    if reduce == "mean" and input._array.dtype.kind == "b":
        raise RuntimeError(f"{name}(): the mean of bool is not defined; call .float() first")


@_also_of_one_number
def scatter_reduce(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    r"""Reduce the elements of ``src`` that ``index`` sends to one place of ``input``.

    For ``dim`` 0 and two axes, with the sum:
    :math:`out[k][j] = input[k][j] + \sum_{i: index[i][j] = k} src[i][j]`.

    Parameters
    ----------
    input
        Not quantized; a place that no index names keeps its element.
    dim
        The axis along which ``index`` sends.
    index
        int64, with as many axes as ``input``, elements in [0, input.shape[dim] - 1].
    src
        Of the dtype of ``input``, on no axis shorter than ``index``.
    reduce
        ``"sum"``, ``"prod"``, ``"mean"``, ``"amax"`` or ``"amin"``. The mean of integers is
        rounded down.
    include_self
        Whether the element of ``input`` is reduced with those that come to its place.

    Raises
    ------
    RuntimeError
        ``reduce`` is none of these, or the shapes or dtypes do not fit.
    IndexError
        An index is out of range.

    Notes
    -----
    The gradient of a largest or smallest element is shared equally by all that are equal to it.

    Examples
    --------
    >>> import pyqref
    >>> src, index = pyqref.tensor([1.0, 2.0, 3.0, 4.0]), pyqref.tensor([0, 1, 0, 1])
    >>> pyqref.scatter_reduce(pyqref.ones(3), 0, index, src, "sum").tolist()
    [5.0, 7.0, 1.0]
    >>> pyqref.zeros(3).scatter_reduce(0, index, src, "amin", include_self=False).tolist()
    [1.0, 2.0, 0.0]
    """
    axis, index, src = axis_of(dim, input.ndim), _with_axes(index), _with_axes(src)
    reduce = _reduction("scatter_reduce", reduce, _OF_ELEMENTS)
    with_self = as_flag(include_self, "scatter_reduce(): include_self")
    _check_scatter("scatter_reduce", input, axis, index, src)
    where = _checked_index("scatter_reduce", index, input._array.shape[axis])
    _no_mean_of_bool("scatter_reduce", input, reduce)
    return apply(ScatterReduce, input, axis, where, src, reduce, with_self)


@_also_of_one_number
def index_reduce(
    input: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor,
    reduce: str,
    *,
    include_self: bool = True,
) -> Tensor:
    """Reduce the slices of ``source`` that ``index`` (1-D) sends to one place along ``dim``.

    Parameters
    ----------
    input
        Not quantized; a slice that no index names stays.
    dim
        The axis of the slices.
    index
        int64, elements in [0, input.shape[dim] - 1].
    source
        As many slices as ``index`` has elements, of the dtype of ``input``.
    reduce
        ``"prod"``, ``"mean"``, ``"amax"`` or ``"amin"``; :func:`pyqref.index_add` adds.
    include_self
        Whether the slice of ``input`` is reduced with those that come to its place.

    Raises
    ------
    RuntimeError
        ``reduce`` is none of these, or the shapes or dtypes do not fit.
    IndexError
        An index is out of range.

    Examples
    --------
    >>> import pyqref
    >>> rows = pyqref.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> pyqref.index_reduce(pyqref.zeros(2, 2), 0, pyqref.tensor([1, 1]), rows, "amax").tolist()
    [[0.0, 0.0], [3.0, 4.0]]
    """
    axis = axis_of(dim, input.ndim)
    reduce = _reduction("index_reduce", reduce, _OF_SLICES)
    with_self = as_flag(include_self, "index_reduce(): include_self")
    where = _checked_slices("index_reduce", input, axis, index, source)
    refuse_quantized(input, source)
    if input._array.dtype != source._array.dtype:
        raise RuntimeError(
            f"index_reduce(): source must have the dtype of self, which is {input.dtype}, got "
            f"{source.dtype}"
        )
    _no_mean_of_bool("index_reduce", input, reduce)
    return apply(IndexReduce, input, axis, where, source, reduce, with_self)


scatter_reduce_ = in_place(scatter_reduce)
index_reduce_ = in_place(index_reduce)


explain_errors(globals())
