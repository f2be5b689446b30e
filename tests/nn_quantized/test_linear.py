"""nn.quantized.Linear: construction, weights, state, conversion, errors with module paths."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import pyqref
from pyqref import nn
from pyqref.ops import quantized as ops


def _weight(*, per_channel: bool = False) -> pyqref.Tensor:
    weight = pyqref.linspace(-1, 1, 6).reshape(2, 3)
    if not per_channel:
        return pyqref.quantize_per_tensor(weight, 0.01, 0, pyqref.qint8)
    scales = pyqref.tensor([0.01, 0.02], dtype=pyqref.float64)
    return pyqref.quantize_per_channel(
        weight, scales, pyqref.zeros(2, dtype=pyqref.int64), 0, pyqref.qint8
    )


def _layer(cls: Any = nn.quantized.Linear, *, per_channel: bool = False) -> Any:
    layer = cls(3, 2)
    layer.set_weight_bias(_weight(per_channel=per_channel), pyqref.tensor([0.25, -0.25]))
    layer.scale, layer.zero_point = 0.02, 30
    return layer


def _input() -> pyqref.Tensor:
    return pyqref.quantize_per_tensor(
        pyqref.tensor([[1.0, -2.0, 0.5], [0.0, 3.0, -1.0]]), 0.05, 60, pyqref.quint8
    )


CLASSES = [nn.quantized.Linear, nn.intrinsic.quantized.LinearReLU]


def test_documented_example() -> None:
    """The example of the documentation of 1.4 runs as printed."""
    m = nn.quantized.Linear(20, 30)
    input = pyqref.randn(128, 20)
    input = pyqref.quantize_per_tensor(input, 1.0, 0, pyqref.quint8)
    output = m(input)
    assert (128, 30) == tuple(output.size())


def test_both_spellings_of_the_signature() -> None:
    """bias_ as in 1.4, dtype as in 2.x."""
    assert nn.quantized.Linear(3, 2, bias_=False).bias() is None
    assert nn.quantized.Linear(3, 2, False, dtype=pyqref.qint8).bias() is None
    assert [0.0, 0.0] == nn.quantized.Linear(3, 2).bias().tolist()
    assert nn.intrinsic.quantized.LinearReLU(3, 2, bias=False).bias() is None


def test_defaults() -> None:
    layer = nn.quantized.Linear(3, 2)
    assert (1.0, 0) == (layer.scale, layer.zero_point)
    assert pyqref.qint8 is layer.weight().dtype
    assert "QuantizedLinear(in_features=3, out_features=2, scale=1.0, zero_point=0" in repr(layer)


@pytest.mark.parametrize("per_channel", [False, True])
def test_forward_is_the_operation(per_channel: bool) -> None:
    """The layer is ops.quantized.linear with its own weight and output parameters."""
    layer = _layer(per_channel=per_channel)
    packed = ops.linear_prepack(layer.weight(), layer.bias())
    expected = ops.linear(_input(), packed, 0.02, 30)
    assert expected.int_repr().tolist() == layer(_input()).int_repr().tolist()
    fused = _layer(nn.intrinsic.quantized.LinearReLU, per_channel=per_channel)
    expected = ops.linear_relu(_input(), packed, 0.02, 30)
    assert expected.int_repr().tolist() == fused(_input()).int_repr().tolist()


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize(
    "copied", [copy.deepcopy, copy.copy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_copies(cls: Any, copied: Any) -> None:
    """Copies and pickles compute the same."""
    layer = _layer(cls, per_channel=True)
    expected = layer(_input()).int_repr().tolist()
    assert expected == copied(layer)(_input()).int_repr().tolist()


@pytest.mark.parametrize("per_channel", [False, True])
def test_state_round_trip(per_channel: bool) -> None:
    """A new layer that loads the state computes the same; keys are torch's."""
    layer, other = _layer(per_channel=per_channel), nn.quantized.Linear(3, 2)
    state = layer.state_dict()
    keys = ["scale", "zero_point", "_packed_params.dtype", "_packed_params._packed_params"]
    assert keys == list(state)
    other.load_state_dict(state)
    assert layer(_input()).int_repr().tolist() == other(_input()).int_repr().tolist()
    assert layer.weight().qscheme() is other.weight().qscheme()


def test_scale_is_saved_as_float32() -> None:
    """A scale is saved as float32, as in torch: 0.11 comes back as the nearest float32."""
    layer = nn.quantized.Linear(3, 2)
    layer.scale = 0.11
    layer.load_state_dict(layer.state_dict())
    assert 0.10999999940395355 == layer.scale


def test_a_state_that_does_not_fit_changes_nothing() -> None:
    """Wrong size, missing and unexpected keys: an error, and the layer as before."""
    layer = _layer()
    before = layer(_input()).int_repr().tolist()
    with pytest.raises(RuntimeError, match=r"size mismatch for _packed_params\._packed_params"):
        layer.load_state_dict(nn.quantized.Linear(4, 2).state_dict())
    state = layer.state_dict()
    del state["scale"]
    state["more"] = pyqref.ones(1)
    with pytest.raises(RuntimeError, match=r'Missing key.*"scale"[\s\S]*Unexpected key.*"more"'):
        layer.load_state_dict(state)
    assert before == layer(_input()).int_repr().tolist()
    assert 0.02 == layer.scale


