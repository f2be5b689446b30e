"""Exported models are valid, and give the integers of this package in other runtimes."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest

import pyqref
from pyqref import export

onnx = pytest.importorskip("onnx")

from export.models import MODELS, made  # noqa: E402
from export.runtimes import evaluated, exposed, served  # noqa: E402

STYLES = ("qdq", "qoperator", "exact")
#: Instance norms stay those of the engine under the arithmetic "onnx", which says so.
pytestmark = pytest.mark.filterwarnings("ignore:arithmetic 'onnx' does not define")


#: Models whose layers give real numbers.
REAL = ("dynamic", "half", "lstm", "gru")
#: Three layers, of 34 roundings of numbers below 1 each: 32 products, a bias, a function.
BOUND = 3 * 34 * 2.0**-24


def differences(model, recorded, x, arithmetic="onnx"):
    """Return the differences that explain_diff finds in the integers of a runtime."""
    integers = {
        name: values for name, values in recorded.items() if values.dtype in (np.uint8, np.int8)
    }
    contexts = (lambda: pyqref.arithmetic.use(arithmetic)), None
    return pyqref.explain_diff(model, integers, (x,), contexts=contexts, progress=False)


def unexplained(found):
    """Layers that differ although their inputs were the same, unless sums saturated."""
    return {
        layer.layer: (layer.count, layer.causes)
        for layer in found.layers
        if set(layer.causes) - {"its input already differed", "saturation"}
    }


@pytest.mark.parametrize(
    ("name", "style"),
    [
        *((name, "qdq") for name in MODELS),
        *((name, "qoperator") for name in MODELS if name not in ("half", "reference", "trained")),
        *((name, "exact") for name in ("graph", "operations", "eager", "dynamic")),
    ],
)
def test_every_integer(name, style, tmp_path):
    """``eq-requantize-onnx`` and the grids of ONNX: the same integers in every layer.

    The checker and the inference of shapes accept the file, at another length of the batch too.
    """
    model, x = made(name)
    path = tmp_path / "model.onnx"
    export.onnx(model, x, path, style, dynamic_batch=True)
    written = exposed(path)
    onnx.checker.check_model(onnx.load(path), full_check=True)
    inputs = x.numpy()
    results = evaluated(written, inputs)
    expected = model(x).detach().numpy()
    assert expected.shape == next(iter(results.values())).shape
    longer = evaluated(onnx.load(path), np.concatenate([inputs, inputs[:1]]))
    assert (len(inputs) + 1, *expected.shape[1:]) == next(iter(longer.values())).shape
    if name in REAL:
        with nullcontext() if style == "qdq" else pyqref.arithmetic.use("onnx"):
            expected = model(x).detach().numpy()
        assert np.abs(expected - next(iter(results.values()))).max() <= BOUND
        return
    found = differences(model, results, x)
    assert len(found.layers) >= 2
    assert {} == {layer.layer: layer.causes for layer in found.layers if layer.count}


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("optimized", [False, True])
def test_onnxruntime(style, optimized, tmp_path):
    """It gives the same integers; what differs, saturates on a processor without VNNI."""
    model, x = made("graph")
    path = tmp_path / "model.onnx"
    export.onnx(model, x, path, style)
    results = served(exposed(path), x.numpy(), optimized=optimized)
    found = differences(model, results, x)
    assert {} == unexplained(found)
    if style == "exact":
        assert [0] * 12 == [layer.count for layer in found.layers]


def test_names_and_grids(tmp_path):
    """Operators and tensors have the paths of modules; scales stand beside them."""
    model, x = made("eager")
    export.onnx(model, x, tmp_path / "model.onnx")
    written = onnx.load(tmp_path / "model.onnx")
    kinds = {each.name: each.op_type for each in written.graph.node}
    assert ("Conv", "Add", "Gemm") == tuple(kinds[name] for name in ("conv", "sum", "last"))
    arrays = {each.name: onnx.numpy_helper.to_array(each) for each in written.graph.initializer}
    assert np.float32(model.last.scale) == arrays["last/scale"]
    assert np.array_equal(model.last.weight().int_repr().numpy(), arrays["last/weight"])
    assert (np.int32, 21) == (arrays["last/bias"].dtype, written.opset_import[0].version)
    shapes = [each.type.tensor_type.shape.dim[0] for each in written.graph.output]
    assert [2] == [each.dim_value for each in shapes]


def test_a_tie_with_an_odd_zero_point(tmp_path):
    """``eq-requantize-onnx``: 2.5 becomes 2, and 13 with the zero point 11, in every runtime."""
    layer = pyqref.nn.quantized.Linear(1, 1)
    weight = pyqref.quantize_per_tensor(pyqref.tensor([[0.5]]), 0.5, 0, pyqref.qint8)
    layer.set_weight_bias(weight, pyqref.zeros(1))
    layer.scale, layer.zero_point = 1.0, 11
    x = pyqref.quantize_per_tensor(pyqref.tensor([[5.0]]), 1.0, 0, pyqref.quint8)
    for style in STYLES:
        export.onnx(layer, x, tmp_path / "model.onnx", style)
        results = evaluated(onnx.load(tmp_path / "model.onnx"), x.int_repr().numpy())
        assert [13] == [int(each.item()) for each in results.values()]
