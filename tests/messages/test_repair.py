"""Following the messages of the repair functions works."""

from __future__ import annotations

import copy
from typing import Any

from messages.following import says

import pyqref
from pyqref import nn, quantization
from pyqref.quantization import repair

X = pyqref.ones(3, 4)


class Branch(nn.Module):
    """Two layers that a trace cannot follow, and a layer norm that three things read."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)
        self.norm = nn.LayerNorm(4)

    def forward(self, x: Any) -> Any:
        y = self.second(self.first(x).sigmoid())
        z = self.norm(y)
        return self.first(z) + z


def test_pairs_that_are_not_found_can_be_named() -> None:
    """With a layer between that the caller knows to be harmless."""
    with says("pass pairs=[(path of the first, path of the second), ...]"):
        repair.cross_layer_equalization(Branch())
    repair.cross_layer_equalization(Branch(), pairs=[("first", "second")])


def test_a_relu6_is_replaced() -> None:
    """Then a factor passes."""
    model = nn.Sequential(nn.Linear(4, 3), nn.ReLU6(), nn.Linear(3, 2))
    with says("replace it by nn.ReLU, which lets a factor pass"):
        assert not repair.adjacent_layers(model)
    model[1] = nn.ReLU()
    assert repair.adjacent_layers(model)


def test_models_of_a_bias_correction() -> None:
    """The models before prepare and after convert; paths of layers that are quantized in one."""
    model = quantization.QuantWrapper(nn.Sequential(nn.Linear(4, 3), nn.Flatten())).eval()
    model.qconfig = quantization.get_default_qconfig("fbgemm")
    prepared = quantization.prepare(model)
    prepared(X)
    quantized = quantization.convert(prepared)
    with says("pass the models before prepare and after convert"):
        repair.bias_correction(quantized, model, [X])
    with says("pass [data] for one batch"):
        repair.bias_correction(model, quantized, X)  # type: ignore[arg-type]
    with says("pass the model that prepare was given, and paths of layers that convert quantized"):
        repair.bias_correction(model, quantized, [X], layers=["module.0", "module.1"])
    repair.bias_correction(model, quantized, [X], layers=["module.0"])


def test_weights_that_are_rounded_anew() -> None:
    """The float model has to be the one whose weights were rounded."""
    model = quantization.QuantWrapper(nn.Sequential(nn.Linear(4, 3))).eval()
    model.qconfig = quantization.get_default_qconfig("fbgemm")
    prepared = quantization.prepare(model)
    prepared(X)
    quantized = quantization.convert(prepared)
    other = copy.deepcopy(model)
    other.module[0].weight.data *= -1
    with says("pass the model that prepare was given, with the same layers fused"):
        repair.adaround(other, quantized, [X], steps=1)
    repair.adaround(model, quantized, [X], steps=1)


def test_means_that_follow_from_batch_norms() -> None:
    """The model before fusing; a layer that reads something else is measured."""
    layers = nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Linear(4, 3)
    model = quantization.QuantWrapper(nn.Sequential(*layers)).eval()
    fused = quantization.fuse_modules(model, [["module.0", "module.1"]])
    fused.qconfig = quantization.get_default_qconfig("fbgemm")
    prepared = quantization.prepare(fused)
    prepared(X)
    quantized = quantization.convert(prepared)
    with says("pass the model before fuse_modules, or call bias_correction with data"):
        repair.analytic_bias_correction(fused, quantized)
    repair.bias_correction(fused, quantized, [X])
    with says("call bias_correction with data"):
        repair.analytic_bias_correction(model, quantized, layers=["module.0", "module.2"])
    other = copy.deepcopy(model)
    other.module[2] = nn.Linear(4, 2)
    with says("pass models of the same layers"):
        repair.analytic_bias_correction(other, quantized)
    other.module[1], other.module[2] = nn.BatchNorm1d(3), nn.Linear(4, 3)
    with says("leave it out of layers"):
        repair.analytic_bias_correction(other, quantized)
    repair.analytic_bias_correction(model, quantized, layers=["module.2"])


def test_groups_of_a_layer_norm_can_be_named() -> None:
    """Where a sum reads it, too, and the caller answers for that."""
    model = Branch()
    with says(
        "pass groups= if all of them are",
        "pass groups=[(path of the layer norm, [paths of the linear layers]), ...]",
    ):
        repair.smooth_quant(model, [X])
    repair.smooth_quant(model, [X], groups=[("norm", ["first"])])


class LastAxis(nn.Module):
    """A layer norm, and a convolution that reads it with its axes moved."""

    def __init__(self, affine: bool) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(4, elementwise_affine=affine)
        self.conv = nn.Conv1d(4, 2, 1)

    def forward(self, x: Any) -> Any:
        return self.conv(self.norm(x).permute(0, 2, 1))


def test_a_convolution_behind_a_layer_norm_can_be_named() -> None:
    """It takes the factors, which leave the weight of the layer norm."""
    x = pyqref.ones(2, 3, 4)
    with says(
        "pass groups=[({}, [{}])] if the channels are the same and nothing else reads it",
        "pass groups=[(path of the layer norm, [paths of the linear layers]), ...]",
    ):
        repair.smooth_quant(LastAxis(True), [x])
    with says("make the layer norm with elementwise_affine=True"):
        repair.smooth_quant(LastAxis(False), [x], groups=[("norm", ["conv"])])
    repair.smooth_quant(LastAxis(True), [x], groups=[("norm", ["conv"])])


def test_a_dynamic_layer_is_made_a_static_one() -> None:
    """Then it is repaired with the others."""
    model = quantization.QuantWrapper(nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 3))).eval()
    model.qconfig = quantization.default_qconfig
    prepared = quantization.prepare(model)
    prepared(X)
    quantized = quantization.convert(prepared)
    mixed = copy.deepcopy(quantized)
    mixed.module[1] = nn.Sequential(mixed.dequant, nn.quantized.dynamic.Linear(3, 3))
    with says("give it a static QConfig, such as default_qconfig"):
        repair.bias_correction(model, mixed, [X])
    repair.bias_correction(model, quantized, [X])
