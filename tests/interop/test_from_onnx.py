"""Models in files of ONNX give here what onnx's own evaluator gives."""

from __future__ import annotations

import numpy as np
import pytest

import pyqref
from pyqref import export
from pyqref.interop import UnsupportedError, from_onnx
from pyqref.quantization import get_default_qconfig_mapping
from pyqref.quantization.quantize_fx import convert_fx, prepare_fx

onnx = pytest.importorskip("onnx")

from export.models import MODELS, Cnn, Mlp, Operations, made  # noqa: E402
from export.runtimes import evaluated, served  # noqa: E402


@pytest.mark.parametrize(
    ("name", "style"),
    [
        *((name, "qdq") for name in MODELS if name != "trained"),
        *((name, "qoperator") for name in ("graph", "symmetric", "dynamic", "gru")),
        *((name, "exact") for name in ("graph", "eager")),
    ],
)
def test_what_was_exported(name, style, tmp_path):
    """Quantized models come back: equal to the evaluator, in each style.

    Sums and functions of real numbers, which models with dynamic inputs give, are another's.
    """
    model, x = made(name)
    export.onnx(model, x, tmp_path / "model.onnx", style, dynamic_batch=True)
    (expected,) = evaluated(onnx.load(tmp_path / "model.onnx"), x.numpy()).values()
    result = from_onnx(tmp_path / "model.onnx")(x).detach().numpy()
    if name in ("dynamic", "half", "lstm", "gru"):
        assert np.abs(expected - result).max() <= 3 * 34 * 2.0**-24
    else:
        assert np.array_equal(expected, result)


def test_a_float_model_is_ready_to_be_prepared(tmp_path):
    """Layers, batch norms and ReLUs are those that ``prepare_fx`` fuses."""
    pyqref.manual_seed(0)
    model, x = Cnn().eval(), pyqref.randn(2, 3, 20, 20)
    export.onnx(model, x, tmp_path / "model.onnx")
    found = from_onnx(tmp_path / "model.onnx")
    assert np.allclose(model(x).detach().numpy(), found(x).detach().numpy(), atol=1e-6)
    prepared = prepare_fx(found, get_default_qconfig_mapping("fbgemm"), (x,))
    prepared(x)
    converted = convert_fx(prepared)
    assert "QuantizedConvReLU2d" == converted.get_submodule("first")._get_name()


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("operators", ["QDQ", "QOperator", "dynamic"])
def test_what_onnxruntime_writes(operators, signed, tmp_path):
    """``quantize_static`` and ``quantize_dynamic``, with int8 and uint8: equal to onnxruntime.

    Its sums of int8 weights saturate without VNNI, so that weights have 7 bits or are unsigned.
    """
    pytest.importorskip("onnxruntime")
    from onnxruntime import quantization as ort

    for model, shape in ((Cnn, (2, 3, 20, 20)), (Mlp, (6, 20)), (Operations, (2, 4, 10))):
        pyqref.manual_seed(0)
        x = pyqref.randn(*shape)
        float_path, path = tmp_path / "float.onnx", tmp_path / "model.onnx"
        export.onnx(model().eval(), x, float_path, dynamic_batch=True)
        weight = ort.QuantType.QInt8 if signed else ort.QuantType.QUInt8
        if operators == "dynamic":
            ort.quantize_dynamic(float_path, path, weight_type=ort.QuantType.QUInt8)
        else:
            feeds = iter([{"input": x.numpy()}])
            reader = type("Reader", (), {"get_next": lambda self, it=feeds: next(it, None)})()
            ort.quantize_static(
                float_path,
                path,
                reader,
                quant_format=ort.QuantFormat[operators],
                activation_type=weight,
                weight_type=weight,
                per_channel=signed,
                reduce_range=signed,
            )
        (expected,) = served(onnx.load(path), x.numpy()).values()
        result = from_onnx(path)(x).detach().numpy()
        assert np.abs(expected - result).max() <= 1e-6


