"""nn.quantized.functional."""

from __future__ import annotations

from typing import Any

import pytest

import pyqref
from pyqref import nn
from pyqref.nn.quantized import functional as qF


def _quantized(*shape: int, dtype: Any = pyqref.quint8, scale: float = 0.05) -> pyqref.Tensor:
    pyqref.manual_seed(sum(shape))
    zero_point = 100 if dtype is pyqref.quint8 else 0
    return pyqref.quantize_per_tensor(pyqref.randn(*shape), scale, zero_point, dtype)


def test_linear_is_the_layer() -> None:
    """Without output parameters those of the input are taken."""
    x, weight, bias = _quantized(4, 6), _quantized(3, 6, dtype=pyqref.qint8), pyqref.ones(3)
    layer = nn.quantized.Linear(6, 3)
    layer.set_weight_bias(weight, bias)
    layer.scale, layer.zero_point = 0.2, 50
    expected = layer(x).int_repr().tolist()
    assert expected == qF.linear(x, weight, bias, 0.2, 50).int_repr().tolist()
    derived = qF.linear(x, weight)
    assert (x.q_scale(), x.q_zero_point()) == (derived.q_scale(), derived.q_zero_point())


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_conv_is_the_layer(dimensions: int) -> None:
    x = _quantized(2, 4, *(5,) * dimensions)
    weight = _quantized(6, 2, *(3,) * dimensions, dtype=pyqref.qint8)
    layer = getattr(nn.quantized, f"Conv{dimensions}d")(4, 6, 3, 2, 1, 1, 2)
    layer.set_weight_bias(weight, pyqref.ones(6))
    layer.scale, layer.zero_point = 0.3, 60
    convolve = getattr(qF, f"conv{dimensions}d")
    actual = convolve(x, weight, pyqref.ones(6), 2, 1, 1, 2, scale=0.3, zero_point=60)
    assert layer(x).int_repr().tolist() == actual.int_repr().tolist()


def test_documented_conv_example_corrected() -> None:
    """The example passes scale where stride stands, and a quint8 filter: both are errors."""
    filters, inputs = pyqref.randn(8, 4, 3, 3), pyqref.randn(1, 4, 5, 5)
    q_inputs = pyqref.quantize_per_tensor(inputs, 1.0, 0, pyqref.quint8)
    as_printed = pyqref.quantize_per_tensor(filters, 1.0, 0, pyqref.quint8)
    with pytest.raises(RuntimeError, match=r"weight must have dtype pyqref\.qint8"):
        qF.conv2d(q_inputs, as_printed, pyqref.randn(8), padding=1)
    q_filters = pyqref.quantize_per_tensor(filters, 1.0, 0, pyqref.qint8)
    with pytest.raises(RuntimeError, match="each of the 8 outputs"):
        qF.conv2d(q_inputs, q_filters, pyqref.randn(4), padding=1)
    output = qF.conv2d(q_inputs, q_filters, pyqref.randn(8), padding=1, scale=1.0, zero_point=0)
    assert (1, 8, 5, 5) == tuple(output.shape)


def test_options_that_are_not_possible() -> None:
    """padding_mode, dtype of the output, indices."""
    x, weight = _quantized(1, 4, 5, 5), _quantized(6, 4, 3, 3, dtype=pyqref.qint8)
    with pytest.raises(ValueError, match="padding_mode must be 'zeros', got 'reflect'"):
        qF.conv2d(x, weight, None, padding_mode="reflect")
    with pytest.raises(ValueError, match=r"dtype must be quint8, got pyqref\.qint8"):
        qF.conv2d(x, weight, None, dtype=pyqref.qint8)
    with pytest.raises(NotImplementedError, match="return_indices must be False"):
        qF.max_pool2d(x, 2, return_indices=True)


def test_functions_that_keep_the_grid() -> None:
    """Scale, zero point and dtype propagate from input to output."""
    x = _quantized(1, 2, 4, 4)
    outputs = [
        qF.relu(x),
        qF.hardtanh(x),
        qF.clamp(x, -0.5, 0.5),
        qF.max_pool2d(x, 2),
        qF.avg_pool2d(x, 2),
        qF.adaptive_avg_pool2d(x, 1),
        qF.interpolate(x, scale_factor=2),
        qF.interpolate(x, size=(3, 3), mode="bilinear", align_corners=True),
    ]
    for output in outputs:
        assert (0.05, 100, pyqref.quint8) == (
            output.q_scale(),
            output.q_zero_point(),
            output.dtype,
        )


def test_max_pooling_is_that_of_float_layers() -> None:
    """torch.ao.nn.quantized.MaxPool2d is torch.nn.MaxPool2d: both take quantized tensors."""
    assert nn.quantized.MaxPool2d is nn.MaxPool2d
    assert (1, 2, 2, 2) == tuple(nn.quantized.MaxPool2d(2)(_quantized(1, 2, 4, 4)).shape)


def test_in_place() -> None:
    x = _quantized(3)
    assert qF.relu(x, inplace=True) is x
    assert 100 <= x.int_repr().min().item()
    assert qF.hardtanh(x, -0.1, 0.1, inplace=True) is x
    assert 102 >= x.int_repr().max().item()


def test_deprecated_names_warn_and_agree() -> None:
    """Upsample and its two forms are interpolate."""
    x = _quantized(1, 2, 3, 3)
    with pytest.warns(UserWarning, match="upsample is deprecated"):
        actual = qF.upsample(x, scale_factor=2)
    assert qF.interpolate(x, scale_factor=2).int_repr().tolist() == actual.int_repr().tolist()
    with pytest.warns(UserWarning, match="upsample_nearest is deprecated"):
        nearest = qF.upsample_nearest(x, scale_factor=2)
    assert actual.int_repr().tolist() == nearest.int_repr().tolist()
    with pytest.warns(UserWarning, match="upsample_bilinear is deprecated"):
        bilinear = qF.upsample_bilinear(x, scale_factor=2)
    expected = qF.interpolate(x, scale_factor=2, mode="bilinear", align_corners=True)
    assert expected.int_repr().tolist() == bilinear.int_repr().tolist()


@pytest.mark.parametrize(
    "call",
    [
        lambda x: qF.relu(x),
        lambda x: qF.linear(x, x),
        lambda x: qF.max_pool2d(x, 2),
        lambda x: qF.avg_pool2d(x, 2),
        lambda x: qF.adaptive_avg_pool2d(x, 1),
        lambda x: qF.hardtanh(x),
        lambda x: qF.clamp(x, 0.0, 1.0),
        lambda x: qF.interpolate(x, scale_factor=2),
    ],
)
def test_float_tensors_are_refused(call: Any) -> None:
    """Every function asks for a quantized input and says how to get one."""
    with pytest.raises(RuntimeError, match=r"must be a quantized tensor.*QuantStub"):
        call(pyqref.ones(1, 1, 4, 4))
