"""LSTM and multi-head attention in parts."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import pyqref
from pyqref import nn

quantizable, quantized, q = nn.quantizable, nn.quantized, pyqref.quantization

# Float sums of up to 8 products in another order, and gates within a few ulps.
BOUND = 2.0**-19


def _close(actual: Any, expected: Any) -> bool:
    return (actual - expected).abs().max().item() <= BOUND


OPTIONS: list[dict[str, Any]] = [
    {},
    {"num_layers": 2, "bidirectional": True},
    {"batch_first": True, "bias": False},
]


def _lstm(**options: Any) -> Any:
    layer = nn.LSTM(4, 3, **options).eval()
    layer.qconfig = q.default_qconfig
    return layer


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("split_gates", [False, True])
def test_lstm_does_what_the_float_one_does(options: dict[str, Any], split_gates: bool) -> None:
    source = _lstm(**options)
    layer = quantizable.LSTM.from_float(source, split_gates=split_gates)
    x = pyqref.randn(5, 2, 4)
    expected, states = source(x)
    output, ours = layer(x)
    assert _close(output, expected)
    again, _ = layer(x, ours)
    assert _close(again, source(x, states)[0])
    assert all(_close(a, b) for a, b in zip(ours, states, strict=True))


def test_one_operation_for_all_steps_is_no_reuse() -> None:
    """The parts of a cell are used at each step: no warning, and one range over all of them."""
    layer = quantizable.LSTM.from_float(_lstm())
    layer(pyqref.randn(5, 2, 4))
    cell = layer.layers[0].layer_fw.cell
    assert cell.gates.activation_post_process.min_val.isfinite().item()
    assert type(copy.deepcopy(cell)).used_at_each_step


def test_deep_bidirectional_layers_fit_together() -> None:
    """Made without a float layer; torch's second layer has the wrong size then."""
    output, (hidden, _) = quantizable.LSTM(4, 3, 2, bidirectional=True)(pyqref.randn(5, 2, 4))
    assert ((5, 2, 6), (4, 2, 3)) == (tuple(output.shape), tuple(hidden.shape))


def test_lstm_on_integers() -> None:
    """Within the few percent that 7 bits leave; states in, states out, state dict back."""
    pyqref.manual_seed(0)
    source = _lstm(num_layers=2)
    observed = quantizable.LSTM.from_float(source)
    x = pyqref.randn(5, 2, 4)
    expected, _ = observed(x)
    converted = quantized.LSTM.from_observed(observed)
    qx = pyqref.quantize_per_tensor(x, 0.05, 128, pyqref.quint8)
    output, states = converted(qx)
    assert (output.dequantize() - expected).abs().max().item() < 0.06
    assert pyqref.quint8 is converted(qx, states)[0].dtype
    again = quantizable.LSTM.from_float(_lstm(num_layers=2))
    again(x)
    other = quantized.LSTM.from_observed(again)
    other.load_state_dict(converted.state_dict())
    assert output.int_repr().tolist() == other(qx)[0].int_repr().tolist()


def test_lstm_errors() -> None:
    layer = quantizable.LSTM(4, 3)
    with pytest.raises(RuntimeError, match="the last of length 4, got shape"):
        layer(pyqref.zeros(5, 2, 3))
    with pytest.raises(RuntimeError, match="at least one step"):
        layer(pyqref.zeros(0, 2, 4))
    with pytest.raises(RuntimeError, match=r"hidden\[1\] must have shape \(1, 2, 3\)"):
        layer(pyqref.zeros(5, 2, 4), (pyqref.zeros(1, 2, 3), pyqref.zeros(1, 1, 3)))
    with pytest.raises(ValueError, match="dropout must be a probability between 0 and 1"):
        quantizable.LSTM(4, 3, dropout=2.0)
    with pytest.raises(ValueError, match="has no qconfig"):
        quantizable.LSTM.from_float(nn.LSTM(4, 3))
    with pytest.raises(TypeError, match=r"takes an nn\.LSTM, got GRU"):
        quantizable.LSTM.from_float(nn.GRU(4, 3))
    projected = nn.LSTM(4, 3, proj_size=2)
    projected.qconfig = q.default_qconfig
    with pytest.raises(ValueError, match="proj_size must be 0"):
        quantizable.LSTM.from_float(projected)
    for cls in (quantized.LSTM, quantized.MultiheadAttention):
        with pytest.raises(NotImplementedError, match="must be observed first"):
            cls.from_float(_lstm())
        with pytest.raises(TypeError, match="from_observed takes an"):
            cls.from_observed(_lstm())
    for cls in (quantizable.LSTM, quantizable.MultiheadAttention):
        with pytest.raises(NotImplementedError, match="from_observed"):
            cls.from_observed(_lstm())


