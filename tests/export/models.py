"""Small converted models of every kind, each with its inputs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pyqref
from pyqref import nn, quantization
from pyqref.nn import functional as F
from pyqref.quantization import (
    QConfigMapping,
    get_default_qat_qconfig_mapping,
    get_default_qconfig_mapping,
)
from pyqref.quantization.quantize_fx import (
    convert_fx,
    convert_to_reference_fx,
    prepare_fx,
    prepare_qat_fx,
)

__all__ = ["MODELS", "Cnn", "Mlp", "Operations", "made"]


class Cnn(nn.Module):
    """Convolutions of three kinds, a fused ReLU, ReLU6, a sum, a join, pooling, a view."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm = nn.Conv2d(3, 8, 3, padding=1, stride=2), nn.BatchNorm2d(8)
        self.relu, self.relu6 = nn.ReLU(), nn.ReLU6()
        self.deep, self.point = nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.Conv2d(8, 8, 1)
        self.pool, self.last = nn.AdaptiveAvgPool2d(1), nn.Linear(16, 10)

    def forward(self, x: Any) -> Any:
        y = self.relu(self.norm(self.first(x)))
        y = y + self.point(self.relu6(self.deep(y)))
        y = pyqref.cat([F.max_pool2d(y, 2), y[:, :, :5, :5]], 1)
        y = self.pool(y)
        return self.last(y.view(y.size(0), -1))


class Operations(nn.Module):
    """Norms, activations, moves, a transposed convolution."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.back = nn.Conv1d(4, 8, 3, padding="same"), nn.ConvTranspose1d(8, 4, 4, 2, 1)
        self.group, self.layer = nn.GroupNorm(2, 8), nn.LayerNorm(8)
        self.instance, self.slope = nn.InstanceNorm1d(8, affine=True), nn.PReLU(8)
        self.slope.weight.data = pyqref.rand(8)
        self.steps = nn.Sequential(
            nn.ELU(), nn.LeakyReLU(0.1), nn.Hardswish(), nn.Hardtanh(), nn.Hardsigmoid(), nn.Tanh()
        )
        self.linear, self.softmax = nn.Linear(8, 8), nn.Softmax(-1)

    def forward(self, x: Any) -> Any:
        y = self.slope(self.instance(self.steps(self.group(self.conv(x)))))
        y = self.layer((y * pyqref.sigmoid(y)).transpose(1, 2))
        y = self.softmax(F.relu(self.linear(y))).permute(0, 2, 1)
        return self.back(y).mean(-1)


class Mlp(nn.Module):
    """Linear layers."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 16), nn.Tanh())
        self.last = nn.Linear(16, 5)

    def forward(self, x: Any) -> Any:
        return self.last(self.net(x))


class Added(nn.Module):
    """A sum by FloatFunctional, and fused layers, between the two stubs."""

    def __init__(self) -> None:
        super().__init__()
        self.quant, self.dequant = quantization.QuantStub(), quantization.DeQuantStub()
        self.conv, self.norm, self.relu = (
            nn.Conv2d(3, 8, 3, padding=1),
            nn.BatchNorm2d(8),
            nn.ReLU(),
        )
        self.other, self.sum = nn.Conv2d(3, 8, 1), nn.quantized.FloatFunctional()
        self.drop, self.flat, self.last = nn.Dropout(), nn.Flatten(), nn.Linear(8 * 16, 10)

    def forward(self, x: Any) -> Any:
        x = self.quant(x)
        y = self.sum.add(self.relu(self.norm(self.conv(x))), self.other(x))
        return self.dequant(self.last(self.drop(self.flat(F.max_pool2d(y, 2)))))


class Steps(nn.Module):
    """A recurrent layer and a linear one."""

    def __init__(self, kind: Any, **options: Any) -> None:
        super().__init__()
        self.steps = kind(5, 6, batch_first=True, **options)
        self.last = nn.Linear(12 if options else 6, 3)

    def forward(self, x: Any) -> Any:
        return self.last(self.steps(x)[0])


class Functions(nn.Module):
    """Layers as functions, whose weights are parameters."""

    def __init__(self) -> None:
        super().__init__()
        self.kernel, self.offset = (nn.Parameter(pyqref.randn(*n)) for n in ((4, 3, 3, 3), (4,)))
        self.weight = nn.Parameter(pyqref.randn(5, 8))

    def forward(self, x: Any) -> Any:
        y = F.relu(F.conv2d(x, self.kernel, self.offset, padding=1))
        return F.layer_norm(F.linear(y, self.weight), (5,))


