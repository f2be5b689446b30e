"""nn.intrinsic.qat.ConvBn2d and ConvBnReLU2d."""

from __future__ import annotations

import copy
import inspect
from typing import Any

import pytest

import pyqref
from pyqref import nn
from pyqref.nn import functional as F

nniqat = nn.intrinsic.qat


def _qconfig() -> Any:
    return pyqref.quantization.get_default_qat_qconfig("fbgemm")


def _layer(cls: Any = nniqat.ConvBn2d, **options: Any) -> Any:
    pyqref.manual_seed(0)
    layer = cls(2, 3, 3, padding=1, qconfig=_qconfig(), **options)
    layer.bn.weight.data = pyqref.tensor([0.5, 1.0, 1.5])
    layer.bn.bias.data = pyqref.tensor([0.1, 0.2, -0.3])
    layer.bn.running_mean.copy_(pyqref.tensor([0.3, -0.1, 0.0]))
    layer.bn.running_var.copy_(pyqref.tensor([0.9, 1.2, 2.0]))
    return layer


def test_follows_the_formula() -> None:
    """Scaled weight, fake quantized; convolution; divided by the scale; bias; batch norm."""
    layer = _layer(bias=True).eval()
    x = pyqref.randn(2, 2, 5, 5)
    scale = layer.bn.weight / (layer.bn.running_var + layer.bn.eps).sqrt()
    weight = layer.weight_fake_quant(layer.weight * scale.reshape(-1, 1, 1, 1))
    unscaled = F.conv2d(x, weight, padding=1) / scale.reshape(1, -1, 1, 1)
    expected = layer.bn(unscaled + layer.bias.reshape(1, -1, 1, 1))
    assert expected.tolist() == layer(x).tolist()


def test_without_rounding_it_is_convolution_and_batch_norm() -> None:
    """The scale cancels; what remains is the rounding of a multiplication and a division."""
    layer = _layer()
    layer.apply(pyqref.quantization.disable_fake_quant)
    x = pyqref.randn(2, 2, 5, 5)
    expected = F.batch_norm(
        F.conv2d(x, layer.weight, padding=1),
        None,
        None,
        layer.bn.weight,
        layer.bn.bias,
        training=True,
    )
    # Two more roundings of each of 18 products, and of the result, which is of order 1.
    assert (layer(x) - expected).abs().max().item() < 64 * 2.0**-24 * 8


@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("dimensions", [1, 2, 3])
@pytest.mark.parametrize("relu", ["", "ReLU"])
def test_slow_path_without_rounding(dimensions: int, relu: str, frozen: bool) -> None:
    """It is convolution and batch norm, whose statistics it leaves behind; gamma may be 0."""
    pyqref.manual_seed(0)
    cls = getattr(nniqat, f"ConvBn{relu}{dimensions}d")
    layer = cls(2, 3, 2, bias=True, qconfig=_qconfig())
    layer.bn.weight.data = pyqref.tensor([0.5, 0.0, -1.5])
    if frozen:
        layer.freeze_bn_stats()
    layer.apply(pyqref.quantization.disable_fake_quant)
    x = pyqref.randn(4, 2, *(3,) * dimensions)
    assert copy.deepcopy(layer)(x).isnan().any().item()  # the division by gamma
    layer._enable_slow_path_for_better_numerical_stability = True
    bn, conv = copy.deepcopy(layer.bn), getattr(F, f"conv{dimensions}d")
    expected = bn(conv(x, layer.weight, layer.bias))
    expected = F.relu(expected) if relu else expected
    actual = layer(x)
    # Each of 16 products of order 1 loses up to four roundings, twice, as do their means.
    assert (actual - expected).abs().max().item() < 2 * 16 * 8 * 2.0**-24
    assert layer.bn.state_dict()["num_batches_tracked"] == bn.num_batches_tracked
    assert layer.bn.running_mean.tolist() == bn.running_mean.tolist()
    assert layer.bn.running_var.tolist() == bn.running_var.tolist()
    actual.sum().backward()
    assert not any(each.grad.isnan().any().item() for each in layer.parameters())


