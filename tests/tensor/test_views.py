"""Views share memory; strides, offsets and addresses agree with that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyqref

VIEWS: dict[str, tuple[Callable[[Any], Any], tuple[int, ...], tuple[int, ...], int]] = {
    # a view of arange(24).reshape(2, 3, 4): function, shape, stride, storage offset
    "view": (lambda x: x.view(6, 4), (6, 4), (4, 1), 0),
    "reshape": (lambda x: x.reshape(-1), (24,), (1,), 0),
    "transpose": (lambda x: x.transpose(0, 2), (4, 3, 2), (1, 4, 12), 0),
    "permute": (lambda x: x.permute(2, 0, 1), (4, 2, 3), (1, 12, 4), 0),
    "select": (lambda x: x[1], (3, 4), (4, 1), 12),
    "slice": (lambda x: x[:, 1:, ::2], (2, 2, 2), (12, 4, 2), 4),
    "narrow": (lambda x: x.narrow(2, 1, 2), (2, 3, 2), (12, 4, 1), 1),
    "expand": (lambda x: x[0, 0].expand(3, 4), (3, 4), (0, 1), 0),
    "as_strided": (lambda x: x.as_strided((2, 2), (5, 3), 1), (2, 2), (5, 3), 1),
    "diagonal": (lambda x: x[0].diagonal(), (3,), (5,), 0),
    "unfold": (lambda x: x[0, 0].unfold(0, 2, 1), (3, 2), (1, 1), 0),
    "unflatten": (lambda x: x.unflatten(2, (2, 2)), (2, 3, 2, 2), (12, 4, 2, 1), 0),
    "last_chunk": (lambda x: x.chunk(2, 1)[1], (2, 1, 4), (12, 4, 1), 8),
    "last_unbound": (lambda x: x.unbind(2)[3], (2, 3), (12, 4), 3),
    "detach": (lambda x: x.detach(), (2, 3, 4), (12, 4, 1), 0),
    "nested": (lambda x: x[1][2][1:], (3,), (1,), 21),
}


@pytest.mark.parametrize("name", VIEWS)
def test_view(name: str) -> None:
    """Shape, stride, offset and address are those that torch documents; writing is seen."""
    function, shape, stride, offset = VIEWS[name]
    x = pyqref.arange(24).reshape(2, 3, 4)
    view = function(x)
    assert shape == tuple(view.shape)
    assert stride == view.stride()
    assert offset == view.storage_offset()
    assert x.data_ptr() + 8 * offset == view.data_ptr()
    # An expanded tensor is not written as a whole: its rows are one place in memory.
    (view[0] if name == "expand" else view).fill_(-1)
    assert int(np.unique(view.numpy().size and x.numpy()[x.numpy() < 0]).size) == 1
    assert view.numpy().max() == -1


COPIES: dict[str, Callable[[Any], Any]] = {
    "clone": lambda x: x.clone(),
    "flip": lambda x: x.flip(0),
    "index": lambda x: x[[0, 1]],
    "repeat": lambda x: x.repeat(1, 1),
    "reshape_of_transposed": lambda x: x.t().reshape(-1),
    "contiguous_of_transposed": lambda x: x.t().contiguous(),
}


@pytest.mark.parametrize("name", COPIES)
def test_copy(name: str) -> None:
    """Writing to a copy leaves the original as it was."""
    x = pyqref.arange(6).reshape(2, 3)
    COPIES[name](x).fill_(-1)
    assert [[0, 1, 2], [3, 4, 5]] == x.tolist()


def test_contiguous_returns_the_tensor_itself() -> None:
    """No copy where none is needed."""
    x = pyqref.ones(2, 3)
    assert x.contiguous() is x
    assert x.to(pyqref.float32) is x


def test_view_of_a_transposed_tensor() -> None:
    """The error names the way out."""
    with pytest.raises(RuntimeError, match=r"Use \.reshape\(\.\.\.\) instead"):
        pyqref.ones(2, 3).t().view(6)


def test_axes_one_by_one() -> None:
    """``squeeze(0, 1)`` and ``count_nonzero(0, 1)`` are those of ``(0, 1)``; no axis is none."""
    x = pyqref.ones(1, 1, 2, 1)
    assert (2, 1) == tuple(x.squeeze(0, 1).shape) == tuple(x.squeeze((0, 1)).shape)
    assert (1, 1, 2, 1) == tuple(x.squeeze(()).shape)
    assert [[1], [1]] == x.count_nonzero(0, 1).tolist() == x.count_nonzero((0, 1)).tolist()


def test_atleast_of_several() -> None:
    """A tensor alone, or a tuple of what was given."""
    number, vector = pyqref.tensor(1.0), pyqref.ones(3)
    assert (1,) == tuple(pyqref.atleast_1d(number).shape)
    for given in ((number, vector), ([number, vector],)):
        assert [(1,), (3,)] == [tuple(each.shape) for each in pyqref.atleast_1d(*given)]
        assert [(1, 1), (1, 3)] == [tuple(each.shape) for each in pyqref.atleast_2d(*given)]
        assert [(1, 1, 1), (1, 3, 1)] == [tuple(each.shape) for each in pyqref.atleast_3d(*given)]
    assert (2, 3, 1) == tuple(pyqref.atleast_3d(pyqref.ones(2, 3)).shape)
    assert () == pyqref.atleast_1d() == pyqref.atleast_2d([]) == pyqref.atleast_3d([])


JOINING = ["stack", "vstack", "hstack", "dstack", "column_stack"]


@pytest.mark.parametrize("name", [*JOINING, "atleast_1d", "atleast_2d", "atleast_3d"])
def test_what_is_no_tensor_cannot_be_joined(name: str) -> None:
    """The message names the function."""
    for given in (3, [3], [pyqref.ones(1), [1.0]]):
        with pytest.raises(TypeError, match=rf"{name}\(\): tensors must be a list of Tensors, got"):
            getattr(pyqref, name)(given)


@pytest.mark.parametrize("name", JOINING)
def test_nothing_cannot_be_joined(name: str) -> None:
    """Joining nothing is refused, as in torch."""
    with pytest.raises((RuntimeError, ValueError), match=r"expect.* a non-empty"):
        getattr(pyqref, name)([])


def test_channels_last() -> None:
    """The layout is kept by element-wise functions and copies, and can be left."""
    x = pyqref.arange(120.0).reshape(2, 3, 4, 5)
    y = x.contiguous(memory_format=pyqref.channels_last)
    assert (60, 1, 15, 3) == y.stride()
    assert x.tolist() == y.tolist()
    assert y.is_contiguous(memory_format=pyqref.channels_last)
    assert not y.is_contiguous()
    for kept in (y + 1, y.relu(), y.clone(), pyqref.empty_like(y), y.double()):
        assert y.stride() == kept.stride()
    assert (60, 20, 5, 1) == y.contiguous().stride()


@pytest.mark.parametrize(("size", "stride", "offset"), [((30,), (1,), None), ((5, 5), (5, 1), 1)])
def test_as_strided_stays_inside(size: Any, stride: Any, offset: Any) -> None:
    """A view may not reach out of the storage."""
    with pytest.raises(RuntimeError, match="the storage has"):
        pyqref.arange(24).as_strided(size, stride, offset)


def test_as_strided_of_a_view_reaches_the_storage() -> None:
    """The offset counts from the beginning of the storage."""
    x = pyqref.arange(6)
    assert [0, 2, 4] == x[3:].as_strided((3,), (2,), 0).tolist()
    assert [3, 4] == x[3:].as_strided((2,), (1,)).tolist()


def test_negative_strides_are_refused() -> None:
    """Slices with a negative step, as in torch."""
    with pytest.raises(ValueError, match="step must be greater than zero"):
        pyqref.arange(3)[::-1]
    with pytest.raises(RuntimeError, match="Negative strides"):
        pyqref.arange(3).as_strided((3,), (-1,), 2)


@pytest.mark.parametrize("turns", range(-1, 5))
@pytest.mark.parametrize("axes", [(0, 1), (2, 0), (-1, 1)])
def test_turns_as_numpy_does(turns: int, axes: tuple[int, int]) -> None:
    """A quarter of a turn is one copy, of which the result is a view, as in torch."""
    x = pyqref.arange(24).reshape(2, 3, 4)
    turned = x.rot90(turns, axes)
    assert np.array_equal(np.rot90(x._array, turns, axes), turned._array)
    assert not np.shares_memory(x._array, turned._array)
    copied = np.flip(x._array, axes[turns % 4 == 1]).copy() if turns % 2 else turned._array.copy()
    expected = copied.swapaxes(*axes) if turns % 2 else copied
    assert expected.strides == turned._array.strides


def test_axes_to_turn_must_be_two() -> None:
    """The errors are torch's."""
    x = pyqref.zeros(2, 3, 4)
    for axes in ((0,), (0, 1, 2)):
        with pytest.raises(RuntimeError, match="expected total rotation dims == 2"):
            x.rot90(1, axes)
    with pytest.raises(RuntimeError, match="appears multiple times"):
        x.rot90(1, (0, -3))
    with pytest.raises(IndexError, match="Dimension out of range"):
        x.rot90(1, (0, 3))
    with pytest.raises(RuntimeError, match="expected total dims >= 2"):
        x[0, 0].rot90()
