"""Float images channel by channel, on integers, which float32 holds exactly."""

from __future__ import annotations

import numpy as np

from pyqref.numerics import channels

#: Images (N, C, L), and numbers for each channel that are powers of two: products are exact.
X = np.random.default_rng(0).integers(-9, 10, (2, 3, 5)).astype(np.float32)
GRAD = np.random.default_rng(1).integers(-9, 10, X.shape).astype(np.float32)
SCALE, SHIFT, CENTER = np.float32([2, 4, 0.5]), np.float32([3, -1, 7]), np.float32([1, -2, 5])


def along(values: np.ndarray) -> np.ndarray:
    """Numbers for each channel as an array ``(1, C, 1)`` of doubles."""
    return values.astype(np.float64).reshape(1, 3, 1)


def test_scale_channels() -> None:
    """Each channel is centred, multiplied or divided, and shifted; what is not given is left."""
    scale, shift, center = along(SCALE), along(SHIFT), along(CENTER)
    assert np.array_equal(X * scale, channels.scale_channels(X, SCALE))
    assert np.array_equal(X / scale, channels.scale_channels(X, SCALE, divides=True))
    assert np.array_equal(X * scale + shift, channels.scale_channels(X, SCALE, SHIFT))
    found = channels.scale_channels(X, SCALE, SHIFT, center=CENTER)
    assert np.array_equal((X - center) * scale + shift, found)


def test_sums_of_channels() -> None:
    """The sums over batch and length of a, and of the products with what b differs from center."""
    total, products = channels.sums_of_channels(GRAD, X, CENTER)
    assert np.array_equal(GRAD.sum(axis=(0, 2)), total)
    assert np.array_equal((GRAD * (X - along(CENTER))).sum(axis=(0, 2)), products)


def test_gradient_of_normalized() -> None:
    """``grad * scale - (x - center) * factor - shift``, with numbers of each channel."""
    factor = SCALE[::-1]
    expected = GRAD * along(SCALE) - (X - along(CENTER)) * along(factor) - along(SHIFT)
    found = channels.gradient_of_normalized(GRAD, X, SCALE, CENTER, factor, SHIFT)
    assert np.array_equal(expected, found)


def test_images_by_themselves() -> None:
    """With numbers for each channel of every image, each image is one of a batch of one."""
    scale, shift, center = (np.stack([each, each[::-1]]) for each in (SCALE, SHIFT, CENTER))
    scaled = channels.scale_channels(X, scale, shift, center=center)
    sums = channels.sums_of_images(GRAD, X, center)
    gradient = channels.gradient_of_normalized(GRAD, X, scale, center, scale, shift)
    for i in range(2):
        one, grad = X[i : i + 1], GRAD[i : i + 1]
        given = scale[i], shift[i]
        expected = channels.scale_channels(one, *given, center=center[i])
        assert np.array_equal(expected[0], scaled[i])
        for expected, found in zip(
            channels.sums_of_channels(grad, one, center[i]), sums, strict=True
        ):
            assert np.array_equal(expected, found[i])
        given = scale[i], center[i], scale[i], shift[i]
        expected = channels.gradient_of_normalized(grad, one, *given)
        assert np.array_equal(expected[0], gradient[i])
