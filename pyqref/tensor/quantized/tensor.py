"""The class :class:`QuantizedTensor`: integers that stand for real numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._insides.numpy_errors import quiet
from ..._kernels.layout import PART
from ..._kernels.parts import parts, under
from ..._typing import Index, Number, Self, TensorOrNumber
from ...backends import quantized as settings
from ...dtypes import dtype as dtype_
from ...dtypes import per_channel_affine
from ...dtypes import qscheme as qscheme_
from ...numerics.embedding import pack_bits
from ...tape import Array
from .. import conversion, indexing
from ..arguments import as_number, described
from ..base import TensorBase, quantized_leaf, set_quantized_type, wrap, wrap_quantized
from ..printing import array_text, ends, tensor_repr, with_suffixes
from ..storing import require_apart, require_own_places
from ..tensor import Tensor
from ..wrong_arguments import explains_errors
from .assigning import numbers_of, put_numbers
from .quantizer import (
    PerChannelQuantizer,
    PerTensorQuantizer,
    memory_order,
    per_channel_quantizer,
    per_tensor_quantizer,
)

__all__ = ["QuantizedTensor", "make_per_channel", "make_per_tensor", "make_quantized", "number_of"]


class QuantizedTensor(Tensor):
    """A tensor whose elements are integers with a scale and a zero point.

    It is made by :func:`pyqref.quantize_per_tensor` and its like. Views share the
    integers; comparisons and printing use the real numbers they stand for.

    Attributes
    ----------
    dtype
        ``quint8``, ``qint8``, ``qint32``, ``quint4x2`` or ``quint2x4``.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.tensor([[1.0, -1.0], [1.0, -1.0]])
    >>> q = pyqref.quantize_per_tensor(x, 1.0, 2, pyqref.qint8)
    >>> q
    tensor([[ 1., -1.],
            [ 1., -1.]], size=(2, 2), dtype=pyqref.qint8, scale=1.0, zero_point=2)
    """

    is_quantized = True

    def __new__(cls, *args: object, **kwargs: object) -> Self:
        raise TypeError(
            "QuantizedTensor is not made directly; use quantize_per_tensor or quantize_per_channel"
        )

    @property
    def dtype(self) -> dtype_:
        """The quantized dtype."""
        return self._quantizer.dtype

    def _like(self, array: Array) -> Any:
        """A quantized tensor on ``array`` with the quantizer of this one."""
        return make_quantized(array, self._quantizer)

    def _alias(self) -> Any:
        alias = make_quantized(self._array, self._quantizer)
        alias._version = self._version
        return alias

    @classmethod
    def _make(cls, array: Any, like: Any) -> Any:
        return quantized_leaf(cls, array, like._quantizer)

    def _state(self) -> dict[str, Any]:
        return {"_quantizer": self._quantizer}

    def __repr__(self) -> str:
        return quantized_repr(self)

    def _repr_html_(self) -> str:
        from .html import quantized_html

        return quantized_html(self)

    # the parameters
    def qscheme(self) -> qscheme_:
        """Return the scheme of the integers, such as ``per_tensor_affine``."""
        return self._quantizer.qscheme

    def q_scale(self) -> float:
        """The scale of a per tensor quantized tensor."""
        return self._per_tensor("q_scale").scale

    def q_zero_point(self) -> int:
        """The zero point of a per tensor quantized tensor."""
        return self._per_tensor("q_zero_point").zero_point

    def q_per_channel_scales(self) -> Tensor:
        """The scales of a per channel quantized tensor, shape (C,), float64."""
        return wrap(self._per_channel("q_per_channel_scales").scales.copy())

    def q_per_channel_zero_points(self) -> Tensor:
        """The zero points of a per channel quantized tensor, shape (C,), int64."""
        return wrap(self._per_channel("q_per_channel_zero_points").zero_points.copy())

    def q_per_channel_axis(self) -> int:
        """The channel axis of a per channel quantized tensor."""
        return self._per_channel("q_per_channel_axis").axis

    def _per_tensor(self, name: str) -> PerTensorQuantizer:
        if not isinstance(self._quantizer, PerTensorQuantizer):
            raise RuntimeError(
                f"{name}() is defined for per tensor quantized tensors; this one is "
                f"{self._quantizer.qscheme._name}: use q_per_channel_scales(), "
                "q_per_channel_zero_points() and q_per_channel_axis()"
            )
        return self._quantizer

    def _per_channel(self, name: str) -> PerChannelQuantizer:
        if not isinstance(self._quantizer, PerChannelQuantizer):
            raise RuntimeError(
                f"{name}() is defined for per channel quantized tensors; this one is "
                f"{self._quantizer.qscheme._name}: use q_scale() and q_zero_point()"
            )
        return self._quantizer

    # the numbers
    def dequantize(self) -> Tensor:
        """The real numbers, as float32 tensor (equation ``eq-affine-dequantize``)."""
        return wrap(self._quantizer.dequantize(self._array))

    def int_repr(self) -> Tensor:
        """The stored integers, as a copy; of ``quint4x2`` two to a byte, the first one low.

        Of ``quint2x4`` four to a byte (equation ``eq-pack-bits``, over the ends of the rows).
        """
        if self.dtype.bits < 8:
            return wrap(pack_bits(self._array.reshape(1, -1), self.dtype.bits)[0])
        if self._array.flags.c_contiguous:
            return wrap(self._array.copy())
        order = memory_order(self._array)
        integers = np.array(self._array.transpose(order), order="C").transpose(np.argsort(order))
        return wrap(integers)

    def copy_(self, src: Tensor, non_blocking: bool = False) -> Tensor:
        """Copy ``src``: real numbers are quantized, a quantized tensor brings its quantizer."""
        if not isinstance(src, TensorBase):
            raise TypeError(f"copy_(): argument 'other' must be Tensor, not {type(src).__name__}")
        _require_broadcast("copy_: src", src._array.shape, self._array.shape)
        require_own_places(self)
        if isinstance(src, QuantizedTensor):
            if src.dtype is not self.dtype or src.qscheme() is not self.qscheme():
                raise RuntimeError(
                    "copy_: both quantized tensors must have one dtype and qscheme, got "
                    f"{self.dtype} {self.qscheme()._name} and {src.dtype} {src.qscheme()._name}"
                )
            if isinstance(src._quantizer, PerChannelQuantizer):
                try:
                    src._quantizer.check_shape(self._array.shape)
                except ValueError as error:
                    raise ValueError(f"copy_: {error}; call dequantize() on src") from None
            require_apart(self, src)
            np.copyto(self._array, src._array)
            self._quantizer = src._quantizer
        else:
            if not src.dtype.is_floating_point:
                raise RuntimeError(f"copy_: floats are needed for {self.dtype}, got {src.dtype}")
            self._write(np.broadcast_to(src._array, self._array.shape))
        self._version[0] += 1
        return self

    def fill_(self, value: TensorOrNumber) -> Tensor:
        """Write one real number, quantized, everywhere."""
        require_own_places(self)
        with quiet():
            number = np.array([as_number(number_of(value), "fill_: value")], np.float32)
        if isinstance(self._quantizer, PerTensorQuantizer):
            self._array[...] = self._quantizer.quantize(number)[0]
        else:
            self._write(np.broadcast_to(number[0], self._array.shape))
        self._version[0] += 1
        return self

    def zero_(self) -> Tensor:
        """Write the zero point everywhere."""
        return self.fill_(0.0)

    def _write(self, numbers: Array) -> None:
        """Write real numbers of this shape, some at a time."""
        with quiet():
            if numbers.size <= PART:
                self._array[...] = self._quantizer.quantize(np.asarray(numbers, np.float32))
                return
            for at in parts(self._array, most=PART):
                some = np.asarray(numbers[at], np.float32)
                self._array[at] = self._quantizer.of_part(at).quantize(some)

    def __setitem__(self, key: Index, value: object) -> None:
        basic, advanced = indexing.taken_apart(self._array.shape, key)
        target: Any = indexing.basic_view(self, basic)
        require_own_places(target)
        if advanced:
            target._put(advanced, value)
        elif isinstance(value, QuantizedTensor):
            while value.ndim > target.ndim and value._array.shape[0] == 1:
                value = value[0]
            target._take(value)
        else:
            numbers = numbers_of(value, target.ndim)
            _require_broadcast("assignment: the value", numbers.shape, target._array.shape)
            target._write(np.broadcast_to(numbers, target._array.shape))
        self._version[0] += 1

    def _take(self, values: QuantizedTensor) -> None:
        """Write the real numbers of another quantized tensor, some at a time."""
        _require_broadcast("assignment: the value", values._array.shape, self._array.shape)
        if values._array.shape == self._array.shape:
            require_apart(self, values)
        if values._quantizer == self._quantizer:
            self._array[...] = values._array
            return
        if np.may_share_memory(values._array, self._array):
            values = make_quantized(values._array.copy(), values._quantizer)
        for at in parts(self._array, most=PART):
            where: Any = under(at, values._array.shape)
            numbers = values._quantizer.of_part(where).dequantize(values._array[(*where, ...)])
            spread = np.broadcast_to(numbers, self._array[at].shape)
            self._array[at] = self._quantizer.of_part(at).quantize(spread)

    def _put(self, key: tuple[Any, ...], value: Any) -> None:
        """Write real numbers at indices, as :func:`~pyqref.tensor.indexing.taken_apart` gives."""
        if isinstance(value, QuantizedTensor):
            raise RuntimeError(
                "values written at indices of a quantized tensor must be real numbers; "
                "call dequantize() on the values"
            )
        quantizer, numbers = self._per_tensor("item assignment"), numbers_of(value, 1)
        try:
            put_numbers(self._array, key, numbers, quantizer)
        except ValueError as error:
            raise RuntimeError(f"shape mismatch: {error}") from None

    def numpy(self, *, force: bool = False) -> Array:
        """Not defined; use ``int_repr().numpy()`` or ``dequantize().numpy()``."""
        return conversion.numpy(self, force=force)


def number_of(value: TensorOrNumber) -> Number:
    """The real number that a tensor without axes is, or that a number is."""
    if isinstance(value, QuantizedTensor):
        value = value.dequantize()
    if isinstance(value, TensorBase):
        if value._array.size != 1:
            raise RuntimeError(
                f"a number, or a tensor that holds one, is wanted, got {described(value)}"
            )
        return value._array.item()
    return value


set_quantized_type(QuantizedTensor)


def _require_broadcast(what: str, shape: tuple[int, ...], target: tuple[int, ...]) -> None:
    """Raise unless an array of ``shape`` can be written into one of ``target``."""
    try:
        fits = np.broadcast_shapes(shape, target) == target
    except ValueError:
        fits = False
    if not fits:
        raise RuntimeError(f"{what} must have the shape {target}, or one of it, got {shape}")


#: A quantized tensor on these very integers (no copy), of a quantizer.
make_quantized = wrap_quantized


@explains_errors
def make_per_tensor(
    int_array: Array, scale: float, zero_point: int, dtype: dtype_
) -> QuantizedTensor:
    """Integers as a per tensor quantized tensor; nothing is quantized.

    Parameters
    ----------
    int_array
        Integers of the storage type of ``dtype``; shared, not copied.
    scale, zero_point
        How they are read.
    dtype
        A quantized dtype.

    Examples
    --------
    >>> import numpy as np
    >>> from pyqref.dtypes import quint8
    >>> make_per_tensor(np.uint8([10, 12]), 0.5, 10, quint8).dequantize().tolist()
    [0.0, 1.0]
    """
    quantizer = per_tensor_quantizer(dtype, float(scale), int(zero_point))
    return make_quantized(_storage(int_array, dtype), quantizer)


@explains_errors
def make_per_channel(
    int_array: Array,
    scales: Sequence[float] | Array,
    zero_points: Sequence[int] | Array,
    axis: int,
    dtype: dtype_,
    qscheme: qscheme_ = per_channel_affine,
) -> QuantizedTensor:
    """Integers as a per channel quantized tensor; nothing is quantized.

    Examples
    --------
    >>> import numpy as np
    >>> from pyqref.dtypes import qint8
    >>> integers = np.int8([[2, 4], [2, 4]])
    >>> x = make_per_channel(integers, [0.5, 0.25], [0, 2], 0, qint8)
    >>> x.dequantize().tolist()
    [[1.0, 2.0], [0.0, 0.5]]
    """
    quantizer = per_channel_quantizer(
        dtype, np.asarray(scales), np.asarray(zero_points), int(axis), qscheme
    )
    array = _storage(int_array, dtype)
    quantizer.check_shape(array.shape)
    return make_quantized(array, quantizer)


def _storage(array: Any, dtype: dtype_) -> Array:
    array = np.asarray(array)
    if array.dtype != dtype.numpy_dtype:
        raise TypeError(
            f"the integers of a {dtype._name} tensor are {dtype.numpy_dtype.name}, "
            f"got {array.dtype.name}"
        )
    return array


def quantized_repr(tensor: Tensor) -> str:
    """The text of a quantized tensor.

    As the documentation prints it; with conventions ``"torch"`` the quantization scheme
    stands there too, and lines are broken, as ``torch`` does it.
    """
    prefix = "tensor("
    as_torch = settings.conventions == "torch"
    quantizer = tensor._quantizer
    suffixes = [f"size={tuple(tensor._array.shape)}", f"dtype={tensor.dtype!r}"]
    if as_torch or isinstance(quantizer, PerChannelQuantizer):
        suffixes.append(f"quantization_scheme={quantizer.qscheme!r}")
    if isinstance(quantizer, PerTensorQuantizer):
        suffixes += [f"scale={quantizer.scale}", f"zero_point={quantizer.zero_point}"]
    else:
        suffixes += [
            f"scale={tensor_repr(wrap(quantizer.scales))}",
            f"zero_point={tensor_repr(wrap(quantizer.zero_points))}",
            f"axis={quantizer.axis}",
        ]
    shortened = ends(tensor._array.shape)
    for axis, places in shortened or ():
        tensor = tensor.index_select(axis, wrap(places))
    numbers = tensor._quantizer.dequantize(tensor._array)
    text = prefix + array_text(numbers, len(prefix), shortened is not None)
    if as_torch or isinstance(quantizer, PerChannelQuantizer):
        return with_suffixes(text, suffixes, len(prefix))
    return ", ".join([text, *suffixes]) + ")"
