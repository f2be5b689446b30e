"""Transposed convolutions on integers."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref.numerics.convolution import quantized_conv_transpose
from pyqref.numerics.requantize import requantization
from pyqref.tensor.quantized import make_per_tensor

ops = pyqref.ops.quantized


def _integers(seed: int, dtype: Any, *shape: int) -> np.ndarray:
    info = np.iinfo(dtype)
    return np.random.default_rng(seed).integers(info.min, info.max + 1, shape).astype(dtype)


def _packed(dimensions: int, weight: np.ndarray, bias: Any = None, *geometry: Any) -> Any:
    tensor = make_per_tensor(weight, 0.02, 0, pyqref.qint8)
    return getattr(ops, f"conv_transpose{dimensions}d_prepack")(tensor, bias, *geometry)


def _input(integers: np.ndarray) -> Any:
    return make_per_tensor(integers, 0.03, 61, pyqref.quint8)


GEOMETRIES = list(itertools.product((1, 2, 3), (0, 1, 4), (0, 1), (1, 2)))


@pytest.mark.parametrize(("stride", "padding", "extra", "dilation"), GEOMETRIES)
@pytest.mark.parametrize("groups", [1, 2])
def test_follows_the_equation(
    stride: int, padding: int, extra: int, dilation: int, groups: int
) -> None:
    """The convolution over the canvas gives the sums of eq-conv-transpose-accumulator."""
    if extra >= max(stride, dilation):
        weight = _integers(0, np.int8, 4, 3, 3)
        with pytest.raises(RuntimeError, match="output_padding must be smaller"):
            _packed(1, weight, None, stride, padding, extra, dilation)
        return
    x, weight = _integers(1, np.uint8, 2, 4, 7), _integers(2, np.int8, 4, 3, 3)
    bias = pyqref.randn(3 * groups)
    geometry = ([stride], [padding], [extra], [dilation], groups)
    packed = _packed(1, weight, bias, *geometry)
    requant = requantization("fbgemm", 0.03, np.float64(0.02), 5.0, 90, bias.numpy())
    if min(packed.out_size((7,))) < 1:
        with pytest.raises(RuntimeError, match="each dimension of the output"):
            ops.conv_transpose1d(_input(x), packed, 5.0, 90)
        return
    expected = quantized_conv_transpose(x, 61, weight, 0, requant, *geometry)
    actual = ops.conv_transpose1d(_input(x), packed, 5.0, 90)
    assert expected.tolist() == actual.int_repr().tolist()
    assert weight.tolist() == packed.unpack()[0].int_repr().tolist()


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_is_the_adjoint_of_the_convolution(dimensions: int) -> None:
    """<conv(x), y> = <x, conv_transpose(y)> for integers on grids of scale 1."""
    rng = np.random.default_rng(3)
    kernel = rng.integers(-2, 3, (2, 3, *(2,) * dimensions)).astype(np.int8)
    x = rng.integers(0, 3, (1, 3, *(4,) * dimensions)).astype(np.uint8)
    y = rng.integers(0, 3, (1, 2, *(3,) * dimensions)).astype(np.uint8)
    make = make_per_tensor
    weight = make(kernel, 1.0, 0, pyqref.qint8)
    one = [1] * dimensions
    forwards = getattr(ops, f"conv{dimensions}d_prepack")(weight, None, one)
    backwards = getattr(ops, f"conv_transpose{dimensions}d_prepack")(weight, None, one)
    conv = getattr(ops, f"conv{dimensions}d")(make(x, 1.0, 0, pyqref.quint8), forwards, 1.0, 128)
    back = getattr(ops, f"conv_transpose{dimensions}d")(
        make(y, 1.0, 0, pyqref.quint8), backwards, 1.0, 128
    )
    left = (conv.dequantize().numpy() * y).sum()
    assert left == (back.dequantize().numpy() * x).sum()


def test_per_channel_weights() -> None:
    """Along axis 1, with qnnpack and one group; else a clear error."""
    weight = pyqref.quantize_per_channel(
        pyqref.randn(4, 3, 2), pyqref.ones(3) * 0.1, pyqref.zeros(3), 1, pyqref.qint8
    )
    with pytest.raises(RuntimeError, match=r"per tensor \(per channel with engine 'qnnpack'"):
        ops.conv_transpose1d_prepack(weight)
    pyqref.backends.quantized.engine = "qnnpack"
    packed = ops.conv_transpose1d_prepack(weight)
    assert weight.int_repr().tolist() == packed.unpack()[0].int_repr().tolist()
    with pytest.raises(RuntimeError, match="groups=2"):
        ops.conv_transpose1d_prepack(weight, groups=2)
    wrong = pyqref.quantize_per_channel(
        pyqref.randn(4, 3, 2), pyqref.ones(4) * 0.1, pyqref.zeros(4), 0, pyqref.qint8
    )
    with pytest.raises(RuntimeError, match="along axis 1"):
        ops.conv_transpose1d_prepack(wrong)


def test_errors() -> None:
    """Other packed weights, shapes, groups, bias."""
    packed = _packed(2, _integers(4, np.int8, 4, 3, 2, 2))
    x = _input(_integers(5, np.uint8, 1, 4, 3, 3))
    with pytest.raises(TypeError, match=r"come from quantized\.conv2d_prepack"):
        ops.conv2d(x, packed, 1.0, 0)
    with pytest.raises(TypeError, match=r"come from quantized\.conv_transpose1d_prepack"):
        ops.conv_transpose1d(x, packed, 1.0, 0)
    with pytest.raises(RuntimeError, match="must have 4 channels, but got 3"):
        ops.conv_transpose2d(x[:, :3].contiguous(), packed, 1.0, 0)
    with pytest.raises(RuntimeError, match=r"input shape must be \(N, C, H, W\)"):
        ops.conv_transpose2d(x[0], packed, 1.0, 0)
    with pytest.raises(ValueError, match="groups must divide the 4 input channels, got 3"):
        _packed(2, _integers(4, np.int8, 4, 3, 2, 2), None, 1, 0, 0, 1, 3)
    with pytest.raises(RuntimeError, match="bias must have one element for each of the 6"):
        _packed(2, _integers(4, np.int8, 4, 3, 2, 2), pyqref.zeros(3), 1, 0, 0, 1, 2)
    with pytest.raises(RuntimeError, match="output_padding must be smaller"):
        _packed(2, _integers(4, np.int8, 4, 3, 2, 2), None, 2, 0, 2)


def test_what_a_packed_weight_says() -> None:
    packed = _packed(2, _integers(6, np.int8, 4, 3, 2, 2), pyqref.zeros(6), 2, 1, (1, 0), 1, 2)
    assert [2, 2] == ops.conv_transpose2d_stride(packed)
    assert [1, 1] == ops.conv_transpose2d_padding(packed)
    assert [1, 0] == ops.conv_transpose2d_output_padding(packed)
    assert [1, 1] == ops.conv_transpose2d_dilation(packed)
    assert (2, 1) == (ops.conv_transpose2d_groups(packed), ops.conv_transpose2d_transpose(packed))
    plain = ops.conv_prepack(
        pyqref.quantize_per_tensor(pyqref.zeros(4, 3, 1, 1), 1.0, 0, pyqref.qint8)
    )
    assert 0 == ops.conv2d_transpose(plain)
    sizes = ([4, 3, 1, 1], None, [1, 1], [0, 0], [1, 1], 1)
    assert sizes == ops.conv2d_unpack_sizes(plain)


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_empty_batch(dimensions: int) -> None:
    packed = _packed(dimensions, _integers(7, np.int8, 4, 3, *(2,) * dimensions))
    x = _input(np.zeros((0, 4, *(3,) * dimensions), np.uint8))
    y = getattr(ops, f"conv_transpose{dimensions}d")(x, packed, 1.0, 0)
    assert (0, 3, *(4,) * dimensions) == tuple(y.shape)
