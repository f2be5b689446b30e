"""Repair of float models: what is promised stays, and what is to become better does."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import pyqref as torch
from pyqref import nn, quantization
from pyqref.nn import intrinsic as nni
from pyqref.quantization import repair

RNG = np.random.default_rng(0)
#: A change of the float numbers by factors rounds each of some hundred numbers of a sum once more.
ROUNDED_AGAIN = {"rtol": 1e-4, "atol": 1e-4}


def images(*shape: int) -> torch.Tensor:
    """Random numbers, the same in each run."""
    return torch.from_numpy(RNG.standard_normal(shape).astype(np.float32))


def unequal(model: Any) -> Any:
    """Channels of each layer a hundred times as large as others."""
    for layer in model.modules():
        if hasattr(layer, "weight") and layer.weight.ndim > 1:
            factors = 10.0 ** RNG.uniform(
                -1, 1, (layer.weight.shape[0],) + (1,) * (layer.weight.ndim - 1)
            )
            layer.weight.data = torch.from_numpy(
                (layer.weight.detach().numpy() * factors).astype(np.float32)
            )
    return model.eval()


def networks() -> dict[str, tuple[Any, torch.Tensor]]:
    """Each kind of layer and of what may stand between two."""
    conv = nn.Conv2d
    fused = nn.Sequential(conv(3, 6, 3), nn.ReLU(), conv(6, 4, 1)).eval()
    quantization.fuse_modules(fused, [["0", "1"]], inplace=True)
    return {
        "linear": (nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 3)), images(9, 5)),
        "depthwise": (
            nn.Sequential(
                conv(4, 8, 1), nn.ReLU(), conv(8, 8, 3, groups=8), nn.ReLU(), conv(8, 2, 1)
            ),
            images(2, 4, 6, 6),
        ),
        "groups": (
            nn.Sequential(conv(4, 8, 1), conv(8, 6, 3, groups=2, bias=False)),
            images(2, 4, 6, 6),
        ),
        "transposed": (
            nn.Sequential(
                nn.ConvTranspose2d(4, 6, 2, groups=2), nn.PReLU(6), nn.ConvTranspose2d(6, 3, 2)
            ),
            images(2, 4, 5, 5),
        ),
        "flattened": (
            nn.Sequential(
                conv(3, 4, 3), nn.LeakyReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(16, 5)
            ),
            images(2, 3, 6, 6),
        ),
        "fused": (fused, images(2, 3, 6, 6)),
        "1d": (
            nn.Sequential(nn.Conv1d(3, 4, 3), nn.Dropout(), nn.Conv1d(4, 2, 1)),
            images(2, 3, 9),
        ),
    }


@pytest.mark.parametrize("name", networks())
def test_equalization_keeps_the_function_and_makes_ranges_equal(name: str) -> None:
    """Float outputs stay, but for roundings; both weights have the same range in each channel."""
    model, x = networks()[name]
    model = unequal(model)
    equal = repair.cross_layer_equalization(model)
    assert torch.allclose(model(x), equal(x), **ROUNDED_AGAIN)
    pairs = repair.adjacent_layers(model)
    assert pairs
    from pyqref.quantization.repair.adjacent import grouped, layer_of
    from pyqref.quantization.repair.equalization import input_ranges, output_ranges

    for first, second, _ in pairs:
        one, two = (layer_of(equal.get_submodule(path)) for path in (first, second))
        ranges = output_ranges(one)
        parts = grouped(one)
        count = parts.shape[0] * parts.shape[1]
        np.testing.assert_allclose(ranges, input_ranges(two, count), rtol=1e-3)


def test_equalization_makes_one_scale_for_all_channels_enough() -> None:
    """A weight of unequal channels in 8 bits with one scale has a tenth of the error afterwards."""
    _ = torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4)).eval()
    factors = torch.from_numpy((10.0 ** RNG.uniform(-1.5, 1.5, 32)).astype(np.float32))
    model[0].weight.data *= factors.reshape(32, 1)
    model[2].weight.data /= factors
    x = images(256, 16)

    def error(float_model: Any) -> float:
        wrapped = quantization.QuantWrapper(float_model).eval()
        wrapped.qconfig = quantization.get_default_qconfig("qnnpack")
        prepared = quantization.prepare(wrapped)
        prepared(x)
        return float((quantization.convert(prepared)(x) - model(x)).pow(2).mean())

    assert error(repair.cross_layer_equalization(model)) < error(model) / 10


def test_pairs_are_taken_by_path_by_module_and_in_chains() -> None:
    """A list of three layers means two pairs, as in torch."""
    model, _ = networks()["depthwise"]
    model = unequal(model)
    by_path = repair.cross_layer_equalization(model, [("0", "2", "4")])
    found = repair.cross_layer_equalization(model)
    inplace = repair.cross_layer_equalization(model, [[model[0], model[2], model[4]]], inplace=True)
    assert inplace is model
    for other in (found, inplace):
        for mine, theirs in zip(by_path.parameters(), other.parameters(), strict=True):
            assert (mine.detach().numpy() == theirs.detach().numpy()).all()


@pytest.mark.parametrize(
    ("between", "remedy"), [(nn.ReLU6(), "nn.ReLU"), (nn.BatchNorm1d(8), "fuse_modules")]
)
def test_what_holds_a_factor_back_is_named(between: Any, remedy: str) -> None:
    """The warning has the path and what to do, and the function goes on with other pairs."""
    layers = nn.Linear(5, 8), between, nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2)
    with pytest.warns(quantization.NotRepairedWarning, match=f"^1: .*{remedy}"):
        assert [(p.first, p.second) for p in repair.adjacent_layers(nn.Sequential(*layers))] == [
            ("2", "4")
        ]


def test_bad_pairs_are_refused() -> None:
    """Each error names the argument and the path."""
    model = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(9, 2))
    with pytest.raises(ValueError, match="'0' has 8 output channels, '2' takes 9"):
        repair.cross_layer_equalization(model)
    with pytest.raises(TypeError, match="'1' in pairs must be a linear or convolution"):
        repair.cross_layer_equalization(model, [("0", "1")])
    with pytest.raises(ValueError, match="Linear that is no module of the model"):
        repair.cross_layer_equalization(model, [(model[0], nn.Linear(8, 2))])
    with pytest.raises(ValueError, match=r"pass pairs=\["):
        repair.cross_layer_equalization(nn.Sequential(nn.Linear(5, 8), nn.Sigmoid()))


def test_a_high_bias_is_absorbed() -> None:
    """The float outputs stay where no number falls below c; the activations' range is narrower."""
    model = nn.Sequential(nn.Linear(6, 4), nn.ReLU(), nn.Linear(4, 3)).eval()
    model[0].bias.data += torch.tensor([9.0, 0.0, 12.0, -5.0])
    x = images(400, 6)
    better = repair.absorb_high_bias(model, [x[:200], x[200:]], width=6)
    assert torch.allclose(model(x), better(x), **ROUNDED_AGAIN)
    before, after = (one[1](one[0](x)).max(0)[0] for one in (model, better))
    assert (after[[0, 2]] < before[[0, 2]] - 3).all()
    assert before[3] == after[3]


