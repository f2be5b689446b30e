"""Results that the arithmetic of another system puts in the place of the engine's kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import _kernels
from ..._typing import Array
from ...backends import quantized as settings
from ...numerics.elementwise import Grid

__all__ = ["clamped_elsewhere", "function_elsewhere", "keeps_engine", "replaced"]


def replaced(operation: str, method: str, *given: object) -> Array | None:
    """Return the result of the arithmetic in use, or None if the engine is to compute it.

    Parameters
    ----------
    operation
        For messages, as ``"quantized.add"``.
    method
        Of :class:`pyqref.arithmetic.Arithmetic`, as ``"add"``.
    given
        Its arguments.

    Examples
    --------
    >>> replaced("quantized.add", "add") is None  # no other arithmetic is in use
    True
    """
    model = settings.arithmetic
    if model is None:
        return None
    result = getattr(model, method)(*given)
    if result is None:
        _told(operation, method)
    return result


def function_elsewhere(
    operation: str, q: np.ndarray, grid: Grid, out: Grid, function: Callable[[Any], Any]
) -> np.ndarray | None:
    """A real function of integers in the arithmetic in use; None if the engine is to compute it.

    Of bytes, each of the 256 values is computed only once.

    Examples
    --------
    >>> function_elsewhere("tanh", np.uint8([9]), Grid(1.0, 0), Grid(0.01, 0), np.tanh) is None
    True
    """
    if settings.arithmetic is None:
        return None
    if q.dtype.itemsize > 1:
        made: np.ndarray | None = replaced(operation, "function", q, grid, out, function)
        return made
    every = np.arange(256, dtype=np.uint8).view(q.dtype)
    table = replaced(operation, "function", every, grid, out, function)
    return None if table is None else _kernels.look_up(table, q)


def keeps_engine(operation: str) -> None:
    """Tell the arithmetic in use that no arithmetic replaces this operation.

    Examples
    --------
    >>> keeps_engine("quantized.softmax")
    """
    if settings.arithmetic is not None:
        _told(operation, None)


def _told(operation: str, method: str | None) -> None:
    if settings.kept is not None:
        settings.kept(operation, method)


def clamped_elsewhere(
    operation: str, q: np.ndarray, grid: Grid, low: float | None, high: float | None
) -> np.ndarray | None:
    """Integers clamped to bounds that the arithmetic in use quantizes; None: the engine does it.

    Examples
    --------
    >>> clamped_elsewhere("quantized.relu6", np.uint8([9]), Grid(1.0, 0), 0.0, 6.0) is None
    True
    """
    for bound, inner in ((low, np.maximum), (high, np.minimum)):
        if bound is not None:
            end = replaced(operation, "quantize", np.float32(bound), grid)
            if end is None:
                return None
            q = np.asarray(inner(q, end))
    return None if settings.arithmetic is None else q
