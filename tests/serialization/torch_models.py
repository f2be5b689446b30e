"""Small models, float and quantized in every way, of pyqref or of torch alike."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import numpy as np

__all__ = ["KINDS", "build", "example"]

KINDS = [
    "float",
    "prepared",
    "trained",
    "eager",
    "wrapped",
    "fx prepared",
    "fx",
    "fx functional",
    "dynamic qint8",
    "dynamic float16",
    "dynamic lstm",
    "dynamic gru float16",
    "dynamic cell",
    "embedding",
    "embedding 4 bits",
]


def example(kind: str, lib: Any, seed: int = 0) -> Any:
    """Input for a model of this kind."""
    random = np.random.default_rng(seed)
    if kind.startswith("embedding"):
        return lib.from_numpy(random.integers(0, 6, (3, 2)))
    shape = {"dynamic lstm": (3, 2, 4), "dynamic gru float16": (3, 2, 4)}.get(kind, (5, 4))
    if not kind.startswith("dynamic"):
        shape = (3, 1, 4, 4)
    return lib.from_numpy(random.standard_normal(shape, np.float32))


def build(kind: str, lib: Any, seed: int = 0) -> Any:
    """The model, with weights and ranges that follow from the seed."""
    if lib.__name__ == "torch":
        importlib.import_module("torch.ao.quantization.quantize_fx")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _build(kind, lib, seed)


def _fill(model: Any, lib: Any, seed: int) -> Any:
    random = np.random.default_rng(seed)
    with lib.no_grad():
        for each in model.parameters():
            values = random.standard_normal(tuple(each.shape), np.float32) * np.float32(0.5)
            each.copy_(lib.from_numpy(np.asarray(values, np.float32)))
    return model


def _build(kind: str, lib: Any, seed: int) -> Any:
    nn, q = lib.nn, lib.ao.quantization

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.quant, self.dequant = q.QuantStub(), q.DeQuantStub()
            self.conv, self.bn, self.relu = nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU()
            self.fc, self.sum = nn.Linear(8, 3), nn.quantized.FloatFunctional()

        def forward(self, x: Any) -> Any:
            x = self.relu(self.bn(self.conv(self.quant(x))))
            return self.dequant(self.fc(lib.flatten(self.sum.add(x, x), 1)))

    class Functional(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.taps, self.weight = (
                nn.Parameter(lib.ones(2, 1, 3, 3)),
                nn.Parameter(lib.ones(3, 8)),
            )
            self.offset, self.bias = nn.Parameter(lib.ones(2)), nn.Parameter(lib.ones(3))

        def forward(self, x: Any) -> Any:
            f = nn.functional
            x = f.conv2d(x, self.taps, self.offset, (1, 1), (0, 0), (1, 1), 1)
            return f.linear(lib.flatten(f.relu(x), 1), self.weight, self.bias)

    float16 = lib.float16
    dynamic: dict[str, Any] = {
        "dynamic qint8": lambda: (nn.Sequential(nn.Linear(4, 3)), lib.qint8),
        "dynamic float16": lambda: (nn.Sequential(nn.Linear(4, 3)), float16),
        "dynamic lstm": lambda: (nn.Sequential(nn.LSTM(4, 3, 2, bidirectional=True)), lib.qint8),
        "dynamic gru float16": lambda: (nn.Sequential(nn.GRU(4, 3)), float16),
        "dynamic cell": lambda: (nn.Sequential(nn.GRUCell(4, 3)), lib.qint8),
    }
    if kind in dynamic:
        model, dtype = dynamic[kind]()
        return q.quantize_dynamic(_fill(model, lib, seed).eval(), dtype=dtype)
    if kind.startswith("embedding"):
        model = _fill(nn.Sequential(nn.EmbeddingBag(6, 4, mode="sum")), lib, seed).eval()
        four = kind.endswith("4 bits")
        model.qconfig = (
            q.float_qparams_weight_only_qconfig_4bit
            if four
            else q.float_qparams_weight_only_qconfig
        )
        return q.convert(q.prepare(model))
    x = example(kind, lib, seed)
    if kind == "fx functional":
        mapping = q.QConfigMapping().set_global(q.default_qconfig)
        prepared = q.quantize_fx.prepare_fx(_fill(Functional(), lib, seed).eval(), mapping, (x,))
        prepared(x)
        return q.quantize_fx.convert_fx(prepared)
    model = _fill(Network(), lib, seed).eval()
    if kind == "float":
        return model
    if kind.startswith("fx"):
        mapping = q.get_default_qconfig_mapping("fbgemm" if kind == "fx" else "qnnpack")
        prepared = q.quantize_fx.prepare_fx(model, mapping, (x,))
        prepared(x)
        return prepared if kind == "fx prepared" else q.quantize_fx.convert_fx(prepared)
    if kind == "trained":
        model.qconfig = q.get_default_qat_qconfig("fbgemm")
        q.fuse_modules_qat(model.train(), [["conv", "bn", "relu"]], inplace=True)
        prepared = q.prepare_qat(model)
        prepared(x)
        return prepared.eval()
    if kind == "wrapped":
        layers = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8, 3))
        model = q.QuantWrapper(_fill(layers, lib, seed).eval())
    else:
        q.fuse_modules(model, [["conv", "bn", "relu"]], inplace=True)
    model.qconfig = q.default_per_channel_qconfig if kind != "prepared" else q.default_qconfig
    prepared = q.prepare(model)
    prepared(x)
    return prepared if kind == "prepared" else q.convert(prepared)
