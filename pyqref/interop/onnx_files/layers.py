"""Layers with weights, normalizations and pooling, on real numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from ... import dtypes
from ..._typing import AnyModule, Array, Node, Tensor
from ...nn import functional as F
from ...nn import modules as nn
from ...nn.parameter import Parameter
from ...nn.quantized import reference as nnqr
from ...tensor import add, from_numpy, matmul
from .importer import Given, Importer, Made, Unsupported, importing
from .source import Operator

__all__ = ["geometry", "padded", "tensor_of"]

_CONVS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
_TRANSPOSED = (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)
_REFERENCES: dict[Any, Any] = {
    each: getattr(nnqr, each.__name__) for each in (nn.Linear, *_CONVS, *_TRANSPOSED)
}


def tensor_of(array: ArrayLike, dtype: DTypeLike = np.float32) -> Tensor:
    """A tensor with a copy of an array."""
    array = np.asarray(array, dtype)
    return from_numpy(np.ascontiguousarray(array).reshape(array.shape).copy())


def geometry(importer: Importer, operator: Operator, count: int) -> dict[str, Any]:
    """Stride, padding, dilation and groups; the padding as pairs, before and after."""
    values = operator.attributes
    kernel = values.get("kernel_shape")
    if values.get("auto_pad", "NOTSET") not in ("NOTSET", "VALID"):
        raise Unsupported(f"auto_pad={values['auto_pad']!r}")
    pads = values.get("pads", [0] * 2 * count)
    return {
        "kernel": kernel,
        "stride": tuple(values.get("strides", [1] * count)),
        "pairs": tuple(zip(pads[:count], pads[count:], strict=True)),
        "dilation": tuple(values.get("dilations", [1] * count)),
        "groups": int(values.get("group", 1)),
    }


def padded(
    importer: Importer, node: Node, pairs: Sequence[tuple[int, int]], value: float = 0.0
) -> tuple[Any, Any]:
    """The input and the padding of a layer, which is as long before as after."""
    if all(before == after for before, after in pairs):
        return node, tuple(before for before, _ in pairs)
    flat = [n for pair in reversed(pairs) for n in pair]
    return importer.call(F.pad, node, flat, "constant", value), (0,) * len(pairs)


def with_weight(layer: AnyModule, weight: Given, bias: Array | None, turned: bool = False) -> Any:
    """The layer with a weight; a reference layer where that lies on a grid."""
    array = np.asarray(weight.array).T if turned else weight.array
    layer.weight.data = tensor_of(array)
    if bias is not None:
        layer.bias.data = tensor_of(bias)
    if weight.grid is None or weight.integers.dtype not in (np.int8, np.uint8):
        return layer
    scale, zero_point, axis = weight.grid
    several = scale.ndim == 1 and scale.size > 1
    axis = (1 - axis) if turned else axis
    qparams: dict[str, Any] = {
        "qscheme": dtypes.per_channel_affine if several else dtypes.per_tensor_affine,
        "dtype": dtypes.qint8 if weight.integers.dtype == np.int8 else dtypes.quint8,
        "scale": tensor_of(scale if several else scale.reshape(())),
        "zero_point": tensor_of(zero_point if several else zero_point.reshape(()), np.int32),
    }
    if several:
        qparams["axis"] = axis
    return _REFERENCES[type(layer)].from_float(layer, qparams)


@importing("Conv", "ConvTranspose")
def conv(importer: Importer, operator: Operator, x: Given, weight: Given, *bias: Given) -> Made:
    """A convolution, transposed or not."""
    shape = importer.constant(weight, "the weight").shape
    count = len(shape) - 2
    if not 1 <= count <= 3:
        raise Unsupported(f"a convolution of {count} dimensions")
    transposed = operator.kind == "ConvTranspose"
    given = geometry(importer, operator, count)
    offset = importer.constant(bias[0], "the bias") if bias else None
    node = importer.node(x)
    groups = given["groups"]
    options = {"stride": given["stride"], "dilation": given["dilation"], "groups": groups}
    options["bias"] = offset is not None
    if transposed:
        if "output_shape" in operator.attributes:
            raise Unsupported("output_shape")
        if any(before != after for before, after in given["pairs"]):
            raise Unsupported("pads that differ before and after")
        options["padding"] = tuple(before for before, _ in given["pairs"])
        options["output_padding"] = tuple(operator.attributes.get("output_padding", [0] * count))
        layer: Any = _TRANSPOSED[count - 1](shape[0], shape[1] * groups, shape[2:], **options)
    else:
        node, options["padding"] = padded(importer, node, given["pairs"])
        layer = _CONVS[count - 1](shape[1] * groups, shape[0], shape[2:], **options)
    return importer.module(with_weight(layer, weight, offset), node)


@importing("Gemm")
def gemm(importer: Importer, operator: Operator, a: Given, b: Given, *c: Given) -> Made:
    """A linear layer."""
    values = operator.attributes
    if values.get("transA") or values.get("alpha", 1.0) != 1 or values.get("beta", 1.0) != 1:
        raise Unsupported("transA, alpha and beta")
    turned = not values.get("transB")
    weight = importer.constant(b, "the weight")
    bias = importer.constant(c[0], "the bias") if c else None
    outputs, inputs = weight.shape[::-1] if turned else weight.shape
    if bias is not None:
        bias = np.broadcast_to(bias.reshape(-1), (outputs,))
    layer = nn.Linear(inputs, outputs, bias=bias is not None)
    return importer.module(with_weight(layer, b, bias, turned), importer.node(a))


@importing("MatMul")
def product(importer: Importer, operator: Operator, a: Given, b: Given) -> Made:
    """A linear layer where the second factor is a constant matrix, else a product."""
    if b.array is None or np.ndim(b.array) != 2 or a.node is None:
        return importer.call(matmul, importer.node(a), importer.node(b))
    inputs, outputs = np.shape(b.array)
    layer = nn.Linear(inputs, outputs, bias=False)
    return importer.module(with_weight(layer, b, None, turned=True), importer.node(a))


@importing("Add")
def total(importer: Importer, operator: Operator, a: Given, b: Given) -> Made:
    """A sum; after a product by a constant matrix, the bias of that linear layer."""
    left, right = (a, b) if a.node is not None else (b, a)
    layer = _linear_without_bias(importer, left)
    names = [name for name in operator.inputs if importer.tensors[name] is left]
    shape = None if right.array is None else np.shape(right.array)
    if layer is not None and importer.uses(names[0]) == 1 and shape == (layer.out_features,):
        del layer.bias
        layer.register_parameter("bias", Parameter(tensor_of(right.array)))
        return left.node
    return importer.call(add, importer.node(a), importer.node(b))


def _linear_without_bias(importer: Importer, given: Given) -> Any:
    if given.node is None or given.node.op != "call_module":
        return None
    layer = importer.root.get_submodule(given.node.target)
    return layer if isinstance(layer, nn.Linear) and layer.bias is None else None


@importing("BatchNormalization")
def batch_norm(importer: Importer, operator: Operator, x: Given, *parts: Given) -> Made:
    """Batch norm with the statistics of the training."""
    weight, bias, mean, var = (importer.constant(each, "a statistic") for each in parts)
    rank = importer.rank(operator.inputs[0])
    kinds: dict[int, Any] = {2: nn.BatchNorm1d, 3: nn.BatchNorm1d, 4: nn.BatchNorm2d}
    kind = kinds.get(rank, nn.BatchNorm3d)
    layer = kind(weight.shape[0], eps=operator.attributes.get("epsilon", 1e-5))
    layer.weight.data, layer.bias.data = tensor_of(weight), tensor_of(bias)
    layer.running_mean, layer.running_var = tensor_of(mean), tensor_of(var)
    return importer.module(layer, importer.node(x))


@importing("LayerNormalization")
def layer_norm(importer: Importer, operator: Operator, x: Given, *parts: Given) -> Made:
    """Layer norm over the last axes."""
    weight = importer.constant(parts[0], "the weight")
    layer = nn.LayerNorm(weight.shape, eps=operator.attributes.get("epsilon", 1e-5))
    layer.weight.data = tensor_of(weight)
    if len(parts) > 1:
        layer.bias.data = tensor_of(importer.constant(parts[1], "the bias"))
    return importer.module(layer, importer.node(x))


@importing("InstanceNormalization", "GroupNormalization")
def group_norm(importer: Importer, operator: Operator, x: Given, *parts: Given) -> Made:
    """Group norm; instance norm is that of groups of one channel."""
    weight, bias = (importer.constant(each, "a parameter") for each in parts)
    channels = weight.shape[0]
    groups: Any = operator.attributes.get("num_groups", channels)
    layer = nn.GroupNorm(groups, channels, eps=operator.attributes.get("epsilon", 1e-5))
    layer.weight.data, layer.bias.data = tensor_of(weight), tensor_of(bias)
    return importer.module(layer, importer.node(x))


@importing("MaxPool", "AveragePool")
def pool(importer: Importer, operator: Operator, x: Given) -> Made:
    """The largest of each window, or the mean."""
    values = operator.attributes
    count = len(values["kernel_shape"])
    given = geometry(importer, operator, count)
    largest = operator.kind == "MaxPool"
    if len(operator.outputs) > 1:
        raise Unsupported("indices of the largest")
    names = "MaxPool", "AvgPool"
    kind: Any = getattr(nn, f"{names[not largest]}{count}d")
    options: dict[str, Any] = {"ceil_mode": bool(values.get("ceil_mode", 0))}
    if largest:
        options["dilation"] = given["dilation"]
    else:
        options["count_include_pad"] = bool(values.get("count_include_pad", 0))
        if any(each != 1 for each in given["dilation"]):
            raise Unsupported("dilations")
    if any(before != after for before, after in given["pairs"]):
        raise Unsupported("pads that differ before and after")
    padding = tuple(before for before, _ in given["pairs"])
    layer = kind(tuple(given["kernel"]), given["stride"], padding, **options)
    return Given(importer.module(layer, importer.node(x)), grid=x.grid if largest else None)


@importing("GlobalAveragePool", "GlobalMaxPool")
def global_pool(importer: Importer, operator: Operator, x: Given) -> Made:
    """The mean of each channel, or the largest."""
    count = importer.rank(operator.inputs[0]) - 2
    largest = operator.kind == "GlobalMaxPool"
    kind: Any = getattr(nn, f"Adaptive{'Max' if largest else 'Avg'}Pool{count}d")
    layer = kind(1)
    return Given(importer.module(layer, importer.node(x)), grid=x.grid if largest else None)
