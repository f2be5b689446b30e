"""``use`` replaces what an arithmetic defines, and tells of what it leaves to the engine."""

from __future__ import annotations

import re

import numpy as np
import pytest

import pyqref
from pyqref import arithmetic, nn
from pyqref.nn import functional as F
from pyqref.nn.diagnostics import NoEffectWarning
from pyqref.quantization import QuantizationError

ops = pyqref.ops.quantized
ENGINES = ("fbgemm", "qnnpack", "onednn", "x86-saturating", "onednn-saturating")


def quantized(*shape: int, scale: float = 0.05, zero_point: int = 100):
    return pyqref.quantize_per_tensor(pyqref.randn(*shape), scale, zero_point, pyqref.quint8)


class EveryOperation(nn.Module):
    """Runs every operation that rounds, each in a layer of its own name."""

    def __init__(self) -> None:
        super().__init__()
        self.sums = nn.quantized.QFunctional()
        self.sums.scale, self.sums.zero_point = 0.07, 90
        weight = pyqref.quantize_per_tensor(pyqref.randn(8, 8), 0.02, 0, pyqref.qint8)
        image = pyqref.quantize_per_tensor(pyqref.randn(4, 4, 1, 1), 0.02, 0, pyqref.qint8)
        self.linear = ops.linear_prepack(weight, pyqref.randn(8))
        self.conv = ops.conv2d_prepack(image, pyqref.randn(4))

    def forward(self, x, y, image, real):
        s, z = 0.06, 110
        return {
            "add": self.sums.add(x, y),
            "add_relu": self.sums.add_relu(x, y),
            "mul": self.sums.mul(x, y),
            "cat": self.sums.cat([x, y]),
            "stack of unlike grids": ops.cat([x, y], 0, s, z),
            "matmul": self.sums.matmul(x, y),
            "average": F.avg_pool2d(image, 3, 2, 1),
            "adaptive average": F.adaptive_avg_pool2d(image, (2, 3)),
            "mean": image.mean((2, 3)),
            "sigmoid": F.sigmoid(x),
            "leaky_relu": F.leaky_relu(x, 0.1),
            "clamp": F.hardtanh(x, -0.52, 0.52),
            "relu6": F.relu6(x),
            "linear_leaky_relu": ops.linear_leaky_relu(x, self.linear, s, z, 0.1),
            "linear_tanh": ops.linear_tanh(x, self.linear, s, z),
            "conv_add": ops.conv2d_add_relu(image, image, self.conv, s, z),
            "linear_dynamic": ops.linear_dynamic(real, self.linear, True),
            "conv_dynamic": ops.conv2d_dynamic(image.dequantize(), self.conv, True),
            "quantize": pyqref.quantize_per_tensor(real, 0.03, 7, pyqref.quint8),
        }


@pytest.fixture(scope="module")
def everything():
    """The model, and its inputs: two grids, images, real numbers."""
    pyqref.manual_seed(0)
    inputs = (
        quantized(8, 8),
        quantized(8, 8, scale=0.03, zero_point=140),
        quantized(2, 4, 7, 6),
        pyqref.randn(5, 8),
    )
    return EveryOperation(), inputs


def numbers(results: dict) -> dict[str, np.ndarray]:
    return {name: (y.int_repr() if y.is_quantized else y).numpy() for name, y in results.items()}


@pytest.mark.parametrize("engine", ["fbgemm", "qnnpack"])
def test_engines_are_arithmetics_of_all_operations(engine, everything):
    """An engine and its arithmetic agree, also on weights that were packed for another engine."""
    _, inputs = everything
    pyqref.backends.quantized.engine = engine
    pyqref.manual_seed(1)
    own = numbers(EveryOperation()(*inputs))
    pyqref.backends.quantized.engine = "fbgemm" if engine == "qnnpack" else "qnnpack"
    pyqref.manual_seed(1)
    other = EveryOperation()
    with arithmetic.use(engine, strict=True):
        got = numbers(other(*inputs))
    for name, expected in own.items():
        if not name.startswith(("linear_l", "linear_t", "conv_add")):  # kept as they were packed
            assert np.array_equal(expected, got[name]), name


@pytest.mark.parametrize("name", ["onnx", "onnx-qdq", "tensorrt", "float64"])
def test_these_define_every_operation(name, everything):
    """Nothing is left to the engine, and nothing is further than a step from the exact result."""
    model, inputs = everything
    with arithmetic.use("float64", strict=True):
        exact = numbers(model(*inputs))
    with arithmetic.use(name, strict=True):
        got = numbers(model(*inputs))
    for operation, expected in exact.items():
        if operation.endswith("dynamic"):  # on a grid of its own, of 8 bits with onnx
            assert np.allclose(expected, got[operation], atol=0.3)
        else:
            assert np.abs(expected.astype(int) - got[operation]).max() <= 1, operation


#: What is no operation of a name, by the layer that runs it.
MISSING = {
    "tflite": {"sigmoid", "leaky_relu", "linear_leaky_relu", "linear_tanh", "conv2d_add_relu",
               "linear_dynamic", "conv2d_dynamic"},
}  # fmt: skip
MISSING |= dict.fromkeys(("tflite-ruy", "tflite-xnnpack", "cmsis-nn"), MISSING["tflite"])
MISSING["tflite-single"] = MISSING["tflite"] | {"add", "add_relu", "mul", "cat"}


