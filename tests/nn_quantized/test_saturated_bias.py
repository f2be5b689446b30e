"""qnnpack keeps biases as 32-bit integers: what does not fit is cut, and told."""

from __future__ import annotations

from typing import Any

import pytest

import pyqref
from pyqref import nn
from pyqref import quantization as q
from pyqref.quantization.quantize_fx import convert_fx, prepare_fx

TOLD = r"the engine qnnpack keeps the bias as 32-bit integers.*was cut to.*2\*\*-1\d"


@pytest.mark.parametrize("graph_mode", [False, True])
@pytest.mark.parametrize("engine", ["qnnpack", "x86"])
def test_biases_that_are_cut_are_named(engine: str, graph_mode: bool) -> None:
    """Once for each layer; other engines keep biases real."""
    pyqref.backends.quantized.engine = engine
    model = nn.Sequential(nn.Sequential(nn.Linear(4, 3)), nn.Linear(3, 2)).eval()
    model[0][0].weight.data.copy_(pyqref.randn(3, 4) * 1e-9)
    model[0][0].bias.data.copy_(pyqref.tensor([9e3, 0.0, -9e3]))
    x, qconfig = pyqref.randn(5, 4), q.get_default_qconfig("qnnpack")
    if graph_mode:
        prepared = prepare_fx(model, q.QConfigMapping().set_global(qconfig), (x,))
    else:
        model = q.QuantWrapper(model)
        model.qconfig = qconfig
        prepared = q.prepare(model)
    prepared(x)
    converted = convert_fx(prepared) if graph_mode else q.convert(prepared)
    if engine != "qnnpack":
        converted(x)
        return
    with pytest.warns(q.SaturatedBiasWarning, match=rf"0\.0 \(Linear\): {TOLD}") as told:
        converted(x)
    assert len(told) == 1
    converted(x)


def test_functions_and_convolutions_are_named() -> None:
    """The place where the weight of a function is kept; the layer."""
    pyqref.backends.quantized.engine = "qnnpack"
    x = pyqref.quantize_per_tensor(pyqref.randn(2, 2, 3), 1e-4, 128, pyqref.quint8)
    weight = pyqref.quantize_per_tensor(pyqref.randn(3, 2, 1), 1e-7, 0, pyqref.qint8)
    bias = pyqref.tensor([0.0, 1.0, 0.01])  # 0.01 is 1e9 units
    model = nn.Sequential(nn.quantized.Conv1d(2, 3, 1))
    model[0].set_weight_bias(weight, bias)
    with pytest.warns(
        q.SaturatedBiasWarning, match=r"0 \(Conv1d\).*element 1, 1, was cut to 0\.0215"
    ):
        model(x)
    packed = pyqref.ops.quantized.linear_prepack(weight.squeeze(-1), bias)

    class Function(nn.Module):
        def forward(self, x: Any) -> Any:
            return pyqref.ops.quantized.linear(x, self.kept, 1.0, 0)

    function = Function()
    function.kept = packed
    with pytest.warns(q.SaturatedBiasWarning, match=r"^0 \(Function\)\.kept: "):
        nn.Sequential(function)(x[:, :, 0])