class Words(nn.Module):
    """A table of embeddings and a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.last = nn.Embedding(50, 16), nn.Linear(16, 4)

    def forward(self, index: Any) -> Any:
        return self.last(self.table(index))


def graph(model: Any, x: Any, mapping: Any) -> Any:
    """Converted in graph mode."""
    prepared = prepare_fx(model.eval(), mapping, (x,))
    prepared(x)
    return convert_fx(prepared)


def reference(model: Any, x: Any) -> Any:
    """A reference model."""
    prepared = prepare_fx(model.eval(), get_default_qconfig_mapping("fbgemm"), (x,))
    prepared(x)
    return convert_to_reference_fx(prepared)


def trained(model: Any, x: Any) -> Any:
    """Converted after training."""
    prepared = prepare_qat_fx(model.train(), get_default_qat_qconfig_mapping("fbgemm"), (x,))
    prepared(x)
    return convert_fx(prepared.eval())


def eager(x: Any, qconfig: Any, qat: bool = False) -> Any:
    """Converted in eager mode."""
    model = Added().train(qat)
    fuse = quantization.fuse_modules_qat if qat else quantization.fuse_modules
    model = fuse(model, [["conv", "norm", "relu"]])
    model.qconfig = qconfig
    prepared = (quantization.prepare_qat if qat else quantization.prepare)(model)
    prepared(x)
    return quantization.convert(prepared.eval())


def steps(kind: Any, **options: Any) -> Any:
    """A recurrent layer with dynamic inputs."""
    model = Steps(kind, **options).eval()
    return quantization.quantize_dynamic(model, {kind, nn.Linear})


def words(index: Any) -> Any:
    """A quantized table, and a quantized layer."""
    mapping = QConfigMapping().set_global(quantization.get_default_qconfig("fbgemm"))
    table = quantization.float_qparams_weight_only_qconfig
    return graph(Words(), index, mapping.set_object_type(nn.Embedding, table))


SYMMETRIC = quantization.QConfig(
    quantization.MinMaxObserver.with_args(dtype=pyqref.quint8, qscheme=pyqref.per_tensor_symmetric),
    quantization.default_weight_observer,
)
_IMAGE, _LINE, _ROW = (2, 3, 20, 20), (2, 4, 10), (6, 20)
#: By name: the shape of the input, or the number of words, and what makes a model for it.
MODELS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "graph": (_IMAGE, lambda x: graph(Cnn(), x, get_default_qconfig_mapping("fbgemm"))),
    "qnnpack": (_IMAGE, lambda x: graph(Cnn(), x, get_default_qconfig_mapping("qnnpack"))),
    "reference": (_IMAGE, lambda x: reference(Cnn(), x)),
    "trained": (_IMAGE, lambda x: trained(Cnn(), x)),
    "operations": (
        _LINE,
        lambda x: graph(Operations(), x, get_default_qconfig_mapping("qnnpack")),
    ),
    "eager": ((2, 3, 8, 8), lambda x: eager(x, quantization.get_default_qconfig("fbgemm"))),
    "symmetric": ((2, 3, 8, 8), lambda x: eager(x, SYMMETRIC)),
    "eager trained": (
        (2, 3, 8, 8),
        lambda x: eager(x, quantization.get_default_qat_qconfig("fbgemm"), qat=True),
    ),
    "dynamic": (_ROW, lambda x: quantization.quantize_dynamic(Mlp().eval(), {nn.Linear})),
    "half": (
        _ROW,
        lambda x: quantization.quantize_dynamic(Mlp().eval(), {nn.Linear}, dtype=pyqref.float16),
    ),
    "lstm": ((2, 3, 5), lambda x: steps(nn.LSTM, num_layers=2, bidirectional=True)),
    "gru": ((2, 3, 5), lambda x: steps(nn.GRU)),
    "functions": (
        (2, 3, 8, 8),
        lambda x: graph(Functions(), x, get_default_qconfig_mapping("fbgemm")),
    ),
    "words": (7, words),
}


@cache
def made(name: str) -> tuple[Any, Any]:
    """A model and its input."""
    pyqref.manual_seed(0)
    shape, make = MODELS[name]
    x = pyqref.randint(0, 50, (2, shape)) if isinstance(shape, int) else pyqref.randn(*shape)
    return make(x), x
