"""ops.quantized.linear_dynamic and its float16 form."""

from __future__ import annotations

import numpy as np
import pytest

import pyqref
from pyqref.numerics.dynamic import linear_dynamic as equation
from pyqref.numerics.dynamic import weight_to_float16
from pyqref.ops import quantized as ops


def _array(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("engine", ["fbgemm", "x86", "onednn", "qnnpack"])
@pytest.mark.parametrize("reduce_range", [False, True])
@pytest.mark.parametrize("per_channel", [False, True])
def test_follows_the_equation(engine: str, reduce_range: bool, per_channel: bool) -> None:
    """eq-linear-dynamic, bit for bit."""
    pyqref.backends.quantized.engine = engine
    x, bias, w = _array(0, 3, 7), _array(1, 5), pyqref.from_numpy(_array(2, 5, 7))
    scales, zero_points = np.linspace(0.01, 0.03, 5), np.arange(5)
    if per_channel:
        weight = pyqref.quantize_per_channel(
            w, pyqref.from_numpy(scales), pyqref.from_numpy(zero_points), 0, pyqref.qint8
        )
    else:
        scales, zero_points = np.float64(0.02), np.array([2])
        weight = pyqref.quantize_per_tensor(w, 0.02, 2, pyqref.qint8)
    packed = ops.linear_prepack(weight, pyqref.from_numpy(bias))
    for relu, operation in ((False, ops.linear_dynamic), (True, ops.linear_relu_dynamic)):
        expected = equation(
            x, weight.int_repr().numpy(), scales, zero_points, bias, relu, engine, reduce_range
        )
        actual = operation(pyqref.from_numpy(x), packed, reduce_range)
        assert expected.tolist() == actual.tolist()


def test_float16_weight() -> None:
    """The weight is rounded to half precision and saturates at 65504."""
    weight = pyqref.tensor([[1.0 + 2.0**-12, 1e6], [-1e6, 0.5]])
    packed = ops.linear_prepack_fp16(weight, pyqref.tensor([1.0, 2.0]))
    assert packed.unpack()[0].tolist() == [[1.0, 65504.0], [-65504.0, 0.5]]
    assert weight_to_float16(weight.numpy()).tolist() == ops.linear_unpack_fp16(packed)[0].tolist()
    x = pyqref.tensor([[1.0, 0.0]])
    assert ops.linear_dynamic_fp16(x, packed).tolist() == [[2.0, -65502.0]]
    assert ops.linear_relu_dynamic_fp16(x, packed).tolist() == [[2.0, 0.0]]


@pytest.mark.parametrize("shape", [(0, 7), (2, 0, 7), (2, 3, 7)])
def test_any_leading_shape(shape: tuple[int, ...]) -> None:
    weight = pyqref.quantize_per_tensor(pyqref.zeros(5, 7), 0.02, 0, pyqref.qint8)
    y = ops.linear_dynamic(pyqref.zeros(shape), ops.linear_prepack(weight))
    assert (*shape[:-1], 5) == tuple(y.shape)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_nan_and_infinity(value: float) -> None:
    """No scale covers them: an error, where torch gives numbers."""
    weight = pyqref.quantize_per_tensor(pyqref.zeros(5, 2), 0.02, 0, pyqref.qint8)
    with pytest.raises(ValueError, match="holds nan or infinity, which no scale covers"):
        ops.linear_dynamic(pyqref.tensor([[1.0, value]]), ops.linear_prepack(weight))


def test_errors() -> None:
    """A quantized or double input, wrong shapes, the packed weight of the other form."""
    weight = pyqref.quantize_per_tensor(pyqref.zeros(5, 7), 0.02, 0, pyqref.qint8)
    packed = ops.linear_prepack(weight)
    x = pyqref.quantize_per_tensor(pyqref.zeros(2, 7), 1.0, 0, pyqref.quint8)
    with pytest.raises(RuntimeError, match=r"must be a float32 tensor.*call dequantize\(\)"):
        ops.linear_dynamic(x, packed)
    with pytest.raises(RuntimeError, match=r"must have dtype float32, got pyqref\.float64"):
        ops.linear_dynamic(pyqref.zeros(2, 7, dtype=pyqref.float64), packed)
    with pytest.raises(RuntimeError, match=r"the last of length 7, got shape \(2, 8\)"):
        ops.linear_dynamic(pyqref.zeros(2, 8), packed)
    with pytest.raises(RuntimeError, match="at least 2 dimensions"):
        ops.linear_dynamic(pyqref.zeros(7), packed)
    with pytest.raises(TypeError, match="linear_prepack_fp16"):
        ops.linear_dynamic_fp16(pyqref.zeros(2, 7), packed)
    with pytest.raises(RuntimeError, match="weight must have 2 dimensions"):
        ops.linear_prepack_fp16(pyqref.zeros(7))
