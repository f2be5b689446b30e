"""To other types, and between tensors, NumPy arrays and Python numbers."""

from __future__ import annotations

import math
from typing import Any, overload

import numpy as np
from numpy.typing import DTypeLike

from .. import dtypes
from .._typing import Array, Device, Dtype, Ints, MemoryFormat, Tensor
from ..devices import device as device_
from ..devices import refuse_move, require_cpu
from ..dtypes import dtype as dtype_
from ..dtypes import preserve_format
from ..tape.shape import Cast, Copy
from .base import TensorBase, wrap
from .dispatch import apply, require_tensor
from .foreign import array_of_torch, is_torch_tensor
from .layout import clone, contiguous
from .memory import require_memory
from .promotion import fitting
from .storing import check_in_place, require_apart, store
from .wrong_arguments import explains_errors

__all__ = ["from_dlpack"]


def to(input: Tensor, *args: Dtype | Device | Tensor | bool, **kwargs: Any) -> Tensor:
    """The tensor in another dtype (or on a device, or like another tensor).

    ``to(dtype)``, ``to(device)``, ``to(device, dtype)``, ``to(other)``; options ``dtype``,
    ``device``, ``copy``, ``memory_format``, ``non_blocking``. The tensor itself is returned
    if nothing changes and ``copy`` is false.
    """
    wanted = kwargs.pop("dtype", None)
    device = kwargs.pop("device", None)
    copy = kwargs.pop("copy", False)
    memory_format = kwargs.pop("memory_format", preserve_format)
    kwargs.pop("non_blocking", None)
    if kwargs:
        raise TypeError(f"to() got an unexpected keyword argument {next(iter(kwargs))!r}")
    for arg in args:
        if isinstance(arg, dtype_):
            wanted = arg
        elif isinstance(arg, TensorBase):
            wanted = arg.dtype
        elif isinstance(arg, (str, device_, int)) and not isinstance(arg, bool):
            device = arg
        elif not isinstance(arg, bool) and arg is not None:
            raise TypeError(f"to() takes a dtype, a device or a tensor, got {arg!r}")
    if device is not None:
        require_cpu(device, "Tensor.to(): ", "leave the call out, or use device='cpu'")
    if wanted is not None and wanted is not input.dtype:
        _check_cast(input, wanted)
        return apply(Cast, input, wanted.numpy_dtype)
    if memory_format is not preserve_format:
        return contiguous(input, memory_format)
    return clone(input) if copy else input


def _check_cast(input: Any, wanted: dtype_) -> None:
    if input.is_quantized:
        raise RuntimeError(
            f"a quantized tensor cannot be converted to {wanted}; call dequantize() first"
        )
    if wanted.is_quantized:
        raise RuntimeError(
            f"conversion to {wanted} needs a scale and a zero point; use quantize_per_tensor"
        )


@overload
def type_(input: Tensor, dtype: None = None) -> str: ...


@overload
def type_(input: Tensor, dtype: Dtype) -> Tensor: ...


def type_(input: Tensor, dtype: Dtype | None = None) -> str | Tensor:
    """The name of the type, such as ``'pyqref.FloatTensor'``; with ``dtype``, :func:`to`.

    A ``dtype`` may also be such a name, which may begin with ``torch`` as in a script for it, or
    the class of that name.
    """
    if dtype is None:
        return f"pyqref.{_TYPE_NAMES[input.dtype]}"
    if isinstance(dtype, type) and dtype.__name__ in _TYPE_NAMES.values():
        dtype = dtype.__name__
    if isinstance(dtype, str):
        name = dtype.removeprefix("torch.").removeprefix("pyqref.")
        by_name = {each: number for number, each in _TYPE_NAMES.items()}
        if name not in by_name:
            raise ValueError(f"type(): dtype must be one of {', '.join(by_name)}, got {dtype!r}")
        dtype = by_name[name]
    return to(input, dtype)


