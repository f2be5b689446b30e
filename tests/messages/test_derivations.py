"""Following the errors of derivations leads to a derivation."""

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
    """A tensor answers for its own recording, before the next one begins."""
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
    with says("run a quantized model inside of the recording, in the same thread"):
        ran.explain()
    with recording() as ran:
        quantizes()(X)
    assert ran.explain(index=(0, 0)).check()


def test_give_an_index_that_fits():
    """One integer for each axis."""
    with says("give {} within it"):
        pyqref.explain(quantizes(), X, index=(0, 2))
    assert pyqref.explain(quantizes(), X, index=(0, 1)).check()


def test_leave_out_what_has_no_rule():
    """TFLite's tables of functions are not known; the derivation of the engine stands."""
    model = nn.Sequential(*quantizes(), nn.quantized.Sigmoid(1 / 256, 0))
    with says("leave arithmetics out"):
        pyqref.explain(model, X, "1", (0, 0), ["tflite"])
    assert pyqref.explain(model, X, "1", (0, 0)).check()


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
        "ask for a layer that quantizes, dequantizes or computes with integers, and convert the "
        "model if it has none",
    ):
        pyqref.explain(nn.Linear(2, 1), X, index=(0, 0))
    assert pyqref.explain(adds_up(), X, "1", (0, 0)).check()
    wrapped = pyqref.quantization.QuantWrapper(nn.Linear(2, 2)).eval()
    wrapped.qconfig = pyqref.quantization.get_default_qconfig("fbgemm")
    prepared = pyqref.quantization.prepare(wrapped)
    prepared(X)
    converted = pyqref.quantization.convert(prepared)
    assert pyqref.explain(converted, X, "module", (0, 0)).check()


def test_ask_for_a_layer_that_changes_numbers():
    """A layer that returns its argument unchanged decides nothing."""
    model = nn.Sequential(nn.Identity(), *quantizes())
    with says("ask for a layer that changes numbers"):
        pyqref.explain(model, X, "0", (0, 0))
    assert pyqref.explain(model, X, "1", (0, 0)).check()


def test_ask_for_the_whole():
    """The observer inside of a fused fake quantizer is not called."""
    model = nn.Sequential(pyqref.quantization.FusedMovingAvgObsFakeQuantize())
    with says("ask for {}"):
        pyqref.explain(model, X, "0.activation_post_process")
    assert pyqref.explain(model, X, "0", (0, 0)).check()


def test_ask_for_an_observer_with_a_range():
    """Some observers find no scale."""
    none, one = pyqref.quantization.NoopObserver(), pyqref.quantization.MinMaxObserver()
    with says("ask for an observer that does"):
        pyqref.explain(nn.Sequential(none), X, "0")
    assert pyqref.explain(nn.Sequential(one), X, "0").check()


def recurrent(dtype: pyqref.dtype = pyqref.qint8) -> nn.Module:
    model = nn.Sequential(nn.GRU(2, 2, num_layers=2, dropout=0.5))
    return pyqref.quantization.quantize_dynamic(model, {nn.GRU}, dtype)


def test_ask_for_integer_weights():
    """Sums of float32 have no derivation."""
    with says("ask for a layer with weights of qint8"):
        pyqref.explain(recurrent(pyqref.float16).eval(), X[None], "0", (0, 0, 0))
    assert pyqref.explain(recurrent().eval(), X[None], "0", (0, 0, 0)).check()


def test_run_a_recurrent_layer_again_without_dropout():
    """Dropped elements are not known afterwards."""
    model = recurrent().train()
    with recording():
        y, _ = model(X[None])
    with says("call model.eval() and run it again"):
        y.why(0, 0, 0)
    model.eval()
    with recording():
        y, _ = model(X[None])
    assert y.why(0, 0, 0).check()


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