def test_lstm_cell() -> None:
    cell = nn.LSTMCell(4, 3)
    with pytest.raises(ValueError, match="must have a qconfig"):
        quantizable.LSTMCell.from_float(cell)
    cell.qconfig = q.default_qconfig
    x, state = pyqref.randn(2, 4), (pyqref.randn(2, 3), pyqref.randn(2, 3))
    for split_gates in (False, True):
        made = quantizable.LSTMCell.from_float(cell, split_gates=split_gates)
        assert all(_close(a, b) for a, b in zip(made(x, state), cell(x, state), strict=True))
        assert all(_close(a, b) for a, b in zip(made(x), cell(x), strict=True))
    with pytest.raises(ValueError, match="give both biases"):
        quantizable.LSTMCell.from_params(cell.weight_ih, cell.weight_hh, cell.bias_ih)
    with pytest.raises(TypeError, match=r"takes an nn\.LSTMCell"):
        quantizable.LSTMCell.from_float(nn.GRUCell(4, 3))


ATTENTIONS: list[dict[str, Any]] = [
    {},
    {"batch_first": True},
    {"kdim": 3, "vdim": 5, "add_bias_kv": True},
    {"add_zero_attn": True, "bias": False},
]


def _attention(**options: Any) -> Any:
    layer = nn.MultiheadAttention(4, 2, **options).eval()
    layer.qconfig = q.default_qconfig
    return layer


def _inputs(options: dict[str, Any]) -> list[Any]:
    shapes = [(3, 2, 4), (5, 2, options.get("kdim", 4)), (5, 2, options.get("vdim", 4))]
    found = [pyqref.randn(*shape) for shape in shapes]
    return [each.transpose(0, 1) for each in found] if options.get("batch_first") else found


CALLS: list[dict[str, Any]] = [
    {},
    {"average_attn_weights": False},
    {"need_weights": False},
    {"key_padding_mask": pyqref.tensor([[False] * 4 + [True], [True] + [False] * 4])},
    {"attn_mask": pyqref.tensor([[False, True, False, False, True]] * 3)},
    {"attn_mask": pyqref.tensor([[0.5, -1.0, 0.0, 2.0, 1.0]] * 3)},
]


@pytest.mark.parametrize("options", ATTENTIONS, ids=str)
@pytest.mark.parametrize("call", CALLS, ids=list)
def test_attention_does_what_the_float_one_does(
    options: dict[str, Any], call: dict[str, Any]
) -> None:
    """batch_first included, where torch mixes up batch and time."""
    source = _attention(**options)
    layer = quantizable.MultiheadAttention.from_float(source)
    inputs = _inputs(options)
    expected, weights = source(*inputs, **call)
    output, ours = layer(*inputs, **call)
    assert _close(output, expected)
    assert (ours is None) == (weights is None)
    assert weights is None or _close(ours, weights)


