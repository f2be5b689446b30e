"""Operators on integers, and those between integers and real numbers."""

from __future__ import annotations

import operator as python
from typing import Any

import numpy as np

from ..._typing import AnyModule, Array, Node, Tensor
from ...arithmetic import use
from ...dtypes import qint8, quint8
from ...nn import functional as F
from ...nn import quantized as nnq
from ...tensor import add, cat, mul, sigmoid, softmax
from ...tensor.quantized import make_per_channel, make_per_tensor
from . import functions
from .importer import FileQParams, Given, Importer, Made, Unsupported, importing
from .layers import geometry, tensor_of
from .source import Operator

__all__ = ["OnnxConv1d", "OnnxConv2d", "OnnxConv3d", "OnnxLinear"]


class _Onnx:
    """Base that stands before a quantized layer, and makes it compute as ONNX does.

    The layers of this package take quint8; an input of int8 is the same number of steps lower.
    """

    is_signed = False
    forward_of: Any

    def forward(self, x: Tensor) -> Any:
        """The result in the arithmetic ``"onnx"``."""
        if x.dtype is qint8:
            x = _moved(x, 128)
        with use("onnx"):
            y = super().forward(x)  # type: ignore[misc]
        return _moved(y, -128) if self.is_signed else y


def _moved(x: Any, steps: int) -> Any:
    """Return the same real numbers, in integers of the other sign."""
    kind = quint8 if steps > 0 else qint8
    integers = (x._array.astype(np.int16) + steps).astype(kind.numpy_dtype)
    return make_per_tensor(integers, x.q_scale(), x.q_zero_point() + steps, kind)


class OnnxLinear(_Onnx, nnq.Linear):
    """QLinearMatMul by a constant, or QGemm."""


class OnnxConv1d(_Onnx, nnq.Conv1d):
    """QLinearConv in one dimension."""


class OnnxConv2d(_Onnx, nnq.Conv2d):
    """QLinearConv in two dimensions."""


class OnnxConv3d(_Onnx, nnq.Conv3d):
    """QLinearConv in three dimensions."""


def grid_of(
    importer: Importer, scale: Given, zero_point: Given | None, axis: int = 0
) -> FileQParams:
    """A grid of constants."""
    found = np.asarray(importer.constant(scale, "a scale"), np.float32)
    zero = np.zeros(found.shape, np.uint8)
    if zero_point is not None and zero_point.array is not None:
        zero = np.asarray(importer.constant(zero_point, "a zero point"))
    if found.size == 1:
        found, zero = found.reshape(()), zero.reshape(())
    return FileQParams(found, zero, axis)


def numbers(grid: FileQParams) -> tuple[float, int, str]:
    """Scale, zero point and type of a grid for all elements."""
    if grid.scale.ndim:
        raise Unsupported("an activation with one scale for each channel")
    kind = grid.zero_point.dtype.name
    if kind not in ("uint8", "int8"):
        raise Unsupported(f"integers of {kind}; only uint8 and int8")
    return float(grid.scale), int(grid.zero_point), kind


def quantized(importer: Importer, x: Given, grid: FileQParams) -> Node:
    """A node with a quantized tensor on a grid."""
    if x.grid is not None and x.grid.key == grid.key:
        return importer.node(x)
    return importer.call(functions.on_grid, importer.node(x), *numbers(grid))


def _is_known(*given: Given) -> bool:
    return all(each.array is not None for each in given)


@importing("QuantizeLinear")
def quantize(importer: Importer, operator: Operator, x: Given, scale: Given, *zero: Given) -> Made:
    """Real numbers to integers."""
    axis = operator.attributes.get("axis", 1)
    if not _is_known(scale, *zero):
        nodes = [importer.node(each) for each in (x, scale, *zero)]
        return importer.call(functions.quantize_linear_to, *nodes, axis)
    grid = grid_of(importer, scale, zero[0] if zero else None, axis)
    if grid.scale.ndim:
        parts = tensor_of(grid.scale), tensor_of(grid.zero_point, grid.zero_point.dtype)
        if x.array is None:
            raise Unsupported("an activation with one scale for each channel")
        made = functions.quantize_linear_to(tensor_of(x.array), *parts, axis)
        return Given(array=made.numpy())
    if x.array is not None:
        made = functions.quantize_linear(tensor_of(x.array), *numbers(grid))
        return Given(array=made.int_repr().numpy())
    node = importer.call(functions.quantize_linear, importer.node(x), *numbers(grid))
    return Given(node, grid=grid)


