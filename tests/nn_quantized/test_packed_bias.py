"""A layer computes with the bias that it says it has, whatever happens to it between calls."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import pyqref
from pyqref import kernels, nn
from pyqref import quantization as q

ops = pyqref.ops.quantized


@pytest.fixture(params=kernels.usable(), autouse=True)
def kernel(request: pytest.FixtureRequest) -> Any:
    with kernels.use(request.param):
        yield


def give_other_data(bias: Any) -> None:
    bias.data = pyqref.ones(3) * 9


def change_in_place(bias: Any) -> None:
    bias.fill_(9)


BIASES = {
    "whole": lambda: pyqref.zeros(3),
    "with gaps": lambda: pyqref.zeros(6)[::2],
    "a part": lambda: pyqref.zeros(6)[1:4],
}


@pytest.mark.parametrize("engine", ["fbgemm", "qnnpack"])
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("change", [give_other_data, change_in_place])
@pytest.mark.parametrize("copied", [False, True])
def test_bias_of_the_next_call(engine: str, bias: str, change: Any, copied: bool) -> None:
    before = pyqref.backends.quantized.engine
    pyqref.backends.quantized.engine = engine
    try:
        weight = pyqref.quantize_per_tensor(pyqref.eye(4)[:3], 0.01, 0, pyqref.qint8)
        packed = ops.linear_prepack(weight, BIASES[bias]())
    finally:
        pyqref.backends.quantized.engine = before
    x = pyqref.ones(1, 4)
    q = pyqref.quantize_per_tensor(x, 1.0, 0, pyqref.quint8)
    assert ops.linear_dynamic(x, packed).tolist() == [[1, 1, 1]]
    assert ops.linear(q, packed, 1.0, 0).int_repr().tolist() == [[1, 1, 1]]
    if copied:
        packed = copy.deepcopy(packed)
    change(packed.bias())
    assert ops.linear_dynamic(x, packed).tolist() == [[10, 10, 10]]
    assert ops.linear(q, packed, 1.0, 0).int_repr().tolist() == [[10, 10, 10]]


@pytest.mark.parametrize("engine", ["fbgemm", "qnnpack"])
@pytest.mark.parametrize("kind", ["Linear", "Conv1d", "Conv2d", "Conv3d", "ConvTranspose2d"])
def test_a_layer_without_bias_has_none(engine: str, kind: str) -> None:
    """A layer without bias has none on any engine; qnnpack's state with zeros changes nothing."""
    pyqref.backends.quantized.engine = engine
    dimensions = int(kind[-2]) if kind.endswith("d") else 0
    float_layer = getattr(nn, kind)(*((4, 3, 1) if dimensions else (4, 3)), bias=False)
    model = nn.Sequential(q.QuantStub(), float_layer, q.DeQuantStub()).eval()
    model.qconfig = q.get_default_qconfig("qnnpack")
    x = pyqref.rand(2, 4, *(3,) * dimensions)
    prepared = q.prepare(model)
    prepared(x)
    converted = q.convert(prepared)
    expected = converted(x)
    bias = converted[1].bias
    assert (bias() if callable(bias) else bias) is None
    state = dict(converted.state_dict())
    for key, value in state.items():
        if key == "1.bias":
            state[key] = pyqref.zeros(3)
        elif key.endswith("_packed_params._packed_params"):
            state[key] = value[0], pyqref.zeros(3)
    converted.load_state_dict(state)
    assert pyqref.equal(expected, converted(x))
