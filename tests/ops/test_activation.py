"""Functions of one quantized tensor, by name and through nn.functional."""

from __future__ import annotations

from typing import Any

import pytest

import pyqref
from pyqref.nn import functional as F
from pyqref.ops import quantized as ops


def _quantized(values: list[float], dtype: Any = pyqref.quint8) -> pyqref.Tensor:
    return pyqref.quantize_per_tensor(pyqref.tensor(values), 0.5, 4, dtype)


@pytest.mark.parametrize("dtype", [pyqref.quint8, pyqref.qint8, pyqref.qint32])
def test_relu_and_relu6(dtype: Any) -> None:
    """max(x, zero_point) and min(max(x, zero_point), q(6)), on every dtype."""
    x = _quantized([-1.0, 2.0, 7.0], dtype)
    for relu in (ops.relu, F.relu, pyqref.relu):
        assert relu(x).int_repr().tolist() == [4, 8, 18]
    for relu6 in (ops.relu6, F.relu6):
        assert relu6(x).int_repr().tolist() == [4, 8, 16]


def test_relu_in_place() -> None:
    """The argument itself is changed and returned."""
    x = _quantized([-1.0, 2.0])
    assert ops.relu(x, inplace=True) is x
    assert x.int_repr().tolist() == [4, 8]
    x = _quantized([-1.0, 8.0])
    assert F.relu6(x, inplace=True) is x
    assert x.int_repr().tolist() == [4, 16]


def test_clamp_and_hardtanh() -> None:
    """eq-quantized-clamp: the bounds are quantized, one may be missing."""
    x = _quantized([-1.0, 0.5, 7.0])
    assert ops.clamp(x, -0.5, 1.0).int_repr().tolist() == [3, 5, 6]
    assert ops.clamp(x, None, 1.0).int_repr().tolist() == [2, 5, 6]
    assert F.hardtanh(x).int_repr().tolist() == [2, 5, 6]
    with pytest.raises(RuntimeError, match="at least one"):
        ops.clamp(x)


def test_leaky_relu() -> None:
    """The result is on the grid of the input, or on one that is given."""
    x = _quantized([-1.0, 2.0])
    assert ops.leaky_relu(x, 0.5).int_repr().tolist() == [3, 8]
    assert F.leaky_relu(x, 0.5).int_repr().tolist() == [3, 8]
    assert ops.leaky_relu(x, 0.5, False, 0.25, 10).int_repr().tolist() == [8, 18]
    with pytest.raises(ValueError, match="keeps the parameters"):
        ops.leaky_relu(x, 0.5, True, 0.25, 10)


def test_threshold() -> None:
    assert F.threshold(_quantized([0.5, 6.0]), 1.0, 2.0).int_repr().tolist() == [8, 16]


def test_hardsigmoid_has_a_grid_of_its_own() -> None:
    """Results in [0, 1) have scale 1 / 256."""
    y = F.hardsigmoid(_quantized([-2.0, 0.0, 4.0]))
    assert (y.q_scale(), y.q_zero_point()) == (1 / 256, 0)
    assert y.int_repr().tolist() == [43, 128, 255]


def test_padding_holds_the_quantized_value() -> None:
    """Constant padding is quantized: 0.0 is the zero point."""
    assert F.pad(_quantized([1.0]), (1, 1)).int_repr().tolist() == [4, 6, 4]
    assert F.pad(_quantized([1.0]), (1, 0), value=2.0).int_repr().tolist() == [8, 6]


def test_dropout() -> None:
    """In evaluation mode nothing happens."""
    x = _quantized([1.0])
    assert F.dropout(x, 0.5, training=False).int_repr().tolist() == [6]


def test_what_is_not_defined_says_so() -> None:
    """A float function without a quantized meaning raises and names the remedy."""
    with pytest.raises(RuntimeError, match="not defined for quantized tensors"):
        F.silu(_quantized([1.0]))


@pytest.mark.parametrize("function", [ops.relu, ops.relu6, F.leaky_relu, F.hardsigmoid])
def test_per_channel_is_refused(function: Any) -> None:
    """Activations are quantized per tensor."""
    x = pyqref.quantize_per_channel(
        pyqref.zeros(2, 2), pyqref.ones(2), pyqref.zeros(2, dtype=pyqref.int64), 0, pyqref.qint8
    )
    with pytest.raises(RuntimeError, match="per tensor"):
        function(x)


def test_float_is_refused() -> None:
    with pytest.raises(RuntimeError, match="must be a quantized tensor, got one of"):
        ops.relu(pyqref.ones(2))
