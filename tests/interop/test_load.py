"""Arrays by name into a model, and the list of what does not fit."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pyqref
from pyqref import nn
from pyqref.interop import load_torch_state_dict


def model() -> nn.Module:
    """Two layers with parameters and buffers."""
    pyqref.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))


def arrays(**changes) -> dict:
    """A state that fits :func:`model`, with some names changed; None takes one away."""
    state = {
        "0.weight": np.arange(6, dtype=np.float32).reshape(2, 3),
        "0.bias": np.float32([7, 8]),
        "1.weight": np.float32([1, 2]),
        "1.bias": np.float32([3, 4]),
        "1.running_mean": np.float32([5, 6]),
        "1.running_var": np.float32([9, 10]),
        "1.num_batches_tracked": np.array(11),
    }
    state |= {name.replace("_0", "0.").replace("_1", "1."): v for name, v in changes.items()}
    return {name: value for name, value in state.items() if value is not None}


def values(module: nn.Module) -> dict:
    return {name: tensor.tolist() for name, tensor in module.state_dict().items()}


def test_loads_all_names() -> None:
    """Every array that fits is copied and reported."""
    ours, state = model(), arrays()
    report = load_torch_state_dict(ours, state)
    assert {name: array.tolist() for name, array in state.items()} == values(ours)
    assert list(state) == report.loaded
    assert [] == report.problems
    assert "7 loaded" == report.summary()
    state["0.bias"][:] = 0
    assert [7, 8] == ours[0].bias.tolist()


MISFITS = {
    "missing": (arrays(_0bias=None), "0.bias"),
    "unexpected": (arrays(extra=np.zeros(2)), "extra"),
    "wrong shape": (arrays(_0bias=np.zeros(3, np.float32)), "0.bias"),
    "wrong dtype": (arrays(_0bias=np.zeros(2, np.int64)), "0.bias"),
    "unreadable": (arrays(_0bias=np.zeros(2, np.complex64)), "0.bias"),
}


@pytest.mark.parametrize("status", MISFITS)
def test_strict_leaves_the_model_as_it_was(status: str) -> None:
    """Anything that does not fit is an error that lists it."""
    state, _ = MISFITS[status]
    ours = model()
    before = values(ours)
    with pytest.raises(RuntimeError, match=f"as it was before: 1 {status}\nname +status +note\n"):
        load_torch_state_dict(ours, state)
    assert before == values(ours)


@pytest.mark.parametrize("status", MISFITS)
def test_not_strict_loads_the_rest(status: str) -> None:
    """The report tells of what was left, all other names have the new values."""
    state, name = MISFITS[status]
    ours = model()
    before = values(ours)
    report = load_torch_state_dict(ours, state, strict=False)
    assert [(name, status)] == [(row.name, row.status) for row in report.problems]
    after = values(ours)
    assert before.get(name) == after.get(name)
    fitting = [key for key in state if key != name]
    assert {key: state[key].tolist() for key in fitting} == {key: after[key] for key in fitting}
    assert name in str(report)


def test_other_widths_are_cast_and_reported() -> None:
    """Double to single precision is no error, but is said."""
    ours = model()
    report = load_torch_state_dict(ours, arrays(_0bias=np.float64([1, 2])))
    assert "(2,) float64, cast to float32" == report.rows[1].note
    assert pyqref.float32 is ours[0].bias.dtype


def test_a_common_prefix_is_named() -> None:
    """States of wrapped models have a name too many in front."""
    state = {f"module.{name}": array for name, array in arrays().items()}
    with pytest.raises(RuntimeError, match=r"every name begins with 'module\.'; strip that"):
        load_torch_state_dict(model(), state)


@given(st.one_of(st.none(), st.integers(), st.text(), st.lists(st.integers()), st.just(nn.ReLU)))
@settings(max_examples=30, deadline=None)
def test_bad_input(bad) -> None:
    """Wrong types are named: the model, the state, its names and values."""
    with pytest.raises(TypeError, match="model must be a pyqref"):
        load_torch_state_dict(bad, {})
    with pytest.raises(TypeError, match="state_dict must map names to arrays"):
        load_torch_state_dict(model(), bad)
    if not isinstance(bad, str | list):
        with pytest.raises(TypeError, match="names must be strings"):
            load_torch_state_dict(model(), {bad: np.zeros(1)})
    with pytest.raises(RuntimeError, match=r"0\.bias +(wrong dtype|unreadable)"):
        load_torch_state_dict(model(), arrays(_0bias=bad) | {"0.bias": bad})


@pytest.fixture(name="torch")
def _torch():
    torch = pytest.importorskip("torch", minversion="2.13")
    torch.set_num_threads(1)
    return torch


def build(namespace):
    """A convolution and linear layers, some per channel, quantized by the workflow."""
    quantization = namespace.ao.quantization
    layers = namespace.nn
    net = layers.Sequential(
        quantization.QuantStub(),
        layers.Conv2d(2, 3, 3),
        layers.Flatten(),
        layers.Linear(3, 4),
        quantization.DeQuantStub(),
    ).eval()
    net.qconfig = quantization.get_default_qconfig("x86")
    prepared = quantization.prepare(net)
    batch = np.random.default_rng(2).standard_normal((5, 2, 3, 3)).astype(np.float32)
    prepared(namespace.from_numpy(batch))
    return quantization.convert(prepared), batch


def test_static_quantized_state_of_torch(torch) -> None:
    """A quantized model takes torch's quantized tensors, scales and zero points."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.manual_seed(4)
        theirs, batch = build(torch)
        expected = theirs(torch.from_numpy(batch)).numpy()
        state = theirs.state_dict()
    ours, _ = build(pyqref)
    report = load_torch_state_dict(ours, state)
    assert [] == report.problems
    assert "(3, 2, 3, 3) qint8" == next(r.note for r in report.rows if r.name == "1.weight")
    assert np.array_equal(expected, ours(pyqref.from_numpy(batch)).numpy())


