"""States written by torch, as arrays, load here, and the other way round."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref import quantization as q

torch = pytest.importorskip("torch", minversion="2.13")

NAMES = [
    "MinMaxObserver",
    "MovingAverageMinMaxObserver",
    "PerChannelMinMaxObserver",
    "MovingAveragePerChannelMinMaxObserver",
    "HistogramObserver",
    "FakeQuantize",
    "FusedMovingAvgObsFakeQuantize",
    "default_per_channel_weight_fake_quant",
    "default_embedding_fake_quant",
    "default_fixed_qparams_range_0to1_fake_quant",
]


def moved(state: Any, namespace: Any) -> dict[str, Any]:
    """A state dict whose tensors are those of another library."""
    return {key: namespace.from_numpy(value.numpy().copy()) for key, value in state.items()}


def parameters(module: Any) -> list[Any]:
    return [each.numpy().tolist() for each in module.calculate_qparams()]


@pytest.mark.parametrize("name", NAMES)
def test_states_are_exchanged(name: str) -> None:
    x = np.random.default_rng(0).standard_normal((4, 6)).astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs, back = (getattr(torch.ao.quantization, name)() for _ in range(2))
        theirs(torch.from_numpy(x))
    ours = getattr(q, name)()
    ours.load_state_dict(moved(theirs.state_dict(), pyqref))
    assert parameters(theirs) == parameters(ours)
    back.load_state_dict(moved(ours.state_dict(), torch))
    assert parameters(ours) == parameters(back)
