"""Activations on grids of their own, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pyqref
from pyqref.nn import functional as F
from pyqref.numerics import activation
from pyqref.ops import quantized as ops
from pyqref.ops.quantized import pointwise

DTYPES = [pyqref.quint8, pyqref.qint8, pyqref.qint32]
REAL: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "sigmoid": (lambda x: ops.sigmoid(x, 0.005, 3), pyqref.sigmoid),
    "hardswish": (lambda x: ops.hardswish(x, 0.05, 3), F.hardswish),
    "elu": (lambda x: ops.elu(x, 0.05, 30, 0.7), lambda x: F.elu(x, 0.7)),
    "celu": (lambda x: ops.celu(x, 0.05, 30, 0.7), lambda x: F.celu(x, 0.7)),
    "leaky_relu": (
        lambda x: ops.leaky_relu(x, 0.1, False, 0.05, 30),
        lambda x: F.leaky_relu(x, 0.1),
    ),
    "softmax": (lambda x: ops.softmax(x, -1, 0.005, 3), lambda x: F.softmax(x, -1)),
}


def quantized(dtype: Any = pyqref.quint8, *shape: int) -> Any:
    """Random numbers in [-3, 3] on a grid."""
    values = np.random.default_rng(0).uniform(-3, 3, shape or (5, 60)).astype(np.float32)
    return pyqref.quantize_per_tensor(pyqref.from_numpy(values), 0.03, 5, dtype)


@pytest.mark.parametrize("engine", ["fbgemm", "qnnpack"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", REAL)
def test_within_half_a_step_of_the_float_function(name: str, dtype: Any, engine: str) -> None:
    """The result is the nearest number of the output grid, but for float32 rounding."""
    pyqref.backends.quantized.engine = engine
    run, real = REAL[name]
    x = quantized(dtype)
    y = run(x)
    low, high = (dtype.quant_min - y.q_zero_point()), (dtype.quant_max - y.q_zero_point())
    exact = np.clip(real(x.dequantize()).numpy(), low * y.q_scale(), high * y.q_scale())
    # Half a step, and the roundings of a few float32 operations on numbers below 4.
    bound = y.q_scale() / 2 + 4 * 8 * 2.0**-24
    assert dtype is y.dtype
    assert np.abs(exact - y.dequantize().numpy()).max() <= bound


@pytest.mark.parametrize("name", REAL)
def test_no_elements(name: str) -> None:
    """An empty tensor stays one."""
    x = pyqref.quantize_per_tensor(pyqref.ones(0, 3), 0.1, 0, pyqref.quint8)
    assert (0, 3) == tuple(REAL[name][0](x).shape)


def test_a_view_that_is_not_contiguous() -> None:
    """Strides make no difference."""
    x = quantized()
    assert ops.hardswish(x, 0.05, 3).int_repr().t().tolist() == (
        ops.hardswish(x.t(), 0.05, 3).int_repr().tolist()
    )


def test_tie_of_the_vector_body() -> None:
    """Rounded, then the zero point is added: 1.5 becomes 2, and 3 with zero point 1."""
    x = pyqref.quantize_per_tensor(pyqref.tensor([3.0]), 1.0, 0, pyqref.quint8)
    assert [3] == ops.elu(x, 2.0, 1).int_repr().tolist()


def test_threshold_keeps_the_grid() -> None:
    """A value that is not above the threshold is replaced."""
    x = pyqref.quantize_per_tensor(pyqref.tensor([-1.0, 0.5, 2.0]), 0.5, 4, pyqref.quint8)
    y = ops.threshold(x, 0.5, 1.0)
    assert ([6, 6, 8], 0.5, 4) == (y.int_repr().tolist(), y.q_scale(), y.q_zero_point())


def test_dropout_is_a_copy() -> None:
    """Nothing is dropped, output parameters and training are not looked at."""
    x = quantized()
    y = ops.dropout(x, 9.0, 1, 0.5, True)
    assert y is not x
    assert x.int_repr().tolist() == y.int_repr().tolist()
    assert (x.q_scale(), x.q_zero_point()) == (y.q_scale(), y.q_zero_point())


def test_prelu_by_channel() -> None:
    """Slopes run along axis 1."""
    x = pyqref.quantize_per_tensor(-pyqref.ones(1, 2, 2), 0.1, 100, pyqref.quint8)
    slopes = pyqref.quantize_per_tensor(pyqref.tensor([0.5, -0.5]), 0.1, 20, pyqref.quint8)
    y = ops.prelu(x, slopes, 0.1, 100)
    assert [[[95, 95], [105, 105]]] == y.int_repr().tolist()


def test_prelu_keeps_positive_elements() -> None:
    """Documented: the slope above zero is 1. Torch: 1 on the grid of the slopes."""
    x = pyqref.quantize_per_tensor(pyqref.tensor([2.0]), 0.1, 100, pyqref.quint8)
    slope = pyqref.quantize_per_tensor(pyqref.tensor([0.25]), 0.25 / 255, 0, pyqref.quint8)
    assert [120] == ops.prelu(x, slope, 0.1, 100).int_repr().tolist()
    pyqref.backends.quantized.conventions = "torch"
    assert [105] == ops.prelu(x, slope, 0.1, 100).int_repr().tolist()


@pytest.mark.parametrize("conventions", ["documented", "torch"])
@pytest.mark.parametrize("dtype", [pyqref.quint8, pyqref.qint8])
@pytest.mark.parametrize("channels", [1, 5])
def test_prelu_of_many_elements(conventions: Any, dtype: Any, channels: int) -> None:
    """eq-quantized-prelu for each byte under each slope, in any order in memory."""
    pyqref.backends.quantized.conventions = conventions
    rng = np.random.default_rng(channels)
    low = pyqref.iinfo(dtype).min
    every = (low + rng.permuted(np.tile(np.arange(256), (5, 9)), axis=1)).reshape(5, 9, 256)
    x = pyqref._make_per_tensor_quantized_tensor(
        pyqref.from_numpy(every.transpose(1, 0, 2).astype(np.uint8 if low == 0 else np.int8)),
        0.1,
        low + 100,
    )
    slopes = rng.uniform(-0.5, 0.5, channels).astype(np.float32)
    weight = pyqref.quantize_per_tensor(pyqref.from_numpy(slopes), 0.01, low + 60, dtype)
    expected = activation.prelu(
        x.int_repr().numpy(),
        x._quantizer.grid,
        weight.int_repr().numpy().reshape(-1, 1),
        weight._quantizer.grid,
        pyqref.quantize_per_tensor(pyqref.zeros(1), 0.07, low + 90, dtype)._quantizer.grid,
        conventions,
    )
    images = x.reshape(9, 5, 16, 16).contiguous(memory_format=pyqref.channels_last)
    for each, step in ((x, 1), (x[:, :, ::2], 2), (images, 1)):
        y = ops.prelu(each, weight, 0.07, low + 90).int_repr().numpy()
        np.testing.assert_array_equal(y.reshape(9, 5, -1), expected[:, :, ::step])


def test_fixed_grids() -> None:
    """Sigmoid and hardsigmoid 1/256 and 0, tanh 2/256 and 128; of qint8 128 less."""
    for dtype, shift in ((pyqref.quint8, 0), (pyqref.qint8, -128)):
        x = quantized(dtype)
        for function, grid in (
            (pyqref.sigmoid, (1 / 256, shift)),
            (F.hardsigmoid, (1 / 256, shift)),
            (pyqref.tanh, (2 / 256, 128 + shift)),
        ):
            y = function(x)
            assert grid == (y.q_scale(), y.q_zero_point())


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: ops.sigmoid(x, 0.0, 0), ValueError, "sigmoid: scale must be positive"),
        (lambda x: ops.hardswish(x, 1.0, 256), ValueError, r"zero_point must be in \[0, 255\]"),
        (lambda x: ops.elu(x.dequantize(), 1.0, 0), RuntimeError, "must be a quantized tensor"),
        (lambda x: ops.celu(x, 1.0, 0, 0.0), ValueError, "alpha must not be 0"),
        (lambda x: ops.softmax(x, 2, 1.0, 0), IndexError, r"dim must be in \[-2, 1\], got 2"),
        (lambda x: ops.softmax(x, 0.5, 1.0, 0), TypeError, "dim must be an integer"),
        (lambda x: ops.dropout(x, 1.0, 0, 1.5), ValueError, r"p must be in \[0, 1\]"),
        (lambda x: ops.dropout(3, 1.0, 0), TypeError, "must be a tensor"),
        (lambda x: ops.prelu(x, x, 1.0, 0), RuntimeError, "weight must have 1 element"),
        (lambda x: ops.prelu(x, x.dequantize(), 1.0, 0), RuntimeError, "must be a quantized"),
        (lambda x: ops.threshold([1], 0.0, 0.0), TypeError, "must be a quantized tensor"),
    ],
)
def test_refusals(call: Any, error: type[Exception], message: str) -> None:
    """The error names the operation and the argument."""
    with pytest.raises(error, match=message):
        call(quantized())


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["sigmoid", "hardswish", "elu", "celu"]),
    st.one_of(st.floats(), st.integers(-300, 300), st.none(), st.text(max_size=2)),
    st.one_of(st.integers(-(2**40), 2**40), st.floats(), st.none()),
)
def test_any_output_parameters(name: str, scale: Any, zero_point: Any) -> None:
    """A quantized tensor with these parameters, or an error that is not a crash."""
    try:
        y = getattr(ops, name)(quantized(), scale, zero_point)
    except (TypeError, ValueError, OverflowError):
        return
    assert (float(scale), int(zero_point)) == (y.q_scale(), y.q_zero_point())


@pytest.mark.parametrize(("shape", "dim"), [((3, 300), 1), ((300, 3), 0), ((2, 5, 70), 1)])
def test_softmax_of_long_axes(
    shape: tuple[int, ...], dim: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """eq-float-softmax of what the integers stand for, whatever is held at a time."""
    x = pyqref.from_numpy(np.random.default_rng(0).standard_normal(shape).astype(np.float32))
    q = pyqref.quantize_per_tensor(3 * x, 0.05, 100, pyqref.quint8)
    expected = pyqref.quantize_per_tensor(q.dequantize().softmax(dim), 1 / 4096, 0, pyqref.quint8)
    assert pyqref.equal(expected, ops.softmax(q, dim, 1 / 4096, 0))
    monkeypatch.setattr(pointwise, "_LONG", 64)
    monkeypatch.setattr(pointwise, "MOST", 32)
    assert pyqref.equal(expected, ops.softmax(q, dim, 1 / 4096, 0))
