"""Largest and smallest elements, and where they are."""

from __future__ import annotations

from typing import Any, overload

import numpy as np

from .._insides.numpy_errors import quiet
from .._kernels.parts import first_extreme
from .._typing import Ints, Tensor
from ..tape import reduction
from .arguments import as_flag
from .arithmetic import maximum, minimum
from .axes import axes_of, axis_of
from .base import TensorBase, wrap
from .dispatch import apply
from .foreign import no_tensor
from .return_types import RETURN_TYPES, AMinMax, ValuesIndices
from .wrong_arguments import explain_errors

__all__ = [
    "amax",
    "amin",
    "aminmax",
    "argmax",
    "argmin",
    "cummax",
    "cummin",
    "max",
    "min",
]


def _extreme(operation: Any, name: str, input: Any, dim: Any, keepdim: bool) -> Any:
    if not isinstance(input, TensorBase):
        raise no_tensor(name, "input", input)
    array = input._array
    axes = axes_of(dim, array.ndim)
    if array.size:
        return apply(operation, input, axes, keepdim)
    if dim is None or dim == ():
        raise RuntimeError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. "
            "Specify the reduction dim with the 'dim' argument."
        )
    for axis in axes:
        if array.shape[axis] == 0:
            raise IndexError(f"{name}(): Expected reduction dim {axis} to have non-zero size.")
    return apply(operation, input, axes, keepdim)


def amax(input: Tensor, dim: Ints | None = (), keepdim: bool = False) -> Tensor:
    """Largest element over ``dim``; ties share the gradient.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.amax(pyqref.tensor([[1.0, 5.0], [3.0, 2.0]]), dim=1).tolist()
    [5.0, 3.0]
    """
    return _extreme(reduction.Amax, "amax", input, dim, keepdim)


def amin(input: Tensor, dim: Ints | None = (), keepdim: bool = False) -> Tensor:
    """Smallest element over ``dim``; ties share the gradient.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.amin(pyqref.tensor([[1.0, 5.0], [3.0, 2.0]]), dim=(0, 1)).item()
    1.0
    """
    return _extreme(reduction.Amin, "amin", input, dim, keepdim)


def aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False) -> AMinMax:
    """Smallest and largest element.

    Examples
    --------
    >>> import pyqref
    >>> low, high = pyqref.aminmax(pyqref.tensor([3.0, -1.0, 2.0]))
    >>> low.item(), high.item()
    (-1.0, 3.0)
    """
    return AMinMax(amin(input, dim, keepdim), amax(input, dim, keepdim))


def _extreme_along(operation: Any, name: str, input: Any, dim: Any, keepdim: bool) -> Any:
    axis = axis_of(dim, input.ndim)
    if input.ndim and input._array.shape[axis] == 0:
        raise IndexError(f"{name}(): Expected reduction dim {axis} to have non-zero size.")
    keepdim = as_flag(keepdim, f"{name}(): keepdim")
    return RETURN_TYPES[name](*apply(operation, input, axis, keepdim))


@overload
def max(input: Tensor, dim: Tensor | None = None, keepdim: bool = False) -> Tensor: ...


@overload
def max(input: Tensor, dim: int, keepdim: bool = False) -> ValuesIndices: ...


def max(
    input: Tensor, dim: Tensor | int | None = None, keepdim: bool = False
) -> Tensor | ValuesIndices:
    """Largest element; with ``dim``, values and indices along that axis.

    ``max(a, b)`` with two tensors is :func:`maximum`.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.max(pyqref.tensor([3.0, -1.0])).item()
    3.0
    >>> values, indices = pyqref.max(pyqref.tensor([[1.0, 5.0], [3.0, 2.0]]), dim=1)
    >>> values.tolist(), indices.tolist()
    ([5.0, 3.0], [1, 0])
    """
    if dim is None:
        return _extreme(reduction.Max, "max", input, None, keepdim)
    if isinstance(dim, TensorBase):
        return maximum(input, dim)
    return _extreme_along(reduction.MaxDim, "max", input, dim, keepdim)


@overload
def min(input: Tensor, dim: Tensor | None = None, keepdim: bool = False) -> Tensor: ...


