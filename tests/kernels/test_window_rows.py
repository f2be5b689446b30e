"""Windows as rows by every kernel against the twins in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernels.compare import assert_same_bits

from pyqref import _kernels
from pyqref._kernels import registry
from pyqref.numerics import windows as reference
from pyqref.numerics.windows import Windows
from pyqref.tape.products import held_back

#: Kernel, stride, padding and dilation: ordinary, of one pixel, apart, wider than the image.
GEOMETRIES = [
    ((3, 3), (1, 1), (1, 1), (1, 1)),
    ((1, 1), (1, 1), (0, 0), (1, 1)),
    ((1, 1), (2, 2), (0, 0), (1, 1)),
    ((1, 1), (1, 1), (1, 0), (1, 1)),
    ((2, 3), (2, 1), (0, 2), (1, 1)),
    ((3, 2), (3, 2), (1, 1), (2, 3)),
    ((5, 5), (2, 3), (2, 2), (1, 1)),
    ((2, 2), (4, 5), (0, 0), (1, 1)),
]
#: Channels and pixels around the blocks of 8 x 8.
CHANNELS = [1, 3, 7, 8, 9, 16, 17]
SIZES = [(7, 8), (5, 9), (16, 17)]


def numbers(*shape: int) -> np.ndarray:
    """Floats of all sizes, the negative zero among them."""
    rng = np.random.default_rng(len(shape))
    x = rng.standard_normal(shape).astype(np.float32)
    return np.where(rng.random(shape) < 0.1, np.float32(-0.0), x)


def check(x: np.ndarray, windows: Windows) -> None:
    """Both directions, bit for bit."""
    rows = reference.unfold_rows(x, windows)
    assert_same_bits(rows, _kernels.unfold_rows(x, windows))
    grad = numbers(*rows.shape)
    size = x.shape[2:]
    assert_same_bits(
        reference.fold_rows(grad, windows, size), _kernels.fold_rows(grad, windows, size)
    )


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("size", SIZES)
def test_windows_around_the_block(
    kernel: str, geometry: Any, size: tuple[int, int], n_threads: int
) -> None:
    for channels in CHANNELS:
        check(numbers(2, channels, *size), Windows.make(*geometry))


def test_padding_that_differs_before_and_after(kernel: str) -> None:
    check(numbers(2, 9, 6, 7), Windows((3, 3), (2, 2), (1, 1), ((0, 2), (1, 0))))


@pytest.mark.parametrize("spatial", [1, 3])
def test_lines_and_volumes(kernel: str, spatial: int) -> None:
    """Lines are planes of one line; volumes go to the twin."""
    each = [(3,) * spatial, (2,) * spatial, (1,) * spatial, (2,) * spatial]
    check(numbers(2, 9, *range(7, 7 + spatial)), Windows.make(*each))


@pytest.mark.parametrize("shape", [(1, 600, 40, 30), (1, 3000, 4, 33)])
def test_images_larger_than_the_scratch(
    kernel: str, shape: tuple[int, ...], n_threads: int
) -> None:
    """They are cut into bands of lines, in the end lines by themselves."""
    check(numbers(*shape), Windows.make((3, 3), (2, 1), (1, 1), (1, 1)))


def test_nothing_at_all(kernel: str) -> None:
    windows = Windows.make((3, 3), (1, 1), (1, 1), (1, 1))
    for shape in ((0, 3, 5, 5), (2, 0, 5, 5)):
        check(numbers(*shape), windows)


@pytest.mark.parametrize("shape", [(2, 3, 5), (1, 8, 8), (3, 17, 4, 9), (1, 1, 70, 3), (0, 3, 4)])
def test_channels_first_and_last(kernel: str, shape: tuple[int, ...], n_threads: int) -> None:
    x = numbers(*shape)
    for each in (x, np.repeat(x, 2, axis=-1)[..., ::2]):
        assert_same_bits(reference.channels_last(each), _kernels.channels_last(each))
        assert_same_bits(reference.channels_first(each), _kernels.channels_first(each))


def test_other_types_go_to_the_twin(kernel: str) -> None:
    x = numbers(2, 9, 5, 6).astype(np.float64)
    check(x, Windows.make((3, 3), (1, 1), (1, 1), (1, 1)))
    assert_same_bits(reference.channels_first(x), _kernels.channels_first(x))


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("special", [False, True])
def test_largest_and_its_gradient(
    kernel: str, geometry: Any, special: bool, n_threads: int
) -> None:
    """Equals, nan and minus infinity among them, and windows that reach beside the image."""
    rng = np.random.default_rng(3)
    x = rng.integers(-3, 4, (2, 3, 7, 9)).astype(np.float32)
    if special:
        x = np.where(rng.random(x.shape) < 0.2, np.float32(-np.inf), x)
        x[0] = np.where(rng.random(x[0].shape) < 0.2, np.float32(np.nan), x[0])
    windows = Windows.make(*geometry)
    check_largest(x, windows, windows.output_size(x.shape[2:]))


def check_largest(x: np.ndarray, windows: Windows, count: tuple[int, ...]) -> None:
    y, winner = reference.largest(x, windows, count)
    for expected, actual in zip((y, winner), _kernels.largest(x, windows, count), strict=True):
        assert_same_bits(expected, actual)
    size = x.shape[-len(count) :]
    grad = numbers(*y.shape)
    assert_same_bits(
        reference.gradient_of_largest(grad, winner, windows, size),
        _kernels.gradient_of_largest(grad, winner, windows, size),
    )


@pytest.mark.parametrize("spatial", [1, 2, 3])
def test_largest_of_lines_and_volumes(kernel: str, spatial: int) -> None:
    each = [(3,) * spatial, (2,) * spatial, (1,) * spatial, (1,) * spatial]
    windows = Windows.make(*each)
    for leading in ((), (2, 3)):
        x = numbers(*leading, *range(7, 7 + spatial))
        check_largest(x, windows, windows.output_size(x.shape[-spatial:]))


def test_largest_of_many_and_of_integers(kernel: str) -> None:
    """More positions than a byte can name, and other types, go to the twin."""
    windows = Windows.make((16, 17), (1, 1), (0, 0), (1, 1))
    check_largest(numbers(2, 18, 19), windows, (3, 3))
    x = np.arange(12, dtype=np.int64).reshape(3, 4)
    small = Windows.make((2, 2), (1, 1), (0, 0), (1, 1))
    for expected, actual in zip(
        reference.largest(x, small, (2, 3)), _kernels.largest(x, small, (2, 3)), strict=True
    ):
        assert_same_bits(expected, actual)


#: Images at a time: one, some of which the last have fewer, all.
STEPS = [1, 2, 5]


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("outputs", [1, 8, 17])
@pytest.mark.parametrize("channels", [1, 9])
def test_products_are_those_of_each_block(
    kernel: str, geometry: Any, outputs: int, channels: int, n_threads: int
) -> None:
    """Laid out, multiplied by NumPy and folded back by the twins; sums are added in order."""
    check_products(numbers(5, channels, 7, 8), Windows.make(*geometry), outputs, n_threads)


def test_products_of_lines_and_of_bands(kernel: str, n_threads: int) -> None:
    """Lines are planes of one line; of a large image some lines are laid out at a time."""
    line = Windows.make((3,), (2,), (1,), (2,))
    check_products(numbers(5, 9, 8), line, 4, n_threads)
    plane = Windows.make((3, 3), (2, 1), (1, 1), (1, 1))
    check_products(numbers(2, 600, 25, 30), plane, 4, n_threads)


@held_back()
def check_products(x: np.ndarray, windows: Windows, outputs: int, n_threads: int) -> None:
    """Forward, and backward to the images, to the filters and to both."""
    rows = reference.unfold_rows(x, windows)
    length = int(np.prod(windows.output_size(x.shape[2:])))
    filters = numbers(outputs, int(np.prod(windows.kernel)) * x.shape[1])
    grad = numbers(len(x) * length, outputs)
    for step in STEPS:
        blocks = [
            (slice(i, i + step), slice(i * length, (i + step) * length))
            for i in range(0, len(x), step)
        ]
        product, total = np.empty_like(grad), np.zeros_like(filters)
        images = np.empty_like(x)
        for block, pixels in blocks:
            matrix = rows[block].reshape(-1, filters.shape[1])
            np.matmul(matrix, filters.T, product[pixels])
            folded = (grad[pixels] @ filters).reshape(rows[block].shape)
            images[block] = reference.fold_rows(folded, windows, x.shape[2:])
            total += grad[pixels].T @ matrix
        actual = _kernels.multiply_windows(x, windows, filters, step, n_threads)
        if windows.are_pixels() or actual is None:  # no kernel covers it
            assert actual is None
            continue
        assert_same_bits(product, actual)
        for with_filters, with_images in ((True, True), (True, False), (False, True)):
            both = _kernels.gradients_of_products(
                grad,
                windows,
                filters if with_filters else None,
                x if with_images else None,
                x.shape,
                step,
                n_threads,
            )
            assert both is not None
            for expected, each, wanted in zip(
                (images, total), both, (with_filters, with_images), strict=True
            ):
                assert (each is not None) == wanted
                if each is not None:
                    assert_same_bits(expected, each)


def test_numpy_shows_how_it_multiplies(compiled_kernel: str) -> None:
    """Without its loop, training takes the way of single functions, with the same bits."""
    assert registry.twin("windows").has_products()


def test_products_of_other_types_and_of_nothing_are_not_covered() -> None:
    windows = Windows.make((3, 3), (1, 1), (1, 1), (1, 1))
    x, filters = numbers(2, 3, 5, 6), numbers(4, 27)
    for images, by in ((x.astype(np.float64), filters), (x, filters.astype(np.float64))):
        assert _kernels.multiply_windows(images, windows, by, 1, 1) is None
    assert _kernels.multiply_windows(x[:0], windows, filters, 1, 1) is None
    grad = numbers(2 * 30, 4)
    assert _kernels.gradients_of_products(grad, windows, None, None, x.shape, 1, 1) is None
