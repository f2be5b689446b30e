"""Filters times windows as columns, with the channels first, by the kernel in use."""

from __future__ import annotations

import numpy as np

from pyqref._kernels import registry
from pyqref._kernels.layout import contiguous, empty
from pyqref.numerics.types import FloatArray
from pyqref.numerics.windows import Windows

from .products import image_of, plane_of
from .rows import geometry_of

__all__ = ["multiply_columns"]

_FLOAT32 = np.dtype(np.float32)


def multiply_columns(
    x: FloatArray,
    windows: Windows,
    filters: FloatArray,
    bias: FloatArray | None,
    step: int,
    share: int,
    n_threads: int,
) -> FloatArray | None:
    """Filters ``(outputs, C * K)`` times the windows, plus a bias: ``(N, outputs, *size)``.

    The products of ``step`` pixels and ``share`` outputs at a time are those of ``@``, bit for bit.
    None where no kernel covers it.

    Examples
    --------
    >>> windows = Windows.make((1,), (1,), (0,), (1,))
    >>> x, filters = np.zeros((1, 2, 3)), np.zeros((4, 2))  # of float64
    >>> multiply_columns(x, windows, filters, None, 3, 4, 1)
    """
    kernel, size = registry.twin("windows"), x.shape[2:]
    arrays = [x, filters] if bias is None else [x, filters, bias]
    if kernel is None or not 1 <= len(size) <= 2 or not kernel.has_products():
        return None
    if any(each.dtype != _FLOAT32 or each.size == 0 for each in arrays):
        return None
    count = windows.output_size(size)
    out: FloatArray = empty((len(x), len(filters), *count), _FLOAT32)
    if out.size:
        kernel.multiply_columns(
            image_of(contiguous(x)),
            contiguous(filters),
            None if bias is None else contiguous(bias),
            image_of(out),
            (*plane_of(count), *plane_of(windows.kernel)),
            geometry_of(windows),
            windows.are_pixels(),
            step,
            share,
            n_threads,
        )
    return out
