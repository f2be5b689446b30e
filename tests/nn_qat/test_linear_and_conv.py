"""nn.qat.Linear and Conv2d, nn.intrinsic.qat.LinearReLU and ConvReLU2d."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import pyqref
from pyqref import nn
from pyqref.nn import functional as F

nniqat = nn.intrinsic.qat


def _qconfig() -> Any:
    return pyqref.quantization.get_default_qat_qconfig("fbgemm")


LINEAR = [(nn.qat.Linear, False), (nniqat.LinearReLU, True)]
CONV = [(nn.qat.Conv2d, False), (nniqat.ConvReLU2d, True)]


@pytest.mark.parametrize(("cls", "relu"), LINEAR)
def test_linear_uses_the_fake_quantized_weight(cls: Any, relu: bool) -> None:
    """Y = x fq(W)^T + b, and ReLU; the example of the documentation in its right place."""
    layer = cls(20, 30, qconfig=_qconfig())
    x = pyqref.randn(128, 20)
    expected = F.linear(x, layer.weight_fake_quant(layer.weight), layer.bias)
    expected = F.relu(expected) if relu else expected
    assert expected.tolist() == layer(x).tolist()
    assert (128, 30) == tuple(layer(x).size())


@pytest.mark.parametrize(("cls", "relu"), CONV)
def test_conv_uses_the_fake_quantized_weight(cls: Any, relu: bool) -> None:
    layer = cls(4, 6, 3, padding=1, groups=2, qconfig=_qconfig())
    x = pyqref.randn(2, 4, 5, 5)
    weight = layer.weight_fake_quant(layer.weight)
    expected = F.conv2d(x, weight, layer.bias, padding=1, groups=2)
    expected = F.relu(expected) if relu else expected
    assert expected.tolist() == layer(x).tolist()


@pytest.mark.parametrize(
    ("cls", "make"),
    [
        (nn.qat.Linear, lambda: nn.Linear(4, 3)),
        (nniqat.LinearReLU, lambda: nn.intrinsic.LinearReLU(nn.Linear(4, 3), nn.ReLU())),
        (nn.qat.Conv2d, lambda: nn.Conv2d(4, 6, 3, bias=False)),
        (nniqat.ConvReLU2d, lambda: nn.intrinsic.ConvReLU2d(nn.Conv2d(4, 6, 3), nn.ReLU())),
    ],
)
def test_from_float_and_back(cls: Any, make: Any) -> None:
    """Parameters are shared on the way there and copied on the way back."""
    float_layer = make()
    float_layer.qconfig = _qconfig()
    inner = float_layer[0] if isinstance(float_layer, nn.Sequential) else float_layer
    layer = cls.from_float(float_layer)
    assert layer.weight is inner.weight
    assert layer.bias is inner.bias
    back = layer.to_float()
    assert type(float_layer) is type(back)
    inner_back = back[0] if isinstance(back, nn.Sequential) else back
    assert inner.weight.tolist() == inner_back.weight.tolist()
    assert inner.weight is not inner_back.weight


def test_from_float_takes_a_qconfig() -> None:
    """A QConfig is the second argument, as documented in 1.4; 2.x's flag is no QConfig."""
    linear, qconfig = nn.Linear(4, 3), _qconfig()
    assert qconfig is nn.qat.Linear.from_float(linear, qconfig).qconfig
    linear.qconfig = qconfig
    assert qconfig is nn.qat.Linear.from_float(linear, True).qconfig
    assert qconfig is nn.qat.Linear.from_float(linear, use_precomputed_fake_quant=True).qconfig


@pytest.mark.parametrize(
    "make",
    [
        lambda: nn.qat.Linear(4, 3),
        lambda: nn.qat.Conv2d(4, 3, 3),
        lambda: nniqat.LinearReLU(4, 3),
        lambda: nniqat.ConvReLU2d(4, 3, 3),
        lambda: nniqat.ConvBn2d(4, 3, 3),
    ],
)
def test_qconfig_is_needed(make: Any) -> None:
    with pytest.raises(ValueError, match="qconfig must be given; pass qconfig="):
        make()


def test_from_float_errors() -> None:
    with pytest.raises(ValueError, match="has no qconfig; set mod"):
        nn.qat.Linear.from_float(nn.Linear(4, 3))
    with pytest.raises(TypeError, match=r"from_float takes a .*Linear.*got .*Conv2d"):
        nn.qat.Linear.from_float(nn.Conv2d(4, 3, 3))


def test_gradients_reach_the_master_weight() -> None:
    """Straight through the rounding."""
    layer = nn.qat.Linear(4, 3, qconfig=_qconfig())
    layer(pyqref.ones(1, 4)).sum().backward()
    assert [[1.0] * 4] * 3 == layer.weight.grad.tolist()


def test_deepcopy_and_state() -> None:
    layer = nn.qat.Linear(4, 3, qconfig=_qconfig())
    x = pyqref.randn(2, 4)
    layer(x)
    other = nn.qat.Linear(4, 3, qconfig=_qconfig())
    other.load_state_dict(layer.state_dict())
    layer.eval(), other.eval()
    expected = layer(x).tolist()
    assert expected == other(x).tolist() == copy.deepcopy(layer)(x).tolist()
