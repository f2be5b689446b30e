"""Following the messages about derivatives, shifts and simplified models works."""

from __future__ import annotations

from messages.following import says

import pyqref
from pyqref import nn
from pyqref.autograd.functional import jacobian, vjp
from pyqref.fx.experimental.optimization import fuse


def test_derivatives() -> None:
    """A vector of the shape of the output, and inputs that the output need not depend on."""
    x, constant = pyqref.tensor([1.0, 2.0]), pyqref.ones(2)
    with says("pass a tensor of the shape {}"):
        vjp(lambda x: x, x)
    assert [1.0, 1.0] == vjp(lambda x: x, x, pyqref.ones(2))[1].tolist()
    with says("leave strict out to count its derivative as 0"):
        jacobian(lambda x: constant, x, strict=True)
    assert [[0.0, 0.0], [0.0, 0.0]] == jacobian(lambda x: constant, x).tolist()


def test_shifts() -> None:
    """Integers in place of truth values."""
    x = pyqref.tensor([True, False])
    with says("convert them with x.int()"):
        x << x
    assert [2, 0] == (x.int() << x.int()).tolist()


def test_norms_in_weights() -> None:
    """Evaluation mode, and a model that is traced."""
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    with says(
        "fuse puts running statistics into weights, and model is in training mode; "
        "call model.eval() first"
    ):
        fuse(model)
    with says("leave no_trace out"):
        fuse(model.eval(), no_trace=True)
    assert ["0"] == [name for name, _ in fuse(model.eval()).named_children()]
