"""Quantize, DeQuantize, ReLU and ReLU6."""

from __future__ import annotations

from typing import Any

import pytest

import pyqref
from pyqref import nn

Quantize, DeQuantize = nn.quantized.Quantize, nn.quantized.DeQuantize


def test_documented_examples() -> None:
    """The examples of Quantize and DeQuantize."""
    t = pyqref.tensor([[1.0, -1.0], [1.0, -1.0]])
    scale, zero_point, dtype = 1.0, 2, pyqref.qint8
    qt = Quantize(scale, zero_point, dtype)(t)
    assert (1.0, 2, pyqref.qint8) == (qt.q_scale(), qt.q_zero_point(), qt.dtype)
    assert t.tolist() == DeQuantize()(qt).tolist()


@pytest.mark.parametrize("cls", [nn.quantized.ReLU, nn.quantized.ReLU6, nn.ReLU, nn.ReLU6])
@pytest.mark.parametrize("dtype", [pyqref.quint8, pyqref.qint8, pyqref.qint32])
def test_relu_and_relu6(cls: Any, dtype: Any) -> None:
    """max(q, z), and min(max(q, z), q(6)); the documented example uses qint32."""
    input = pyqref.quantize_per_tensor(pyqref.tensor([-2.0, 2.0, 8.0]), 1.0, 3, dtype=dtype)
    top = 9 if "6" in cls.__name__ else 11
    assert [3, 5, top] == cls()(input).int_repr().tolist()
    assert cls(inplace=True)(input) is input
    assert [3, 5, top] == input.int_repr().tolist()


@pytest.mark.parametrize("cls", [nn.quantized.ReLU, nn.quantized.ReLU6])
def test_relu_of_a_float_tensor(cls: Any) -> None:
    with pytest.raises(RuntimeError, match=r"1 \(QuantizedReLU6?\).*QuantStub is missing"):
        nn.Sequential(nn.Identity(), cls())(pyqref.ones(1))


def test_relu_from_float() -> None:
    assert nn.quantized.ReLU.from_float(nn.ReLU(True)).inplace
    assert nn.quantized.ReLU6.from_float(nn.ReLU6(True)).inplace
    assert "QuantizedReLU6()" == repr(nn.quantized.ReLU6())


def test_buffers() -> None:
    """Scale and zero_point are buffers of shape (1,), as in torch."""
    state = Quantize(0.5, 3, pyqref.quint8).state_dict()
    assert ["scale", "zero_point"] == list(state)
    assert (pyqref.float32, (1,)) == (state["scale"].dtype, tuple(state["scale"].shape))
    assert (pyqref.int64, (1,)) == (state["zero_point"].dtype, tuple(state["zero_point"].shape))
    other = Quantize(1.0, 0, pyqref.quint8)
    other.load_state_dict(state)
    assert 3 == other(pyqref.zeros(1)).q_zero_point()


@pytest.mark.parametrize(
    ("scale", "zero_point", "dtype", "text"),
    [
        (0.0, 0, pyqref.quint8, "scale must be positive"),
        (float("nan"), 0, pyqref.quint8, "scale must be a positive number"),
        (1.0, 256, pyqref.quint8, r"zero_point must be in \[0, 255\] for quint8, got 256"),
        (1.0, 128, pyqref.qint8, r"zero_point must be in \[-128, 127\] for qint8, got 128"),
        (1.0, 0, pyqref.float32, "dtype must be quint8, qint8 or qint32"),
    ],
)
def test_bad_parameters(scale: float, zero_point: int, dtype: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        Quantize(scale, zero_point, dtype)


def test_bad_input() -> None:
    """Quantize takes float32; the message names its path."""
    model = nn.Sequential(Quantize(1.0, 0, pyqref.quint8))
    with pytest.raises(RuntimeError, match=r"0 \(Quantize\) takes a float32 tensor.*DeQuantStub"):
        model(pyqref.quantize_per_tensor(pyqref.ones(1), 1.0, 0, pyqref.quint8))
    with pytest.raises(RuntimeError, match=r"got one of pyqref\.float64: call \.float\(\)"):
        model(pyqref.ones(1, dtype=pyqref.float64))
    with pytest.raises(TypeError, match="takes a float32 tensor, got a list"):
        model([1.0])


def test_dequantize_lets_floats_pass() -> None:
    """Floats pass unchanged, as in torch: the float part of a model may end in a DeQuantStub."""
    assert [1.5] == DeQuantize()(pyqref.tensor([1.5])).tolist()


def test_from_float() -> None:
    stub = pyqref.quantization.QuantStub()
    stub.activation_post_process = pyqref.quantization.MinMaxObserver()
    stub.activation_post_process(pyqref.tensor([0.0, 255.0]))
    made = Quantize.from_float(stub)
    assert (1.0, 0, pyqref.quint8) == (made.scale.item(), made.zero_point.item(), made.dtype)
    assert isinstance(DeQuantize.from_float(pyqref.quantization.DeQuantStub()), DeQuantize)
    with pytest.raises(ValueError, match="no activation_post_process"):
        Quantize.from_float(pyqref.quantization.QuantStub())
