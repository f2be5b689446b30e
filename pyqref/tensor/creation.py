"""New tensors: from Python numbers, from arrays, filled, counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._insides.numpy_errors import quiet
from .._typing import (
    Array,
    CreationOptions,
    Device,
    FilledOptions,
    Ints,
    Layout,
    Tensor,
    Unpack,
)
from ..devices import require_cpu
from ..dtypes import dtype as dtype_
from .arguments import as_flag, described
from .axes import shape_argument
from .base import TensorBase, wrap
from .foreign import array_of_torch, is_torch_tensor, kind_of
from .memory import require_memory
from .promotion import default_numpy_dtype, fitting
from .wrong_arguments import explains_errors

__all__ = [
    "as_tensor",
    "empty",
    "empty_strided",
    "eye",
    "from_numpy",
    "full",
    "ones",
    "scalar_tensor",
    "tensor",
    "zeros",
]


def made(array: Array, requires_grad: bool, device: Device = None) -> Tensor:
    if device is not None:
        require_cpu(device)
    result = wrap(array)
    if requires_grad is not False and as_flag(requires_grad, "requires_grad"):
        result.requires_grad = True
    return result


def numpy_type(dtype: dtype_ | None) -> Any:
    if dtype is None:
        return default_numpy_dtype()
    if not isinstance(dtype, dtype_):
        raise TypeError(f"dtype must be a pyqref dtype such as pyqref.float32, got {dtype!r}")
    if dtype.is_quantized:
        raise RuntimeError(
            f"a tensor of {dtype} needs a scale and a zero point; use quantize_per_tensor"
        )
    return dtype.numpy_dtype


def tensor(
    data: object,
    *,
    dtype: dtype_ | None = None,
    device: Device = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A new tensor with a copy of ``data``.

    Parameters
    ----------
    data
        A number, nested lists of numbers, an array, a tensor, or a tensor of ``torch``. Python
        floats give the default dtype, ints int64, bools bool; arrays keep their type.
    dtype
        Type of the elements, if another is wanted.
    requires_grad
        Whether gradients are collected.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.tensor([[1.0, -1.0], [2.0, 0.5]])
    tensor([[ 1.0000, -1.0000],
            [ 2.0000,  0.5000]])
    """
    return made(_array_of(data, dtype).copy(), requires_grad, device)


def _array_of(data: Any, dtype: dtype_ | None) -> Any:
    wanted = None if dtype is None else numpy_type(dtype)
    if isinstance(data, TensorBase):
        if data.is_quantized:
            raise RuntimeError(
                "tensor() of a quantized tensor is not defined; use clone(), or dequantize() for "
                "its real numbers"
            )
        array = data._array
    elif is_torch_tensor(data):
        array = array_of_torch(data)
    elif isinstance(data, (np.ndarray, np.generic)) or (
        hasattr(data, "__array__") and not isinstance(data, (list, tuple))
    ):
        array = np.asarray(data)
    else:
        return _from_python(data, wanted)
    if wanted is None:
        from ..dtypes import from_numpy_dtype

        wanted = from_numpy_dtype(array.dtype).numpy_dtype
    with quiet():
        return array.astype(wanted, copy=False)


def _from_python(data: Any, wanted: Any) -> Any:
    """Numbers and nested lists of numbers or 0-dimensional tensors."""
    try:
        array = np.array(_plain(data))
    except ValueError:
        raise ValueError(
            "expected nested sequences of equal lengths (at every depth), got lists of "
            "different lengths"
        ) from None
    if array.dtype.kind not in "biuf":
        if array.dtype == object and all(isinstance(each, int) for each in array.flat):
            raise RuntimeError("Overflow when unpacking long long")
        raise TypeError(f"tensor: numbers are needed, got {data!r:.60}")
    if wanted is None:
        if array.dtype.kind == "f" or array.size == 0:
            wanted = default_numpy_dtype()
        elif array.dtype.kind == "u":
            raise RuntimeError("Overflow when unpacking long long")
        else:
            wanted = array.dtype
        if isinstance(data, (list, tuple)) and array.dtype.kind == "f":
            wanted = _common_float(data) or wanted
    if array.dtype.kind in "iuf" and wanted.kind in "iu" and array.size:
        limits = np.iinfo(wanted)
        # The largest int64 as a float is one more than it; of others the next integer is exact.
        is_float = array.dtype.kind == "f"
        beyond = array >= limits.max + 1.0 if is_float else array > limits.max
        if not limits.min <= array.min() or beyond.any():
            raise RuntimeError(f"value cannot be converted to type {wanted.name} without overflow")
    with quiet():
        return array.astype(wanted)


