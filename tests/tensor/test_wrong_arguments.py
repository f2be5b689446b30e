"""Functions of tensors say what they cannot take, in the type of error that torch raises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import pyqref

VECTOR = pyqref.tensor([1.0, 2.0, 3.0])
MATRIX = pyqref.ones(2, 3)
NUMBER = pyqref.tensor(1.0)

ONLY_TENSORS = ["matmul", "mm", "mv", "bmm", "dot", "equal", "allclose", "isclose"]
ONLY_TENSORS += ["type_as", "view_as", "reshape_as", "expand_as", "outer"]


@pytest.mark.parametrize("name", ONLY_TENSORS)
def test_number_in_place_of_a_tensor(name: str) -> None:
    """A TypeError with the name of the function and the type that it got."""
    tensor = {"mm": MATRIX, "mv": MATRIX, "bmm": MATRIX[None]}.get(name, VECTOR)
    with pytest.raises(TypeError, match=rf"{name}\(\): argument '\w+' must be Tensor, not int"):
        getattr(tensor, name)(2)


SHAPES: dict[str, Callable[[], Any]] = {
    "floor_divide": lambda: pyqref.ones(2, 3) // pyqref.ones(4),
    "isclose": lambda: pyqref.isclose(pyqref.ones(2, 3), pyqref.ones(4)),
    "diag": lambda: NUMBER.diag(),
    "triu": lambda: VECTOR.triu(),
    "tril": lambda: NUMBER.tril(),
    "mT": lambda: VECTOR.mT,
    "diagonal": lambda: MATRIX.diagonal(0, 1, -1),
    "repeat": lambda: MATRIX.repeat(1, -1),
    "repeat_interleave": lambda: MATRIX.repeat_interleave(-1),
    "as_strided": lambda: MATRIX.as_strided((-1,), (1,)),
    "tensor_split": lambda: MATRIX.tensor_split(-1),
    "tensor_split of a number": lambda: NUMBER.tensor_split(1),
    "infinity as an integer": lambda: pyqref.full((2,), float("inf"), dtype=pyqref.int64),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_and_values(name: str) -> None:
    """Shapes and values that do not fit are a RuntimeError, never one of NumPy's own."""
    with pytest.raises(RuntimeError):
        SHAPES[name]()


def test_flatten_of_a_number_checks_its_axes() -> None:
    """A 0-dimensional tensor has the axes 0 and -1 only."""
    assert (1,) == NUMBER.flatten(0, -1).shape
    with pytest.raises(IndexError):
        NUMBER.flatten(2, 3)


@pytest.mark.parametrize("name", ["abs", "relu", "round", "floor", "ceil", "trunc"])
def test_truth_values_have_no_arithmetic(name: str) -> None:
    """NumPy would answer in float16, or with the truth value itself."""
    with pytest.raises(RuntimeError, match=r"not defined for pyqref.bool"):
        getattr(pyqref.tensor([True, False]), name)()


def test_square_of_truth_values_is_an_integer() -> None:
    """The square of bools is int64, like any other power of them."""
    squares = pyqref.tensor([True, False]).square()
    assert pyqref.int64 is squares.dtype
    assert [1, 0] == squares.tolist()


def test_in_place_arithmetic_of_unlike_integers() -> None:
    """An integer result fits every integer tensor, and wraps as in C."""
    x = pyqref.tensor([250, 3], dtype=pyqref.uint8)
    x += pyqref.tensor([10, -4])
    assert pyqref.uint8 is x.dtype
    assert [4, 255] == x.tolist()
    with pytest.raises(RuntimeError, match="can't be cast"):
        x += pyqref.tensor([0.5, 0.5])
    flags = pyqref.tensor([True, False])
    with pytest.raises(RuntimeError, match="can't be cast"):
        flags += pyqref.tensor([1, 1])


def test_copy_of_a_number() -> None:
    """``copy_`` takes a Python number for a tensor without axes."""
    assert [2.0, 2.0, 2.0] == pyqref.zeros(3).copy_(2).tolist()


@pytest.mark.parametrize("name", ["pow", "remainder", "fmod", "floor_divide"])
@pytest.mark.parametrize("other", [True, pyqref.tensor([True])])
def test_quotients_and_powers_of_two_truth_values(name: str, other: Any) -> None:
    """NumPy makes int8 of them; with a number they are integers, as in torch."""
    function = getattr(pyqref, name)
    with pytest.raises(RuntimeError, match=r"is not defined for pyqref\.bool; convert it first"):
        function(pyqref.tensor([True]), other)
    assert pyqref.int64 is function(pyqref.tensor([True]), 2).dtype


@pytest.mark.parametrize("dtype", [pyqref.uint8, pyqref.int64])
def test_negative_powers_of_integers(dtype: Any) -> None:
    """A number that the type cannot hold is not taken for one that it can."""
    with pytest.raises(RuntimeError, match="Integers to negative integer powers are not allowed"):
        pyqref.pow(pyqref.tensor([1, 2], dtype=dtype), -1)


def test_diff_at_the_ends() -> None:
    """Few elements leave none, and bools differ or do not, as in torch."""
    assert [] == pyqref.diff(pyqref.ones(2), n=3).tolist()
    assert [1.0, 1.0] == pyqref.diff(pyqref.ones(2), n=0).tolist()
    assert [True, False] == pyqref.diff(pyqref.tensor([True, False, False])).tolist()
    with pytest.raises(RuntimeError, match="at least one-dimensional"):
        pyqref.diff(pyqref.tensor(1.0))
    with pytest.raises(ValueError, match="n must be at least 0, got -1"):
        pyqref.diff(pyqref.ones(2), n=-1)