@pytest.mark.parametrize("packed", [5, (pyqref.ones(2, 3),), ("weight", None), (None, None)])
def test_a_state_of_something_else(packed: Any) -> None:
    """A state other than a weight and a bias is refused in words."""
    layer = _layer()
    state = layer.state_dict()
    state["_packed_params._packed_params"] = packed
    with pytest.raises(RuntimeError, match="must be a tuple of 2 tensors"):
        layer.load_state_dict(state)


def test_a_state_with_a_float_weight() -> None:
    """A weight that is not quantized is refused, and the layer stays as it was."""
    layer = _layer()
    state = layer.state_dict()
    state["_packed_params._packed_params"] = (pyqref.ones(2, 3), None)
    with pytest.raises(RuntimeError, match="weight must be a quantized tensor"):
        layer.load_state_dict(state)
    assert [0.25, -0.25] == layer.bias().tolist()


class _Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.block = nn.Sequential(nn.Identity(), nn.quantized.Linear(3, 2))

    def forward(self, x: Any) -> Any:
        return self.block(x)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: pyqref.randn(2, 3), r"block\.1 \(QuantizedLinear\).*QuantStub is missing"),
        (
            lambda: pyqref.quantize_per_tensor(pyqref.zeros(2, 3), 1.0, 0, pyqref.qint8),
            r"block\.1 \(QuantizedLinear\) takes a tensor of pyqref\.quint8, got one of .*qint8",
        ),
        (
            lambda: pyqref.quantize_per_tensor(pyqref.zeros(2, 3), 1.0, 0, pyqref.qint32),
            r"got one of pyqref\.qint32",
        ),
        (lambda: _input()[0], "larger than or equal to 2"),
        (
            lambda: pyqref.quantize_per_tensor(pyqref.zeros(2, 4), 1.0, 0, pyqref.quint8),
            r"takes 3 features, got an input of shape \(2, 4\)",
        ),
    ],
)
def test_bad_input_names_the_path(make: Any, text: str) -> None:
    """A float tensor, another dtype, another shape."""
    with pytest.raises(RuntimeError, match=text):
        _Model()(make())


def test_something_that_is_no_tensor() -> None:
    with pytest.raises(TypeError, match="takes a quantized tensor, got a list"):
        nn.quantized.Linear(3, 2)([1.0, 2.0, 3.0])


def test_empty_batch() -> None:
    x = pyqref.quantize_per_tensor(pyqref.zeros(0, 3), 1.0, 0, pyqref.quint8)
    assert (0, 2) == tuple(_layer()(x).shape)


def test_bad_weight_and_bias() -> None:
    """Shapes and dtypes of what is set."""
    layer = nn.quantized.Linear(3, 2)
    with pytest.raises(ValueError, match=r"must have shape \(2, 3\), got \(3, 2\)"):
        layer.set_weight_bias(_weight().transpose(0, 1), None)
    with pytest.raises(RuntimeError, match="each of the 2 outputs"):
        layer.set_weight_bias(_weight(), pyqref.zeros(3))
    wrong = pyqref.quantize_per_tensor(pyqref.zeros(2, 3), 1.0, 0, pyqref.quint8)
    with pytest.raises(RuntimeError, match=r"weight must have dtype pyqref\.qint8"):
        layer.set_weight_bias(wrong, None)
    with pytest.raises(ValueError, match="must be qint8 or float16"):
        nn.quantized.Linear(3, 2, dtype=pyqref.quint8)


def test_bad_output_parameters() -> None:
    layer = _layer()
    layer.scale = 0.0
    with pytest.raises(ValueError, match="scale must be positive"):
        layer(_input())
    layer.scale, layer.zero_point = 1.0, 256
    with pytest.raises(ValueError, match=r"zero_point must be in \[0, 255\]"):
        layer(_input())


def test_from_float_errors() -> None:
    """Another type, nothing observed, no qconfig, an observer of another dtype."""
    quantized = nn.quantized.Linear
    with pytest.raises(TypeError, match=r"from_float takes one of .*Linear.*got .*\.ReLU"):
        quantized.from_float(nn.ReLU())
    linear = nn.Linear(3, 2)
    with pytest.raises(ValueError, match="no activation_post_process; call"):
        quantized.from_float(linear)
    observer = pyqref.quantization.MinMaxObserver()
    observer(pyqref.ones(1))
    linear.activation_post_process = observer
    with pytest.raises(ValueError, match="has no qconfig"):
        quantized.from_float(linear)
    linear.qconfig = pyqref.quantization.QConfig(
        pyqref.quantization.default_observer, pyqref.quantization.default_observer
    )
    with pytest.raises(ValueError, match="observer of a weight must have dtype qint8"):
        quantized.from_float(linear)


def test_precomputed_fake_quant() -> None:
    """With the flag, what the fake quantizer saw before is trusted."""
    qconfig = pyqref.quantization.get_default_qat_qconfig("fbgemm")
    qat = nn.qat.Linear(3, 2, qconfig=qconfig)
    qat.activation_post_process = pyqref.quantization.MinMaxObserver()
    qat.activation_post_process(pyqref.ones(1))
    qat.weight.data = pyqref.linspace(-1, 1, 6).reshape(2, 3)
    qat(pyqref.ones(1, 3))
    qat.weight.data = pyqref.linspace(-9, 9, 6).reshape(2, 3)
    precomputed = nn.quantized.Linear.from_float(qat, use_precomputed_fake_quant=True)
    scale_before = precomputed.weight().q_per_channel_scales()[0].item()
    scale_after = nn.quantized.Linear.from_float(qat).weight().q_per_channel_scales()[0].item()
    assert scale_before < scale_after