def test_operators_without_a_counterpart(tmp_path):
    """One error has them all."""
    helper = onnx.helper
    nodes = [
        helper.make_node("Det", ["x"], ["a"], "first"),
        helper.make_node("Relu", ["a"], ["b"], "second"),
        helper.make_node("Einsum", ["b"], ["y"], "third", equation="i->i"),
    ]
    ends = [
        helper.make_tensor_value_info("x", 1, [2, 3, 3]),
        helper.make_tensor_value_info("y", 1, [2]),
    ]
    graph = helper.make_graph(nodes, "graph", ends[:1], ends[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    onnx.save(model, tmp_path / "model.onnx")
    with pytest.raises(UnsupportedError, match="from_onnx cannot take over") as caught:
        from_onnx(tmp_path / "model.onnx")
    assert "first" == caught.value.problems[0].path


def test_no_model(tmp_path):
    """A missing file, and one that is none."""
    with pytest.raises(FileNotFoundError, match="there is no file"):
        from_onnx(tmp_path / "model.onnx")
    (tmp_path / "model.onnx").write_bytes(b"no model at all")
    with pytest.raises(ValueError, match="holds no valid model of ONNX"):
        from_onnx(tmp_path / "model.onnx")
    with pytest.raises(TypeError, match="path must be a path, got None"):
        from_onnx(None)


def test_an_array_instead_of_a_tensor(tmp_path):
    """The first operator of a quantized model says so."""
    helper = onnx.helper
    grid = [
        onnx.numpy_helper.from_array(np.float32(0.1), "s"),
        onnx.numpy_helper.from_array(np.uint8(3), "z"),
    ]
    nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["y"])]
    ends = [helper.make_tensor_value_info(*each, [2]) for each in (("x", 1), ("y", 2))]
    graph = helper.make_graph(nodes, "graph", ends[:1], ends[1:], grid)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    onnx.save(model, tmp_path / "model.onnx")
    with pytest.raises(TypeError, match=r"argument 'input'.*array"):
        from_onnx(tmp_path / "model.onnx")(np.zeros(2, np.float32))


def test_operators_that_onnx_does_not_know(tmp_path):
    """All of them in one error; a newer version of all operators is refused as a whole."""
    helper = onnx.helper
    nodes = [helper.make_node("Fly", ["x"], ["a"]), helper.make_node("Swim", ["x"], ["y"])]
    ends = [helper.make_tensor_value_info(name, 1, [2]) for name in ("x", "y")]
    graph = helper.make_graph(nodes, "graph", ends[:1], ends[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    onnx.save(model, tmp_path / "model.onnx")
    with pytest.raises(UnsupportedError) as caught:
        from_onnx(tmp_path / "model.onnx")
    assert ["Fly", "Swim"] == [each.type for each in caught.value.problems]
    model.opset_import[0].version = 999
    onnx.save(model, tmp_path / "model.onnx")
    with pytest.raises(ValueError, match="its operators are those of version 999"):
        from_onnx(tmp_path / "model.onnx")


def test_names_that_python_does_not_take(tmp_path):
    """Names in the file never run as code."""
    helper = onnx.helper
    odd = 'x"); raise SystemExit('
    nodes = [
        helper.make_node("Relu", ["class"], [odd], "lambda"),
        helper.make_node("Sigmoid", [odd], ["1.y"], "def/0/1 + 1"),
        helper.make_node("Exp", ["1.y"], ["None"], "import"),
    ]
    ends = [helper.make_tensor_value_info(name, 1, [2]) for name in ("class", "None")]
    graph = helper.make_graph(nodes, "graph", ends[:1], ends[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    onnx.save(model, tmp_path / "model.onnx")
    result = from_onnx(tmp_path / "model.onnx")(pyqref.zeros(2))
    assert np.allclose(np.exp(0.5), result.numpy())


def test_files_that_were_changed(tmp_path):
    """A changed file is refused in words, or is another model."""
    model, x = made("dynamic")
    path = tmp_path / "model.onnx"
    export.onnx(model, x, path)
    data = path.read_bytes()
    rng = np.random.default_rng(0)
    refused = others = 0
    for _ in range(60):
        changed = bytearray(data)
        for at in rng.integers(0, len(data), 3):
            changed[at] = rng.integers(256)
        path.write_bytes(changed[: rng.integers(1, len(data))] if rng.random() < 0.2 else changed)
        try:
            from_onnx(path)
        except (UnsupportedError, ValueError) as error:
            refused += "from_onnx" in str(error)
            others += "from_onnx" not in str(error)
    assert (True, 0) == (refused > 5, others)
