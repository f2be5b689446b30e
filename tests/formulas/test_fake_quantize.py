"""Fake quantization and its gradient against exact rational arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
from formulas.exact import clamp, f32, fma, fractions, inverse, rne, single
from formulas.test_affine import near_ties

from pyqref.numerics import affine
from pyqref.numerics.fake_quantize import (
    fake_quantize_grid,
    fake_quantize_per_channel,
    fake_quantize_per_tensor,
    straight_through,
)


@pytest.mark.parametrize("scale", [1.0, 0.1, 0.0371])
@pytest.mark.parametrize("zero_point", [0, 7, 128])
def test_eq_fake_quantize__documented(scale: float, zero_point: int) -> None:
    """Zero point before rounding: exactly dequantize(quantize(x))."""
    x = near_ties(scale)
    inside = [rne(fma(v, inverse(scale), f32(zero_point))) for v in fractions(x)]
    expected = [f32((clamp(v, 0, 255) - zero_point) * single(scale)) for v in inside]
    y, mask = fake_quantize_per_tensor(x, scale, zero_point, 0, 255)
    assert expected == fractions(y)
    assert [0 <= v <= 255 for v in inside] == mask.tolist()
    q = affine.quantize_per_tensor(x, scale, zero_point, 0, 255, np.uint8)
    assert affine.dequantize_per_tensor(q, scale, zero_point).tolist() == y.tolist()


@pytest.mark.parametrize("scale", [1.0, 0.1, 0.0371])
@pytest.mark.parametrize("zero_point", [0, 7, 128])
def test_eq_fake_quantize__torch(scale: float, zero_point: int) -> None:
    """Zero point after rounding."""
    x = near_ties(scale)
    inside = [rne(f32(v * inverse(scale))) + zero_point for v in fractions(x)]
    expected = [f32((clamp(v, 0, 255) - zero_point) * single(scale)) for v in inside]
    y, mask = fake_quantize_per_tensor(x, scale, zero_point, 0, 255, "torch")
    assert expected == fractions(y)
    assert [0 <= v <= 255 for v in inside] == mask.tolist()


def test_eq_fake_quantize__where_conventions_differ() -> None:
    """Ties with an odd zero point: the example of the errata."""
    x = np.float32([0.5, 1.5, 2.5])
    assert fake_quantize_per_tensor(x, 1.0, 1, 0, 255)[0].tolist() == [1, 1, 3]
    assert fake_quantize_per_tensor(x, 1.0, 1, 0, 255, "torch")[0].tolist() == [0, 2, 2]


@pytest.mark.parametrize("convention", ["documented", "torch"])
def test_eq_fake_quantize_channel__near_ties(convention: str) -> None:
    """Product and sum rounded separately, zero point where the convention says."""
    scales, zero_points = np.float32([0.1, 0.0371, 1.0]), np.array([3, -20, 5])
    x = np.stack([near_ties(s, 200) for s in scales])
    y, mask = fake_quantize_per_channel(x, scales, zero_points, 0, -128, 127, convention)
    for row, scale, zero, actual, passed in zip(x, scales, zero_points, y, mask, strict=True):
        scaled = [f32(v * inverse(scale)) for v in fractions(row)]
        if convention == "torch":
            inside = [rne(v) + int(zero) for v in scaled]
        else:
            inside = [rne(f32(v + int(zero))) for v in scaled]
        expected = [f32((clamp(v, -128, 127) - int(zero)) * single(scale)) for v in inside]
        assert expected == fractions(actual)
        assert [-128 <= v <= 127 for v in inside] == passed.tolist()


@pytest.mark.parametrize("convention", ["documented", "torch"])
def test_eq_fake_quantize_channel__float_zero_point(convention: str) -> None:
    """A float zero point is fused into the product before rounding, in both conventions."""
    scale, zero = np.float32([0.37]), np.float32([100.3])
    x = near_ties(0.37, 400)[None] - zero * scale
    y, _ = fake_quantize_per_channel(x, scale, zero, 0, 0, 255, convention)
    inside = [rne(fma(v, inverse(scale[0]), single(zero[0]))) for v in fractions(x)]
    reals = [(clamp(v, 0, 255) - single(zero[0])) * single(scale[0]) for v in inside]
    assert [f32(v) for v in reals] == fractions(y)


def test_eq_fake_quantize_mask__ends_are_inside() -> None:
    """The ends of the range pass the gradient; the next step out does not."""
    y, mask = fake_quantize_grid(np.float32([-1, 0, 255, 256, np.nan]), 0.5, 4, 0, 255)
    assert mask.tolist() == [False, True, True, False, False]
    assert y.tolist() == [-2, -2, 125.5, 125.5, -2]


def test_eq_straight_through__masks() -> None:
    """The gradient passes unchanged inside and is zero outside."""
    gradient = np.float32([1, -2, 3])
    assert straight_through(gradient, np.array([True, False, True])).tolist() == [1, 0, 3]
