r"""Resizing with a filter as wide as the step between outputs, as Pillow does it.

Output o of ``outputs`` has its centre at :math:`c = r\,(o + 1/2)` among the inputs, with
:math:`r = size / outputs`, and is the weighted mean

.. math:: y_o = \frac{\sum_i w_i\, x_i}{\sum_i w_i}, \qquad
          w_i = k\!\left(\frac{i + 1/2 - c}{\max(r, 1)}\right)

of the inputs within the filter's support, where k is the triangle :math:`1 - |t|` for
``"bilinear"`` and Keys' cubic with a = -1/2 for ``"bicubic"``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..._typing import Array, Tensor
from ...tensor import from_numpy, matmul

__all__ = ["resize_antialiased", "weights"]

#: Half the width of each filter at step 1.
_SUPPORT = {"bilinear": 1.0, "bicubic": 2.0}
_CUBIC = -0.5


def _kernel(mode: str, position: Any) -> Any:
    t = np.abs(position)
    if mode == "bilinear":
        return np.maximum(1 - t, 0)
    near = ((_CUBIC + 2) * t - (_CUBIC + 3)) * t * t + 1
    far = ((t - 5) * t + 8) * t * _CUBIC - 4 * _CUBIC
    return np.where(t < 1, near, np.where(t < 2, far, 0))


@lru_cache(maxsize=64)
def weights(
    size: int, outputs: int, mode: str, align_corners: bool = False, factor: float | None = None
) -> Array:
    """The matrix ``(outputs, size)`` that resizes one axis.

    Parameters
    ----------
    size, outputs
        Lengths of the axis before and after.
    mode
        ``"bilinear"`` or ``"bicubic"``.
    align_corners, factor
        As of :func:`~pyqref.nn.functional.interpolate`.

    Examples
    --------
    >>> weights(4, 2, "bilinear").tolist()
    [[0.42857142857142855, 0.42857142857142855, 0.14285714285714285, 0.0], \
[0.0, 0.14285714285714285, 0.42857142857142855, 0.42857142857142855]]
    """
    if align_corners:
        step = (size - 1) / (outputs - 1) if outputs > 1 else 0.0
    else:
        step = 1 / factor if factor else size / outputs
    width = max(step, 1.0)
    centre = step * (np.arange(outputs)[:, None] + 0.5)
    first = np.maximum((centre - _SUPPORT[mode] * width + 0.5).astype(np.int64), 0)
    end = np.minimum((centre + _SUPPORT[mode] * width + 0.5).astype(np.int64), size)
    index = np.arange(size)
    found = _kernel(mode, (index + 0.5 - centre) / width)
    found = np.where((index >= first) & (index < end), found, 0.0)
    return found / found.sum(1, keepdims=True)


def resize_antialiased(
    input: Tensor,
    target: Sequence[int],
    mode: str,
    align_corners: bool,
    factors: Sequence[float | None] | None,
) -> Tensor:
    """Resize the last two axes of ``(N, C, H, W)``, the columns first.

    Raises
    ------
    ValueError
        The mode has no such filter, or the input is not four-dimensional.
    """
    if mode not in _SUPPORT or input.ndim != 4:
        raise ValueError(
            "interpolate: antialias=True is for mode 'bilinear' or 'bicubic' and a 4-D input, got "
            f"mode={mode!r} and {input.ndim}-D; leave antialias out"
        )
    if not input.is_floating_point():
        raise ValueError(
            f"interpolate: antialias=True is for floating point inputs, got {input.dtype}; "
            "call input.float() first"
        )
    steps = factors if factors is not None else (None, None)
    rows, columns = (
        from_numpy(
            weights(size, outputs, mode, align_corners, step).astype(input.dtype.numpy_dtype)
        )
        for size, outputs, step in zip(input.shape[2:], target, steps, strict=True)
    )
    return matmul(rows, matmul(input, columns.t()))
