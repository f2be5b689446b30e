"""Windows as columns."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import pyqref
from pyqref.tape.windows import Windows, fold, unfold

CASES = [
    ((5,), Windows((3,), (1,), (1,), ((1, 1),))),
    ((5, 6), Windows((1, 1), (1, 1), (1, 1), ((0, 0), (0, 0)))),
    ((5, 6), Windows((3, 2), (2, 1), (1, 2), ((1, 1), (0, 0)))),
    ((4, 5, 6), Windows((2, 3, 1), (1, 2, 3), (2, 1, 1), ((0, 1), (2, 1), (0, 0)))),
]


@pytest.mark.parametrize(("size", "windows"), CASES)
def test_columns_are_windows_and_fold_is_the_adjoint(
    size: tuple[int, ...], windows: Windows
) -> None:
    """Each column holds what its window meets; ``<unfold(x), y> = <x, fold(y)>``, in integers."""
    rng = np.random.default_rng(0)
    x = rng.integers(-9, 9, (2, 3, *size)).astype(np.float64)
    padded = np.pad(x, ((0, 0), (0, 0), *windows.padding))
    columns, count = unfold(x, windows), windows.output_size(size)
    for at in np.ndindex(count):
        window = tuple(
            slice(i * s, i * s + d * (k - 1) + 1, d)
            for i, k, s, d in zip(at, windows.kernel, windows.stride, windows.dilation, strict=True)
        )
        expected = padded[(slice(None), slice(None), *window)]
        assert np.array_equal(expected, np.moveaxis(columns[(..., *at)], -1, 0))
    y = rng.integers(-9, 9, columns.shape).astype(np.float64)
    assert (columns * y).sum() == (x * fold(y, windows, size)).sum()


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
        columns = unfold(_counted(length), every)
        assert not np.delete(columns, np.r_[taps], axis=1).any()
        assert windows.kernel == columns[:, taps].shape[1:2]
        assert np.array_equal(columns[:, taps], unfold(_counted(length), windows))


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
