"""Groups with an activation or an addition, in one and three dimensions, and their training."""

from __future__ import annotations

from typing import Any

import pytest

import pyqref
from pyqref import nn

intrinsic, q = nn.intrinsic, pyqref.quantization
qat, quantized = intrinsic.qat, intrinsic.quantized


def _observed(layer: Any, low: float = -2.0, high: float = 2.0) -> Any:
    layer.qconfig = q.default_qconfig
    layer.activation_post_process = q.MinMaxObserver()
    layer.activation_post_process(pyqref.tensor([low, high]))
    return layer


def _quantize(x: Any) -> Any:
    return pyqref.quantize_per_tensor(x, 0.03, 128, pyqref.quint8)


@pytest.mark.parametrize("kind", ["leaky", "tanh", "relu1d"])
def test_groups_with_an_activation(kind: str) -> None:
    """Within a step of the output, and what the rounding of the weight costs."""
    pyqref.manual_seed(0)
    if kind == "relu1d":
        group: Any = intrinsic.ConvReLU1d(nn.Conv1d(4, 3, 2), nn.ReLU())
        cls: Any = quantized.ConvReLU1d
        x = _quantize(pyqref.randn(2, 4, 5))
    else:
        activation = nn.LeakyReLU(0.2) if kind == "leaky" else nn.Tanh()
        name = "LinearLeakyReLU" if kind == "leaky" else "LinearTanh"
        group = getattr(intrinsic, name)(nn.Linear(8, 3), activation)
        cls = getattr(quantized, name)
        x = _quantize(pyqref.randn(4, 8))
    layer = cls.from_float(_observed(group))
    exact = group(x.dequantize())
    step = group[0].weight.abs().max().item() / 127.5
    bound = layer.scale * 0.51 + 8 * step / 2 * x.dequantize().abs().max().item()
    assert (layer(x).dequantize() - exact).abs().max().item() <= bound
    if kind == "tanh":
        assert (2 / 256, 128) == (layer.scale, layer.zero_point)
    with pytest.raises(RuntimeError, match="QuantStub is missing"):
        layer(x.dequantize())


@pytest.mark.parametrize("relu", [False, True])
def test_addition(relu: bool) -> None:
    """Called with two tensors, float and quantized."""
    pyqref.manual_seed(0)
    conv = nn.Conv2d(3, 4, 3)
    group: Any = (
        intrinsic.ConvAddReLU2d(conv, pyqref.add, nn.ReLU())
        if relu
        else intrinsic.ConvAdd2d(conv, pyqref.add)
    )
    x, other = _quantize(pyqref.randn(1, 3, 5, 5)), _quantize(pyqref.randn(1, 4, 3, 3))
    exact = group(x.dequantize(), other.dequantize())
    expected = conv(x.dequantize()) + other.dequantize()
    assert (expected.relu() if relu else expected).tolist() == exact.tolist()
    cls = quantized.ConvAddReLU2d if relu else quantized.ConvAdd2d
    layer = cls.from_float(_observed(group, -4.0, 4.0))
    step = conv.weight.abs().max().item() / 127.5
    bound = layer.scale * 0.51 + 27 * step / 2 * x.dequantize().abs().max().item()
    assert (layer(x, other).dequantize() - exact).abs().max().item() <= bound
    with pytest.raises(RuntimeError, match="QuantStub is missing"):
        layer(x, other.dequantize())


def test_types_are_checked() -> None:
    with pytest.raises(TypeError, match=r"LinearTanh holds the layers \(Linear, Tanh\)"):
        intrinsic.LinearTanh(nn.Linear(1, 1), nn.ReLU())
    with pytest.raises(TypeError, match=r"ConvAdd2d holds the layers \(Conv2d\)"):
        intrinsic.ConvAdd2d(nn.Conv1d(1, 1, 1), pyqref.add)


GROUPS = ["ConvBn1d", "ConvBn3d", "ConvBnReLU1d", "ConvBnReLU3d", "LinearBn1d"]


def _float_group(name: str) -> tuple[Any, Any]:
    if name == "LinearBn1d":
        return intrinsic.LinearBn1d(nn.Linear(4, 3), nn.BatchNorm1d(3)), pyqref.randn(6, 4)
    dimensions = int(name[-2])
    parts = [
        getattr(nn, f"Conv{dimensions}d")(4, 3, 2),
        getattr(nn, f"BatchNorm{dimensions}d")(3),
    ]
    group = getattr(intrinsic, name)(*parts, *([nn.ReLU()] if "ReLU" in name else []))
    return group, pyqref.randn(3, 4, *(3,) * dimensions)


