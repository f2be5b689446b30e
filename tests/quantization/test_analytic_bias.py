"""Bias correction without data: it agrees with what is measured, and says what it leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyqref as torch
from pyqref import nn, quantization
from pyqref.quantization import repair

RNG = np.random.default_rng(0)
COUNT = 4000


def normalized(activation: Any) -> tuple[Any, Any, Any, torch.Tensor]:
    """A model whose batch norm gives normal numbers: unfused, fused, quantized, with its data."""
    _ = torch.manual_seed(0)
    layers = nn.Conv2d(6, 8, 1), nn.BatchNorm2d(8), activation, nn.Conv2d(8, 4, 1)
    model = quantization.QuantWrapper(nn.Sequential(*layers)).eval()
    norm = model.module[1]
    norm.weight.data = torch.from_numpy(RNG.uniform(0.5, 3, 8).astype(np.float32))
    norm.bias.data = torch.from_numpy(RNG.uniform(-2, 4, 8).astype(np.float32))
    x = torch.from_numpy(RNG.standard_normal((COUNT, 6, 1, 1)).astype(np.float32))
    model = repair.reestimate_batch_norm(model, [x])
    groups = [["module.0", "module.1"]]
    if isinstance(activation, nn.ReLU) and not isinstance(activation, nn.ReLU6):
        groups[0].append("module.2")
    fused = quantization.fuse_modules(model, groups)
    signed = {"dtype": torch.qint8, "qscheme": torch.per_tensor_symmetric}
    weight = quantization.MinMaxObserver.with_args(**signed, quant_min=-4, quant_max=3)
    fused.qconfig = quantization.QConfig(quantization.MinMaxObserver, weight)
    prepared = quantization.prepare(fused)
    prepared(x)
    return model, fused, quantization.convert(prepared), x


def bias(model: Any) -> Any:
    """That of the layer behind the batch norm."""
    return model.module[3].bias().detach().numpy().astype(np.float64)


def sampling_bound(model: Any, quantized: Any) -> Any:
    """How far a measured correction may be from that which is computed.

    The mean of N rectified normal numbers, whose deviation is at most that of the normal ones, is
    off by five of its deviations at most, and by half a step of the input's grid; both are
    weighted with the error of the weight. Each output is rounded to half a step.
    """
    layer, rounded = model.module[3], quantized.module[3]
    error = np.abs(layer.weight.detach().numpy() - rounded.weight().dequantize().numpy())[..., 0, 0]
    deviation = np.abs(model.module[1].weight.detach().numpy())
    grid = max(each.scale for each in quantized.modules() if hasattr(each, "scale"))
    return error @ (5 * deviation / np.sqrt(COUNT) + float(grid) / 2) + float(rounded.scale) / 2


@pytest.mark.parametrize("activation", [nn.ReLU(), nn.ReLU6(), nn.Identity()])
def test_it_agrees_with_what_is_measured(activation: Any) -> None:
    """eq-expected-shift with the mean of a normal variable, within the bound of sampling."""
    model, fused, quantized, x = normalized(activation)
    computed = repair.analytic_bias_correction(model, quantized)
    measured = repair.bias_correction(fused, quantized, [x], reference="layer", layers=["module.3"])
    before, bound = bias(quantized), sampling_bound(model, quantized)
    assert (np.abs(bias(computed) - bias(measured)) <= bound).all()
    assert np.abs(bias(computed) - bias(measured)).sum() < np.abs(before - bias(measured)).sum() / 4
    assert (computed.module[3].weight().int_repr() == quantized.module[3].weight().int_repr()).all()
    assert (computed.module[0].bias() == quantized.module[0].bias()).all()


def test_groups_and_flattened_channels_meet_their_means() -> None:
    """Each group of a convolution has its own channels; a flattened image repeats them."""
    layers: list[Any] = [nn.Conv2d(2, 4, 1), nn.BatchNorm2d(4), nn.ReLU()]
    layers += [nn.Conv2d(4, 6, 1, groups=2), nn.BatchNorm2d(6), nn.Flatten(), nn.Linear(24, 3)]
    model = quantization.QuantWrapper(nn.Sequential(*layers)).eval()
    for i in (1, 4):
        for each in model.module[i].parameters():
            each.data = torch.from_numpy(RNG.uniform(0, 2, each.shape[0]).astype(np.float32))
    groups = [["module.0", "module.1", "module.2"], ["module.3", "module.4"]]
    fused = quantization.fuse_modules(model, groups)
    fused.qconfig = quantization.get_default_qconfig("qnnpack")
    prepared = quantization.prepare(fused)
    prepared(torch.randn(5, 2, 2, 2))
    quantized = quantization.convert(prepared)
    better = repair.analytic_bias_correction(model, quantized, inplace=True)
    assert better is quantized
    beta = model.module[4].bias.detach().numpy().astype(np.float64)
    for path, means in (("module.6", np.repeat(beta, 4)),):
        layer, rounded = fused.get_submodule(path), better.get_submodule(path)
        error = rounded.weight().dequantize().numpy() - layer.weight.detach().numpy()
        expected = layer.bias.detach().numpy() - error.astype(np.float64) @ means
        np.testing.assert_allclose(rounded.bias().detach().numpy(), expected, rtol=0, atol=2**-22)
    assert (better.module[3].bias() != fused.module[3].bias).any()


def test_what_is_unknown_is_named() -> None:
    """A path whose mean input does not follow; a model without batch norms; other layers."""
    model, fused, quantized, _ = normalized(nn.ReLU())
    with pytest.warns(quantization.NotRepairedWarning, match=r"^module\.0: its bias is not corr"):
        repair.analytic_bias_correction(model, quantized, layers=["module.0", "module.3"])
    with pytest.raises(ValueError, match="pass the model before fuse_modules, or call bias_corr"):
        repair.analytic_bias_correction(fused, quantized)
    other = normalized(nn.ReLU())[0]
    other.module[3] = nn.Conv2d(8, 5, 1)
    with pytest.raises(ValueError, match=r"'module\.3' has a weight of shape \(5, 8, 1, 1\)"):
        repair.analytic_bias_correction(other, quantized)
    other.module[3] = nn.Conv2d(8, 4, 1)
    other.module[1] = nn.BatchNorm2d(3)
    with pytest.raises(ValueError, match="takes 8 channels, and the batch normalization before"):
        repair.analytic_bias_correction(other, quantized)
