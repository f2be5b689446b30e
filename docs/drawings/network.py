"""The network of the last rung: two linear layers that read handwritten digits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import pyqref
from pyqref import nn
from pyqref.demo.data import Digits, load_digits

__all__ = ["Networks", "networks"]


@dataclass(frozen=True)
class Networks:
    """The digits, the float network, the network of integers made from it."""

    digits: Digits
    model: Any
    integer: Any


@cache
def networks() -> Networks:
    """Train, calibrate and convert, once a process; the page shows the same lines."""
    digits = load_digits()
    pyqref.manual_seed(0)
    model = nn.Sequential(
        pyqref.quantization.QuantStub(),
        nn.Flatten(),
        nn.Linear(64, 32),
        nn.ReLU(),
        nn.Linear(32, 10),
        pyqref.quantization.DeQuantStub(),
    )
    optimizer = pyqref.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(100):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(digits.train_images), digits.train_labels).backward()
        optimizer.step()
    model.eval()
    model.qconfig = pyqref.quantization.get_default_qconfig("qnnpack")
    prepared = pyqref.quantization.prepare(model)
    prepared(digits.calibration_images)
    return Networks(digits, model, pyqref.quantization.convert(prepared))
