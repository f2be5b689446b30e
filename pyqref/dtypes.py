"""Number types and quantization schemes: the ground floor of the package.

A :class:`dtype` says how one element is stored and, for the quantized types,
which integers it may hold. A :class:`qscheme` says how the integers of a tensor
are mapped to real numbers. Both are small constant objects compared by identity,
named as in ``torch``: ``pyqref.quint8``, ``pyqref.per_tensor_affine``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from .devices import device as device

__all__ = [
    "bool_",
    "channels_last",
    "channels_last_3d",
    "contiguous_format",
    "device",
    "dtype",
    "finfo",
    "float16",
    "float32",
    "float64",
    "from_numpy_dtype",
    "iinfo",
    "int8",
    "int16",
    "int32",
    "int64",
    "layout",
    "memory_format",
    "per_channel_affine",
    "per_channel_affine_float_qparams",
    "per_channel_symmetric",
    "per_tensor_affine",
    "per_tensor_symmetric",
    "preserve_format",
    "qint8",
    "qint32",
    "qscheme",
    "quint2x4",
    "quint4x2",
    "quint8",
    "strided",
    "uint8",
]


class _Constant:
    """A named constant of the package: one object, kept one by copy and pickle."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"pyqref.{self._name}"

    def __reduce__(self) -> str | tuple[Any, ...]:
        return _constant_by_name, (self._name,)

    def __copy__(self) -> _Constant:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> _Constant:
        return self


def _constant_by_name(name: str) -> Any:
    return globals()[_ALIASES.get(name, name)]


class dtype(_Constant):
    """Type of the elements of a tensor.

    Parameters
    ----------
    name
        The name under which it is found in the package, such as ``"quint8"``.
    numpy_dtype
        The NumPy type of one stored element; for quantized types the type of
        the stored *integer*.
    is_quantized
        Whether elements are integers that stand for real numbers through a
        scale and a zero point.
    quant_min, quant_max
        Smallest and largest stored integer, quantized types only.

    Attributes
    ----------
    bits
        Of one element; below 8, where torch keeps several elements in a byte.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.quint8
    pyqref.quint8
    >>> pyqref.quint8.quant_min, pyqref.quint8.quant_max
    (0, 255)
    >>> pyqref.float32.is_floating_point
    True
    """

    __slots__ = (
        "bits",
        "is_floating_point",
        "is_quantized",
        "is_signed",
        "itemsize",
        "numpy_dtype",
        "quant_max",
        "quant_min",
    )

    is_complex = False

    def __init__(
        self,
        name: str,
        numpy_dtype: Any,
        *,
        is_quantized: bool = False,
        quant_min: int | None = None,
        quant_max: int | None = None,
        bits: int | None = None,
    ) -> None:
        super().__init__(name)
        self.numpy_dtype = np.dtype(numpy_dtype)
        self.itemsize = self.numpy_dtype.itemsize
        self.bits = 8 * self.itemsize if bits is None else bits
        self.is_quantized = is_quantized
        self.is_floating_point = not is_quantized and self.numpy_dtype.kind == "f"
        self.is_signed = self.numpy_dtype.kind in "if"
        self.quant_min = quant_min
        self.quant_max = quant_max


class _NamedDtype(dtype):
    """A type of ``torch`` that scripts compare with and pyqref does not compute in.

    It can be named, compared and printed; a tensor of it is refused, with what to use instead.
    """

    __slots__ = ("_kind",)

    def __init__(self, name: str, itemsize: int, kind: str) -> None:
        _Constant.__init__(self, name)
        self.itemsize = itemsize
        self.bits = 8 * itemsize
        self.is_quantized = False
        self.is_floating_point = kind == "f"
        self.is_signed = kind in "fc"
        self.quant_min = self.quant_max = None
        self._kind = kind

    @property
    def is_complex(self) -> bool:  # type: ignore[override]
        """True if the numbers of the dtype are complex."""
        return self._kind == "c"

    @property
    def numpy_dtype(self) -> Any:
        """Raises: no tensor has this type."""
        from ._advice import advice

        raise TypeError(f"no tensor is of type {self._name}: {advice(f'dtype.{self._name}')}")


class qscheme(_Constant):
    """How the integers of a quantized tensor are mapped to real numbers.

    ``per_tensor`` schemes have one scale and zero point for the whole tensor,
    ``per_channel`` schemes one for each index of an axis; ``symmetric`` schemes
    put the zero point at the middle of the range.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.quantize_per_tensor(pyqref.ones(1), 1.0, 0, pyqref.quint8).qscheme()
    pyqref.per_tensor_affine
    """

    __slots__ = ("is_per_channel", "is_symmetric")

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.is_per_channel = name.startswith("per_channel")
        self.is_symmetric = name.endswith("symmetric")


class memory_format(_Constant):
    """Order of the dimensions of a tensor in memory.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.ones(1, 3, 4, 4).contiguous(memory_format=pyqref.channels_last)
    >>> x.stride()
    (48, 1, 12, 3)
    """

    __slots__ = ()


class layout(_Constant):
    """Kind of storage of a tensor; every tensor here is ``strided``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.ones(1).layout
    pyqref.strided
    """

    __slots__ = ()


float16 = dtype("float16", np.float16)
float32 = dtype("float32", np.float32)
float64 = dtype("float64", np.float64)
uint8 = dtype("uint8", np.uint8)
int8 = dtype("int8", np.int8)
int16 = dtype("int16", np.int16)
int32 = dtype("int32", np.int32)
int64 = dtype("int64", np.int64)
#: ``pyqref.bool``; the plain name stays Python's own in this file.
bool_ = dtype("bool", np.bool_)

