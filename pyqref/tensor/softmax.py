"""Softmax and its logarithm."""

from __future__ import annotations

from typing import Any

from .._typing import Tensor
from ..dtypes import dtype as dtype_
from ..tape.gated import LogSoftmax, Softmax
from .axes import axis_of
from .base import ANY_TENSOR
from .dispatch import apply
from .foreign import no_tensor

__all__ = ["log_softmax", "softmax"]


def softmax(input: Tensor, dim: int, dtype: dtype_ | None = None) -> Tensor:
    """``exp(input) / sum(exp(input))`` along ``dim``, first cast to ``dtype`` if given.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.softmax(pyqref.tensor([[1000.0, 1000.0], [0.0, 1000.0]]), 1).tolist()
    [[0.5, 0.5], [0.0, 1.0]]
    """
    return _along(Softmax, input, dim, dtype)


def log_softmax(input: Tensor, dim: int, dtype: dtype_ | None = None) -> Tensor:
    """``log(softmax(input))`` along ``dim``, computed without overflow.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.log_softmax(pyqref.tensor([0.0, 1000.0]), 0).tolist()
    [-1000.0, 0.0]
    """
    return _along(LogSoftmax, input, dim, dtype)


def _along(operation: Any, input: Any, dim: int, dtype: dtype_ | None) -> Any:
    if not isinstance(input, ANY_TENSOR):
        raise no_tensor(operation.__name__.lower(), "input", input)
    if dtype is not None:
        input = input.to(dtype)
    array = input._array
    if array.dtype.kind != "f" and not input.is_quantized:
        raise RuntimeError(
            f"{operation.__name__.lower()} is defined for floating point tensors, got {input.dtype}"
        )
    axis = axis_of(dim, array.ndim)
    if array.ndim == 0:
        return apply(operation, input.reshape(1), 0).reshape(())
    return apply(operation, input, axis)
