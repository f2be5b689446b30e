"""Data of one value has scale 1.0 and zero point 0, in every place that chooses parameters."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import pyqref
from pyqref import nn
from pyqref import quantization as q
from pyqref.quantization.quantize_fx import (
    convert_fx,
    convert_to_reference_fx,
    prepare_fx,
    prepare_qat_fx,
)

X = [[0.5], [-1.0], [2.0]]


class Function(nn.Module):
    """A function whose weight has channels of one element."""

    def __init__(self) -> None:
        super().__init__()
        self.w = nn.Parameter(pyqref.full((3, 1), 0.3))

    def forward(self, x: Any) -> Any:
        return nn.functional.linear(x, self.w)


def one_element() -> Any:
    model = nn.Sequential(nn.Linear(1, 3), nn.ReLU())
    model[0].weight.data.fill_(0.3)
    return model


def prepared_of(model: Any, graph_mode: bool, trains: bool, weight: Any = None) -> Any:
    qconfig = q.get_default_qat_qconfig("fbgemm") if trains else q.default_per_channel_qconfig
    if weight is not None:
        qconfig = q.QConfig(qconfig.activation, weight)
    x = pyqref.tensor(X)
    model.train(trains)
    if graph_mode:
        prepare = prepare_qat_fx if trains else prepare_fx
        prepared = prepare(model, q.QConfigMapping().set_global(qconfig), (x,))
    else:
        model = q.QuantWrapper(model).train(trains)
        model.qconfig = qconfig
        prepared = q.prepare_qat(model) if trains else q.prepare(model)
    prepared(x)
    return prepared.eval()


@pytest.mark.parametrize("trains", [False, True])
@pytest.mark.parametrize("graph_mode", [False, True])
def test_constant_channels_are_named_in_every_mode(graph_mode: bool, trains: bool) -> None:
    """Eager and graph mode, after calibration and training: path, value, remedy."""
    prepared = prepared_of(one_element(), graph_mode, trains)
    converts = [convert_to_reference_fx, convert_fx] if graph_mode else [q.convert]
    for convert in converts:
        model = copy.deepcopy(prepared)
        told = r"0\.weight \(Linear.*0\.3 everywhere, in channel 0 \(and 2 more\) became 0.*qconfig"
        with pytest.warns(q.ConstantChannelWarning, match=told):
            convert(model)
    pyqref.backends.quantized.conventions = "torch"
    converted = converts[-1](prepared_of(one_element(), graph_mode, trains))
    assert converted(pyqref.tensor(X)).abs().max().item() > 0.1


@pytest.mark.parametrize("fused", [False, True])
def test_training_sees_what_convert_deploys(fused: bool) -> None:
    """One rule for the observer, both fake quantizers and convert: 0.3 is 0, 0.7 is 1."""
    options = {"dtype": pyqref.qint8, "qscheme": pyqref.per_channel_symmetric}
    kind = q.FusedMovingAvgObsFakeQuantize if fused else q.FakeQuantize
    make = kind.with_args(
        observer=q.MovingAveragePerChannelMinMaxObserver, quant_min=-128, quant_max=127, **options
    )
    fake_quantize = make()
    weight = pyqref.tensor([[0.3, 0.3], [0.7, 0.7], [0.0, 0.0], [0.3, 0.6]])
    trained = fake_quantize(weight)
    assert [[0, 0], [1, 1], [0, 0]] == trained[:3].tolist()
    assert [1.0, 1.0, 1.0] == fake_quantize.scale[:3].tolist()
    assert [1.0, 1.0, 1.0] == fake_quantize.calculate_qparams()[0][:3].tolist()
    assert abs(trained[3, 0].item() - 0.3) < 0.003
    of_tensor = q.default_fused_act_fake_quant()
    assert [0.0, 0.0] == of_tensor(pyqref.full((2,), 0.3)).tolist()
    assert (1.0, 0) == (of_tensor.scale.item(), of_tensor.zero_point.item())
    prepared = prepared_of(one_element(), False, True, make)
    seen = prepared.module[0].weight_fake_quant(prepared.module[0].weight).detach()
    with pytest.warns(q.ConstantChannelWarning):
        converted = q.convert(prepared)
    assert seen.tolist() == converted.module[0].weight().dequantize().tolist()


@pytest.mark.parametrize("graph_mode", [False, True])
def test_constant_slopes_are_named(graph_mode: bool) -> None:
    """``PReLU`` has one slope by default."""
    prepared = prepared_of(nn.Sequential(nn.PReLU()), graph_mode, False, q.MinMaxObserver)
    with pytest.warns(
        q.ConstantChannelWarning, match=r"weight \(PReLU\): 0\.25 everywhere became 0"
    ):
        convert_fx(prepared) if graph_mode else q.convert(prepared)


def test_constant_weights_of_functions_dynamic_layers_and_parts_are_named() -> None:
    """A parameter in a graph; dynamic layers in a graph; the parts of an LSTM."""
    with pytest.warns(q.ConstantChannelWarning, match=r"convert_fx: w: 0\.3 everywhere"):
        convert_fx(prepared_of(Function(), True, False))
    mapping = q.QConfigMapping().set_global(q.default_dynamic_qconfig)
    graph = prepare_fx(one_element().eval(), mapping, (pyqref.tensor(X),))
    with pytest.warns(
        q.ConstantChannelWarning, match=r"0\.weight \(Linear.*0\.3 everywhere became"
    ):
        convert_fx(graph)
    lstm = nn.LSTM(1, 2)
    lstm.weight_ih_l0.data.fill_(0.3)
    wrapped = q.QuantWrapper(lstm).eval()
    wrapped.qconfig = q.default_qconfig
    prepared = q.prepare(wrapped)
    prepared(pyqref.randn(3, 2, 1))
    with pytest.warns(q.ConstantChannelWarning, match=r"convert: module \(LSTM\): .*igates.weight"):
        q.convert(prepared)
