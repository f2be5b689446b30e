"""Rows of a quantized table, dequantized when they are looked up."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref import _kernels
from pyqref._typing import Tensor
from pyqref.dtypes import int32, int64, per_channel_affine_float_qparams, quint4x2, quint8
from pyqref.numerics import embedding
from pyqref.tensor.arguments import described
from pyqref.tensor.base import TensorBase, wrap

from .checks import require_flag, require_packed, require_quantized, unpacked

__all__ = [
    "PackedEmbedding",
    "embedding_4bit",
    "embedding_bag_prepack",
    "embedding_bag_unpack",
    "embedding_byte",
    "require_indices",
    "require_table",
]


class PackedEmbedding:
    """A table ``(R, D)`` of integers, with a scale and an offset for each row.

    Attributes
    ----------
    weight
        The quantized tensor that was packed.
    bits
        8 (quint8) or 4 (quint4x2).
    integers, scales, offsets
        uint8 ``(R, D)`` and float32 ``(R,)``, equation ``eq-embedding-row``.
    """

    def __init__(self, weight: Tensor) -> None:
        self.weight = weight
        self.bits = 4 if weight.dtype is quint4x2 else 8
        self.integers = weight._array
        self.scales, self.offsets = embedding.row_parameters(
            weight.q_per_channel_scales().numpy(),
            weight.q_per_channel_zero_points().numpy(),
            self.bits,
        )

    @property
    def rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The integers of each row, its scale and its offset."""
        return self.integers, self.scales, self.offsets

    def unpack(self) -> Tensor:
        """The quantized tensor that was packed."""
        return self.weight


def embedding_bag_prepack(weight: Tensor) -> PackedEmbedding:
    """Make a quantized table ready for the look-ups.

    Parameters
    ----------
    weight
        quint8 or quint4x2 ``(R, D)``, quantized along axis 0 with float zero points.

    Examples
    --------
    >>> import pyqref
    >>> scale, zero_point = pyqref.tensor([0.5, 0.5]), pyqref.tensor([0.0, 2.0])
    >>> rows = pyqref.tensor([[0.0, 1.0], [-1.0, 2.0]])
    >>> rows = pyqref.quantize_per_channel(rows, scale, zero_point, 0, pyqref.quint8)
    >>> packed = pyqref.ops.quantized.embedding_bag_prepack(rows)
    >>> pyqref.ops.quantized.embedding_byte(packed, pyqref.tensor([1])).tolist()
    [[-1.0, 2.0]]
    """
    name = "quantized.embedding_bag_prepack"
    require_quantized(name, weight, (quint8, quint4x2), "weight")
    if weight.qscheme() is not per_channel_affine_float_qparams:
        raise RuntimeError(
            f"{name}: weight must be quantized per channel with float zero points, got "
            f"{weight.qscheme()}; use float_qparams_weight_only_qconfig, or quantize_per_channel "
            "with float zero_points"
        )
    if weight.dim() != 2 or weight.q_per_channel_axis() != 0:
        raise RuntimeError(
            f"{name}: weight must have 2 dimensions and be quantized along axis 0, got shape "
            f"{tuple(weight.shape)} and axis {weight.q_per_channel_axis()}"
        )
    return PackedEmbedding(weight)


def embedding_bag_unpack(W_prepack: PackedEmbedding) -> Tensor:
    """The quantized table that was packed.

    Examples
    --------
    >>> import pyqref
    >>> scale, zero_point = pyqref.tensor([0.5]), pyqref.tensor([0.0])
    >>> rows = pyqref.quantize_per_channel(pyqref.ones(1, 2), scale, zero_point, 0, pyqref.quint8)
    >>> packed = pyqref.ops.quantized.embedding_bag_prepack(rows)
    >>> pyqref.ops.quantized.embedding_bag_unpack(packed).dequantize().tolist()
    [[1.0, 1.0]]
    """
    return unpacked("quantized.embedding_bag_unpack", "W_prepack", W_prepack, PackedEmbedding)


def embedding_byte(
    weight: PackedEmbedding, indices: Tensor, pruned_weights: bool = False
) -> Tensor:
    r"""Rows of a table of bytes (equation ``eq-embedding-lookup``).

    Parameters
    ----------
    weight
        From :func:`embedding_bag_prepack`, ``(R, D)``, of quint8.
    indices
        int32 or int64 in [0, R - 1], with one or two dimensions.
    pruned_weights
        Must be False.

    Returns
    -------
    float32 ``(*indices.shape, D)``.

    Raises
    ------
    RuntimeError
        An index is out of range, or an argument of another kind.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> rows = pyqref.tensor([[0.0, 255.0], [10.0, 20.0]])
    >>> q = pyqref.quantize_per_channel(rows, pyqref.ones(2), pyqref.zeros(2), 0, pyqref.quint8)
    >>> ops.embedding_byte(ops.embedding_bag_prepack(q), pyqref.tensor([1])).tolist()
    [[10.0, 20.0]]
    """
    return _lookup("quantized.embedding_byte", 8, weight, indices, pruned_weights)


def embedding_4bit(
    weight: PackedEmbedding, indices: Tensor, pruned_weights: bool = False
) -> Tensor:
    """Form of :func:`embedding_byte` for quint4x2, which has two elements in a byte."""
    return _lookup("quantized.embedding_4bit", 4, weight, indices, pruned_weights)


def require_table(name: str, weight: Any, bits: int) -> PackedEmbedding:
    """A table that ``embedding_bag_prepack`` made of elements of so many bits."""
    require_packed(name, "weight", weight, PackedEmbedding, "embedding_bag_prepack")
    if weight.bits != bits:
        wanted = quint8 if bits == 8 else quint4x2
        raise RuntimeError(f"{name}: weight must have dtype {wanted}, got {weight.weight.dtype}")
    return weight


def require_indices(name: str, label: str, tensor: Tensor, count: int, low: int = 0) -> np.ndarray:
    """The array of a tensor of integers in ``[low, count - 1]``."""
    if not isinstance(tensor, TensorBase):
        raise TypeError(f"{name}: {label} must be a tensor, got {described(tensor)}")
    if tensor.dtype not in (int32, int64):
        raise RuntimeError(f"{name}: {label} must be int32 or int64, got {tensor.dtype}")
    array: np.ndarray = tensor._array
    if array.size:
        least, most = _kernels.extremes(array)
        if least < low or most >= count:
            wrong = array[(array < low) | (array >= count)].ravel()[0]
            raise RuntimeError(f"{name}: {label} must be in [{low}, {count - 1}], found {wrong}")
    return array


def _lookup(name: str, bits: int, weight: Any, indices: Any, pruned_weights: bool) -> Any:
    table = require_table(name, weight, bits)
    if require_flag(name, "pruned_weights", pruned_weights):
        raise RuntimeError(f"{name}: pruned_weights must be False, got {described(pruned_weights)}")
    array = require_indices(name, "indices", indices, table.integers.shape[0])
    if array.ndim not in (1, 2):
        raise RuntimeError(
            f"{name}: indices must have 1 or 2 dimensions, got shape {tuple(array.shape)}"
        )
    return wrap(_kernels.embedding_rows(*table.rows, array))
