"""nn.quantized.Conv1d/2d/3d and their fused forms."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import pyqref
from pyqref import nn
from pyqref.ops import quantized as ops

FAMILIES = [
    (nn.quantized.Conv1d, ops.conv1d_prepack, ops.conv1d, 1),
    (nn.quantized.Conv2d, ops.conv2d_prepack, ops.conv2d, 2),
    (nn.quantized.Conv3d, ops.conv3d_prepack, ops.conv3d, 3),
    (nn.intrinsic.quantized.ConvReLU2d, ops.conv2d_prepack, ops.conv2d_relu, 2),
    (nn.intrinsic.quantized.ConvReLU3d, ops.conv3d_prepack, ops.conv3d_relu, 3),
]


def _weight(*shape: int, per_channel: bool = False) -> pyqref.Tensor:
    pyqref.manual_seed(0)
    weight = pyqref.randn(*shape)
    if not per_channel:
        return pyqref.quantize_per_tensor(weight, 0.02, 0, pyqref.qint8)
    scales = pyqref.linspace(0.01, 0.03, shape[0], dtype=pyqref.float64)
    zero_points = pyqref.zeros(shape[0], dtype=pyqref.int64)
    return pyqref.quantize_per_channel(weight, scales, zero_points, 0, pyqref.qint8)


def _input(*shape: int, dtype: Any = pyqref.quint8) -> pyqref.Tensor:
    pyqref.manual_seed(1)
    return pyqref.quantize_per_tensor(pyqref.randn(*shape), 0.03, 100, dtype)


def _layer(cls: Any, dimensions: int, *, per_channel: bool = False) -> Any:
    layer = cls(4, 6, 3, stride=2, padding=1, groups=2)
    weight = _weight(6, 2, *(3,) * dimensions, per_channel=per_channel)
    layer.set_weight_bias(weight, pyqref.linspace(-1, 1, 6))
    layer.scale, layer.zero_point = 0.05, 40
    return layer


@pytest.mark.parametrize(("cls", "prepack", "operation", "dimensions"), FAMILIES)
@pytest.mark.parametrize("per_channel", [False, True])
def test_forward_is_the_operation(
    cls: Any, prepack: Any, operation: Any, dimensions: int, per_channel: bool
) -> None:
    """The layer is the operation with its own weight, geometry and output parameters."""
    layer = _layer(cls, dimensions, per_channel=per_channel)
    x = _input(2, 4, *(5,) * dimensions)
    packed = prepack(layer.weight(), layer.bias(), 2, 1, 1, 2)
    expected = operation(x, packed, 0.05, 40).int_repr().tolist()
    assert expected == layer(x).int_repr().tolist()


@pytest.mark.parametrize(("cls", "prepack", "operation", "dimensions"), FAMILIES)
def test_copies_and_state(cls: Any, prepack: Any, operation: Any, dimensions: int) -> None:
    """Copies, pickles and a layer that loads the state compute the same."""
    layer = _layer(cls, dimensions, per_channel=True)
    x = _input(1, 4, *(5,) * dimensions)
    expected = layer(x).int_repr().tolist()
    state = layer.state_dict()
    assert ["weight", "bias", "scale", "zero_point"] == list(state)
    loaded = cls(4, 6, 3, stride=2, padding=1, groups=2)
    loaded.load_state_dict(state)
    for other in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer)), loaded):
        assert expected == other(x).int_repr().tolist()


def test_documented_geometries() -> None:
    """The layers of the documented example, fed with quint8 as they require."""
    layers = {
        (2, 33, 4, 9): nn.quantized.Conv2d(16, 33, 3, stride=2),
        (2, 33, 8, 20): nn.quantized.Conv2d(16, 33, (3, 5), stride=(2, 1), padding=(4, 2)),
        (2, 33, 6, 20): nn.quantized.Conv2d(
            16, 33, (3, 5), stride=(2, 1), padding=(4, 2), dilation=(3, 1)
        ),
    }
    for shape, layer in layers.items():
        assert shape == tuple(layer(_input(2, 16, 10, 20)).size())


def test_without_bias() -> None:
    layer = nn.quantized.Conv2d(4, 6, 3, bias=False)
    assert layer.bias() is None
    assert layer.state_dict()["bias"] is None
    other = nn.quantized.Conv2d(4, 6, 3)
    other.load_state_dict(layer.state_dict())
    assert other.bias() is None


def test_text() -> None:
    layer = nn.quantized.Conv2d(4, 6, 3, padding=1, dilation=2, groups=2, bias=False)
    expected = (
        "QuantizedConv2d(4, 6, kernel_size=(3, 3), stride=(1, 1), scale=1.0, zero_point=0, "
        "padding=(1, 1), dilation=(2, 2), groups=2, bias=False)"
    )
    assert expected == repr(layer)


def test_bad_construction() -> None:
    with pytest.raises(ValueError, match="groups must divide in_channels and out_channels"):
        nn.quantized.Conv2d(4, 6, 3, groups=3)
    with pytest.raises(ValueError, match="groups must divide in_channels and out_channels"):
        nn.quantized.Conv2d(4, 6, 3, groups=0)
    with pytest.raises(ValueError, match="stride must be one integer or 2 integers >= 1, got 0"):
        nn.quantized.Conv2d(4, 6, 3, stride=0)
    with pytest.raises(ValueError, match=r"padding must be 'valid', 'same', .*, got 'full'"):
        nn.quantized.Conv2d(4, 6, 3, padding="full")
    with pytest.raises(ValueError, match=r"padding='same' needs stride 1, got stride \(1, 2\)"):
        nn.quantized.Conv2d(4, 6, 3, stride=(1, 2), padding="same")
    with pytest.raises(ValueError, match=r"padding_mode must be 'zeros' or .*'same'"):
        nn.quantized.Conv2d(4, 6, 3, padding_mode="same")
    with pytest.raises(ValueError, match=r"kernel_size must be .*, got 1\.5"):
        nn.quantized.Conv2d(4, 6, 1.5)
    with pytest.raises(ValueError, match=r"must have shape \(6, 4, 3, 3\), got \(6, 4, 3\)"):
        nn.quantized.Conv2d(4, 6, 3).set_weight_bias(_weight(6, 4, 3), None)
    with pytest.raises(RuntimeError, match="each of the 6 outputs"):
        nn.quantized.Conv2d(4, 6, 3).set_weight_bias(_weight(6, 4, 3, 3), pyqref.zeros(4))


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: pyqref.randn(1, 4, 5, 5), r"^1 \(QuantizedConv2d\).*QuantStub is missing"),
        (lambda: _input(1, 4, 5, 5, dtype=pyqref.qint32), r"got one of pyqref\.qint32"),
        (lambda: _input(1, 3, 5, 5), "must have 4 channels, but got 3 channels"),
        (lambda: _input(4, 5, 5), r"must be \(N, C, H, W\)"),
        (lambda: _input(1, 4, 2, 2), "smaller than the kernel"),
    ],
)
def test_bad_input(make: Any, text: str) -> None:
    """A float tensor, another dtype, other channels, another rank, too small an image."""
    model = nn.Sequential(nn.Identity(), nn.quantized.Conv2d(4, 6, 3))
    with pytest.raises(RuntimeError, match=text):
        model(make())


def test_a_state_that_does_not_fit_changes_nothing() -> None:
    layer = _layer(nn.quantized.Conv2d, 2)
    before = layer(_input(1, 4, 5, 5)).int_repr().tolist()
    with pytest.raises(RuntimeError, match="size mismatch for weight"):
        layer.load_state_dict(nn.quantized.Conv2d(4, 6, 5, groups=2).state_dict())
    assert before == layer(_input(1, 4, 5, 5)).int_repr().tolist()
    assert (0.05, 40) == (layer.scale, layer.zero_point)


def test_from_float_errors() -> None:
    with pytest.raises(TypeError, match="from_float takes one of"):
        nn.quantized.Conv2d.from_float(nn.Conv1d(4, 6, 3))
    with pytest.raises(ValueError, match="no activation_post_process"):
        nn.quantized.Conv2d.from_float(nn.Conv2d(4, 6, 3))
