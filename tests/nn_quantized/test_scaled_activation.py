"""Activations with output parameters as modules, and their functional forms."""

from __future__ import annotations

import copy
import io
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref import nn, quantization
from pyqref.nn.quantized import functional as qF
from pyqref.ops import quantized as ops

nnq = nn.quantized


def quantized(*shape: int, dtype: Any = pyqref.quint8) -> Any:
    values = np.random.default_rng(0).uniform(-3, 3, shape or (2, 4, 6)).astype(np.float32)
    return pyqref.quantize_per_tensor(pyqref.from_numpy(values), 0.03, 99, dtype)


MODULES: dict[str, tuple[Callable[[], Any], Callable[[Any], Any], str]] = {
    "Hardswish": (
        lambda: nnq.Hardswish(0.5, 3),
        lambda x: ops.hardswish(x, 0.5, 3),
        "QuantizedHardswish()",
    ),
    "ELU": (
        lambda: nnq.ELU(0.5, 3, 0.7),
        lambda x: ops.elu(x, 0.5, 3, 0.7),
        "QuantizedELU(alpha=0.7)",
    ),
    "LeakyReLU": (
        lambda: nnq.LeakyReLU(0.5, 3, 0.1),
        lambda x: ops.leaky_relu(x, 0.1, False, 0.5, 3),
        "QuantizedLeakyReLU(negative_slope=0.1)",
    ),
    "Sigmoid": (
        lambda: nnq.Sigmoid(0.25, 3),
        lambda x: ops.sigmoid(x, 0.25, 3),
        "Sigmoid()",
    ),
    "Softmax": (
        lambda: nnq.Softmax(1, 0.25, 3),
        lambda x: ops.softmax(x, 1, 0.25, 3),
        "QuantizedSoftmax(dim=1)",
    ),
    "Dropout": (
        lambda: nnq.Dropout(0.3),
        lambda x: x,
        "QuantizedDropout(p=0.3, inplace=False)",
    ),
}


@pytest.mark.parametrize("name", MODULES)
def test_forward_and_representation(name: str) -> None:
    """The operation, with the parameters of the module."""
    make, operation, text = MODULES[name]
    x = quantized()
    expected, actual = operation(x), make()(x)
    assert expected.int_repr().tolist() == actual.int_repr().tolist()
    assert (expected.q_scale(), expected.q_zero_point()) == (
        actual.q_scale(),
        actual.q_zero_point(),
    )
    assert text == repr(make())


@pytest.mark.parametrize("name", MODULES)
def test_copies(name: str) -> None:
    """Deepcopy, and state_dict through save and load, give the same results."""
    make, operation, _ = MODULES[name]
    x, module = quantized(), make()
    expected = operation(x).int_repr().tolist()
    assert expected == copy.deepcopy(module)(x).int_repr().tolist()
    file = io.BytesIO()
    pyqref.save(module.state_dict(), file)
    file.seek(0)
    module.load_state_dict(pyqref.load(file))
    assert expected == module(x).int_repr().tolist()


@pytest.mark.parametrize("name", ["Hardswish", "LeakyReLU"])
def test_buffers(name: str) -> None:
    """Torch's keys; scale float32 and zero_point int64, without dimensions."""
    state = MODULES[name][0]().state_dict()
    assert [("scale", pyqref.float32, ()), ("zero_point", pyqref.int64, ())] == [
        (key, value.dtype, tuple(value.shape)) for key, value in state.items()
    ]


@pytest.mark.parametrize("name", ["Hardswish", "ELU", "LeakyReLU", "Sigmoid", "Softmax"])
def test_float_input_names_the_path(name: str) -> None:
    with pytest.raises(RuntimeError, match=r"^1 \(.*takes a quantized tensor.*QuantStub"):
        nn.Sequential(nn.Identity(), MODULES[name][0]())(pyqref.ones(2, 2))


