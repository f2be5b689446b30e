"""Arrays of small results are used again, and never one that anybody could still see."""

from __future__ import annotations

import tracemalloc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref._kernels import layout

pytest.importorskip("pyqref._kernels._outputs", reason="nothing was compiled")

BYTES, REALS = np.dtype(np.int8), np.dtype(np.float32)
#: A shape that no other test has.
SHAPE = (3, 7, 11)


def where(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def room(shape: tuple[int, ...] = SHAPE, dtype: np.dtype[Any] = BYTES) -> np.ndarray:
    return layout.empty(shape, dtype)


@pytest.mark.parametrize("shape", [(), (1,), (5,), (1, 5), (5, 1), (3, 1, 1), SHAPE, (4096,)])
def test_what_nobody_holds_is_the_next_result(shape: tuple[int, ...]) -> None:
    first = room(shape)
    place, number = where(first), id(first)
    del first
    second = room(shape)
    assert (where(second), id(second)) == (place, number)
    assert second.shape == shape
    assert second.flags.c_contiguous
    assert second.flags.owndata


@pytest.mark.parametrize(
    "hold",
    [
        lambda x: x,
        lambda x: x[:1],
        lambda x: x.T,
        lambda x: memoryview(x),
        lambda x: np.asarray(memoryview(x)),
        lambda x: x.reshape(-1).view(np.uint8),
        lambda x: np.from_dlpack(x),
        lambda x: x.flat,
        lambda x: weakref.ref(x),
    ],
)
def test_what_is_held_is_not(hold: Callable[[np.ndarray], Any]) -> None:
    """An array is held by itself, by any view, or by a weak reference, which then sees it go."""
    first = room()
    place = where(first)
    held = hold(first)
    del first
    assert where(room()) != place
    if isinstance(held, weakref.ref):
        assert held() is None


def _is_not_writeable(x: np.ndarray) -> None:
    x.flags.writeable = False


def _has_another_shape(x: np.ndarray) -> None:
    x.shape = (11, 7, 3)


def _has_another_type(x: np.ndarray) -> None:
    x.dtype = np.dtype(np.uint8)


def _has_another_order(x: np.ndarray) -> None:
    x.strides = (1, 3, 21)


def _has_other_memory(x: np.ndarray) -> None:
    x.resize((3, 7, 12), refcheck=False)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    "change",
    [
        _is_not_writeable,
        _has_another_shape,
        _has_another_type,
        _has_another_order,
        _has_other_memory,
    ],
)
def test_what_was_changed_is_not(change: Callable[[np.ndarray], None]) -> None:
    first = room()
    change(first)
    number = id(first)
    del first
    second = room()
    assert id(second) != number
    assert second.shape == SHAPE
    assert second.dtype == BYTES
    assert second.strides == (77, 11, 1)
    assert second.flags.writeable


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_an_odd_stride_of_one_row_does_not_come_back() -> None:
    """NumPy calls an array of one row contiguous whatever lies between its rows."""
    first = room((1, 77))
    first.strides = (5, 1)
    assert first.flags.c_contiguous
    del first
    assert room((1, 77)).strides == (77, 1)


def test_other_shapes_and_types_are_others() -> None:
    """Arrays of other shapes or types, of as many bytes or not, are other memory."""
    made = [room(shape, kind) for shape in ((8, 8), (64,), (4, 16)) for kind in (BYTES, REALS)]
    for shape, kind in (((8, 8), BYTES), ((64,), REALS), ((16,), REALS), ((2, 2, 4), REALS)):
        again = room(shape, kind)
        assert (again.shape, again.dtype) == (shape, kind)
        assert all(not np.may_share_memory(again, each) for each in made)
    for rows in range(256):
        assert room((rows, 16)).shape == (rows, 16)


def test_larger_ones_go_at_once() -> None:
    large = room((4097,))
    gone = weakref.ref(large)
    del large
    assert gone() is None


def test_only_some_are_remembered() -> None:
    """However many sizes there are: 16 of at most 4 KiB, with what NumPy adds to each."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for size in range(1, 4097, 5):
            room((size,))
        after = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert after - before < 16 * (4096 + 256)


def test_results_that_are_kept_stay_as_they_are(kernel: str) -> None:
    """Results of public functions that are kept do not change while others come and go."""
    x = [pyqref.full((4, 9), float(n)) for n in range(40)]
    scales, zero_points = pyqref.ones(9), pyqref.zeros(9, dtype=pyqref.int64)
    kept = []
    for n, each in enumerate(x):
        pyqref.quantize_per_channel(each + 1, scales, zero_points, 1, pyqref.qint8)
        q = pyqref.quantize_per_channel(each, scales, zero_points, 1, pyqref.qint8)
        kept.append(q if n % 2 else q.int_repr()[1:])
    for n, each in enumerate(kept):
        numbers = each.int_repr() if n % 2 else each
        assert numbers.numpy().tolist() == [[n] * 9] * (4 if n % 2 else 3)
