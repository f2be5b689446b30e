"""Each repair on transposed, grouped and depthwise convolutions works, or names what it leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyqref as torch
from pyqref import nn, quantization
from pyqref.nn.intrinsic import quantized as nniq
from pyqref.numerics.learned_rounding import reconstruction_error
from pyqref.quantization import repair
from pyqref.quantization.repair.equalization import input_ranges, output_ranges
from pyqref.quantization.repair.quantized_layers import layers_in_order

#: A convolution of each kind from 4 to 8 channels, with its dimensions.
KINDS: dict[str, tuple[Any, int]] = {
    "conv1d in groups": (lambda: nn.Conv1d(4, 8, 3, groups=2), 1),
    "conv2d depthwise": (lambda: nn.Conv2d(4, 8, 3, groups=4), 2),
    "conv3d in groups": (lambda: nn.Conv3d(4, 8, 2, groups=2), 3),
    "transposed 1d": (lambda: nn.ConvTranspose1d(4, 8, 3, stride=2, padding=1), 1),
    "transposed 2d in groups": (lambda: nn.ConvTranspose2d(4, 8, 3, stride=(2, 1), groups=2), 2),
    "transposed 2d depthwise": (lambda: nn.ConvTranspose2d(4, 8, 2, groups=4, bias=False), 2),
    "transposed 3d": (lambda: nn.ConvTranspose3d(4, 8, 2, output_padding=0), 3),
}
kinds = pytest.mark.parametrize("kind", KINDS)


def weight_of_bits(bits: int) -> Any:
    """Weights of few bits, with one scale, which transposed convolutions need."""
    half = 2 ** (bits - 1)
    signed = {"dtype": torch.qint8, "qscheme": torch.per_tensor_symmetric}
    kind = quantization.MinMaxObserver
    return kind.with_args(**signed, quant_min=-half, quant_max=half - 1)


def made(kind: str, count: int = 12, side: int = 4) -> tuple[Any, Any, torch.Tensor]:
    """A model of one layer, converted with weights of 3 bits, and its data."""
    make, dimensions = KINDS[kind]
    _ = torch.manual_seed(0)
    model = quantization.QuantWrapper(make()).eval()
    model.qconfig = quantization.QConfig(quantization.MinMaxObserver, weight_of_bits(3))
    x = torch.rand(count, 4, *[side] * dimensions)
    prepared = quantization.prepare(model)
    prepared(x)
    return model, quantization.convert(prepared), x


def errors(model: Any, converted: Any, x: torch.Tensor) -> Any:
    """eq-reconstruction-error of the weights, on the integers of the input."""
    layer, rounded = model.module, converted.module
    own = type(layer)(
        layer.in_channels,
        layer.out_channels,
        layer.kernel_size,
        stride=layer.stride,
        padding=layer.padding,
        groups=layer.groups,
        bias=layer.bias is not None,
    )
    own.load_state_dict({**layer.state_dict(), "weight": rounded.weight().dequantize()})
    y = own(converted.quant(x).dequantize())
    return reconstruction_error(model(x).detach().numpy(), y.detach().numpy(), 1)


@kinds
def test_rounding_is_learned(kind: str) -> None:
    """No channel is worse than before, and the whole layer is better."""
    model, converted, x = made(kind)
    better = repair.adaround(model, converted, [x], steps=150)
    before, after = errors(model, converted, x), errors(model, better, x)
    assert (after <= before).all()
    assert after.sum() < before.sum()


@kinds
@pytest.mark.parametrize("reference", ["model", "layer"])
def test_a_measured_bias_takes_the_mean_error_back(kind: str, reference: Any) -> None:
    """The mean of each channel is off by half a step of the output at most."""
    model, converted, x = made(kind)
    better = repair.bias_correction(model, converted, [x], reference=reference)
    off = (better(x) - model(x)).detach().numpy().astype(np.float64)
    means = np.abs(np.moveaxis(off, 1, 0).reshape(8, -1).mean(axis=1))
    assert means.max() <= float(better.module.scale) / 2


@kinds
def test_a_computed_bias_is_exact_inside_of_a_constant_image(kind: str) -> None:
    """eq-expected-shift: over one period of the strides, off the border, no error is left."""
    make, dimensions = KINDS[kind]
    model, converted, _ = made(kind, count=2, side=9)
    norm: Any = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)[dimensions - 1](4)
    norm.bias.data = torch.tensor([0.5, -1.0, 2.0, 3.0])
    behind = quantization.QuantWrapper(nn.Sequential(norm, model.module)).eval()
    holder = quantization.QuantWrapper(nn.Sequential(nn.Identity(), converted.module))
    better = repair.analytic_bias_correction(behind, holder).module[1]
    x = norm.bias.detach().reshape(1, 4, *[1] * dimensions) * torch.ones(1, 4, *[9] * dimensions)
    rounded = make()
    rounded.weight.data = better.weight().dequantize()
    rounded.bias = nn.Parameter(better.bias().detach())
    off = (rounded(x) - model.module(x)).detach().numpy().astype(np.float64)
    period = tuple(slice(4, 4 + stride) for stride in model.module.stride)
    means = np.abs(off[0][(slice(None), *period)].reshape(8, -1).mean(axis=1))
    # 4 inputs with up to 9 taps are added in float32, all below 8 in size.
    assert means.max() < 4 * 9 * 8 * 2.0**-24


def test_a_transposed_convolution_before_its_batch_norm_is_corrected() -> None:
    """The second normalization is folded into the transposed layer before weights are compared."""
    layers: list[Any] = [nn.BatchNorm2d(4), nn.ReLU(), nn.ConvTranspose2d(4, 8, 2, groups=2)]
    model = quantization.QuantWrapper(nn.Sequential(*layers, nn.BatchNorm2d(8))).eval()
    model.module[3].running_var.data += 3
    fused = quantization.fuse_modules(model, [["module.2", "module.3"]])
    fused.module[2].qconfig = quantization.QConfig(quantization.MinMaxObserver, weight_of_bits(3))
    quantized = quantization.QuantWrapper(nn.Sequential(nn.Identity(), nn.Identity()))
    quantized.module.append(fused.module[2])
    quantized.eval().qconfig = fused.module[2].qconfig
    prepared = quantization.prepare(quantized)
    prepared(torch.rand(3, 4, 5, 5))
    converted = quantization.convert(prepared)
    better = repair.analytic_bias_correction(model, converted)
    layer, rounded = fused.module[2], better.module[2]
    error = rounded.weight().dequantize().numpy() - layer.weight.detach().numpy()
    mean = 1 / np.sqrt(2 * np.pi)  # of a rectified standard normal variable
    parts = error.reshape(2, 2, 4, -1).sum(axis=(1, 3)).reshape(8) * mean
    expected = layer.bias.detach().numpy() - parts
    np.testing.assert_allclose(rounded.bias().detach().numpy(), expected, rtol=0, atol=2**-20)


@kinds
def test_ranges_are_made_equal_on_both_sides(kind: str) -> None:
    """As the first and as the second of a pair; the float function stays but for roundings."""
    make, dimensions = KINDS[kind]
    _ = torch.manual_seed(0)
    point: Any = (nn.Conv1d, nn.Conv2d, nn.Conv3d)[dimensions - 1]
    model = nn.Sequential(point(3, 4, 1), nn.ReLU(), make(), nn.ReLU(), point(8, 2, 1)).eval()
    model[0].weight.data[1] *= 50
    model[2].weight.data *= 7
    x = torch.randn(2, 3, *[5] * dimensions)
    equal = repair.cross_layer_equalization(model)
    assert torch.allclose(model(x), equal(x), rtol=1e-4, atol=1e-4)
    for first, second in ((0, 2), (2, 4)):
        count = equal[first].out_channels
        ranges = output_ranges(equal[first]), input_ranges(equal[second], count)
        np.testing.assert_allclose(*ranges, rtol=1e-3)


class Moved(nn.Module):
    """A layer norm over channels that stand last, and a convolution that wants them second."""

    def __init__(self, layer: Any, moved: bool = True) -> None:
        super().__init__()
        self.norm, self.layer, self.moved = nn.LayerNorm(4), layer, moved
        dimensions = getattr(layer, "weight", torch.ones(1, 1, 1)).ndim - 2
        self.order = (0, dimensions + 1, *range(1, dimensions + 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm(x)
        if self.moved:
            y = y.permute(*self.order)
        return self.layer(y)


@kinds
def test_outliers_move_into_convolutions_that_are_named(kind: str) -> None:
    """The function stays, and the layer norm's output has no outlier any more."""
    make, dimensions = KINDS[kind]
    _ = torch.manual_seed(0)
    model = Moved(make()).eval()
    model.norm.weight.data[2] *= 60
    x = torch.randn(3, *[5] * dimensions, 4)
    smooth = repair.smooth_quant(model, [x], [("norm", ["layer"])])
    assert torch.allclose(model(x), smooth(x), rtol=1e-4, atol=1e-4)
    assert smooth.norm(x).abs().max() < model.norm(x).abs().max() / 5


