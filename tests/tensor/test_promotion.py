"""In which type a result comes: torch's rule, dimension before number, category before width."""

from __future__ import annotations

from typing import Any

import pytest

import pyqref

CASES: list[tuple[Any, Any, Any]] = [
    # tensors with axes: the common type
    (pyqref.int8, pyqref.uint8, pyqref.int16),
    (pyqref.int64, pyqref.float16, pyqref.float16),
    (pyqref.float16, pyqref.float32, pyqref.float32),
    (pyqref.bool, pyqref.uint8, pyqref.uint8),
    (pyqref.float32, pyqref.float64, pyqref.float64),
]


@pytest.mark.parametrize(("a", "b", "expected"), CASES)
def test_two_tensors(a: Any, b: Any, expected: Any) -> None:
    """Floats beat integers beat bools; within one kind the wider wins."""
    assert expected is (pyqref.ones(2, dtype=a) + pyqref.ones(2, dtype=b)).dtype


NUMBERS: list[tuple[Any, Any, Any]] = [
    (pyqref.int8, 300, pyqref.int8),
    (pyqref.int8, 0.5, pyqref.float32),
    (pyqref.float16, 0.5, pyqref.float16),
    (pyqref.float32, 1e300, pyqref.float32),
    (pyqref.bool, 1, pyqref.int64),
    (pyqref.bool, True, pyqref.bool),
    (pyqref.float32, True, pyqref.float32),
]


@pytest.mark.parametrize(("dtype", "number", "expected"), NUMBERS)
def test_tensor_and_number(dtype: Any, number: Any, expected: Any) -> None:
    """A number only counts if it is of a higher kind."""
    assert expected is (pyqref.ones(2, dtype=dtype) * number).dtype
    assert expected is (number * pyqref.ones(2, dtype=dtype)).dtype


def test_tensor_without_axes_is_weak() -> None:
    """float32 of shape (2,) times float64 of shape () is float32."""
    scalar = pyqref.tensor(2.0, dtype=pyqref.float64)
    assert pyqref.float32 is (pyqref.ones(2) * scalar).dtype
    assert pyqref.float64 is (pyqref.ones(2, dtype=pyqref.int32) * scalar).dtype
    assert pyqref.float64 is (pyqref.tensor(1.0) * scalar).dtype


def test_division_of_integers_is_true() -> None:
    """Division of integers gives floats, and floor_divide gives integers."""
    x = pyqref.tensor([7, -7])
    assert [3.5, -3.5] == (x / 2).tolist()
    assert [3, -4] == (x // 2).tolist()
    assert [3, -3] == pyqref.div(x, 2, rounding_mode="trunc").tolist()
    assert [1, 1] == (x % 2).tolist()
    assert [1, -1] == x.fmod(2).tolist()


def test_integers_wrap_around() -> None:
    """Integers wrap as in C: uint8 250 + 300 is 38."""
    assert [38] == (pyqref.tensor([250], dtype=pyqref.uint8) + 300).tolist()


def test_results_in_place_must_fit() -> None:
    """An integer tensor cannot take a float result; the dtypes are named."""
    x = pyqref.ones(2, dtype=pyqref.int64)
    with pytest.raises(RuntimeError, match=r"float32 can't be cast .* pyqref\.int64"):
        x.add_(0.5)
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        x.add_(pyqref.ones(3, 2, dtype=pyqref.int64))


def test_shapes_must_broadcast() -> None:
    """The error names both lengths and the axis."""
    with pytest.raises(RuntimeError, match=r"tensor a \(3\) must match .* tensor b \(4\) at non"):
        pyqref.ones(2, 3) + pyqref.ones(4)


def test_default_dtype() -> None:
    """Python floats take it; only floating types are allowed."""
    pyqref.set_default_dtype(pyqref.float64)
    try:
        assert pyqref.float64 is pyqref.tensor(1.0).dtype
        assert pyqref.float64 is pyqref.zeros(2).dtype
    finally:
        pyqref.set_default_dtype(pyqref.float32)
    with pytest.raises(TypeError, match="only floating point"):
        pyqref.set_default_dtype(pyqref.int32)


@pytest.mark.parametrize("other", ["a", None, [1, 2]])
def test_other_things_are_refused(other: Any) -> None:
    """Arithmetic with something else is a TypeError."""
    with pytest.raises(TypeError):
        pyqref.ones(2) + other
    with pytest.raises(TypeError, match="expected a tensor or a number"):
        pyqref.add(pyqref.ones(2), other)


def test_float64_beside_another_type() -> None:
    """A NumPy dtype of float64 equals None; both operands come in float64 all the same."""
    numbers = pyqref.tensor([1.5], dtype=pyqref.float64)
    for whole in (pyqref.arange(3), pyqref.arange(3).to(pyqref.float32)):
        for result in (pyqref.fmod(numbers, whole), pyqref.fmod(whole, numbers)):
            assert result.dtype is pyqref.float64
