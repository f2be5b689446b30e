"""``sensitivity`` names every kind of layer, and every function and method of a graph."""

from __future__ import annotations

import math
import warnings

import pytest

import pyqref
from pyqref import measure, nn
from pyqref.nn import functional as F
from pyqref.quantization import (
    ConstantChannelWarning,
    NotQuantizedWarning,
    QConfigMapping,
    get_default_qconfig,
)
from pyqref.quantization.backend_config import get_native_backend_config

QCONFIG = get_default_qconfig("fbgemm")


class Function(nn.Module):
    """A model of one function, of one or two inputs."""

    def __init__(self, function, weight=None):
        super().__init__()
        self.function = function
        if weight is not None:
            self.weight = nn.Parameter(pyqref.randn(weight, generator=pyqref.manual_seed(1)))

    def forward(self, x):
        return self.function(x, self.weight) if hasattr(self, "weight") else self.function(x)


def floats(*shape):
    return pyqref.rand(shape, generator=pyqref.manual_seed(0)) - 0.5


INDICES = pyqref.tensor([[1, 2, 3], [4, 5, 0]])
ROW, IMAGE, VIDEO = floats(2, 4, 8), floats(2, 4, 8, 8), floats(1, 4, 4, 4, 4)
LAYERS = {
    "Linear": (nn.Linear(8, 4), ROW),
    "LinearReLU": (nn.intrinsic.LinearReLU(nn.Linear(8, 4), nn.ReLU()), ROW),
    "Bilinear": (Function(lambda x, w: F.bilinear(x, x, w), (3, 8, 8)), floats(2, 8)),
    "Conv1d": (nn.Conv1d(4, 4, 3), ROW),
    "Conv2d": (nn.Conv2d(4, 4, 3), IMAGE),
    "Conv3d": (nn.Conv3d(4, 4, 3), VIDEO),
    "ConvTranspose1d": (nn.ConvTranspose1d(4, 4, 3), ROW),
    "ConvTranspose2d": (nn.ConvTranspose2d(4, 4, 3), IMAGE),
    "ConvTranspose3d": (nn.ConvTranspose3d(4, 4, 3), VIDEO),
    "Embedding": (nn.Embedding(6, 4), INDICES),
    "EmbeddingBag": (nn.EmbeddingBag(6, 4, mode="sum", include_last_offset=False), INDICES),
    "LSTM": (nn.LSTM(8, 4), ROW),
    "GRU": (nn.GRU(8, 4), ROW),
    "RNN": (nn.RNN(8, 4), ROW),
    "LSTMCell": (nn.LSTMCell(8, 4), floats(2, 8)),
    "GRUCell": (nn.GRUCell(8, 4), floats(2, 8)),
    "RNNCell": (nn.RNNCell(8, 4), floats(2, 8)),
    "BatchNorm2d": (nn.BatchNorm2d(4), IMAGE),
    "BatchNorm3d": (nn.BatchNorm3d(4), VIDEO),
    "LayerNorm": (nn.LayerNorm(8), ROW),
    "GroupNorm": (nn.GroupNorm(2, 4), IMAGE),
    "InstanceNorm1d": (nn.InstanceNorm1d(4), ROW),
    "InstanceNorm2d": (nn.InstanceNorm2d(4), IMAGE),
    "InstanceNorm3d": (nn.InstanceNorm3d(4), VIDEO),
    "ReLU": (nn.ReLU(), ROW),
    "ReLU6": (nn.ReLU6(), ROW),
    "LeakyReLU": (nn.LeakyReLU(), ROW),
    "PReLU": (nn.PReLU(4), ROW),
    "ELU": (nn.ELU(), ROW),
    "GELU": (nn.GELU(), ROW),
    "SiLU": (nn.SiLU(), ROW),
    "Hardswish": (nn.Hardswish(), ROW),
    "Hardsigmoid": (nn.Hardsigmoid(), ROW),
    "Sigmoid": (nn.Sigmoid(), ROW),
    "Tanh": (nn.Tanh(), ROW),
    "Softmax": (nn.Softmax(dim=-1), ROW),
    "Dropout": (nn.Dropout(), ROW),
    "MaxPool2d": (nn.MaxPool2d(2), IMAGE),
    "AvgPool2d": (nn.AvgPool2d(2), IMAGE),
    "MaxPool1d": (nn.MaxPool1d(2), ROW),
    "MaxPool3d": (nn.MaxPool3d(2), VIDEO),
    "AvgPool1d": (nn.AvgPool1d(2), ROW),
    "AvgPool3d": (nn.AvgPool3d(2), VIDEO),
    "AdaptiveAvgPool1d": (nn.AdaptiveAvgPool1d(2), ROW),
    "AdaptiveAvgPool3d": (nn.AdaptiveAvgPool3d(2), VIDEO),
    "Hardtanh": (nn.Hardtanh(), ROW),
    "PixelUnshuffle": (nn.PixelUnshuffle(2), IMAGE),
    "AdaptiveAvgPool2d": (nn.AdaptiveAvgPool2d(2), IMAGE),
    "Upsample": (nn.Upsample(scale_factor=2.0), IMAGE),
    "PixelShuffle": (nn.PixelShuffle(2), IMAGE),
    "TransformerEncoderLayer": (nn.TransformerEncoderLayer(8, 2, 16), ROW),
}
NODES = {
    "add": lambda x: x + x.flip(0),
    "mul": lambda x: x * x,
    "sub": lambda x: x - 0.25,
    "cat": lambda x: pyqref.cat([x, x + x]),
    "matmul": lambda x: pyqref.matmul(x, x.transpose(1, 2)),
    "linear": lambda x, w: F.linear(x, w),
    "conv1d": lambda x, w: F.conv1d(x, w),
    "relu": lambda x: F.relu(x),
    "gelu": lambda x: F.gelu(x),
    "sigmoid": lambda x: x.sigmoid(),
    "tanh": lambda x: pyqref.tanh(x),
    "softmax": lambda x: F.softmax(x, dim=-1),
    "layer_norm": lambda x: F.layer_norm(x, (8,)),
    "mean": lambda x: x.mean(dim=-1),
    "max_pool1d": lambda x: F.max_pool1d(x, 2),
    "sin": lambda x: pyqref.sin(x),
    "clamp": lambda x: x.clamp(-0.2, 0.2),
    "reshape": lambda x: x.reshape(2, -1),
    "div": lambda x: x / 3,
}
HOMES = {f"pyqref.nn.modules.{name}" for name in vars(nn.modules)}
WEIGHTS = {"linear": (4, 8), "conv1d": (4, 4, 3)}


