"""Products of real matrices by several threads: the same bits, and nobody else's settings."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

import pyqref
from pyqref._kernels import threads
from pyqref.tape import products
from pyqref.tape.products import matmul

#: Rows, depth, columns: cut by rows, by columns, whole as too small or too narrow, unequal parts.
SHAPES = [(1024, 96, 200), (200, 96, 1024), (64, 64, 64), (200, 1000, 200), (1037, 300, 65)]


@pytest.fixture(autouse=True)
def _threads():
    before = pyqref.get_num_threads()
    yield
    pyqref.set_num_threads(before)


def operands(shape, rng):
    rows, depth, columns = shape
    a = rng.standard_normal((rows, depth), np.float32)
    return a, rng.standard_normal((depth, columns), np.float32)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("turned", [False, True])
def test_the_bits_do_not_depend_on_the_threads(shape, turned, monkeypatch):
    a, b = operands(shape, np.random.default_rng(0))
    if turned:
        a, b = np.ascontiguousarray(a.T).T, np.ascontiguousarray(b.T).T
    results = []
    for n_threads in (1, 2, 3):  # behind set_num_threads, which warns without OpenMP
        monkeypatch.setattr(threads, "limit", n_threads)
        results.append(matmul(a, b))
    assert all(np.array_equal(each, results[0]) for each in results)
    # Each sum of K products in single precision is off by at most K half units of each product.
    exact = a.astype(np.float64) @ b.astype(np.float64)
    unit = np.finfo(np.float32).eps / 2
    bound = 1.01 * a.shape[1] * unit * (np.abs(a).astype(np.float64) @ np.abs(b))
    assert (np.abs(results[0] - exact) <= bound).all()


def test_the_parts_cover_the_product_once():
    for shape in [(1024, 256, 70), (70, 256, 1024), (1037, 300, 65), (4097, 64, 64)]:
        a, b = operands(shape, np.random.default_rng(1))
        out = np.zeros((len(a), b.shape[1]), np.float32)
        parts = products._cut(a, b, out, products._step_of_parts(a, b))
        for *_, part in parts:
            part += 1
        assert len(parts) > 1
        assert (out == 1).all()


def test_an_ordered_sum_has_the_bits_of_one_thread():
    """Whichever task is done first; what was added is not kept."""
    rng = np.random.default_rng(5)
    arrays = rng.standard_normal((6, 3, 4), np.float32)
    places = [slice(i, i + 2) for i in range(0, 12, 2)]
    expected = np.zeros((3, 4), np.float32)
    for each in arrays:
        expected += each
    for order in (range(6), range(5, -1, -1), rng.permutation(6)):
        ordered = products.OrderedSum((3, 4), np.float32)
        for i in order:
            ordered.add(places[i], arrays[i])
        assert np.array_equal(expected, ordered.total)
        assert not ordered._waiting


#: Whole, in parts, and what one call multiplies: stacks that broadcast, and vectors.
PAIRS = [((70, 50), (50, 40)), ((30, 50), (50, 90)), ((5, 7, 9), (9, 8)), ((5, 7, 9), (5, 9, 8))]
PAIRS += [
    ((2, 3, 40, 9), (2, 3, 9, 30)),
    ((2, 1, 4, 9), (2, 3, 9, 5)),
    ((9,), (9, 5)),
    ((5, 9), (9,)),
]


@pytest.mark.parametrize("shapes", PAIRS)
@pytest.mark.parametrize("longest", [1, 400, 5000, 1 << 32])
def test_long_products_are_made_of_several(shapes, longest, monkeypatch):
    """Small integers, so that sums are exact."""
    monkeypatch.setattr(products, "_LONGEST", longest)
    rng = np.random.default_rng(6)
    a, b = (rng.integers(-8, 9, shape).astype(np.float32) for shape in shapes)
    product = products.multiply(a, b)
    np.testing.assert_array_equal(a.astype(int) @ b.astype(int), product)
    assert product.dtype == np.float32


def test_stacks_are_multiplied_one_by_one():
    rng = np.random.default_rng(2)
    a = rng.integers(-8, 9, (3, 70, 100)).astype(np.float32)
    b = rng.integers(-8, 9, (3, 100, 80)).astype(np.float32)
    np.testing.assert_array_equal(matmul(a, b), a.astype(int) @ b.astype(int))


def test_threads_of_the_library_are_as_before():
    libraries = ThreadpoolController().select(user_api="blas").lib_controllers
    before = [each.get_num_threads() for each in libraries]
    matmul(*operands((1024, 256, 256), np.random.default_rng(3)))
    assert [each.get_num_threads() for each in libraries] == before
    with pytest.raises(ValueError, match="matmul"):
        matmul(np.ones((1024, 256)), np.ones((255, 1024)))
    assert [each.get_num_threads() for each in libraries] == before


@pytest.mark.skipif(not threads.has_openmp(), reason="built without OpenMP")
def test_kernels_in_shared_tasks_get_no_help():
    from pyqref._kernels import _parallel

    def is_alone(multiply=None):
        before = _parallel.leave_alone(True)
        _parallel.leave_alone(before)
        seen.append(before)

    seen = []
    pyqref.set_num_threads(2)
    products.run([is_alone] * 8, products._MANY)
    is_alone()
    products.run([is_alone] * 2, 1)
    assert seen == [True] * 8 + [False] * 3


def test_without_a_way_to_hold_threads_back_it_is_one_product(monkeypatch):
    monkeypatch.setattr(products, "_libraries", list)
    a, b = operands((1024, 96, 200), np.random.default_rng(4))
    np.testing.assert_array_equal(matmul(a, b), a @ b)


@pytest.mark.parametrize("shape", [(6, 9, 15, 14), (3, 17, 40, 41), (40, 64, 9, 8)])
@pytest.mark.parametrize(("taps", "groups", "dtype"), [(1, 1, "f4"), (3, 1, "f8"), (3, 2, "f8")])
def test_convolutions_by_blocks_of_images_are_those_of_all(shape, taps, groups, dtype, monkeypatch):
    """Small integers, so that sums are exact, and the same for any number of threads."""
    rng = np.random.default_rng(5)
    batch, channels, *size = shape[0], shape[1] // groups, *shape[2:]
    x = rng.integers(-4, 5, (batch, channels * groups, *size)).astype(dtype)
    weight = rng.integers(-4, 5, (16, channels, taps, taps)).astype(dtype)
    grad = rng.integers(-4, 5, (batch, 16, *size)).astype(dtype)
    results = []
    for n_threads, places in ((1, 256), (2, 256), (1, 1 << 40)):
        monkeypatch.setattr(threads, "limit", n_threads)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("pyqref.tape.convolution._PLACES", places)
            inputs = [pyqref.from_numpy(each.copy()).requires_grad_() for each in (x, weight)]
            y = pyqref.nn.functional.conv2d(*inputs, padding=taps // 2, groups=groups)
            y.backward(pyqref.from_numpy(grad))
        results.append([y.detach().numpy(), *(each.grad.numpy() for each in inputs)])
    for each in results[1:]:
        for expected, actual in zip(results[0], each, strict=True):
            np.testing.assert_array_equal(expected, actual)
