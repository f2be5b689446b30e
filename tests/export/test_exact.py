"""The style "exact": operators that leave no runtime a choice."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import pyqref
from pyqref import export, nn
from pyqref.nn import functional as F
from pyqref.nn import quantized as nnq
from pyqref.ops import quantized as ops

onnx = pytest.importorskip("onnx")

from export.runtimes import evaluated, served  # noqa: E402


class Both(nn.Module):
    """A function of two tensors."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, a, b):
        return self.function(a, b)


class One(Both):
    """A function of one tensor."""

    def forward(self, a):
        return self.function(a)


def quantized(*shape, scale=0.05, zero_point=100, dtype=pyqref.quint8, seed=0):
    """A tensor that holds every integer, if it is large enough."""
    ends = dtype.quant_min, dtype.quant_max + 1
    integers = np.random.default_rng(seed).integers(*ends, shape).astype(dtype.numpy_dtype)
    real = (integers.astype(np.float32) - zero_point) * np.float32(scale)
    return pyqref.quantize_per_tensor(pyqref.from_numpy(real), scale, zero_point, dtype)


def convolution(kind, *args, scale=40.0, least=100, **how):
    """A layer whose weights are ``least`` to 127, less 3, so that sums are large."""
    layer = kind(*args, **how)
    shape = layer.weight().shape
    reals = np.random.default_rng(1).integers(least, 128, shape).astype(np.float32)
    weight = pyqref.quantize_per_tensor(pyqref.from_numpy(reals), 1.0, 3, pyqref.qint8)
    layer.set_weight_bias(weight, pyqref.randn(layer.out_channels) * 100)
    layer.scale, layer.zero_point = scale, 31
    return layer


def agreed(model, *inputs, path):
    """Export, and compare every runtime with the arithmetic; return the kinds of operators."""
    export.onnx(model, inputs, path, "exact")
    with pyqref.arithmetic.use("onnx"):
        expected = model(*inputs).int_repr().numpy()
    written = onnx.load(path)
    given = [each.int_repr().numpy() for each in inputs]
    for run in (evaluated, served, partial(served, optimized=True)):
        (got,) = run(written, *given).values()
        assert (expected.dtype, 0) == (got.dtype, int((expected != got).sum()))
    assert len(np.unique(expected)) > 1
    return [each.op_type for each in written.graph.node]


@pytest.mark.parametrize(("channels", "parts"), [(58, 1), (59, 2), (117, 3)])
def test_sums_beyond_whole_numbers_of_float32(channels, parts, tmp_path):
    """``eq-linear-accumulator``: sums that may pass 2**24 are taken in parts.

    A channel adds at most 9 * 124 * 255 = 284,580, so that 58 of them stay below.
    """
    layer = convolution(nnq.Conv2d, channels, 2, 3, padding=1, scale=9e4, least=127)
    full = pyqref.full((1, channels, 4, 4), 255.0)
    x = pyqref.quantize_per_tensor(full, 1.0, 0, pyqref.quint8)
    kinds = agreed(layer, x, path=tmp_path / "model.onnx")
    assert parts == kinds.count("Conv")


@pytest.mark.parametrize(
    ("kind", "how", "shape"),
    [
        (nnq.Conv1d, {"stride": 2, "padding": 1, "dilation": 2}, (2, 4, 12)),
        (nnq.Conv3d, {"padding": 1}, (1, 4, 3, 4, 5)),
        (nnq.ConvTranspose2d, {"stride": 2, "padding": 1, "output_padding": 1}, (2, 4, 4, 5)),
    ],
)
@pytest.mark.parametrize("groups", [1, 2])
def test_convolutions(kind, how, shape, groups, tmp_path):
    """``eq-requantize-onnx``, in one to three dimensions, transposed, in groups."""
    layer = convolution(kind, 4, 6, 3, groups=groups, scale=30.0, **how)
    agreed(layer, quantized(*shape), path=tmp_path / "model.onnx")


def test_groups_in_parts(tmp_path):
    """Each part takes channels of every group."""
    for kind in (nnq.Conv1d, nnq.ConvTranspose1d):
        layer = convolution(kind, 1064, 4, 1, groups=2, scale=3e4, least=127)
        x = quantized(1, 1064, 6, zero_point=0)
        kinds = agreed(layer, x, path=tmp_path / "model.onnx")
        assert "Gather" in kinds


