"""The affine map against exact rational arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
from formulas.exact import clamp, f32, fma, fractions, inverse, rational, rne, single

from pyqref.numerics.affine import (
    dequantize_per_channel,
    dequantize_per_tensor,
    quantize_per_channel,
    quantize_per_tensor,
    reciprocal32,
)

RANGES = [(0, 255, np.uint8), (-128, 127, np.int8), (-(2**31), 2**31 - 1, np.int32)]
SCALES = [1.0, 0.1, 0.007, 1 / 3, 2.0**-20, 117.3, 1e-30]


def near_ties(scale: float, n: int = 400, seed: int = 0) -> np.ndarray:
    """Numbers on, just below and just above the midpoints between two integers."""
    rng = np.random.default_rng(seed)
    x = ((rng.integers(-300, 300, n) + 0.5) * np.float32(scale)).astype(np.float32)
    toward = rng.choice(np.float32([-np.inf, np.inf]), n)
    return np.where(rng.random(n) < 0.5, x, np.nextafter(x, toward))


@pytest.mark.parametrize("scale", SCALES)
def test_eq_reciprocal__any(scale: float) -> None:
    """One over the scale, both as float32."""
    assert inverse(scale) == rational(reciprocal32(scale))


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(("low", "high", "storage"), RANGES)
def test_eq_affine_quantize__near_ties(scale: float, low: int, high: int, storage: type) -> None:
    """8 bits fuse product and sum, 32 bits round both."""
    for zero_point in (0, 3, -77 if low < 0 else 77, 127):
        x = near_ties(scale)
        s = inverse(scale)
        if storage is np.int32:
            shifted = [f32(f32(v * s) + zero_point) for v in fractions(x)]
        else:
            shifted = [fma(v, s, f32(zero_point)) for v in fractions(x)]
        expected = [clamp(rne(v), low, high) for v in shifted]
        actual = quantize_per_tensor(x, scale, zero_point, low, high, storage)
        assert storage == actual.dtype
        assert expected == actual.tolist()


@pytest.mark.parametrize("scale", SCALES)
def test_eq_affine_dequantize__all_bytes(scale: float) -> None:
    """Every byte, exactly scaled and rounded once."""
    q = np.arange(256).astype(np.uint8)
    expected = [f32((v - 13) * single(scale)) for v in fractions(q)]
    assert expected == fractions(dequantize_per_tensor(q, scale, 13))


def test_eq_affine_quantize_channel__near_ties() -> None:
    """Product and sum are rounded separately, also for 8 bits."""
    scales, zero_points = np.array(SCALES), np.arange(len(SCALES)) * 7 - 20
    x = np.stack([near_ties(s, 200) for s in SCALES])
    actual = quantize_per_channel(x, scales, zero_points, 0, -128, 127, np.int8)
    for row, scale, zero_point, q in zip(x, scales, zero_points, actual, strict=True):
        products = [f32(v * inverse(scale)) for v in fractions(row)]
        expected = [clamp(rne(f32(p + int(zero_point))), -128, 127) for p in products]
        assert expected == q.tolist()


def test_eq_affine_quantize_channel__any_axis() -> None:
    """The axis only says where the channels are."""
    x = near_ties(0.1, 24).reshape(2, 3, 4)
    scales, zero_points = [0.1, 0.2, 0.3], [1, 2, 3]
    middle = quantize_per_channel(x, scales, zero_points, 1, 0, 255, np.uint8)
    moved = quantize_per_channel(np.moveaxis(x, 1, 2), scales, zero_points, -1, 0, 255, np.uint8)
    assert middle.tolist() == np.moveaxis(moved, 2, 1).tolist()


def test_eq_affine_dequantize_channel__double() -> None:
    """The scales are doubles, and the product is rounded to float32 once."""
    q = np.arange(-128, 128).astype(np.int8).reshape(1, -1).repeat(3, 0)
    scales, zero_points = np.array([0.1, 1 / 3, 0.007]), np.array([0, 5, -9])
    actual = dequantize_per_channel(q, scales, zero_points, 0)
    for row, scale, zero_point, real in zip(q, scales, zero_points, actual, strict=True):
        # The double product of 9 and 53 bits is rounded to 53 bits before float32.
        exact = [float(v - int(zero_point)) * scale for v in row.tolist()]
        assert [single(v) for v in exact] == fractions(real)
