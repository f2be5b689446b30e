"""Convolutions with a quantized weight, float in and out.

The input is quantized over the range that it has; the output of the integer convolution
is put on *the grid of the input* and dequantized, as in torch 2.13: what lies beyond
that grid saturates, whatever the weight makes of it.
"""

from __future__ import annotations

from typing import Any

from pyqref._typing import Tensor
from pyqref.backends import quantized as settings
from pyqref.tensor.base import wrap

from .checks import require_flag, require_float
from .conv_run import convolve_real, require_conv_input, require_packed_conv
from .input import dynamic_elsewhere, dynamic_grid
from .packed_conv import PackedConv, PackedConvTranspose

__all__ = [
    "conv1d_dynamic",
    "conv2d_dynamic",
    "conv3d_dynamic",
    "conv_transpose1d_dynamic",
    "conv_transpose2d_dynamic",
    "conv_transpose3d_dynamic",
]


def conv1d_dynamic(qx: Tensor, packed_weight: PackedConv, reduce_range: bool = False) -> Tensor:
    """One-dimensional form of :func:`conv2d_dynamic`."""
    return _dynamic("conv1d_dynamic", 1, False, qx, packed_weight, reduce_range)


def conv2d_dynamic(qx: Tensor, packed_weight: PackedConv, reduce_range: bool = False) -> Tensor:
    r"""2-D convolution of a float input with a quantized weight.

    Equation ``eq-conv-dynamic``:

    .. math:: (s, z, q) = \text{dynamic-input}(x), \qquad
              y = s\,\big(\mathrm{conv}(q;\; s_y = s, z_y = z) - z\big)

    with ``eq-dynamic-input`` and the static convolution of ``eq-conv-accumulator`` and
    ``eq-requantize``.

    Parameters
    ----------
    qx
        float32 ``(B, C, H, W)``.
    packed_weight
        From :func:`pyqref.ops.quantized.conv2d_prepack`.
    reduce_range
        Quantize the input to 7 bits; qnnpack takes 8 all the same.

    Returns
    -------
    float32 ``(B, N, H_out, W_out)``, all on the grid of the input.

    Raises
    ------
    ValueError
        The input holds nan or infinity.

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.quantize_per_tensor(pyqref.full((1, 1, 1, 1), 0.5), 0.5, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.conv2d_prepack(w, None)
    >>> x = pyqref.tensor([0.0, 51.0, 255.0]).reshape(1, 1, 1, 3)
    >>> pyqref.ops.quantized.conv2d_dynamic(x, packed).flatten().tolist()
    [0.0, 26.0, 128.0]
    """
    return _dynamic("conv2d_dynamic", 2, False, qx, packed_weight, reduce_range)


def conv3d_dynamic(qx: Tensor, packed_weight: PackedConv, reduce_range: bool = False) -> Tensor:
    """Three-dimensional form of :func:`conv2d_dynamic`."""
    return _dynamic("conv3d_dynamic", 3, False, qx, packed_weight, reduce_range)


def conv_transpose1d_dynamic(
    qx: Tensor, packed_weight: PackedConvTranspose, reduce_range: bool = False
) -> Tensor:
    """Transposed form of :func:`conv1d_dynamic`."""
    return _dynamic("conv_transpose1d_dynamic", 1, True, qx, packed_weight, reduce_range)


def conv_transpose2d_dynamic(
    qx: Tensor, packed_weight: PackedConvTranspose, reduce_range: bool = False
) -> Tensor:
    """Transposed form of :func:`conv2d_dynamic`."""
    return _dynamic("conv_transpose2d_dynamic", 2, True, qx, packed_weight, reduce_range)


def conv_transpose3d_dynamic(
    qx: Tensor, packed_weight: PackedConvTranspose, reduce_range: bool = False
) -> Tensor:
    """Transposed form of :func:`conv3d_dynamic`."""
    return _dynamic("conv_transpose3d_dynamic", 3, True, qx, packed_weight, reduce_range)


def _dynamic(
    operation: str, spatial: int, transposed: bool, x: Any, packed: Any, reduce_range: bool
) -> Any:
    name = f"quantized.{operation}"
    require_float(name, x)
    require_packed_conv(name, packed, spatial, transposed)
    reduce_range = require_flag(name, "reduce_range", reduce_range)
    if settings.arithmetic is not None:
        require_conv_input(name, x, packed)
        real = dynamic_elsewhere(name, x._array, packed, reduce_range)
        if real is not None:
            return wrap(real)
    grid = dynamic_grid(x._array, packed.engine, reduce_range)
    return convolve_real(name, x, packed, *grid)
