"""New tensors in the shape or the type of another one."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Array, CreationOptions, Ints, Tensor, Unpack
from ..dtypes import dtype as dtype_
from ..dtypes import preserve_format
from .base import wrap
from .creation import empty, full, made, numpy_type, ones, tensor, zeros
from .promotion import fitting
from .wrong_arguments import explain_errors

__all__ = [
    "empty_like",
    "full_like",
    "new_empty",
    "new_full",
    "new_ones",
    "new_tensor",
    "new_zeros",
    "ones_like",
    "zeros_like",
]


#: What needs no look at the order of an array in C order.
_OF_SHAPE: dict[Any, Any] = {np.zeros_like: np.zeros, np.ones_like: np.ones}


def _like(input: Any, maker: Any, options: Any, *args: Any) -> Any:
    if not options and not input.is_quantized and input._array.flags.c_contiguous:
        of_shape = _OF_SHAPE.get(maker)
        if of_shape is not None:
            return wrap(of_shape(input._array.shape, input._array.dtype))
    if input.is_quantized and "dtype" not in options:
        result = input._like(np.empty(input._array.shape, input._array.dtype))
        return result.fill_(*args) if args else result.fill_(maker(np.float32(0)).item())
    dtype = options.pop("dtype", None)
    memory_format = options.pop("memory_format", None) or preserve_format
    requires_grad, device = options.pop("requires_grad", False), options.pop("device", None)
    for ignored in ("layout", "pin_memory"):
        options.pop(ignored, None)
    if options:
        unknown = next(iter(options))
        raise TypeError(f"{maker.__name__}() got an unexpected keyword argument {unknown!r}")
    wanted = input._array.dtype if dtype is None else numpy_type(dtype)
    result = made(maker(input._array, *args, dtype=wanted), False, device)
    if memory_format is not preserve_format:
        result = result.contiguous(memory_format=memory_format)
    if requires_grad:
        result.requires_grad = True
    return result


def zeros_like(input: Tensor, **options: Unpack[CreationOptions]) -> Tensor:
    """Zeros in the shape, type and memory order of ``input``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.zeros_like(pyqref.tensor([[5, 6]])).tolist()
    [[0, 0]]
    """
    return _like(input, np.zeros_like, options)


def ones_like(input: Tensor, **options: Unpack[CreationOptions]) -> Tensor:
    """Ones in the shape, type and memory order of ``input``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.ones_like(pyqref.tensor([[5, 6]])).tolist()
    [[1, 1]]
    """
    return _like(input, np.ones_like, options)


def empty_like(input: Any, **options: Unpack[CreationOptions]) -> Tensor:
    """Return zeros like :func:`zeros_like`; a quantized tensor keeps its quantizer.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.empty_like(pyqref.ones(2, 3, dtype=pyqref.float64)).dtype
    pyqref.float64
    """
    if input.is_quantized and "dtype" not in options:
        return input._like(np.zeros_like(input._array))
    return _like(input, np.zeros_like, options)


def full_like(input: Tensor, fill_value: float, **options: Unpack[CreationOptions]) -> Tensor:
    """One number in the shape, type and memory order of ``input``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.full_like(pyqref.zeros(2), 7).tolist()
    [7.0, 7.0]
    """
    number = fill_value.item() if hasattr(fill_value, "item") else fill_value
    if not input.is_quantized or "dtype" in options:
        dtype = options.get("dtype")
        number = fitting(number, input._array.dtype if dtype is None else numpy_type(dtype))
    return _like(input, np.full_like, options, number)


def new_tensor(
    input: Tensor, data: Array, *, dtype: dtype_ | None = None, requires_grad: bool = False
) -> Tensor:
    """:func:`tensor` in the type of ``input``."""
    if dtype is None and isinstance(data, np.ndarray):
        return made(data.copy(), requires_grad)
    return tensor(data, dtype=dtype or input.dtype, requires_grad=requires_grad)


def new_zeros(input: Tensor, *size: Ints, **options: Unpack[CreationOptions]) -> Tensor:
    """:func:`zeros` in the type of ``input``."""
    return zeros(*size, **{"dtype": input.dtype, **_given(options)})


def new_ones(input: Tensor, *size: Ints, **options: Unpack[CreationOptions]) -> Tensor:
    """:func:`ones` in the type of ``input``."""
    return ones(*size, **{"dtype": input.dtype, **_given(options)})


def new_empty(input: Tensor, *size: Ints, **options: Unpack[CreationOptions]) -> Tensor:
    """:func:`empty` in the type of ``input``."""
    return empty(*size, **{"dtype": input.dtype, **_given(options)})


def new_full(
    input: Tensor, size: Ints, fill_value: float, **options: Unpack[CreationOptions]
) -> Tensor:
    """:func:`full` in the type of ``input``."""
    return full(size, fill_value=fill_value, **{"dtype": input.dtype, **_given(options)})


def _given(options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


explain_errors(globals())