def test_layers_of_other_channels_are_refused_as_readers() -> None:
    """Each message has the path."""
    x = torch.randn(2, 5, 4)
    with pytest.raises(ValueError, match="'layer' takes 3 channels, and 'norm' gives 4"):
        repair.smooth_quant(Moved(nn.Linear(3, 2), False), [x], [("norm", ["layer"])])
    with pytest.raises(TypeError, match="'layer' in groups must be a linear or convolution layer"):
        repair.smooth_quant(Moved(nn.ReLU()), [x], [("norm", ["layer"])])
    plain = Moved(nn.Linear(4, 2), False)
    plain.norm = nn.LayerNorm(4, elementwise_affine=False)
    with pytest.raises(ValueError, match="'norm' in groups has no weight that could take up fact"):
        repair.smooth_quant(plain, [x], [("norm", ["layer"])])
    with (
        pytest.warns(quantization.NotRepairedWarning, match=r"pass groups=\[\('norm', \['layer'\]"),
        pytest.raises(ValueError, match="found no layer norm"),
    ):
        repair.smooth_quant(Moved(nn.Conv1d(4, 2, 1)), [x])
    with (
        pytest.warns(quantization.NotRepairedWarning, match="^norm: its factors stay; the Conv1d"),
        pytest.raises(ValueError, match="found no layer norm"),
    ):
        repair.smooth_quant(Moved(nn.Conv1d(5, 2, 1), False), [x])


