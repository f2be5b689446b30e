"""Functions of ``nn.functional`` on quantized tensors.

The float operations of :mod:`pyqref.tape` are given their meaning on integers here and
in :mod:`.pooling`; what is not given one raises, and says so.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref import _kernels
from pyqref._kernels.parts import by_parts
from pyqref.numerics import activation as numerics
from pyqref.numerics.affine import dequantize_per_tensor, quantize_per_tensor
from pyqref.tape.activation import Hardsigmoid, Hardtanh, LeakyRelu, Threshold
from pyqref.tape.gated import Gelu
from pyqref.tape.interpolate import Interpolate
from pyqref.tape.padding import Pad
from pyqref.tensor.dispatch import quantized_implementation
from pyqref.tensor.quantized import make_quantized, per_tensor_quantizer
from pyqref.tensor.quantized.other_arithmetic import function_elsewhere, keeps_engine, replaced

from . import activation, pointwise
from .checks import require_per_tensor
from .grid import grid_of, same_grid

__all__: list[str] = []


@quantized_implementation(Hardtanh)
def _hardtanh(x: Any, low: float, high: float) -> Any:
    return activation.clamp(x, low, high)


@quantized_implementation(LeakyRelu)
def _leaky_relu(x: Any, negative_slope: float) -> Any:
    return activation.leaky_relu(x, negative_slope)


@quantized_implementation(Threshold)
def _threshold(x: Any, threshold: float, value: float) -> Any:
    return pointwise.threshold(x, threshold, value)


@quantized_implementation(Hardsigmoid)
def _hardsigmoid(x: Any) -> Any:
    """Compute on the grid of [0, 1): zero is the smallest integer (of qint32: zero itself)."""
    grid = require_per_tensor("hardsigmoid", x).grid
    scale = 1 / (grid.quant_max - grid.quant_min + 1)
    zero_point = grid.quant_min if x.dtype.itemsize == 1 else 0
    out = per_tensor_quantizer(x.dtype, scale, zero_point)
    return pointwise.run_pointwise(x, numerics.hardsigmoid, out, table=True)


@quantized_implementation(Gelu)
def _gelu(x: Any, approximate: str) -> Any:
    """Dequantized, computed, quantized with the scale as float32, as in torch."""
    own = require_per_tensor("gelu", x)
    operation = Gelu()
    operation.needs = (None, None)
    out = per_tensor_quantizer(own.dtype, float(np.float32(own.scale)), own.zero_point)

    def run(q: np.ndarray) -> np.ndarray:
        numbers = dequantize_per_tensor(q, own.scale, own.zero_point).astype(np.float64)
        real = operation.forward(numbers, approximate).astype(np.float32)
        return quantize_per_tensor(real, *out.grid)

    given = x._array, own.grid, out.grid
    made = function_elsewhere("gelu", *given, lambda x: operation.forward(x, approximate))
    if made is not None:
        return make_quantized(made, out)
    if x.dtype.itemsize > 1:
        return make_quantized(by_parts(run, x._array), out)
    table = run(np.arange(256, dtype=np.uint8).view(own.grid.storage))
    return make_quantized(_kernels.look_up(table, x._array), out)


@quantized_implementation(Interpolate)
def _interpolate(x: Any, size: Any, mode: str, align_corners: bool, factors: Any) -> Any:
    own = require_per_tensor("interpolate", x)
    if mode == "bilinear":
        keeps_engine("interpolate")
        integers = _kernels.bilinear(x._array, own.zero_point, size, align_corners, factors)
    elif mode in ("nearest", "nearest-exact") and len(size) > 1:
        integers = _kernels.nearest(x._array, size, factors, mode == "nearest-exact")
    else:
        raise RuntimeError(
            "interpolate: mode of a quantized tensor must be 'nearest', 'nearest-exact' or "
            f"'bilinear', and the input (N, C, H, W), got mode {mode!r} and shape "
            f"{tuple(x.shape)}; call dequantize() first"
        )
    return make_quantized(integers, own)


@quantized_implementation(Pad)
def _pad(x: Any, pairs: Any, mode: str, value: float) -> Any:
    require_per_tensor("pad", x)
    if mode == "constant":
        fill = replaced("pad", "quantize", np.float32(value), x._quantizer.grid)
        if fill is None:
            fill = quantize_per_tensor(np.float32(value), *grid_of(x))
        return same_grid(Pad().forward(x._array, pairs, mode, int(fill)), x)
    return same_grid(Pad().forward(x._array, pairs, mode, 0), x)
