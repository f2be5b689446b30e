"""Every kernel on the conformance cases: ties, clamps, extreme zero points, odd shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pyqref import _kernels
from pyqref.numerics.elementwise import Grid
from pyqref.numerics.requantize import Requantization, requantization
from pyqref.testing import check_implementation

PACK = {3: _kernels.pack_conv1d, 4: _kernels.pack_conv2d, 5: _kernels.pack_conv3d}
RUN = {3: _kernels.conv1d, 4: _kernels.conv2d, 5: _kernels.conv3d}
LAYERS = ["linear", "conv1d", "conv2d", "conv3d", "depthwise_conv2d", "grouped_conv2d"]
LAYERS += ["conv_transpose1d", "conv_transpose2d", "conv_transpose3d"]


def requant_of(engine: str, a: dict[str, Any]) -> Requantization:
    scales = (a["x_scale"], a["weight_scale"], a["output_scale"], a["output_zero_point"])
    ends = a["quant_min"], a["quant_max"], a["relu"], a["x"].dtype.type
    return requantization(engine, *scales, a["bias"], *ends)  # type: ignore[arg-type]


def layer(engine: str, a: dict[str, Any]) -> np.ndarray:
    """The kernel of a linear layer or a convolution."""
    x, weight, requant = a["x"], a["weight"], requant_of(engine, a)
    zero_points = a["x_zero_point"], a["weight_zero_point"]
    if x.ndim == 2:
        packed = _kernels.pack_linear(weight)
        return _kernels.linear(x, zero_points[0], packed, zero_points[1], requant)
    places = [a[name] for name in ("stride", "padding", "dilation")]
    if "output_padding" in a:
        centred = not zero_points[1]
        moved = a["stride"], a["dilation"], a["groups"]
        transposed = _kernels.pack_conv_transpose(weight, *moved, centred=centred)
        margins = a["padding"], a["output_padding"]
        given = (x, zero_points[0], transposed, zero_points[1], requant, *margins)
        return _kernels.conv_transpose(*given)
    packed = PACK[x.ndim](weight, a["groups"], centred=not zero_points[1])
    return RUN[x.ndim](x, zero_points[0], packed, zero_points[1], requant, *places)


def pair(function: Any, engine: tuple[str, ...], a: dict[str, Any]) -> np.ndarray:
    """The kernel of a sum or a product."""
    ends = a["quant_min"], a["quant_max"], a["a"].dtype.type
    left, right, out = (
        Grid(a[f"{name}_scale"], a[f"{name}_zero_point"], *ends) for name in ("a", "b", "output")
    )
    return function(a["a"], left, a["b"], right, out, *engine, a["relu"])


def pool(engine: str, a: dict[str, Any]) -> np.ndarray:
    """The kernel of average pooling."""
    names = ("x", "zero_point", "kernel", "stride", "padding", "ceil_mode", "count_include_pad")
    return _kernels.avg_pool(*(a[name] for name in names), None, engine, a["scale"])


@pytest.mark.parametrize(("engine", "dtype"), [("fbgemm", "uint8"), ("qnnpack", "int8")])
@pytest.mark.parametrize("operation", [*LAYERS, "add", "mul", "avg_pool1d", "avg_pool2d"])
def test_kernels_conform(kernel: str, operation: str, engine: str, dtype: str) -> None:
    """Each case has the integers of the equations; a failure says which mistake gives its own."""

    def run(**a: Any) -> np.ndarray:
        if operation == "add":
            return pair(_kernels.add, (engine,), a)
        if operation == "mul":
            return pair(_kernels.mul, (), a)
        return pool(engine, a) if "pool" in operation else layer(engine, a)

    check_implementation(run, operation, engine, dtype=dtype).raise_if_wrong()


def test_quantizing_conforms(kernel: str) -> None:
    """eq-affine-quantize, eq-affine-quantize-channel and eq-affine-dequantize."""

    def quantize(x, scale, zero_point, quant_min, quant_max):
        return _kernels.quantize_per_tensor(x, scale, zero_point, quant_min, quant_max, np.uint8)

    def per_channel(x, scales, zero_points, axis, quant_min, quant_max):
        ends = quant_min, quant_max, np.uint8
        return _kernels.quantize_per_channel(x, scales, zero_points, axis, *ends)

    def dequantize(x, scale, zero_point):
        return _kernels.dequantize_per_tensor(x, scale, zero_point)

    check_implementation(quantize, "quantize").raise_if_wrong()
    check_implementation(per_channel, "quantize_per_channel").raise_if_wrong()
    check_implementation(dequantize, "dequantize").raise_if_wrong()