FLOATS: dict[str, Callable[[], Any]] = {
    "Hardswish": nn.Hardswish,
    "ELU": lambda: nn.ELU(0.7),
    "LeakyReLU": lambda: nn.LeakyReLU(0.1),
    "Sigmoid": nn.Sigmoid,
    "Softmax": lambda: nn.Softmax(1),
    "PReLU": lambda: nn.PReLU(4, init=0.5),
}


@pytest.mark.parametrize("name", FLOATS)
def test_from_float(name: str) -> None:
    """Output parameters come from the observer, the rest from the layer."""
    layer = FLOATS[name]()
    layer.qconfig = quantization.QConfig(
        activation=quantization.MinMaxObserver,
        weight=quantization.MinMaxObserver.with_args(dtype=pyqref.quint8),
    )
    layer.activation_post_process = layer.qconfig.activation()
    layer.activation_post_process(pyqref.tensor([0.0, 25.5]))
    made = getattr(nnq, name).from_float(layer)
    y = made(quantized())
    assert (float(np.float32(0.1)), 0) == (float(np.float32(y.q_scale())), y.q_zero_point())
    if name != "Sigmoid":  # as in torch, which has no such method there
        again = getattr(nnq, name).from_reference(layer, 0.1, 0)
        assert y.int_repr().tolist() == again(quantized()).int_repr().tolist()


@pytest.mark.parametrize("name", FLOATS)
def test_from_float_without_an_observer(name: str) -> None:
    with pytest.raises(ValueError, match=r"call quantization\.prepare and calibrate first"):
        getattr(nnq, name).from_float(FLOATS[name]())


def test_softmax_without_dim_warns() -> None:
    x = quantized()
    with pytest.warns(UserWarning, match="implicit dimension choice 0"):
        y = nnq.Softmax(None, 0.25, 3)(x)
    assert ops.softmax(x, 0, 0.25, 3).int_repr().tolist() == y.int_repr().tolist()


def test_prelu_weight() -> None:
    """Slopes are quint8; the representation and the (empty) state are torch's."""
    module = nnq.PReLU(0.1, 3, num_parameters=4)
    assert ("QuantizedPReLU()", []) == (repr(module), list(module.state_dict()))
    assert (4,) == tuple(module.weight.shape)
    with pytest.raises(RuntimeError, match="quint8"):
        module.set_weight(pyqref.quantize_per_tensor(pyqref.ones(4), 0.1, 0, pyqref.qint8))


def test_prelu_warns_of_another_weight_dtype() -> None:
    """A weight observer of qint8, the default, causes a warning as in torch."""
    layer = nn.PReLU()
    layer.qconfig = quantization.default_qconfig
    layer.activation_post_process = layer.qconfig.activation()
    layer.activation_post_process(pyqref.tensor([0.0, 1.0]))
    with pytest.warns(UserWarning, match="PReLU's weight observer should have dtype quint8"):
        nnq.PReLU.from_float(layer)
    del layer.qconfig
    with pytest.raises(ValueError, match="no qconfig"):
        nnq.PReLU.from_float(layer)


@pytest.mark.parametrize("count", [1, 4])
def test_prelu_has_one_scale_for_all_slopes(count: int) -> None:
    """An observer of channels is refused where it gives several scales, with the remedy."""
    layer = nn.PReLU(count)
    weight = quantization.PerChannelMinMaxObserver.with_args(dtype=pyqref.quint8)
    layer.qconfig = quantization.default_qconfig._replace(weight=weight)
    layer.activation_post_process = layer.qconfig.activation()
    layer.activation_post_process(pyqref.tensor([0.0, 1.0]))
    if count == 1:
        assert (1,) == tuple(nnq.PReLU.from_float(layer).weight.shape)
        return
    with pytest.raises(ValueError, match=r"each of the 4 slopes .* default_quint8_weight_qconfig"):
        nnq.PReLU.from_float(layer)
    layer.qconfig = quantization.default_quint8_weight_qconfig
    assert (4,) == tuple(nnq.PReLU.from_float(layer).weight.shape)


