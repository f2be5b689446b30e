"""Buffers of observers and fake quantizers are changed in place, as in torch.

Whoever holds ``observer.min_val``, a view of it, or a state taken earlier sees what the
observer has seen since.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from quantization.samples import normal

import pyqref
from pyqref import quantization as q
from pyqref.quantization._learnable_fake_quantize import _LearnableFakeQuantize

CHANNELS: dict[str, Any] = {
    "observer": q.MovingAveragePerChannelMinMaxObserver,
    "quant_min": -128,
    "quant_max": 127,
    "dtype": pyqref.qint8,
    "qscheme": pyqref.per_channel_symmetric,
}
MAKERS: dict[str, Callable[[], Any]] = {
    "MinMax": q.MinMaxObserver,
    "MovingAverage": q.MovingAverageMinMaxObserver,
    "PerChannel": q.PerChannelMinMaxObserver,
    "MovingAveragePerChannel": q.MovingAveragePerChannelMinMaxObserver,
    "Histogram": partial(q.HistogramObserver, bins=16),
    "FakeQuantize": q.FakeQuantize,
    "FakeQuantize per channel": partial(q.FakeQuantize, **CHANNELS),
    "FakeQuantize, histogram": partial(
        q.FakeQuantize, observer=q.HistogramObserver, quant_min=0, quant_max=255, bins=16
    ),
    "Fused": q.FusedMovingAvgObsFakeQuantize,
    "Fused per channel": partial(q.FusedMovingAvgObsFakeQuantize, **CHANNELS),
    "Learnable": partial(_LearnableFakeQuantize, q.MovingAverageMinMaxObserver),
    "Learnable per channel": partial(_LearnableFakeQuantize, channel_len=3, **CHANNELS),
}


def kept(made: Any) -> dict[str, Any]:
    return {**dict(made.named_parameters()), **dict(made.named_buffers())}


@pytest.mark.parametrize("name", MAKERS)
def test_an_alias_stays_true(name: str) -> None:
    """The tensor itself from the beginning, its memory once it has the number of channels."""
    made = MAKERS[name]()
    objects = kept(made)
    for seed in range(3):
        made(normal(3, 4, seed=seed) * (1 + seed))
        assert all(objects[key] is each for key, each in kept(made).items())
    views = {key: each.detach().reshape(-1) for key, each in kept(made).items()}
    state = made.state_dict()
    other = MAKERS[name]()
    other(normal(3, 4, seed=9) * 20)
    changes: list[Callable[[], Any]] = [
        lambda: made(normal(3, 4, seed=5) * 9),
        lambda: made.load_state_dict(other.state_dict()),
        lambda: made(normal(3, 4, seed=6) * 30),
    ]
    for change in changes:
        before = {key: each.clone() for key, each in state.items()}
        change()
        assert any(not pyqref.equal(before[key], state[key]) for key in before)
        for key, each in kept(made).items():
            assert pyqref.equal(each.reshape(-1), views[key]), key
            assert pyqref.equal(each, state[key]), key


@pytest.mark.parametrize("name", ["MinMax", "MovingAverage", "Histogram"])
def test_an_alias_sees_what_is_forgotten(name: str) -> None:
    """reset_min_max_vals changes the tensors; channels are counted anew, as in torch."""
    made = MAKERS[name]()
    made(normal(3, 4))
    low = made.min_val
    made.reset_min_max_vals()
    assert low is made.min_val
    assert np.inf == low.item()


def test_a_gradient_through_a_buffer_that_changed_is_refused() -> None:
    """Changes in place are counted, so that no gradient is worked out of later values."""
    observer = q.MinMaxObserver()
    observer(normal(3))
    x = normal(3).requires_grad_()
    y = x * observer.max_val
    observer(normal(3) * 100)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_a_buffer_that_cannot_be_written_is_replaced() -> None:
    """Numbers that NumPy protects, as memory of a file is, stay as they are."""
    observer, protected = q.MinMaxObserver(), np.array([1.0], np.float32)
    protected.flags.writeable = False
    observer.max_val._array = protected
    observer(pyqref.tensor([3.0]))
    assert (1.0, 3.0) == (protected[0], observer.max_val.item())


def test_one_channel_after_none() -> None:
    """The first weight has one channel: an empty range is resized, not filled."""
    for made in (q.PerChannelMinMaxObserver(), q.FakeQuantize(**CHANNELS)):
        alias = getattr(made, "activation_post_process", made).min_val
        made(pyqref.tensor([[-2.0, 1.0]]))
        assert [-2.0] == alias.tolist()