@pytest.mark.parametrize("name", GROUPS)
def test_trained_groups(name: str) -> None:
    """Without rounding the group computes what its layers do; it folds when converted."""
    group, x = _float_group(name)
    group.qconfig = q.get_default_qat_qconfig("fbgemm")
    layer = getattr(qat, name).from_float(group.train())
    assert layer.weight is group[0].weight
    assert layer.bn is group[1]
    layer.weight_fake_quant = nn.Identity()
    # Division by the folded scale puts products of up to 32 terms in another order.
    bound = 1e-4
    assert (layer.eval()(x) - group.eval()(x)).abs().max().item() <= bound
    assert (layer.to_float()(x) - group(x)).abs().max().item() <= bound
    layer.freeze_bn_stats()
    assert not layer.train().bn.training
    layer.apply(qat.update_bn_stats)
    assert layer.bn.training
    layer.reset_running_stats()
    assert [0.0] * 3 == layer.bn.running_mean.tolist()


@pytest.mark.parametrize("name", GROUPS)
def test_the_whole_way(name: str) -> None:
    """prepare_qat, training, convert: by the default tables."""
    group, x = _float_group(name)
    model = q.QuantWrapper(nn.Sequential(group)).train()
    model.qconfig = q.get_default_qat_qconfig("fbgemm")
    prepared = q.prepare_qat(model, strict=True)
    assert type(prepared.module[0]) is getattr(qat, name)
    prepared(x).sum().backward()
    converted = q.convert(prepared.eval(), strict=True)
    wanted = {
        "ConvBn1d": nn.quantized.Conv1d,
        "ConvBn3d": nn.quantized.Conv3d,
        "ConvBnReLU1d": quantized.ConvReLU1d,
        "ConvBnReLU3d": quantized.ConvReLU3d,
        "LinearBn1d": nn.quantized.Linear,
    }
    assert type(converted.module[0]) is wanted[name]
    assert (converted(x) - prepared(x)).abs().max().item() < 0.1


@pytest.mark.parametrize("dimensions", [1, 3])
@pytest.mark.parametrize("relu", [False, True])
def test_convolutions_of_training(dimensions: int, relu: bool) -> None:
    source = getattr(nn, f"Conv{dimensions}d")(4, 3, 2)
    source.qconfig = q.get_default_qat_qconfig("fbgemm")
    if relu:
        group = getattr(intrinsic, f"ConvReLU{dimensions}d")(source, nn.ReLU())
        group.qconfig = source.qconfig
        layer = getattr(qat, f"ConvReLU{dimensions}d").from_float(group)
    else:
        layer = getattr(nn.qat, f"Conv{dimensions}d").from_float(source)
    x = pyqref.randn(2, 4, *(3,) * dimensions)
    expected = layer._conv_forward(x, layer.weight_fake_quant(source.weight), source.bias)
    assert (expected.relu() if relu else expected).tolist() == layer(x).tolist()
    back = layer.to_float()
    assert type(back) is (type(group) if relu else type(source))


def test_dynamic_linear_of_training() -> None:
    """Its activation must forget; it becomes a dynamic layer."""
    linear = nn.Linear(4, 3)
    linear.qconfig = q.get_default_qat_qconfig("fbgemm")
    with pytest.raises(ValueError, match="must look at each tensor anew"):
        nn.qat.dynamic.Linear.from_float(linear)
    linear.qconfig = q.default_dynamic_qat_qconfig
    layer = nn.qat.dynamic.Linear.from_float(linear)
    made = nn.quantized.dynamic.Linear.from_float(layer)
    assert (3, 4) == tuple(made.weight().shape)


def test_dynamic_linear_relu() -> None:
    """quantize_dynamic takes fused layers; both weight types."""
    model = nn.Sequential(intrinsic.LinearReLU(nn.Linear(4, 3), nn.ReLU())).eval()
    x = pyqref.randn(5, 4)
    for dtype, kind in (
        (pyqref.qint8, q.default_dynamic_qconfig),
        (None, q.float16_dynamic_qconfig),
    ):
        made = q.quantize_dynamic(model, {intrinsic.LinearReLU: kind})
        assert type(made[0]) is quantized.dynamic.LinearReLU
        assert dtype is None or made[0].weight().dtype is dtype
        assert (made(x) - model(x)).abs().max().item() < 0.05
        assert (made(x) >= 0).all().item()
