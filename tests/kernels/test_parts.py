"""Large arrays that are computed part by part give what they give at once."""

from __future__ import annotations

import numpy as np
import pytest
from kernels.compare import assert_same_bits
from kernels.layers import integers

from pyqref import _kernels
from pyqref._kernels.parts import by_parts, parts
from pyqref.numerics import elementwise as reference
from pyqref.numerics.elementwise import Grid

#: Which of ``orders`` meet.
PAIRS = [(0, 0), (0, 1), (1, 0), (1, 1), (1, 3), (2, 1), (3, 2)]
GRIDS = Grid(0.1, 3), Grid(0.07, 120), Grid(0.2, 9)


def orders(rng: np.random.Generator, *shape: int) -> list[np.ndarray]:
    """Images with their channels first, last, in a view with gaps, and spread from one pixel."""
    batch, channels, height, width = shape
    return [
        integers(rng, shape, np.uint8),
        integers(rng, (batch, height, width, channels), np.uint8).transpose(0, 3, 1, 2),
        integers(rng, (batch, channels, height + 1, 2 * width), np.uint8)[:, :, 1:, ::2],
        np.broadcast_to(integers(rng, (batch, channels, 1, 1), np.uint8), shape),
    ]


@pytest.mark.parametrize("whole", [(), (0,), (1,), (0, 2)])
@pytest.mark.parametrize("most", [1, 7, 24, 1000])
def test_parts_cover_everything_once(whole: tuple[int, ...], most: int) -> None:
    for x in (np.zeros((2, 3, 5)), np.zeros((5, 2, 3)).transpose(1, 2, 0), np.zeros((2, 0, 5))):
        for at in parts(x, whole, most):
            x[at] += 1
            assert x[at].size <= most or all(
                x[at].shape[axis] == 1 for axis in range(3) if axis not in whole
            )
        assert (x == 1).all()


def test_what_depends_on_a_whole_axis() -> None:
    x = np.random.default_rng(0).integers(-9, 10, (3, 40, 8))
    run = by_parts(lambda a, b: a - a.sum(axis=1, keepdims=True) * b, x, x[0], whole=(1,), most=50)
    assert_same_bits(x - x.sum(axis=1, keepdims=True) * x[0], run)


@pytest.mark.parametrize("engine", ["fbgemm", "qnnpack"])
def test_sums_and_products_of_arrays_that_do_not_lie_alike(kernel: str, engine: str) -> None:
    arrays = orders(np.random.default_rng(1), 2, 30, 70, 71)
    for a, b in PAIRS:
        each = (arrays[a], GRIDS[0], arrays[b], GRIDS[1], GRIDS[2])
        assert_same_bits(reference.add(*each, engine), _kernels.add(*each, engine))
        assert_same_bits(reference.mul(*each), _kernels.mul(*each))


@pytest.mark.parametrize("axis", [0, 1, 3])
@pytest.mark.parametrize("grids", [GRIDS[:2], (GRIDS[2], GRIDS[0]), (GRIDS[2], GRIDS[2])])
def test_joining_large_arrays(kernel: str, axis: int, grids: tuple[Grid, Grid]) -> None:
    arrays = orders(np.random.default_rng(2), 2, 30, 70, 71)
    for a, b in PAIRS:
        both = arrays[a], arrays[b]
        expected = reference.cat(both, grids, axis, GRIDS[2])
        assert_same_bits(expected, _kernels.cat(both, grids, axis, GRIDS[2]))