quint8 = dtype("quint8", np.uint8, is_quantized=True, quant_min=0, quant_max=255)
qint8 = dtype("qint8", np.int8, is_quantized=True, quant_min=-128, quant_max=127)
qint32 = dtype("qint32", np.int32, is_quantized=True, quant_min=-(2**31), quant_max=2**31 - 1)
#: Two 4-bit integers a byte, for the weights of embeddings.
quint4x2 = dtype("quint4x2", np.uint8, is_quantized=True, quant_min=0, quant_max=15, bits=4)
#: Four 2-bit integers a byte.
quint2x4 = dtype("quint2x4", np.uint8, is_quantized=True, quant_min=0, quant_max=3, bits=2)

# Named, so that scripts can ask for them; no tensor is of these types.
bfloat16 = _NamedDtype("bfloat16", 2, "f")
complex32 = _NamedDtype("complex32", 4, "c")
complex64 = _NamedDtype("complex64", 8, "c")
complex128 = _NamedDtype("complex128", 16, "c")
float8_e4m3fn = _NamedDtype("float8_e4m3fn", 1, "f")
float8_e4m3fnuz = _NamedDtype("float8_e4m3fnuz", 1, "f")
float8_e5m2 = _NamedDtype("float8_e5m2", 1, "f")
float8_e5m2fnuz = _NamedDtype("float8_e5m2fnuz", 1, "f")
uint16 = _NamedDtype("uint16", 2, "u")
uint32 = _NamedDtype("uint32", 4, "u")
uint64 = _NamedDtype("uint64", 8, "u")

_ALIASES = {"bool": "bool_"}

per_tensor_affine = qscheme("per_tensor_affine")
per_channel_affine = qscheme("per_channel_affine")
per_tensor_symmetric = qscheme("per_tensor_symmetric")
per_channel_symmetric = qscheme("per_channel_symmetric")
#: Per channel with a zero point that is a float; used for embeddings.
per_channel_affine_float_qparams = qscheme("per_channel_affine_float_qparams")

contiguous_format = memory_format("contiguous_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")
preserve_format = memory_format("preserve_format")

strided = layout("strided")

_FROM_NUMPY: dict[Any, dtype] = {
    each.numpy_dtype: each
    for each in (float16, float32, float64, uint8, int8, int16, int32, int64, bool_)
}


def from_numpy_dtype(numpy_dtype: DTypeLike) -> dtype:
    """The (unquantized) dtype that stores elements of this NumPy type.

    Raises
    ------
    TypeError
        No dtype of the package stores them (complex numbers, strings, objects,
        unsigned integers of more than 8 bits).

    Examples
    --------
    >>> import numpy
    >>> from pyqref.dtypes import from_numpy_dtype
    >>> from_numpy_dtype(numpy.dtype("uint8"))
    pyqref.uint8
    """
    found = _FROM_NUMPY.get(numpy_dtype) if isinstance(numpy_dtype, np.dtype) else None
    if found is None:
        found = _FROM_NUMPY.get(np.dtype(numpy_dtype).newbyteorder("="))
    if found is None:
        names = ", ".join(each._name for each in _FROM_NUMPY.values())
        raise TypeError(f"a tensor cannot hold elements of NumPy type {numpy_dtype}; use {names}")
    return found


#: Of dtypes that are only named: bits, eps, max, tiny and resolution.
_LIMITS: dict[str, tuple[int, float, float, float, float]] = {
    "bfloat16": (16, 2.0**-7, (2 - 2.0**-7) * 2.0**127, 2.0**-126, 0.01),
    "float8_e4m3fn": (8, 2.0**-3, 448.0, 2.0**-6, 1.0),
    "float8_e5m2": (8, 2.0**-2, 57344.0, 2.0**-14, 1.0),
}


class finfo:
    """Limits of a floating point dtype: ``bits, eps, min, max, tiny, smallest_normal``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.finfo(pyqref.float32).eps
    1.1920928955078125e-07
    """

    def __init__(self, type: dtype = float32) -> None:
        if not isinstance(type, dtype) or not type.is_floating_point:
            raise TypeError(f"finfo: type must be a floating point dtype, got {type!r}")
        self.dtype = type._name
        if type._name in _LIMITS:
            self.bits, self.eps, self.max, self.tiny, self.resolution = _LIMITS[type._name]
            self.min, self.smallest_normal = -self.max, self.tiny
            return
        info = np.finfo(type.numpy_dtype)
        self.bits = info.bits
        self.eps = info.eps.item()
        self.min = info.min.item()
        self.max = info.max.item()
        self.tiny = info.tiny.item()
        self.smallest_normal = info.tiny.item()
        self.resolution = info.resolution.item()

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution}, min={self.min}, max={self.max}, "
            f"eps={self.eps}, smallest_normal={self.smallest_normal}, tiny={self.tiny}, "
            f"dtype={self.dtype})"
        )


class iinfo:
    """Limits of an integer dtype, quantized ones included: ``bits, min, max``.

    Examples
    --------
    >>> import pyqref
    >>> limits = pyqref.iinfo(pyqref.qint8)
    >>> limits.min, limits.max, limits.bits
    (-128, 127, 8)
    """

    def __init__(self, type: dtype) -> None:
        if not isinstance(type, dtype) or type.numpy_dtype.kind not in "iu":
            raise TypeError(f"iinfo: type must be an integer dtype, got {type!r}")
        info = np.iinfo(type.numpy_dtype)
        self.bits = info.bits
        self.min = info.min
        self.max = info.max
        self.dtype = type._name

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"
