"""Coordinates of the points of a grid."""

from __future__ import annotations

from .._typing import Tensor
from .shape import expand, reshape
from .wrong_arguments import explain_errors

__all__ = ["meshgrid"]


def meshgrid(*tensors: Tensor, indexing: str = "ij") -> tuple[Tensor, ...]:
    """Grids of coordinates from vectors; ``indexing`` is ``"ij"`` or ``"xy"``.

    Examples
    --------
    >>> import pyqref
    >>> x, y = pyqref.tensor([1, 2]), pyqref.tensor([8, 9])
    >>> rows, columns = pyqref.meshgrid(x, y, indexing="ij")
    >>> rows.tolist(), columns.tolist()
    ([[1, 1], [2, 2]], [[8, 9], [8, 9]])
    """
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tuple(tensors[0])
    if indexing not in ("ij", "xy"):
        raise RuntimeError(f'meshgrid: indexing must be one of "xy" or "ij", got {indexing!r}')
    swap = indexing == "xy" and len(tensors) > 1
    ordered = [tensors[1], tensors[0], *tensors[2:]] if swap else list(tensors)
    shape = tuple(each._array.size for each in ordered)
    grids = [
        expand(reshape(each, [-1 if i == axis else 1 for i in range(len(shape))]), shape)
        for axis, each in enumerate(ordered)
    ]
    if swap:
        grids[0], grids[1] = grids[1], grids[0]
    return tuple(grids)


explain_errors(globals(), quiet=False)
