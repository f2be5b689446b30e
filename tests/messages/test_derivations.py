"""What the errors of derivations advise leads to a derivation."""

from __future__ import annotations

import subprocess
import sys

from messages.following import says

import pyqref
from pyqref import nn
from pyqref.explaining import recording

X = pyqref.tensor([[0.25, 0.5]])


def quantizes() -> nn.Module:
    return nn.Sequential(nn.quantized.Quantize(0.1, 3, pyqref.quint8))


def adds_up() -> nn.Module:
    layer = nn.quantized.Linear(2, 1)
    layer.scale, layer.zero_point = 0.25, 10
    return nn.Sequential(nn.quantized.Quantize(0.1, 3, pyqref.quint8), layer)


def test_ask_inside_of_a_recording():
    """Of this recording, before the next one."""
    with recording():
        pyqref.relu(X)
    y = quantizes()(X)
    with says(
        "run the model inside of 'with pyqref.explaining.recording():' and ask before the next "
        "recording begins"
    ):
        y.why(0, 0)
    with recording():
        y = quantizes()(X)
    assert y.why(0, 0).check()


def test_ask_before_anything_was_recorded():
    """A new process has recorded nothing."""
    script = "import pyqref; pyqref.zeros(1).why(0)"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    with says(
        "run the model inside of 'with pyqref.explaining.recording():', then ask y.why(index)"
    ) as tell:
        tell(told.stderr)


def test_run_a_model_inside():
    """An empty recording has no layers."""
    with recording() as ran:
        pass
    with says("run a quantized model inside of the recording"):
        ran.explain()
    with recording() as ran:
        quantizes()(X)
    assert ran.explain(index=(0, 0)).check()


def test_give_an_index_that_fits():
    """One integer for each axis."""
    with says("give {} integers within it"):
        pyqref.explain(quantizes(), X, index=(0, 2))
    assert pyqref.explain(quantizes(), X, index=(0, 1)).check()


def test_compare_sums_of_products():
    """Other arithmetics differ in layers with a weight."""
    with says("give arithmetics for linear layers and convolutions with integers in and out only"):
        pyqref.explain(adds_up(), X, "0", (0, 0), ["qnnpack"])
    assert pyqref.explain(adds_up(), X, "1", (0, 0), ["qnnpack"]).check()


def test_another_arithmetic_beside_the_engine():
    """Steps of another system stand beside those of the engine."""
    with (
        says("call explain outside of arithmetic.use, with its name in arithmetics"),
        pyqref.arithmetic.use("tflite"),
    ):
        pyqref.explain(adds_up(), X, "1", (0, 0))
    assert "tflite" in pyqref.explain(adds_up(), X, "1", (0, 0), ["tflite"]).others


def test_ask_for_a_quantized_layer():
    """A float layer has no derivation."""
    with says(
        "ask for a layer that quantizes, dequantizes or computes with integers",
    ):
        pyqref.explain(nn.Linear(2, 1), X, index=(0, 0))
    assert pyqref.explain(adds_up(), X, "1", (0, 0)).check()


def test_turn_dropout_off():
    """In training mode each run is another."""
    model = nn.Sequential(nn.Dropout(0.5), *quantizes())
    with says("call model.eval() first"):
        pyqref.explain(model, X)
    assert pyqref.explain(model.eval(), X, index=(0, 0)).check()


def test_a_sum_in_another_arithmetic() -> None:
    """ONNX Runtime adds in another order: the steps of the engine are not given for its sum."""
    b = pyqref._make_per_tensor_quantized_tensor(
        pyqref.tensor([-8], dtype=pyqref.int8), 0.008010663092136383, 7
    )
    a = pyqref._make_per_tensor_quantized_tensor(
        pyqref.tensor([-64], dtype=pyqref.int8), 0.00622713053599, -128
    )
    grid = 0.006873490754514933, -128
    with pyqref.explaining.recording() as ran, pyqref.arithmetic.use("onnx"):
        pyqref.ops.quantized.add(b, a, *grid)
    with says("call explain outside of arithmetic.use"):
        ran.explain(None, 0)
    with pyqref.explaining.recording() as ran:
        pyqref.ops.quantized.add(b, a, *grid)
    assert ran.explain(None, 0).check()