def test_a_bias_does_not_move_into_a_layer_with_padding() -> None:
    """A zero of the padding would stand for c."""
    model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Conv2d(2, 1, 3, padding=1)).eval()
    with pytest.warns(quantization.NotRepairedWarning, match="^2: it pads with zeros"):
        same = repair.absorb_high_bias(model, [images(2, 1, 8, 8)])
    assert (same[0].bias == model[0].bias).all()


def shifted(engine: str = "qnnpack") -> tuple[Any, Any, list[torch.Tensor]]:
    """A float model, the quantized one, and data whose mean is not zero."""
    _ = torch.manual_seed(1)
    model = nn.Sequential(
        quantization.QuantStub(),
        nn.Conv2d(3, 8, 3),
        nn.ReLU(),
        nn.Conv2d(8, 4, 3),
        nn.Flatten(),
        nn.Linear(64, 5),
        quantization.DeQuantStub(),
    ).eval()
    quantization.fuse_modules(model, [["1", "2"]], inplace=True)
    model.qconfig = quantization.get_default_qconfig(engine)
    data = [images(16, 3, 8, 8).abs() for _ in range(3)]
    prepared = quantization.prepare(model)
    for batch in data:
        prepared(batch)
    return model, quantization.convert(prepared), data


@pytest.mark.parametrize("reference", ["model", "layer"])
def test_bias_correction_takes_the_mean_error_of_the_output_back(reference: Any) -> None:
    """The mean of each output is nearer to the float model's, and nothing but biases changed."""
    model, quantized, data = shifted()
    better = repair.bias_correction(model, quantized, data, reference=reference)

    def shift(one: Any) -> float:
        errors = [(one(x) - model(x)).detach().numpy() for x in data]
        return float(np.abs(np.concatenate(errors).mean(axis=0)).max())

    assert shift(better) < shift(quantized) / 2
    assert (better[1].weight().int_repr() == quantized[1].weight().int_repr()).all()
    assert (better[1].bias() != quantized[1].bias()).any()


