"""Layers that choose the grid of their input while they run, and tables of embeddings."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._typing import Packed, Tensor
from ...nn import modules as nn
from ...nn import quantized as nnq
from ...nn.intrinsic.quantized import dynamic as nniqd
from ...nn.quantized import dynamic as nnqd
from ..maker import Maker
from ..problems import Unsupported
from ..table import Layer, lowering
from ..wire import Wire
from .weighted import product, weight_of

__all__ = ["dynamic_product", "quantized_input", "reduces_range"]


def quantized_input(make: Maker, real: str, reduce_range: bool) -> tuple[str, str, str]:
    """The integers of an input on a grid of its own, and that grid (``eq-dynamic-input``).

    DynamicQuantizeLinear, whose grid has 8 bits; with ``reduce_range`` the same steps for 7 bits.
    """
    if not reduce_range:
        names: tuple[str, str, str] = make.node("DynamicQuantizeLinear", [real], outputs=3)
        return names
    zero, one = make.scalar("zero", 0), make.scalar("one", 1)
    steps = make.scalar("steps", 127)
    low = make.node("Min", [make.node("ReduceMin", [real], keepdims=0), zero])
    high = make.node("Max", [make.node("ReduceMax", [real], keepdims=0), zero])
    scale = make.node("Div", [make.node("Sub", [high, low]), steps])
    scale = make.node("Where", [make.node("Equal", [scale, zero]), one, scale], suffix="scale")
    zero_point = make.node("Round", [make.node("Div", [make.node("Neg", [low]), scale])])
    zero_point = make.node("Clip", [zero_point, zero, steps])
    zero_point = make.node("Cast", [zero_point], to=2, suffix="zero_point")  # uint8
    return make.node("QuantizeLinear", [real, scale, zero_point]), scale, zero_point


def dynamic_product(
    make: Maker,
    quantized: tuple[str, str, str],
    weight: Tensor,
    bias: Tensor | None,
    name: str = "weight",
) -> str:
    """Sums of products of integers as real numbers (``eq-linear-dynamic``)."""
    integers, scale, zero_point = quantized
    parts = weight_of(weight)
    inputs = [
        integers,
        make.constant(name, np.ascontiguousarray(parts.integers.T)),
        zero_point,
        make.constant(f"{name}_zero_point", parts.zero_point),
    ]
    total = make.node("Cast", [make.node("MatMulInteger", inputs)], to=1)
    unit = make.node("Mul", [scale, make.constant(f"{name}_scale", parts.scale)])
    real = make.node("Mul", [total, unit])
    if bias is not None:
        real = make.node("Add", [real, make.constant(f"{name}_bias", bias.detach().numpy())])
    return str(real)


def reduces_range(make: Maker, packed: Packed) -> bool:
    """Return True if an input is quantized to 7 bits, as the engine of a packed weight does.

    The style ``"qoperator"`` has DynamicQuantizeLinear, as the arithmetic ``"onnx"`` has.
    """
    return make.style == "qdq" and packed.engine != "qnnpack"


@lowering(nnqd.Linear, nniqd.LinearReLU)
def dynamic_linear(make: Maker, layer: Layer, x: Wire) -> str:
    """A linear layer with a quantized weight and real numbers in and out."""
    weight, bias = layer._weight_bias()
    if weight.is_quantized:
        quantized = quantized_input(
            make, x.name, reduces_range(make, layer._packed_params._packed_params)
        )
        real = dynamic_product(make, quantized, weight, bias)
    else:  # half precision
        inputs = [x.name, make.constant("weight", weight.numpy())]
        inputs += [] if bias is None else [make.constant("bias", bias.detach().numpy())]
        real = product(make, inputs, x, weight.numpy())
    return str(make.node("Relu", [real])) if isinstance(layer, nniqd.LinearReLU) else real


@lowering(nn.Embedding)
def embedding(make: Maker, layer: Layer, index: Wire) -> str:
    """Rows of a table of real numbers."""
    return str(
        make.node("Gather", [make.constant("weight", layer.weight.detach().numpy()), index.name])
    )


def _rows(make: Maker, layer: Any, index: Wire) -> str:
    """Rows of a table of integers as real numbers: each row has a scale and an offset."""
    weight = layer.weight()
    scales = np.asarray(weight.q_per_channel_scales().numpy(), np.float32)[:, None]
    zero_points = np.asarray(weight.q_per_channel_zero_points().numpy(), np.float32)[:, None]
    table = make.constant("weight", weight.int_repr().numpy().astype(np.uint8))
    rows = make.node("Gather", [table, index.name])
    rows = make.node("Cast", [rows], to=1)
    scale = make.node("Gather", [make.constant("weight_scale", scales), index.name])
    offset = make.constant("weight_offset", -zero_points * scales)
    offset = make.node("Gather", [offset, index.name])
    return str(make.node("Add", [make.node("Mul", [rows, scale]), offset]))


@lowering(nnq.Embedding)
def quantized_embedding(make: Maker, layer: Layer, index: Wire) -> str:
    """Rows of a quantized table."""
    return _rows(make, layer, index)


@lowering(nnq.EmbeddingBag)
def quantized_bag(make: Maker, layer: Layer, index: Wire, *others: object) -> str:
    """Sums of rows of a quantized table, for bags of one size."""
    if any(each is not None for each in others) or len(index.shape) != 2:
        raise Unsupported("offsets and weights are not exported; give indices (bags, size)")
    kinds = {"sum": "ReduceSum", "mean": "ReduceMean", "max": "ReduceMax"}
    mode = str(getattr(layer, "mode", "sum"))
    if mode not in kinds:
        raise Unsupported(f"mode={mode!r} is not exported")
    return str(make.node(kinds[mode], [_rows(make, layer, index), make.shape(1)], keepdims=0))
