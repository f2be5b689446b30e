"""Float images channel by channel, by every kernel against the twins in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from kernels.compare import assert_same_bits

from pyqref import _kernels
from pyqref.numerics import channels as reference
from pyqref.numerics import float_normalization as rows_reference
from pyqref.numerics.moments import moments_of_channels as reference_moments

#: Lines around the 16 places, of one number, long ones, more channels than a task takes, nothing.
SHAPES = [
    (2, 3, 5),
    (1, 1, 1),
    (3, 17, 64),
    (2, 31, 17),
    (1, 32, 33),
    (2, 70, 40),
    (5, 2, 1001),
    (64, 4, 9),
    (3, 300, 1),
    (2, 70, 7),
    (3, 33, 8),
    (3, 9, 16),
    (2, 0, 3),
    (0, 3, 4),
    (2, 3, 0),
    (2, 290, 65),
]


def numbers(*shape: int, special: bool = False) -> np.ndarray:
    """Floats of all sizes, the negative zero and, where asked for, infinity and nan among them."""
    rng = np.random.default_rng(len(shape))
    x = rng.standard_normal(shape).astype(np.float32)
    x = np.where(rng.random(shape) < 0.1, np.float32(-0.0), x)
    if special:
        x = np.where(rng.random(shape) < 0.01, np.float32(np.inf), x)
        x = np.where(rng.random(shape) < 0.01, np.float32(np.nan), x)
    return x


def last(x: np.ndarray) -> np.ndarray:
    """These numbers with channels last in memory."""
    return np.ascontiguousarray(x.swapaxes(1, 2)).swapaxes(1, 2)


@pytest.mark.parametrize("shape", SHAPES)
def test_moments_of_channels(kernel: str, shape: tuple[int, ...], n_threads: int) -> None:
    """Moments agree for numbers of all sizes, far from zero, and beside nan or infinity."""
    rng = np.random.default_rng(4)
    x = rng.standard_normal(shape).astype(np.float32) * 1000 + 77777
    special = np.where(rng.random(shape) < 0.01, np.float32(np.inf), x)
    others = x[..., ::2], special, numbers(*shape), x.astype(np.float64)
    for each in (x, last(x), last(special), *others):
        expected = reference_moments(each)
        for one, other in zip(expected, _kernels.moments_of_channels(each), strict=True):
            assert_same_bits(one, other)
    if x.size:
        exact = x.astype(np.float64)
        mean, variance = _kernels.moments_of_channels(x)
        np.testing.assert_allclose(exact.mean(axis=(0, 2)), mean, rtol=2e-7)
        # The mean is rounded before it is subtracted: half a unit of it, squared, is added.
        rounding = (np.spacing(np.abs(mean)) / 2).astype(np.float64) ** 2
        differs = np.abs(exact.var(axis=(0, 2)) - variance)
        assert (differs <= 2e-7 * variance + 1.01 * rounding + 1e-2 * np.sqrt(rounding)).all()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("special", [False, True])
def test_sums_of_channels(
    kernel: str, shape: tuple[int, ...], special: bool, n_threads: int
) -> None:
    """Sums agree in C order, with channels last and in other orders, for both types."""
    a, b = numbers(*shape, special=special), numbers(*shape[::-1]).T * np.float32(1000)
    center = numbers(shape[1]) + np.float32(70)
    for dtype in (np.float32, np.float64):
        arrays = [each.astype(dtype) for each in (a, b, center)]
        expected = reference.sums_of_channels(*arrays)
        for one, other in zip(expected, _kernels.sums_of_channels(*arrays), strict=True):
            assert_same_bits(one, other)
    for one, other in ((last(a), last(b)), (last(a), b)):
        expected = reference.sums_of_channels(a, b, center)
        actual = _kernels.sums_of_channels(one, other, center)
        assert_same_bits(expected[0], actual[0])
        assert_same_bits(expected[1], actual[1])
    _, products = _kernels.sums_of_channels(a, b)
    assert_same_bits(reference.sums_of_channels(a, b, np.zeros_like(center))[1], products)


def test_sums_of_channels_are_rounded_once(kernel: str) -> None:
    """A sum keeps what float32 would lose: a one beside 2 ** 24, and products that cancel."""
    a = np.float32([[[2**24, 1, -(2**24), 3]], [[1, 1, 1, 1]]])
    b = np.float32([[[2**24, 1, 2**24, 0]], [[1, 1, 1, 1]]])
    sums, products = _kernels.sums_of_channels(a, b, np.float32([1]))
    assert [8.0] == sums.tolist()
    assert [-3.0] == products.tolist()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("special", [False, True])
def test_channels_are_scaled(
    kernel: str, shape: tuple[int, ...], special: bool, n_threads: int
) -> None:
    x, scale = numbers(*shape, special=special), numbers(shape[1])
    for each in (x, last(x), x.astype(np.float64)):
        more = scale + np.float32(1)
        for rule in ((None, False), (None, True), (more, False), (more, False, -scale)):
            assert_same_bits(
                reference.scale_channels(each, scale, *rule),
                _kernels.scale_channels(each, scale, *rule),
            )


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("special", [False, True])
def test_gradient_of_normalized(
    kernel: str, shape: tuple[int, ...], special: bool, n_threads: int
) -> None:
    grad, x = numbers(*shape, special=special), numbers(*shape[::-1]).T
    parameters = [numbers(shape[1]) + np.float32(i) for i in range(4)]
    for dtype in (np.float32, np.float64):
        arrays = [each.astype(dtype) for each in (grad, x, *parameters)]
        assert_same_bits(
            reference.gradient_of_normalized(*arrays), _kernels.gradient_of_normalized(*arrays)
        )
    expected = reference.gradient_of_normalized(grad, x, *parameters)
    for one, other in ((last(grad), last(x)), (last(grad), x)):
        assert_same_bits(expected, _kernels.gradient_of_normalized(one, other, *parameters))


@pytest.mark.parametrize("shape", [(3, 17, 64), (2, 31, 17), (3, 70, 1), (9, 33, 8), (2, 300, 5)])
def test_images_by_themselves(kernel: str, shape: tuple[int, ...], n_threads: int) -> None:
    """Numbers for each channel of every image, whichever way images lie."""
    x, grad = numbers(*shape, special=True), numbers(*shape[::-1]).T.copy()
    scale, shift, center, factor = (numbers(*shape[:2]) + np.float32(i) for i in range(4))
    scaled = reference.scale_channels(x, scale, shift, center=center)
    sums = reference.sums_of_images(grad, x, center)
    gradient = reference.gradient_of_normalized(grad, x, scale, center, factor, shift)
    for one, other in ((x, grad), (last(x), last(grad)), (last(x), grad)):
        assert_same_bits(scaled, _kernels.scale_channels(one, scale, shift, center=center))
        for expected, found in zip(sums, _kernels.sums_of_images(other, one, center), strict=True):
            assert_same_bits(expected, found)
        given = other, one, scale, center, factor, shift
        assert_same_bits(gradient, _kernels.gradient_of_normalized(*given))


@pytest.mark.parametrize("length", [0, 1, 16, 17, 31, 33, 255, 256, 257, 300])
@pytest.mark.parametrize("channels", [0, 6, 32, 33, 70])
def test_groups_are_normalized(kernel: str, channels: int, length: int, n_threads: int) -> None:
    """Around places and blocks of a channel, and the channels that are added side by side."""
    weight, bias = numbers(channels), numbers(channels) - np.float32(1)
    for images in (0, 1, 3):
        x = numbers(images, channels, length, special=length > 255) * np.float32(9) + np.float32(3)
        for groups in {1, max(channels // 3, 1), max(channels, 1)}:
            if channels % groups:
                continue
            moments = rows_reference.moments_of_groups(x, groups)
            given = (weight, bias) if groups > 1 else (None, None)
            normal = rows_reference.normalize_groups(x, groups, *given, 1e-5)
            for each in (x, last(x), np.asfortranarray(x)):
                found = _kernels.moments_of_groups(each, groups)
                for one, other in zip(moments, found, strict=True):
                    assert_same_bits(one, other)
                found = _kernels.normalize_groups(each, groups, *given, 1e-5)
                for one, other in zip(normal, found, strict=True):
                    assert_same_bits(one, other)
    double = x.astype(np.float64), 1
    for one, other in (
        (rows_reference.moments_of_groups(*double), _kernels.moments_of_groups(*double)),
        (
            rows_reference.normalize_groups(*double, weight, None, 1e-5),
            _kernels.normalize_groups(*double, weight, None, 1e-5),
        ),
    ):
        for expected, found in zip(one, other, strict=True):
            assert_same_bits(expected, found)


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 65, 255, 256, 257, 1001])
@pytest.mark.parametrize("rows", [0, 1, 3, 70])
def test_rows_are_normalized(kernel: str, rows: int, n: int, n_threads: int) -> None:
    """Around vectors, steps and blocks; with and without a mean, a weight and a bias."""
    x, g = numbers(rows, n) + np.float32(3), numbers(rows, n, special=n > 200)
    weight, bias = numbers(n), numbers(n) - np.float32(1)
    for w, b, has_mean in ((weight, bias, True), (None, None, False), (weight, None, True)):
        expected = rows_reference.normalize_rows(x, w, b, 1e-5, has_mean)
        for one, other in zip(
            expected, _kernels.normalize_rows(x, w, b, 1e-5, has_mean), strict=True
        ):
            assert_same_bits(one, other)
        given = g, x, w, *expected[1:], has_mean
        assert_same_bits(rows_reference.gradient_of_rows(*given), _kernels.gradient_of_rows(*given))
    for each in (x, g):
        for given in ((each,), (each, n), (each, 1, 0), (each[np.newaxis], n, 2)):
            assert_same_bits(rows_reference.totals_of_rows(*given), _kernels.totals_of_rows(*given))
    given = g, x, *expected[1:]
    for one, other in zip(
        (*rows_reference.gradient_of_columns(*given), *rows_reference.moments_of_rows(g)),
        (*_kernels.gradient_of_columns(*given), *_kernels.moments_of_rows(g)),
        strict=True,
    ):
        assert_same_bits(one, other)


@pytest.mark.parametrize("columns", [0, 1, 7, 8, 9, 31, 32, 33, 65, 200])
@pytest.mark.parametrize("n", [0, 1, 3, 70])
def test_columns_are_added_up(kernel: str, n: int, columns: int, n_threads: int) -> None:
    """Around vectors and the columns that are added side by side."""
    for groups in (0, 1, 3):
        for dtype in (np.float32, np.float64):
            x = numbers(groups, n, columns, special=n > 3).astype(dtype)
            assert_same_bits(rows_reference.totals_of_columns(x), _kernels.totals_of_columns(x))


@pytest.mark.parametrize("channels", [0, 1, 7, 8, 9, 31, 32, 33, 65])
@pytest.mark.parametrize("pixels", [0, 1, 16, 17, 31, 32, 33, 255, 256, 257, 300])
def test_pixels_are_added_up(kernel: str, pixels: int, channels: int, n_threads: int) -> None:
    """Around places and blocks of a channel, and the channels that are added side by side."""
    for images in (1, 3):
        for dtype in (np.float32, np.float64):
            x = numbers(images, pixels, channels, special=pixels > 32).astype(dtype)
            for count in (1, pixels):
                assert_same_bits(
                    rows_reference.totals_across(x, count), _kernels.totals_across(x, count)
                )


def test_other_types_are_normalized_by_the_twin() -> None:
    """Doubles keep their type, and columns in another order are copied."""
    x = numbers(4, 6)
    for each in (x.astype(np.float64), np.asfortranarray(x)):
        expected = rows_reference.normalize_rows(each, None, None, 1e-5)
        actual = _kernels.normalize_rows(each, None, None, 1e-5)
        for one, other in zip(expected, actual, strict=True):
            assert one.dtype == each.dtype
            assert_same_bits(one, other)
