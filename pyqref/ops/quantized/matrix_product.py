"""Products of two quantized matrices."""

from __future__ import annotations

import numpy as np

from pyqref import _kernels
from pyqref._typing import Tensor
from pyqref.dtypes import qint8, quint8
from pyqref.tensor.quantized import make_quantized
from pyqref.tensor.quantized.other_arithmetic import replaced

from .checks import output_quantizer, require_per_tensor

__all__ = ["matmul"]


def matmul(qa: Tensor, qb: Tensor, scale: float, zero_point: int) -> Tensor:
    r"""Matrix product of two quantized tensors, on a grid of its own.

    Equation ``eq-quantized-matmul``, matrix by matrix.

    Parameters
    ----------
    qa, qb
        ``(*, M, K)`` and ``(*, K, N)``, whose leading dimensions broadcast, or vectors
        ``(K,)``; quantized per tensor, both quint8 or both qint8.
    scale, zero_point
        Of the result ``(*, M, N)``, without the dimension M or N of a vector.

    Raises
    ------
    RuntimeError
        The shapes do not fit, an argument is not quantized per tensor, or the dtypes differ.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> a = pyqref.quantize_per_tensor(pyqref.tensor([[-1.0, 2.0]]), 0.5, 10, pyqref.quint8)
    >>> b = pyqref.quantize_per_tensor(pyqref.tensor([[0.5], [1.5]]), 0.5, 10, pyqref.quint8)
    >>> ops.matmul(a, b, 0.5, 10).dequantize().tolist()
    [[2.5]]
    """
    name = "quantized.matmul"
    a = require_per_tensor(name, qa, (quint8, qint8), "qa")
    b = require_per_tensor(name, qb, (a.dtype,), "qb")
    out = output_quantizer(name, scale, zero_point, a.dtype)
    left, right = _as_matrices(name, qa._array, qb._array)
    operands = left, a.grid, right, b.grid, out.grid
    integers = replaced(name, "matmul", *operands)
    if integers is None:
        integers = _kernels.quantized_matmul(*operands)
    if qb.dim() == 1:
        integers = integers[..., 0]
    if qa.dim() == 1:
        integers = integers[..., 0, :] if qb.dim() > 1 else integers[..., 0]
    return make_quantized(integers, out)


def _as_matrices(name: str, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A vector on the left as one row, on the right as one column."""
    left = a[None] if a.ndim == 1 else a
    right = b[:, None] if b.ndim == 1 else b
    fits = left.ndim and right.ndim and left.shape[-1] == right.shape[-2]
    try:
        np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    except ValueError:
        fits = False
    if not fits:
        raise RuntimeError(
            f"{name}: shapes (*, M, K) and (*, K, N), whose leading dimensions broadcast, or "
            f"vectors (K,) are needed, got {a.shape} and {b.shape}"
        )
    return left, right
