"""Pages of very large results are used again, and never those of one that is still there."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from pyqref._kernels import layout

pages = pytest.importorskip("pyqref._kernels.memory", reason="nothing was compiled")

MIB = 1 << 20
BYTES = np.dtype(np.uint8)


def room(size: int) -> np.ndarray:
    array = layout.empty((size,), BYTES)
    if not isinstance(array.base, pages.Pages):
        pytest.skip("this system gives no pages of the kind")
    return array


@pytest.fixture(autouse=True)
def one_block_is_kept() -> None:
    """One as large as all that may be kept, which nobody has touched, drives out all others."""
    layout.empty((512 * MIB,), BYTES)


@pytest.mark.parametrize("size", [4 * MIB, 4 * MIB + 1, 5 * MIB, 6 * MIB - 1, 33 * MIB + 5])
def test_pages_hold_the_array_and_begin_at_a_huge_page(size: int) -> None:
    array = room(size)
    assert array.ctypes.data % (2 * MIB) == 0
    array[:] = 7
    assert array.sum(dtype=np.int64) == 7 * size


def test_smaller_arrays_come_from_numpy() -> None:
    assert not isinstance(layout.empty((4 * MIB - 1,), BYTES).base, pages.Pages)


def test_pages_are_used_again() -> None:
    """Pages are used again by a result of the same size, or of at least half of it."""
    first = room(40 * MIB)
    where = first.ctypes.data
    del first
    assert pages.kept()[-1] == (40 * MIB, True)
    for size in (40 * MIB, 40 * MIB - 3, 20 * MIB):
        assert room(size).ctypes.data == where
    assert room(20 * MIB - 1).ctypes.data != where
    assert room(40 * MIB + 1).ctypes.data != where


def test_the_smallest_that_suits_is_taken() -> None:
    sizes = (40, 24, 32)
    blocks = {size: room(size * MIB) for size in sizes}
    where = {size: block.ctypes.data for size, block in blocks.items()}
    del blocks
    again = [room(size * MIB) for size in (22, 22, 22)]
    assert [each.ctypes.data for each in again] == [where[24], where[32], where[40]]


def test_of_equal_ones_the_last_in_use_is_taken() -> None:
    """Again and again: what goes around among several is in no cache."""
    first, second, third = (room(16 * MIB) for _ in range(3))
    place = second.ctypes.data
    del first, third, second
    assert {room(16 * MIB).ctypes.data for _ in range(5)} == {place}


def test_arrays_that_are_there_share_nothing() -> None:
    """Whatever came and went before; a view keeps the pages of its array."""
    random = np.random.default_rng(0)
    alive: list[tuple[np.ndarray, int]] = []
    for turn in range(200):
        if alive and random.random() < 0.5:
            array, value = alive.pop(random.integers(len(alive)))
            assert (array == value).all()
            continue
        array = room(int(random.integers(4 * MIB, 9 * MIB)))
        array[:] = turn
        alive.append((array[::4096], turn))
    for array, value in alive:
        assert (array == value).all()


def test_no_more_are_kept_than_there_may_be() -> None:
    """Sixteen blocks, 512 MiB: older ones are given back; so is one that is larger alone."""
    many = [room(20 * MIB) for _ in range(20)]
    del many
    assert [size for size, _ in pages.kept()] == [20 * MIB] * 16
    two = [room(300 * MIB), room(301 * MIB)]
    del two
    assert len(pages.kept()) == 1
    last = pages.kept()
    huge = room(513 * MIB)
    del huge
    assert pages.kept() == last


def test_the_system_may_take_all_but_the_last_ones() -> None:
    """The system may take all free pages but the last 32 MiB."""
    blocks = [room(12 * MIB) for _ in range(4)]
    while blocks:
        blocks.pop()
    assert [marked for _, marked in pages.kept()][-4:] == [True, True, False, False]
    huge = room(33 * MIB)
    del huge
    assert pages.kept()[-1] == (34 * MIB, True)


def test_tracemalloc_sees_them() -> None:
    """The bytes of the result, also in a block that is larger."""
    tracemalloc.start()
    try:
        for size in (9 * MIB, 5 * MIB):
            before = tracemalloc.get_traced_memory()[0]
            array = room(size)
            assert 0 <= tracemalloc.get_traced_memory()[0] - before - size < 4096
            del array
            assert tracemalloc.get_traced_memory()[0] - before < 4096
    finally:
        tracemalloc.stop()


def test_what_is_kept_goes_before_a_result_is_refused() -> None:
    """It may be in the way of more memory than there is for one block."""
    array = room(4 * MIB)
    del array
    assert pages.kept()
    with pytest.raises(MemoryError):
        room(1 << 62)
    assert pages.kept() == []
