"""Errors of graph mode name the user's module and line, and parameters stay readable."""

from __future__ import annotations

from typing import Any

import pytest

import pyqref
from pyqref import nn
from pyqref.nn import functional as F
from pyqref.quantization import (
    MinMaxObserver,
    PerChannelMinMaxObserver,
    QConfig,
    QConfigMapping,
    default_dynamic_qconfig,
    default_observer,
    default_weight_observer,
    float_qparams_weight_only_qconfig,
    get_default_qat_qconfig_mapping,
    get_default_qconfig_mapping,
)
from pyqref.quantization.fx.custom_config import PrepareCustomConfig
from pyqref.quantization.quantize_fx import (
    convert_fx,
    convert_to_reference_fx,
    fuse_fx,
    prepare_fx,
    prepare_qat_fx,
)


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 1)
        self.weight = nn.Parameter(pyqref.randn(2, 4))
        self.bias = nn.Parameter(pyqref.randn(2))

    def forward(self, x: Any) -> Any:
        y = F.relu(self.conv(x)).mean((2, 3))
        return F.linear(y, self.weight, self.bias)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.block = Block()

    def forward(self, x: Any) -> Any:
        return self.block(x)


X = pyqref.ones(2, 3, 4, 4)
CONV = r"at 'block\.conv' \(ConvReLU2d\)\n  File \".*test_failures\.py\", line \d+, in forward\n"
CONV += r"    y = F\.relu\(self\.conv\(x\)\)"


def prepared(qconfig: Any = None, model: Any = None) -> Any:
    mapping = get_default_qconfig_mapping() if qconfig is None else QConfigMapping()
    return prepare_fx(
        (model or Net()).eval(), mapping.set_global(qconfig or mapping.global_qconfig), (X,)
    )


def with_nan(x: Any) -> Any:
    x = x.clone()
    x[0] = float("nan")
    return x


def test_while_calibrating() -> None:
    """A layer and the observer of its output are named by path and line, an input by name."""
    model = prepared()
    with pytest.raises(RuntimeError, match=f"to have 3 channels.*\n  {CONV}"):
        model(pyqref.ones(2, 5, 4, 4))
    with pytest.raises(ValueError, match=r"the observer of the input 'x' \(.*; remove them$"):
        model(with_nan(X))
    broken = Net()
    broken.block.conv.weight.data[0] = float("nan")
    with pytest.raises(ValueError, match=r"the observer of the output of 'block\.conv'") as error:
        prepared(model=broken)(X)
    assert "set the qconfig of 'block.conv' (ConvReLU2d) to None" in str(error.value)
    assert "y = F.relu(self.conv(x)).mean((2, 3))" in str(error.value)
    for words in ("activation_post_process", "this module"):
        assert words not in str(error.value)


def test_while_converting() -> None:
    """A layer that cannot be packed, or an observer that fails, is named by its path."""
    wrong = PerChannelMinMaxObserver.with_args(
        ch_axis=1, dtype=pyqref.qint8, qscheme=pyqref.per_channel_symmetric
    )
    model = prepared(QConfig(default_observer, wrong))
    model(X)
    with pytest.raises(RuntimeError, match=f"output channels, got axis 1\n  {CONV}"):
        convert_fx(model)
    net = Net()
    net.block.bias = nn.Parameter(pyqref.zeros(3))
    model = prepared(model=net)
    with (
        pytest.warns(UserWarning, match=r"'block.conv' \(ConvReLU2d\), linear\(\) \(node"),
        pytest.raises(RuntimeError, match=r"in 'block'\)\n.*\n    return F\.linear\(y, self"),
    ):
        convert_fx(model)

    class Failing(MinMaxObserver):
        def calculate_qparams(self) -> Any:
            raise RuntimeError("no")

    model = prepared(QConfig(Failing, default_weight_observer))
    model(X)
    with pytest.raises(RuntimeError, match=r"no\n  at the observer of the input 'x' \(Failing\)"):
        convert_fx(model)


def test_while_a_converted_model_runs() -> None:
    """The path is named once for each module."""
    model = prepared()
    model(X)
    with pytest.raises(RuntimeError, match=f"must have 3 channels.*\n  {CONV}") as error:
        convert_fx(model)(pyqref.ones(2, 5, 4, 4))
    assert 1 == str(error.value).count("block.conv")


def test_a_float_input_where_a_quantized_one_was_announced() -> None:
    """There is no stub, so that none is missing."""
    custom = PrepareCustomConfig().set_input_quantized_indexes([0])
    model = prepare_fx(Net().eval(), get_default_qconfig_mapping(), (X,), custom)
    model(X)
    converted = convert_fx(model)
    with pytest.raises(RuntimeError, match=r"input 0 \('x'\).*input_quantized_indexes") as error:
        converted(X)
    assert "QuantStub" not in str(error.value)
    assert (2, 2) == tuple(converted(pyqref.quantize_per_tensor(X, 0.1, 0, pyqref.quint8)).shape)


class Tied(nn.Module):
    """The last product has the weight of the embedding, as in language models."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.fc = nn.Embedding(10, 4), nn.Linear(4, 4)

    def forward(self, x: Any) -> Any:
        return F.linear(self.fc(self.embedding(x)), self.embedding.weight)


class Reading(nn.Module):
    """A convolution that is fused is looked into."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.bn, self.fc = nn.Conv2d(3, 4, 1), nn.BatchNorm2d(4), nn.Linear(4, 4)

    def forward(self, x: Any) -> Any:
        y = F.relu(self.bn(self.conv(x))).mean((2, 3))
        return self.fc(y) + F.linear(y, self.fc.weight) + self.conv.weight.flatten()[:4]


WORDS = pyqref.arange(6)
EMBEDDED = float_qparams_weight_only_qconfig
MAPPINGS = {
    "static": get_default_qconfig_mapping(),
    "weight": get_default_qconfig_mapping().set_object_type(nn.Embedding, EMBEDDED),
    "dynamic": QConfigMapping()
    .set_global(default_dynamic_qconfig)
    .set_object_type(nn.Embedding, EMBEDDED),
}


@pytest.mark.parametrize("name", MAPPINGS)
@pytest.mark.parametrize("convert", [convert_fx, convert_to_reference_fx])
def test_a_weight_that_is_tied(name: str, convert: Any) -> None:
    """Both layers are quantized, each in its way; torch fails where the embedding is, too."""
    pyqref.manual_seed(0)
    model = Tied().eval()
    expected = model(WORDS)
    ready = prepare_fx(model, MAPPINGS[name], (WORDS,))
    ready(WORDS)
    assert 0.06 > float((convert(ready)(WORDS) - expected).abs().max())
    assert model.embedding.weight is ready.embedding.weight


@pytest.mark.parametrize("prepare", [prepare_fx, prepare_qat_fx])
@pytest.mark.parametrize("convert", [convert_fx, convert_to_reference_fx])
def test_a_parameter_of_a_fused_layer(prepare: Any, convert: Any) -> None:
    """The code reads the float parameter that it always read; torch fails."""
    pyqref.manual_seed(0)
    x = pyqref.rand(2, 3, 4, 4)
    model = Reading().eval()
    expected = model(x)
    assert pyqref.allclose(expected, fuse_fx(model)(x))
    training = prepare is prepare_qat_fx
    get = get_default_qat_qconfig_mapping if training else get_default_qconfig_mapping
    ready = prepare(model, get(), (x,))
    assert any(each is model.conv.weight for each in ready.parameters())
    ready(x)
    assert 0.1 > float((convert(ready.eval())(x) - expected).abs().max())