def test_functional_forms() -> None:
    """The operations, and those of pooling in one and three dimensions."""
    x = quantized(2, 3, 4, 4, 4)
    for expected, actual in (
        (ops.hardswish(x, 0.5, 3), qF.hardswish(x, 0.5, 3)),
        (ops.elu(x, 0.5, 3, 0.7), qF.elu(x, 0.5, 3, 0.7)),
        (ops.celu(x, 0.5, 3, 0.7), qF.celu(x, 0.5, 3, 0.7)),
        (ops.threshold(x, 0.5, 1.0), qF.threshold(x, 0.5, 1.0)),
        (ops.leaky_relu(x, 0.1), qF.leaky_relu(x, 0.1)),
        (ops.leaky_relu(x, 0.1, False, 0.5, 3), qF.leaky_relu(x, 0.1, scale=0.5, zero_point=3)),
        (nn.functional.hardsigmoid(x), qF.hardsigmoid(x)),
        (nn.functional.avg_pool3d(x, 2), qF.avg_pool3d(x, 2)),
        (nn.functional.adaptive_avg_pool3d(x, 2), qF.adaptive_avg_pool3d(x, 2)),
        (nn.functional.max_pool1d(x[0, 0, 0], 2), qF.max_pool1d(x[0, 0, 0], 2)),
    ):
        assert expected.int_repr().tolist() == actual.int_repr().tolist()
        assert expected.q_scale() == actual.q_scale()


def test_hardsigmoid_in_place_changes_the_grid() -> None:
    x = quantized()
    expected = qF.hardsigmoid(x)
    assert qF.hardsigmoid(x, True) is x
    assert (1 / 256, expected.int_repr().tolist()) == (x.q_scale(), x.int_repr().tolist())


@pytest.mark.parametrize("engine", ["fbgemm", "qnnpack"])
def test_avg_pool3d_divides_once(engine: str) -> None:
    """A tie with an odd zero point: the zero point is inside the rounding, on every engine."""
    pyqref.backends.quantized.engine = engine
    real = pyqref.tensor([3.0, 3, 3, 3, 4, 4, 4, 4]).reshape(1, 1, 2, 2, 2)
    x = pyqref.quantize_per_tensor(real, 1.0, 1, pyqref.quint8)
    assert [4] == qF.avg_pool3d(x, 2).int_repr().flatten().tolist()
    assert [4] == qF.adaptive_avg_pool3d(x, 1).int_repr().flatten().tolist()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: qF.leaky_relu(x, 0.1, scale=0.5), ValueError, "both scale and zero_point"),
        (lambda x: qF.threshold(x, None, 1.0), ValueError, "threshold must be a number"),
        (lambda x: qF.max_pool1d(x, 2, return_indices=True), NotImplementedError, "return_indices"),
        (lambda x: qF.elu(x.dequantize(), 0.5, 3), RuntimeError, "functional.elu"),
        (lambda x: qF.hardsigmoid(x.dequantize()), RuntimeError, "functional.hardsigmoid"),
        (lambda x: qF.avg_pool3d(x.dequantize(), 2), RuntimeError, "functional.avg_pool3d"),
    ],
)
def test_refusals(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(quantized())


def test_eager_conversion() -> None:
    """Each layer is swapped; dropout disappears from the numbers."""
    layers = [nn.Hardswish(), nn.ELU(), nn.LeakyReLU(), nn.Dropout(0.5)]
    model = nn.Sequential(quantization.QuantStub(), *layers, quantization.DeQuantStub()).eval()
    model.qconfig = quantization.default_qconfig
    prepared = quantization.prepare(model)
    data = pyqref.from_numpy(np.linspace(-3, 3, 200, dtype=np.float32))
    prepared(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        converted = quantization.convert(prepared)
    types = ["Quantize", "Hardswish", "ELU", "LeakyReLU", "Dropout", "DeQuantize"]
    assert types == [type(each).__name__ for each in converted]
    assert all(
        isinstance(each, getattr(nnq, name)) for each, name in zip(converted, types, strict=True)
    )
    # Four roundings to grids of 128 steps over at most 6.
    assert (converted(data) - model(data)).abs().max().item() <= 4 * 6 / 127
