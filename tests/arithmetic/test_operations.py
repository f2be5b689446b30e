"""Operations without weights: the models give the integers of the real systems."""

from __future__ import annotations

import numpy as np
import pytest
from arithmetic.operations import RECORDED, SYSTEMS, Inputs, make_cases, real

import pyqref
from pyqref import arithmetic
from pyqref.nn import functional as F

ops = pyqref.ops.quantized


def modelled(name: str, case: Inputs) -> np.ndarray:
    """Return this package's result in the arithmetic of a name."""
    operation, scales, zeros, inputs = case
    if operation == "dynamic":
        x, integers, bias = map(pyqref.from_numpy, inputs)
        weight = pyqref._make_per_tensor_quantized_tensor(integers, float(scales[0]), 0)
        packed = ops.linear_prepack(weight, bias)
        with arithmetic.use(name, strict=True):
            return ops.linear_dynamic(x, packed).numpy()
    if operation == "quantize":
        with arithmetic.use(name, strict=True):
            given = pyqref.from_numpy(inputs[0]), float(scales[0]), zeros[0], pyqref.quint8
            return pyqref.quantize_per_tensor(*given).int_repr().numpy()
    tensors = [
        pyqref._make_per_tensor_quantized_tensor(pyqref.from_numpy(x), float(s), z)
        for x, s, z in zip(inputs, scales, zeros, strict=False)
    ]
    out = (float(scales[-1]), zeros[-1])
    run = {
        "add": lambda: ops.add(*tensors, *out),
        "broadcast add": lambda: ops.add(*tensors, *out),
        "mul": lambda: ops.mul(*tensors, *out),
        "matmul": lambda: ops.matmul(*tensors, *out),
        "cat": lambda: ops.cat(tensors, 1, *out),
        "average": lambda: F.avg_pool2d(tensors[0], (2, 3), 1),
        "whole": lambda: F.adaptive_avg_pool2d(tensors[0], 1),
        "sigmoid": lambda: ops.sigmoid(tensors[0], *out),
        "leaky_relu": lambda: ops.leaky_relu(tensors[0], 0.1, False, *out),
    }
    with arithmetic.use(name, strict=True):
        return run[operation]().int_repr().numpy()


@pytest.mark.parametrize("system", SYSTEMS)
def test_recorded_operations(system):
    """``eq-onnx-add`` to ``eq-xnnpack-mul``: no result differs from those of the real system."""
    cases, taken = make_cases(), 0
    with np.load(RECORDED) as recorded:
        for number, case in enumerate(cases):
            if f"{system}:{number}" in recorded.files:
                theirs = recorded[f"{system}:{number}"]
                assert np.array_equal(theirs, modelled(SYSTEMS[system], case)), case[0]
                taken += 1
    assert taken == (len(cases) if system == "onnxruntime" else len(cases) - 7)


@pytest.mark.parametrize("system", SYSTEMS)
def test_live_operations(system):
    """New results of the system itself, for other numbers, equal those of the model."""
    pytest.importorskip("onnxruntime" if system == "onnxruntime" else "ai_edge_litert")
    for case in make_cases(1):
        theirs = real(system, case)
        if theirs is not None:
            assert np.array_equal(theirs, modelled(SYSTEMS[system], case)), case[0]