@pytest.mark.parametrize("engine", ["fbgemm", "qnnpack"])
def test_dynamic_quantized_state_of_torch(torch, engine: str) -> None:
    """A dynamic layer computes what torch's does with the same integers."""
    batch = np.random.default_rng(3).standard_normal((5, 7)).astype(np.float32)
    before = torch.backends.quantized.engine
    try:
        torch.backends.quantized.engine = engine
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = torch.ao.quantization.quantize_dynamic(
                torch.nn.Sequential(torch.nn.Linear(7, 3))
            )
            expected = theirs(torch.from_numpy(batch)).numpy()
            state = theirs.state_dict()
    finally:
        torch.backends.quantized.engine = before
    pyqref.backends.quantized.engine = engine
    ours = pyqref.quantization.quantize_dynamic(nn.Sequential(nn.Linear(7, 3)))
    assert [] == load_torch_state_dict(ours, state).problems
    assert np.array_equal(expected, ours(pyqref.from_numpy(batch)).numpy())


@pytest.mark.parametrize("dtype", ["qint8", "float16"])
@pytest.mark.parametrize("name", ["LSTM", "GRU", "LSTMCell", "GRUCell"])
def test_recurrent_state_of_torch(torch, name: str, dtype: str) -> None:
    """The packed weights of dynamic recurrent layers are unpacked."""

    def quantize(namespace, seed):
        namespace.manual_seed(seed)
        model = namespace.nn.Sequential(getattr(namespace.nn, name)(3, 4))
        types = {type(model[0])}
        quantization = namespace.ao.quantization
        return quantization.quantize_dynamic(model, types, dtype=getattr(namespace, dtype))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = quantize(torch, 1)
        state = theirs.state_dict()
    ours = quantize(pyqref, 2)
    assert [] == load_torch_state_dict(ours, state).problems
    x = np.random.default_rng(5).standard_normal((2, 3)).astype(np.float32)
    x = x if "Cell" in name else x[:, None]
    expected, actual = theirs[0](torch.from_numpy(x)), ours[0](pyqref.from_numpy(x))
    if name != "GRUCell":
        expected, actual = expected[0], actual[0]
    # Up to 7 products a gate and a few roundings of numbers below one; both sum in float32.
    bound = 32 * float(np.finfo(np.float32).eps)
    assert np.abs(expected.detach().numpy() - actual.detach().numpy()).max() <= bound


