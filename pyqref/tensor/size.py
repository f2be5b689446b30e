"""The shape of a tensor."""

from __future__ import annotations

import math
from typing import Any, SupportsIndex, overload

__all__ = ["Size"]


class Size(tuple[int, ...]):
    """Lengths of the axes of a tensor: a tuple that prints as in ``torch``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.zeros(2, 3).shape
    pyqref.Size([2, 3])
    >>> pyqref.zeros(2, 3).shape.numel()
    6
    """

    __slots__ = ()

    def numel(self) -> int:
        """Number of elements."""
        return math.prod(self)

    def __repr__(self) -> str:
        return f"pyqref.Size({list(self)})"

    @overload
    def __getitem__(self, index: SupportsIndex) -> int: ...

    @overload
    def __getitem__(self, index: slice) -> Size: ...

    def __getitem__(self, index: Any) -> int | Size:
        picked = super().__getitem__(index)
        return Size(picked) if isinstance(index, slice) else picked

    def __add__(self, other: Any) -> Size:
        return Size(super().__add__(tuple(other)))

    def __mul__(self, times: SupportsIndex) -> Size:
        return Size(super().__mul__(times))
