"""Convolutions with quantized weights and float input."""

from __future__ import annotations

import numpy as np
import pytest

import pyqref
from pyqref.numerics.dynamic import conv_dynamic

ops = pyqref.ops.quantized


def _randn(seed: int, *shape: int) -> pyqref.Tensor:
    return pyqref.from_numpy(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


@pytest.mark.parametrize("engine", ["fbgemm", "qnnpack"])
@pytest.mark.parametrize("reduce_range", [False, True])
@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_follows_the_equation(engine: str, reduce_range: bool, dimensions: int) -> None:
    """eq-conv-dynamic on the kernels."""
    pyqref.backends.quantized.engine = engine
    weight = pyqref.quantize_per_tensor(
        _randn(0, 4, 2, *(2,) * dimensions) * 0.2, 0.004, 0, pyqref.qint8
    )
    bias, x = _randn(1, 4), _randn(2, 2, 4, *(4,) * dimensions)
    geometry = ([2] * dimensions, [1] * dimensions, [1] * dimensions, 2)
    packed = getattr(ops, f"conv{dimensions}d_prepack")(weight, bias, *geometry)
    actual = getattr(ops, f"conv{dimensions}d_dynamic")(x, packed, reduce_range)
    expected = conv_dynamic(
        x.numpy(),
        weight.int_repr().numpy(),
        np.float64(0.004),
        0,
        bias.numpy(),
        *geometry,
        engine,
        reduce_range,
    )
    assert expected.tolist() == actual.tolist()


def test_results_outside_the_range_of_the_input_saturate() -> None:
    """Results saturate as in torch: a convolution that doubles its input loses half of it."""
    weight = pyqref.quantize_per_tensor(pyqref.full((1, 1, 1), 2.0), 0.02, 0, pyqref.qint8)
    packed = ops.conv1d_prepack(weight)
    y = ops.conv1d_dynamic(pyqref.tensor([[[0.0, 0.25, 1.0]]]), packed)
    step = float(np.float32(1 / 255))
    assert [0.0, 0.5, 1.0] == pytest.approx(y.flatten().tolist(), abs=1.01 * step)


def test_errors() -> None:
    """Quantized input, nan, other packed weights."""
    weight = pyqref.quantize_per_tensor(pyqref.ones(1, 1, 1), 1.0, 0, pyqref.qint8)
    packed = ops.conv1d_prepack(weight)
    x = pyqref.zeros(1, 1, 3)
    with pytest.raises(RuntimeError, match="must be a float32 tensor"):
        ops.conv1d_dynamic(pyqref.quantize_per_tensor(x, 1.0, 0, pyqref.quint8), packed)
    with pytest.raises(ValueError, match="nan or infinity"):
        ops.conv1d_dynamic(x * float("nan"), packed)
    with pytest.raises(TypeError, match=r"quantized\.conv_transpose1d_prepack"):
        ops.conv_transpose1d_dynamic(x, packed)
    transposed = ops.conv_transpose1d_prepack(weight, None, 2)
    assert (1, 1, 5) == tuple(ops.conv_transpose1d_dynamic(x, transposed).shape)
