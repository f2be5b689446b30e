"""Linear layers that quantize their input, by every kernel against the equations in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernels.compare import assert_same_bits
from kernels.layers import integers

from pyqref import _kernels
from pyqref.numerics import dynamic


def check(
    x: Any,
    columns: int,
    *,
    engine: Any = "fbgemm",
    reduce_range: bool = True,
    per_channel: bool = True,
    has_bias: bool = True,
    weight_zero_points: Any = 0,
) -> None:
    rng = np.random.default_rng(0)
    x = np.asarray(x, np.float32)
    weight = integers(rng, (columns, x.shape[-1]), np.int8)
    scales = rng.uniform(0.01, 0.02, columns) if per_channel else np.float64(0.013)
    bias = rng.standard_normal(columns).astype(np.float32) if has_bias else None
    expected = dynamic.linear_dynamic(
        x,
        weight,
        scales,
        weight_zero_points,
        bias,
        engine=engine,
        reduce_range=reduce_range,
    )
    packed = _kernels.pack_linear(weight)
    actual, low, high = _kernels.linear_dynamic(
        x, packed, weight_zero_points, scales, bias, engine, reduce_range
    )
    assert_same_bits(expected, actual)
    assert (x.min(initial=np.inf) if x.size else 0, x.max(initial=-np.inf) if x.size else 0) == (
        low,
        high,
    )


@pytest.mark.parametrize("rows", [*range(10), 13, 15, 16, 17, 31, 33, 64, 257])
@pytest.mark.parametrize("depth", [1, 4, 15, 28, 32, 33, 63, 64, 65, 130])
def test_shapes(kernel: str, rows: int, depth: int, n_threads: int) -> None:
    """eq-linear-dynamic around tiles, vectors and blocks."""
    rng = np.random.default_rng(1)
    for columns in (1, 17, 64, 130):
        check(rng.standard_normal((rows, depth)), columns)


def test_range_over_many_chunks(kernel: str, n_threads: int) -> None:
    """eq-dynamic-input: the ends of the range are found wherever they stand."""
    x = np.random.default_rng(2).standard_normal((80, 1000))
    for low, high in ((0, -1), (-1, 0), (33_000, 70_000)):
        x.reshape(-1)[[low, high]] = -9, 11
        check(x, 20)


@pytest.mark.parametrize("engine", ["fbgemm", "qnnpack"])
@pytest.mark.parametrize("columns", [1040, 1041])
def test_large_results(compiled_kernel: str, engine: Any, columns: int, n_threads: int) -> None:
    """eq-linear-dynamic, 4 MiB of it: what consists of whole lines goes past the caches."""
    x = np.random.default_rng(6).standard_normal((1030, 5))
    check(x, columns, engine=engine)


@pytest.mark.parametrize("engine", ["fbgemm", "onednn", "qnnpack"])
@pytest.mark.parametrize("reduce_range", [False, True])
@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("has_bias", [False, True])
def test_every_engine(
    kernel: str, engine: Any, reduce_range: bool, per_channel: bool, has_bias: bool
) -> None:
    """eq-dynamic-output: one rounding or two; 7 bits or 8."""
    x = np.random.default_rng(3).standard_normal((9, 70))
    options = {"engine": engine, "reduce_range": reduce_range, "has_bias": has_bias}
    check(x, 70, per_channel=per_channel, **options)
    check(x, 70, per_channel=per_channel, weight_zero_points=np.arange(70), **options)


#: Magnitudes about every case of eq-choose-qparams-dynamic: subnormal and huge numbers, scales
#: whose reciprocal overflows, and the smallest scale, which 127 and 255 steps meet elsewhere.
ENDS = [
    *(sign * size for size in (0.0, 1e-45, 1e-40, 3e-38, 1e-30, 1e-5) for sign in (1, -1)),
    *(sign * 6.1e-5 * steps for steps in (1, 126.9, 127, 128, 254.9, 255, 256) for sign in (1, -1)),
    *(sign * size for size in (0.5, 1.0, 3.0, 1e10, 3.4e38) for sign in (1, -1)),
]


@pytest.mark.parametrize("reduce_range", [False, True])
def test_every_kind_of_range(compiled_kernel: str, reduce_range: bool) -> None:
    """eq-choose-qparams-dynamic, in the kernel as in NumPy: the integers tell the grid."""
    packed = _kernels.pack_linear(np.int8([[1]]))
    for first in ENDS:
        for second in ENDS:
            x = np.float32([[first], [second], [(first + second) / 2]])
            with np.errstate(all="ignore"):
                expected = dynamic.linear_dynamic(
                    x, packed.weight, np.float64(1), 0, reduce_range=reduce_range
                )
            actual, _, _ = _kernels.linear_dynamic(
                x, packed, 0, np.float64(1), None, "fbgemm", reduce_range
            )
            assert_same_bits(expected, actual)


def test_random_ranges(compiled_kernel: str) -> None:
    """eq-choose-qparams-dynamic: zero points at ties and beside them."""
    rng = np.random.default_rng(4)
    packed = _kernels.pack_linear(np.int8([[1], [-3]]))
    for _ in range(2000):
        ends = rng.choice([-1, 1], 2) * np.exp(rng.uniform(-12, 6, 2))
        if rng.random() < 0.3:
            ends = np.round(ends * 8) / 8
        x = np.float32([[ends[0]], [ends[1]], [0.1]])
        expected = dynamic.linear_dynamic(x, packed.weight, np.float64(1), 0)
        actual, _, _ = _kernels.linear_dynamic(x, packed, 0, np.float64(1))
        assert_same_bits(expected, actual)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("at", [0, 100, 40_000, 69_999])
def test_numbers_that_no_scale_covers_show_in_the_range(
    kernel: str, wrong: float, at: int, n_threads: int
) -> None:
    x = np.ones((7, 10_000), np.float32)
    x.reshape(-1)[at] = wrong
    packed = _kernels.pack_linear(np.ones((2, 10_000), np.int8))
    _, low, high = _kernels.linear_dynamic(x, packed, 0, np.float64(1))
    assert not np.isfinite([low, high]).all()


def test_strided_input(kernel: str) -> None:
    x = np.random.default_rng(5).standard_normal((9, 40)).astype(np.float32)
    check(x[::2, ::2], 5)
    check(x.T, 5)


@pytest.mark.parametrize("engine", ["fbgemm", "qnnpack"])
def test_one_projection_serves_many_inputs(kernel: str, engine: Any) -> None:
    """eq-linear-dynamic: each input has a grid of its own; a bias is read when it is added."""
    rng = np.random.default_rng(7)
    weight, scales = integers(rng, (18, 20), np.int8), rng.uniform(0.01, 0.02, 18)
    bias = rng.standard_normal(18).astype(np.float32)
    projection = _kernels.Projection(_kernels.pack_linear(weight), 0, scales, bias, engine)
    for rows in (3, 0, 7):
        x = rng.normal(0, rows + 1, (rows, 20)).astype(np.float32)
        expected = dynamic.linear_dynamic(x, weight, scales, 0, bias, engine=engine)
        assert_same_bits(expected, projection.of(x)[0])
        bias += 1


def test_more_axes_than_kernels_know(kernel: str) -> None:
    """NumPy has 64, kernels 32."""
    rng = np.random.default_rng(5)
    x = rng.standard_normal((*(1,) * 31, 3, 2, 8)).astype(np.float32)
    packed = _kernels.pack_linear(integers(rng, (4, 8), np.int8))
    whole = _kernels.linear_dynamic(x.reshape(-1, 8), packed, np.zeros(1, np.int64), np.ones(1))
    found = _kernels.linear_dynamic(x, packed, np.zeros(1, np.int64), np.ones(1))
    assert found[0].shape == (*x.shape[:-1], 4)
    assert_same_bits(whole[0], found[0].reshape(-1, 4))
