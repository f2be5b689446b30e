"""Real zero at every scale: whatever maps 0 to 0 gives the zero point of the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import pyqref
from pyqref.nn import functional as F
from pyqref.ops import quantized as ops

#: From numbers far below a step of the result to numbers far above all of them. At 1028.02 and
#: 123457 the product of scale and zero point is rounded by several thousandths.
SCALES = [1e-6, 0.37, 1028.02, 123457.0, 1e6]
Run = Callable[[Any, float, int], Any]


def _prelu(x: Any, scale: float, zero_point: int) -> Any:
    slope = pyqref.quantize_per_tensor(pyqref.tensor([0.25]), 0.01, 3, x.dtype)
    return ops.prelu(x, slope, scale, zero_point)


def _batch_norm(x: Any, scale: float, zero_point: int) -> Any:
    one, zero = pyqref.ones(4), pyqref.zeros(4)
    return ops.batch_norm2d(x, one, zero, zero, one, 1e-5, scale, zero_point)


ZERO_TO_ZERO: dict[str, Run] = {
    "quantize": lambda x, s, z: pyqref.quantize_per_tensor(x.dequantize(), s, z, x.dtype),
    "hardswish": ops.hardswish,
    "elu": lambda x, s, z: ops.elu(x, s, z, 1.3, 1.1, 0.7),
    "celu": lambda x, s, z: ops.celu(x, s, z, 0.7),
    "leaky_relu": lambda x, s, z: ops.leaky_relu(x, 0.1, False, s, z),
    "threshold": lambda x, s, z: ops.threshold(x, -1e-9, 5.0),
    "tanh": lambda x, s, z: pyqref.tanh(x),
    "gelu": lambda x, s, z: F.gelu(x),
    "relu6": lambda x, s, z: F.relu6(x),
    "clamp": lambda x, s, z: pyqref.clamp(x, -1.0, 1.0),
    "prelu": _prelu,
    "add": lambda x, s, z: ops.add(x, x, s, z),
    "add_relu": lambda x, s, z: ops.add_relu(x, x, s, z),
    "mul": lambda x, s, z: ops.mul(x, x, s, z),
    "matmul": lambda x, s, z: ops.matmul(x, x, s, z),
    "cat": lambda x, s, z: ops.cat([x, x], 0, s, z),
    "add_scalar": lambda x, s, z: ops.add_scalar(x, 0.0),
    "mul_scalar": lambda x, s, z: ops.mul_scalar(x, -3.7),
    "avg_pool2d": lambda x, s, z: F.avg_pool2d(x, 3, 1, 1),
    "adaptive_avg_pool2d": lambda x, s, z: F.adaptive_avg_pool2d(x, 3),
    "max_pool2d": lambda x, s, z: F.max_pool2d(x, 2, 1, 1),
    "nearest": lambda x, s, z: F.interpolate(x, scale_factor=1.7),
    "bilinear": lambda x, s, z: F.interpolate(x, scale_factor=1.7, mode="bilinear"),
    "mean": lambda x, s, z: x.mean((2, 3)),
    "pad": lambda x, s, z: F.pad(x, (1, 1)),
    "batch_norm": _batch_norm,
    "layer_norm": lambda x, s, z: ops.layer_norm(x, [4, 4], None, None, 1e-5, s, z),
    "group_norm": lambda x, s, z: ops.group_norm(x, 2, None, None, 1e-5, s, z),
    "instance_norm": lambda x, s, z: ops.instance_norm(x, None, None, 1e-5, s, z),
}
#: Functions whose value at zero is another, a whole number of steps of the result.
TO_A_NUMBER: dict[str, tuple[Run, float]] = {
    "sigmoid": (lambda x, s, z: pyqref.sigmoid(x), 0.5),
    "quantized.sigmoid": (lambda x, s, z: ops.sigmoid(x, 1 / 64, 0), 0.5),
    "hardsigmoid": (lambda x, s, z: F.hardsigmoid(x), 0.5),
    "softmax": (lambda x, s, z: ops.softmax(x, 1, 1 / 64, 0), 0.25),
}
RUNS = {**{name: (run, 0.0) for name, run in ZERO_TO_ZERO.items()}, **TO_A_NUMBER}


@pytest.mark.parametrize("engine", ["fbgemm", "qnnpack"])
@pytest.mark.parametrize("dtype", [pyqref.quint8, pyqref.qint8])
@pytest.mark.parametrize("name", RUNS)
def test_real_zero_is_exact(name: str, dtype: Any, engine: str) -> None:
    """The formula's value at 0 comes out exactly, on whatever grid 0 is stored."""
    pyqref.backends.quantized.engine = engine
    run, value = RUNS[name]
    wrong = []
    for scale in SCALES:
        for zero_point in range(dtype.quant_min, dtype.quant_max + 1, 17):
            x = pyqref.quantize_per_tensor(pyqref.zeros(2, 4, 4, 4), scale, zero_point, dtype)
            for out_scale in (1e-6, scale):
                y = run(x, out_scale, dtype.quant_min + 77)
                if {value} != set(y.dequantize().flatten().tolist()):
                    wrong.append((scale, zero_point, out_scale))
    assert [] == wrong


@pytest.mark.parametrize("dtype", [pyqref.quint8, pyqref.qint8])
def test_adding_real_zero_changes_nothing(dtype: Any) -> None:
    """``eq-dequantize-fused``: zeros on a coarse grid leave the sum on the grid of the others."""
    every = pyqref.arange(dtype.quant_min, dtype.quant_max + 1).float()
    x = pyqref.quantize_per_tensor(every * 0.25, 0.25, 0, dtype)
    for scale in SCALES:
        for zero_point in (dtype.quant_min, dtype.quant_min + 201, dtype.quant_max):
            zero = pyqref.quantize_per_tensor(pyqref.zeros(256), scale, zero_point, dtype)
            for pair in ((x, zero), (zero, x)):
                assert x.int_repr().tolist() == ops.add(*pair, 0.25, 0).int_repr().tolist()
