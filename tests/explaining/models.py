"""A float model and its quantized forms, and ways to break one layer of them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pyqref
from pyqref import nn, quantization
from pyqref.nn import functional as F
from pyqref.quantization import quantize_fx


class Residual(nn.Module):
    """Convolutions, a sum, a linear layer and one that is a function; images 2 x 6 x 6."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(2, 6, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(6)
        self.relu = nn.ReLU()
        self.conv2 = nn.Conv2d(6, 6, 3, padding=1)
        self.add = nn.quantized.FloatFunctional()
        self.pool = nn.AvgPool2d(2)
        self.act = nn.Hardswish()
        self.fc = nn.Linear(54, 5)

    def forward(self, x: Any) -> Any:
        x = self.relu(self.bn1(self.conv1(x)))
        x = self.add.add_relu(x, self.conv2(x))
        x = self.act(self.pool(x))
        return self.fc(pyqref.flatten(x, 1))


class WithFunction(Residual):
    """Residual network with one more linear layer, which is a function of parameters."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(pyqref.randn(4, 5))
        self.bias = nn.Parameter(pyqref.randn(4))

    def forward(self, x: Any) -> Any:
        x = self.relu(self.bn1(self.conv1(x)))
        x = F.relu(x + self.conv2(x))
        x = pyqref.flatten(self.act(self.pool(x)), 1)
        return F.linear(self.fc(x), self.weight, self.bias)


def images(count: int = 16) -> Any:
    """Return normal numbers that are the same every time."""
    generator = pyqref.Generator().manual_seed(1)
    return pyqref.randn(count, 2, 6, 6, generator=generator)


def made(kind: type[Residual] = Residual) -> Residual:
    """A float model whose batch norm is not the identity."""
    pyqref.manual_seed(3)
    model = kind()
    model.train()
    for _ in range(3):
        model(pyqref.randn(16, 2, 6, 6) + 0.3)
    model.bn1.weight.data.uniform_(0.5, 1.5)
    return model.eval()


def eager(model: Residual, engine: str = "fbgemm", qconfig: Any = None) -> nn.Module:
    """Fused, calibrated and converted in eager mode."""
    fused = quantization.fuse_modules(model, [["conv1", "bn1", "relu"]])
    wrapped = quantization.QuantWrapper(fused)
    wrapped.qconfig = quantization.get_default_qconfig(engine) if qconfig is None else qconfig
    prepared = quantization.prepare(wrapped.eval())
    prepared(images())
    return quantization.convert(prepared)


def graph(model: Residual, engine: str = "fbgemm", mapping: Any = None) -> nn.Module:
    """Calibrated and converted in graph mode."""
    mapping = quantization.get_default_qconfig_mapping(engine) if mapping is None else mapping
    prepared = quantize_fx.prepare_fx(model, mapping, (images(),))
    prepared(images())
    return quantize_fx.convert_fx(prepared)


def dynamic(model: Residual) -> nn.Module:
    """The linear layer alone, on a grid that is chosen while it runs."""
    return quantization.quantize_dynamic(model, {nn.Linear})


def reference(model: Residual) -> nn.Module:
    """Weights on their grids, but computed on real numbers."""
    mapping = quantization.get_default_qconfig_mapping("fbgemm")
    prepared = quantize_fx.prepare_fx(model, mapping, (images(),))
    prepared(images())
    return quantize_fx.convert_to_reference_fx(prepared)


FORMS: dict[str, tuple[type[Residual], Callable[..., nn.Module]]] = {
    "eager": (Residual, eager),
    "graph": (Residual, graph),
    "graph with functions": (WithFunction, graph),
    "dynamic": (Residual, dynamic),
    "reference": (WithFunction, reference),
}


def layer(model: nn.Module, name: str) -> Any:
    """A layer of the model, wrapped or not."""
    modules = dict(model.named_modules())
    return modules.get(name, modules.get(f"module.{name}"))


def doubled_scale(model: nn.Module, name: str) -> nn.Module:
    """Every weight of a layer stands for twice its number."""
    return _with_weight(model, name, lambda q: q.int_repr(), 2.0)


def swapped_channels(model: nn.Module, name: str) -> nn.Module:
    """The first two output channels of a layer change places."""
    return _with_weight(model, name, lambda q: pyqref.cat([q[1:2], q[:1], q[2:]]), 1.0, True)


def no_bias(model: nn.Module, name: str) -> nn.Module:
    """The bias of a layer is zero."""
    broken = copy.deepcopy(model)
    weight, bias = layer(broken, name)._weight_bias()
    layer(broken, name).set_weight_bias(weight, pyqref.zeros_like(bias))
    return broken


def _with_weight(model: Any, name: str, change: Any, factor: float, ints: bool = False) -> Any:
    broken = copy.deepcopy(model)
    weight, bias = layer(broken, name)._weight_bias()
    integers = change(weight.int_repr() if ints else weight)
    if weight.qscheme() in (pyqref.per_channel_affine, pyqref.per_channel_symmetric):
        scales = weight.q_per_channel_scales() * factor
        zero_points = weight.q_per_channel_zero_points()
        new = pyqref._make_per_channel_quantized_tensor(integers, scales, zero_points, 0)
    else:
        scale = weight.q_scale() * factor
        new = pyqref._make_per_tensor_quantized_tensor(integers, scale, weight.q_zero_point())
    layer(broken, name).set_weight_bias(new, bias)
    return broken


SABOTAGE = {
    "scale doubled": doubled_scale,
    "bias dropped": no_bias,
    "channels swapped": swapped_channels,
}