@importing("DequantizeLinear")
def dequantize(
    importer: Importer, operator: Operator, x: Given, scale: Given, *zero: Given
) -> Made:
    """Integers to real numbers; of constants at once."""
    axis = operator.attributes.get("axis", 1)
    if operator.attributes.get("block_size"):
        raise Unsupported("block_size")
    if not _is_known(scale, *zero):
        nodes = [importer.node(each) for each in (x, scale, *zero)]
        return importer.call(functions.dequantize_linear, *nodes, axis=axis)
    grid = grid_of(importer, scale, zero[0] if zero else None, axis)
    if x.array is not None:
        parts = tensor_of(grid.scale), tensor_of(grid.zero_point, grid.zero_point.dtype)
        real = functions.dequantize_linear(tensor_of(x.array, x.array.dtype), *parts, axis)
        return Given(array=real.numpy(), grid=grid, integers=np.asarray(x.array))
    return importer.method("dequantize", quantized(importer, x, grid))


def packed(
    layer: AnyModule,
    weight: Given,
    grid: FileQParams,
    bias: Array | None,
    s_x: np.ndarray,
    turned: bool = False,
) -> Any:
    """A quantized layer with a weight of integers and an integer bias."""
    integers = np.asarray(weight.array)
    integers = integers.T if turned else integers
    zero = grid.zero_point.astype(np.int64)
    if integers.dtype == np.uint8:  # the same numbers in the integers that the layers take
        integers, zero = (integers.astype(np.int16) - 128).astype(np.int8), zero - 128
    integers = np.ascontiguousarray(integers)
    unit = np.asarray(s_x, np.float32) * grid.scale
    if grid.scale.ndim:
        tensor = make_per_channel(integers, grid.scale.astype(np.float64), zero, 0, qint8)
    else:
        tensor = make_per_tensor(integers, float(grid.scale), int(zero), qint8)
    real = None
    if bias is not None:
        real = np.asarray(bias, np.float32) * unit
        if not np.array_equal(np.rint(real / unit).astype(np.int64), bias):
            raise Unsupported("a bias of more than 24 bits, which no float32 holds")
        real = tensor_of(np.broadcast_to(real, (integers.shape[0],)))
    layer.set_weight_bias(tensor, real)
    return layer


def with_output(layer: AnyModule, grid: FileQParams) -> Any:
    """A layer whose result lies on a grid."""
    scale, zero_point, kind = numbers(grid)
    layer.is_signed = kind == "int8"
    layer.scale, layer.zero_point = scale, zero_point + 128 * layer.is_signed
    return layer


@importing("QLinearConv")
def conv(importer: Importer, operator: Operator, *given: Given) -> Made:
    """A convolution on integers."""
    x, s_x, z_x, w, s_w, z_w, s_y, z_y, *bias = given
    grids = grid_of(importer, s_x, z_x), grid_of(importer, s_w, z_w), grid_of(importer, s_y, z_y)
    shape = importer.constant(w, "the weight").shape
    count = len(shape) - 2
    steps = geometry(importer, operator, count)
    if any(before != after for before, after in steps["pairs"]):
        raise Unsupported("pads that differ before and after")
    groups = steps["groups"]
    kinds = (OnnxConv1d, OnnxConv2d, OnnxConv3d)
    layer = kinds[count - 1](
        shape[1] * groups,
        shape[0],
        shape[2:],
        steps["stride"],
        tuple(before for before, _ in steps["pairs"]),
        steps["dilation"],
        groups,
    )
    offset = importer.constant(bias[0], "the bias") if bias else None
    layer = with_output(packed(layer, w, grids[1], offset, grids[0].scale), grids[2])
    return Given(importer.module(layer, quantized(importer, x, grids[0])), grid=grids[2])


@importing("QLinearMatMul", "QGemm")
def linear(importer: Importer, operator: Operator, *given: Given) -> Made:
    """A product of integers by a constant matrix."""
    bias = None
    a, s_a, z_a, b, s_b, z_b, *rest = given
    turned = True
    if operator.kind == "QGemm":
        values = operator.attributes
        if values.get("transA") or values.get("alpha", 1.0) != 1 or len(rest) < 3:
            raise Unsupported("transA, alpha, and a real result")
        turned = not values.get("transB")
        bias = None if rest[0].array is None else importer.constant(rest[0], "the bias")
        rest = rest[1:]
    grids = (
        grid_of(importer, s_a, z_a),
        grid_of(importer, s_b, z_b),
        grid_of(importer, rest[0], rest[1]),
    )
    if operator.kind == "QLinearMatMul" and (b.array is None or np.ndim(b.array) != 2):
        nodes = quantized(importer, a, grids[0]), quantized(importer, b, grids[1])
        node = importer.call(functions.qlinear_matmul, *nodes, *numbers(grids[2]))
        return Given(node, grid=grids[2])
    weight = importer.constant(b, "the weight")
    outputs, inputs = weight.shape[::-1] if turned else weight.shape
    layer = OnnxLinear(inputs, outputs)
    layer = with_output(packed(layer, b, grids[1], bias, grids[0].scale, turned), grids[2])
    return Given(importer.module(layer, quantized(importer, a, grids[0])), grid=grids[2])


