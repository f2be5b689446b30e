"""A function with a gradient of its own is recorded as the operations of its ``forward``."""

from __future__ import annotations

import pyqref
from pyqref import nn


class Rounded(pyqref.autograd.Function):
    """Rounds, with the gradient of a clamp: what quantization-aware training is taught with."""

    @staticmethod
    def forward(ctx, x, steps):
        ctx.save_for_backward(x)
        ctx.steps = steps
        return pyqref.round(x * steps) / steps

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * (x.abs() < 1), None


class Model(nn.Module):
    """A layer whose output is rounded."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        return Rounded.apply(self.layer(x), 8)


def test_a_function_is_traced():
    """Nothing but its operations is in the graph, and both compute the same."""
    model = Model()
    traced = pyqref.fx.symbolic_trace(model)
    targets = [node.name for node in traced.graph.nodes]
    assert ["x", "layer", "mul", "round_1", "truediv", "output"] == targets
    x = pyqref.randn(2, 3)
    assert pyqref.equal(model(x), traced(x))
