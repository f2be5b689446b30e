"""``repr`` of tensors, character by character as torch 2.13 writes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import pyqref

TEXTS: dict[str, Callable[[], Any]] = {
    "tensor([1., 2.])": lambda: pyqref.tensor([1.0, 2.0]),
    "tensor([1, 2])": lambda: pyqref.tensor([1, 2]),
    "tensor(0.3333)": lambda: pyqref.tensor(1 / 3),
    "tensor(True)": lambda: pyqref.tensor(True),
    "tensor([ True, False])": lambda: pyqref.tensor([True, False]),
    "tensor([ 0.5000, -1.0000])": lambda: pyqref.tensor([0.5, -1.0]),
    "tensor([1.0000e-05, 1.0000e+00])": lambda: pyqref.tensor([1e-5, 1.0]),
    "tensor([1.0000e+09])": lambda: pyqref.tensor([1e9]),
    "tensor([nan, inf, 1.])": lambda: pyqref.tensor([float("nan"), float("inf"), 1.0]),
    "tensor([])": lambda: pyqref.zeros(0),
    "tensor([], size=(0, 2))": lambda: pyqref.zeros(0, 2),
    "tensor([], dtype=pyqref.int64)": lambda: pyqref.zeros(0, dtype=pyqref.int64),
    "tensor([1], dtype=pyqref.uint8)": lambda: pyqref.tensor([1], dtype=pyqref.uint8),
    "tensor([1.], requires_grad=True)": lambda: pyqref.ones(1, requires_grad=True),
    "tensor(2., grad_fn=<SumBackward0>)": lambda: pyqref.ones(2, requires_grad=True).sum(),
    "tensor([[[1.],\n         [1.]],\n\n        [[1.],\n         [1.]]])": lambda: pyqref.ones(
        2, 2, 1
    ),
    "tensor([   0,    1,    2,  ..., 1998, 1999, 2000])": lambda: pyqref.arange(2001),
    "Parameter containing:\ntensor([1.], requires_grad=True)": lambda: pyqref.nn.Parameter(
        pyqref.ones(1)
    ),
    "pyqref.Size([2, 3])": lambda: pyqref.zeros(2, 3).shape,
    "pyqref.return_types.max(\nvalues=tensor(2.),\nindices=tensor(1))": lambda: pyqref.tensor(
        [1.0, 2.0]
    ).max(0),
}


@pytest.mark.parametrize("text", TEXTS)
def test_text(text: str) -> None:
    """Digits, notation, width and what follows the numbers."""
    assert text == repr(TEXTS[text]())


def test_long_rows_are_broken() -> None:
    """80 characters a line."""
    lines = repr(pyqref.arange(30)).splitlines()
    assert (
        "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,"
        == lines[0]
    )
    assert "        18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29])" == lines[1]


def test_options() -> None:
    """Precision, threshold, edge items and notation can be set, and reset by profile."""
    x = pyqref.tensor([1 / 3, 100.0])
    try:
        pyqref.set_printoptions(precision=2)
        assert "tensor([  0.33, 100.00])" == repr(x)
        pyqref.set_printoptions(sci_mode=True)
        assert "tensor([3.33e-01, 1.00e+02])" == repr(x)
        pyqref.set_printoptions(profile="default", threshold=4, edgeitems=1)
        assert "tensor([0,  ..., 9])" == repr(pyqref.arange(10))
    finally:
        pyqref.set_printoptions(profile="default")
    with pytest.raises(ValueError, match="profile must be one of"):
        pyqref.set_printoptions(profile="long")


QUANTIZED = """\
tensor([[ 1., -1.],
        [ 1., -1.]], size=(2, 2), dtype=pyqref.qint8, scale=1.0, zero_point=2)"""

QUANTIZED_AS_TORCH = """\
tensor([[ 1., -1.],
        [ 1., -1.]], size=(2, 2), dtype=pyqref.qint8,
       quantization_scheme=pyqref.per_tensor_affine, scale=1.0, zero_point=2)"""

PER_CHANNEL = """\
tensor([[ 1., -1.],
        [ 1.,  0.]], size=(2, 2), dtype=pyqref.quint8,
       quantization_scheme=pyqref.per_channel_affine,
       scale=tensor([0.1000, 0.0100], dtype=pyqref.float64),
       zero_point=tensor([10,  0]), axis=0)"""


def test_quantized_text() -> None:
    """It prints as the documentation of Quantize, or as torch 2.13 under its conventions."""
    x = pyqref.tensor([[1.0, -1.0], [1.0, -1.0]])
    q = pyqref.quantize_per_tensor(x, 1.0, 2, pyqref.qint8)
    assert QUANTIZED == repr(q)
    pyqref.backends.quantized.conventions = "torch"
    assert QUANTIZED_AS_TORCH == repr(q)


def test_per_channel_text() -> None:
    """Scales, zero points and axis."""
    x = pyqref.tensor([[1.0, -1.0], [1.0, -1.0]])
    scales = pyqref.tensor([0.1, 0.01], dtype=pyqref.float64)
    q = pyqref.quantize_per_channel(x, scales, pyqref.tensor([10, 0]), 0, pyqref.quint8)
    assert PER_CHANNEL == repr(q)


def test_formats() -> None:
    """Single numbers can be formatted as numbers."""
    assert "1.50" == f"{pyqref.tensor(1.5):.2f}"
    assert 1.5 == float(pyqref.tensor(1.5))
    assert "tensor([1.])" == f"{pyqref.ones(1)}"


@pytest.mark.parametrize("name", ["precision", "threshold", "edgeitems", "linewidth"])
@pytest.mark.parametrize(("value", "error"), [("3", TypeError), (-1, ValueError)])
def test_wrong_options_are_refused_and_set_nothing(name: str, value: Any, error: type) -> None:
    """An option that is no number, or negative, is refused at once and not when printing."""
    before = repr(pyqref.ones(2) / 3)
    with pytest.raises(error, match=f"set_printoptions: {name} must"):
        pyqref.set_printoptions(profile="short", **{name: value})
    assert before == repr(pyqref.ones(2) / 3)
