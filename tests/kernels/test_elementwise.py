"""Sums, products and tables of bytes by every kernel against the equations in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernels.compare import assert_same_bits
from kernels.layers import integers

from pyqref import _kernels
from pyqref.numerics import elementwise
from pyqref.numerics.elementwise import Grid

#: Around the vectors of 4, 8 and 16 lanes, and the task of 2**15 elements.
SIZES = [0, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 2**15 - 1, 2**15 + 1, 70_001]
STORAGES = [np.uint8, np.int8]
#: Scales of a, b and the result: ordinary, exact, far apart, at the ends of float32.
SCALES = [
    (0.037, 0.051, 0.07),
    (0.5, 0.25, 1.0),
    (1.0, 1e-6, 0.5),
    (1e-6, 1e-6, 10.0),
    (1028.02, 1e-3, 1e-3),
    (1e-3, 123457.0, 1e-3),
    (3e38, 3e38, 1e-38),
    (1e-40, 1e-40, 1e-45),
]


def grid(scale: float, zero_point: int, storage: Any) -> Grid:
    info = np.iinfo(storage)
    return Grid(scale, int(info.min) + zero_point, int(info.min), int(info.max), storage)


def grids(scales: tuple[float, float, float], storage: Any) -> tuple[Grid, Grid, Grid]:
    a, b, out = scales
    return grid(a, 3, storage), grid(b, 131, storage), grid(out, 101, storage)


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("relu", [False, True])
def test_sums_and_products_around_the_vector(
    kernel: str, storage: Any, relu: bool, n_threads: int
) -> None:
    """eq-quantized-add, eq-add-fixed-point and eq-quantized-mul, bit for bit."""
    rng = np.random.default_rng(1)
    a_grid, b_grid, out = grids(SCALES[0], storage)
    for size in SIZES:
        a, b = (integers(rng, size, storage) for _ in range(2))
        for engine in ("fbgemm", "qnnpack"):
            arguments = (a, a_grid, b, b_grid, out, engine, relu)
            assert_same_bits(elementwise.add(*arguments), _kernels.add(*arguments))
        pair = (a, a_grid, b, b_grid, out, relu)
        assert_same_bits(elementwise.mul(*pair), _kernels.mul(*pair))


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("scales", SCALES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_every_pair_of_bytes(kernel: str, storage: Any, scales: tuple[float, float, float]) -> None:
    """All 65,536 of them, ties among them; overflows give infinities and nan, as in NumPy."""
    every = np.arange(256, dtype=np.uint8).view(storage)
    a, b = np.repeat(every, 256), np.tile(every, 256)
    a_grid, b_grid, out = grids(scales, storage)
    for engine in ("fbgemm", "qnnpack") if scales[0] < 1e30 else ("fbgemm",):
        arguments = (a, a_grid, b, b_grid, out, engine)
        assert_same_bits(elementwise.add(*arguments), _kernels.add(*arguments))
    pair = (a, a_grid, b, b_grid, out)
    assert_same_bits(elementwise.mul(*pair), _kernels.mul(*pair))


@pytest.mark.parametrize(
    ("a_shape", "b_shape"), [((2, 3, 4, 5), (2, 3, 4, 5)), ((2, 3, 4, 5), (3, 1, 1)), ((7,), ())]
)
@pytest.mark.parametrize("a_last", [False, True])
@pytest.mark.parametrize("b_last", [False, True])
def test_any_order_in_memory_and_broadcasting(
    kernel: str, a_shape: tuple[int, ...], b_shape: tuple[int, ...], a_last: bool, b_last: bool
) -> None:
    rng = np.random.default_rng(2)
    a, b = integers(rng, a_shape, np.uint8), integers(rng, b_shape, np.uint8)
    a_grid, b_grid, out = grids(SCALES[0], np.uint8)
    expected = elementwise.add(a, a_grid, b, b_grid, out)
    if a_last and a.ndim == 4:
        a = channels_last(a)
    if b_last and b.ndim == 4:
        b = channels_last(b)
    assert_same_bits(expected, _kernels.add(a, a_grid, b, b_grid, out))


def channels_last(x: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)


def test_result_lies_in_memory_as_the_arguments_do(compiled_kernel: str) -> None:
    x = channels_last(integers(np.random.default_rng(3), (2, 3, 4, 5), np.uint8))
    a_grid, b_grid, out = grids(SCALES[0], np.uint8)
    table = np.arange(256, dtype=np.uint8)
    for y in (
        _kernels.add(x, a_grid, x, b_grid, out),
        _kernels.mul(x, a_grid, x, b_grid, out),
        _kernels.look_up(table, x),
        _kernels.cat([x, x], [a_grid, b_grid], 1, out),
    ):
        assert y.transpose(0, 2, 3, 1).flags.c_contiguous


@pytest.mark.parametrize("storage", STORAGES)
def test_tables_around_the_task(kernel: str, storage: Any, n_threads: int) -> None:
    rng = np.random.default_rng(4)
    table = integers(rng, 256, storage)
    for size in SIZES:
        q = integers(rng, size, storage)
        assert_same_bits(table[q.view(np.uint8)], _kernels.look_up(table, q))


@pytest.mark.parametrize("storage", [np.uint8, np.int8, np.int32])
def test_joining(kernel: str, storage: Any) -> None:
    """eq-quantized-cat: parts on the grid of the result are copied, others move to it."""
    rng = np.random.default_rng(5)
    parts = [integers(rng, (2, n, 3, 5), storage) for n in (1, 4, 0)]
    a_grid, b_grid, out = grids(SCALES[0], storage)
    for each in ((a_grid, b_grid, out), (out, out, out), (b_grid, out, a_grid)):
        arguments = (parts, each, 1, out)
        assert_same_bits(elementwise.cat(*arguments), _kernels.cat(*arguments))
    moved = [channels_last(part) for part in parts]
    each = (a_grid, b_grid, out)
    expected = elementwise.cat(parts, each, 1, out)
    assert_same_bits(expected, _kernels.cat(moved, each, 1, out))


def test_joining_copies_bytes_that_mean_the_same(kernel: str) -> None:
    """eq-quantized-cat looks at scales and zero points, not at how far a grid reaches."""
    parts, out = [np.uint8([[0, 100]]), np.uint8([[200, 255]])], Grid(0.1, 3, 10, 127)
    joined = _kernels.cat(parts, [Grid(0.1, 3), out], 1, out)
    assert [[0, 100, 200, 255]] == joined.tolist()


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize(
    ("rows", "widths"),
    [
        (1, (40_000, 0, 70_001)),
        (3, (32_768, 5)),
        (700, (64, 3)),
        (300, (4, 8, 16, 32, 64)),
        (300, (5, 12, 24, 48, 100)),
        (50, (500, 523)),
        (9, (1, 2047)),
        (5, (2048, 17)),
        (40, (4096, 63, 4100)),
    ],
)
def test_joining_rows_around_the_block_and_the_task(
    kernel: str, storage: Any, rows: int, widths: tuple[int, ...], n_threads: int
) -> None:
    """Short rows, below 2**11 and 2**15 bytes, are joined several at a time, and long ones cut."""
    rng = np.random.default_rng(15)
    parts = [integers(rng, (rows, width), storage) for width in widths]
    a_grid, b_grid, out = grids(SCALES[0], storage)
    for each in ((out, out, out), (a_grid, out, b_grid), (out, a_grid, a_grid)):
        arguments = (parts, (each * 2)[: len(parts)], 1, out)
        assert_same_bits(elementwise.cat(*arguments), _kernels.cat(*arguments))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.bool_])
@pytest.mark.parametrize("order", ["C", "channels last", "both", "gaps"])
def test_numbers_of_any_type_are_joined(
    kernel: str, dtype: Any, order: str, n_threads: int
) -> None:
    """Numbers join as by ``np.concatenate`` along every axis; the result lies as all parts do."""
    rng = np.random.default_rng(16)
    for shape in ((5,), (3, 7), (2, 3, 4), (2, 3, 5, 7), (1, 2, 3, 2, 5)):
        for axis in range(len(shape)):
            parts = []
            for length in (3, 0, 1, 2):
                each = rng.integers(0, 9, (*shape[:axis], length, *shape[axis + 1 :])).astype(dtype)
                if order in ("channels last", "both") and each.ndim > 3:
                    each = np.moveaxis(np.ascontiguousarray(np.moveaxis(each, 1, -1)), -1, 1)
                if order == "gaps":
                    each = np.repeat(each, 2, -1)[..., ::2]
                parts.append(each)
            if order == "both":
                parts[0] = np.ascontiguousarray(parts[0])
            joined = _kernels.join(tuple(parts), axis)
            assert_same_bits(np.concatenate(parts, axis), joined)
            if order == "channels last" and len(shape) > 3 and kernel != "reference":
                assert np.moveaxis(joined, 1, -1).flags.c_contiguous


def test_32_bits_go_to_the_equations(kernel: str) -> None:
    rng = np.random.default_rng(6)
    a, b = (rng.integers(-1000, 1000, 50).astype(np.int32) for _ in range(2))
    on = Grid(0.1, 3, -(2**31), 2**31 - 1, np.int32)
    assert_same_bits(elementwise.add(a, on, b, on, on), _kernels.add(a, on, b, on, on))
    assert_same_bits(elementwise.mul(a, on, b, on, on), _kernels.mul(a, on, b, on, on))


@pytest.mark.parametrize("storage", [np.uint8, np.int8, np.int32])
def test_bounds_around_the_task(kernel: str, storage: Any, n_threads: int) -> None:
    """eq-quantized-relu, eq-quantized-relu6 and eq-quantized-clamp."""
    rng = np.random.default_rng(7)
    info = np.iinfo(storage)
    on = Grid(0.5, int(info.min) + 100, int(info.min), int(info.max), storage)
    bounds = [(-3.0, 5.0), (None, 4.0), (-1e9, None), (None, None), (5.0, -3.0), (1e9, 1e9)]
    for size in SIZES:
        q = integers(rng, size, storage)
        expected = elementwise.relu(q, on.zero_point)
        assert_same_bits(expected, _kernels.relu(q, on.zero_point))
        assert_same_bits(elementwise.relu6(q, on), _kernels.relu6(q, on))
        for low, high in bounds:
            expected = elementwise.clamp(q, on, low, high)
            assert_same_bits(expected, _kernels.clamp(q, on, low, high))


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("behind", [0, 1, 64, 1024, 2047, 2048, 4032])
def test_results_soon_behind_their_input(
    compiled_kernel: str, storage: Any, behind: int, n_threads: int
) -> None:
    """Up to half a page behind, bounds go from the last to the first; 0 is the input itself."""
    kernel = _kernels.registry.twin("elementwise")
    low, high = int(np.iinfo(storage).min) + 90, int(np.iinfo(storage).max) - 60
    for size in [*SIZES, 255, 256, 257, 2**13 + 1, 2**13 + 2**15]:
        room = integers(np.random.default_rng(8), 2 * size + 2 * 4096, storage)
        q = room[:size]
        out = q if behind == 0 else room[-(-size // 4096) * 4096 + behind :][:size]
        rest = room[(0 if behind == 0 else out.ctypes.data - q.ctypes.data) + size :].copy()
        expected = np.clip(q, low, high)
        assert kernel.clamp(q, out, low, high, n_threads) is out
        assert_same_bits(expected, out)
        assert_same_bits(rest, room[room.size - rest.size :])
