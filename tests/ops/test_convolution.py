"""ops.quantized.conv1d/2d/3d: the integers of the equations, on every engine; errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref.numerics.convolution import quantized_conv
from pyqref.numerics.requantize import requantization
from pyqref.ops import quantized as ops

OPERATIONS = {
    1: (ops.conv1d_prepack, ops.conv1d, ops.conv1d_relu),
    2: (ops.conv2d_prepack, ops.conv2d, ops.conv2d_relu),
    3: (ops.conv3d_prepack, ops.conv3d, ops.conv3d_relu),
}
GEOMETRIES: list[dict[str, Any]] = [
    {},
    {"padding": 1},
    {"stride": 2, "padding": 2},
    {"dilation": 2, "padding": 1},
    {"groups": 2},
    {"groups": 4, "padding": 1},
]


def _input(*shape: int) -> pyqref.Tensor:
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    return pyqref.quantize_per_tensor(pyqref.from_numpy(x), 0.02, 140, pyqref.quint8)


def _weight(*shape: int, per_channel: bool = False) -> pyqref.Tensor:
    weight = pyqref.from_numpy(np.random.default_rng(1).standard_normal(shape).astype(np.float32))
    if not per_channel:
        return pyqref.quantize_per_tensor(weight, 0.02, 0, pyqref.qint8)
    scales = pyqref.linspace(0.01, 0.03, shape[0], dtype=pyqref.float64)
    zero_points = pyqref.zeros(shape[0], dtype=pyqref.int64)
    return pyqref.quantize_per_channel(weight, scales, zero_points, 0, pyqref.qint8)


@pytest.mark.parametrize("dimensions", [1, 2, 3])
@pytest.mark.parametrize("options", GEOMETRIES, ids=str)
@pytest.mark.parametrize("engine", ["fbgemm", "qnnpack"])
@pytest.mark.parametrize("per_channel", [False, True])
def test_follows_the_equations(
    dimensions: int, options: dict[str, Any], engine: str, per_channel: bool
) -> None:
    """Integers are those of eq-conv-accumulator and eq-requantize; depthwise ones are exact."""
    pyqref.backends.quantized.engine = engine
    groups = options.get("groups", 1)
    x = _input(2, 4, *(6,) * dimensions)
    weight = _weight(8, 4 // groups, *(3,) * dimensions, per_channel=per_channel)
    bias = pyqref.linspace(-1, 1, 8)
    prepack, convolve, convolve_relu = OPERATIONS[dimensions]
    packed = prepack(weight, bias, **options)
    scales = weight.q_per_channel_scales().numpy() if per_channel else np.float64(0.02)
    geometry = [
        (options.get(name, default),) * dimensions
        for name, default in (("stride", 1), ("padding", 0), ("dilation", 1))
    ]
    for operation, relu in ((convolve, False), (convolve_relu, True)):
        requant = requantization(engine, 0.02, scales, 0.06, 101, bias.numpy(), relu=relu)
        expected = quantized_conv(
            x.int_repr().numpy(), 140, weight.int_repr().numpy(), 0, requant, *geometry, groups
        )
        actual = operation(x, packed, 0.06, 101)
        assert expected.tolist() == actual.int_repr().tolist()


def test_channels_last_input() -> None:
    """The order of the dimensions in memory does not change the result."""
    x = _input(2, 4, 5, 5)
    packed = ops.conv2d_prepack(_weight(3, 4, 3, 3))
    last = x.contiguous(memory_format=pyqref.channels_last)
    expected = ops.conv2d(x, packed, 0.1, 3).int_repr().tolist()
    assert expected == ops.conv2d(last, packed, 0.1, 3).int_repr().tolist()


def test_padding_stands_for_zero() -> None:
    """Padding holds the zero point: an image of zeros stays zero up to its edge."""
    x = pyqref.quantize_per_tensor(pyqref.zeros(1, 1, 3, 3), 0.1, 77, pyqref.quint8)
    packed = ops.conv2d_prepack(_weight(1, 1, 3, 3), padding=1)
    assert {5} == set(ops.conv2d(x, packed, 0.1, 5).int_repr().flatten().tolist())


def test_empty_batch() -> None:
    """A batch of no images gives no images."""
    packed = ops.conv2d_prepack(_weight(3, 4, 3, 3))
    assert tuple(ops.conv2d(_input(0, 4, 5, 5), packed, 1.0, 0).shape) == (0, 3, 3, 3)


def test_unpack_gives_back_weight_and_bias() -> None:
    """conv2d_unpack is the inverse of conv2d_prepack."""
    weight = _weight(3, 4, 3, 3)
    unpacked, bias = ops.conv2d_unpack(ops.conv2d_prepack(weight))
    assert weight.int_repr().tolist() == unpacked.int_repr().tolist()
    assert bias is None


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: pyqref.zeros(1, 4, 5, 5), RuntimeError, "must be a quantized tensor"),
        (
            lambda: pyqref.quantize_per_tensor(pyqref.zeros(1, 4, 5, 5), 1.0, 0, pyqref.qint32),
            RuntimeError,
            "must have dtype pyqref.quint8, got pyqref.qint32",
        ),
        (lambda: _input(4, 5, 5), RuntimeError, r"must be \(N, C, H, W\), got \(4, 5, 5\)"),
        (lambda: _input(1, 5, 5, 5), RuntimeError, "must have 4 channels, but got 5 channels"),
        (lambda: _input(1, 4, 2, 5), RuntimeError, "smaller than the kernel"),
        (lambda: _input(1, 4, 0, 5), RuntimeError, "only the batch may be empty"),
    ],
)
def test_bad_input(make: Any, error: type[Exception], text: str) -> None:
    """Each wrong input is named together with what is right."""
    packed = ops.conv2d_prepack(_weight(3, 4, 3, 3))
    with pytest.raises(error, match=text):
        ops.conv2d(make(), packed, 1.0, 0)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"stride": 0}, "stride must be"),
        ({"padding": -1}, "padding must be"),
        ({"dilation": (1, 0)}, "dilation must be"),
        ({"stride": (1, 1, 1)}, "stride must be one integer or 2 integers"),
        ({"groups": 2}, "groups must divide the 3 output channels, got 2"),
    ],
)
def test_bad_geometry(options: dict[str, Any], text: str) -> None:
    """Stride, padding, dilation and groups are checked when the weight is packed."""
    with pytest.raises(ValueError, match=text):
        ops.conv2d_prepack(_weight(3, 4, 3, 3), **options)


@pytest.mark.parametrize("shape", [(0, 4, 3, 3), (3, 0, 3, 3), (3, 4, 0, 3)])
def test_empty_weight(shape: tuple[int, ...]) -> None:
    with pytest.raises(RuntimeError, match="weight must not be empty"):
        ops.conv2d_prepack(_weight(*shape))


def test_bad_weight_and_bias() -> None:
    """The weight is qint8 of the right dimensions, the bias as long as there are outputs."""
    with pytest.raises(RuntimeError, match="weight must have 4 dimensions"):
        ops.conv2d_prepack(_weight(3, 4, 3))
    with pytest.raises(RuntimeError, match="each of the 3 outputs"):
        ops.conv2d_prepack(_weight(3, 4, 3, 3), pyqref.zeros(4))
    with pytest.raises(TypeError, match="conv1d_prepack"):
        ops.conv1d(_input(1, 4, 5), ops.conv2d_prepack(_weight(3, 4, 3, 3)), 1.0, 0)
