"""Following the messages of quantized operations and functions works."""

from __future__ import annotations

from typing import Any

import pytest
from bad_input.engine import floats, per_channel, qint8, quint8
from messages.following import says

import pyqref
from pyqref import nn, ops
from pyqref import quantization as q


def test_an_operation_on_a_float_tensor() -> None:
    """quantize_per_tensor gives what it takes, as does a QuantStub before the layer."""
    x = floats(4, 3)
    packed = ops.quantized.linear_prepack(qint8(2, 3), None)
    with says("quantize it with quantize_per_tensor, or put a QuantStub before the layer"):
        ops.quantized.linear(x, packed, 0.1, 0)
    x = pyqref.quantize_per_tensor(x, 0.25, 4, pyqref.quint8)
    ops.quantized.linear(x, packed, 0.1, 0)
    with says("call dequantize() on it first"):
        ops.quantized.linear_dynamic(x, packed)
    ops.quantized.linear_dynamic(x.dequantize(), packed)
    with says("add one with x.unsqueeze(0)"):
        ops.quantized.linear(x[0], packed, 0.1, 0)
    ops.quantized.linear(x[0].unsqueeze(0), packed, 0.1, 0)


def test_weights_that_an_operation_cannot_pack() -> None:
    """The observers that the messages name make weights that it can."""
    weight = per_channel(2, 3, 2, 2, axis=1)
    prepack = ops.quantized.conv_transpose2d_prepack
    options = ([1, 1], [0, 0], [0, 0], [1, 1], 1)
    with says("use default_weight_observer"):
        prepack(weight, None, *options)
    observer = q.default_weight_observer()
    observer(weight.dequantize())
    grid = observer.calculate_qparams()
    prepack(
        pyqref.quantize_per_tensor(
            weight.dequantize(), *map(float, grid[:1]), int(grid[1]), observer.dtype
        ),
        None,
        *options,
    )
    with says(
        "use float_qparams_weight_only_qconfig, or quantize_per_channel with float zero_points"
    ):
        ops.quantized.embedding_bag_prepack(quint8(4, 8))
    zero_points = pyqref.full((4,), 0.5)
    ops.quantized.embedding_bag_prepack(
        pyqref.quantize_per_channel(floats(4, 8), pyqref.ones(4), zero_points, 0, pyqref.quint8)
    )
    table = nn.Embedding(4, 8)
    table.qconfig = q.float_qparams_weight_only_qconfig
    nn.quantized.Embedding.from_float(table)


def test_deprecated_and_incomplete_arguments() -> None:
    """interpolate, dim=, and both output parameters."""
    x, functional = quint8(1, 2, 4, 4), nn.quantized.functional
    with says("Use nn.quantized.functional.interpolate instead."):
        functional.upsample(x, 8)
    functional.interpolate(x, 8)
    with says("pass dim="):
        nn.quantized.Softmax()(x)
    nn.quantized.Softmax(dim=1)(x)
    with says("give both scale and zero_point, or neither"):
        functional.leaky_relu(x, 0.1, scale=0.1)
    functional.leaky_relu(x, 0.1, scale=0.1, zero_point=4)
    functional.leaky_relu(x, 0.1)
    with says("prefer a static convolution"):
        nn.quantized.dynamic.Conv2d(2, 2, 1)
    nn.quantized.Conv2d(2, 2, 1)


def test_the_padding_of_an_even_kernel() -> None:
    """The call that is printed pads the input; the layer does it by itself."""
    x, weight = quint8(1, 2, 3, 4), qint8(2, 2, 2, 4)
    with says(
        "call nn.functional.pad(x, {}) on the input, with padding=0 here, or use nn.quantized."
        "Conv{}d, which does that"
    ) as told:
        ops.quantized.conv2d_prepack(weight, None, padding="same")
    call = told.text.rpartition(": call ")[2].partition(" on the input")[0]
    padded = eval(call, {"nn": nn, "x": x})
    packed = ops.quantized.conv2d_prepack(weight, None, padding=0)
    assert "or use nn.quantized.Conv2d, which" in told.text
    layer = nn.quantized.Conv2d(2, 2, (2, 4), padding="same", bias=False)
    layer.set_weight_bias(weight, None)
    layer.scale, layer.zero_point = 0.1, 10
    assert x.shape == layer(x).shape
    assert layer(x).equal(ops.quantized.conv2d(padded, packed, 0.1, 10))


def test_biases_that_qnnpack_cuts() -> None:
    """A larger eps of the weight observer, or another engine."""

    def run(eps: float, engine: str = "qnnpack") -> Any:
        layer = nn.Linear(3, 2)
        layer.weight.data.copy_(1e-9 * floats(2, 3))
        layer.bias.data.copy_(pyqref.tensor([9e3, -9e3]))
        pyqref.backends.quantized.engine = "qnnpack"
        weight = q.MinMaxObserver.with_args(
            dtype=pyqref.qint8, qscheme=pyqref.per_tensor_symmetric, eps=eps
        )
        model = q.QuantWrapper(layer).eval()
        model.qconfig = q.QConfig(activation=q.default_observer, weight=weight)
        prepared = q.prepare(model)
        prepared(floats(4, 3))
        pyqref.backends.quantized.engine = engine
        return q.convert(prepared)(floats(4, 3))

    with says(
        "give the weight observer a larger eps{}, or convert with "
        "pyqref.backends.quantized.engine = 'x86', which keeps biases real"
    ) as told:
        run(2**-30)
    eps = eval(told.text.rpartition("such as ")[2].partition(",")[0])
    for right in (run(eps), run(2**-30, "x86")):
        assert 9000 == pytest.approx(right.max().item(), rel=0.01)


def test_reals_of_exported_graphs() -> None:
    """Tensors of other types work after they are converted to float32."""
    x = pyqref.ones(2, dtype=pyqref.float64)
    q = pyqref.quantize_per_tensor(x.float(), 0.5, 0, pyqref.qint8)
    quantize, grid = pyqref.ops.quantized_decomposed.quantize_per_tensor, (0.5, 0, -128, 127)
    for each in (x, q):
        with says("use x.float(), or x.dequantize() of a quantized tensor"):
            quantize(each, *grid, pyqref.int8)
    for each in (x.float(), q.dequantize()):
        assert [2, 2] == quantize(each, *grid, pyqref.int8).tolist()