def test_slow_path_follows_the_formula() -> None:
    """The weight is fake quantized with the running variance after this batch."""
    layer = _layer(bias=True)
    layer._enable_slow_path_for_better_numerical_stability = True
    x = pyqref.randn(2, 2, 5, 5)
    actual = layer(x)
    layer.weight_fake_quant.disable_observer()
    channels, axes = (1, -1, 1, 1), [0, 2, 3]
    plain = F.conv2d(x, layer.weight, padding=1)
    mean = plain.mean(axes)
    centred = plain - mean.reshape(channels)
    deviation = ((centred * centred).mean(axes) + layer.bn.eps).sqrt()
    running = (layer.bn.running_var + layer.bn.eps).sqrt()
    weight = layer.weight * (layer.bn.weight / running).reshape(-1, 1, 1, 1)
    output = F.conv2d(x, layer.weight_fake_quant(weight), padding=1)
    output = output * (running / deviation).reshape(channels)
    shift = layer.bn.bias - layer.bn.weight * mean / deviation
    assert (output + shift.reshape(channels)).tolist() == actual.tolist()


def test_slow_path_trains_a_network_that_begins_with_gamma_0() -> None:
    """In a prepared model: off at first, on a copy and in the state as it should be."""
    model = nn.Sequential(nn.Conv2d(1, 2, 1), nn.BatchNorm2d(2), nn.ReLU()).train()
    _ = model[1].weight.data.fill_(0.0)
    model = pyqref.quantization.fuse_modules_qat(model, ["0", "1", "2"])
    model.qconfig = _qconfig()
    prepared = pyqref.quantization.prepare_qat(model)
    group = prepared[0]
    assert group._enable_slow_path_for_better_numerical_stability is False
    with pytest.raises(ValueError, match=r"at '0\..* nan"):
        copy.deepcopy(prepared)(pyqref.ones(2, 1, 2, 2))
    group._enable_slow_path_for_better_numerical_stability = True
    y = copy.deepcopy(prepared)(pyqref.ones(2, 1, 2, 2))
    assert not y.isnan().any().item()
    assert not any("slow" in key for key in prepared.state_dict())


def test_relu_follows() -> None:
    plain, fused = _layer().eval(), _layer(nniqat.ConvBnReLU2d).eval()
    x = pyqref.randn(2, 2, 5, 5)
    assert F.relu(plain(x)).tolist() == fused(x).tolist()


def test_freezing() -> None:
    """Frozen statistics stay, also in train(); updating ones follow the batch."""
    layer = _layer().train()
    layer.freeze_bn_stats()
    mean = layer.bn.running_mean.tolist()
    layer.train()(pyqref.randn(2, 2, 5, 5))
    assert mean == layer.bn.running_mean.tolist()
    assert (True, False) == (layer.freeze_bn, layer.bn.training)
    layer.update_bn_stats()
    layer(pyqref.randn(2, 2, 5, 5))
    assert mean != layer.bn.running_mean.tolist()
    assert (False, True) == (layer.freeze_bn, layer.bn.training)
    layer.reset_running_stats()
    assert ([0.0] * 3, [1.0] * 3) == (
        layer.bn.running_mean.tolist(),
        layer.bn.running_var.tolist(),
    )


def test_freeze_bn_argument_and_functions() -> None:
    """freeze_bn=True at construction; the functions take any module and change groups only."""
    assert not _layer(freeze_bn=True).bn.training
    model = nn.Sequential(_layer(), nn.BatchNorm2d(3))
    model.apply(nniqat.freeze_bn_stats)
    assert (False, True) == (model[0].bn.training, model[1].training)
    model.apply(nniqat.update_bn_stats)
    assert model[0].bn.training


def test_signature_of_1_4() -> None:
    """padding_mode as eighth argument, where 2.x has bias."""
    layer = nniqat.ConvBn2d(2, 3, 3, 1, 1, 1, 1, "zeros", qconfig=_qconfig())
    assert (None, "zeros", 1e-5) == (layer.bias, layer.padding_mode, layer.bn.eps)
    layer = nniqat.ConvBnReLU2d(2, 3, 3, 1, 1, 1, 1, "zeros", 1e-3, 0.2, True, _qconfig())
    assert (None, 1e-3, 0.2, True) == (layer.bias, layer.bn.eps, layer.bn.momentum, layer.freeze_bn)


