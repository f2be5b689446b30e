"""``assert_bit_equal``: how many, which, how far, and why."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref import nn
from pyqref.testing import assert_bit_equal


def u8(*values: int) -> np.ndarray:
    return np.array(values, np.uint8)


@pytest.mark.parametrize(
    ("got", "expected", "message"),
    [
        (u8(1, 2), u8(1, 2, 3), r"the shape is \(2,\), expected \(3,\)"),
        (np.int8([1, 2]), u8(1, 2), "the type is int8, expected uint8"),
        (np.float64([1.0]), np.float32([1.0]), "the type is float64, expected float32"),
        (np.float32([0.0]), np.float32([-0.0]), r"1 of 1 elements differ \(100 %\)"),
        (np.float32([1.0]), np.float32([np.nan]), "some are infinite or no number"),
        (np.float32([1 + 2**-23, 3]), np.float32([1, 3]), "1 units in the last place"),
        (u8(5, 7, 9), u8(4, 6, 8), "a constant of 1 is added"),
        (u8(0, 7, 9), u8(255, 7, 9), "wrap around in 8 bits, before the clamp"),
        (u8(5, 7, 9, 1), u8(5, 6, 10, 1), "got less expected: -1 in 1, 1 in 1\nperhaps: rounded"),
        (u8(1, 3, 9, 9), u8(4, 4, 9, 9), "not clamped below at 4"),
        (u8(1, 50, 3), u8(50, 1, 3), "the same numbers in another order"),
    ],
)
def test_what_differs_and_why(got: Any, expected: Any, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        assert_bit_equal(got, expected)


def test_models_are_compared_layer_by_layer() -> None:
    """The message is that of ``explain_diff``; recorded integers may stand for the other model."""
    layer = nn.quantized.Linear(2, 2)
    x = pyqref.quantize_per_tensor(pyqref.ones(1, 2), 0.5, 0, pyqref.quint8)
    model = nn.Sequential(layer)
    assert_bit_equal(model, model, inputs=x)
    assert_bit_equal({"0": u8(0, 0)[None]}, model, inputs=x)
    with pytest.raises(AssertionError, match=r"device\n.*They part at 0(.|\n)*clamp range"):
        assert_bit_equal({"0": u8(0, 1)[None]}, model, inputs=x, message="device")
    for given, other in ((None, model), (x, x)):
        with pytest.raises(TypeError, match="inputs must be what a model is called with"):
            assert_bit_equal(other, other, inputs=given)


def test_equal_bits_pass() -> None:
    """Equal bits pass, and the payload of a nan does not count."""
    assert_bit_equal(np.float32([np.nan, -0.0]), np.float32([np.nan, -0.0]))
    assert_bit_equal([1, 2], [1, 2])
    x = pyqref.quantize_per_tensor(pyqref.tensor([0.5, 1.0]), 0.5, 3, pyqref.quint8)
    assert_bit_equal(x, x.clone())


def test_quantized_tensors_have_a_grid() -> None:
    x, y = (
        pyqref.quantize_per_tensor(pyqref.tensor([0.5, 1.0]) * s, s, 3, pyqref.quint8)
        for s in (0.5, 0.25)
    )
    with pytest.raises(AssertionError, match=r"layer 3\nq_scale is 0.5, expected 0.25"):
        assert_bit_equal(x, y, message="layer 3")