def _plain(data: Any) -> Any:
    if isinstance(data, (list, tuple)):
        return [_plain(each) for each in data]
    if isinstance(data, TensorBase):
        if data._array.size != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        return data._array.reshape(()).item()
    if is_torch_tensor(data):
        return array_of_torch(data).reshape(-1).tolist()[0] if data.numel() == 1 else data
    return data


def _common_float(data: Any) -> Any:
    """float64 where a list holds float64 arrays or tensors, else None."""
    first = data[0] if len(data) else None
    while isinstance(first, (list, tuple)) and first:
        first = first[0]
    if isinstance(first, np.ndarray | np.floating):
        return np.asarray(first).dtype
    return None


def as_tensor(data: Array, dtype: dtype_ | None = None, device: Device = None) -> Tensor:
    """A tensor that shares the memory of ``data`` where it can; a tensor is returned itself.

    Examples
    --------
    >>> import numpy
    >>> import pyqref
    >>> array = numpy.zeros(2, numpy.float32)
    >>> pyqref.as_tensor(array)[0] = 5.0
    >>> array.tolist()  # the memory is shared
    [5.0, 0.0]
    """
    if device is not None:
        require_cpu(device)
    if isinstance(data, TensorBase):
        given: Any = data
        return given if dtype is None or given.dtype is dtype else given.to(dtype)
    if isinstance(data, np.ndarray) or is_torch_tensor(data):
        shared = from_numpy(data if isinstance(data, np.ndarray) else array_of_torch(data))
        return shared if dtype is None or shared.dtype is dtype else shared.to(dtype)
    return tensor(data, dtype=dtype)


class _Owner:
    """Keeps foreign memory alive, and makes an array on it that counts as its owner."""

    def __init__(self, array: Array) -> None:
        self.array = array
        self.__array_interface__ = array.__array_interface__


def from_numpy(ndarray: Array) -> Tensor:
    """A tensor on the memory of a NumPy array: a change of one is seen in the other.

    Raises
    ------
    TypeError
        Not an array, or of a type that no dtype stores.
    ValueError
        A stride is negative; copy the array first.

    Examples
    --------
    >>> import numpy
    >>> import pyqref
    >>> array = numpy.zeros(2, numpy.float32)
    >>> x = pyqref.from_numpy(array)
    >>> array[0] = 7
    >>> x
    tensor([7., 0.])
    """
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {kind_of(ndarray)})")
    from ..dtypes import from_numpy_dtype

    if from_numpy_dtype(ndarray.dtype).numpy_dtype != ndarray.dtype:
        raise ValueError("given numpy array has byte order different from the native byte order")
    if any(stride < 0 for stride in ndarray.strides):
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative "
            "strides are not supported; make a copy, such as with array.copy()"
        )
    if isinstance(ndarray.base, np.ndarray) and ndarray.size:
        return wrap(np.asarray(_Owner(ndarray)))
    return wrap(ndarray.view(np.ndarray) if type(ndarray) is not np.ndarray else ndarray)


@explains_errors
def full(
    *size: Any,
    fill_value: float | None = None,
    dtype: dtype_ | None = None,
    device: Device = None,
    requires_grad: bool = False,
    layout: Layout | None = None,
) -> Tensor:
    """A tensor of shape ``size`` filled with one number.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.full((2, 2), 7).tolist()
    [[7, 7], [7, 7]]
    """
    if fill_value is None:
        size, fill_value = size[:-1], size[-1]
    if isinstance(fill_value, TensorBase):
        fill_value = fill_value.item()  # type: ignore[attr-defined]
    wanted = _type_of(fill_value) if dtype is None else numpy_type(dtype)
    if wanted.kind not in "biuf":
        raise TypeError(f"full(): fill_value must be a number, got {described(fill_value)}")
    if dtype is None and wanted.kind == "f":
        wanted = default_numpy_dtype()
    shape = _checked_shape(shape_argument(tuple(size)), wanted)
    return made(np.full(shape, fitting(fill_value, wanted), dtype=wanted), requires_grad, device)


