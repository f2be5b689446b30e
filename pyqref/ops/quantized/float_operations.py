"""What functions of ``nn.functional`` do with quantized tensors.

The float operations of :mod:`pyqref.tape` are given their meaning on integers here and
in :mod:`.pooling`; what is not given one raises, and says so.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...numerics import interpolate
from ...numerics.affine import dequantize_per_tensor, quantize_per_tensor
from ...tape.activation import Hardsigmoid, Hardtanh, LeakyRelu, Threshold
from ...tape.dropout import Dropout
from ...tape.interpolate import Interpolate
from ...tape.padding import Pad
from ...tensor.dispatch import quantized_implementation
from . import activation
from .checks import require_per_tensor
from .grid import grid_of, output_grid, same_grid, tensor_on

__all__: list[str] = []


@quantized_implementation(Hardtanh)
def _hardtanh(x: Any, low: float, high: float) -> Any:
    return activation.clamp(x, low, high)


@quantized_implementation(LeakyRelu)
def _leaky_relu(x: Any, negative_slope: float) -> Any:
    return activation.leaky_relu(x, negative_slope)


@quantized_implementation(Threshold)
def _threshold(x: Any, threshold: float, value: float) -> Any:
    real = _dequantized("threshold", x)
    result = np.where(real > np.float32(threshold), real, np.float32(value))
    return same_grid(quantize_per_tensor(result, *grid_of(x)), x)


@quantized_implementation(Hardsigmoid)
def _hardsigmoid(x: Any) -> Any:
    """On the grid of [0, 1): zero is the smallest integer (of qint32: zero itself)."""
    real = _dequantized("hardsigmoid", x)
    six = np.float32(6)
    result = np.minimum(np.maximum(real + np.float32(3), np.float32(0)), six) / six
    grid = output_grid(1.0, 0, x.dtype)
    grid = grid._replace(
        scale=1 / (grid.quant_max - grid.quant_min + 1),
        zero_point=grid.quant_min if x.dtype.itemsize == 1 else 0,
    )
    return tensor_on(quantize_per_tensor(result, *grid), grid, x.dtype)


@quantized_implementation(Interpolate)
def _interpolate(x: Any, size: Any, mode: str, align_corners: bool, factors: Any) -> Any:
    require_per_tensor("interpolate", x)
    if mode == "bilinear":
        integers = interpolate.bilinear(x._array, x.q_zero_point(), size, align_corners, factors)
    elif mode == "nearest" and len(size) > 1:
        integers = interpolate.nearest(x._array, size, factors)
    else:
        raise RuntimeError(
            "interpolate: mode of a quantized tensor must be 'nearest' or 'bilinear', and the "
            f"input (N, C, H, W), got mode {mode!r} and shape {tuple(x.shape)}"
        )
    return same_grid(integers, x)


@quantized_implementation(Pad)
def _pad(x: Any, pairs: Any, mode: str, value: float) -> Any:
    require_per_tensor("pad", x)
    if mode == "constant":
        fill = quantize_per_tensor(np.float32(value), *grid_of(x))
        return same_grid(Pad().forward(x._array, pairs, mode, int(fill)), x)
    return same_grid(Pad().forward(x._array, pairs, mode, 0), x)


@quantized_implementation(Dropout)
def _dropout(x: Any, *options: Any, **named: Any) -> Any:
    raise RuntimeError("dropout: a quantized tensor cannot be trained on; call model.eval() first")


def _dequantized(name: str, x: Any) -> np.ndarray:
    require_per_tensor(name, x)
    return dequantize_per_tensor(x._array, x.q_scale(), x.q_zero_point())
