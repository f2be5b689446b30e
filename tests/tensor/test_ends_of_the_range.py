"""Functions of floats where squares, powers or differences would leave float32, and beyond it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pyqref

INF, NAN = math.inf, math.nan


@pytest.mark.parametrize(
    ("name", "a", "b", "expected"),
    [
        ("hypot", 3e30, 4e30, 5e30),
        ("hypot", 3e-30, 4e-30, 5e-30),
        ("hypot", INF, NAN, INF),
        ("logaddexp", INF, INF, INF),
        ("logaddexp", -INF, -INF, -INF),
        ("logaddexp", -INF, 2.0, 2.0),
        ("logaddexp", 1000.0, 1000.0, 1000.0 + math.log(2)),
        ("xlogy", 0.0, 0.0, 0.0),
        ("xlogy", 0.0, INF, 0.0),
        ("xlogy", 0.0, NAN, NAN),
        ("xlogy", 2.0, 0.0, -INF),
    ],
)
def test_of_two(name: str, a: float, b: float, expected: float) -> None:
    """The true value, rounded, as in torch."""
    y = getattr(pyqref, name)(pyqref.tensor([a]), pyqref.tensor([b]))
    np.testing.assert_array_max_ulp(np.float32([expected]), y.numpy(), maxulp=1)


@pytest.mark.parametrize(
    ("name", "x", "expected"),
    [
        ("erfc", 5.0, math.erfc(5)),
        ("erfc", 9.0, math.erfc(9)),
        ("erfc", -5.0, 2.0),
        ("erfc", INF, 0.0),
        ("exp2", 127.0, 2.0**127),
        ("exp2", -126.0, 2.0**-126),
        ("exp2", 20.0, 2.0**20),
    ],
)
def test_of_one(name: str, x: float, expected: float) -> None:
    """The true value, rounded: powers of two are exact."""
    assert [np.float32(expected)] == getattr(pyqref, name)(pyqref.tensor([x])).tolist()


def test_xlogy_of_a_tensor_and_a_number() -> None:
    """On either side."""
    x = pyqref.tensor([0.0, 1.0])
    assert [0.0, -INF] == pyqref.xlogy(x, 0.0).tolist()
    assert [-INF, 0.0] == pyqref.xlogy(1, x).tolist()


def test_gradient_of_xlogy_at_zero() -> None:
    """``log(b)`` where there is one, and 0 where there is none."""
    a = pyqref.tensor([0.0, 0.0], requires_grad=True)
    pyqref.xlogy(a, pyqref.tensor([1.0, 0.0])).sum().backward()
    grad: Any = a.grad
    assert [0.0, 0.0] == grad.tolist()