@pytest.mark.parametrize("columns", [7, 8])
@pytest.mark.parametrize("dtype", ["quint8", "quint4x2"])
@pytest.mark.parametrize("name", ["Embedding", "EmbeddingBag"])
def test_tables_of_torch(torch, name: str, dtype: str, columns: int) -> None:
    """The rows of a table, of 8 bits or of 4, two of which share a byte."""
    if dtype == "quint4x2":
        columns -= columns % 2  # torch fills up the last byte of a row, and saves that

    def quantize(namespace, seed):
        namespace.manual_seed(seed)
        quantization = namespace.ao.quantization
        options = {"mode": "sum"} if name == "EmbeddingBag" else {}
        layers = namespace.nn.ModuleList([getattr(namespace.nn, name)(6, columns, **options)])
        suffix = "_4bit" if dtype == "quint4x2" else ""
        layers.qconfig = getattr(quantization, f"float_qparams_weight_only_qconfig{suffix}")
        return quantization.convert(quantization.prepare(layers.eval()))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = quantize(torch, 1)
        expected = theirs[0].weight()
    ours = quantize(pyqref, 2)
    assert [] == load_torch_state_dict(ours, theirs.state_dict()).problems
    actual = ours[0].weight()
    assert str(expected.dtype).removeprefix("torch.") == dtype == actual.dtype._name
    assert np.array_equal(expected.int_repr().numpy(), actual.int_repr().numpy())
    assert np.array_equal(expected.dequantize().numpy(), actual.dequantize().numpy())
    if name == "EmbeddingBag":  # torch's 4-bit nn.Embedding gives rows of no columns
        expected, actual = (
            layers[0](namespace.tensor([5, 1, 3]), namespace.tensor([0, 2]))
            for namespace, layers in ((torch, theirs), (pyqref, ours))
        )
        assert np.array_equal(expected.numpy(), actual.numpy())


def test_observers_take_their_own_shapes(torch) -> None:
    """The ranges of a per channel observer, which are empty before it sees data."""
    theirs = torch.ao.quantization.PerChannelMinMaxObserver()
    theirs(torch.tensor([[1.0, -2.0], [3.0, 4.0]]))
    ours = pyqref.quantization.PerChannelMinMaxObserver()
    report = load_torch_state_dict(ours, theirs.state_dict())
    assert [] == report.problems
    assert [-2, 3] == ours.min_val.tolist()


def test_tensors_of_other_kinds_are_unreadable(torch) -> None:
    """Sparse and meta tensors, with the remedy."""
    for bad, words in (
        (torch.zeros(2).to_sparse(), "give a dense one"),
        (torch.zeros(2, device="meta"), "a meta tensor"),
    ):
        with pytest.raises(RuntimeError, match=words):
            load_torch_state_dict(model(), arrays(_0bias=bad))


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_narrow_numbers_are_read_exactly(torch, dtype: str) -> None:
    """Every number of these types is one of float32, and the report says so."""
    given = torch.tensor([0.1, -300.0]).to(getattr(torch, dtype))
    ours = model()
    report = load_torch_state_dict(ours, arrays(_0bias=given))
    assert f"(2,) {dtype}, as float32" == report.rows[1].note
    assert given.float().tolist() == ours[0].bias.tolist()
