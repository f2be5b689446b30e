"""``x[key]`` against NumPy where the two agree, and against torch's rule where not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pyqref

ONE = pyqref.tensor(1)
Q = pyqref.quint8


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
    (lambda x: x.index_put((ONE, ONE, ONE), ONE), IndexError, "too many indices"),
    (lambda x: x.index_put((ONE * 2,), ONE), IndexError, "index 2 is out of bounds"),
    (lambda x: x.index_put((x[0],), ONE), IndexError, "must be long, int, byte or bool"),
    (lambda x: x.index_put((None,), ONE), IndexError, "at least one of the indices"),
    (lambda x: x.index_fill(0, x[0] > 1, 1), IndexError, "Expected dtype int64 for index"),
    (lambda x: x.index_fill(0, ONE, x[0]), RuntimeError, "only supports a 0-dimensional value"),
    (lambda x: x.index_add(0, ONE.reshape(1, 1), x), IndexError, "supposed to be a vector"),
    (lambda x: x[3], IndexError, "index 3 is out of bounds for dimension 0 with size 2"),
    (lambda x: x[0, 0, 0], IndexError, "too many indices for tensor of dimension 2"),
    (lambda x: x[1.0], IndexError, "only integers, slices"),
    (lambda x: x[pyqref.tensor([5])], IndexError, "index 5 is out of bounds"),
    (lambda x: x[pyqref.tensor([1.0])], IndexError, "must be long, int, byte or bool"),
    (lambda x: x[pyqref.tensor([True])], IndexError, r"shape of the mask \[1\]"),
    (lambda x: x.index_select(0, pyqref.tensor([2])), IndexError, "index 2 is out of bounds"),
    (
        lambda x: ONE.index_select(0, (ONE * 0).expand(2)),
        RuntimeError,
        "can have only 1 value, got 2",
    ),
    (lambda x: x.scatter(0, x.long(), x[0]), RuntimeError, r"than src \[3\]"),
    (lambda x: x.take_along_dim(ONE, 0), RuntimeError, "same number of dimensions"),
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


def test_index_put_at_one_place() -> None:
    """An index without axes counts as an index tensor: it chooses, and says where others stand."""
    one = pyqref.tensor(1)
    assert [0.0, 5.0] == pyqref.zeros(2).index_put((one,), pyqref.tensor(5.0)).tolist()
    x = pyqref.ones(2, 2)
    put = x.index_put((one, pyqref.tensor(-2)), pyqref.tensor(5.0), accumulate=True)
    assert [[1.0, 1.0], [6.0, 1.0]] == put.tolist()
    rows = pyqref.arange(6).reshape(2, 3)
    expected = np.zeros((2, 3, 4), np.int64)
    expected[1, :, [0, 2]] = rows.numpy()
    x = pyqref.zeros(2, 3, 4, dtype=pyqref.int64)
    assert np.array_equal(expected, x.index_put((one, None, pyqref.tensor([0, 2])), rows).numpy())


@pytest.mark.parametrize("values", [[5], [5, 6, 7], [[5], [6]], [[[5, 6, 7]]]])
def test_values_are_broadcast_before_they_are_added(values: Any) -> None:
    """Along each axis of an index; NumPy reads what is behind values of fewer axes."""
    index, values = np.array([[1, 0, 0], [1, 0, 0]]), np.array(values)
    added = np.bincount(index.ravel(), np.broadcast_to(values, (1, 2, 3)).ravel())
    x = pyqref.tensor([1, 2])
    x.index_put_((pyqref.tensor(index),), pyqref.tensor(values), accumulate=True)
    assert (np.array([1, 2]) + added).tolist() == x.tolist()


def test_values_with_axes_in_front_under_a_mask() -> None:
    """There are as many values as the mask chooses, after axes of length 1, as in torch."""
    mask = pyqref.tensor([[True, False], [True, True]])
    for x in (pyqref.zeros(2, 2), pyqref.quantize_per_tensor(pyqref.zeros(2, 2), 1.0, 0, Q)):
        x[mask] = pyqref.tensor([[[1.0, 2.0, 3.0]]])
        assert [[1.0, 0.0], [2.0, 3.0]] == x.dequantize().tolist()


@pytest.mark.parametrize(
    "write",
    [
        lambda x, index, value: x.index_put((index,), value),
        lambda x, index, value: x.index_fill(0, index, value),
        lambda x, index, value: x.scatter(0, index.reshape(1), value),
        lambda x, index, value: x.masked_fill(pyqref.tensor([False, True]), value),
    ],
)
@pytest.mark.parametrize(("value", "expected"), [(-1, 255), (2.7, 2)])
def test_a_number_in_the_type_of_the_tensor(write: Any, value: Any, expected: int) -> None:
    """A negative one wraps around, one with a part behind the point is cut, as in torch."""
    x = pyqref.zeros(2, dtype=pyqref.uint8)
    assert [0, expected] == write(x, pyqref.tensor(1), value).tolist()
    x[1] = value
    assert [0, expected] == x.tolist()


def test_slices_at_one_index() -> None:
    """An index without axes is one of one place; a tensor without axes has one element."""
    one, slices = pyqref.tensor(1), pyqref.ones(3, 1)
    for function in (pyqref.index_add, pyqref.index_copy):
        assert [[0.0, 1.0]] * 3 == function(pyqref.zeros(3, 2), 1, one, slices).tolist()
    x, value, index = pyqref.tensor(2.0), pyqref.tensor(3.0), pyqref.tensor(0)
    assert 5.0 == pyqref.index_add(x, 0, index, value).item()
    assert 5.0 == pyqref.scatter_add(x, -1, index, value).item()
    assert 3.0 == pyqref.index_copy(x, 0, index, value).item()
    assert 3.0 == pyqref.index_fill(x, 0, index, 3.0).item()
    assert 3.0 == x.scatter_(0, index, 3.0).item() == x.item()
    x = pyqref.arange(3)
    assert 1 == x.gather(0, one).item() == x.take_along_dim(one, 0).item()
    assert [0, 6, 2] == x.scatter_add(0, one, pyqref.tensor(5)).tolist()
    assert (
        [0, 5, 2] == x.scatter(0, one, pyqref.tensor([5])).tolist() == x.scatter(0, one, 5).tolist()
    )


def test_a_place_is_filled_once() -> None:
    """However often its index stands there: the gradient of the value is that of its elements."""
    value = pyqref.tensor(5.0, requires_grad=True)
    rows = pyqref.index_fill(pyqref.zeros(3, 2), 0, pyqref.tensor([2, 0, -1]), value)
    assert [[5.0, 5.0], [0.0, 0.0], [5.0, 5.0]] == rows.tolist()
    rows.sum().backward()
    assert 4.0 == value.grad.item()


@pytest.mark.parametrize("function", [pyqref.index_add, pyqref.index_copy])
@pytest.mark.parametrize("shape", [(1, 2), (2,), (3, 2), (2, 1), ()])
def test_slices_of_other_shapes(function: Any, shape: tuple[int, ...]) -> None:
    """There is one for each index, of the shape of the others; they are not broadcast."""
    with pytest.raises(RuntimeError, match=r"which is \[2, 2\], got"):
        function(pyqref.zeros(3, 2), 0, pyqref.tensor([1, 0]), pyqref.ones(*shape))


def test_searchsorted_row_by_row() -> None:
    """Each row of the values goes into its own row of the sorted sequence, as in torch."""
    rows = pyqref.tensor([[1, 3, 5], [2, 4, 6]])
    assert [[1, 3], [1, 2]] == pyqref.searchsorted(rows, pyqref.tensor([[3, 9], [3, 6]])).tolist()
    right = pyqref.searchsorted(rows, pyqref.tensor([[3, 9], [3, 6]]), right=True)
    assert [[2, 3], [1, 3]] == right.tolist()
    with pytest.raises(RuntimeError, match=r"got \[2, 3\] and \[2\]"):
        pyqref.searchsorted(rows, pyqref.tensor([3, 9]))


@pytest.mark.parametrize("quantized", [False, True])
def test_index_tensors_that_do_not_fit_together(quantized: bool) -> None:
    """The error is torch's, whatever is done with the elements; a mask counts as its places."""
    x = pyqref.ones(3, 3)
    if quantized:
        x = pyqref.quantize_per_tensor(x, 0.1, 0, pyqref.quint8)
    two, three, mask = pyqref.tensor([0, 1]), pyqref.arange(3), pyqref.tensor([True, True, False])
    calls = [
        lambda: x[two, three],
        lambda: x[mask, three],
        lambda: x.__setitem__((two, three), 1.0),
        lambda: x.clone().index_put_((mask, three), pyqref.tensor(1.0)),
    ]
    for call in calls:
        with pytest.raises(IndexError, match=r"^shape mismatch: indexing tensors .* \[2\], \[3\]$"):
            call()
