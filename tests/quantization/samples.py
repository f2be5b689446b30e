"""Numbers, observers and a model that several of these tests use."""

from __future__ import annotations

from typing import Any

import numpy as np

import pyqref
from pyqref import nn
from pyqref import quantization as q

PER_TENSOR = [q.MinMaxObserver, q.MovingAverageMinMaxObserver, q.HistogramObserver]
PER_CHANNEL = [q.PerChannelMinMaxObserver, q.MovingAveragePerChannelMinMaxObserver]
RANGED = [*PER_TENSOR, *PER_CHANNEL]


def normal(*shape: int, seed: int = 0) -> pyqref.Tensor:
    """Numbers from the normal distribution."""
    return pyqref.from_numpy(np.random.default_rng(seed).standard_normal(shape, np.float32))


class Model(nn.Module):
    """Stubs, fused layers, a sum, and a part without quantization."""

    def __init__(self) -> None:
        super().__init__()
        pyqref.manual_seed(0)
        self.quant = q.QuantStub()
        self.first = nn.Linear(4, 4)
        self.relu = nn.ReLU()
        self.second = nn.Linear(4, 4)
        self.sum = nn.quantized.FloatFunctional()
        self.dequant = q.DeQuantStub()
        self.last = nn.Linear(4, 2)

    def forward(self, x: Any) -> Any:
        x = self.relu(self.first(self.quant(x)))
        return self.last(self.dequant(self.sum.add(x, self.second(x))))


def model_with_qconfig() -> Model:
    """The model, to be quantized but for its last layer."""
    made = Model().eval()
    made.qconfig = q.default_qconfig
    made.last.qconfig = None
    return made


def observed_paths(model: Any) -> list[str]:
    """Where the observers of a model stand."""
    found: dict[str, Any] = {}
    q.get_observer_dict(model, found)
    return [path.removesuffix(".activation_post_process") for path in found]
