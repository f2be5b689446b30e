"""Images read by a grid of coordinates."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref.nn import functional as F

CASES = [
    (axes, mode, padding, align)
    for axes, mode, padding, align in itertools.product(
        (2, 3),
        ("bilinear", "nearest", "bicubic"),
        ("zeros", "border", "reflection"),
        (False, True),
    )
    if axes == 2 or mode != "bicubic"
]
# Sums of at most 16 products of numbers below 4, and their derivatives, in double.
ROUNDING = 256 * 2.0**-52


def run(library: Any, axes: int, *options: Any) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    sizes, places = ((4, 5, 3)[:axes], (3, 4, 2)[:axes])
    x = library.from_numpy(rng.standard_normal((2, 3, *sizes))).requires_grad_()
    grid = library.from_numpy(rng.uniform(-1.6, 1.6, (2, *places, axes))).requires_grad_()
    found = library.nn.functional.grid_sample(x, grid, *options)
    found.square().sum().backward()
    of_grid = np.zeros(1) if grid.grad is None else grid.grad.numpy()
    return [found.detach().numpy(), x.grad.numpy(), of_grid]


@pytest.mark.parametrize(("axes", "mode", "padding", "align"), CASES)
def test_as_torch(axes: int, mode: str, padding: str, align: bool) -> None:
    """Values and both gradients."""
    torch = pytest.importorskip("torch")
    options = (axes, mode, padding, align)
    for expected, actual in zip(run(torch, *options), run(pyqref, *options), strict=True):
        assert np.abs(expected - actual).max() <= ROUNDING * max(1, np.abs(expected).max())


@pytest.mark.parametrize(("axes", "mode", "padding", "align"), CASES)
def test_centres_of_pixels(axes: int, mode: str, padding: str, align: bool) -> None:
    """The grid of the identity reads every pixel itself."""
    x = pyqref.arange(2.0 * 3 * 4**axes).reshape(2, 3, *[4] * axes)
    theta = pyqref.eye(axes, axes + 1).expand(2, -1, -1)
    grid = F.affine_grid(theta, x.shape, align)
    found = F.grid_sample(x, grid, mode, padding, align)
    # Places are off by some units of float32, values change by up to 16 a pixel.
    assert (x - found).abs().max() <= 16 * 16 * 2.0**-22


def test_outside() -> None:
    """One pixel beyond the end: nothing, the last one, the last one again."""
    x, beyond = pyqref.tensor([[[[1.0, 2.0, 4.0, 8.0]]]]), pyqref.tensor([[[[1.25, 0.0]]]])
    found = [
        F.grid_sample(x, beyond, "nearest", p).item() for p in ("zeros", "border", "reflection")
    ]
    assert [0.0, 8.0, 8.0] == found
    thrice = pyqref.tensor([[[[1.75, 0.0]]]])
    assert 4.0 == F.grid_sample(x, thrice, "nearest", "reflection").item()


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("size", [(2, 3, 4, 5), (2, 1, 3, 1, 2)])
def test_affine_grid_as_torch(size: tuple[int, ...], align: bool) -> None:
    """The coordinates of torch; of one pixel the middle."""
    torch = pytest.importorskip("torch")
    axes = len(size) - 2
    theta = np.random.default_rng(0).standard_normal((2, axes, axes + 1))
    if align and 1 in size[2:]:
        pytest.skip("torch warns")
    expected = torch.nn.functional.affine_grid(torch.from_numpy(theta), size, align).numpy()
    actual = F.affine_grid(pyqref.from_numpy(theta), size, align).numpy()
    assert np.abs(expected - actual).max() <= 16 * 2.0**-52


def test_what_is_refused() -> None:
    """Words and shapes that do not fit."""
    x, grid = pyqref.ones(1, 1, 2, 2), pyqref.zeros(1, 2, 2, 2)
    with pytest.raises(ValueError, match="mode must be one of bilinear, nearest, bicubic"):
        F.grid_sample(x, grid, "area")
    with pytest.raises(ValueError, match="padding_mode must be one of zeros, border"):
        F.grid_sample(x, grid, padding_mode="wrap")
    with pytest.raises(RuntimeError, match=r"expected images .* got \[1, 1, 2, 2\] and"):
        F.grid_sample(x, grid[..., :1])
    with pytest.raises(RuntimeError, match="use 'bilinear'"):
        F.grid_sample(x.unsqueeze(2), pyqref.zeros(1, 1, 1, 1, 3), "bicubic")
    with pytest.raises(RuntimeError, match=r"theta of shape \[1, 2, 3\]"):
        F.affine_grid(pyqref.ones(1, 2, 2), (1, 1, 2, 2))
    with pytest.raises(RuntimeError, match="4 or 5 positive lengths"):
        F.affine_grid(pyqref.ones(1, 2, 3), (1, 2, 2))
