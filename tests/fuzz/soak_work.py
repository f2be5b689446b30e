"""The work of the soak: each gives the same bits whenever and wherever it is done."""

from __future__ import annotations

import copy
import io
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyqref
from pyqref import nn
from pyqref import quantization as q
from pyqref.nn import functional as F
from pyqref.quantization import quantize_fx

from .bits import frozen

#: Work by name.
WORK: dict[str, Callable[[], Any]] = {}


def _work(function: Callable[[], Any]) -> Callable[[], Any]:
    WORK[function.__name__] = lambda: frozen(function())
    return function


class Net(nn.Module):
    """A convolution, a normalization and a linear layer, between quantizer and dequantizer."""

    def __init__(self) -> None:
        super().__init__()
        self.quant, self.dequant = q.QuantStub(), q.DeQuantStub()
        self.conv, self.bn = nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm2d(4)
        self.relu, self.fc = nn.ReLU(), nn.Linear(64, 5)

    def forward(self, x: Any) -> Any:
        x = self.relu(self.bn(self.conv(self.quant(x))))
        return self.dequant(self.fc(x.flatten(1)))


pyqref.manual_seed(0)
NET = Net()
RECURRENT = nn.Sequential(nn.Linear(3, 3), nn.LSTM(3, 4))
IMAGES, ROWS = pyqref.randn(6, 2, 4, 4), pyqref.randn(40, 33)
LABELS = pyqref.tensor([0, 1, 2, 3, 4, 0])


def _trained(net: nn.Module, steps: int = 2) -> nn.Module:
    optimizer = pyqref.optim.Adam(net.parameters(), lr=0.01)
    for _ in range(steps):
        optimizer.zero_grad()
        F.cross_entropy(net(IMAGES), LABELS).backward()
        optimizer.step()
    return net


@_work
def affine() -> Any:
    """Quantize and dequantize, per tensor and per channel, and fake quantize."""
    scales, points = pyqref.linspace(0.1, 0.4, 40), pyqref.arange(40)
    one = pyqref.quantize_per_tensor(ROWS, 0.05, 3, pyqref.quint8)
    many = pyqref.quantize_per_channel(ROWS, scales, points, 0, pyqref.qint8)
    fake = pyqref.fake_quantize_per_tensor_affine(ROWS, 0.05, 3, 0, 255)
    return one, many, fake, one.dequantize(), many.dequantize()


@_work
def operations() -> Any:
    """Operations on quantized tensors."""
    a = pyqref.quantize_per_tensor(ROWS, 0.05, 128, pyqref.quint8)
    b = pyqref.quantize_per_tensor(ROWS * 0.5, 0.02, 100, pyqref.quint8)
    ops = pyqref.ops.quantized
    results = [ops.add(a, b, 0.07, 120), ops.mul(a, b, 0.1, 7), ops.cat([a, b], 0, 0.05, 128)]
    return [*results, F.relu(a), a.sort()[0], a[::2, 1:].int_repr(), a.mean()]


@_work
def training() -> Any:
    """Two steps of training."""
    return _trained(copy.deepcopy(NET).train())


@_work
def eager() -> Any:
    """Calibrate and convert, layer by layer."""
    net = copy.deepcopy(NET).eval()
    net.qconfig = q.get_default_qconfig("fbgemm")
    q.fuse_modules(net, [["conv", "bn", "relu"]], inplace=True)
    q.prepare(net, inplace=True)
    net(IMAGES)
    q.convert(net, inplace=True)
    return net(IMAGES), net


@_work
def graphs() -> Any:
    """Quantize the network in graph mode and run it."""
    net = copy.deepcopy(NET).eval()
    prepared = quantize_fx.prepare_fx(net, q.get_default_qconfig_mapping(), (IMAGES,))
    prepared(IMAGES)
    return quantize_fx.convert_fx(prepared)(IMAGES)


@_work
def aware() -> Any:
    """Quantization-aware training."""
    net = copy.deepcopy(NET).train()
    net.qconfig = q.get_default_qat_qconfig("fbgemm")
    q.prepare_qat(net, inplace=True)
    _trained(net, 1)
    return q.convert(net.eval())(IMAGES)


@_work
def recurrent() -> Any:
    """A network whose layers are quantized dynamically."""
    net = q.quantize_dynamic(RECURRENT, {nn.Linear, nn.LSTM}, dtype=pyqref.qint8)
    return net(ROWS[:, :3].reshape(8, 5, 3))


@_work
def observers() -> Any:
    """Return the scales and zero points that observers find."""
    found = []
    for make in (q.MinMaxObserver, q.MovingAverageMinMaxObserver, q.HistogramObserver):
        observer = make()
        for part in (ROWS, ROWS * 2):
            observer(part)
        found += observer.calculate_qparams()
    channels = q.PerChannelMinMaxObserver(ch_axis=0, dtype=pyqref.qint8)
    channels(ROWS)
    return [*found, *channels.calculate_qparams()]


@_work
def files() -> Any:
    """Save and load, in memory and on the disk."""
    state = {"net": NET.state_dict(), "q": pyqref.quantize_per_tensor(ROWS, 0.1, 2, pyqref.quint8)}
    memory = io.BytesIO()
    pyqref.save(state, memory)
    memory.seek(0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state"
        pyqref.save(state, path)
        other = copy.deepcopy(NET)
        other.load_state_dict(pyqref.load(path)["net"])
    return pyqref.load(memory), other


@_work
def tracing() -> Any:
    """The code of a traced network, and what it gives."""
    traced = pyqref.fx.symbolic_trace(copy.deepcopy(NET).eval())
    return traced.code, traced(IMAGES)


@_work
def refusals() -> Any:
    """Errors: their messages, and nothing that they keep."""
    said = []
    for wrong in (
        lambda: pyqref.quantize_per_tensor(ROWS, -1.0, 0, pyqref.quint8),
        lambda: F.linear(ROWS, IMAGES),
        lambda: NET.load_state_dict({}),
        lambda: pyqref.load(io.BytesIO(b"no file")),
    ):
        try:
            wrong()
        except (RuntimeError, ValueError) as error:
            said.append(str(error))
    return said
