"""Products of matrices with windows as rows, some images at a time, by the kernel in use.

Each is that of :func:`~.rows.unfold_rows`, ``@`` and :func:`~.rows.fold_rows` for the same images,
bit for bit, in one call: the threads that share the images need Python for nothing in between.
"""

from __future__ import annotations

import math
from types import ModuleType

import numpy as np

from pyqref._kernels import registry
from pyqref._kernels.layout import contiguous
from pyqref.numerics.types import FloatArray
from pyqref.numerics.windows import Windows

from .rows import geometry_of

__all__ = ["gradients_of_products", "multiply_windows"]

_FLOAT32 = np.dtype(np.float32)
#: Bytes of the sums that are kept until they are added up in order.
_MOST_SUMS = 1 << 20


def multiply_windows(
    x: FloatArray, windows: Windows, filters: FloatArray, step: int, n_threads: int
) -> FloatArray | None:
    """Windows ``(N * L, K * C)`` times ``filters (outputs, K * C)``, transposed.

    Of ``step`` images at a time; None where no kernel covers it.
    """
    size, count = x.shape[2:], windows.output_size(x.shape[2:])
    kernel = _kernel_of(windows, size, x, filters)
    if kernel is None:
        return None
    out = np.empty((len(x) * math.prod(count), len(filters)), _FLOAT32)
    if out.size:
        kernel.multiply_windows(
            image_of(contiguous(x)),
            contiguous(filters),
            out,
            (*plane_of(count), *plane_of(windows.kernel)),
            geometry_of(windows),
            step,
            n_threads,
        )
    return out


def gradients_of_products(
    grad: FloatArray,
    windows: Windows,
    filters: FloatArray | None,
    x: FloatArray | None,
    shape: tuple[int, ...],
    step: int,
    n_threads: int,
) -> tuple[FloatArray | None, FloatArray | None] | None:
    """Gradients of the images, where there are filters, and of the filters, where there are images.

    ``grad`` is that of what :func:`multiply_windows` gives for images of this shape. The gradients
    of the filters from each ``step`` images are added up in order. None where no kernel covers it.
    """
    batch, channels, *size = shape
    count = windows.output_size(tuple(size))
    outputs, depth = grad.shape[1], math.prod(windows.kernel) * channels
    tasks = -(-batch // step)
    arrays = [each for each in (grad, filters, x) if each is not None]
    kernel = _kernel_of(windows, tuple(size), *arrays)
    if kernel is None or len(arrays) == 1 or 4 * tasks * outputs * depth > _MOST_SUMS:
        return None
    images = None if filters is None else np.empty(shape, _FLOAT32)
    sums = None if x is None else np.empty((tasks, outputs, depth), _FLOAT32)
    kernel.gradients_of_products(
        contiguous(grad),
        None if filters is None else contiguous(filters),
        None if images is None else image_of(images),
        None if x is None else image_of(contiguous(x)),
        sums,
        (*plane_of(count), *plane_of(windows.kernel)),
        geometry_of(windows),
        step,
        n_threads,
    )
    if sums is None:
        return images, None
    total = np.zeros((outputs, depth), _FLOAT32)
    for each in sums:
        total += each
    return images, total


def _kernel_of(windows: Windows, size: tuple[int, ...], *arrays: FloatArray) -> ModuleType | None:
    """Return the kernel that multiplies such arrays; single pixels need only a transposition."""
    kernel = registry.twin("windows")
    if kernel is None or not 1 <= len(size) <= 2 or windows.are_pixels():
        return None
    if any(each.dtype != _FLOAT32 or each.size == 0 for each in arrays):
        return None
    return kernel if kernel.has_products() else None


def plane_of(size: tuple[int, ...]) -> tuple[int, ...]:
    """Height and width; a line is a plane of one line."""
    return size if len(size) == 2 else (1, *size)


def image_of(x: FloatArray) -> FloatArray:
    """``(batch, channels, height, width)``."""
    return x if x.ndim == 4 else x[:, :, None]
