"""Pooling by every kernel, of bytes and of integers, against the equations in NumPy."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from kernels.compare import assert_same_bits
from kernels.layers import integers

from pyqref import _kernels
from pyqref._kernels.pooling import blocking, windows
from pyqref.numerics import pooling


class Case(NamedTuple):
    """An image and the windows that walk over it."""

    shape: tuple[int, ...]
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...] = (0, 0)
    dilation: tuple[int, ...] = (1, 1)
    ceil_mode: bool = False


#: Channels around the vectors of 4, 8 and 16 lanes.
CASES = [
    Case((2, 3, 7, 8), (3, 3), (2, 2), (1, 1)),
    Case((1, 1, 5, 5), (2, 2), (2, 2)),
    Case((2, 17, 6, 5), (3, 2), (1, 1), (1, 1)),
    Case((1, 16, 7, 7), (7, 7), (1, 1)),
    Case((1, 65, 9, 4), (2, 3), (3, 1), (1, 1), ceil_mode=True),
    Case((1, 4, 8, 8), (3, 3), (2, 2), (0, 0), ceil_mode=True),
    # Larger than the image, in which it begins.
    Case((1, 5, 3, 4), (4, 5), (2, 3), (0, 0), ceil_mode=True),
    Case((2, 5, 1, 1), (1, 1), (1, 1)),
    Case((3, 33, 12), (4,), (3,), (2,), (1,)),
    Case((0, 3, 6, 6), (2, 2), (2, 2)),
    Case((1, 2, 3, 4, 5), (2, 2, 2), (1, 1, 1), (0, 0, 0), (1, 1, 1)),
    Case((2, 66, 5, 4, 6), (3, 2, 3), (2, 1, 2), (1, 1, 1), (1, 1, 1), ceil_mode=True),
    Case((1, 65, 7, 6, 5), (5, 5, 3), (2, 1, 1), (2, 2, 1), (1, 1, 1)),
]
DILATED = [
    Case((2, 17, 6, 7, 5), (3, 2, 2), (1, 2, 1), (1, 1, 1), (2, 3, 2)),
    Case((2, 7, 9, 8), (3, 2), (1, 2), (1, 1), (2, 3)),
    Case((1, 3, 2, 2), (2, 2), (1, 1), (1, 1), (3, 3)),
    Case((1, 3, 4, 30), (3, 3), (2, 1), (1, 1), (1, 5)),
]
STORAGES = [np.uint8, np.int8, np.int32]


def orders(x: np.ndarray) -> list[np.ndarray]:
    """Return the array contiguous, with its channels last in memory, and strided."""
    last = np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)
    return [x, last, np.repeat(x, 2, axis=0)[::2]]


@pytest.mark.parametrize("case", CASES + DILATED)
@pytest.mark.parametrize("storage", STORAGES)
def test_largest(kernel: str, case: Case, storage: Any, n_threads: int) -> None:
    """eq-quantized-max-pool; a window of padding alone gives the lowest integer."""
    x = integers(np.random.default_rng(1), case.shape, storage)
    expected = pooling.max_pool(x, *case[1:])
    for each in orders(x):
        assert_same_bits(expected, _kernels.max_pool(each, *case[1:]))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("count_include_pad", [False, True])
@pytest.mark.parametrize("divisor", [None, 3])
def test_mean(
    kernel: str, case: Case, storage: Any, count_include_pad: bool, divisor: int | None
) -> None:
    """eq-quantized-avg-pool of every engine."""
    x = integers(np.random.default_rng(2), case.shape, storage)
    for engine in ("fbgemm", "qnnpack"):
        for zero_point in (0, 5, int(np.iinfo(storage).max)):
            rest = (case.ceil_mode, count_include_pad, divisor, engine, 0.3)
            arguments = (zero_point, case.kernel, case.stride, case.padding, *rest)
            expected = pooling.avg_pool(x, *arguments)
            for each in orders(x):
                assert_same_bits(expected, _kernels.avg_pool(each, *arguments))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("outputs", [1, 2, 3, 5])
def test_adaptive_mean(kernel: str, case: Case, storage: Any, outputs: int, n_threads: int) -> None:
    """eq-quantized-adaptive-avg-pool; the windows may overlap."""
    x = integers(np.random.default_rng(3), case.shape, storage)
    size = (outputs,) * len(case.kernel)
    for engine in ("fbgemm", "qnnpack"):
        expected = pooling.adaptive_avg_pool(x, 7, size, engine, 0.3)
        for each in orders(x):
            assert_same_bits(expected, _kernels.adaptive_avg_pool(each, 7, size, engine, 0.3))


def test_means_near_ties(kernel: str) -> None:
    """Every sum of two bytes over a divisor of two: half of them are ties."""
    every = np.arange(256, dtype=np.uint8)
    x = np.stack([np.repeat(every, 256), np.tile(every, 256)], axis=1).reshape(1, 65536, 1, 2)
    for engine in ("fbgemm", "qnnpack"):
        for zero_point in (0, 1, 128):
            arguments = (zero_point, (1, 2), (1, 2), (0, 0), False, True, None, engine, 0.1)
            assert_same_bits(pooling.avg_pool(x, *arguments), _kernels.avg_pool(x, *arguments))


@pytest.mark.parametrize(
    ("size", "window", "padding", "result"),
    [((3, 3), 4, 0, "[0, 0]"), ((9, 3), 6, 1, "[6, 0]"), ((3, 3), 8, 0, "[-4, -4]")],
)
@pytest.mark.parametrize("ceil_mode", [False, True])
@pytest.mark.parametrize("batch", [0, 1])
def test_windows_that_do_not_fit(
    kernel: str, size: Any, window: int, padding: int, result: str, ceil_mode: bool, batch: int
) -> None:
    """No window fits (eq-pooled-size): every kernel and the equations say so in the same words."""
    x = np.ones((batch, 2, *size), np.uint8)
    at = ((window,) * 2, (1, 1), (padding,) * 2)
    message = f"is too small for kernel_size [{window}, {window}] with dilation [1, 1]: the output"
    message = f"{re.escape(message)} would have size {re.escape(result)}$"
    for module in (_kernels, pooling):
        with pytest.raises(ValueError, match=message):
            module.max_pool(x, *at, (1, 1), ceil_mode)
        with pytest.raises(ValueError, match=message):
            module.avg_pool(x, 3, *at, ceil_mode)


def test_large_sums_fit(kernel: str) -> None:
    x = np.full((1, 2, 300, 400), 255, np.uint8)
    for each in orders(x):
        expected = pooling.adaptive_avg_pool(x, 0, (1, 1))
        assert_same_bits(expected, _kernels.adaptive_avg_pool(each, 0, (1, 1)))


def test_channels_that_are_last_in_memory_stay_so(compiled_kernel: str) -> None:
    x = orders(integers(np.random.default_rng(4), (2, 3, 6, 6), np.uint8))[1]
    for y in (
        _kernels.max_pool(x, (2, 2), (2, 2), (0, 0), (1, 1)),
        _kernels.avg_pool(x, 3, (2, 2), (2, 2), (0, 0)),
        _kernels.adaptive_avg_pool(x, 3, (2, 2)),
    ):
        assert y.transpose(0, 2, 3, 1).flags.c_contiguous


@pytest.fixture(params=[1, 8, 40, 600])
def few_bytes(request: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """So few may be copied that images are cut along every axis, or windows taken one by one."""
    monkeypatch.setattr(blocking, "_MOST", request.param)
    for module in (blocking, windows):
        monkeypatch.setattr(module, "MOST_WIDE", request.param)
    monkeypatch.setattr(blocking, "_OUTPUTS", 2)


@pytest.fixture
def no_sum_has_room(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Pretend that 32 bits hold no sum but of one byte."""
    cached = windows._geometry, windows._adaptive_geometry
    monkeypatch.setattr(windows, "_LARGEST_WINDOW", 1)
    monkeypatch.setattr(blocking, "_MOST", 1)
    for module in (blocking, windows):
        monkeypatch.setattr(module, "MOST_WIDE", 1)
    for each in cached:
        each.cache_clear()
    yield
    for each in cached:
        each.cache_clear()


