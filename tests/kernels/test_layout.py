"""How kernels see arrays."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from pyqref._kernels import layout

SHAPES = [(5,), (2, 3), (4, 2, 3), (2, 3, 4, 5), (2, 3, 2, 4, 5), (1, 3, 1, 5), (2, 1, 3, 1)]


def _examples() -> list[np.ndarray]:
    """Arrays in every order: C, Fortran, channels last, with gaps, repeated, backwards, empty."""
    rng = np.random.default_rng(0)
    made = [np.array(3, np.uint8), np.zeros((0, 3), np.uint8), np.zeros((2, 3, 0, 5), np.uint8)]
    for shape in SHAPES:
        x = rng.integers(0, 256, shape).astype(np.uint8)
        last = np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1) if x.ndim > 1 else x
        made += [x, x.T, last, x[::2], last[..., ::2], x[..., ::-1], last[:1], x.swapaxes(0, -1)]
        made.append(np.broadcast_to(x[:1], (3, *shape[1:])))
    return made


def _in_memory(x: np.ndarray) -> np.ndarray:
    """The elements of an array without gaps, as they lie."""
    return np.lib.stride_tricks.as_strided(x, (x.size,), (x.itemsize,))


@pytest.mark.parametrize("x", _examples(), ids=lambda x: f"{x.shape}{x.strides}")
class TestLayout:
    def test_contiguous(self, x: np.ndarray) -> None:
        """C order; no copy of what has it."""
        y = layout.contiguous(x)
        assert y.flags.c_contiguous
        assert np.array_equal(x, y)
        assert (y is x) == x.flags.c_contiguous

    def test_dense_and_output_like(self, x: np.ndarray) -> None:
        """Elements are processed in the order in which they lie, each in place."""
        y = layout.dense(x)
        room = layout.output_like(y, np.dtype(np.int32))
        assert (np.int32, y.shape) == (room.dtype, room.shape)
        assert np.array_equal(x, y)
        places = sum((np.indices(x.shape).T * x.strides).T, np.zeros(x.shape, int))
        assert (y is x) == np.array_equal(np.sort(places.ravel()), np.arange(x.size))
        _in_memory(room)[:] = _in_memory(y)
        assert np.array_equal(x, room)

    def test_in_result_order(self, x: np.ndarray) -> None:
        """C order, or as it was with the channels last in memory."""
        y = layout.in_result_order(x)
        assert np.array_equal(x, y)
        channels_last = x.ndim in (4, 5) and np.moveaxis(x, 1, -1).flags.c_contiguous
        assert y is x if x.flags.c_contiguous or channels_last else y.flags.c_contiguous

    def test_elements_per_channel(self, x: np.ndarray) -> None:
        """The elements of one index of an axis that follow one another, counted from either end."""
        for axis in range(x.ndim):
            inner = int(np.prod(x.shape[axis + 1 :]))
            assert inner == layout.elements_per_channel(x, axis)
            assert inner == layout.elements_per_channel(x, axis - x.ndim)

    def test_expanded(self, x: np.ndarray) -> None:
        """The view that ``np.broadcast_to`` gives, to which one may write."""
        for shape in ((2, *x.shape), (3, 1, *x.shape)):
            y, expected = layout.expanded(x, shape), np.broadcast_to(x, shape)
            assert np.array_equal(expected, y)
            assert y.flags.writeable == x.flags.writeable
            if x.size:
                steps = zip(expected.strides, y.strides, shape, strict=True)
                assert all(one == other or length == 1 for one, other, length in steps)
                assert np.shares_memory(x, y)

    def test_laid_as(self, x: np.ndarray) -> None:
        """The other array lies as the first one does, copied if it did not."""
        first = layout.dense(x)
        other = np.array(x, order="C")
        laid = layout.laid_as(first, other)
        assert np.array_equal(x, laid)
        assert np.array_equal(_in_memory(first), _in_memory(laid))

    @pytest.mark.parametrize("either", [True, False])
    def test_images(self, x: np.ndarray, either: bool) -> None:
        """Images are in C order if that is as good, else have channels last; results likewise."""
        if x.ndim < 3 or x.size == 0:
            return
        sizes = (2, 3, 4)[: x.ndim - 2]
        q, room = layout.images(x, sizes, either)
        assert np.array_equal(x, q)
        assert (x.dtype, (*x.shape[:2], *sizes)) == (room.dtype, room.shape)
        if either and q.flags.c_contiguous:
            assert room.flags.c_contiguous
        else:
            assert np.moveaxis(q, 1, -1).flags.c_contiguous
            assert np.moveaxis(room, 1, -1).flags.c_contiguous
        if np.moveaxis(x, 1, -1).flags.c_contiguous or (either and x.flags.c_contiguous):
            assert np.shares_memory(x, q)


def test_room_that_there_is_not() -> None:
    """Nothing is held where memory is not enough."""
    dtype = np.dtype([("largest", np.uint8)])
    before = sys.getrefcount(dtype)
    for _ in range(5):
        with pytest.raises(MemoryError):
            layout.empty((1 << 60,), dtype)
    assert before == sys.getrefcount(dtype)


@pytest.mark.parametrize("shape", [(2, 4), (3,), (1, 3, 1)])
def test_what_cannot_be_expanded(shape: tuple[int, ...]) -> None:
    """An axis longer than 1 stays as it is, and none is dropped."""
    with pytest.raises(ValueError, match=r"broadcast|expanded|dimensions"):
        layout.expanded(np.zeros((2, 3)), shape)


def test_in_one_order() -> None:
    """All in C order, or all with their channels last; an array of one channel is in both."""
    first = np.zeros((2, 3, 4, 5), np.uint8)
    last = np.moveaxis(np.zeros((2, 4, 5, 3), np.uint8), -1, 1)
    either = np.zeros((2, 1, 4, 5), np.uint8)
    assert layout.in_one_order([first, either, first])
    assert layout.in_one_order((last, either))
    assert not layout.in_one_order([first, last, either])
    assert not layout.in_one_order([first[:, :, 1:]])


def test_lists_become_arrays() -> None:
    """Lists become arrays."""
    assert layout.contiguous([1, 2]).tolist() == [1, 2]
    assert layout.in_result_order([1, 2]).tolist() == [1, 2]
