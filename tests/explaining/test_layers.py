"""The ledger knows what every quantized operation stands for in real numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import pyqref
from pyqref import nn, quantization
from pyqref.nn import functional as F
from pyqref.quantization import quantize_fx

X = pyqref.randn(4, 4, 6, 6, generator=pyqref.Generator().manual_seed(0))


class Between(nn.Module):
    """A function of the results of two convolutions, and a third one."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function
        self.a, self.b = nn.Conv2d(4, 4, 3, padding=1), nn.Conv2d(4, 4, 3, padding=1)
        self.last = nn.Conv2d(4, 4, 1)

    def forward(self, x: Any) -> Any:
        return self.last(self.function(self.a(x), self.b(x)))


MODULES = (
    *(nn.LeakyReLU(0.1), nn.ELU(), nn.Sigmoid(), nn.Tanh(), nn.Hardsigmoid(), nn.Softmax(1)),
    *(nn.ReLU6(), nn.Hardswish(), nn.GroupNorm(2, 4), nn.InstanceNorm2d(4), nn.LayerNorm(6)),
    *(nn.BatchNorm2d(4), nn.PReLU(4), nn.ConvTranspose2d(4, 4, 2, 2), nn.AdaptiveAvgPool2d(2)),
    *(nn.Conv2d(4, 4, 3, padding=1, padding_mode="reflect"), nn.Conv2d(4, 4, 3, groups=2)),
    *(nn.Sequential(nn.AvgPool2d(2), nn.BatchNorm2d(4), nn.ReLU()), nn.Dropout(), nn.MaxPool2d(2)),
    nn.Sequential(nn.Flatten(2), nn.Conv1d(4, 4, 3), nn.Unflatten(2, (2, 17))),
)
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "add_relu": lambda a, b: F.relu(a + b),
    "add_scalar": lambda a, b: a + 2.0,
    "mul": lambda a, b: a * b,
    "mul_relu": lambda a, b: F.relu(a * b),
    "mul_scalar": lambda a, b: a * 2.0,
    "cat": lambda a, b: pyqref.cat([a, b], 0),
    "matmul": lambda a, b: pyqref.matmul(a, b),
    "interpolate": lambda a, b: F.interpolate(a, scale_factor=2.0, mode="bilinear"),
    "clamp": lambda a, b: pyqref.clamp(a, -0.2, 0.3),
    "hardtanh": lambda a, b: F.hardtanh(a),
    "elu": lambda a, b: F.elu(a),
    "leaky_relu": lambda a, b: F.leaky_relu(a),
    "hardswish": lambda a, b: F.hardswish(a),
    "layer_norm": lambda a, b: F.layer_norm(a, (6,)),
    "instance_norm": lambda a, b: F.instance_norm(a),
    "group_norm": lambda a, b: F.group_norm(a, 2),
    "softmax": lambda a, b: F.softmax(a, 1),
    "sigmoid": lambda a, b: a.sigmoid(),
    "slice": lambda a, b: a[:, :, 1:],
    "permute": lambda a, b: a.permute(0, 1, 3, 2).contiguous(),
}


def check(model: nn.Module) -> None:
    """Folding changes nothing but float rounding, and every integer of a device is explained."""
    for seed, each in enumerate(model.buffers()):
        if each.is_floating_point():
            each.uniform_(0.5, 1.5, generator=pyqref.Generator().manual_seed(seed))
    mapping = quantization.get_default_qconfig_mapping("fbgemm")
    prepared = quantize_fx.prepare_fx(model.eval(), mapping, (X,))
    prepared(X)
    quantized = quantize_fx.convert_fx(prepared)
    found = pyqref.ledger(model, quantized, X, advice=False)
    assert found.total == sum(each.change for each in found.entries)
    assert () == found.notes
    folding = next(each for each in found.entries if each.layer == "(float model)")
    assert abs(folding.share) < 1e-4
    # A number that is added is rounded by itself, which is in no other column.
    rest = [each.share for each in found.entries if each.cause == "rest"]
    assert abs(sum(rest)) < (0.2 if "add" in str(quantized.graph) else 0.05)
    parts = pyqref.explain_diff(
        quantized, quantized, X, contexts=(None, lambda: pyqref.arithmetic.use("tflite"))
    )
    for each in parts.layers:
        assert each.count == sum(each.causes.values())
    assert "not explained" not in parts.causes()


@pytest.mark.filterwarnings("ignore:arithmetic .* does not define")
@pytest.mark.parametrize("module", MODULES, ids=lambda each: type(each).__name__)
def test_modules(module) -> None:
    """A layer between two convolutions."""
    pyqref.manual_seed(0)
    first = nn.Conv2d(4, 4, 3, padding=1)
    if isinstance(module, nn.PReLU):
        module.weight.data.uniform_()  # equal numbers are quantized badly, and warned of
    check(nn.Sequential(first, module, nn.Conv2d(4, 4, 1)))


@pytest.mark.filterwarnings("ignore:arithmetic .* does not define")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name) -> None:
    """A function, or a method, in a graph."""
    pyqref.manual_seed(0)
    check(Between(FUNCTIONS[name]))
