"""ops.quantized.linear: the integers of the equations, on every engine; errors."""

from __future__ import annotations

import numpy as np
import pytest

import pyqref
from pyqref._kernels import registry
from pyqref.numerics.linear import quantized_linear
from pyqref.numerics.requantize import requantization
from pyqref.ops import quantized as ops

ENGINES = ("fbgemm", "x86", "onednn", "qnnpack")


def _input(rows: int = 3, features: int = 5) -> pyqref.Tensor:
    x = np.random.default_rng(0).standard_normal((rows, features)).astype(np.float32)
    return pyqref.quantize_per_tensor(pyqref.from_numpy(x), 0.03, 77, pyqref.quint8)


def _weight(outputs: int = 4, features: int = 5, *, per_channel: bool = False) -> pyqref.Tensor:
    w = np.random.default_rng(1).standard_normal((outputs, features)).astype(np.float32)
    weight = pyqref.from_numpy(w)
    if not per_channel:
        return pyqref.quantize_per_tensor(weight, 0.021, 3, pyqref.qint8)
    scales = pyqref.linspace(0.01, 0.03, outputs, dtype=pyqref.float64)
    zero_points = pyqref.arange(outputs)
    return pyqref.quantize_per_channel(weight, scales, zero_points, 0, pyqref.qint8)


def _bias(outputs: int = 4) -> pyqref.Tensor:
    return pyqref.from_numpy(np.linspace(-1, 1, outputs, dtype=np.float32))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("with_bias", [False, True])
def test_follows_the_equations(engine: str, per_channel: bool, relu: bool, with_bias: bool) -> None:
    """Integers are those of eq-linear-accumulator and eq-requantize under the engine's rules."""
    pyqref.backends.quantized.engine = engine
    x, weight = _input(), _weight(per_channel=per_channel)
    bias = _bias() if with_bias else None
    packed = ops.linear_prepack(weight, bias)
    actual = (ops.linear_relu if relu else ops.linear)(x, packed, 0.05, 90)
    if per_channel:
        scales = weight.q_per_channel_scales().numpy()
        zero_points = weight.q_per_channel_zero_points().numpy()
    else:
        scales, zero_points = np.float64(0.021), 3
    requant = requantization(
        engine, 0.03, scales, 0.05, 90, None if bias is None else bias.numpy(), relu=relu
    )
    expected = quantized_linear(
        x.int_repr().numpy(), 77, weight.int_repr().numpy(), zero_points, requant
    )
    assert expected.tolist() == actual.int_repr().tolist()
    assert (0.05, 90, pyqref.quint8) == (actual.q_scale(), actual.q_zero_point(), actual.dtype)


def test_engine_is_that_of_packing() -> None:
    """A packed weight keeps the engine under which it was packed, as in torch."""
    x = pyqref.quantize_per_tensor(pyqref.tensor([[1.0]]), 1.0, 0, pyqref.quint8)
    weight = pyqref.quantize_per_tensor(pyqref.tensor([[1.0]]), 1.0, 0, pyqref.qint8)
    results = {}
    for engine in ("fbgemm", "qnnpack"):
        pyqref.backends.quantized.engine = engine
        packed = ops.linear_prepack(weight, pyqref.tensor([0.5]))
        pyqref.backends.quantized.engine = "x86"
        results[engine] = ops.linear(x, packed, 0.25, 0).int_repr().item()
    # fbgemm keeps the bias real: 1.5 / 0.25; qnnpack rounds 0.5 to 0 first.
    assert results == {"fbgemm": 6, "qnnpack": 4}


def test_every_kernel_gives_the_same_integers() -> None:
    """The kernel decides how fast a result comes, not which."""
    x, packed = _input(70, 33), ops.linear_prepack(_weight(65, 33, per_channel=True), _bias(65))
    found = set()
    for kernel in registry.usable():
        with registry.use(kernel):
            found.add(ops.linear(x, packed, 0.05, 90).int_repr().numpy().tobytes())
    assert len(found) == 1


@pytest.mark.parametrize("shape", [(0, 5), (0, 3, 5), (2, 3, 5), (1, 1, 1, 5)])
def test_any_leading_shape(shape: tuple[int, ...]) -> None:
    """Leading dimensions stay, empty ones too."""
    x = pyqref.quantize_per_tensor(pyqref.zeros(shape), 0.1, 3, pyqref.quint8)
    y = ops.linear(x, ops.linear_prepack(_weight()), 0.05, 90)
    assert (*shape[:-1], 4) == tuple(y.shape)


def test_strided_input() -> None:
    """A transposed view gives what its copy gives."""
    x = _input(5, 3).transpose(0, 1)
    packed = ops.linear_prepack(_weight())
    expected = ops.linear(x.contiguous(), packed, 0.05, 9).int_repr().tolist()
    assert expected == ops.linear(x, packed, 0.05, 9).int_repr().tolist()