def pooled(case: Case, x: np.ndarray, module: Any) -> Iterator[np.ndarray]:
    """Every kind of pooling, by the kernels or the equations."""
    storage = x.dtype
    yield module.max_pool(x, *case[1:])
    if max(case.dilation) == 1:
        for engine in ("fbgemm", "qnnpack"):
            rest = case.ceil_mode, False, None, engine, 0.3
            point = int(np.iinfo(storage).max)
            yield module.avg_pool(x, point, case.kernel, case.stride, case.padding, *rest)
            yield module.adaptive_avg_pool(x, 7, (2,) * (x.ndim - 2), engine, 0.3)


@pytest.mark.parametrize("case", CASES + DILATED)
@pytest.mark.parametrize("storage", STORAGES)
def test_parts_of_images_in_no_order(
    compiled_kernel: str, few_bytes: None, case: Case, storage: Any
) -> None:
    """eq-quantized-max-pool and eq-quantized-mean, some windows at a time, or one."""
    x = integers(np.random.default_rng(5), case.shape, storage)
    strided = orders(x)[2].swapaxes(0, 1).repeat(2, axis=1)[:, ::2].swapaxes(0, 1)
    expected, given = pooled(case, x, pooling), pooled(case, strided, _kernels)
    for one, other in zip(expected, given, strict=True):
        assert_same_bits(one, other)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("storage", STORAGES)
def test_sums_without_room(
    compiled_kernel: str, no_sum_has_room: None, case: Case, storage: Any
) -> None:
    """eq-quantized-mean of images in any order."""
    x = integers(np.random.default_rng(6), case.shape, storage)
    for each in orders(x):
        expected, given = pooled(case, x, pooling), pooled(case, each, _kernels)
        for one, other in zip(expected, given, strict=True):
            assert_same_bits(one, other)
