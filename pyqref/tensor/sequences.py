"""Tensors of numbers in a row, and of indices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..dtypes import dtype as dtype_
from .base import wrap
from .creation import made, numpy_type
from .promotion import default_numpy_dtype
from .wrong_arguments import explain_errors

__all__ = [
    "arange",
    "linspace",
    "logspace",
    "tril_indices",
    "triu_indices",
]


def arange(
    start: Any,
    end: Any = None,
    step: Any = 1,
    *,
    dtype: dtype_ | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """``start, start + step, ...`` up to but without ``end``; one argument is the end.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.arange(3).tolist(), pyqref.arange(1, 2, 0.25).tolist()
    ([0, 1, 2], [1.0, 1.25, 1.5, 1.75])
    """
    if end is None:
        start, end = 0, start
    start, end, step = (_number(each) for each in (start, end, step))
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError(
            "upper bound and lower bound inconsistent with step sign: "
            f"start {start}, end {end}, step {step}"
        )
    if dtype is None:
        floating = any(isinstance(each, float) for each in (start, end, step))
        wanted = default_numpy_dtype() if floating else np.dtype(np.int64)
    else:
        wanted = numpy_type(dtype)
    count = math.ceil((end - start) / step)
    values = start + np.arange(count, dtype=np.float64 if wanted.kind == "f" else np.int64) * step
    return made(values.astype(wanted), requires_grad, device)


def _number(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def linspace(
    start: Any,
    end: Any,
    steps: int,
    *,
    dtype: dtype_ | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
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
    number = wanted.type if wanted.kind == "f" else np.float64
    if steps == 1:
        return made(np.array([start]).astype(wanted), requires_grad, device)
    step = number(number(end) - number(start)) / number(max(steps - 1, 1))
    index = np.arange(steps).astype(number)
    rising = number(start) + step * index
    falling = number(end) - step * (number(steps - 1) - index)
    values = np.where(np.arange(steps) < steps // 2, rising, falling)
    return made(values.astype(wanted), requires_grad, device)


def logspace(start: float, end: float, steps: int, base: float = 10.0, **options: Any) -> Any:
    """``base`` to the power of :func:`linspace`.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.logspace(0, 3, 4, base=2.0).tolist()
    [1.0, 2.0, 4.0, 8.0]
    """
    dtype = options.pop("dtype", None)
    powers = base ** np.linspace(start, end, steps)
    return made(powers.astype(numpy_type(dtype)), options.pop("requires_grad", False))


def tril_indices(row: int, col: int, offset: int = 0) -> Any:
    """Rows and columns of the lower triangle, shape (2, count).

    Examples
    --------
    >>> import pyqref
    >>> pyqref.tril_indices(2, 2).tolist()
    [[0, 1, 1], [0, 0, 1]]
    """
    return wrap(np.stack(np.tril_indices(row, offset, col)))


def triu_indices(row: int, col: int, offset: int = 0) -> Any:
    """Rows and columns of the upper triangle, shape (2, count).

    Examples
    --------
    >>> import pyqref
    >>> pyqref.triu_indices(2, 2).tolist()
    [[0, 0, 1], [0, 1, 1]]
    """
    return wrap(np.stack(np.triu_indices(row, offset, col)))


explain_errors(globals())
