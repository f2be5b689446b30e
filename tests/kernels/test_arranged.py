"""Elements in another order: what the kernel in use gives is what NumPy gives."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from kernels.compare import assert_same_bits

from pyqref._kernels.layout import copied, reshaped

#: Around the blocks of 8 rows and columns that are exchanged, and those of 16 rows.
SHAPES = [(9, 40, 12), (40, 3, 17), (7, 3, 90), (16, 16, 16), (2, 700, 2), (1, 2500, 1)]


def views(x: np.ndarray) -> list[np.ndarray]:
    """The axes in every order; backwards, with gaps, and with elements that are there twice."""
    moved = [x.transpose(order) for order in permutations(range(x.ndim))]
    turned = [each for view in moved for each in (view[..., ::-1], view[::2], view[:, ::-2])]
    return [*moved, *turned, np.broadcast_to(x[..., :1, None], (*x.shape[:-1], 9, 5))]


@pytest.mark.parametrize("dtype", [np.bool_, np.int16, np.float32, np.int64, np.complex128])
def test_any_order(kernel: str, dtype: Any, n_threads: int) -> None:
    """``copied`` in C order, and in the order in which the elements lie."""
    rng = np.random.default_rng(0)
    for shape in SHAPES:
        for view in views(rng.integers(0, 99, shape).astype(dtype)):
            for order in ("C", "K"):
                copy, expected = copied(view, order), np.array(view, order=order)  # type: ignore[call-overload]
                assert_same_bits(expected, copy)
                assert copy.size == 0 or expected.strides == copy.strides or 1 in copy.shape


def test_many_axes(kernel: str, n_threads: int) -> None:
    x = np.arange(1 << 13).reshape((2,) * 13)
    assert_same_bits(np.ascontiguousarray(x.T), copied(x.T, "C"))


def test_another_shape(kernel: str) -> None:
    """A view where there is one, else a copy."""
    x = np.zeros((20, 30, 40), np.float32).transpose(1, 0, 2)
    assert np.shares_memory(x, reshaped(x, (30, 20, 8, 5)))
    assert (600, 40) == reshaped(x, (-1, 40)).shape
