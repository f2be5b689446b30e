"""An activation that is one value in all of calibration is told of where its grid loses it."""

from __future__ import annotations

import warnings

import pytest

import pyqref
from pyqref import nn
from pyqref import quantization as q
from pyqref.quantization.quantize_fx import convert_fx, prepare_fx


def eager(model: nn.Module, x: pyqref.Tensor) -> nn.Module:
    """Prepared and calibrated on ``x``, in eager mode."""
    wrapped = q.QuantWrapper(model).eval()
    wrapped.qconfig = q.get_default_qconfig("x86")
    prepared = q.prepare(wrapped)
    prepared(x)
    return q.convert(prepared)


def graph(model: nn.Module, x: pyqref.Tensor) -> nn.Module:
    """Quantize a model in graph mode."""
    prepared = prepare_fx(model.eval(), q.get_default_qconfig_mapping(), (x,))
    prepared(x)
    return convert_fx(prepared)


@pytest.mark.parametrize(("convert", "place"), [(eager, r"quant\.act"), (graph, r"the input 'in")])
def test_a_value_between_two_integers_is_lost(convert, place):
    """Minimum and maximum are equal: scale 1.0 and zero point 0, so that 0.3 becomes 0."""
    with pytest.warns(q.ConstantChannelWarning, match=f"{place}.* was 0.3 .* and becomes 0,"):
        convert(nn.Linear(4, 3), pyqref.full((2, 4), 0.3))


@pytest.mark.parametrize("convert", [eager, graph])
@pytest.mark.parametrize("value", [0.0, 1.0, 2.0])
def test_an_integer_is_kept(convert, value):
    """On the documented grid of steps of 1 it has a place, so there is no warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", q.ConstantChannelWarning)
        convert(nn.Linear(4, 3), pyqref.full((2, 4), value))


@pytest.mark.parametrize("convert", [eager, graph])
def test_the_remedies(convert):
    """Data that differs, or the conventions of torch, whose formula has no such case."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", q.ConstantChannelWarning)
        convert(nn.Linear(4, 3), pyqref.tensor([[0.3, 0.3, 0.3, -0.1]]))
        pyqref.backends.quantized.conventions = "torch"
        convert(nn.Linear(4, 3), pyqref.full((2, 4), 0.3))