def test_no_bias_is_absorbed_by_a_transposed_convolution() -> None:
    """A constant reaches its outputs through different numbers of taps."""
    model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.ConvTranspose2d(2, 1, 2, stride=2))
    with pytest.warns(quantization.NotRepairedWarning, match="^2: a transposed convolution spread"):
        same = repair.absorb_high_bias(model.eval(), [torch.rand(2, 1, 8, 8)])
    assert (same[0].bias == model[0].bias).all()


def test_layers_of_other_kinds_are_named() -> None:
    """One fused with a further function, and a dynamic one; the others are repaired."""
    _ = torch.manual_seed(0)
    qconfig = quantization.default_qconfig
    model = quantization.QuantWrapper(nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))).eval()
    model.qconfig = qconfig
    prepared = quantization.prepare(model)
    x = torch.rand(8, 4)
    prepared(x)
    converted = quantization.convert(prepared)
    leaky = nniq.LinearLeakyReLU(4, 4, 0.1)
    leaky.scale, leaky.zero_point = 0.01, 128
    converted.module[0] = leaky
    functions: list[Any] = [repair.adaround, repair.bias_correction]
    for function in functions:
        with pytest.warns(
            quantization.NotRepairedWarning,
            match=r"^module\.0: .* a LinearLeakyReLU is not repaired; leave it out of the fused",
        ):
            function(model, converted, [x])
    behind = quantization.QuantWrapper(
        nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Linear(4, 4))
    ).eval()
    holder = quantization.QuantWrapper(nn.Sequential(converted.module[1], nn.Identity(), leaky))
    with (
        pytest.warns(
            quantization.NotRepairedWarning, match=r"^module\.2: .* LinearLeakyReLU is no"
        ),
        pytest.raises(ValueError, match="has no layer behind a batch normalization"),
    ):
        repair.analytic_bias_correction(behind, holder)
    plain = nn.Sequential(nn.quantized.dynamic.Linear(4, 4), converted.quant, converted.module[1])
    with pytest.warns(quantization.NotRepairedWarning, match="give it a static QConfig"):
        order = layers_in_order("test", "it stays", plain, plain, x, None)
    assert ["2"] == order
