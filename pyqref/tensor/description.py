"""Properties of a tensor: shape, type, strides, and its place in memory."""

from __future__ import annotations

import builtins
import math
from typing import Any, overload

from .._typing import Derivation, Index, Self, Tensor
from ..devices import device as device_
from ..dtypes import layout as layout_
from ..dtypes import strided
from ..tape.memory import address, storage_of
from . import shape as shapes
from .arguments import as_integer
from .asking import answer_why
from .base import TensorBase, wrap
from .dispatch import require_tensor
from .foreign import kind_of
from .size import Size
from .storage import TypedStorage, UntypedStorage

__all__ = ["Description"]

_CPU = device_("cpu")


class Description(TensorBase):
    """The properties of a tensor, and the questions it answers."""

    @property
    def shape(self) -> Size:
        """Lengths of the axes."""
        return Size(self._array.shape)

    @property
    def ndim(self) -> builtins.int:
        """Number of axes."""
        return self._array.ndim

    @property
    def device(self) -> device_:
        """Always ``cpu``."""
        return _CPU

    @property
    def layout(self) -> layout_:
        """Always ``strided``."""
        return strided

    def why(self, *index: Index) -> Derivation:
        """Derive an element: return a :class:`pyqref.explaining.Derivation`.

        Parameters
        ----------
        *index
            An integer for each axis, or one tuple of them.

        Raises
        ------
        LookupError
            The tensor was not made inside of :func:`pyqref.explaining.recording`, or by an
            operation on real numbers.
        IndexError
            The index does not fit the shape.

        Examples
        --------
        >>> import pyqref
        >>> x = pyqref.tensor([0.25, 0.5])
        >>> with pyqref.explaining.recording():
        ...     y = pyqref.quantize_per_tensor(x, 0.1, 3, pyqref.quint8)
        >>> y.why(1).value
        8
        """
        return answer_why(self, index)

    @property
    def itemsize(self) -> builtins.int:
        """Bytes of one element."""
        return self._array.itemsize

    @property
    def nbytes(self) -> builtins.int:
        """Bytes of all elements."""
        return self._array.size * self._array.itemsize

    @property
    def data(self) -> Tensor:
        """Tensor with the same memory, outside the graph and with its own version count."""
        alias = self._alias()
        alias._version = [0]
        return alias

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, TensorBase):
            raise TypeError(f"data must be a Tensor, not {kind_of(value)}")
        self._array = value._array

    @property
    def T(self) -> Tensor:
        """The axes in reversed order."""
        return shapes.permute(self, *reversed(range(self.ndim)))

    @property
    def mT(self) -> Tensor:
        """The last two axes exchanged."""
        if self.ndim < 2:
            raise RuntimeError(
                f"tensor.mT is only supported on matrices or batches of matrices, got {self.ndim}-D"
            )
        return shapes.transpose(self, -2, -1)

    @property
    def real(self) -> Self:
        """The tensor itself: numbers are real."""
        return self

    is_cuda = is_sparse = is_meta = is_mkldnn = is_nested = False
    is_cpu = True
    output_nr = property(lambda self: 0 if self.is_leaf else self._goes_to.output_index)
    names = property(lambda self: (None,) * self.ndim)

    @overload
    def size(self, dim: None = None) -> Size: ...

    @overload
    def size(self, dim: builtins.int) -> builtins.int: ...

    def size(self, dim: builtins.int | None = None) -> Size | int:
        """The shape, or the length of one axis."""
        return Size(self._array.shape) if dim is None else _length(self._array.shape, dim)

    def dim(self) -> builtins.int:
        """Number of axes."""
        return self._array.ndim

    def numel(self) -> builtins.int:
        """Number of elements."""
        return self._array.size

    def element_size(self) -> builtins.int:
        """Bytes of one element."""
        return self._array.itemsize

    def stride(self, dim: builtins.int | None = None) -> tuple[int, ...]:
        """Steps between neighbours along each axis, in elements."""
        array = self._array
        if array.size:
            steps = tuple(step // array.itemsize for step in array.strides)
        else:  # NumPy gives an array without elements any strides, even 0
            lengths = [max(length, 1) for length in array.shape]
            steps = tuple(math.prod(lengths[axis + 1 :]) for axis in range(array.ndim))
        return steps if dim is None else steps[_axis(dim, self.ndim)]

    def storage_offset(self) -> builtins.int:
        """Position of the first element in the storage, in elements."""
        return (address(self._array) - address(storage_of(self._array))) // self._array.itemsize

    def untyped_storage(self) -> UntypedStorage:
        """The bytes that this tensor and its views lie in."""
        return UntypedStorage(self._array)

    def storage(self) -> TypedStorage:
        """The elements that this tensor and its views lie in."""
        return TypedStorage(self._array, self.dtype)

    def data_ptr(self) -> builtins.int:
        """Address of the first element."""
        return address(self._array) if self._array.size else 0

    def is_floating_point(self) -> builtins.bool:
        """Return True if the dtype is a floating point type."""
        return self.dtype.is_floating_point

    def is_complex(self) -> builtins.bool:
        """Always false."""
        return False

    def is_signed(self) -> builtins.bool:
        """Return True if the dtype has negative numbers."""
        return self.dtype.is_signed

    def is_same_size(self, other: Tensor) -> builtins.bool:
        """Return True if the shapes are equal."""
        require_tensor("is_same_size", "other", other)
        return self._array.shape == other._array.shape

    def is_pinned(self) -> builtins.bool:
        """Always false."""
        return False

    def is_inference(self) -> builtins.bool:
        """Always false."""
        return False

    def _alias(self) -> Any:
        """Another tensor on the same memory, outside the graph."""
        alias = wrap(self._array)
        alias._version = self._version
        return alias


def _length(shape: tuple[int, ...], dim: int) -> int:
    is_usual = type(dim) is int and 0 <= dim < len(shape)
    return shape[dim if is_usual else _axis(dim, len(shape))]


def _axis(dim: int, ndim: int) -> int:
    dim = as_integer(dim, "dim")
    if not -ndim <= dim < ndim:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], "
            f"but got {dim})"
        )
    return dim
