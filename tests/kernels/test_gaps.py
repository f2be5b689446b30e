"""Large arrays in an order through which no kernel walks: part by part, with the same bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from kernels.compare import assert_same_bits

from pyqref import _kernels
from pyqref._kernels import registry
from pyqref._kernels.fake_quantize.grid import unpacked
from pyqref._kernels.pooling.blocking import Geometry
from pyqref.numerics.elementwise import Grid
from pyqref.numerics.requantize import requantization

GRID = Grid(0.1, 5, 0, 255, np.dtype(np.uint8))
OUT = Grid(0.07, 9, 0, 255, np.dtype(np.uint8))
SHAPE = (2, 20, 150, 100)


def in_disorder(dtype: Any) -> list[np.ndarray]:
    """Views with gaps, channels first and last, every other element, axes exchanged."""
    rng = np.random.default_rng(1)
    batch, channels, height, width = SHAPE
    wide = (rng.standard_normal((batch, channels + 2, height + 3, width + 1)) * 50 + 100).astype(
        dtype
    )
    inner = (slice(None), slice(1, -1), slice(2, -1), slice(1, None))
    last = np.moveaxis(np.ascontiguousarray(np.moveaxis(wide, 1, -1)), -1, 1)
    return [
        wide[inner],
        last[inner],
        np.repeat(wide[inner], 2, axis=-1)[..., ::2],
        np.ascontiguousarray(wide[inner].swapaxes(2, 3)).swapaxes(2, 3),
        np.ascontiguousarray(np.moveaxis(wide[inner], 1, -1)).transpose(0, 3, 1, 2),
    ]


SCALES, POINTS = np.linspace(0.05, 0.5, SHAPE[1]), np.arange(SHAPE[1])
TABLE = np.arange(256, dtype=np.uint8)[::-1].copy()
OF_BYTES: dict[str, Callable[[np.ndarray], Any]] = {
    "relu": lambda q: _kernels.relu(q, 90),
    "clamp": lambda q: _kernels.clamp(q, GRID, 3.0, 9.0),
    "look_up": lambda q: _kernels.look_up(TABLE, q),
    "add": lambda q: _kernels.add(q, GRID, q[:, ::-1][:, ::-1], GRID, OUT),
    "mul": lambda q: _kernels.mul(q, GRID, q, GRID, OUT),
    "dequantize": lambda q: _kernels.dequantize_per_tensor(q, 0.1, 5),
    "dequantize per channel": lambda q: _kernels.dequantize_per_channel(q, SCALES, POINTS, 1),
    "max_pool": lambda q: _kernels.max_pool(q, (3, 2), (2, 1), (1, 1), (1, 1)),
    "max_pool, dilated": lambda q: _kernels.max_pool(q, (3, 3), (1, 1), (1, 1), (3, 2)),
    "max_pool, along": lambda q: _kernels.max_pool(
        q.transpose(0, 2, 1, 3)[:, :, 0], (3,), (2,), (1,), (1,)
    ),
    "avg_pool": lambda q: _kernels.avg_pool(q, 5, (3, 2), (2, 1), (1, 1)),
    "adaptive_avg_pool": lambda q: _kernels.adaptive_avg_pool(q, 5, (7, 1)),
    "avg_pool3d": lambda q: _kernels.avg_pool(q[None], 5, (3, 2, 2), (2, 1, 2), (1, 1, 0)),
    "nearest": lambda q: _kernels.nearest(q, (30, 100)),
    "linear": lambda q: _kernels.linear(q, 5, LINEAR, 0, requantization("fbgemm", 1, 1, 99, 3)),
    "group_norm": lambda q: _kernels.group_norm(q, GRID, 1, FACTORS, FACTORS, 1e-5, OUT),
}
LINEAR = _kernels.pack_linear(np.arange(900, dtype=np.int64).reshape(9, 100).astype(np.int8))
FACTORS = np.linspace(-1, 1, SHAPE[1], dtype=np.float32)
OF_REALS: dict[str, Callable[[np.ndarray], Any]] = {
    "quantize": lambda x: _kernels.quantize_per_tensor(x, 0.9, 5, 0, 255, np.uint8),
    "quantize per channel": lambda x: _kernels.quantize_per_channel(
        x, SCALES, POINTS, 1, 0, 255, np.uint8
    ),
    "fake quantize": lambda x: with_mask(*_kernels.fake_quantize_per_tensor(x, 0.9, 5, 0, 255)),
    "fake quantize per channel": lambda x: with_mask(
        *_kernels.fake_quantize_per_channel(x, SCALES, POINTS, 1, 0, 255)
    ),
    "min_max": _kernels.min_max,
    "min_max, nan": lambda x: _kernels.min_max(np.where(x == x.max(), np.nan, x)),
    "min_max_per_channel": lambda x: _kernels.min_max_per_channel(x, 1),
    "running_range": lambda x: _kernels.running_range(np.float32([]), np.float32([]), x),
    "histogram": lambda x: _kernels.merge_histogram(None, x, 64, 16),
    "linear_dynamic": lambda x: _kernels.linear_dynamic(x, LINEAR, 0, np.float64(0.1)),
}


def with_mask(y: np.ndarray, mask: Any) -> tuple[np.ndarray, np.ndarray]:
    return y, unpacked(mask, y.shape)


def as_arrays(result: Any) -> list[np.ndarray]:
    return [np.asarray(each) for each in (result if isinstance(result, tuple) else (result,))]


def check(run: Callable[[np.ndarray], Any], x: np.ndarray) -> None:
    expected = as_arrays(run(np.array(x, order="C")))
    for one, other in zip(expected, as_arrays(run(x)), strict=True):
        assert_same_bits(one, other)


@pytest.mark.parametrize("name", OF_BYTES)
def test_bytes(compiled_kernel: str, name: str, n_threads: int) -> None:
    for q in in_disorder(np.uint8):
        check(OF_BYTES[name], q)


@pytest.mark.parametrize("name", OF_REALS)
def test_reals(compiled_kernel: str, name: str, n_threads: int) -> None:
    for x in in_disorder(np.float32):
        check(OF_REALS[name], x)


def test_images_of_one_pixel(compiled_kernel: str) -> None:
    """They lie in both orders, and each of the bands that are copied has more results than one."""
    q = np.random.default_rng(2).integers(0, 256, (1 << 17, 5, 1, 1)).astype(np.uint8)[::2]
    check(lambda q: _kernels.adaptive_avg_pool(q, 5, (2, 2)), q)


def test_exchanged_axes_are_not_copied(compiled_kernel: str) -> None:
    """Whichever axis varies fastest: what has no gaps is walked through as it lies."""
    q = np.zeros((4, 3, 5, 2), np.uint8).transpose(2, 0, 3, 1)
    for result in (_kernels.relu(q, 90), _kernels.look_up(TABLE, q)):
        assert q.strides == result.strides


def test_other_numbers_of_axes_are_none_of_the_kernels(compiled_kernel: str) -> None:
    """They look themselves how images lie: without axes to read sizes of, they give None."""
    resize, pooling = (registry.twin(each) for each in ("resize", "pooling"))
    assert resize is not None
    assert pooling is not None
    geometry = Geometry(*(np.array([[0, 1, 1]]),) * 3, (1, 1, 1), 1, (1, 1))
    for ndim in (0, 1, 2, 3, 5, 6, 9):
        q = np.zeros((1,) * ndim, np.uint8)
        assert pooling.max_pool(q, None, geometry, 1) is None
        assert ndim in (3, 5) or resize.nearest(q, *(np.zeros(1, np.int64),) * 3, None, 1) is None
