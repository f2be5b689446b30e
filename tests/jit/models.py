"""Models of every kind that scripts save: float, eager and graph mode, prepared and converted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyqref
from pyqref import nn
from pyqref import quantization as q
from pyqref.quantization.quantize_fx import convert_fx, prepare_fx

X = pyqref.randn(2, 3, 8, 8, generator=pyqref.Generator().manual_seed(0))
IDS = pyqref.tensor([[1, 2], [3, 4]])


class Block(nn.Module):
    """A depthwise and a pointwise convolution with a shortcut, as in MobileNetV2."""

    def __init__(self, channels: int, norm: Any = nn.BatchNorm2d) -> None:
        super().__init__()
        self._norm_layer = norm
        self.conv = nn.Conv2d(channels, channels, 3, padding=1, groups=channels)
        self.bn = norm(channels)
        self.relu = nn.ReLU6()
        self.point = nn.Conv2d(channels, channels, 1)
        self.point_bn = norm(channels)
        self.skip_add = nn.quantized.FloatFunctional()

    def forward(self, x: Any) -> Any:
        inner = self.relu(self.bn(self.conv(x)))
        return self.skip_add.add(x, self.point_bn(self.point(inner)))


class Net(nn.Module):
    """Convolution, blocks, mean and a linear layer, between stubs."""

    def __init__(self) -> None:
        super().__init__()
        self.quant, self.dequant = q.QuantStub(), q.DeQuantStub()
        self.conv, self.bn, self.relu = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU()
        self.blocks = nn.Sequential(Block(8), Block(8))
        self.fc = nn.Linear(8, 4)
        self.activation = pyqref.nn.functional.relu
        self.sizes = {"input": (3, 8, 8), "classes": [4]}

    def forward(self, x: Any) -> Any:
        x = self.blocks(self.relu(self.bn(self.conv(self.quant(x)))))
        return self.dequant(self.fc(x.mean([2, 3])))


class Text(nn.Module):
    """Embedding, LSTM and a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(5, 4)
        self.lstm = nn.LSTM(4, 5, bidirectional=True)
        self.fc = nn.Linear(10, 3)

    def forward(self, ids: Any) -> Any:
        return self.fc(self.lstm(self.table(ids))[0])


def net() -> Net:
    pyqref.manual_seed(0)
    return Net()


def _fused(fuse: Callable[..., Any], model: Any) -> Any:
    groups = [["conv", "bn", "relu"]]
    for index in range(2):
        groups.append([f"blocks.{index}.conv", f"blocks.{index}.bn"])
        groups.append([f"blocks.{index}.point", f"blocks.{index}.point_bn"])
    return fuse(model, groups)


def prepared() -> Any:
    model = _fused(q.fuse_modules, net().eval())
    model.qconfig = q.get_default_qconfig("fbgemm")
    model = q.prepare(model)
    model(X)
    return model


def trained() -> Any:
    model = _fused(q.fuse_modules_qat, net().train())
    model.qconfig = q.get_default_qat_qconfig("fbgemm")
    model = q.prepare_qat(model)
    model(X)
    return model.eval()


def qnnpack() -> Any:
    """Packed for another engine than the one that is set when it is loaded."""
    before, pyqref.backends.quantized.engine = pyqref.backends.quantized.engine, "qnnpack"
    try:
        model = net().eval()
        model.qconfig = q.get_default_qconfig("qnnpack")
        model = q.prepare(model)
        model(X)
        return q.convert(model)
    finally:
        pyqref.backends.quantized.engine = before


def graph() -> Any:
    model = prepare_fx(net().eval(), q.get_default_qconfig_mapping("fbgemm"), (X,))
    model(X)
    return convert_fx(model)


def dynamic(spec: Any, dtype: Any = pyqref.qint8) -> Any:
    pyqref.manual_seed(0)
    return q.quantize_dynamic(Text().eval(), spec, dtype=dtype)


LAYERS = {nn.Linear, nn.LSTM}
#: For each kind of model: how it is made, and an input.
KINDS: dict[str, tuple[Callable[[], Any], Any]] = {
    "float": (lambda: net().eval(), X),
    "training": (lambda: net().train(), X),
    "prepared": (prepared, X),
    "converted": (lambda: q.convert(prepared()), X),
    "trained": (trained, X),
    "trained, converted": (lambda: q.convert(trained()), X),
    "qnnpack": (qnnpack, X),
    "graph": (graph, X),
    "dynamic": (lambda: dynamic(LAYERS), IDS),
    "dynamic, float16": (lambda: dynamic(LAYERS, pyqref.float16), IDS),
    "embedding": (
        lambda: dynamic({nn.Embedding: q.float_qparams_weight_only_qconfig}),
        IDS,
    ),
    "embedding, 4 bits": (
        lambda: dynamic({nn.Embedding: q.float_qparams_weight_only_qconfig_4bit}),
        IDS,
    ),
}
