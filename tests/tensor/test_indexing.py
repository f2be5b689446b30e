"""``x[key]`` against NumPy where the two agree, and against torch's rule where not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pyqref


@st.composite
def _basic(draw: Any) -> tuple[tuple[int, ...], tuple[Any, ...]]:
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=4)))
    key: list[Any] = []
    for length in shape[: draw(st.integers(0, len(shape)))]:
        kind = draw(st.sampled_from(["int", "slice", "none"]))
        if kind == "int":
            key.append(draw(st.integers(-length, length - 1)))
            continue
        if kind == "none":
            key.append(None)
        bound = st.none() | st.integers(-length - 1, length + 1)
        key.append(slice(draw(bound), draw(bound), draw(st.none() | st.integers(1, 3))))
    if draw(st.booleans()):
        key.append(Ellipsis)
    return shape, tuple(key)


@given(_basic())
def test_basic_index_is_numpys(case: tuple[tuple[int, ...], tuple[Any, ...]]) -> None:
    """Integers, slices, None and Ellipsis; reading and writing."""
    shape, key = case
    array = np.arange(np.prod(shape)).reshape(shape)
    tensor = pyqref.tensor(array)
    assert np.array_equal(array[key], tensor[key].numpy())
    array[key] = -1
    tensor[key] = -1
    assert np.array_equal(array, tensor.numpy())


@given(st.data())
def test_advanced_index_is_numpys(data: Any) -> None:
    """Integer arrays and masks next to slices; a repeated index is read twice."""
    shape = tuple(data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    axis = data.draw(st.integers(0, len(shape) - 1))
    length = shape[axis]
    if data.draw(st.booleans()):
        index = np.array(data.draw(st.lists(st.booleans(), min_size=length, max_size=length)))
    else:
        index = np.array(
            data.draw(st.lists(st.integers(-length, length - 1), max_size=5)), dtype=np.int64
        )
    array = np.arange(np.prod(shape)).reshape(shape)
    tensor = pyqref.tensor(array)
    key = (slice(None),) * axis
    assert np.array_equal(array[(*key, index)], tensor[(*key, pyqref.tensor(index))].numpy())
    array[(*key, index)] = 7
    tensor[(*key, pyqref.tensor(index))] = 7
    assert np.array_equal(array, tensor.numpy())


def test_integer_beside_an_index_tensor() -> None:
    """Torch takes the integer first: shape (3, 2), where NumPy gives (2, 3)."""
    x = pyqref.arange(24).reshape(2, 3, 4)
    picked = x[0, :, pyqref.tensor([1, 2])]
    assert [[1, 2], [5, 6], [9, 10]] == picked.tolist()


def test_two_index_tensors_broadcast() -> None:
    """A column and a row of indices give a table."""
    x = pyqref.arange(12).reshape(3, 4)
    picked = x[pyqref.tensor([[0], [2]]), pyqref.tensor([1, 3])]
    assert [[1, 3], [9, 11]] == picked.tolist()


def test_mask_over_several_axes() -> None:
    """A mask of the shape of the tensor gives a row of elements."""
    x = pyqref.arange(6).reshape(2, 3)
    assert [3, 4, 5] == x[x > 2].tolist()
    x[x > 2] = 0
    assert [[0, 1, 2], [0, 0, 0]] == x.tolist()


def test_value_is_broadcast_and_converted() -> None:
    """Leading axes of length 1 are dropped; floats are cut to integers."""
    x = pyqref.zeros(2, 3, dtype=pyqref.int64)
    x[0] = pyqref.tensor([[[1.7, 2.2, 3.9]]])
    assert [[1, 2, 3], [0, 0, 0]] == x.tolist()


WRONG = [
    (lambda x: x[3], IndexError, "index 3 is out of bounds for dimension 0 with size 2"),
    (lambda x: x[0, 0, 0], IndexError, "too many indices for tensor of dimension 2"),
    (lambda x: x[1.0], IndexError, "only integers, slices"),
    (lambda x: x[pyqref.tensor([5])], IndexError, "index 5 is out of bounds"),
    (lambda x: x[pyqref.tensor([1.0])], IndexError, "must be long, int, byte or bool"),
    (lambda x: x[pyqref.tensor([True])], IndexError, r"shape of the mask \[1\]"),
    (lambda x: x.index_select(0, pyqref.tensor([2])), IndexError, "index 2 is out of bounds"),
    (lambda x: x.gather(1, pyqref.tensor([[4], [0]])), IndexError, "index 4 is out of bounds"),
    (lambda x: x.select(1, 3), IndexError, "index 3 out of range"),
    (lambda x: x.narrow(1, 1, 3), RuntimeError, "exceeds dimension size"),
    (lambda x: x.topk(9), RuntimeError, "k out of range"),
    (lambda x: x.masked_fill(x, 1), RuntimeError, "only supports boolean masks"),
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_wrong_index(number: int) -> None:
    """The error says what was asked for and what there is."""
    call, error, text = WRONG[number]
    with pytest.raises(error, match=text):
        call(pyqref.zeros(2, 3))


@pytest.mark.parametrize("wrong", [-1, 3])
def test_index_copy_counts_from_the_front(wrong: int) -> None:
    """An index outside is refused, not taken from the end, as in torch."""
    with pytest.raises(IndexError, match=rf"index_copy\(\): index {wrong} is out of bounds"):
        pyqref.index_copy(pyqref.zeros(3), 0, pyqref.tensor([wrong]), pyqref.ones(1))


def test_searchsorted_row_by_row() -> None:
    """Each row of the values goes into its own row of the sorted sequence, as in torch."""
    rows = pyqref.tensor([[1, 3, 5], [2, 4, 6]])
    assert [[1, 3], [1, 2]] == pyqref.searchsorted(rows, pyqref.tensor([[3, 9], [3, 6]])).tolist()
    right = pyqref.searchsorted(rows, pyqref.tensor([[3, 9], [3, 6]]), right=True)
    assert [[2, 3], [1, 3]] == right.tolist()
    with pytest.raises(RuntimeError, match=r"got \[2, 3\] and \[2\]"):
        pyqref.searchsorted(rows, pyqref.tensor([3, 9]))
