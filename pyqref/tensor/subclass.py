"""Conversion of a tensor to an object of another class."""

from __future__ import annotations

from typing import Any

from .._typing import Tensor
from .base import TensorBase
from .shape import view

__all__ = ["as_subclass"]


def as_subclass(input: Tensor, cls: type[Any]) -> Any:
    """The tensor, its memory and its place in the graph, as an object of ``cls``.

    Parameters
    ----------
    cls
        A class derived from :class:`~pyqref.Tensor`, or that class.

    Raises
    ------
    TypeError
        ``cls`` is no class of tensors, or one of quantized tensors and the tensor is not.

    Examples
    --------
    >>> import pyqref
    >>> class Image(pyqref.Tensor):
    ...     pass
    >>> x = pyqref.zeros(2)
    >>> image = x.as_subclass(Image)
    >>> x[0] = 1.0
    >>> type(image).__name__, image.tolist()
    ('Image', [1.0, 0.0])
    """
    if not (isinstance(cls, type) and issubclass(cls, TensorBase)):
        raise TypeError(f"as_subclass: cls must be a class derived from Tensor, got {cls!r}")
    result = view(input, tuple(input.shape))
    base = type(result)
    is_quantized = any(each.__name__ == "QuantizedTensor" for each in cls.__mro__)
    if not issubclass(cls, base) or is_quantized != input.is_quantized:
        kind = "quantized" if input.is_quantized else "not quantized"
        raise TypeError(
            f"as_subclass: a tensor that is {kind} cannot be of the class {cls.__name__}; derive "
            f"the class from {base.__name__}"
        )
    result.__class__ = cls
    return result
