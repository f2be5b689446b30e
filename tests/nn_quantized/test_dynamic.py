"""The dynamic layers: Linear, LSTM, GRU and the cells."""

from __future__ import annotations

import copy
import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref import nn
from pyqref._kernels.parts import parts
from pyqref.numerics.recurrent import lstm_step
from pyqref.ops import quantized as ops
from pyqref.ops.quantized import run_recurrent_layer

dynamic = nn.quantized.dynamic
CELLS = [
    (nn.LSTMCell, dynamic.LSTMCell),
    (nn.GRUCell, dynamic.GRUCell),
    (nn.RNNCell, dynamic.RNNCell),
]


def _qconfig(name: str = "default_dynamic_qconfig") -> Any:
    return getattr(pyqref.quantization, name)


def _converted(float_layer: Any, cls: Any, qconfig: str = "default_dynamic_qconfig") -> Any:
    float_layer.qconfig = _qconfig(qconfig)
    return cls.from_float(float_layer)


def _randn(seed: int, *shape: int) -> pyqref.Tensor:
    return pyqref.from_numpy(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


def test_documented_example() -> None:
    """The example of dynamic.Linear runs as printed."""
    m = dynamic.Linear(20, 30)
    output = m(pyqref.randn(128, 20))
    assert (128, 30) == tuple(output.size())


@pytest.mark.parametrize(
    "qconfig", ["default_dynamic_qconfig", "per_channel_dynamic_qconfig", "float16_dynamic_qconfig"]
)
def test_linear_is_close_to_float(qconfig: str) -> None:
    """Half a step of input and weight, summed over the features, bounds the error."""
    linear = nn.Linear(8, 5)
    layer = _converted(linear, dynamic.Linear, qconfig)
    x = _randn(0, 6, 8)
    step_x = (x.max() - x.min()).item() / 127
    step_w = linear.weight.abs().max().item() * 2 / 255
    bound = 8 * (step_x * linear.weight.abs().max().item() + step_w * x.abs().max().item())
    assert (layer(x) - linear(x)).abs().max().item() < bound
    assert "DynamicQuantizedLinear(in_features=8, out_features=5, dtype=" in repr(layer)


def test_linear_engines() -> None:
    """Fbgemm takes 7 bits of the input, qnnpack all 8."""
    weight = pyqref.quantize_per_tensor(pyqref.tensor([[1.0]]), 1.0, 0, pyqref.qint8)
    results = {}
    for engine in ("fbgemm", "qnnpack"):
        pyqref.backends.quantized.engine = engine
        layer = dynamic.Linear(1, 1, bias_=False)
        layer.set_weight_bias(weight, None)
        results[engine] = layer(pyqref.tensor([[255.0], [1.0]])).flatten().tolist()
    step = np.float32(255 / 127)
    assert [float(step * 127), 0.0] == results["fbgemm"]
    assert [255.0, 1.0] == results["qnnpack"]


@pytest.mark.parametrize("dtype", [pyqref.qint8, pyqref.float16])
def test_linear_state_and_copies(dtype: Any) -> None:
    qconfig = "float16_dynamic_qconfig" if dtype is pyqref.float16 else "default_dynamic_qconfig"
    layer = _converted(nn.Linear(8, 5), dynamic.Linear, qconfig)
    loaded = dynamic.Linear(8, 5, dtype=dtype)
    loaded.load_state_dict(layer.state_dict())
    x = _randn(1, 3, 8)
    for other in (loaded, copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert layer(x).tolist() == other(x).tolist()


def test_linear_errors() -> None:
    """Quantized or double input, wrong shapes, no qconfig, a wrong observer."""
    model = nn.Sequential(dynamic.Linear(3, 2))
    with pytest.raises(RuntimeError, match=r"0 \(DynamicQuantizedLinear\).*DeQuantStub is missing"):
        model(pyqref.quantize_per_tensor(pyqref.zeros(2, 3), 1.0, 0, pyqref.quint8))
    with pytest.raises(RuntimeError, match=r"got one of pyqref\.float64: call \.float\(\)"):
        model(pyqref.zeros(2, 3, dtype=pyqref.float64))
    with pytest.raises(RuntimeError, match=r"the last of length 3, got shape \(2, 4\)"):
        model(pyqref.zeros(2, 4))
    with pytest.raises(RuntimeError, match="at least 2 dimensions"):
        model(pyqref.zeros(3))
    with pytest.raises(ValueError, match="must be qint8 or float16"):
        dynamic.Linear(3, 2, dtype=pyqref.quint8)
    with pytest.raises(ValueError, match=r"must have a qconfig.*quantize_dynamic"):
        dynamic.Linear.from_float(nn.Linear(3, 2))
    linear = nn.Linear(3, 2)
    observer = pyqref.quantization.default_observer
    linear.qconfig = pyqref.quantization.QConfig(activation=observer, weight=observer)
    with pytest.raises(ValueError, match=r"must be qint8 or float16.*observer for pyqref\.quint8"):
        dynamic.Linear.from_float(linear)
    with pytest.raises(TypeError, match="from_float takes one of"):
        dynamic.Linear.from_float(nn.Conv2d(1, 1, 1))


def test_linear_empty_batch() -> None:
    assert (0, 2) == tuple(dynamic.Linear(3, 2)(pyqref.zeros(0, 3)).shape)


@pytest.mark.parametrize("bias", [False, True])
def test_without_qconfig_value_the_default_is_taken(bias: bool) -> None:
    """A qconfig of None stands for default_dynamic_qconfig."""
    linear = nn.Linear(8, 5, bias=bias)
    expected = _converted(linear, dynamic.Linear).weight().int_repr().tolist()
    linear.qconfig = None
    assert expected == dynamic.Linear.from_float(linear).weight().int_repr().tolist()


def test_lstm_projects_the_input_once() -> None:
    """The sequence of a layer is quantized as a whole, the hidden state at each step."""
    layer = _converted(nn.LSTM(3, 4), dynamic.LSTM)
    x = _randn(2, 5, 2, 3)
    weight, bias = layer.get_weight(), layer.get_bias()
    of_input = ops.linear_prepack(weight["weight_ih_l0"], bias["bias_ih_l0"])
    of_hidden = ops.linear_prepack(weight["weight_hh_l0"], bias["bias_hh_l0"])
    projected = ops.linear_dynamic(x, of_input, reduce_range=True).numpy()
    hidden = cell = np.zeros((2, 4), np.float32)
    expected = []
    for step in range(5):
        from_hidden = ops.linear_dynamic(pyqref.from_numpy(hidden), of_hidden, reduce_range=True)
        hidden, cell = lstm_step(projected[step], from_hidden.numpy(), cell)
        expected.append(hidden.tolist())
    output, (last_hidden, last_cell) = layer(x)
    assert expected == output.tolist()
    assert [hidden.tolist()] == last_hidden.tolist()
    assert [cell.tolist()] == last_cell.tolist()


@pytest.mark.parametrize(("float_cls", "cls"), [(nn.LSTM, dynamic.LSTM), (nn.GRU, dynamic.GRU)])
@pytest.mark.parametrize("qconfig", ["default_dynamic_qconfig", "float16_dynamic_qconfig"])
@pytest.mark.parametrize(
    "options",
    [{}, {"num_layers": 2, "bidirectional": True}, {"batch_first": True}, {"bias": False}],
    ids=str,
)
def test_recurrent_layers_follow_the_float_ones(
    float_cls: Any, cls: Any, qconfig: str, options: dict[str, Any]
) -> None:
    """Same shapes, and values within the few percent that 7 bits leave of gates in [0, 1]."""
    pyqref.manual_seed(0)
    float_layer = float_cls(3, 4, **options)
    layer = _converted(float_layer, cls, qconfig)
    x = _randn(3, 5, 2, 3)
    expected, expected_state = float_layer(x)
    actual, state = layer(x)
    assert tuple(expected.shape) == tuple(actual.shape)
    assert (expected - actual).abs().max().item() < 0.05
    if cls is dynamic.GRU:
        expected_state, state = (expected_state,), (state,)
    for ours, theirs in zip(state, expected_state, strict=True):
        assert tuple(theirs.shape) == tuple(ours.shape)
        assert (theirs - ours).abs().max().item() < 0.05


@pytest.mark.parametrize("cls", [dynamic.LSTM, dynamic.GRU])
@pytest.mark.parametrize("dtype", [pyqref.qint8, pyqref.float16])
@pytest.mark.parametrize("batch_first", [False, True])
def test_recurrent_empty_batch(cls: Any, dtype: Any, batch_first: bool) -> None:
    layer = cls(3, 4, num_layers=2, bidirectional=True, batch_first=batch_first, dtype=dtype)
    shape = (0, 5) if batch_first else (5, 0)
    output, state = layer(pyqref.zeros(*shape, 3))
    assert (*shape, 8) == tuple(output.shape)
    for each in state if cls is dynamic.LSTM else (state,):
        assert (4, 0, 4) == tuple(each.shape)


@pytest.mark.parametrize(("float_cls", "cls"), [(nn.LSTM, dynamic.LSTM), (nn.GRU, dynamic.GRU)])
def test_recurrent_state_and_copies(float_cls: Any, cls: Any) -> None:
    layer = _converted(float_cls(3, 4, 2), cls)
    loaded = cls(3, 4, 2)
    state = layer.state_dict()
    assert ["_all_weight_values.0.param", "_all_weight_values.1.param"] == list(state)
    loaded.load_state_dict(state)
    x = _randn(4, 5, 2, 3)
    expected = layer(x)[0].tolist()
    for other in (loaded, copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert expected == other(x)[0].tolist()
    with pytest.raises(RuntimeError, match=r"size mismatch for _all_weight_values\.0\.param"):
        cls(2, 4, 2).load_state_dict(state)


def test_initial_state_is_used() -> None:
    """Running a sequence in two halves gives the whole, with inputs of one range."""
    layer = _converted(nn.GRU(3, 4), dynamic.GRU)
    x = _randn(5, 3, 2, 3)
    both = pyqref.cat([x, x], 0)
    whole, _ = layer(both)
    first, state = layer(x)
    second, _ = layer(x, state)
    assert whole.tolist() == pyqref.cat([first, second], 0).tolist()


def test_dropout_between_layers_only_in_training() -> None:
    layer = _converted(nn.LSTM(3, 4, 2, dropout=0.9), dynamic.LSTM).eval()
    x = _randn(6, 5, 2, 3)
    assert layer(x)[0].tolist() == layer(x)[0].tolist()
    layer.train()
    assert layer(x)[0].tolist() != layer(x)[0].tolist()


@pytest.mark.parametrize("bidirectional", [False, True])
def test_dropout_of_some_rows_at_a_time(
    bidirectional: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The random numbers of all of them are those of one array."""
    layer = dynamic.GRU(3, 4, num_layers=3, dropout=0.5, bidirectional=bidirectional)
    x, results = pyqref.randn(5, 2, 3), []
    for most in (1, 10, 1000):
        monkeypatch.setattr(
            "pyqref.nn.quantized.dynamic.modules.rnn.parts", partial(parts, most=most)
        )
        pyqref.manual_seed(0)
        results.append(layer(x)[0].tolist())
    assert results[0] == results[1] == results[2]


def test_recurrent_errors() -> None:
    """Rank, size, state, an empty sequence, a quantized input, a projection."""
    layer = dynamic.LSTM(3, 4)
    with pytest.raises(RuntimeError, match="input must have 3 dimensions, got 2"):
        layer(pyqref.zeros(5, 3))
    with pytest.raises(RuntimeError, match="Expected 3, got 2"):
        layer(pyqref.zeros(5, 1, 2))
    with pytest.raises(RuntimeError, match=r"hidden\[0\] size \(1, 2, 4\), got \[1, 1, 4\]"):
        layer(pyqref.zeros(5, 2, 3), (pyqref.zeros(1, 1, 4), pyqref.zeros(1, 2, 4)))
    with pytest.raises(RuntimeError, match="at least one step"):
        layer(pyqref.zeros(0, 2, 3))
    x = pyqref.quantize_per_tensor(pyqref.zeros(5, 2, 3), 1.0, 0, pyqref.quint8)
    with pytest.raises(RuntimeError, match="DeQuantStub is missing"):
        layer(x)
    with pytest.raises(ValueError, match="proj_size must be 0, got 2"):
        _converted(nn.LSTM(3, 4, proj_size=2), dynamic.LSTM)
    with pytest.raises(ValueError, match="must be qint8 or float16"):
        dynamic.GRU(3, 4, dtype=pyqref.quint8)
    with pytest.raises(TypeError, match="from_float takes one of"):
        dynamic.GRU.from_float(nn.LSTM(3, 4))
    assert (5, 0, 4) == tuple(layer(pyqref.zeros(5, 0, 3))[0].shape)


@pytest.mark.parametrize(("float_cls", "cls"), CELLS)
@pytest.mark.parametrize("bias", [False, True])
def test_cells(float_cls: Any, cls: Any, bias: bool) -> None:
    """A cell follows its float form; state and copies compute the same."""
    pyqref.manual_seed(0)
    cell = float_cls(3, 4, bias=bias)
    layer = _converted(cell, cls)
    x = _randn(7, 2, 3)

    def first(result: Any) -> Any:
        return result[0] if isinstance(result, tuple) else result

    assert (first(cell(x)) - first(layer(x))).abs().max().item() < 0.05
    loaded = cls(3, 4, bias=bias)
    loaded.load_state_dict(layer.state_dict())
    for other in (loaded, copy.deepcopy(layer)):
        assert first(layer(x)).tolist() == first(other(x)).tolist()
    again = first(layer(x, layer(x)))
    assert again.tolist() != first(layer(x)).tolist()


def test_cell_errors() -> None:
    with pytest.raises(RuntimeError, match=r"input must have shape \(N, 3\), got \(2, 4\)"):
        dynamic.GRUCell(3, 4)(pyqref.zeros(2, 4))
    with pytest.raises(RuntimeError, match=r"hx must have shape \(2, 4\), got \(1, 4\)"):
        dynamic.GRUCell(3, 4)(pyqref.zeros(2, 3), pyqref.zeros(1, 4))
    with pytest.raises(ValueError, match="nonlinearity must be 'tanh' or 'relu'"):
        dynamic.RNNCell(3, 4, nonlinearity="sigmoid")
    with pytest.raises(RuntimeError, match="size mismatch for _packed_weight_ih"):
        dynamic.RNNCell(3, 4).load_state_dict(dynamic.RNNCell(2, 4).state_dict())
    cell = dynamic.RNNCell(3, 4, nonlinearity="relu")
    assert "DynamicQuantizedRNNCell(3, 4, nonlinearity=relu)" == repr(cell)
    assert (2, 4) == tuple(cell(pyqref.ones(2, 3)).shape)


@pytest.mark.parametrize("what", ["the input", "the hidden state"])
@pytest.mark.parametrize(
    ("cls", "options"),
    [
        (dynamic.LSTM, {}),
        (dynamic.GRU, {}),
        (dynamic.LSTMCell, {}),
        (dynamic.GRUCell, {}),
        (dynamic.RNNCell, {}),
        (dynamic.RNNCell, {"nonlinearity": "relu"}),
    ],
)
def test_what_no_scale_covers_is_named(cls: Any, options: dict[str, Any], what: str) -> None:
    """Input and hidden state have a grid each: an error says which of them holds nan."""
    rows = (1, 2) if cls in (dynamic.LSTM, dynamic.GRU) else (2,)
    x, hidden, cell = (pyqref.zeros(*rows, each) for each in (3, 4, 4))
    (x if what == "the input" else hidden).fill_(float("nan"))
    state = (hidden, cell) if cls in (dynamic.LSTM, dynamic.LSTMCell) else hidden
    with pytest.raises(ValueError, match=f"{what},? holds nan or infinity"):
        cls(3, 4, **options)(x, state)


@pytest.mark.parametrize("held", [1, 800, 3000])
@pytest.mark.parametrize("cls", [dynamic.LSTM, dynamic.GRU])
def test_some_steps_of_float16_at_a_time(
    cls: Any, held: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parts of a step, one step, several: each is a product of its own, of the same rows."""
    layer = cls(3, 8, num_layers=2, bidirectional=True, dtype=pyqref.float16)
    lengths = [9, 9, 7, 4, 4, 1]
    packed = nn.utils.rnn.pack_padded_sequence(pyqref.randn(9, 6, 3), lengths)
    expected, final = layer(packed)
    monkeypatch.setattr("pyqref.ops.quantized.recurrent._HELD", held)
    output, state = layer(packed)
    pairs = [(expected.data, output.data)]
    pairs += zip(final, state, strict=True) if cls is dynamic.LSTM else [(final, state)]
    for one, other in pairs:
        # A sum of 8 products of numbers below 1 in another order, and sigmoids of it.
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=0, atol=1e-5)


@pytest.mark.parametrize("dtype", [pyqref.qint8, pyqref.float16])
def test_some_rows_of_a_cell_at_a_time(dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that are computed apart stay on the grid of all of them."""
    cell = dynamic.RNNCell(3, 8, nonlinearity="relu", dtype=dtype)
    x, hidden = pyqref.randn(10, 3), pyqref.randn(10, 8)
    expected = cell(x, hidden)
    monkeypatch.setattr("pyqref.ops.quantized.recurrent._HELD", 100)
    # Sums of integers are exact; those of 8 real numbers may be added in another order.
    tolerance = 0.0 if dtype is pyqref.qint8 else 1e-5
    np.testing.assert_allclose(expected.numpy(), cell(x, hidden).numpy(), rtol=0, atol=tolerance)


@pytest.mark.parametrize("cls", [dynamic.LSTM, dynamic.GRU])
@pytest.mark.parametrize("dtype", [pyqref.qint8, pyqref.float16])
@pytest.mark.parametrize("rows", [2, 150])
def test_layers_replace_what_is_below(cls: Any, dtype: Any, rows: int) -> None:
    """Layers of two directions have the bits of layers whose results have places of their own."""
    layer = cls(5, 24, num_layers=3, bidirectional=True, dtype=dtype)
    x, sizes = pyqref.randn(20, rows, 5), [rows] * 20
    below = x._array.reshape(-1, 5)
    for first in (0, 2, 4):
        made = np.empty((20 * rows, 48), np.float32)
        for direction, packed in enumerate(layer._all_weight_values[first : first + 2]):
            states = [np.zeros((rows, 24), np.float32) for _ in range(2)]
            own = packed.param.of_input, packed.param.of_hidden
            states = states if cls is dynamic.LSTM else states[:1]
            out = made[:, 24 * direction : 24 * (direction + 1)]
            run_recurrent_layer(layer.mode, below, *own, states, sizes, direction == 1, out)
        below = made
    assert np.array_equal(below, layer(x)[0]._array.reshape(-1, 48))