_TYPE_NAMES = {
    dtypes.float16: "HalfTensor",
    dtypes.float32: "FloatTensor",
    dtypes.float64: "DoubleTensor",
    dtypes.uint8: "ByteTensor",
    dtypes.int8: "CharTensor",
    dtypes.int16: "ShortTensor",
    dtypes.int32: "IntTensor",
    dtypes.int64: "LongTensor",
    dtypes.bool_: "BoolTensor",
    dtypes.quint8: "quantized.QUInt8Tensor",
    dtypes.qint8: "quantized.QInt8Tensor",
    dtypes.qint32: "quantized.QInt32Tensor",
    dtypes.quint4x2: "quantized.QUInt4x2Tensor",
    dtypes.quint2x4: "quantized.QUInt2x4Tensor",
}


def float_(input: Tensor) -> Tensor:
    """``to(float32)``."""
    return to(input, dtypes.float32)


def double(input: Tensor) -> Tensor:
    """``to(float64)``."""
    return to(input, dtypes.float64)


def half(input: Tensor) -> Tensor:
    """``to(float16)``."""
    return to(input, dtypes.float16)


def int_(input: Tensor) -> Tensor:
    """``to(int32)``."""
    return to(input, dtypes.int32)


def long(input: Tensor) -> Tensor:
    """``to(int64)``."""
    return to(input, dtypes.int64)


def short(input: Tensor) -> Tensor:
    """``to(int16)``."""
    return to(input, dtypes.int16)


def char(input: Tensor) -> Tensor:
    """``to(int8)``."""
    return to(input, dtypes.int8)


def byte(input: Tensor) -> Tensor:
    """``to(uint8)``."""
    return to(input, dtypes.uint8)


def bool_(input: Tensor) -> Tensor:
    """``to(bool)``."""
    return to(input, dtypes.bool_)


def cuda(input: Tensor, device: Any = None, non_blocking: bool = False) -> Tensor:
    """Refused: there is no other device than the CPU."""
    given = f"cuda:{device}" if isinstance(device, int) else device or "cuda"
    refuse_move("Tensor.cuda()", given)
    return input


def cpu(input: Tensor) -> Tensor:
    """The tensor itself: every tensor is on the CPU."""
    return input


def type_as(input: Tensor, other: Tensor) -> Tensor:
    """``to(other.dtype)``."""
    require_tensor("type_as", "other", other)
    return to(input, other.dtype)


def item(input: TensorBase) -> float:
    """The only element, as a Python number.

    Raises
    ------
    RuntimeError
        There is not exactly one element.
    """
    if input._array.size != 1:
        raise RuntimeError(
            f"a Tensor with {input._array.size} elements cannot be converted to Scalar"
        )
    return _plain(input).reshape(()).item()


def tolist(input: Tensor) -> Any:
    """The elements as nested lists of Python numbers."""
    return _plain(input).tolist()


def _plain(input: Any) -> Any:
    return input.dequantize()._array if input.is_quantized else input._array


def numpy(input: Tensor, *, force: bool = False) -> Array:
    """A NumPy array on the same memory.

    Raises
    ------
    RuntimeError
        The tensor requires a gradient; call ``detach()`` first, or give ``force=True``.
    TypeError
        The tensor is quantized.
    """
    if input.is_quantized:
        raise TypeError(
            f"numpy() of a tensor of {input.dtype} is not defined; use int_repr().numpy() or "
            "dequantize().numpy()"
        )
    if input.requires_grad and not force:
        raise RuntimeError(
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
        )
    return input._array.view()


def as_array(input: Tensor, dtype: DTypeLike | None = None, copy: bool | None = None) -> Array:
    """Return the result of ``numpy.asarray(tensor)``."""
    array = numpy(input)
    if dtype is not None and array.dtype != dtype:
        return array.astype(dtype)
    return array.copy() if copy else array


def dlpack(input: Tensor, **options: Any) -> object:
    """The capsule through which other libraries share the memory."""
    if input.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    return numpy(input).__dlpack__(**options)


