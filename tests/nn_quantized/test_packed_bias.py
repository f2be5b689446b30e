"""A layer computes with the bias that it says it has, whatever happens to it between calls."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import pyqref
from pyqref import kernels

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
