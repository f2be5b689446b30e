"""Linear layers and convolutions with a function, steps of cells, given grids."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref.numerics.recurrent import gru_step, lstm_step, rnn_step
from pyqref.tensor.quantized import make_per_tensor

ops = pyqref.ops.quantized
ENGINES = ["fbgemm", "x86", "onednn", "qnnpack"]


def _randn(seed: int, *shape: int) -> pyqref.Tensor:
    return pyqref.from_numpy(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


def _quint8(seed: int, *shape: int) -> Any:
    return pyqref.quantize_per_tensor(_randn(seed, *shape), 0.04, 61, pyqref.quint8)


def _qint8(seed: int, *shape: int) -> Any:
    return pyqref.quantize_per_tensor(_randn(seed, *shape) * 0.3, 0.01, 0, pyqref.qint8)


@pytest.mark.parametrize("engine", ENGINES)
def test_linear_functions_on_every_engine(engine: str) -> None:
    """Within one step of the float layer of the same integers."""
    pyqref.backends.quantized.engine = engine
    x, weight, bias = _quint8(0, 5, 7), _qint8(1, 3, 7), _randn(2, 3)
    packed = ops.linear_prepack(weight, bias)
    real = pyqref.nn.functional.linear(x.dequantize(), weight.dequantize(), bias)
    leaky = ops.linear_leaky_relu(x, packed, 0.05, 80, 0.1)
    expected = pyqref.nn.functional.leaky_relu(real, 0.1)
    assert (leaky.dequantize() - expected).abs().max().item() <= 0.0251
    tanh = ops.linear_tanh(x, packed, 2 / 256, 128)
    assert (tanh.dequantize() - real.tanh()).abs().max().item() <= 1.01 / 128


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("relu", [False, True])
def test_conv2d_add(engine: str, relu: bool) -> None:
    pyqref.backends.quantized.engine = engine
    x, weight, bias, other = _quint8(3, 1, 2, 5, 5), _qint8(4, 3, 2, 3, 3), _randn(5, 3), None
    other = pyqref.quantize_per_tensor(_randn(6, 1, 3, 3, 3), 0.03, 20, pyqref.quint8)
    packed = ops.conv2d_prepack(weight, bias)
    real = pyqref.nn.functional.conv2d(x.dequantize(), weight.dequantize(), bias)
    real = real + other.dequantize()
    real = real.relu() if relu else real
    function = ops.conv2d_add_relu if relu else ops.conv2d_add
    actual = function(x, other, packed, 0.08, 80)
    assert (actual.dequantize() - real).abs().max().item() <= 0.0401


@pytest.mark.parametrize("kernel", pyqref.kernels.usable())
def test_real_numbers_beyond_float32(kernel: str) -> None:
    """They are infinite, and saturate; nobody is warned of them."""
    x = make_per_tensor(np.full((1, 2), 255, np.uint8), 2.0**120, 0, pyqref.quint8)
    weight = make_per_tensor(np.int8([[127, 0], [-128, 0]]), 1.0, 0, pyqref.qint8)
    packed = ops.linear_prepack(weight, _randn(2, 2))
    images = make_per_tensor(x._array.reshape(1, 2, 1, 1), 2.0**120, 0, pyqref.quint8)
    filters = make_per_tensor(np.int8([[[[127]]], [[[-128]]]]), 1.0, 0, pyqref.qint8)
    depthwise = ops.conv2d_prepack(filters, _randn(2, 2), groups=2)
    with pyqref.kernels.use(kernel):
        for slope, low in ((0.5, 0), (2.0, 0), (0.0, 255), (-1.0, 255)):
            leaky = ops.linear_leaky_relu(x, packed, 1.0, 10, slope)
            assert [[255, low]] == leaky.int_repr().tolist()
        assert [[138, 0]] == ops.linear_tanh(x, packed, 2.0**-7, 10).int_repr().tolist()
        total = ops.conv2d_add(images, images, depthwise, 1.0, 10)
    assert [255, 0] == total.int_repr().flatten().tolist()


def test_conv2d_add_errors() -> None:
    packed = ops.conv2d_prepack(_qint8(4, 3, 2, 3, 3))
    x = _quint8(3, 1, 2, 5, 5)
    with pytest.raises(RuntimeError, match=r"shape \(1, 3, 3, 3\) of the output"):
        ops.conv2d_add(x, _quint8(6, 1, 3, 5, 5), packed, 1.0, 0)
    with pytest.raises(RuntimeError, match="qaccum must be a quantized tensor"):
        ops.conv2d_add(x, _randn(6, 1, 3, 3, 3), packed, 1.0, 0)
    with pytest.raises(TypeError, match="conv2d_prepack"):
        ops.conv2d_add(x, _quint8(6, 1, 3, 3, 3), None, 1.0, 0)


def test_linear_with_given_grid() -> None:
    """Quantized with the parameters given, in place of those of its range."""
    weight, bias, x = _qint8(1, 3, 7), _randn(2, 3), _randn(0, 4, 7)
    packed = ops.linear_prepack(weight, bias)
    y = ops.linear_with_input_q_dq_qweight_dq_output_fp32(x, 0.04, 61, packed)
    rounded = pyqref.quantize_per_tensor(x, 0.04, 61, pyqref.quint8).dequantize()
    expected = pyqref.nn.functional.linear(rounded, weight.dequantize(), bias)
    assert expected.tolist() == [pytest.approx(row, abs=1e-5) for row in y.tolist()]
    relu = ops.linear_with_input_q_dq_qweight_dq_relu_output_fp32(x, 0.04, 61, packed)
    assert y.relu().tolist() == relu.tolist()
    with pytest.raises(RuntimeError, match="the last of length 7"):
        ops.linear_with_input_q_dq_qweight_dq_output_fp32(x[:, :3], 0.04, 61, packed)
    half = ops.linear_dynamic_fp16_unpacked_weight(x, weight.dequantize(), bias)
    assert (4, 3) == tuple(half.shape)


@pytest.mark.parametrize(
    ("name", "gates"), [("lstm", 4), ("gru", 3), ("rnn_tanh", 1), ("rnn_relu", 1)]
)
def test_cells(name: str, gates: int) -> None:
    """The step of the equation on two dynamic projections."""
    x, h, c = _randn(0, 3, 5), _randn(1, 3, 2), _randn(2, 3, 2)
    packed = [
        ops.linear_prepack(_qint8(seed, gates * 2, columns), _randn(5, gates * 2))
        for seed, columns in ((3, 5), (4, 2))
    ]
    both = [
        ops.linear_dynamic(each, weight, True).numpy()
        for each, weight in zip((x, h), packed, strict=True)
    ]
    step = getattr(ops, f"quantized_{name}_cell_dynamic")
    if name == "lstm":
        expected: Any = lstm_step(*both, c.numpy())
        actual = step(x, [h, c], *packed)
    elif name == "gru":
        expected, actual = (gru_step(*both, h.numpy()),), (step(x, h, *packed),)
    else:
        expected, actual = (rnn_step(*both, name[4:]),), (step(x, h, *packed),)
    assert [each.tolist() for each in expected] == [each.tolist() for each in actual]
    with pytest.raises(RuntimeError, match=r"input must have shape \(B, 5\)"):
        step(x[:, :4], [h, c] if name == "lstm" else h, *packed)
    with pytest.raises(TypeError, match="w_hh must come from"):
        step(x, [h, c] if name == "lstm" else h, packed[0], None)
    with pytest.raises(RuntimeError, match="times as many rows"):
        step(x, [h, c] if name == "lstm" else h, packed[0], packed[0])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("depth", [33_025, 33_026, 70_000])
def test_sums_beyond_32_bits_are_exact(engine: str, depth: int) -> None:
    """255 * 255 * 70,000 does not fit 32 bits; torch's sum wraps around there."""
    pyqref.backends.quantized.engine = engine
    make = make_per_tensor
    weight = make(np.full((1, depth), 127, np.int8), 1.0, -128, pyqref.qint8)
    x = make(np.full((2, depth), 255, np.uint8), 1.0, 0, pyqref.quint8)
    total = 255 * 255 * depth
    packed = ops.linear_prepack(weight)
    assert [[200]] * 2 == ops.linear(x, packed, total / 200, 0).int_repr().tolist()
    y = ops.linear_dynamic(x.dequantize(), packed).flatten().tolist()
    assert [float(np.float32(total))] * 2 == pytest.approx(y, rel=2.0**-22)
    leaky = ops.linear_leaky_relu(x, packed, total / 200, 0, 0.1)
    assert [[200]] * 2 == leaky.int_repr().tolist()
    kernel = weight.view(1, 1, depth)
    conv = ops.conv1d_prepack(kernel)
    assert 200 == ops.conv1d(x[:1].view(1, 1, depth), conv, total / 200, 0).int_repr().item()


