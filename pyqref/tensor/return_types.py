"""The named pairs that some functions return."""

from __future__ import annotations

from typing import NamedTuple

from .._typing import Tensor

__all__ = ["RETURN_TYPES", "AMinMax", "ValuesIndices"]


class ValuesIndices(NamedTuple):
    """Values, and where they were; printed under the name of the function."""

    values: Tensor
    indices: Tensor

    def __repr__(self) -> str:
        name = type(self).__name__
        return f"pyqref.return_types.{name}(\nvalues={self.values!r},\nindices={self.indices!r})"


class AMinMax(NamedTuple):
    """Smallest and largest element."""

    min: Tensor
    max: Tensor

    def __repr__(self) -> str:
        return f"pyqref.return_types.aminmax(\nmin={self.min!r},\nmax={self.max!r})"


#: For each function, its own kind of :class:`ValuesIndices`.
RETURN_TYPES: dict[str, type[ValuesIndices]] = {
    name: type(name, (ValuesIndices,), {})
    for name in ("max", "min", "sort", "topk", "kthvalue", "median", "mode", "cummax", "cummin")
}
