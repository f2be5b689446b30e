"""Means, deviations and joined tensors: large ones part by part, with the bits that NumPy gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from kernels.compare import assert_same_bits

import pyqref
from pyqref._kernels.layout import PART
from pyqref._kernels.reductions import in_halves, reduced_by_parts
from pyqref.tape.reduction import Std
from pyqref.tensor.quantized import make_per_tensor

SHAPES = [(70_000,), (30_000, 3), (3, 40_000), (13_000, 2, 3), (2, 20, 37, 51), (40, 1, 50, 40)]
STORED: dict[Any, Any] = {
    np.uint8: pyqref.quint8,
    np.int8: pyqref.qint8,
    np.int32: pyqref.qint32,
}


def orders(shape: tuple[int, ...], storage: type) -> Iterator[np.ndarray]:
    """Yield arrays in C order, with channels last, turned, with gaps."""
    rng = np.random.default_rng(0)
    q = rng.integers(0, 120, shape).astype(storage)
    yield q
    yield np.moveaxis(np.ascontiguousarray(np.moveaxis(q, 0, -1)), -1, 0)
    if q.ndim > 3:
        yield np.moveaxis(np.ascontiguousarray(np.moveaxis(q, 1, -1)), -1, 1)
    yield rng.integers(0, 120, (*shape[:-1], 2 * shape[-1])).astype(storage)[..., ::2]


def at_once(operation: Any, x: Any, axes: tuple[int, ...], keepdim: bool) -> np.ndarray:
    """Compute in float and quantize again, as small tensors do."""
    node = operation()
    node.needs = (False,)
    quantizer = x._quantizer
    with np.errstate(invalid="ignore"):
        real = node.forward(quantizer.dequantize(x._array), axes, keepdim)
    return quantizer.quantize(np.asarray(real))


def mean_at_once(x: Any, axes: tuple[int, ...], keepdim: bool) -> np.ndarray:
    """The sums of NumPy, divided."""
    sums = x._quantizer.dequantize(x._array).sum(axis=axes, keepdims=keepdim)
    return x._quantizer.quantize(np.asarray(sums / np.float32(x._array.size // max(sums.size, 1))))


@pytest.mark.parametrize("storage", [np.uint8, np.int32])
@pytest.mark.parametrize("shape", SHAPES)
def test_moments_of_large_tensors(shape: tuple[int, ...], storage: type) -> None:
    for q in orders(shape, storage):
        x = make_per_tensor(q, 0.0537, 3, STORED[storage])
        for count in range(1, q.ndim + 1):
            for axes in combinations(range(q.ndim), count):
                keepdim = (sum(axes) + count) % 2 == 0
                deviation = pyqref.std(x, axes, keepdim=keepdim)
                assert_same_bits(at_once(Std, x, axes, keepdim), deviation._array)
                if storage is np.int32 or axes[-1] < q.ndim - 1:
                    mean = pyqref.mean(x, axes, keepdim)
                    assert_same_bits(mean_at_once(x, axes, keepdim), mean._array)


def test_results_have_their_channels_last_where_the_tensor_has() -> None:
    x = make_per_tensor(next(orders((2, 64, 37, 41), np.uint8)), 0.1, 3, pyqref.quint8)
    last = x.contiguous(memory_format=pyqref.channels_last)
    for function in (pyqref.mean, pyqref.std):
        mean = function(last, (0,), keepdim=True)
        assert mean.is_contiguous(memory_format=pyqref.channels_last)
        assert function(last, 0).is_contiguous()


@pytest.mark.parametrize("size", [PART, PART + 1, 5 * PART + 77])
def test_halves_are_added_up_as_numpy_does(size: int) -> None:
    """The same bits from pieces of every size, and from NumPy 2.3 on at once."""
    x = np.random.default_rng(1).standard_normal(size, np.float32)
    halves = {
        in_halves(lambda first, stop: x[first:stop].sum(), 0, size, most)
        for most in (128, 200, 2048, 8192)
    }
    at_once = {x.sum()} if np.lib.NumpyVersion(np.__version__) >= "2.3.0" else halves
    assert halves == at_once
    assert len(halves) == 1


def test_sums_of_integers() -> None:
    """The mean of all, of a view that no kernel can walk through: exact sums."""
    q = np.random.default_rng(2).integers(0, 255, (50, 60, 70), np.uint8).transpose(2, 0, 1)
    for axes in ((0,), (1, 2), (0, 1, 2)):
        expected = q.sum(axis=axes, dtype=np.int64) // 300

        def run(total: Callable[..., Any]) -> Any:
            return total(lambda part: part.astype(np.int64)) // 300

        actual = reduced_by_parts(run, q, axes, False)
        assert_same_bits(expected.astype(np.uint8), np.asarray(actual))


@pytest.mark.parametrize("storage", STORED)
@pytest.mark.parametrize("shape", [(2, 3, 5, 7), (2, 30, 90, 50)])
@pytest.mark.filterwarnings("ignore:(cat|stack) puts tensor")
def test_tensors_on_different_grids_are_joined(
    kernel: str, shape: tuple[int, ...], storage: type
) -> None:
    dtype = STORED[storage]
    for first in orders(shape, storage):
        for second in orders(shape, storage):
            x, z = (make_per_tensor(each, 0.05, 3, dtype) for each in (first, second))
            y = make_per_tensor(second, 0.07, 9, dtype)
            arrays = [x._array, x._quantizer.quantize(y._quantizer.dequantize(second)), z._array]
            for axis in range(len(shape)):
                joined = pyqref.cat([x, y, z], axis)._array
                assert_same_bits(np.concatenate(arrays, axis), joined)
                assert_same_bits(np.stack(arrays, axis), pyqref.stack([x, y, z], axis)._array)