def test_bias_correction_names_what_it_leaves() -> None:
    """A path without such a layer is warned of; without any layer there is an error."""
    model, quantized, data = shifted()
    with pytest.warns(quantization.NotRepairedWarning, match="^4: .*a Flatten in the quantized"):
        repair.bias_correction(model, quantized, data, layers=["4", "5"])
    with pytest.raises(ValueError, match="no quantized linear or convolution"):
        repair.bias_correction(model, model, data)
    with pytest.raises(ValueError, match="reference must be 'model' or 'layer', got 'both'"):
        repair.bias_correction(model, quantized, data, reference="both")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"pass \[data\] for one batch"):
        repair.bias_correction(model, quantized, data[0])
    with pytest.raises(ValueError, match="data must have a batch, got none"):
        repair.bias_correction(model, quantized, [])


def test_moments_are_the_means_over_batches() -> None:
    """Running mean and variance are averages of those of the batches, and the rest stays."""
    model = nn.Sequential(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.Dropout()).train()
    data = [images(4, 2, 6, 6) for _ in range(3)]
    again = repair.reestimate_batch_norm(model, data)
    outputs = [model[0](x).detach().numpy().astype(np.float64) for x in data]
    mean = np.mean([y.mean((0, 2, 3)) for y in outputs], axis=0)
    variance = np.mean([y.var((0, 2, 3), ddof=1) for y in outputs], axis=0)
    np.testing.assert_allclose(again[1].running_mean.numpy(), mean, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(again[1].running_var.numpy(), variance, rtol=1e-4)
    assert (again.training, again[1].momentum, model[1].num_batches_tracked.item()) == (
        True,
        0.1,
        0,
    )


def test_moments_of_fused_layers_in_training_are_measured_and_ranges_are_kept() -> None:
    """A model from prepare_qat: its fake quantizers look at nothing meanwhile."""
    model = nn.Sequential(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.ReLU()).train()
    quantization.fuse_modules_qat(model, [["0", "1", "2"]], inplace=True)
    model.qconfig = quantization.get_default_qat_qconfig("fbgemm")
    prepared = quantization.prepare_qat(model)
    prepared(images(4, 2, 6, 6))
    again = repair.reestimate_batch_norm(prepared, [100 * images(4, 2, 6, 6)])
    assert isinstance(again[0], nni.qat.ConvBnReLU2d)
    changed = {
        name
        for name, value in again.state_dict().items()
        if not np.array_equal(value.numpy(), prepared.state_dict()[name].numpy())
    }
    assert {"0.bn.running_mean", "0.bn.running_var"} == changed
    enabled = again[0].weight_fake_quant.observer_enabled
    assert enabled.item() == 1
    with pytest.raises(ValueError, match="has no batch normalization with running moments"):
        repair.reestimate_batch_norm(nn.Sequential(nn.Linear(2, 2)), [images(1, 2)])


def test_outliers_move_from_activations_to_weights() -> None:
    """The function stays; two linear layers behind one layer norm share its factors."""

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm = nn.LayerNorm(8)
            self.q, self.k = nn.Linear(8, 8), nn.Linear(8, 8)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = self.norm(x)
            return self.q(y) + self.k(y)

    model = Block().eval()
    model.norm.weight.data[2] *= 60
    x = images(32, 8)
    smooth = repair.smooth_quant(model, [x])
    assert torch.allclose(model(x), smooth(x), **ROUNDED_AGAIN)
    peaks = [one.norm(x).abs().max(0)[0].detach().numpy() for one in (model, smooth)]
    assert peaks[1].max() / np.median(peaks[1]) < peaks[0].max() / np.median(peaks[0]) / 5


def test_a_layer_norm_that_something_else_reads_keeps_its_factors() -> None:
    """A residual connection behind the layer norm would get divided numbers."""

    class Residual(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm, self.linear = nn.LayerNorm(4), nn.Linear(4, 4)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = self.norm(x)
            return y + self.linear(y)

    with (
        pytest.warns(quantization.NotRepairedWarning, match="^norm: not all that read it"),
        pytest.raises(ValueError, match="found no layer norm with linear layers behind it"),
    ):
        repair.smooth_quant(Residual(), [images(3, 4)])
    with pytest.raises(ValueError, match=r"alpha must be in \[0, 1\], got 2"):
        repair.smooth_quant(Residual(), [images(3, 4)], alpha=2)


def test_a_clean_model_is_equalized_in_silence() -> None:
    """No warning where there is nothing to say."""
    model, _ = networks()["linear"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        repair.cross_layer_equalization(model)
