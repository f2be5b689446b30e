"""Layer and group norm by every kernel against the equations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernels.compare import assert_same_bits

from pyqref import _kernels
from pyqref._kernels.normalization import rows
from pyqref.numerics import normalization
from pyqref.numerics.elementwise import Grid

LENGTHS = [1, 3, 4, 7, 8, 15, 16, 17, 33, 100, 8191, 8193, 20000]


def grid(dtype: Any, scale: float, point: int) -> Grid:
    limits = np.iinfo(dtype)
    return Grid(scale, point, int(limits.min), int(limits.max), dtype)


def integers(dtype: Any, *shape: int) -> np.ndarray:
    limits = np.iinfo(dtype)
    rng = np.random.default_rng(shape[-1])
    return rng.integers(limits.min, limits.max + 1, shape).astype(dtype)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("length", LENGTHS)
def test_layer_norm_around_the_vector(kernel: str, n_threads: int, dtype: Any, length: int) -> None:
    """eq-quantized-layer-norm, with weight and bias, one of them, and neither."""
    rng = np.random.default_rng(0)
    q = integers(dtype, 3, length)
    w, b = rng.standard_normal((2, length)).astype(np.float32)
    given, out = grid(dtype, 0.1, 3), grid(dtype, 0.02, -5 if dtype == np.int8 else 60)
    for weight, bias in ((w, b), (None, b), (w, None), (None, None)):
        arguments = (q, given, weight, bias, 1e-5, out)
        assert_same_bits(normalization.layer_norm(*arguments), _kernels.layer_norm(*arguments))


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("shape", [(2, 6, 5), (1, 4, 9, 17), (3, 12, 1)])
def test_group_norm(kernel: str, n_threads: int, dtype: Any, shape: tuple[int, ...]) -> None:
    """eq-quantized-group-norm and, with as many groups as channels, eq-quantized-instance-norm."""
    rng = np.random.default_rng(1)
    q = integers(dtype, *shape)
    w, b = rng.standard_normal((2, shape[1])).astype(np.float32)
    given, out = grid(dtype, 0.1, 3), grid(dtype, 0.03, 4)
    for groups in (1, 2, shape[1]):
        for weight, bias in ((w, b), (None, b), (w, None), (None, None)):
            arguments = (q, given, groups, weight, bias, 1e-5, out)
            assert_same_bits(normalization.group_norm(*arguments), _kernels.group_norm(*arguments))


@pytest.mark.parametrize("shape", [(3, 16, 70, 90), (1, 6, 300, 320)])
def test_large_images_with_their_channels_last(kernel: str, shape: tuple[int, ...]) -> None:
    """Some images are put in C order at a time, or some groups of one."""
    rng = np.random.default_rng(3)
    batch, channels, *size = shape
    q = np.moveaxis(integers(np.uint8, batch, *size, channels), -1, 1)
    w, b = rng.standard_normal((2, channels)).astype(np.float32)
    for groups in (2, channels):
        arguments = (q, grid(np.uint8, 0.1, 3), groups, w, b, 1e-5, grid(np.uint8, 0.03, 4))
        assert_same_bits(normalization.group_norm(*arguments), _kernels.group_norm(*arguments))


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_rows_in_pieces(compiled_kernel: str, monkeypatch: pytest.MonkeyPatch, dtype: Any) -> None:
    """A long row that is not in C order: the sums of its pieces are those of the row."""
    monkeypatch.setattr(rows, "_ROW", 100)
    monkeypatch.setattr(rows, "_PIECE", 40)
    rng = np.random.default_rng(4)
    q = integers(dtype, 9, 20, 7).transpose(2, 0, 1)
    w, b = rng.standard_normal((2, *q.shape)).astype(np.float32)
    given, out = grid(dtype, 0.1, 3), grid(dtype, 0.02, 4)
    for weight, bias in ((w, b), (None, b), (w[:, :1, :1], None), (None, None)):
        result = np.empty(q.shape, dtype)
        rows.layer_norm_of_row(q, given, weight, bias, 1e-5, out, result)
        full = [
            None if f is None else np.broadcast_to(f, q.shape).reshape(-1) for f in (weight, bias)
        ]
        expected = normalization.layer_norm(q.reshape(1, -1), given, *full, 1e-5, out)
        assert_same_bits(expected.reshape(q.shape), result)


@pytest.mark.parametrize("channels", [1, 3, 15, 16, 17, 33, 64, 100, 128, 130])
@pytest.mark.parametrize("size", [(1,), (5,), (16,), (3, 7), (17, 8), (2, 3, 5)])
def test_bytes_in_c_order(
    kernel: str, n_threads: int, channels: int, size: tuple[int, ...]
) -> None:
    """A copy of what lies with its channels last, or the array itself."""
    for dtype in (np.uint8, np.int8, np.float32):
        last = integers(np.uint8, 2, *size, channels).astype(dtype)
        x = np.moveaxis(last, -1, 1)
        ordered = _kernels.in_c_order(x)
        assert ordered.flags.c_contiguous
        assert_same_bits(x, ordered)
        assert _kernels.in_c_order(ordered) is ordered


def test_constant_rows_without_epsilon(kernel: str) -> None:
    """0 times infinity is nan, which is the largest integer, as in the equations."""
    q = np.full((2, 20), 9, np.uint8)
    arguments = (q, grid(np.uint8, 0.1, 3), None, None, 0.0, grid(np.uint8, 0.1, 7))
    with np.errstate(all="ignore"):
        expected = normalization.layer_norm(*arguments)
    with np.errstate(all="ignore"):
        assert_same_bits(expected, _kernels.layer_norm(*arguments))
    assert expected.max() == 255


@pytest.mark.parametrize("channels", [1, 7, 16, 77])
def test_batch_norm_coefficients(kernel: str, channels: int) -> None:
    """eq-batch-norm-coefficients, also of a variance of 0 or infinity, and of what overflows."""
    rng = np.random.default_rng(4)
    arrays = rng.standard_normal((4, channels)).astype(np.float32)
    arrays[1] = np.abs(arrays[1])
    arrays[1, ::5], arrays[1, 1::7], arrays[2, ::3] = 0, np.inf, 3e38
    for eps in (0.0, 1e-5):
        with np.errstate(all="ignore"):
            expected = normalization.batch_norm_coefficients(*arrays, eps, 0.013, 0.21)
        for given in (arrays, np.repeat(arrays, 2, axis=1)[:, ::2]):
            actual = _kernels.batch_norm_coefficients(*given, eps, 0.013, 0.21)
            assert_same_bits(np.stack(expected), np.stack(actual))


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize(
    "shape", [(3, 5), (2, 33, 7), (2, 64, 5, 3), (1, 17, 90, 11), (2, 3, 1, 1)]
)
def test_batch_norm(kernel: str, n_threads: int, dtype: Any, shape: tuple[int, ...]) -> None:
    """eq-quantized-batch-norm, channels first and last in memory, with ReLU and without."""
    rng = np.random.default_rng(3)
    alpha, beta = (30 * rng.standard_normal((2, shape[1]))).astype(np.float32) / 16
    alpha[0], beta[-1] = np.inf, np.nan
    given, out = grid(dtype, 0.1, 3), grid(dtype, 0.02, -5 if dtype == np.int8 else 60)
    first = integers(dtype, *shape)
    last = np.moveaxis(np.ascontiguousarray(np.moveaxis(first, 1, -1)), -1, 1)
    for relu in (False, True):
        with np.errstate(invalid="ignore", over="ignore"):
            expected = normalization.batch_norm(first, given, alpha, beta, out, relu)
            for q in (first, last, first[..., ::-1][..., ::-1]):
                actual = _kernels.batch_norm(q, given, alpha, beta, out, relu)
                assert_same_bits(expected, actual)
