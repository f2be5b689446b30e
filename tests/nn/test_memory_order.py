"""Images with their channels last in memory keep them there, whatever kernel runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref import kernels
from pyqref.nn import functional as F

SCALES = pyqref.linspace(0.5, 2.0, 8)
OPERATIONS: dict[str, Callable[[Any], Any]] = {
    "channel_shuffle": lambda x: F.channel_shuffle(x, 4),
    "roll": lambda x: pyqref.roll(x, (1, -2), (1, 3)),
    "flip": lambda x: pyqref.flip(x, 3),
    "clone": pyqref.clone,
    "group_norm": lambda x: F.group_norm(x, 2, SCALES, SCALES),
    "batch_norm": lambda x: F.batch_norm(x, SCALES, SCALES),
    "max_pool2d": lambda x: F.max_pool2d(x, 3, 2, 1),
    "avg_pool2d": lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
    "adaptive_avg_pool2d": lambda x: F.adaptive_avg_pool2d(x, (5, 3)),
    "mean": lambda x: x.mean((2, 3), keepdim=True),
    "nearest": lambda x: F.interpolate(x, scale_factor=2.0),
    "bilinear": lambda x: F.interpolate(x, size=(13, 21), mode="bilinear"),
    **{
        f"pad {mode}": lambda x, mode=mode: F.pad(x, (1, 2, 0, 1), mode=mode)
        for mode in ("constant", "reflect", "replicate", "circular")
    },
}


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("kernel", kernels.usable())
def test_channels_stay_last(name: str, kernel: str) -> None:
    """The order is torch's (but for circular padding), the numbers are those of C order."""
    array = np.random.default_rng(0).standard_normal((3, 8, 20, 9), np.float32)
    x = pyqref.from_numpy(array)
    with kernels.use(kernel):
        expected = OPERATIONS[name](x)
        y = OPERATIONS[name](x.contiguous(memory_format=pyqref.channels_last))
    assert expected.tolist() == y.tolist()
    assert y.is_contiguous(memory_format=pyqref.channels_last)
    assert expected.is_contiguous()


@pytest.mark.parametrize("name", ["max_pool2d", "avg_pool2d", "adaptive_avg_pool2d", "bilinear"])
@pytest.mark.parametrize("order", [pyqref.contiguous_format, pyqref.channels_last])
def test_doubles_keep_their_order(name: str, order: Any) -> None:
    """What no kernel takes lies as torch's results do, too."""
    x = pyqref.zeros(3, 8, 20, 9, dtype=pyqref.float64).contiguous(memory_format=order)
    assert OPERATIONS[name](x).is_contiguous(memory_format=order)
    largest, places = F.adaptive_max_pool2d(x, (3, 2), return_indices=True)
    assert largest.is_contiguous(memory_format=order)
    assert places.is_contiguous(memory_format=order)


GRADIENTS = ["batch_norm", "group_norm", "max_pool2d", "avg_pool2d", "mean", "nearest", "bilinear"]


@pytest.mark.parametrize("name", ["adaptive_avg_pool2d", *GRADIENTS])
def test_gradients_lie_as_the_leaf_does(name: str) -> None:
    """Whatever comes back, ``grad`` has the order of its tensor, and the numbers of C order."""
    array = np.random.default_rng(0).standard_normal((3, 8, 20, 9), np.float32)
    found = []
    for order in (pyqref.contiguous_format, pyqref.channels_last):
        x = pyqref.from_numpy(array).contiguous(memory_format=order).requires_grad_()
        y = OPERATIONS[name](x)
        y.backward(pyqref.arange(y.numel(), dtype=pyqref.float32).reshape(y.shape))
        found.append(x.grad.tolist())
        assert x.grad.is_contiguous(memory_format=order)
    assert found[0] == found[1]
