"""Pooling cut into tasks: lines, channels and parts of windows, by any number of threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from kernels.compare import assert_same_bits
from kernels.layers import integers

from pyqref import _kernels
from pyqref._kernels import threads
from pyqref.numerics import pooling

Agree = Callable[..., None]
#: Around the vectors of every kernel, and around what one task takes.
CHANNELS = [1, 2, 15, 17, 31, 33, 63, 64, 65, 127, 255, 256, 257, 1000, 2048, 4095, 4097, 8300]


@pytest.fixture
def agree(compiled_kernel: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Agree]:
    """``agree(name, x, *arguments)``: the equation's bits, in both orders, by few threads and many.

    These numbers hold however little there is to do.
    """

    def check(name: str, x: np.ndarray, *arguments: Any) -> None:
        expected = getattr(pooling, name)(x, *arguments)
        last = np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)
        for n_threads in (1, 3, 8):
            monkeypatch.setattr(threads, "limit", n_threads)
            for each in (x, last):
                assert_same_bits(expected, getattr(_kernels, name)(each, *arguments))

    parallel = getattr(threads, "_parallel", None)
    if parallel is not None:
        parallel.use_every_thread(True)
    yield check
    if parallel is not None:
        parallel.use_every_thread(False)


@pytest.mark.parametrize("channels", CHANNELS)
@pytest.mark.parametrize("images", [1, 3])
@pytest.mark.parametrize("storage", [np.uint8, np.int8])
def test_one_large_window(agree: Agree, channels: int, images: int, storage: Any) -> None:
    """eq-quantized-adaptive-avg-pool of whole images: 64 taps are added up at a time."""
    rng = np.random.default_rng(1)
    for size in [(8, 8), (5, 13), (13, 16)]:
        x = integers(rng, (images, channels, *size), storage)
        for engine in ("fbgemm", "qnnpack"):
            agree("adaptive_avg_pool", x, 7, (1, 1), engine, 0.3)


@pytest.mark.parametrize("channels", [1, 5, 63, 64, 65, 257])
@pytest.mark.parametrize("outputs", [(1, 2), (2, 1), (3, 3), (1, 7)])
@pytest.mark.parametrize("images", [1, 2])
def test_few_windows(agree: Agree, channels: int, outputs: tuple[int, int], images: int) -> None:
    """eq-quantized-adaptive-avg-pool: lines of results, of which there are few, are cut."""
    x = integers(np.random.default_rng(2), (images, channels, 19, 23), np.uint8)
    agree("adaptive_avg_pool", x, 200, outputs)


@pytest.mark.parametrize("channels", [1, 3, 64, 70])
@pytest.mark.parametrize("size", [(70,), (1, 70), (2, 3, 40)])
def test_one_line(agree: Agree, channels: int, size: tuple[int, ...]) -> None:
    """eq-quantized-avg-pool and eq-quantized-max-pool: windows of several sizes in one line."""
    x = integers(np.random.default_rng(3), (1, channels, *size), np.uint8)
    others = (1,) * (len(size) - 1)
    for width, padding in ((3, 1), (37, 18)):
        at = (*others, width), (*others, 2), (*(0 for _ in others), padding)
        agree("avg_pool", x, 3, *at, False, False)
        agree("avg_pool", x, 3, *at, False, True)
        agree("max_pool", x, *at, (*others, 1))


@pytest.mark.parametrize("channels", [64, 65, 130])
def test_windows_in_planes(agree: Agree, channels: int) -> None:
    """eq-quantized-adaptive-avg-pool of volumes, whose windows are cut within planes."""
    x = integers(np.random.default_rng(4), (1, channels, 5, 6, 7), np.int8)
    agree("adaptive_avg_pool", x, -3, (1, 1, 1))


@pytest.mark.parametrize("channels", [1, 7, 64])
def test_windows_of_several_sizes(agree: Agree, channels: int) -> None:
    """eq-quantized-avg-pool: some windows have fewer taps than there are parts of others."""
    x = integers(np.random.default_rng(5), (1, channels, 16, 16), np.uint8)
    agree("avg_pool", x, 5, (15, 15), (15, 15), (7, 7), True)