def dlpack_device(input: Tensor) -> tuple[int, int]:
    """Kind and number of the device, in DLPack's numbering."""
    return numpy(input).__dlpack_device__()


@explains_errors
def from_dlpack(ext_tensor: Array) -> Tensor:
    """A tensor on the memory of another library's tensor (through ``__dlpack__``).

    Of a tensor of ``torch`` that requires a gradient, the numbers are taken.

    Examples
    --------
    >>> import numpy
    >>> import pyqref
    >>> pyqref.from_dlpack(numpy.ones(2, numpy.float32)).tolist()
    [1.0, 1.0]
    """
    array = (
        array_of_torch(ext_tensor) if is_torch_tensor(ext_tensor) else np.from_dlpack(ext_tensor)
    )
    dtypes.from_numpy_dtype(array.dtype)
    return wrap(array)


def copy_(input: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """Copy the elements of ``src`` into ``input``; shapes are broadcast, types converted."""
    check_in_place(input)
    if isinstance(src, (int, float, np.number, np.bool_)):
        src = wrap(np.asarray(src))
    require_tensor("copy_", "other", src)
    if src.is_quantized:
        raise RuntimeError(
            "copying from a quantized tensor to one that is not is not allowed; "
            "use dequantize() to get a float tensor"
        )
    require_apart(input, src)
    store(input, apply(Copy, input, src))
    return input


@explains_errors
def fill_(input: Tensor, value: Any) -> Tensor:
    """Write one number everywhere."""
    if not isinstance(value, TensorBase):
        return copy_(input, wrap(np.asarray(fitting(value, input._array.dtype))))
    if value._array.ndim:
        raise RuntimeError(
            "fill_ only supports 0-dimension value tensor but got tensor with "
            f"{value._array.ndim} dimensions."
        )
    own: Any = value
    return copy_(input, clone(own))  # which may be one of the elements


def zero_(input: Tensor) -> Tensor:
    """Write zero everywhere."""
    return fill_(input, 0)


@explains_errors
def resize_(input: Tensor, *sizes: Ints, memory_format: MemoryFormat | None = None) -> Tensor:
    """Change the shape; the elements are kept in order, new ones are zero."""
    from .axes import shape_argument

    shape = shape_argument(sizes)
    if input.requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    if input.is_quantized and input.qscheme().is_per_channel:
        raise RuntimeError(
            "resize_() would mix the channels of a per channel quantized tensor; "
            "call dequantize() first"
        )
    array = input._array
    count = math.prod(shape)
    if any(length < 0 for length in shape):
        raise RuntimeError(f"resize_(): the shape must not be negative, got {list(shape)}")
    require_memory(shape, array.itemsize, "resize_: a tensor")
    if count <= array.size and array.flags.c_contiguous:
        input._array = array.reshape(-1)[:count].reshape(shape)
    else:
        larger = np.zeros(count, dtype=array.dtype)
        kept = min(count, array.size)
        larger[:kept] = array.reshape(-1)[:kept]
        input._array = larger.reshape(shape)
        input._base = None
    input._version[0] += 1
    return input


@explains_errors
def resize_as_(input: Tensor, other: Tensor) -> Tensor:
    """``input.resize_(other.shape)``."""
    return resize_(input, *other.shape)


def set_(input: Tensor, source: Tensor) -> Tensor:
    """Make ``input`` share the memory, shape and strides of ``source``."""
    require_tensor("set_", "source", source)
    if source.dtype is not input.dtype:
        remedy = "; call dequantize() first" if source.is_quantized else ""
        remedy = "; call quantize_per_tensor() first" if input.is_quantized else remedy
        raise RuntimeError(
            f"set_: a tensor of {input.dtype} cannot take the memory of one of {source.dtype}"
            f"{remedy}"
        )
    input._array = source._array
    if input.is_quantized:
        input._quantizer = source._quantizer
    input._version[0] += 1
    return input