@pytest.mark.parametrize("name", MISSING)
def test_what_it_leaves_to_the_engine_is_told(name, everything):
    """Every operation that keeps the numbers of the engine is named, and no other."""
    model, inputs = everything
    before = numbers(model(*inputs))

    def run():
        with arithmetic.use(name):
            model(*inputs)
            return numbers(model(*inputs))  # what was told is not told again

    with pytest.warns(NoEffectWarning) as caught:
        got = run()
    told = [re.search(r"does not define (?:quantized\.)?(\w+) in ", str(w.message)) for w in caught]
    assert sorted(MISSING[name]) == sorted(match[1] for match in told if match)
    for operation in ("sigmoid", "linear_tanh", "linear_dynamic"):
        assert np.array_equal(before[operation], got[operation])
    strictly = arithmetic.use(name, strict=True)
    with pytest.raises(QuantizationError, match="does not define") as caught_error, strictly:
        model(*inputs)
    assert caught_error.value.category is NoEffectWarning


@pytest.mark.parametrize(
    "run",
    [
        lambda x, image: ops.softmax(x, 1, 0.01, 0),
        lambda x, image: ops.layer_norm(x, [8], None, None, 1e-5, 0.1, 3),
        lambda x, image: ops.group_norm(image, 2, None, None, 1e-5, 0.1, 3),
        lambda x, image: F.interpolate(image, scale_factor=2, mode="bilinear"),
        lambda x, image: image.std((2, 3)),
        lambda x, image: image.mean((0, 1)),
        lambda x, image: ops.prelu(x, x[0, :1], 0.1, 3),
        lambda x, image: ops.add_scalar(x, 100.0),
    ],
)
def test_no_arithmetic_has_these(run, everything):
    """Norms, softmax and their like keep the numbers of the engine, and say so."""
    _, (x, _, image, _) = everything
    expected = run(x, image).int_repr()
    with pytest.warns(NoEffectWarning, match="outside of any module"), arithmetic.use("onnx"):
        got = run(x, image).int_repr()
    assert np.array_equal(expected.numpy(), got.numpy())
    with arithmetic.use("fbgemm", strict=True):  # it is an engine: its other operations are its own
        run(x, image)


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
def test_recurrent_layers_multiply_in_the_arithmetic(kind):
    """``eq-linear-dynamic``: the projections are those of dynamic linear layers."""
    pyqref.manual_seed(0)
    model = nn.Sequential(kind(6, 5, num_layers=2, bidirectional=True)).eval()
    x = pyqref.randn(7, 3, 6)
    made = pyqref.quantization.quantize_dynamic(model, {kind}, pyqref.qint8)
    before = made(x)[0].numpy()
    with arithmetic.use("fbgemm", strict=True):
        assert np.array_equal(before, made(x)[0].numpy())
    with arithmetic.use("onnx", strict=True):
        other = made(x)[0].numpy()
    real = model(x)[0].detach().numpy()
    assert not np.array_equal(before, other)
    # ONNX has 8 bits where fbgemm has 7.
    assert np.abs(other - real).mean() < np.abs(before - real).mean()


def test_sums_saturate_in_fused_and_dynamic_layers_too():
    """``eq-saturating-pairs``: also where no integer comes out, or a function is fused."""
    weight = pyqref.quantize_per_tensor(pyqref.full((1, 2), 127.0), 1.0, 0, pyqref.qint8)
    packed = ops.linear_prepack(weight)
    x = pyqref.quantize_per_tensor(pyqref.full((1, 2), 255.0), 1.0, 0, pyqref.quint8)
    real = pyqref.full((1, 2), 255.0)
    for name in ("x86-saturating", "onednn-saturating"):
        with arithmetic.use(name):
            assert 128 == ops.linear_leaky_relu(x, packed, 256.0, 0, 0.1).int_repr().item()
            assert 32767.0 == ops.linear_dynamic(real, packed, False).item()
    assert 253 == ops.linear_leaky_relu(x, packed, 256.0, 0, 0.1).int_repr().item()


def test_the_answer_about_sums():
    """Issues 23202 and 25512: -88, where the formula says -87, by the order of roundings."""
    for numbers, scales, zeros, expected in (
        ((-8, -64), (0.008010663092136383, 0.00622713053599, 0.006873490754514933),
         (7, -128, -128), -88),
        ((-114, -122), (0.02534690499305725, 0.035809919238090515, 0.0365859717130661),
         (-106, -120, -105), -112),
    ):  # fmt: skip
        a, b = (
            pyqref._make_per_tensor_quantized_tensor(
                pyqref.tensor([number], dtype=pyqref.int8), scale, zero
            )
            for number, scale, zero in zip(numbers, scales, zeros, strict=False)
        )
        with arithmetic.use("onnx"):
            assert expected == ops.add(a, b, scales[2], zeros[2]).int_repr().item()


def test_values_that_are_filled_in_are_quantized_by_it() -> None:
    """TFLite rounds halves away from zero, where the engine rounds to even."""
    x = pyqref.quantize_per_tensor(pyqref.zeros(1, 2), 1.0, 0, pyqref.quint8)
    mask = pyqref.tensor([[True, False]])
    for name, stored in (("fbgemm", 2), ("tflite", 3)):
        with arithmetic.use(name):
            assert x.masked_fill(mask, 2.5).int_repr().tolist() == [[stored, 0]]
            assert F.pad(x, (1, 0), value=2.5).int_repr().tolist() == [[stored, 0, 0]]


def test_tells_that_a_dynamic_grid_is_the_engines() -> None:
    message = "does not define quantize_per_tensor_dynamic outside of any module"
    with arithmetic.use("tflite"), pytest.warns(NoEffectWarning, match=message):
        pyqref.quantize_per_tensor_dynamic(pyqref.tensor([-1.0, 1.0]), pyqref.quint8, False)