@pytest.mark.parametrize("kind", ["linear", "conv", "transpose", "depthwise"])
def test_packed_weights_are_kept_once(kind: str) -> None:
    """Their arrays take at most 1.1 times as many bytes as the int8 weight."""
    shape = {"linear": (512, 512), "depthwise": (256, 1, 5, 5)}.get(kind, (64, 64, 3, 3))
    weight = _qint8(0, *shape)
    if kind == "linear":
        packed = ops.linear_prepack(weight)
    elif kind == "transpose":
        packed = ops.conv_transpose2d_prepack(weight)
    else:
        packed = ops.conv2d_prepack(weight, groups=256 if kind == "depthwise" else 1)
    held = sum(each.nbytes for each in _arrays(packed.__dict__, set()))
    assert held <= 1.1 * weight.numel() + 4 * shape[0]
    assert weight.int_repr().tolist() == packed.unpack()[0].int_repr().tolist()


def _arrays(value: Any, seen: set[int]) -> list[np.ndarray]:
    """Every array below an object."""
    if id(value) in seen:
        return []
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, dict):
        below = list(value.values())
    elif isinstance(value, list | tuple):
        below = list(value)
    else:
        below = list(getattr(value, "__dict__", {}).values())
    return [array for each in below for array in _arrays(each, seen)]