def found(model, x, **options):
    """Sensitivities, whatever the data does to a grid."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantChannelWarning)
        return measure.sensitivity(model.eval(), QCONFIG, x, progress=False, **options)


@pytest.mark.parametrize("kind", LAYERS)
def test_every_kind_of_layer_has_an_entry_by_its_path(kind):
    """Also where a back end has a dynamic form of it only, or integers for its weights, or none."""
    layer, x = LAYERS[kind]

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.part = layer

        def forward(self, x):
            y = self.part(x)
            return y[0] if isinstance(layer, (nn.LSTM, nn.GRU, nn.RNN, nn.LSTMCell)) else y

    name = "bilinear" if kind == "Bilinear" else "part"
    assert found(Model(), x)[name] < math.inf or kind == "Dropout"


def test_the_table_has_every_layer_that_the_back_end_knows():
    """None of its patterns of one float layer is missing above, but that which does nothing."""
    patterns = {each.pattern for each in get_native_backend_config().configs}
    layers = {each for each in patterns if getattr(each, "__module__", "") in HOMES}
    assert {nn.Identity} == layers - {type(layer) for layer, _ in LAYERS.values()}


@pytest.mark.parametrize("name", NODES)
def test_every_function_and_method_has_an_entry_by_its_node(name):
    """Operators, functions and methods, with weights among their arguments or without."""
    node = {"relu": "relu", "div": "truediv"}.get(name, name)
    assert found(Function(NODES[name], WEIGHTS.get(name)), ROW)[node] < math.inf


def test_attention_is_quantized_as_a_custom_module():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.attention = nn.MultiheadAttention(8, 2)

        def forward(self, x):
            return self.attention(x, x, x)[0]

    assert 20 < found(Model(), ROW)["attention"] < 60


def test_reference_forms_round_their_weights():
    """Two bits of weights are worse than eight also where no kernel has them."""
    coarse = pyqref.quantization.QConfig(
        activation=QCONFIG.activation,
        weight=pyqref.quantization.default_weight_observer.with_args(quant_min=-2, quant_max=1),
    )
    model = nn.Sequential(nn.TransformerEncoderLayer(8, 2, 16)).eval()
    fine = measure.sensitivity(model, QCONFIG, ROW)["0"]
    assert measure.sensitivity(model, coarse, ROW)["0"] < fine - 10


def test_own_metric():
    """A metric of output and target; without targets that is the output of the float model."""
    model = nn.Sequential(nn.Linear(8, 4), nn.Sigmoid())

    def largest(output, target):
        return (output - target).abs().max()

    alone = found(model, ROW, metric=largest)
    assert all(0 < each < 0.05 for each in alone.values())
    labels = model(ROW).argmax(1)
    accuracy = found(model, [(ROW, labels), (ROW, labels)], metric="accuracy", layers=["0"])
    assert 0.9 < accuracy["0"] <= 1


def test_layers_whose_qconfig_is_none_are_named():
    mapping = QConfigMapping().set_global(QCONFIG).set_module_name("1", None)
    model = nn.Sequential(nn.Linear(8, 4), nn.Linear(4, 4)).eval()
    with pytest.warns(NotQuantizedWarning, match="'1' is left out: its qconfig is None"):
        assert ["0"] == list(measure.sensitivity(model, mapping, ROW))


class Branching(nn.Module):
    """A model that no graph can record."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(8, 4), nn.GELU()
        self.attention = nn.MultiheadAttention(4, 2)

    def forward(self, x):
        y = self.second(self.first(x))
        return self.attention(y, y, y)[0] if x.sum() > -1000 else y


def test_layers_of_a_model_that_cannot_be_traced():
    """They are measured alone; functions, and layers of several inputs, are named in a warning."""
    with pytest.warns(NotQuantizedWarning, match="without functions in forward, attention"):
        alone = measure.sensitivity(Branching().eval(), QCONFIG, ROW)
    assert ["first", "second"] == list(alone)
    assert all(20 < each < 60 for each in alone.values())


def test_sensitivity_refuses_names_and_models():
    model = nn.Sequential(nn.Linear(8, 4)).eval()
    with pytest.raises(ValueError, match=r"layers must be names of parts .* got \['1'\]; it has"):
        measure.sensitivity(model, QCONFIG, ROW, layers=["1"])
    with pytest.raises(ValueError, match="must have an operation that can be quantized, got none"):
        measure.sensitivity(nn.Sequential().eval(), QCONFIG, ROW)
    with pytest.raises(TypeError, match="qconfig must be a QConfig or a QConfigMapping, got a str"):
        measure.sensitivity(model, "int8", ROW)
