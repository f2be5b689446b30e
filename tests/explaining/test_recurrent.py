"""Recurrent layers answer at every step, back to the first one and to the input."""

from __future__ import annotations

import pytest

import pyqref
from pyqref import nn
from pyqref.explaining import explain, recording


@pytest.fixture(autouse=True)
def _seed():
    pyqref.manual_seed(0)


def dynamic(kind, dtype=pyqref.qint8, **options):
    """A recurrent layer whose weights are quantized."""
    model = nn.Sequential(kind(4, 3, **options)).eval()
    return pyqref.quantization.quantize_dynamic(model, {kind}, dtype)


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
@pytest.mark.parametrize("both", [False, True])
def test_back_through_time(kind, both):
    """Each step leads to the one before it, of the same sequence, and each layer to the one below.

    Every derivation on the way, recomputed from its own steps exactly, is the state that the layer
    had (``eq-recurrent-layer``, ``eq-lstm-step``, ``eq-gru-step``).
    """
    x = pyqref.randn(3, 2, 4)
    found = explain(dynamic(kind, num_layers=2, bidirectional=both), x, "0", (2, 1, 1))
    seen = []
    while True:
        assert found.check()
        seen.append((found.layer, found.index[:2]))
        state = found.inputs[-1]
        if not state.can_be_asked:
            break
        found = state.why()
    name = kind.__name__.lower()
    assert [("0", (2, 1)), ("0, layer 1", (1, 1)), ("0, layer 1", (0, 1))] == seen
    assert "zeros" == state.layer
    below = found.inputs[0].why()
    assert below.check()
    assert ("0, layer 0", (0, 1)) == (below.layer, below.index[:2])
    assert "input" == below.inputs[0].layer, name


def test_every_output_answers():
    """Final hidden and cell states as well, and those of packed sequences in the user's order."""
    layer = dynamic(nn.LSTM, num_layers=2, bidirectional=True)[0]
    sequences = [pyqref.randn(length, 4) for length in (1, 3, 2)]
    packed = nn.utils.rnn.pack_sequence(sequences, enforce_sorted=False)
    with recording():
        y, (h, c) = layer(packed)
    for tensor in (y.data, h, c):
        for place in range(0, tensor.numel(), 5):
            rest, index = place, []
            for size in reversed(tensor.shape):
                rest, last = divmod(rest, size)
                index.insert(0, last)
            found = tensor.why(*index)
            assert found.check()
            assert tensor[tuple(index)].item() == found.value


def test_the_weights_are_those_of_the_run():
    """A change after the run does not change the answer."""
    cell = dynamic(nn.LSTMCell)[0]
    with recording():
        h, _ = cell(pyqref.randn(2, 4))
    cell.set_weight_bias(nn.quantized.dynamic.LSTMCell(4, 3)._weight_bias())
    assert h.why(0, 0).check()


def test_sections_are_shown():
    """The parts of a long derivation have headings, in every form that it is shown in."""
    found = explain(dynamic(nn.GRU), pyqref.randn(2, 1, 4), index=(1, 0, 0))
    heading = "gate r (reset): what the hidden state adds"
    assert f"\n-- {heading}\n" in str(found)
    assert f"intertext{{{heading}}}" in found.to_latex()
    assert f">{heading} <" in found._repr_html_()
    assert heading in {each["section"] for each in found.to_dict()["steps"]}
    assert r"_{\mathrm{max}}" in found.to_latex()


def test_what_has_no_derivation_says_so():
    """Weights of half precision, and dropout between the layers."""
    x = pyqref.randn(2, 1, 4)
    with pytest.raises(LookupError, match="0 has weights of float16"):
        explain(dynamic(nn.LSTM, pyqref.float16), x, "0", (0, 0, 0))
    model = dynamic(nn.GRU, num_layers=2, dropout=0.5).train()
    with pytest.raises(RuntimeError, match=r"0 \(GRU\) draws at random.*call model.eval\(\) first"):
        explain(model, x, "0", (0, 0, 0))
    with recording():
        y, _ = model[0](x)
    with pytest.raises(LookupError, match="dropped numbers at random between its layers"):
        y.why(0, 0, 0)


def test_a_module_of_several_operations_answers_with_its_output():
    """``layer`` may be any module that ran: what it gave is explained."""
    inner = nn.Sequential(nn.quantized.Quantize(0.1, 3, pyqref.quint8), nn.ReLU())
    found = explain(nn.Sequential(inner, nn.Identity()), pyqref.ones(1), "0", 0)
    assert "0.1" == found.layer
    assert "0.1" == explain(nn.Sequential(inner, nn.Identity()), pyqref.ones(1), "1", 0).layer
