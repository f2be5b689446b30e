"""The memory that a tensor and its views share."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..devices import device as device_
from ..dtypes import dtype as dtype_
from ..tape.memory import address, storage_of

__all__ = ["TypedStorage", "UntypedStorage"]


class UntypedStorage:
    """The bytes that a tensor and its views lie in, to be looked at.

    ``Tensor.untyped_storage()`` gives it.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.zeros(2, 3)
    >>> x[0].untyped_storage().nbytes(), len(x.untyped_storage())
    (24, 24)
    >>> x[1].untyped_storage().data_ptr() == x.data_ptr()
    True
    """

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self._array = storage_of(array)

    @property
    def device(self) -> device_:
        """Always ``cpu``."""
        return device_("cpu")

    def nbytes(self) -> int:
        """Length in bytes."""
        return int(self._array.nbytes)

    def size(self) -> int:
        """Number of elements, which are bytes."""
        return len(self)

    def data_ptr(self) -> int:
        """Address of the first byte."""
        return address(self._array) if self._array.size else 0

    def element_size(self) -> int:
        """Bytes of one element."""
        return self.nbytes() // len(self) if len(self) else 1

    def tolist(self) -> list[Any]:
        """The elements, in the order in which they lie in memory."""
        found: list[Any] = self._elements().tolist()
        return found

    def _elements(self) -> np.ndarray[Any, Any]:
        return np.frombuffer(self._flat(), np.uint8)

    def _flat(self) -> np.ndarray[Any, Any]:
        """The elements of the array that owns the memory, in their order there."""
        return self._array.ravel(order="K")

    def __getitem__(self, index: int) -> float:
        return self._elements()[index].item()

    def __len__(self) -> int:
        return self.nbytes()

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.nbytes()

    def __repr__(self) -> str:
        return f"{type(self).__name__} of {len(self)} elements"


class TypedStorage(UntypedStorage):
    """The elements that a tensor and its views lie in, to be looked at.

    ``Tensor.storage()`` gives it.

    Attributes
    ----------
    dtype
        The type of the elements.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> x.t()[1].storage().tolist()
    [1.0, 2.0, 3.0, 4.0]
    """

    def __init__(self, array: np.ndarray[Any, Any], dtype: dtype_) -> None:
        super().__init__(array)
        self.dtype = dtype

    def untyped(self) -> UntypedStorage:
        """Return the same memory as bytes."""
        return UntypedStorage(self._array)

    def _elements(self) -> np.ndarray[Any, Any]:
        return self._flat()

    def __len__(self) -> int:
        return int(self._array.size)