@importing("DynamicQuantizeLinear")
def dynamic(importer: Importer, operator: Operator, x: Given) -> Made:
    """Integers on a grid of their own."""
    whole = importer.call(functions.dynamic_quantize_linear, importer.node(x))
    return [importer.call(python.getitem, whole, n) for n in range(3)]


@importing("MatMulInteger")
def matmul_integer(importer: Importer, operator: Operator, *given: Given) -> Made:
    """Exact sums of products."""
    nodes = [importer.node(each) for each in given]
    return importer.call(functions.matmul_integer, *nodes)


@importing("ConvInteger")
def conv_integer(importer: Importer, operator: Operator, *given: Given) -> Made:
    """Exact sums of products."""
    count = importer.constant(given[1], "the weight").ndim - 2
    steps = geometry(importer, operator, count)
    if any(before != after for before, after in steps["pairs"]):
        raise Unsupported("pads that differ before and after")
    nodes = [importer.node(each) for each in given]
    nodes += [None] * (4 - len(nodes))
    padding = tuple(before for before, _ in steps["pairs"])
    places = steps["stride"], padding, steps["dilation"], steps["groups"]
    return importer.call(functions.conv_integer, *nodes, *places)


def _around(importer: Importer, x: Given, grid: FileQParams) -> Any:
    """The real numbers of an input on a grid."""
    return importer.method("dequantize", quantized(importer, x, grid))


def _back(importer: Importer, node: Any, grid: FileQParams) -> Given:
    made = importer.call(functions.quantize_linear, node, *numbers(grid))
    return Given(made, grid=grid)


@importing("QLinearAdd", "QLinearMul")
def of_two(importer: Importer, operator: Operator, *given: Given) -> Made:
    """A sum or a product of two quantized tensors, on real numbers between their grids."""
    a, s_a, z_a, b, s_b, z_b, s_y, z_y = given
    reals = [
        _around(importer, a, grid_of(importer, s_a, z_a)),
        _around(importer, b, grid_of(importer, s_b, z_b)),
    ]
    function = add if operator.kind == "QLinearAdd" else mul
    return _back(importer, importer.call(function, *reals), grid_of(importer, s_y, z_y))


@importing("QLinearSigmoid", "QLinearLeakyRelu", "QLinearSoftmax")
def of_one(importer: Importer, operator: Operator, *given: Given) -> Made:
    """A function of a quantized tensor, on real numbers between two grids."""
    x, s_x, z_x, s_y, z_y = given
    real = _around(importer, x, grid_of(importer, s_x, z_x))
    values = operator.attributes
    if operator.kind == "QLinearSigmoid":
        real = importer.call(sigmoid, real)
    elif operator.kind == "QLinearSoftmax":
        real = importer.call(softmax, real, values.get("axis", -1))
    else:
        real = importer.call(F.leaky_relu, real, values.get("alpha", 0.01))
    return _back(importer, real, grid_of(importer, s_y, z_y))


@importing("QLinearConcat")
def concat(importer: Importer, operator: Operator, s_y: Given, z_y: Given, *given: Given) -> Made:
    """Quantized tensors side by side on another grid."""
    reals = [
        _around(importer, given[n], grid_of(importer, given[n + 1], given[n + 2]))
        for n in range(0, len(given), 3)
    ]
    real = importer.call(cat, reals, operator.attributes["axis"])
    return _back(importer, real, grid_of(importer, s_y, z_y))


@importing("QLinearGlobalAveragePool", "QLinearAveragePool")
def mean(importer: Importer, operator: Operator, *given: Given) -> Made:
    """Means of windows, on real numbers between two grids."""
    x, s_x, z_x, s_y, z_y = given
    if operator.attributes.get("channels_last"):
        raise Unsupported("channels_last")
    real = _around(importer, x, grid_of(importer, s_x, z_x))
    if operator.kind == "QLinearGlobalAveragePool":
        real = importer.method("mean", real, (2, 3), True)
    else:
        count = len(operator.attributes["kernel_shape"])
        steps = geometry(importer, operator, count)
        if any(before != after for before, after in steps["pairs"]):
            raise Unsupported("pads that differ before and after")
        padding = tuple(before for before, _ in steps["pairs"])
        include = bool(operator.attributes.get("count_include_pad", 0))
        function = getattr(F, f"avg_pool{count}d")
        places = tuple(steps["kernel"]), steps["stride"], padding, False, include
        real = importer.call(function, real, *places)
    return _back(importer, real, grid_of(importer, s_y, z_y))
