"""Layers of several weights, such as LSTM and attention, in ``ledger`` and ``explain_diff``."""

from __future__ import annotations

import copy

import pytest

import pyqref
from pyqref import measure, nn, quantization
from pyqref.explaining.composed import set_weights


def total_of(found):
    """The sum of all entries."""
    return sum(each.change for each in found.entries)


class Recurrent(nn.Module):
    """A layer of several weights, and a linear one behind it."""

    def __init__(self, layer: nn.Module, size: int) -> None:
        super().__init__()
        self.quant, self.layer = quantization.QuantStub(), layer
        self.fc, self.dequant = nn.Linear(size, 3), quantization.DeQuantStub()

    def forward(self, x):
        x = self.quant(x)
        y = self.layer(x, x, x) if isinstance(self.layer, ATTENTION) else self.layer(x)
        return self.dequant(self.fc(y[0] if isinstance(y, tuple) else y))


ATTENTION = (nn.MultiheadAttention, nn.quantizable.MultiheadAttention)
ATTENTION += (nn.quantized.MultiheadAttention,)
SEVERAL = {
    "LSTM": (lambda: nn.LSTM(8, 8, num_layers=2, bidirectional=True), 16),
    "GRU": (lambda: nn.GRU(8, 8), 8),
    "LSTMCell": (lambda: nn.LSTMCell(8, 8), 8),
    "MultiheadAttention": (lambda: nn.MultiheadAttention(8, 2), 8),
}


def recurrent(name: str, form: str) -> tuple[nn.Module, nn.Module, pyqref.Tensor]:
    """A model, quantized dynamically to a dtype or statically, and an input."""
    pyqref.manual_seed(0)
    make, size = SEVERAL[name]
    model = Recurrent(make(), size).eval()
    x = pyqref.randn(5, 8) if name.endswith("Cell") else pyqref.randn(6, 3, 8)
    if form != "static":
        kinds = {type(model.layer), nn.Linear}
        return model, quantization.quantize_dynamic(model, kinds, getattr(pyqref, form)), x
    model.qconfig = quantization.get_default_qconfig("fbgemm")
    prepared = quantization.prepare(model)
    prepared(x)
    return model, quantization.convert(prepared), x


CASES = [(name, form) for name in ("LSTM", "GRU", "LSTMCell") for form in ("qint8", "float16")]
CASES += [("LSTM", "static"), ("MultiheadAttention", "static")]


@pytest.mark.parametrize(("name", "form"), CASES)
def test_layers_of_several_weights(name, form) -> None:
    """Their weights are causes of their own; what goes on inside is rounding of activations."""
    model, quantized, x = recurrent(name, form)
    found = pyqref.ledger(model, quantized, x)
    assert found.total == total_of(found)
    causes = {each.cause: each.share for each in found.entries if each.layer == "layer"}
    assert ["weight clipping", "weight rounding", "bias", "activation rounding"] == list(causes)
    assert abs(causes["weight rounding"]) > 0.003
    assert causes["bias"] == 0
    assert (abs(causes["activation rounding"]) < 1e-3) == (form == "float16")
    # The weights alone: the float model with what the integers stand for.
    assert not any(each.change for each in found.entries if each.cause == "rest")
    promised = float(found.advice.rpartition("-> ")[2].removesuffix(" dB."))
    before = measure.sqnr(model(x), quantized(x))
    if form == "static" or not found.advice.startswith("layer: "):
        assert promised > before + 1
        return
    assert "the layer in float would give" in found.advice
    quantized.layer = model.layer
    assert measure.sqnr(model(x), quantized(x)) == pytest.approx(promised, abs=0.01)


def sabotaged(model: nn.Module, harm: str) -> nn.Module:
    """One weight, or bias, of a dynamic layer of several is wrong."""
    broken = copy.deepcopy(model)
    given = broken.layer._weight_bias()
    end = next(name for name in given["weight"] if "ih" in name)
    weight = given["weight"][end]
    if harm == "scale doubled":
        given["weight"][end] = pyqref._make_per_tensor_quantized_tensor(
            weight.int_repr(), 2 * weight.q_scale(), weight.q_zero_point()
        )
    elif harm == "channels swapped":
        integers = weight.int_repr()
        moved = pyqref.cat([integers[1:2], integers[:1], integers[2:]])
        given["weight"][end] = pyqref._make_per_tensor_quantized_tensor(
            moved, weight.q_scale(), weight.q_zero_point()
        )
    else:
        bias = end.replace("weight", "bias")
        given["bias"][bias] = pyqref.zeros_like(given["bias"][bias])
    set_weights(broken.layer, given["weight"], given["bias"])
    return broken


@pytest.mark.parametrize("name", ["LSTM", "GRU", "LSTMCell"])
@pytest.mark.parametrize(
    ("harm", "cause", "named"),
    [
        ("scale doubled", "weight rounding", "another scale or zero point"),
        ("bias dropped", "bias", "another bias"),
        ("channels swapped", "weight rounding", "another weight"),
    ],
)
def test_a_broken_dynamic_layer_is_found(name, harm, cause, named) -> None:
    """The ledger ranks it first, and explain_diff names what is wrong."""
    model, quantized, x = recurrent(name, "qint8")
    broken = sabotaged(quantized, harm)
    worst = pyqref.ledger(model, broken, x, advice=False).worst()[0]
    assert ("layer", cause) == (worst.layer, worst.cause)
    found = pyqref.explain_diff(quantized, broken, x)
    assert ("layer", named) == (found.first.layer, found.first.cause)
    assert found.first.count == sum(found.first.causes.values())
