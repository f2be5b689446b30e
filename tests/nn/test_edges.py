"""Layers where shapes are extreme: windows of one element, empty batches, borders that crop."""

from __future__ import annotations

from typing import Any

import pytest

import pyqref
from pyqref import nn
from pyqref.nn import functional as F


def test_pointwise_transposed_convolution_with_padding() -> None:
    """Stride 2 and padding 2 can give back the length of the input; the places still differ.

    Element ``i`` of the input goes to place ``2 i - 2``.
    """
    x = pyqref.tensor([[[1.0, 2.0, 3.0, 4.0]]])
    y = F.conv_transpose1d(x, pyqref.ones(1, 1, 1), stride=2, padding=2, output_padding=1)
    assert [[[2.0, 0.0, 3.0, 0.0]]] == y.tolist()
    odd = F.conv_transpose1d(x[..., :3], pyqref.ones(1, 1, 1), stride=2, padding=1)
    assert [[[0.0, 2.0, 0.0]]] == odd.tolist()


def test_gradient_of_a_pointwise_convolution_with_padding() -> None:
    """Output ``i`` reads place ``2 i - 2``: its gradient goes there and nowhere else."""
    x = pyqref.zeros(1, 1, 4, requires_grad=True)
    y = F.conv1d(x, pyqref.ones(1, 1, 1), stride=2, padding=2)
    assert (1, 1, 4) == y.shape
    y.backward(pyqref.tensor([[[1.0, 2.0, 3.0, 4.0]]]))
    assert [[[2.0, 0.0, 3.0, 0.0]]] == x.grad.tolist()


EMPTY: dict[str, tuple[Any, tuple[int, ...]]] = {
    "group_norm": (nn.GroupNorm(2, 4), (0, 4, 3, 3)),
    "instance_norm": (nn.InstanceNorm2d(4), (0, 4, 3, 3)),
    "adaptive_max_pool1d": (nn.AdaptiveMaxPool1d(2), (0, 4, 5)),
    "adaptive_max_pool2d": (nn.AdaptiveMaxPool2d(2), (0, 4, 5, 3)),
    "adaptive_avg_pool3d": (nn.AdaptiveAvgPool3d(2), (0, 4, 5, 3, 3)),
    "batch_norm": (nn.BatchNorm2d(4), (0, 4, 3, 3)),
}


@pytest.mark.parametrize("size", [0, (0, 2), (2, 0)])
def test_no_windows(size: Any) -> None:
    """No windows are asked for and none come out; no element has a gradient."""
    for layer in (nn.AdaptiveMaxPool2d(size), nn.AdaptiveAvgPool2d(size)):
        x = pyqref.ones(1, 3, 4, 5, requires_grad=True)
        y = layer(x)
        assert (1, 3, *((size,) * 2 if size == 0 else size)) == tuple(y.shape)
        y.sum().backward()
        assert [0.0] == x.grad.unique().tolist()


@pytest.mark.parametrize("name", EMPTY)
def test_empty_batch(name: str) -> None:
    """An empty batch gives an empty result and an empty gradient."""
    layer, shape = EMPTY[name]
    x = pyqref.zeros(shape, requires_grad=True)
    y = layer(x)
    assert 0 == y.shape[0]
    y.sum().backward()
    assert shape == x.grad.shape


@pytest.mark.parametrize(
    "layer", [nn.BatchNorm2d(3), nn.InstanceNorm2d(3, track_running_stats=True)]
)
def test_an_empty_batch_leaves_the_running_statistics_alone(layer: Any) -> None:
    """The moments of no elements are no numbers, and stay out."""
    layer(pyqref.zeros(0, 3, 2, 2))
    assert [0.0, 0.0, 0.0] == layer.running_mean.tolist()
    assert [1.0, 1.0, 1.0] == layer.running_var.tolist()


CROPPED = [
    ("reflect", (2, -1), [2.0, 1.0, 0.0, 1.0, 2.0]),
    ("reflect", (-1, 2), [1.0, 2.0, 3.0, 2.0, 1.0]),
    ("replicate", (-1, 2), [1.0, 2.0, 3.0, 3.0, 3.0]),
    ("replicate", (-1, -1), [1.0, 2.0]),
    ("circular", (-1, 1), [1.0, 2.0, 3.0, 1.0]),
    ("circular", (2, -1), [1.0, 2.0, 0.0, 1.0, 2.0]),
]


@pytest.mark.parametrize(("mode", "pad", "expected"), CROPPED)
def test_negative_padding_crops(mode: str, pad: tuple[int, int], expected: list[float]) -> None:
    """Circular borders wrap what is left; the others look at the whole axis (torch 2.13)."""
    x = pyqref.arange(4.0)[None].requires_grad_()
    y = F.pad(x, pad, mode=mode)
    assert [expected] == y.tolist()
    y.sum().backward()
    assert [[float(expected.count(i)) for i in range(4)]] == x.grad.tolist()


@pytest.mark.parametrize("label_smoothing", [0.0, 0.1])
def test_a_batch_of_ignored_targets_has_no_gradient(label_smoothing: float) -> None:
    """The mean over no place is nan, but no parameter may become nan by it."""
    x = pyqref.randn(2, 3, requires_grad=True)
    loss = F.cross_entropy(x, pyqref.tensor([-100, -100]), label_smoothing=label_smoothing)
    loss.backward()
    assert loss.isnan().item()
    assert [[0.0] * 3] * 2 == x.grad.tolist()


def test_an_impossible_class_that_is_ignored_costs_nothing() -> None:
    """A probability of 0 at an ignored place leaves the loss finite."""
    log_p = pyqref.tensor([[-float("inf"), 0.0], [-1.0, -2.0]])
    assert [0.0, 2.0] == F.nll_loss(log_p, pyqref.tensor([-100, 1]), reduction="none").tolist()
