"""The reference layers."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import pyqref
from pyqref import nn

reference = nn.quantized.reference
GRID = {"qscheme": pyqref.per_tensor_affine, "dtype": pyqref.qint8, "scale": 0.02, "zero_point": 3}


def _channels(count: int, axis: int = 0) -> dict[str, Any]:
    return {
        "qscheme": pyqref.per_channel_symmetric,
        "dtype": pyqref.qint8,
        "scale": pyqref.linspace(0.01, 0.02, count),
        "zero_point": pyqref.zeros(count, dtype=pyqref.int32),
        "axis": axis,
    }


def test_computes_with_the_rounded_weight() -> None:
    """The float weight stays; forward uses get_weight()."""
    linear = nn.Linear(4, 3)
    layer = reference.Linear.from_float(linear, GRID)
    assert layer.weight is linear.weight
    x = pyqref.randn(2, 4)
    rounded = pyqref.quantize_per_tensor(linear.weight, 0.02, 3, pyqref.qint8).dequantize()
    assert rounded.tolist() == layer.get_weight().tolist()
    expected = nn.functional.linear(x, rounded, linear.bias)
    assert expected.tolist() == layer(x).tolist()
    assert layer(x).tolist() == copy.deepcopy(layer)(x).tolist()


@pytest.mark.parametrize(
    "name", ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]
)
def test_convolutions(name: str) -> None:
    """Per channel along the outputs; the symmetric scheme is the affine one that it is."""
    axis = int("Transpose" in name)
    source = getattr(nn, name)(4, 3, 2)
    layer = getattr(reference, name).from_float(source, _channels(3, axis))
    assert pyqref.per_channel_affine is layer.weight_qscheme
    assert axis == layer.get_quantized_weight().q_per_channel_axis()
    x = pyqref.randn(1, 4, *(3,) * int(name[-2]))
    source.weight.data = layer.get_weight()
    assert source(x).tolist() == layer(x).tolist()
    assert f"Quantized{name}(Reference)(4, 3, " in repr(layer)


@pytest.mark.parametrize("name", ["RNNCell", "LSTMCell", "GRUCell", "LSTM", "GRU"])
def test_recurrent(name: str) -> None:
    source = getattr(nn, name)(3, 2)
    names = [each for each, _ in source.named_parameters() if each.startswith("weight")]
    layer = getattr(reference, name).from_float(source, dict.fromkeys(names, GRID))
    x = pyqref.randn(2, 3) if "Cell" in name else pyqref.randn(4, 2, 3)
    result = layer(x)
    for each in names:
        getattr(source, each).data = layer._rounded(each)
    assert str(source(x)) == str(result)
    with pytest.raises(RuntimeError, match="use get_quantized_weight"):
        layer.get_quantized_weight()
    with pytest.raises(ValueError, match=r"weight_qparams_dict must have 'weight_hh"):
        getattr(reference, name).from_float(source, {names[0]: GRID})


def test_float16_and_none() -> None:
    """Scheme None: half precision, or the weight as it is."""
    linear = nn.Linear(4, 3)
    half = reference.Linear.from_float(linear, {"qscheme": None, "dtype": pyqref.float16})
    assert linear.weight.half().float().tolist() == half.get_weight().tolist()
    plain = reference.Linear.from_float(linear, {"qscheme": None, "dtype": pyqref.float32})
    assert linear.weight.tolist() == plain.get_weight().tolist()
    dynamic = nn.quantized.dynamic.Linear.from_reference(half)
    assert pyqref.float16 is dynamic._packed_params.dtype


def test_states_of_another_grid_are_loaded() -> None:
    """A state per tensor loads into a layer per channel, and back."""
    first = reference.Linear.from_float(nn.Linear(4, 3), GRID)
    second = reference.Linear.from_float(nn.Linear(4, 3), _channels(3))
    for source, target in ((first, second), (second, reference.Linear(4, 3))):
        expected = source.get_weight().tolist()
        target.load_state_dict(source.state_dict())
        assert expected == target.get_weight().tolist()


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ({"dtype": pyqref.qint8}, "must be a dictionary with qscheme"),
        ({"qscheme": "affine", "dtype": pyqref.qint8}, "qscheme 'affine' is not supported"),
        ({"qscheme": pyqref.per_tensor_affine, "dtype": pyqref.qint8}, "lack scale, zero_point"),
        ({**GRID, "qscheme": pyqref.per_channel_affine}, "lack axis"),
    ],
)
def test_bad_grids(grid: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        reference.Linear(2, 2, weight_qparams=grid)


def test_a_scheme_needs_integers() -> None:
    layer = reference.Linear(2, 2, weight_qparams={**GRID, "dtype": pyqref.float16})
    with pytest.raises(ValueError, match=r"must have a quantized dtype, got pyqref\.float16"):
        layer.get_weight()


def test_fused_layers_from_reference() -> None:
    """LinearReLU and ConvReLU2d of a group whose first layer is a reference one."""
    linear = reference.Linear.from_float(nn.Linear(4, 3), GRID)
    group = nn.Sequential(linear, nn.ReLU())
    made = nn.intrinsic.quantized.LinearReLU.from_reference(group, 0.1, 3)
    assert linear.get_quantized_weight().int_repr().tolist() == made.weight().int_repr().tolist()
    assert (0.1, 3) == (made.scale, made.zero_point)
    leaky = nn.Sequential(linear, nn.LeakyReLU(0.3))
    made = nn.intrinsic.quantized.LinearLeakyReLU.from_reference(leaky, 0.1, 3)
    assert 0.3 == made.negative_slope
    dynamic = nn.intrinsic.quantized.dynamic.LinearReLU.from_reference(group)
    assert (dynamic(pyqref.randn(3, 4)) >= 0).all().item()
    conv = reference.Conv2d.from_float(nn.Conv2d(2, 3, 1), GRID)
    relu = nn.intrinsic.quantized.ConvReLU2d.from_reference(nn.Sequential(conv, nn.ReLU()), 0.1, 3)
    assert conv.get_quantized_weight().int_repr().tolist() == relu.weight().int_repr().tolist()
