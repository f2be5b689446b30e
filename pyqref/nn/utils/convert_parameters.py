"""All parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..._typing import Tensor
from ...tensor.base import TensorBase
from ...tensor.joining import cat

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def parameters_to_vector(parameters: Iterable[Any]) -> Tensor:
    """The elements of all parameters, one after the other; gradients flow through.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.Linear(3, 2)
    >>> pyqref.nn.utils.parameters_to_vector(layer.parameters()).shape
    pyqref.Size([8])
    """
    return cat([parameter.reshape(-1) for parameter in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Any]) -> None:
    """Write the elements of a vector into the parameters, in their order.

    Raises
    ------
    TypeError
        ``vec`` is no tensor.
    ValueError
        It has another number of elements than the parameters together; none is changed.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.Linear(1, 2)
    >>> pyqref.nn.utils.vector_to_parameters(pyqref.arange(4.0), layer.parameters())
    >>> layer.weight.tolist(), layer.bias.tolist()
    ([[0.0], [1.0]], [2.0, 3.0])
    """
    if not isinstance(vec, TensorBase):
        raise TypeError(f"expected pyqref.Tensor, but got: {type(vec).__name__}")
    targets = list(parameters)
    needed = sum(parameter._array.size for parameter in targets)
    if vec._array.size != needed:
        raise ValueError(
            f"vec must have as many elements as the parameters together, {needed}, "
            f"got {vec._array.size}"
        )
    start = 0
    for parameter in targets:
        stop = start + parameter._array.size
        np.copyto(parameter._array, vec._array[start:stop].reshape(parameter._array.shape))
        parameter._version[0] += 1
        start = stop