def test_signature_of_2_13() -> None:
    """Bias as eighth argument; the decorated constructors show torch's signature."""
    layer = nniqat.ConvBn2d(2, 3, 3, 1, 1, 1, 1, True, "zeros", 1e-3, 0.2, True, _qconfig())
    assert (3, 1e-3, True) == (layer.bias.numel(), layer.bn.eps, layer.freeze_bn)
    assert ["bias", "padding_mode", "eps"] == list(inspect.signature(nniqat.ConvBn2d).parameters)[
        7:10
    ]


def test_states_of_1_4() -> None:
    """The names gamma, beta, running_mean... of old states are those of the batch norm."""
    layer, loaded = _layer(), _layer()
    state = layer.state_dict()
    names = {"weight": "gamma", "bias": "beta"}
    old = {
        names.get(key[3:], key[3:]) if key.startswith("bn.") else key: value
        for key, value in state.items()
    }
    loaded.load_state_dict(old)
    assert layer.bn.weight.tolist() == loaded.bn.weight.tolist()


@pytest.mark.parametrize("relu", [False, True])
def test_from_float_and_back(relu: bool) -> None:
    """Parameters and statistics are shared on the way there and folded on the way back."""
    conv, bn = nn.Conv2d(2, 3, 3, stride=2), nn.BatchNorm2d(3, eps=1e-3, momentum=0.2)
    group = (
        nn.intrinsic.ConvBnReLU2d(conv, bn, nn.ReLU()) if relu else nn.intrinsic.ConvBn2d(conv, bn)
    )
    group.qconfig = _qconfig()
    cls = nniqat.ConvBnReLU2d if relu else nniqat.ConvBn2d
    layer = cls.from_float(group)
    assert layer.weight is conv.weight
    assert layer.bias is conv.bias
    assert layer.bn.running_mean is bn.running_mean
    assert (1e-3, 0.2, (2, 2)) == (layer.bn.eps, layer.bn.momentum, layer.stride)
    back = layer.to_float()
    assert (nn.intrinsic.ConvReLU2d if relu else nn.Conv2d) is type(back)
    x = pyqref.randn(2, 2, 7, 7)
    # Sums of 18 products in another order, each rounding 2**-24 of the largest sum.
    bound = 2 * 18 * 2.0**-24 * group.eval()(x).abs().max().item() + 1e-6
    assert (group(x) - back.eval()(x)).abs().max().item() <= bound


def test_from_float_errors() -> None:
    with pytest.raises(TypeError, match="from_float takes a"):
        nniqat.ConvBn2d.from_float(nn.Conv2d(2, 3, 3))
    with pytest.raises(ValueError, match="has no qconfig"):
        nniqat.ConvBn2d.from_float(nn.intrinsic.ConvBn2d(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3)))


def test_converted_layer_folds_batch_norm() -> None:
    """The integers of the converted weight are those of the folded float weight."""
    layer = _layer(bias=True)
    layer.activation_post_process = pyqref.quantization.MinMaxObserver()
    layer.activation_post_process(pyqref.tensor([-1.0, 1.0]))
    weight, bias = nn.utils.fusion.fuse_conv_bn_weights(
        layer.weight,
        layer.bias,
        layer.bn.running_mean,
        layer.bn.running_var,
        layer.bn.eps,
        layer.bn.weight,
        layer.bn.bias,
    )
    converted = nn.quantized.Conv2d.from_float(layer)
    scales = converted.weight().q_per_channel_scales()
    expected = pyqref.quantize_per_channel(
        weight.detach(), scales, pyqref.zeros(3, dtype=pyqref.int64), 0, pyqref.qint8
    )
    assert expected.int_repr().tolist() == converted.weight().int_repr().tolist()
    assert bias.tolist() == converted.bias().tolist()
