"""Strategies of hypothesis draw what they say, and say how to install it."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pyqref
from pyqref.testing import strategies
from pyqref.testing.strategies import observers, qparams, quantized_tensors

few = settings(max_examples=20)


@few
@given(quantized_tensors(axis=-1) | quantized_tensors() | quantized_tensors(shape=(2, 3)))
def test_tensors_hold_integers_of_their_range(x: Any) -> None:
    """Real numbers put back on the grid are the same integers."""
    assert x.is_quantized
    q = x.int_repr().numpy()
    if x.qscheme() is pyqref.per_tensor_affine:
        real = x.dequantize()
        again = pyqref.quantize_per_tensor(real, x.q_scale(), x.q_zero_point(), x.dtype)
        assert np.array_equal(q, again.int_repr().numpy())
    else:
        assert x.q_per_channel_axis() == x.ndim - 1


@few
@given(qparams(symmetric=True), qparams(pyqref.qint32))
def test_parameters_lie_in_their_range(symmetric: Any, wide: Any) -> None:
    assert symmetric.zero_point == (0 if symmetric.dtype is pyqref.qint8 else 128)
    assert wide.quant_min <= wide.zero_point <= wide.quant_max
    assert np.float32(wide.scale) == wide.scale


@few
@given(observers(pyqref.qint8), st.floats(-8, 8, width=32))
def test_observers_find_a_grid(observer: Any, number: float) -> None:
    observer(pyqref.tensor([number, 1.0]))
    scale, zero_point = observer.calculate_qparams()
    assert observer.quant_min <= int(zero_point) <= observer.quant_max
    assert scale.item() > 0


@pytest.mark.parametrize("strategy", [qparams, quantized_tensors, observers])
def test_without_hypothesis_the_command_is_told(
    monkeypatch: pytest.MonkeyPatch, strategy: Any
) -> None:
    """The extra that it names is one of the package's."""
    with pytest.raises(TypeError, match=r"dtype must be a quantized dtype such as pyqref.quint8"):
        strategy(pyqref.float32)
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    message = rf"{strategy.__name__} needs the package hypothesis.*pip install 'pyqref\[testing\]'"
    with pytest.raises(ImportError, match=message):
        strategy()
    assert "QParams" in strategies.__all__