def test_unpack_gives_back_weight_and_bias() -> None:
    """linear_unpack is the inverse of linear_prepack."""
    weight, bias = _weight(per_channel=True), _bias()
    unpacked_weight, unpacked_bias = ops.linear_unpack(ops.linear_prepack(weight, bias))
    assert weight.int_repr().tolist() == unpacked_weight.int_repr().tolist()
    assert bias.tolist() == unpacked_bias.tolist()


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: pyqref.randn(2, 5), RuntimeError, "must be a quantized tensor"),
        (lambda: [1, 2], TypeError, "must be a quantized tensor, got a list"),
        (
            lambda: pyqref.quantize_per_tensor(pyqref.zeros(2, 5), 1.0, 0, pyqref.qint8),
            RuntimeError,
            "must have dtype pyqref.quint8, got pyqref.qint8",
        ),
        (
            lambda: pyqref.quantize_per_tensor(pyqref.zeros(2, 5), 1.0, 0, pyqref.qint32),
            RuntimeError,
            "must have dtype pyqref.quint8, got pyqref.qint32",
        ),
        (lambda: _input()[0], RuntimeError, "larger than or equal to 2"),
        (lambda: _input(2, 6), RuntimeError, r"takes 5 features, got an input of shape \(2, 6\)"),
    ],
)
def test_bad_input(make: object, error: type[Exception], text: str) -> None:
    """Each wrong input is named together with what is right."""
    packed = ops.linear_prepack(_weight())
    with pytest.raises(error, match=text):
        ops.linear(make(), packed, 1.0, 0)


def test_input_per_channel() -> None:
    """Activations must be quantized per tensor."""
    x = pyqref.quantize_per_channel(
        pyqref.zeros(2, 5), pyqref.ones(2), pyqref.zeros(2, dtype=pyqref.int64), 0, pyqref.quint8
    )
    with pytest.raises(RuntimeError, match="must be quantized per tensor"):
        ops.linear(x, ops.linear_prepack(_weight()), 1.0, 0)


@pytest.mark.parametrize(
    ("scale", "zero_point", "text"),
    [
        (0.0, 0, "scale must be positive"),
        (-1.0, 0, "scale must be positive"),
        (float("nan"), 0, "scale must be a positive number"),
        (float("inf"), 0, "scale must be finite"),
        (1e-45, 0, "scale must not be subnormal"),
        (1.0, -1, r"zero_point must be in \[0, 255\] for quint8, got -1"),
        (1.0, 300, r"zero_point must be in \[0, 255\] for quint8, got 300"),
    ],
)
def test_bad_output_parameters(scale: float, zero_point: int, text: str) -> None:
    """Scale and zero point of the output are checked."""
    with pytest.raises(ValueError, match=text):
        ops.linear(_input(), ops.linear_prepack(_weight()), scale, zero_point)


def test_bad_weight() -> None:
    """A weight is qint8, two-dimensional, and per channel along axis 0 only."""
    with pytest.raises(RuntimeError, match=r"weight must have dtype pyqref\.qint8"):
        ops.linear_prepack(pyqref.quantize_per_tensor(pyqref.zeros(4, 5), 1.0, 0, pyqref.quint8))
    with pytest.raises(RuntimeError, match="weight must have 2 dimensions"):
        ops.linear_prepack(pyqref.quantize_per_tensor(pyqref.zeros(4), 1.0, 0, pyqref.qint8))
    along_inputs = pyqref.quantize_per_channel(
        pyqref.zeros(4, 5), pyqref.ones(5), pyqref.zeros(5, dtype=pyqref.int64), 1, pyqref.qint8
    )
    with pytest.raises(RuntimeError, match="along axis 0"):
        ops.linear_prepack(along_inputs)
    with pytest.raises(RuntimeError, match="weight must be a quantized tensor"):
        ops.linear_prepack(pyqref.zeros(4, 5))


@pytest.mark.parametrize("shape", [(0, 5), (4, 0), (0, 0)])
def test_empty_weight(shape: tuple[int, int]) -> None:
    """A layer without inputs or outputs is an error, not a crash."""
    weight = pyqref.quantize_per_tensor(pyqref.zeros(shape), 1.0, 0, pyqref.qint8)
    with pytest.raises(RuntimeError, match="weight must not be empty"):
        ops.linear_prepack(weight)


def test_bad_bias() -> None:
    """A bias is float32 and as long as there are outputs."""
    with pytest.raises(RuntimeError, match=r"each of the 4 outputs, got shape \(5,\)"):
        ops.linear_prepack(_weight(), pyqref.zeros(5))
    with pytest.raises(RuntimeError, match="bias must have dtype float32"):
        ops.linear_prepack(_weight(), pyqref.zeros(4, dtype=pyqref.float64))


def test_packed_weight_of_another_operation() -> None:
    """The weight of a convolution is no weight of a linear layer."""
    weight = pyqref.quantize_per_tensor(pyqref.zeros(4, 5, 1, 1), 1.0, 0, pyqref.qint8)
    with pytest.raises(TypeError, match="linear_prepack"):
        ops.linear(_input(), ops.conv2d_prepack(weight), 1.0, 0)
