"""Linear layers and convolutions with a quantized weight, and those with a real one."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._typing import Tensor
from ...nn import intrinsic as nni
from ...nn import modules as nn
from ...nn import quantized as nnq
from ...nn.intrinsic import quantized as nniq
from ...nn.modules.container import Sequential
from ...nn.quantized import reference as nnqr
from ...numerics.requantize import accumulator_scale
from ...ops import quantized as ops
from ..maker import Maker
from ..problems import Unsupported
from ..table import Layer, lowering
from ..wire import Wire
from .whole import beside, convolved, multiplied, requantized, scaled_once

__all__ = ["Weight", "geometry_of", "reals_of_weight", "weight_of"]


class Weight(NamedTuple):
    """A quantized weight as ONNX has it.

    Attributes
    ----------
    integers : ndarray
        int8, in the order of the layer.
    scale : ndarray
        float32, without axes or ``(N,)``.
    zero_point : ndarray
        int8, of the same shape.
    axis : int
        Of the channels.
    """

    integers: np.ndarray
    scale: np.ndarray
    zero_point: np.ndarray
    axis: int


def weight_of(weight: Any) -> Weight:
    """A quantized tensor as integers, scales and zero points."""
    integers = weight.int_repr().numpy()
    if integers.dtype not in (np.int8, np.uint8):
        raise Unsupported(f"a weight of {weight.dtype} has no operator, only qint8 and quint8 have")
    if not weight.qscheme().is_per_channel:
        scale, zero_point, axis = weight.q_scale(), weight.q_zero_point(), 0
    else:
        scale = weight.q_per_channel_scales().numpy()
        zero_point = weight.q_per_channel_zero_points().numpy()
        axis = weight.q_per_channel_axis()
    return Weight(
        integers,
        np.asarray(scale, np.float32),
        np.asarray(zero_point).astype(integers.dtype),
        axis,
    )


def reals_of_weight(make: Maker, weight: Weight) -> str:
    """The weight as integers and an operator that makes real numbers of them."""
    names = [
        make.constant("weight", weight.integers),
        make.constant("weight_scale", weight.scale),
        make.constant("weight_zero_point", weight.zero_point),
    ]
    axis = weight.axis if weight.scale.ndim else None
    return str(make.node("DequantizeLinear", names, suffix="weight_real", axis=axis))


def integer_bias(x: Wire, weight: Weight, bias: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """The bias in units of the accumulator (``eq-requantize-onnx``), and that unit."""
    unit = accumulator_scale(x.grid.scale, weight.scale)
    scaled = np.asarray(bias.detach().numpy(), np.float32) / unit
    return np.clip(np.rint(scaled), -(2**31), 2**31 - 1).astype(np.int32), unit


def reals_of_bias(make: Maker, x: Wire, weight: Weight, bias: Tensor | None) -> list[str]:
    """The bias as integers in units of the accumulator, and an operator that makes it real.

    Where the model computes with real numbers, the bias stays one of them.
    """
    if bias is None:
        return []
    if not x.is_quantized:
        return [make.constant("bias", bias.detach().numpy())]
    integers, unit = integer_bias(x, weight, bias)
    names = [
        make.constant("bias", integers),
        make.constant("bias_scale", unit),
        make.constant("bias_zero_point", np.zeros(unit.shape, np.int32)),
    ]
    axis = 0 if unit.ndim else None
    return [make.node("DequantizeLinear", names, suffix="bias_real", axis=axis)]


def geometry_of(layer: Layer) -> dict[str, Any]:
    """Strides, pads, dilations and groups of a convolution as attributes."""
    if getattr(layer, "padding_mode", "zeros") != "zeros":
        raise Unsupported(f"padding_mode={layer.padding_mode!r} has no operator; use 'zeros'")
    if isinstance(layer.padding, str):
        pairs = ops.padding_pairs(
            "Conv", layer.padding, layer.kernel_size, layer.stride, layer.dilation
        )
    else:
        pairs = tuple((n, n) for n in layer.padding)
    return {
        "kernel_shape": list(layer.kernel_size),
        "strides": list(layer.stride),
        "pads": [before for before, _ in pairs] + [after for _, after in pairs],
        "dilations": list(layer.dilation),
        "group": layer.groups,
    }


def is_transposed(layer: Layer) -> bool:
    """Return True for a transposed convolution."""
    return bool(getattr(layer, "transposed", False)) or "ConvTranspose" in type(layer).__name__


def convolution(make: Maker, layer: Layer, inputs: list[str], x: Wire) -> str:
    """A convolution of real numbers."""
    kind, attributes = convolution_of(layer)
    return str(make.node(kind, inputs, **attributes))


def convolution_of(layer: Layer) -> tuple[str, dict[str, Any]]:
    """The operator of a convolution of real numbers, and its attributes."""
    attributes = geometry_of(layer)
    if not is_transposed(layer):
        return "Conv", attributes
    return "ConvTranspose", attributes | {"output_padding": list(layer.output_padding)}


def product(make: Maker, inputs: list[str], x: Wire, weight: np.ndarray) -> str:
    """A linear layer of real numbers: Gemm for matrices, else MatMul and Add."""
    if len(x.shape) == 2:
        return str(make.node("Gemm", inputs, transB=1))
    turned = make.node("Transpose", inputs[1:2], suffix="weight_transposed", perm=[1, 0])
    result = make.node("MatMul", [inputs[0], turned])
    return str(make.node("Add", [result, inputs[2]])) if len(inputs) > 2 else str(result)


def sum_of_products(make: Maker, layer: Layer, x: Wire, weight: Weight, bias: Tensor | None) -> str:
    """The real numbers of a layer before its function."""
    inputs = [make.real(x), reals_of_weight(make, weight)]
    inputs += reals_of_bias(make, x, weight, bias)
    if hasattr(layer, "kernel_size"):
        return convolution(make, layer, inputs, x)
    return product(make, inputs, x, weight.integers)


@lowering(nnq.Linear, nnq.Conv1d, nnq.Conv2d, nnq.Conv3d)
@lowering(nnq.ConvTranspose1d, nnq.ConvTranspose2d, nnq.ConvTranspose3d)
def quantized_layer(make: Maker, layer: Layer, x: Wire, *extra: Wire) -> str:
    """A layer on integers: real numbers between grids, or an operator on integers."""
    weight, bias = weight_of(layer.weight()), layer.bias()
    plain, exact = not (extra or has_function(layer)), make.style == "exact"
    if plain and (exact or (make.style == "qoperator" and not is_transposed(layer))):
        return on_integers(make, layer, x, weight, bias)
    real = (exact_sum if exact else sum_of_products)(make, layer, x, weight, bias)
    if extra:  # ConvAdd2d
        real = make.node("Add", [real, make.real(extra[0])])
    result = make.finish(function_of(make, layer, real))
    return within_range(make, layer, result)


def has_function(layer: Layer) -> bool:
    """Return True if another function than ReLU follows before the rounding."""
    return isinstance(layer, nniq.LinearLeakyReLU | nniq.LinearTanh)


def has_relu(layer: Layer) -> bool:
    """Return True if negative results become zero."""
    kinds = (nniq.ConvReLU1d, nniq.ConvReLU2d, nniq.ConvReLU3d, nniq.LinearReLU)
    fused = isinstance(layer, (*kinds, nniq.ConvAddReLU2d))
    return fused or bool(getattr(layer, "fused_relu", False))


def function_of(make: Maker, layer: Layer, real: str) -> str:
    """The function that is fused with a layer."""
    if has_relu(layer):
        return str(make.node("Relu", [real]))
    if isinstance(layer, nniq.LinearLeakyReLU):
        return str(make.node("LeakyRelu", [real], alpha=float(layer.negative_slope)))
    return str(make.node("Tanh", [real])) if isinstance(layer, nniq.LinearTanh) else real


def within_range(make: Maker, layer: Layer, result: str, relu: bool = False) -> str:
    """Clamp integers to the range that a layer was given, and to the zero point by a ReLU."""
    dtype = make.out.grid.dtype
    low, high = layer._packed_weight().output_range
    if relu:
        low = max(low, make.out.grid.zero_point)
    if low <= dtype.quant_min and high >= dtype.quant_max:
        return result
    kind = dtype.numpy_dtype
    ends = [make.scalar("lowest", low, kind), make.scalar("highest", high, kind)]
    return str(make.node("Clip", [result, *ends]))


def on_integers(make: Maker, layer: Layer, x: Wire, weight: Weight, bias: Tensor | None) -> str:
    """A layer as an operator on integers (``eq-requantize-onnx``)."""
    out = make.out
    out.scale, out.zero_point = make.grid(out.grid)
    linear = not hasattr(layer, "kernel_size")
    if make.style == "exact" or (linear and bias is not None):
        total, unit = accumulators(make, layer, x, weight, bias)
        result = requantized(make, total, unit, spatial_axes(layer))
    else:
        integers = np.ascontiguousarray(weight.integers.T) if linear else weight.integers
        inputs = [
            x.name,
            x.scale,
            x.zero_point,
            make.constant("weight", integers),
            make.constant("weight_scale", weight.scale),
            make.constant("weight_zero_point", weight.zero_point),
            out.scale,
            out.zero_point,
        ]
        if linear:
            result = make.node("QLinearMatMul", inputs)
        else:
            if bias is not None:
                inputs.append(make.constant("bias", integer_bias(x, weight, bias)[0]))
            result = make.node("QLinearConv", inputs, **geometry_of(layer))
    return within_range(make, layer, result, has_relu(layer))


def spatial_axes(layer: Layer) -> int:
    """How many axes of a result follow that of the channels."""
    return len(layer.kernel_size) if hasattr(layer, "kernel_size") else 0


def accumulators(
    make: Maker, layer: Layer, x: Wire, weight: Weight, bias: Tensor | None
) -> tuple[str, np.ndarray]:
    """Sums of products with the integer bias as int32, and their unit."""
    axes = spatial_axes(layer)
    if make.style == "exact":
        ends = [1] * weight.integers.ndim
        ends[weight.axis] = -1
        less = weight.integers.astype(np.int64) - weight.zero_point.reshape(ends).astype(np.int64)
        total = convolved(make, layer, x, less, *convolution_of(layer)) if axes else ""
        total = total or multiplied(make, x, less)
    else:
        inputs = [
            x.name,
            make.constant("weight", np.ascontiguousarray(weight.integers.T)),
            x.zero_point,
            make.constant("weight_zero_point", weight.zero_point),
        ]
        total = make.node("MatMulInteger", inputs)
    unit = np.asarray(accumulator_scale(x.grid.scale, weight.scale))
    if bias is not None:
        integers = integer_bias(x, weight, bias)[0]
        total = make.node("Add", [total, make.constant("bias", beside(integers, axes))])
    return total, unit


def exact_sum(make: Maker, layer: Layer, x: Wire, weight: Weight, bias: Tensor | None) -> str:
    """The real numbers of a layer before its function, rounded once (``eq-requantize-qdq``)."""
    total, unit = accumulators(make, layer, x, weight, None)
    term = None if bias is None else integer_bias(x, weight, bias)[0].astype(np.float32) * unit
    return scaled_once(make, total, x, weight.scale, term, spatial_axes(layer))


@lowering(nnqr.Linear, nnqr.Conv1d, nnqr.Conv2d, nnqr.Conv3d)
@lowering(nnqr.ConvTranspose1d, nnqr.ConvTranspose2d, nnqr.ConvTranspose3d)
def reference_layer(make: Maker, layer: Layer, x: Wire) -> str:
    """A layer on real numbers whose weight lies on a grid."""
    weight = layer.get_quantized_weight()
    if not weight.is_quantized:
        return float_layer(make, layer, x)
    return sum_of_products(make, layer, x, weight_of(weight), layer.bias)


@lowering(nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)
@lowering(nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)
def float_layer(make: Maker, layer: Layer, x: Wire) -> str:
    """A layer of real numbers."""
    weight = layer.weight.detach().numpy()
    inputs = [make.real(x), make.constant("weight", weight)]
    if layer.bias is not None:
        inputs.append(make.constant("bias", layer.bias.detach().numpy()))
    if hasattr(layer, "kernel_size"):
        return convolution(make, layer, inputs, x)
    return product(make, inputs, x, weight)


@lowering(nni.ConvReLU1d, nni.ConvReLU2d, nni.ConvReLU3d, nni.LinearReLU)
def fused_float_layer(make: Maker, layers: Sequential, x: Wire) -> str:
    """A layer of real numbers, or a reference layer, and a ReLU."""
    first = layers[0]
    kinds = (nnqr.Linear, nnqr.Conv1d, nnqr.Conv2d, nnqr.Conv3d)
    lower = reference_layer if isinstance(first, kinds) else float_layer
    return str(make.node("Relu", [lower(make, first, x)]))
