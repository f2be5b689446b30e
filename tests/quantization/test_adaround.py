"""AdaRound: what is promised of it, on layers of all kinds and on a trained network."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import pyqref as torch
from pyqref import nn, quantization
from pyqref.numerics.learned_rounding import reconstruction_error
from pyqref.quantization import quantize_fx, repair
from pyqref.quantization.repair.quantized_layers import channel_axis, float_layer, has_relu
from pyqref.quantization.repair.running import input_of, listening

RNG = np.random.default_rng(0)


def numbers(*shape: int) -> torch.Tensor:
    """Random numbers whose mean is not zero."""
    return torch.from_numpy(RNG.uniform(-0.3, 1, shape).astype(np.float32))


def few_bits(bits: int, per_channel: bool) -> quantization.QConfig:
    """Weights of few bits, activations of eight."""
    kind: Any = quantization.MinMaxObserver
    scheme = torch.per_tensor_symmetric
    if per_channel:
        kind, scheme = quantization.PerChannelMinMaxObserver, torch.per_channel_symmetric
    half = 2 ** (bits - 1)
    weight = kind.with_args(dtype=torch.qint8, qscheme=scheme, quant_min=-half, quant_max=half - 1)
    return quantization.QConfig(quantization.MinMaxObserver, weight)


def networks() -> dict[str, tuple[Any, list[list[str]], torch.Tensor]]:
    """Each kind of layer, plain, fused and in groups."""
    conv = nn.Conv2d
    return {
        "linear": (nn.Sequential(nn.Linear(9, 8), nn.Linear(8, 3)), [], numbers(40, 9)),
        "relu": (
            nn.Sequential(conv(3, 6, 3, padding=1), nn.ReLU(), conv(6, 4, 1, bias=False)),
            [["module.0", "module.1"]],
            numbers(9, 3, 5, 5),
        ),
        "groups": (
            nn.Sequential(conv(4, 8, 3, groups=4), conv(8, 4, 2, groups=2)),
            [],
            numbers(9, 4, 6, 6),
        ),
        "1d": (nn.Sequential(nn.Conv1d(3, 4, 3, stride=2)), [], numbers(9, 3, 9)),
    }


def quantized(name: str, per_channel: bool) -> tuple[Any, Any, list[torch.Tensor]]:
    """A float model, the converted one with weights of 3 bits, and data."""
    _ = torch.manual_seed(1)
    layers, pairs, x = networks()[name]
    model = quantization.QuantWrapper(layers).eval()
    if pairs:
        quantization.fuse_modules(model, pairs, inplace=True)
    model.qconfig = few_bits(3, per_channel)
    prepared = quantization.prepare(model)
    prepared(x)
    return model, quantization.convert(prepared), [x[:5], x[5:]]


def weights(model: Any) -> dict[str, Any]:
    """The integers of each layer."""
    return {
        path: each.weight().int_repr().numpy().astype(int)
        for path, each in model.named_modules()
        if hasattr(each, "set_weight_bias") and hasattr(each, "weight")
    }


def channel_errors(model: Any, converted: Any, path: str, data: list[torch.Tensor]) -> Any:
    """eq-reconstruction-error of a layer on the inputs that it gets."""
    layer, rounded = (float_layer(each.get_submodule(path)) for each in (model, converted))
    own = copy.deepcopy(layer)
    own.weight.data = rounded.weight().dequantize()
    expected, found = [], []
    for batch in data:
        found.append(own(input_of(converted, path, batch).dequantize()))
        with listening(layer, lambda _, y: expected.append(y)):
            model(batch)
    both = (torch.cat(each).detach().numpy() for each in (expected, found))
    return reconstruction_error(*both, channel_axis(rounded), relu=has_relu(rounded))


@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("name", networks())
def test_each_integer_is_a_neighbour_and_no_channel_is_worse(name: str, per_channel: bool) -> None:
    """The integers are floor or ceil of the weight, in the range of before, and cost no more."""
    model, converted, data = quantized(name, per_channel)
    better = repair.adaround(model, converted, data, steps=60, lr=0.1)
    before, after = weights(converted), weights(better)
    changed = 0
    for path, integers in after.items():
        weight = converted.get_submodule(path).weight()
        scale = weight.q_per_channel_scales() if per_channel else torch.tensor(weight.q_scale())
        real = float_layer(model.get_submodule(path)).weight.detach().numpy()
        along = scale.numpy().reshape(-1, *[1] * (real.ndim - 1)).astype(np.float64)
        off = np.abs(np.clip(real / along, before[path].min(), before[path].max()) - integers)
        assert off.max() < 1
        assert before[path].min() <= integers.min() <= integers.max() <= before[path].max()
        changed += (integers != before[path]).sum()
    assert changed
    first = next(iter(after))
    assert (
        channel_errors(model, better, first, data) <= channel_errors(model, converted, first, data)
    ).all()
    for path in after:  # on the inputs that it gets, behind layers that are rounded already
        mixed = copy.deepcopy(better)
        layer = mixed.get_submodule(path)
        layer.set_weight_bias(converted.get_submodule(path).weight(), layer.bias())
        assert (
            channel_errors(model, better, path, data) <= channel_errors(model, mixed, path, data)
        ).all()


def test_the_same_seed_gives_the_same_integers_and_the_model_stays() -> None:
    """Deterministic; nothing changes in the models that are given, but with inplace."""
    model, converted, data = quantized("relu", True)
    before = weights(converted)
    _ = torch.manual_seed(5)
    one = weights(repair.adaround(model, converted, data, steps=20, lr=0.1))
    _ = torch.manual_seed(6)
    two = weights(repair.adaround(model, converted, data, steps=20, lr=0.1))
    for path, integers in weights(converted).items():
        assert (integers == before[path]).all()
        assert (one[path] == two[path]).all()
    same = repair.adaround(
        model, converted, data, layers=["module.0"], steps=20, lr=0.1, inplace=True
    )
    assert same is converted
    assert (weights(same)["module.0"] == one["module.0"]).all()
    assert (weights(same)["module.2"] == before["module.2"]).all()


def test_graph_mode_is_rounded_too() -> None:
    """A model of convert_fx, beside the fused float model."""
    _ = torch.manual_seed(2)
    layers = nn.Conv2d(3, 6, 3), nn.BatchNorm2d(6), nn.ReLU(), nn.Conv2d(6, 4, 3)
    model = quantize_fx.fuse_fx(nn.Sequential(*layers).eval())
    x = numbers(24, 3, 8, 8)
    mapping = quantization.QConfigMapping().set_global(few_bits(3, False))
    prepared = quantize_fx.prepare_fx(model, mapping, (x,))
    prepared(x)
    converted = quantize_fx.convert_fx(prepared)
    better = repair.adaround(model, converted, [x], steps=100)

    def error(one: Any) -> float:
        return float((one(x) - model(x)).pow(2).mean())

    assert error(better) < error(converted) / 2


def test_a_trained_network_is_better_than_with_nearest_rounding() -> None:
    """The network of the demo with weights of 3 bits: a third of the error, on unseen images."""
    pytest.importorskip("sklearn", reason="the extra 'demo' has the images")
    from pyqref.demo import data, models, static, train

    _ = torch.manual_seed(0)
    digits = data.load_digits().limited(512, 128)
    model = models.DigitCNN(stem=6, width=8)
    train.train(model, digits.train_images, digits.train_labels, epochs=3, lr=1e-2)
    fused = static.fused(model)
    fused.qconfig = few_bits(3, False)
    prepared = quantization.prepare(fused)
    train.predict(prepared, digits.train_images[:128])
    nearest = quantization.convert(prepared)
    learned = repair.adaround(fused, nearest, [digits.train_images[:128]], steps=80)

    def error(one: Any) -> float:
        images = digits.test_images
        return float((train.predict(one, images) - train.predict(fused, images)).pow(2).mean())

    assert error(learned) < error(nearest) / 3


def test_the_usual_price_suits_small_layers() -> None:
    """Of eight layers of 32 x 4 weights in 3 bits less than half of the error stays, on average."""
    ratios = []
    for seed in range(8):
        _ = torch.manual_seed(seed)
        model = quantization.QuantWrapper(nn.Linear(32, 4)).eval()
        model.qconfig = few_bits(3, False)
        prepared = quantization.prepare(model)
        x = torch.rand(64, 32)
        prepared(x)
        nearest = quantization.convert(prepared)
        learned = repair.adaround(model, nearest, [x], steps=200)
        before, after = (float((one(x) - model(x)).pow(2).mean()) for one in (nearest, learned))
        ratios.append(after / before)
    assert np.mean(ratios) < 0.5


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"steps": 0}, "adaround: steps must be 1 or more, got 0"),
        ({"batch_size": 0}, "adaround: batch_size must be 1 or more, got 0"),
        ({"lr": 0}, "adaround: lr must be above 0, got 0"),
        ({"price": -1}, "adaround: price must be 0 or more, got -1"),
        ({"warm_up": 1}, "adaround: warm_up must be below 1, got 1"),
        ({"exponents": (2, 20)}, r"adaround: exponents must fall, and be above 1, got \(2, 20\)"),
    ],
)
def test_numbers_out_of_range_are_refused(given: dict[str, Any], says: str) -> None:
    """The message names the argument, its range and what was given."""
    model, converted, data = quantized("1d", False)
    with pytest.raises(ValueError, match=says):
        repair.adaround(model, converted, data, **given)


def test_other_models_are_refused() -> None:
    """By the path of the layer, or as a whole."""
    model, converted, data = quantized("linear", False)
    other = copy.deepcopy(model)
    other.module[1].weight.data += 1
    with pytest.raises(ValueError, match=r"the integers of 'module\.1' are not those of the float"):
        repair.adaround(other, converted, data, steps=1)
    with pytest.raises(ValueError, match="has no quantized linear or convolution"):
        repair.adaround(model, model, data)
    with pytest.raises(TypeError, match=r"pass \[data\] for one batch"):
        repair.adaround(model, converted, data[0])
    with pytest.warns(quantization.NotRepairedWarning, match="^quant: its weight is not rounded"):
        repair.adaround(model, converted, data, layers=["quant", "module.0"], steps=1)
