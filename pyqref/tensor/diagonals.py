"""Diagonals and triangles of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Tensor
from ..tape import shape as operations
from .arguments import as_integer
from .axes import axis_of
from .dispatch import apply
from .layout import clone
from .wrong_arguments import explain_errors

__all__ = ["diag", "diagonal", "tril", "triu"]


def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The diagonal of two axes, as last axis; a view.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.diagonal(pyqref.tensor([[1, 2], [3, 4]]), 1).tolist()
    [2]
    """
    first, second = axis_of(dim1, input.ndim), axis_of(dim2, input.ndim)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    # Beyond the corners there are no elements, and NumPy takes a C int.
    offset = as_integer(offset, "diagonal: offset")
    lengths = input._array.shape
    offset = min(max(offset, -lengths[first]), lengths[second])
    return apply(operations.Diagonal, input, offset, first, second)


_diagonal = diagonal
"""The function under a name that the argument ``diagonal`` below does not hide."""


def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """The diagonal of a matrix, or the matrix with a given diagonal.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.diag(pyqref.tensor([1, 2])).tolist()
    [[1, 0], [0, 2]]
    >>> pyqref.diag(pyqref.tensor([[1, 2], [3, 4]])).tolist()
    [1, 4]
    """
    if input.ndim not in (1, 2):
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input.ndim}D")
    if input.ndim == 2:
        return clone(_diagonal(input, diagonal))
    size = input._array.shape[0] + abs(as_integer(diagonal, "diag: diagonal"))
    matrix = input.new_zeros(size, size)
    _diagonal(matrix, diagonal).copy_(input)
    return matrix


def tril(input: Tensor, diagonal: int = 0) -> Tensor:
    """The lower triangle of the last two axes; zero elsewhere.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.tril(pyqref.tensor([[1, 2], [3, 4]])).tolist()
    [[1, 0], [3, 4]]
    """
    return _triangle(np.tril, input, diagonal)


def triu(input: Tensor, diagonal: int = 0) -> Tensor:
    """The upper triangle of the last two axes; zero elsewhere.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.triu(pyqref.tensor([[1, 2], [3, 4]])).tolist()
    [[1, 2], [0, 4]]
    """
    return _triangle(np.triu, input, diagonal)


def _triangle(function: Any, input: Any, diagonal: int) -> Any:
    if input.ndim < 2:
        raise RuntimeError(f"{function.__name__}: input tensor must have at least 2 dimensions")
    rows, columns = input._array.shape[-2:]
    # Beyond the corners nothing changes.
    diagonal = min(max(as_integer(diagonal, f"{function.__name__}: diagonal"), -rows), columns)
    return apply(operations.Triangle, input, function, diagonal)


explain_errors(globals())
