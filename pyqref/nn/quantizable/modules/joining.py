"""Joining tensors inside a layer that is quantized part by part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyqref._typing import Tensor
from pyqref.ops import quantized as ops
from pyqref.tensor.joining import cat

__all__ = ["cat_on_first_grid"]


def cat_on_first_grid(tensors: Sequence[Any], dim: int = 0) -> Tensor:
    """Tensors one after another; quantized ones on the grid of the first, which is meant here.

    Examples
    --------
    >>> import pyqref
    >>> coarse, fine = (
    ...     pyqref.quantize_per_tensor(pyqref.tensor([1.3]), scale, 0, pyqref.quint8)
    ...     for scale in (0.5, 0.1)
    ... )
    >>> cat_on_first_grid([coarse, fine]).dequantize().tolist()
    [1.5, 1.5]
    """
    first = tensors[0]
    if first.is_quantized:
        return ops.cat(tensors, dim, first.q_scale(), first.q_zero_point())
    return cat(tensors, dim)
