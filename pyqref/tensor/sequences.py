"""Tensors of numbers in a row, and of indices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._insides.numpy_errors import quiet
from .._typing import CreationOptions, Device, Tensor, Unpack
from ..dtypes import dtype as dtype_
from .arguments import as_integer, as_number, described
from .base import wrap
from .creation import made, numpy_type
from .memory import require_memory
from .promotion import default_numpy_dtype
from .wrong_arguments import explain_errors

__all__ = [
    "arange",
    "linspace",
    "logspace",
    "tril_indices",
    "triu_indices",
]


_INT64 = np.dtype(np.int64)


def arange(
    start: Any,
    end: Any = None,
    step: Any = 1,
    *,
    dtype: dtype_ | None = None,
    device: Device = None,
    requires_grad: bool = False,
) -> Tensor:
    """``start, start + step, ...`` up to but without ``end``; one argument is the end.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.arange(3).tolist(), pyqref.arange(1, 2, 0.25).tolist()
    ([0, 1, 2], [1.0, 1.25, 1.5, 1.75])
    """
    if end is None:
        start, end = 0, start
    start, end, step = _number(start), _number(end), _number(step)
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError(
            "upper bound and lower bound inconsistent with step sign: "
            f"start {start}, end {end}, step {step}"
        )
    if dtype is None:
        floating = isinstance(start, float) or isinstance(end, float) or isinstance(step, float)
        wanted = default_numpy_dtype() if floating else _INT64
    else:
        wanted = numpy_type(dtype)
    count = _count(start, end, step)
    require_memory((count,), 8, "arange: a result")
    values = np.arange(count, dtype=np.float64 if wanted.kind == "f" else np.int64)
    if start or step != 1:
        values = start + values * step
    return made(values.astype(wanted, copy=False), requires_grad, device)


def _count(start: Any, end: Any, step: Any) -> int:
    """Return the count of the numbers; for integers exactly, as no float divides large ones."""
    if isinstance(start, int) and isinstance(end, int) and isinstance(step, int):
        for number in (start, end, step):
            if not -(2**63) <= number < 2**63:
                raise RuntimeError(f"arange: numbers must fit 64 bits, got {described(number)}")
        return -((start - end) // step)
    length = (float(end) - float(start)) / float(step)
    if not math.isfinite(length):
        raise RuntimeError(f"arange: unsupported range: {start} -> {end}")
    return math.ceil(length)


def _number(value: Any) -> Any:
    if type(value) is int or type(value) is float:
        return value
    return value.item() if hasattr(value, "item") else value


def linspace(
    start: float,
    end: float,
    steps: int,
    *,
    dtype: dtype_ | None = None,
    device: Device = None,
    requires_grad: bool = False,
) -> Tensor:
    """``steps`` numbers from ``start`` to ``end``, both included, at equal distances.

    As in ``torch`` the first half is counted from the start, the second from the end.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.linspace(-1.0, 1.0, 5).tolist()
    [-1.0, -0.5, 0.0, 0.5, 1.0]
    """
    wanted = numpy_type(dtype)
    start, end = _number(start), _number(end)
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    require_memory((steps,), 8, "linspace: a result")
    number = wanted.type if wanted.kind == "f" else np.float64
    if steps == 1:
        return made(np.array([start]).astype(wanted), requires_grad, device)
    step = number(number(end) - number(start)) / number(max(steps - 1, 1))
    index = np.arange(steps).astype(number)
    rising = number(start) + step * index
    falling = number(end) - step * (number(steps - 1) - index)
    values = np.where(np.arange(steps) < steps // 2, rising, falling)
    return made(values.astype(wanted), requires_grad, device)


def logspace(
    start: float, end: float, steps: int, base: float = 10.0, **options: Unpack[CreationOptions]
) -> Tensor:
    """``base`` to the power of :func:`linspace`.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.logspace(0, 3, 4, base=2.0).tolist()
    [1.0, 2.0, 4.0, 8.0]
    """
    dtype = options.pop("dtype", None)
    steps = as_integer(steps, "logspace: steps")
    if steps < 0:
        raise RuntimeError(f"logspace: steps must be non-negative, got {steps}")
    require_memory((steps,), 8, "logspace: a result")
    start, end = as_number(start, "logspace: start"), as_number(end, "logspace: end")
    base = as_number(base, "logspace: base")
    with quiet():
        powers = (base ** np.linspace(start, end, steps)).astype(numpy_type(dtype))
    return made(powers, options.pop("requires_grad", False))


def tril_indices(row: int, col: int, offset: int = 0) -> Tensor:
    """Rows and columns of the lower triangle, shape (2, count).

    Examples
    --------
    >>> import pyqref
    >>> pyqref.tril_indices(2, 2).tolist()
    [[0, 1, 1], [0, 0, 1]]
    """
    return wrap(np.stack(np.tril_indices(*_triangle("tril_indices", row, col, offset))))


def triu_indices(row: int, col: int, offset: int = 0) -> Tensor:
    """Rows and columns of the upper triangle, shape (2, count).

    Examples
    --------
    >>> import pyqref
    >>> pyqref.triu_indices(2, 2).tolist()
    [[0, 0, 1], [0, 1, 1]]
    """
    return wrap(np.stack(np.triu_indices(*_triangle("triu_indices", row, col, offset))))


def _triangle(name: str, row: Any, col: Any, offset: Any) -> tuple[int, int, int]:
    """Checked numbers of rows, first diagonal and number of columns, as NumPy takes them."""
    row, col = as_integer(row, f"{name}: row"), as_integer(col, f"{name}: col")
    if row < 0 or col < 0:
        raise RuntimeError(f"{name}: row and col must be non-negative, got {row} and {col}")
    # Beyond the corners nothing changes.
    offset = min(max(as_integer(offset, f"{name}: offset"), -row), col)
    # A mask of all places is made, and two indices for each under it.
    require_memory((2, row, col), 8, f"{name}: a result")
    return row, offset, col


explain_errors(globals())
