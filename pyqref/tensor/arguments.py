"""Plain numbers among the arguments: taken as they are, or refused by their name."""

from __future__ import annotations

import math
from operator import index
from typing import Any

import numpy as np

from ..dtypes import dtype, qscheme
from .base import TensorBase
from .foreign import kind_of, refuse_foreign

__all__ = [
    "as_flag",
    "as_integer",
    "as_number",
    "described",
    "refused_number",
    "tensors_of",
    "with_own_dtypes",
]

_LONGEST = 60


def described(value: object) -> str:
    """A value as an error message shows it: short, and of a tensor its kind and shape.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.tensor.arguments import described
    >>> described(pyqref.ones(2, 3)), described("three")
    ('a tensor of pyqref.float32 and shape (2, 3)', "'three'")
    """
    if isinstance(value, TensorBase):
        return f"a tensor of {value.dtype} and shape {tuple(value._array.shape)}"
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} and shape {value.shape}"
    if isinstance(value, (dtype, qscheme)):
        return str(value)
    if isinstance(value, int) and value.bit_length() > 128:
        return f"an int of {value.bit_length()} bits"
    if isinstance(value, (int, float, complex, str, bytes, type(None))):
        text = repr(value)
    elif isinstance(value, (list, tuple)) and len(value) < 20:
        inner = ", ".join(described(each) for each in value)
        text = f"[{inner}]" if isinstance(value, list) else f"({inner})"
    else:
        return f"a {kind_of(value)}"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def as_number(value: Any, name: str, finite: bool = False) -> float:
    """``value`` as a float: a number, or a tensor or array with one element.

    Parameters
    ----------
    value
        What was passed.
    name
        What a message calls it.
    finite
        Refuse nan and infinity.

    Raises
    ------
    TypeError
        It is no real number.
    ValueError
        It is an int beyond all floats, or not finite where it must be.
    """
    if type(value) is not float:
        value = _single(value)
        foreign = not isinstance(value, (TensorBase, np.ndarray, type))
        if not (foreign and hasattr(value, "__float__")):
            raise TypeError(f"{name} must be a number, got {refused_number(value)}")
        try:
            value = float(value)
        except OverflowError:
            raise ValueError(f"{name} must fit a float, got {described(value)}") from None
        except (TypeError, ValueError, RuntimeError):
            raise TypeError(f"{name} must be a number, got {refused_number(value)}") from None
    if finite and not math.isfinite(value):
        raise ValueError(f"{name} must be finite, got {value}")
    return float(value)


def as_integer(value: Any, name: str, least: int | None = None) -> int:
    """``value`` as an int that fits 64 bits: an integer, or a tensor or array with one.

    Parameters
    ----------
    value
        What was passed; a float only if it is a whole number.
    name
        What a message calls it.
    least
        The smallest allowed, or None.

    Raises
    ------
    TypeError
        It is no integer.
    ValueError
        It is smaller than ``least``, or does not fit 64 bits.
    """
    if type(value) is not int:
        value = _single(value)
        if isinstance(value, (float, np.floating)) and float(value).is_integer():
            value = int(value)
        try:
            value = index(value)
        except (TypeError, RuntimeError):
            raise TypeError(f"{name} must be an integer, got {refused_number(value)}") from None
    if not -(2**63) <= value < 2**63:
        raise ValueError(f"{name} must fit 64 bits, got {described(value)}")
    if least is not None and value < least:
        raise ValueError(f"{name} must be at least {least}, got {value}")
    return int(value)


def as_flag(value: bool, name: str) -> bool:
    """``value`` as True or False: those, 0 or 1, or a tensor or array with one of them.

    Raises
    ------
    TypeError
        It is something else, such as the text ``"False"``, which is true.
    """
    if value is True or value is False:
        return bool(value)
    single = _single(value)
    if not isinstance(single, (int, np.bool_, np.integer)) or single not in (0, 1):
        raise TypeError(f"{name} must be True or False, got {refused_number(value)}")
    return bool(single)


def refused_number(value: str) -> str:
    """:func:`described`, with what to do with a quantized tensor where numbers are wanted.

    Examples
    --------
    >>> import pyqref
    >>> refused_number("three")
    "'three'"
    """
    is_quantized = isinstance(value, TensorBase) and value.is_quantized
    return described(value) + ("; call dequantize() on it first" if is_quantized else "")


def _single(value: Any) -> Any:
    """The element of a tensor or array that has one and is not quantized, else ``value``."""
    array = value._array if isinstance(value, TensorBase) else value
    if not isinstance(array, np.ndarray) or array.size != 1 or array.dtype.kind not in "biuf":
        return value
    if isinstance(value, TensorBase) and value.is_quantized:
        return value
    return array.reshape(()).item()


def with_own_dtypes(arrays: list[Any]) -> list[Any]:
    """Numbers of NumPy as Python's, unless they were promoted to the dtype of the tensors.

    Any other number of NumPy would give the result its own dtype. Where there are numbers alone,
    all were promoted.

    Examples
    --------
    >>> x = np.zeros(2, np.float32)
    >>> [type(each).__name__ for each in with_own_dtypes([x, np.float32(1), np.float64(2)])]
    ['ndarray', 'float32', 'float']
    """
    known = [each.dtype for each in arrays if type(each) is np.ndarray]
    if not known:
        return arrays
    for place, each in enumerate(arrays):
        if isinstance(each, np.generic) and each.dtype not in known:
            arrays[place] = each.item()
    return arrays


def tensors_of(name: str, tensors: object) -> list[Any]:
    """The tensors of a sequence of them, which the function ``name`` takes.

    Examples
    --------
    >>> tensors_of("cat", [2])
    Traceback (most recent call last):
        ...
    TypeError: cat(): tensors must be a list of Tensors, got [2]
    """
    several: Any = tensors if isinstance(tensors, (list, tuple, TensorBase)) else (None,)
    found = list(several)
    if not all([isinstance(each, TensorBase) for each in found]):  # noqa: C419
        for each in found:
            refuse_foreign(f"{name}()", each)
        raise TypeError(f"{name}(): tensors must be a list of Tensors, got {described(tensors)}")
    return found