@pytest.mark.parametrize("options", ATTENTIONS, ids=str)
def test_attention_on_integers(options: dict[str, Any]) -> None:
    """Within the few percent that 7 bits leave; state dict; back to float."""
    pyqref.manual_seed(0)
    observed = quantizable.MultiheadAttention.from_float(_attention(**options))
    inputs = _inputs(options)
    expected, _ = observed(*inputs)
    converted = quantized.MultiheadAttention.from_observed(observed)
    integers = [pyqref.quantize_per_tensor(each, 0.05, 128, pyqref.quint8) for each in inputs]
    output, _ = converted(*integers)
    assert (output.dequantize() - expected).abs().max().item() < 0.1
    again = quantizable.MultiheadAttention.from_float(_attention(**options))
    again(*inputs)
    other = quantized.MultiheadAttention.from_observed(again)
    other.load_state_dict(converted.state_dict())
    assert output.int_repr().tolist() == other(*integers)[0].int_repr().tolist()
    back = converted.dequantize()
    assert type(back) is nn.MultiheadAttention
    assert (back(*inputs)[0] - expected).abs().max().item() < 0.05
    assert _close(observed.dequantize()(*inputs)[0], expected)


def test_attention_errors() -> None:
    layer = quantizable.MultiheadAttention(4, 2)
    x = pyqref.zeros(3, 2, 4)
    with pytest.raises(RuntimeError, match="key must have 3 dimensions, the last of length 4"):
        layer(x, pyqref.zeros(3, 2, 5), x)
    with pytest.raises(RuntimeError, match="as many steps and sequences"):
        layer(x, pyqref.zeros(4, 2, 4), x)
    with pytest.raises(ValueError, match="give the mask as attn_mask"):
        layer(x, x, x, is_causal=True)
    with pytest.raises(ValueError, match="must have a qconfig"):
        quantizable.MultiheadAttention.from_float(nn.MultiheadAttention(4, 2))
    with pytest.raises(TypeError, match=r"takes an nn\.MultiheadAttention"):
        quantizable.MultiheadAttention.from_float(nn.Linear(4, 2))


class Model(nn.Module):
    """Model with one layer of each kind."""

    def __init__(self) -> None:
        super().__init__()
        self.quant = q.QuantStub()
        self.lstm = nn.LSTM(4, 4)
        self.attention = nn.MultiheadAttention(4, 2)
        self.dequant = q.DeQuantStub()

    def forward(self, x: Any) -> Any:
        x, _ = self.lstm(self.quant(x))
        x, _ = self.attention(x, x, x)
        return self.dequant(x)


def test_prepare_and_convert_take_them_apart() -> None:
    """Without being asked to; a custom configuration replaces the default one."""
    pyqref.manual_seed(0)
    model = Model().eval()
    model.qconfig = q.default_qconfig
    prepared = q.prepare(model, strict=True)
    x = pyqref.randn(6, 2, 4)
    expected = prepared(x)
    assert _close(expected, model(x))
    converted = q.convert(prepared, strict=True)
    assert [quantized.LSTM, quantized.MultiheadAttention] == [
        type(converted.lstm),
        type(converted.attention),
    ]
    assert (converted(x) - expected).abs().max().item() < 0.1
    assert not [path for path, each in converted.named_modules() if hasattr(each, "qconfig")]
    empty = {"float_to_observed_custom_module_class": {}}
    left = q.prepare(model, prepare_custom_config_dict=empty)
    assert type(left.lstm) is nn.LSTM


def test_a_qconfig_of_none_leaves_them_alone() -> None:
    model = Model().eval()
    model.qconfig = q.default_qconfig
    model.lstm.qconfig = model.attention.qconfig = None
    prepared = q.prepare(model, strict=True)
    assert (nn.LSTM, nn.MultiheadAttention) == (type(prepared.lstm), type(prepared.attention))


def test_trained_with_fake_quantizers() -> None:
    """prepare_qat takes them apart, too, and gradients reach every weight."""
    model = Model().train()
    model.qconfig = q.get_default_qat_qconfig("fbgemm")
    prepared = q.prepare_qat(model)
    assert type(prepared.lstm.layers[0].layer_fw.cell.igates) is nn.qat.Linear
    prepared(pyqref.randn(6, 2, 4)).sum().backward()
    assert prepared.lstm.layers[0].layer_fw.cell.igates.weight.grad is not None
    assert prepared.attention.linear_Q.weight.grad is not None
    converted = q.convert(prepared.eval())
    assert (6, 2, 4) == tuple(converted(pyqref.randn(6, 2, 4)).shape)
