"""The first few in order are those of a stable sort, of every type."""

from __future__ import annotations

import numpy as np
import pytest

from pyqref.tape.selection import first_places, sorted_places

RNG = np.random.default_rng(3)
TYPES = [np.float32, np.float64, np.float16, np.int8, np.uint8, np.int64, np.bool_]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize(
    ("length", "count"),
    [*((101, count) for count in (0, 1, 5, 16, 17, 25, 90)), (4099, 20), (4099, 64), (4099, 65)],
)
def test_first_places(dtype: type, axis: int, length: int, count: int) -> None:
    """Places are right with many equal numbers, both ends of the type, and nan."""
    shape = [3, 2, 5]
    shape[axis] = length
    x = RNG.integers(0, 40, shape).astype(dtype)
    extreme = RNG.standard_normal(shape).astype(dtype)
    cases = [x, extreme, np.zeros_like(x), x[..., ::2] if axis != 2 else x[::2]]
    if x.dtype.kind == "f":
        for value in (np.inf, -np.inf, np.nan, -0.0):
            cases.append(np.where(RNG.random(shape) < 0.3, dtype(value), extreme))
    elif x.dtype.kind in "iu":
        ends = np.iinfo(dtype)
        cases += [np.where(RNG.random(shape) < 0.9, dtype(end), x) for end in (ends.min, ends.max)]
    for each in cases:
        for descending in (False, True):
            before = each.copy()
            expected = np.moveaxis(sorted_places(each, axis, descending), axis, 0)[:count]
            actual = first_places(each, axis, descending, count)
            assert np.array_equal(np.moveaxis(expected, 0, axis), actual)
            assert np.array_equal(before, each, equal_nan=each.dtype.kind == "f")
