"""Matrix products of activations against rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from formulas.exact import clamp, f32, fma, inverse, rne, single

from pyqref.numerics.elementwise import Grid
from pyqref.numerics.matmul import quantized_matmul

RNG = np.random.default_rng(0)
SIGNED = (-128, 127, np.int8)
GRIDS = [
    (Grid(0.5, 3), Grid(0.25, 7), Grid(8.0, 5)),
    (Grid(0.037, 120), Grid(0.11, 9), Grid(1.3, 77)),
    (Grid(0.037, -12, *SIGNED), Grid(0.11, 9, *SIGNED), Grid(2.1, -77, *SIGNED)),
]


@pytest.mark.parametrize("grids", GRIDS)
def test_eq_quantized_matmul__batches(grids: tuple[Grid, ...]) -> None:
    """Two pairs of matrices; the first grids have many ties."""
    a_grid, b_grid, out = grids
    a = RNG.integers(a_grid.quant_min, a_grid.quant_max + 1, (2, 5, 7)).astype(a_grid.storage)
    b = RNG.integers(b_grid.quant_min, b_grid.quant_max + 1, (2, 7, 4)).astype(b_grid.storage)
    unit = f32(single(a_grid.scale) * single(b_grid.scale))
    expected = []
    for pair, m, n in np.ndindex(2, 5, 4):
        total = sum(
            (int(x) - a_grid.zero_point) * (int(y) - b_grid.zero_point)
            for x, y in zip(a[pair, m], b[pair, :, n], strict=True)
        )
        real = f32(f32(Fraction(total)) * unit)
        q = rne(fma(real, inverse(out.scale), Fraction(out.zero_point)))
        expected.append(clamp(q, out.quant_min, out.quant_max))
    assert expected == quantized_matmul(a, a_grid, b, b_grid, out).ravel().tolist()
