"""Gradients of a grid that learns, by the kernel in use."""

from __future__ import annotations

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import contiguous
from pyqref._typing import Array
from pyqref.numerics.affine import along_axis
from pyqref.numerics.fake_quantize import straight_through
from pyqref.numerics.learnable_fake_quantize import (
    learnable_positions,
    learnable_scale_gradient,
    learnable_zero_point_gradient,
)
from pyqref.numerics.types import FloatArray

__all__ = ["learnable_gradients"]

_FLOAT32 = np.dtype(np.float32)
#: Up to here float32 holds the middle between two integers.
_EXACT = 2**22


def learnable_gradients(
    x: FloatArray,
    gradient: FloatArray,
    scale: Array,
    zero_point: Array,
    limits: tuple[int, int],
    factor: float = 1.0,
    axis: int | None = None,
    needs: tuple[bool, bool, bool] = (True, True, True),
) -> tuple[FloatArray | None, FloatArray | None, FloatArray | None]:
    """Gradients of ``x``, scale and zero point, those that are needed.

    ``eq-learnable-position``, ``eq-straight-through``, ``eq-learnable-scale-gradient`` and
    ``eq-learnable-zero-point-gradient``, as in :mod:`pyqref.numerics.learnable_fake_quantize`.

    Parameters
    ----------
    x, gradient
        What was quantized, and the gradient of the result.
    scale, zero_point
        float32 and whole numbers, ``(1,)`` or ``(C,)``.
    limits
        Range of the integers.
    factor
        The number by which gradients of the grid are scaled.
    axis
        That of the channels, or None.
    needs
        Whether each of the three is wanted.

    Examples
    --------
    >>> x, scale = np.float32([-1.0, 0.75, 9.0]), np.float32([0.5])
    >>> found = learnable_gradients(x, np.ones_like(x), scale, np.zeros(1), (0, 3))
    >>> [each.tolist() for each in found]
    [[0.0, 1.0, 0.0], [3.5], [-1.0]]
    """
    kernel = registry.twin("fake_quantize")
    covered = x.dtype == gradient.dtype == _FLOAT32 and x.size > 0
    if kernel is None or not covered or limits[0] < -_EXACT or limits[1] > _EXACT:
        return _by_equations(x, gradient, scale, zero_point, limits, factor, axis, needs)
    shape = x.shape
    if axis is None:
        rows = x.reshape(1, -1), gradient.reshape(1, -1)
    else:
        x, gradient = np.moveaxis(x, axis, 0), np.moveaxis(gradient, axis, 0)
        shape = x.shape
        rows = x.reshape(shape[0], -1), gradient.reshape(shape[0], -1)
    to_x, to_scale, to_zero_point = kernel.learnable_gradients(
        contiguous(rows[0]),
        contiguous(rows[1]),
        contiguous(scale.astype(_FLOAT32, copy=False)),
        contiguous(zero_point.astype(_FLOAT32)),
        *limits,
        factor,
        needs[2],
        threads.limit,
    )
    to_x = to_x.reshape(shape)
    return (
        to_x if not axis else np.ascontiguousarray(np.moveaxis(to_x, 0, axis)),
        to_scale.astype(_FLOAT32),
        None if to_zero_point is None else to_zero_point.astype(_FLOAT32),
    )


def _by_equations(
    x: FloatArray,
    gradient: FloatArray,
    scale: Array,
    zero_point: Array,
    limits: tuple[int, int],
    factor: float,
    axis: int | None,
    needs: tuple[bool, bool, bool],
) -> tuple[FloatArray | None, FloatArray | None, FloatArray | None]:
    if axis is None:
        scale, zero_point = scale.reshape(()), zero_point.reshape(())
    else:
        scale, zero_point = (along_axis(each, x.ndim, axis) for each in (scale, zero_point))
    positions = learnable_positions(x, scale, zero_point)
    rest = (*limits, factor, axis)
    to_x = to_scale = to_zero_point = None
    if needs[0]:
        to_x = straight_through(gradient, (positions >= limits[0]) & (positions <= limits[1]))
    if needs[1]:
        to_scale = learnable_scale_gradient(x, gradient, positions, scale, zero_point, *rest)
    if needs[2]:
        to_zero_point = learnable_zero_point_gradient(gradient, positions, scale, *rest)
    return (
        to_x,
        None if to_scale is None else to_scale.reshape(-1),
        None if to_zero_point is None else to_zero_point.reshape(-1),
    )