@overload
def min(input: Tensor, dim: int, keepdim: bool = False) -> ValuesIndices: ...


def min(
    input: Tensor, dim: Tensor | int | None = None, keepdim: bool = False
) -> Tensor | ValuesIndices:
    """Smallest element; with ``dim``, values and indices along that axis.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.min(pyqref.tensor([3.0, -1.0])).item()
    -1.0
    >>> values, indices = pyqref.min(pyqref.tensor([[1.0, 5.0], [3.0, 2.0]]), dim=1)
    >>> values.tolist(), indices.tolist()
    ([1.0, 2.0], [0, 1])
    """
    if dim is None:
        return _extreme(reduction.Min, "min", input, None, keepdim)
    if isinstance(dim, TensorBase):
        return minimum(input, dim)
    return _extreme_along(reduction.MinDim, "min", input, dim, keepdim)


def _arg(function: Any, input: Any, dim: Any, keepdim: bool) -> Any:
    if input.is_quantized and input.qscheme().is_per_channel:
        input = input.dequantize()  # integers of two channels have no order
    array = input._array
    if array.size == 0 and dim is None:
        raise IndexError(
            f"{function.__name__}(): Expected reduction dim to be specified for "
            "input.numel() == 0. "
            "Specify the reduction dim with the 'dim' argument."
        )
    if dim is None:
        found = first_extreme(function, array, None)
        return wrap(found.reshape((1,) * array.ndim) if keepdim else found)
    axis = axis_of(dim, array.ndim)
    if array.ndim == 0:
        return wrap(np.zeros((), dtype=np.int64))
    if array.shape[axis] == 0:
        raise IndexError(
            f"{function.__name__}(): Expected reduction dim {axis} to have non-zero size."
        )
    found = first_extreme(function, array, axis)
    return wrap(np.expand_dims(found, axis) if keepdim else found)


def argmax(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Index of the (first) largest element, in the flattened tensor or along ``dim``.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.tensor([[1.0, 5.0], [3.0, 2.0]])
    >>> pyqref.argmax(x).item(), pyqref.argmax(x, 1).tolist()
    (1, [1, 0])
    """
    return _arg(np.ndarray.argmax, input, dim, keepdim)


def argmin(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Index of the (first) smallest element, in the flattened tensor or along ``dim``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.argmin(pyqref.tensor([3.0, -1.0, 2.0])).item()
    1
    """
    return _arg(np.ndarray.argmin, input, dim, keepdim)


def cummax(input: Tensor, dim: int) -> ValuesIndices:
    """Running maximum along ``dim``, and where it was (last) reached.

    Examples
    --------
    >>> import pyqref
    >>> values, indices = pyqref.cummax(pyqref.tensor([1.0, 3.0, 2.0]), 0)
    >>> values.tolist(), indices.tolist()
    ([1.0, 3.0, 3.0], [0, 1, 1])
    """
    return _running(np.maximum, "cummax", input, dim)


def cummin(input: Tensor, dim: int) -> ValuesIndices:
    """Running minimum along ``dim``, and where it was (last) reached.

    Examples
    --------
    >>> import pyqref
    >>> values, indices = pyqref.cummin(pyqref.tensor([3.0, 1.0, 2.0]), 0)
    >>> values.tolist(), indices.tolist()
    ([3.0, 1.0, 1.0], [0, 1, 1])
    """
    return _running(np.minimum, "cummin", input, dim)


def _running(function: Any, name: str, input: Any, dim: int) -> Any:
    axis = axis_of(dim, input.ndim)
    array = input._array
    if array.ndim == 0:
        return RETURN_TYPES[name](input.clone(), wrap(np.zeros((), dtype=np.int64)))
    shape = [-1 if other == axis else 1 for other in range(array.ndim)]
    place = np.arange(array.shape[axis]).reshape(shape)
    with quiet():
        reached = array == function.accumulate(array, axis=axis)
    if array.dtype.kind == "f":
        reached = reached | np.isnan(array)
    index = np.maximum.accumulate(np.where(reached, place, 0), axis=axis)
    return RETURN_TYPES[name](input.gather(axis, wrap(index)), wrap(index))


explain_errors(globals(), quiet=False)
