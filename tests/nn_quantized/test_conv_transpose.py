"""Quantized transposed convolutions, static and dynamic, and dynamic convolutions."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import pyqref
from pyqref import nn

quantized, dynamic = nn.quantized, nn.quantized.dynamic
CONVOLUTIONS = ["Conv1d", "Conv2d", "Conv3d"]
TRANSPOSED = ["ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]


def _float(name: str, **options: Any) -> Any:
    layer = getattr(nn, name)(4, 6, 2, stride=2, groups=2, **options)
    layer.qconfig = pyqref.quantization.default_qconfig
    return layer


def _observed(layer: Any, *values: float) -> Any:
    layer.activation_post_process = pyqref.quantization.MinMaxObserver()
    layer.activation_post_process(pyqref.tensor(list(values)))
    return layer


def _input(name: str) -> pyqref.Tensor:
    return pyqref.randn(2, 4, *(4,) * int(name[-2]))


@pytest.mark.parametrize("name", TRANSPOSED)
@pytest.mark.parametrize("bias", [False, True])
def test_from_float_is_close(name: str, bias: bool) -> None:
    """Half a step of the output, and what the rounding of input and weight costs."""
    pyqref.manual_seed(0)
    source = _observed(_float(name, bias=bias), -3.0, 3.0)
    layer = getattr(quantized, name).from_float(source)
    x = pyqref.quantize_per_tensor(_input(name), 0.03, 128, pyqref.quint8)
    exact = source(x.dequantize())
    products = 2 * 2 ** int(name[-2])
    step = source.weight.abs().max().item() / 127.5
    bound = layer.scale / 2 * 1.01 + products * step / 2 * x.dequantize().abs().max().item()
    assert (layer(x).dequantize() - exact).abs().max().item() <= bound
    assert repr(layer).startswith(f"Quantized{name}(4, 6, ")


@pytest.mark.parametrize("name", TRANSPOSED)
def test_state_and_copies(name: str) -> None:
    layer = getattr(quantized, name).from_float(_observed(_float(name), -3.0, 3.0))
    other = getattr(quantized, name)(4, 6, 2, stride=2, groups=2)
    other.load_state_dict(layer.state_dict())
    x = pyqref.quantize_per_tensor(_input(name), 0.03, 128, pyqref.quint8)
    expected = layer(x).int_repr().tolist()
    for each in (other, copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert expected == each(x).int_repr().tolist()
    with pytest.raises(RuntimeError, match="size mismatch for weight"):
        getattr(quantized, name)(4, 6, 3, stride=2, groups=2).load_state_dict(layer.state_dict())


def test_errors() -> None:
    """Float input names the path; weights per channel say what to do."""
    model = nn.Sequential(quantized.ConvTranspose2d(1, 1, 1))
    with pytest.raises(RuntimeError, match=r"0 \(QuantizedConvTranspose2d\).*QuantStub is missing"):
        model(pyqref.zeros(1, 1, 2, 2))
    source = _observed(nn.ConvTranspose1d(2, 3, 1), 0.0, 1.0)
    source.qconfig = pyqref.quantization.get_default_qconfig("fbgemm")
    with pytest.raises(RuntimeError, match=r"along axis 1|per tensor"):
        quantized.ConvTranspose1d.from_float(source)
    with pytest.raises(ValueError, match="padding_mode must be 'zeros'"):
        quantized.ConvTranspose1d(2, 3, 1, padding_mode="reflect")
    with pytest.raises(TypeError, match="from_float takes one of"):
        quantized.ConvTranspose1d.from_float(nn.Conv1d(2, 3, 1))


@pytest.mark.parametrize("name", CONVOLUTIONS + TRANSPOSED)
def test_dynamic_layers(name: str) -> None:
    """Float in and out, on the grid of the input; they warn of themselves."""
    source = _float(name)
    source.qconfig = pyqref.quantization.default_dynamic_qconfig
    with pytest.warns(UserWarning, match="puts its output on the grid of its input"):
        layer = getattr(dynamic, name).from_float(source)
    source.weight.data = source.weight * 0.1
    x = _input(name)
    output = layer(x)
    assert tuple(source(x).shape) == tuple(output.shape)
    step = (x.max() - x.min()).item() / 127
    assert len(set(output.flatten().tolist())) <= 256
    assert f"DynamicQuantized{name}(4, 6, " in repr(layer)
    with pytest.warns(UserWarning, match="grid of its input"):
        other = getattr(dynamic, name)(4, 6, 2, stride=2, groups=2)
    other.load_state_dict(layer.state_dict())
    assert output.tolist() == other(x).tolist()
    assert step > 0
    with pytest.raises(RuntimeError, match="DeQuantStub is missing"):
        layer(pyqref.quantize_per_tensor(x, 1.0, 0, pyqref.quint8))


def test_dynamic_refuses_float16() -> None:
    source = nn.Conv1d(2, 3, 1)
    source.qconfig = pyqref.quantization.float16_dynamic_qconfig
    with pytest.raises(ValueError, match="must be qint8"):
        dynamic.Conv1d.from_float(source)
