"""Reduced images are filtered first: the weighted mean that ``antialias`` states."""

from __future__ import annotations

import numpy as np
import pytest

import pyqref
from pyqref.nn import functional as F
from pyqref.nn.functional.antialias import weights

SIZES = [((8, 9), (4, 5)), ((7, 5), (3, 9)), ((4, 4), (4, 4)), ((10, 3), (1, 1)), ((5, 6), (13, 2))]


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize(("size", "target"), SIZES)
@pytest.mark.parametrize("align_corners", [False, True])
def test_against_torch(mode, size, target, align_corners):
    """Within the rounding of two float32 products of at most 24 terms."""
    torch = pytest.importorskip("torch")
    x = np.random.default_rng(0).random((2, 3, *size), dtype=np.float32)
    options = {"size": target, "mode": mode, "align_corners": align_corners, "antialias": True}
    expected = torch.nn.functional.interpolate(torch.from_numpy(x), **options).numpy()
    found = F.interpolate(pyqref.from_numpy(x), **options).numpy()
    bound = 48 * float(np.finfo(np.float32).eps) * 4  # sums of |weights| stay below 4
    assert np.abs(expected - found).max() <= bound


def test_weights_of_a_filter():
    """Halving: each output is the triangle's mean of the inputs around its centre."""
    middle = weights(8, 4, "bilinear")[1]
    assert [0, 1 / 8, 3 / 8, 3 / 8, 1 / 8, 0, 0, 0] == pytest.approx(middle)
    assert np.array_equal(np.eye(5), weights(5, 5, "bicubic"))


def test_a_pattern_does_not_alias():
    """Stripes one pixel wide become grey, where sampling alone would keep one of the two."""
    stripes = pyqref.tensor([[[[0.0, 1.0] * 8] * 16]])
    grey = F.interpolate(stripes, size=(4, 4), mode="bilinear", antialias=True)
    assert np.allclose(0.5, grey.numpy(), atol=0.04)


def test_gradients_flow():
    """The result is linear in the input: its gradient is the transposed weights."""
    x = pyqref.ones(1, 1, 6, 6, requires_grad=True)
    F.interpolate(x, size=(3, 3), mode="bilinear", antialias=True).sum().backward()
    column = weights(6, 3, "bilinear").sum(0)
    assert np.allclose(np.outer(column, column), x.grad[0, 0].numpy())


@pytest.mark.parametrize(
    ("x", "mode", "message"),
    [
        (pyqref.zeros(1, 1, 2), "linear", "antialias=True is for mode 'bilinear' or 'bicubic'"),
        (pyqref.zeros(1, 1, 2, 2), "nearest", "got mode='nearest' and 4-D; leave antialias out"),
        (pyqref.zeros(1, 1, 2, 2, dtype=pyqref.uint8), "bilinear", r"call input\.float\(\) first"),
    ],
)
def test_what_it_is_not_for(x, mode, message):
    """Said with what to do."""
    with pytest.raises(ValueError, match=message):
        F.interpolate(x, scale_factor=2, mode=mode, antialias=True)