def test_linear_layers(tmp_path):
    """Also of several axes, and in parts: 531 columns add at most 531 * 124 * 255 > 2**24."""
    for columns, parts in ((530, 1), (531, 2)):
        layer = nnq.Linear(columns, 3)
        full = pyqref.full((3, columns), 127.0)
        layer.set_weight_bias(pyqref.quantize_per_tensor(full, 1.0, 3, pyqref.qint8), None)
        layer.scale, layer.zero_point = 3e4, 5
        x = quantized(2, 3, columns, zero_point=0)
        assert parts == agreed(layer, x, path=tmp_path / "model.onnx").count("MatMul")


def test_a_channel_with_too_large_sums(tmp_path):
    """If the sums of one channel pass 2**24, the error says so."""
    layer = convolution(nnq.Conv2d, 1, 1, 24, least=127)
    x = quantized(1, 1, 24, 24, zero_point=0)
    with pytest.raises(export.UnsupportedError, match=r"one channel may pass 2\*\*24"):
        export.onnx(layer, x, tmp_path / "model.onnx", "exact")


GRID = 0.07, 91


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: ops.add(a, b, *GRID),
        lambda a, b: ops.add(b, a, *GRID),
        lambda a, b: ops.add_relu(a, b, *GRID),
        lambda a, b: ops.mul(a, b, *GRID),
    ],
)
@pytest.mark.parametrize("shape", [(64, 32), (64, 1), (1, 32)])
def test_sums_and_products(function, shape, tmp_path):
    """``eq-onnx-add`` and ``eq-onnx-mul``, also where onnxruntime exchanges the two."""
    for dtype, zero_point in ((pyqref.quint8, 100), (pyqref.qint8, -9)):
        a = quantized(64, 32, dtype=dtype, zero_point=zero_point)
        b = quantized(*shape, scale=0.031, zero_point=7, dtype=dtype, seed=1)
        agreed(Both(function), a, b, path=tmp_path / "model.onnx")


@pytest.mark.parametrize(
    "function",
    [
        nnq.LeakyReLU(0.05, 40, 0.2),
        nnq.Sigmoid(1 / 256, 0),
        nnq.Hardswish(0.04, 11),
        One(lambda a: ops.add_scalar(a, 1.5)),
        One(lambda a: F.hardtanh(a, -1.0, 2.0)),
    ],
)
def test_functions(function, tmp_path):
    """``eq-real-operation``: a table of all results, for integers of both signs."""
    agreed(function, quantized(16, 16), path=tmp_path / "model.onnx")
    if isinstance(function, nnq.LeakyReLU):
        signed = quantized(16, 16, dtype=pyqref.qint8, zero_point=-20)
        agreed(function, signed, path=tmp_path / "model.onnx")


@pytest.mark.parametrize(
    "pool",
    [
        nn.AvgPool2d(3, 2, 1, ceil_mode=True, count_include_pad=False),
        nn.AvgPool2d((2, 3), 1, (1, 0)),
        nn.AvgPool2d((9, 8)),
        nn.AdaptiveAvgPool2d((3, 4)),
        nn.AdaptiveAvgPool2d(1),
        One(lambda a: a.mean((2, 3))),
        One(lambda a: a.mean(-1, keepdim=True)),
    ],
)
def test_means(pool, tmp_path):
    """``eq-onnx-average`` in the order of the window, ``eq-onnx-global-average`` of an image."""
    agreed(pool, quantized(2, 3, 9, 8, scale=0.1), path=tmp_path / "model.onnx")


def test_matrix_products(tmp_path):
    """``eq-requantize-onnx`` of two tensors."""
    a, b = quantized(3, 5, 7), quantized(3, 7, 4, seed=1)
    agreed(Both(lambda a, b: ops.matmul(a, b, 0.3, 20)), a, b, path=tmp_path / "model.onnx")


def test_functions_of_layers(tmp_path):
    """``eq-requantize-qdq``: the real result is rounded once, then the function or the sum."""
    layer = nn.intrinsic.quantized.LinearLeakyReLU(16, 8, 0.3)
    weight = pyqref.quantize_per_tensor(pyqref.randn(8, 16), 0.02, 0, pyqref.qint8)
    layer.set_weight_bias(weight, pyqref.randn(8))
    layer.scale, layer.zero_point = 0.05, 90
    agreed(layer, quantized(40, 16), path=tmp_path / "model.onnx")
    sum_ = convolution(nn.intrinsic.quantized.ConvAddReLU2d, 4, 6, 3, scale=30.0)
    inputs = quantized(2, 4, 7, 7), quantized(2, 6, 5, 5, scale=40.0, seed=1)
    agreed(sum_, *inputs, path=tmp_path / "model.onnx")
