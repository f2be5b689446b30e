"""Windows as columns and as rows."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import pyqref
from pyqref.numerics.windows import fold_rows, unfold_rows
from pyqref.tape.windows import Windows, fold, unfold

CASES = [
    ((5,), Windows((3,), (1,), (1,), ((1, 1),))),
    ((5, 6), Windows((1, 1), (1, 1), (1, 1), ((0, 0), (0, 0)))),
    ((5, 6), Windows((3, 2), (2, 1), (1, 2), ((1, 1), (0, 0)))),
    ((4, 5, 6), Windows((2, 3, 1), (1, 2, 3), (2, 1, 1), ((0, 1), (2, 1), (0, 0)))),
]


@pytest.mark.parametrize(("size", "windows"), CASES)
def test_rows_are_columns_transposed(size: tuple[int, ...], windows: Windows) -> None:
    """Both ways of laying windows out hold the same elements, and fold back to the same sums."""
    x = np.random.default_rng(0).integers(-9, 9, (2, 3, *size)).astype(np.float32)
    columns, rows = unfold(x, windows), unfold_rows(x, windows)
    spatial = len(size)
    # (C, *kernel, N, *out) and (N, *out, *kernel, C)
    order = (*range(1 + spatial, 2 + 2 * spatial), *range(1, 1 + spatial), 0)
    assert np.array_equal(columns.transpose(order), rows)
    expected = fold(columns, windows, size)
    assert np.array_equal(expected, fold_rows(rows, windows, size))


@pytest.mark.parametrize("kernel", [1, 2, 3, 4])
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("dilation", [1, 2, 3])
def test_taps_that_are_left_out_meet_padding_only(kernel: int, stride: int, dilation: int) -> None:
    """The others meet what they met, in as many windows."""
    for before, after, length in itertools.product(range(4), range(4), range(1, 5)):
        every = Windows((kernel,), (stride,), (dilation,), ((before, after),))
        if every.output_size((length,))[0] < 1:
            continue
        windows, (taps,) = every.within((length,))
        rows = unfold_rows(_counted(length), every)
        rest = np.delete(rows, np.r_[taps], axis=2)
        assert not rest.any()
        assert windows.kernel == rows[:, :, taps].shape[2:3]
        assert np.array_equal(rows[:, :, taps], unfold_rows(_counted(length), windows))


def _counted(length: int) -> np.ndarray:
    return np.arange(1, length + 1, dtype=np.float32).reshape(1, 1, length)


@pytest.mark.parametrize("groups", [1, 2, 12])
@pytest.mark.parametrize("size", [(1, 1), (2, 1), (2, 3)])
def test_convolutions_of_images_smaller_than_the_kernel(groups: int, size: tuple[int, ...]) -> None:
    """Small integers, so that sums are exact: as of the image with its padding."""
    rng = np.random.default_rng(1)
    x = rng.integers(-4, 5, (3, 12, *size)).astype(np.float32)
    weight = rng.integers(-4, 5, (12, 12 // groups, 5, 3)).astype(np.float32)
    results = []
    for image, padding in ((x, (2, 1)), (np.pad(x, [(0, 0), (0, 0), (2, 2), (1, 1)]), (0, 0))):
        inputs = [pyqref.from_numpy(each.copy()).requires_grad_() for each in (image, weight)]
        y = pyqref.nn.functional.conv2d(*inputs, padding=padding, groups=groups)
        (y * y).sum().backward()
        grad_x = inputs[0].grad.numpy()
        inside = grad_x if not padding[0] else np.pad(grad_x, [(0, 0), (0, 0), (2, 2), (1, 1)])
        results.append([y.detach().numpy(), inside[:, :, 2:-2, 1:-1], inputs[1].grad.numpy()])
    for expected, actual in zip(*results, strict=True):
        np.testing.assert_array_equal(expected, actual)