def _type_of(fill_value: Any) -> Any:
    """Return the type of a number without a dtype; an integer is int64, and must fit it."""
    return np.dtype(np.int64) if type(fill_value) is int else np.asarray(fill_value).dtype


def _checked_shape(shape: tuple[int, ...], wanted: Any) -> tuple[int, ...]:
    for length in shape:
        if length < 0:
            raise RuntimeError(
                f"Trying to create tensor with negative dimension {length}: {list(shape)}"
            )
    require_memory(shape, wanted.itemsize)
    return shape


def _filled(maker: Any, size: tuple[Any, ...], options: Any) -> Any:
    if "size" in options:
        size = (options.pop("size"),)
    wanted = numpy_type(options.pop("dtype", None))
    requires_grad, device = options.pop("requires_grad", False), options.pop("device", None)
    for ignored in ("layout", "pin_memory"):
        options.pop(ignored, None)
    memory_format = options.pop("memory_format", None)
    if options:
        unknown = next(iter(options))
        raise TypeError(f"{maker.__name__}() got an unexpected keyword argument {unknown!r}")
    shape = _checked_shape(shape_argument(size), wanted)
    try:
        result = made(maker(shape, dtype=wanted), False, device)
    except MemoryError as error:
        raise RuntimeError(f"{maker.__name__}: the memory does not suffice: {error}") from None
    if memory_format is not None:
        result = result.contiguous(memory_format=memory_format)
    if requires_grad:
        result.requires_grad = True
    return result


def zeros(*sizes: Ints, **options: Unpack[FilledOptions]) -> Tensor:
    """A tensor of zeros; options ``dtype``, ``device``, ``requires_grad``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.zeros(2, 2).tolist()
    [[0.0, 0.0], [0.0, 0.0]]
    """
    return _filled(np.zeros, sizes, options)


def ones(*sizes: Ints, **options: Unpack[FilledOptions]) -> Tensor:
    """A tensor of ones; options ``dtype``, ``device``, ``requires_grad``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.ones(2, dtype=pyqref.int64).tolist()
    [1, 1]
    """
    return _filled(np.ones, sizes, options)


def empty(*sizes: Ints, **options: Unpack[FilledOptions]) -> Tensor:
    """A tensor of zeros (``torch`` leaves the memory as it is); options as :func:`zeros`.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.empty(2, 3).shape, pyqref.empty(2, dtype=pyqref.int8).dtype
    (pyqref.Size([2, 3]), pyqref.int8)
    """
    return _filled(np.zeros, sizes, options)


@explains_errors
def empty_strided(
    size: Sequence[int],
    stride: Sequence[int],
    *,
    dtype: dtype_ | None = None,
    **options: Any,
) -> Tensor:
    """A tensor with the given strides (in elements).

    Examples
    --------
    >>> import pyqref
    >>> pyqref.empty_strided((2, 3), (1, 2)).stride()
    (1, 2)
    """
    size, stride = tuple(size), tuple(stride)
    needed = 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True)) if 0 not in size else 0
    return zeros(needed, dtype=dtype, **options).as_strided(size, stride)


def eye(n: int, m: int | None = None, **options: Unpack[CreationOptions]) -> Tensor:
    """Ones on the diagonal, zeros elsewhere; shape ``(n, m)``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.eye(2, 3).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    return _filled(
        lambda shape, dtype: np.eye(*shape, dtype=dtype), (n, n if m is None else m), options
    )


@explains_errors
def scalar_tensor(s: float, *, dtype: dtype_ | None = None) -> Tensor:
    """A 0-dimensional tensor of the default type.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.scalar_tensor(3.5)
    tensor(3.5000)
    """
    return full((), fill_value=s, dtype=dtype or None)
