"""Following the last line of a ledger gives the result that it promises."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from explaining.models import eager, images, made

import pyqref
from pyqref import measure, nn, quantization

MODEL = made()


def weak_pair(qconfig) -> tuple:
    """One weight is fifty times as large as the others, for an input that is small."""
    pyqref.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)).eval()
    model[0].weight.data[0, 0] = 15.0
    x = pyqref.randn(64, 8)
    x[:, 0] *= 0.01
    wrapped = quantization.QuantWrapper(copy.deepcopy(model))
    wrapped.qconfig = qconfig
    prepared = quantization.prepare(wrapped.eval())
    prepared(x)
    return model, quantization.convert(prepared), x


def test_the_advice_helps() -> None:
    """Following the line that the ledger ends with gives what it says, nearly."""
    per_tensor = quantization.default_qconfig
    found = pyqref.ledger(*weak_pair(per_tensor))
    assert found.advice.startswith("module.0: ")
    assert "of the change is weight rounding: a scale per channel would give sqnr" in found.advice
    promised = float(found.advice.rpartition("-> ")[2].removesuffix(" dB."))
    model, quantized, x = weak_pair(per_tensor)
    before = measure.sqnr(model(x), quantized(x))
    per_channel = quantization.default_per_channel_weight_observer
    model, quantized, x = weak_pair(
        quantization.QConfig(activation=per_tensor.activation, weight=per_channel)
    )
    got = measure.sqnr(model(x), quantized(x))
    assert got > before + 8
    assert abs(got - promised) < 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda q: setattr(q.module.fc, "scale", q.module.fc.scale / 4), "an output range of"),
        (lambda q: setattr(q.module.fc, "scale", q.module.fc.scale * 8), "an output range of"),
    ],
)
def test_advice_for_a_range(change, words) -> None:
    """A range too narrow clips, one too wide rounds: the range that was seen helps."""
    quantized = eager(MODEL)
    change(quantized)
    found = pyqref.ledger(MODEL, quantized, images())
    assert words in found.advice
    before = float(found.advice.partition(" dB ->")[0].split()[-1])
    promised = float(found.advice.rpartition("-> ")[2].removesuffix(" dB."))
    assert promised > before


def two_layers(weight: np.ndarray) -> tuple:
    """A linear layer of this weight, one that takes differences, converted with good ranges."""
    pyqref.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.Linear(16, 4)).eval()
    model[0].weight.data.copy_(pyqref.from_numpy(weight.astype(np.float32)))
    model[1].weight.data.copy_(pyqref.tensor([1.0, -1.0] * 8).expand(4, 16))
    model[1].weight.data[1:] *= pyqref.tensor([[1.0], [-1.0], [1.0]])
    x = pyqref.randn(64, 8)
    x[:, 0] *= 0.001
    wrapped = quantization.QuantWrapper(copy.deepcopy(model))
    wrapped.qconfig = quantization.get_default_qconfig("fbgemm")
    prepared = quantization.prepare(wrapped.eval())
    prepared(x)
    return model, quantization.convert(prepared), x


def by_hand(model: nn.Module, q: nn.Module, x: pyqref.Tensor, remedy: str) -> pyqref.Tensor:
    """Run the quantized model with its first layer changed as the advice says."""
    first, second = q.module[0], q.module[1]
    xq = q.quant(x)
    grid = first.scale, first.zero_point
    weight, bias = first.weight(), first.bias()
    if remedy == "quantizing its float weight again, per channel,":
        scales = model[0].weight.detach().abs().max(1).values / 127.5
        zeros = pyqref.zeros(16, dtype=pyqref.int64)
        made = model[0].weight.detach(), scales.double(), zeros, 0, pyqref.qint8
        first.set_weight_bias(pyqref.quantize_per_channel(*made), bias)
        return q(x)
    if remedy == "the bias of the float model":
        first.set_weight_bias(weight, model[0].bias.detach())
        return q(x)
    if remedy == "an output range of":
        real = nn.functional.linear(xq.dequantize(), weight.dequantize(), bias)
        low, high = float(real.min()), float(real.max())
        first.scale = (high - low) / 255
        first.zero_point = round(-low / first.scale)
        return q(x)
    if remedy == "its weight in float":
        real = nn.functional.linear(xq.dequantize(), model[0].weight.detach(), bias)
        return q.dequant(second(pyqref.quantize_per_tensor(real, *grid, pyqref.quint8)))
    assert remedy == "its output in float"
    real = nn.functional.linear(xq.dequantize(), weight.dequantize(), bias)
    real = nn.functional.linear(real, second.weight().dequantize(), second.bias())
    given = second.scale, second.zero_point, pyqref.quint8
    return pyqref.quantize_per_tensor(real, *given).dequantize()


RNG = np.random.default_rng(0)
INTEGERS = RNG.integers(-127, 128, (16, 8)) / 127.0
INTEGERS[:, 1] = 1.0
ALIKE = INTEGERS.copy()
ALIKE[1::2] = ALIKE[::2]
ALIKE[1::2, 2] -= 2 / 127
ONE_LARGE = RNG.standard_normal((16, 8)) * 0.3
ONE_LARGE[:, 0] = 60.0


def without_bias(q: nn.Module) -> None:
    q.module[0].set_weight_bias(q.module[0].weight(), pyqref.zeros(16))


def with_wrong_scales(q: nn.Module) -> None:
    weight, bias = q.module[0]._weight_bias()
    given = 1.5 * weight.q_per_channel_scales(), weight.q_per_channel_zero_points(), 0
    made = pyqref._make_per_channel_quantized_tensor(weight.int_repr(), *given)
    q.module[0].set_weight_bias(made, bias)


def with_wide_range(q: nn.Module) -> None:
    q.module[0].scale *= 16


def with_all_bits(q: nn.Module) -> None:
    """The observer leaves one bit of eight; now the range is as narrow as it can be."""
    q.module[0].scale /= 2
    q.module[0].zero_point = 2 * q.module[0].zero_point


@pytest.mark.parametrize(
    ("weight", "harm", "remedy"),
    [
        (INTEGERS, with_wrong_scales, "quantizing its float weight again, per channel,"),
        (ONE_LARGE, None, "its weight in float"),
        (INTEGERS, without_bias, "the bias of the float model"),
        (INTEGERS, with_wide_range, "an output range of"),
        (ALIKE, with_all_bits, "its output in float"),
    ],
)
def test_every_advice_helps(weight, harm, remedy) -> None:
    """Each kind, followed by hand, gives what the line says; that of a scale per channel is above.

    The layer in float is the advice for an LSTM, below.
    """
    model, quantized, x = two_layers(weight)
    if harm is not None:
        harm(quantized)
    found = pyqref.ledger(model, quantized, x)
    assert found.advice.startswith("module.0: ")
    assert remedy in found.advice
    promised = float(found.advice.rpartition("-> ")[2].removesuffix(" dB."))
    before = measure.sqnr(model(x), quantized(x))
    got = measure.sqnr(model(x), by_hand(model, quantized, x, remedy))
    assert got > before + 0.5
    assert abs(got - promised) < 0.5
