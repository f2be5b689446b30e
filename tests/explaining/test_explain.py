"""Derivations lead to what the layers stored, and each step can be computed again."""

from __future__ import annotations

import io
import json
import sys
import time
from collections import Counter
from types import ModuleType

import numpy as np
import pytest

import pyqref
from pyqref import nn
from pyqref.cli.main import main
from pyqref.explaining import explain, recording
from pyqref.explaining.draft import EXPLAINERS
from pyqref.explaining.show.json import steps_of

from .cases import CASES
from .drawing import ENGINES, others, sweep


@pytest.fixture(autouse=True)
def _settings():
    before = pyqref.backends.quantized.engine, pyqref.backends.quantized.conventions
    yield
    pyqref.backends.quantized.engine, pyqref.backends.quantized.conventions = before


@pytest.mark.parametrize("engine", ENGINES)
def test_random_elements_of_all_operations(engine):
    """Each derivation, computed again from its own operands exactly, is the stored number."""
    seen: Counter[str] = Counter()
    for name in CASES:
        seen += sweep(0, engine, "documented", name)
    assert sum(seen.values()) > 120
    assert {"TakeAlong", "recurrent.layer"} >= {
        each
        for each in EXPLAINERS
        if each not in seen
        and not each.startswith(("quantized.conv", "quantized.embedding", "observer"))
    }


def test_the_convention_of_torch():
    """Fake quantizers and PReLU follow the convention that was set when they ran."""
    for name in ("fake", "activations"):
        assert sweep(1, "fbgemm", "torch", name)


def small_model() -> nn.Module:
    pyqref.manual_seed(0)
    pyqref.backends.quantized.engine = "fbgemm"
    model = nn.Sequential(
        pyqref.quantization.QuantStub(),
        nn.Conv2d(1, 2, 3, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(32, 3),
        pyqref.quantization.DeQuantStub(),
    ).eval()
    model.qconfig = pyqref.quantization.get_default_qconfig("fbgemm")
    model = pyqref.quantization.fuse_modules(model, [["1", "2"]])
    model = pyqref.quantization.prepare(model)
    model(pyqref.randn(2, 1, 4, 4))
    return pyqref.quantization.convert(model)


def test_back_to_the_pixel():
    """``inputs[k].why()`` goes back layer by layer, to what the model was given."""
    x = pyqref.randn(1, 1, 4, 4)
    found = explain(small_model(), x, index=(0, 1))
    layers = []
    while True:
        layers.append(found.layer)
        assert found.check()
        first = found.inputs[0]
        if first.is_given:
            break
        found = first.why()
    assert ["5", "4", "reshape", "1", "0"] == [each.replace("3", "reshape") for each in layers]
    assert x[first.index].item() == first.value


def test_graph_mode_names_nodes():
    """In graph mode operations have the names of their nodes."""
    model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Hardswish()).eval()
    x = pyqref.randn(1, 1, 5, 5)
    mapping = pyqref.quantization.get_default_qconfig_mapping("fbgemm")
    prepared = pyqref.quantization.quantize_fx.prepare_fx(model, mapping, (x,))
    prepared(x)
    converted = pyqref.quantization.quantize_fx.convert_fx(prepared)
    assert explain(converted, x, "0", (0, 1, 2, 2)).check()
    assert explain(converted, x, index=(0, 1, 2, 2)).layer.startswith("dequantize")


def test_side_by_side():
    """Every arithmetic starts from the same accumulator; that of the engine gives the integer."""
    names = pyqref.arithmetic.names()
    for layer, index in (("1", (0, 1, 0, 2)), ("4", (0, 2))):
        found = explain(small_model(), pyqref.randn(1, 1, 4, 4), layer, index, names)
        assert found.stored == found.others["fbgemm"][-1].value
        assert list(names) == list(found.others)
        assert max(len(line) for line in str(found).splitlines()) <= 80
        found.to_json()
        written = found.to_dict()["others"]
        assert "eq-bias-integer" in {each["label"] for each in written["qnnpack"]}
        assert f"{len(names)} arithmetics side by side" in found._repr_html_()
        wrong = [name for name, each in found.others.items() if each[-1].value != found.stored]
        assert len(wrong) == found._repr_html_().count("≠")


@pytest.mark.parametrize("system", pyqref.arithmetic.names())
def test_other_systems_store_what_their_steps_say(system):
    """``eq-real-operation`` to ``eq-xnnpack-mul``: the last step is what a run there stores."""
    names = ("convolutions", "transposed", "dynamic", "fused", "sums_and_products")
    seen = sum((others(0, name, system) for name in (*names, "activations", "windows")), Counter())
    if system != "tflite-single":
        assert {"quantized.add", "quantized.mul"} <= set(seen)
    if not system.startswith(("tflite", "cmsis")):
        assert {"quantized.linear_dynamic", "quantized.linear_tanh", "Sigmoid"} <= set(seen)
    assert {"quantized.conv2d", "quantized.matmul", "AvgPool", "AdaptiveAvgPool"} <= set(seen)


def test_an_arithmetic_without_a_rule_is_named():
    """Beside other arithmetics a note names it; alone it is an error."""
    x = pyqref.quantize_per_tensor(pyqref.tensor([0.25]), 0.1, 3, pyqref.quint8)
    with recording() as ran:
        pyqref.ops.quantized.sigmoid(x, 1 / 256, 0)
    told = "tflite has no rule for sigmoid: there a model keeps the numbers of the engine"
    found = ran.explain("sigmoid", 0, ["onnx", "tflite"])
    assert list(found.others) == ["onnx"]
    assert told in str(found).replace("\n      ", " ")
    with pytest.raises(LookupError, match=f"{told}; leave arithmetics out"):
        ran.explain("sigmoid", 0, ["tflite"])
    assert ran.explain("sigmoid", 0).others == {}
    model = pyqref.quantization.quantize_dynamic(nn.Sequential(nn.LSTM(2, 2)), {nn.LSTM})
    with recording() as ran:
        model(pyqref.ones(1, 1, 2))
    with pytest.raises(LookupError, match="onnx writes no steps down for recurrent layers"):
        ran.explain(None, (0, 0, 0), ["onnx"])


@pytest.mark.parametrize(("layer", "index"), [("1", (0, 1, 0, 2)), ("4", (0, 2))])
def test_what_a_sum_is_made_of(layer, index):
    """Products, and the zero points, add up to the accumulator (``eq-linear-accumulator``)."""
    found = explain(small_model(), pyqref.randn(1, 1, 4, 4), layer, index)
    products, parts = found.tables
    total = found.step("accumulator").value
    assert total == parts.rows[-1][1] == sum(value for _, value in parts.rows[:-1])
    sizes = [abs(row[-1]) for row in products.rows]
    assert sizes == sorted(sizes, reverse=True)
    given = {f"x{list(each.index)}": each.value for each in found.inputs}
    z_x, z_w = (each.value for each in found.step("accumulator").operands[1::2])
    for place, x, w, product in products.rows:
        assert given[place] == x
        assert (x - z_x) * (w - z_w) == product


def test_json_can_be_computed_again():
    """The steps read back from JSON give the same values, in exact arithmetic."""
    found = explain(small_model(), pyqref.randn(1, 1, 4, 4), "1", (0, 1, 0, 0))
    text = found.to_json()
    assert 1 == json.loads(text)["schema"]
    again = steps_of(text)
    assert [each.value for each in found.steps] == [each.recompute() for each in again]
    with pytest.raises(ValueError, match="schema must be 1, got 2"):
        steps_of('{"schema": 2}')


def test_the_text_fits_a_terminal_and_the_rest_is_written():
    """No line is longer than 80; the page folds and has a picture; LaTeX is aligned."""
    found = explain(small_model(), pyqref.randn(1, 1, 4, 4), "1", (0, 1, 0, 0))
    assert max(len(line) for line in str(found).splitlines()) <= 80
    assert "eq-conv-accumulator" in str(found)
    page = found._repr_html_()
    assert page.startswith("<details")
    assert "<svg" in page
    assert found.to_latex().startswith(r"\begin{align*}")
    assert found.tree(1).startswith("1[0, 1, 0, 0] = ")


def test_a_wrong_derivation_is_found():
    """``check`` names the step that does not hold."""
    found = explain(small_model(), pyqref.randn(1, 1, 4, 4), "1", (0, 1, 0, 0))
    found.stored += 1
    with pytest.raises(ArithmeticError, match=r"the steps lead to \d+, the layer stored \d+"):
        found.check()


def test_errors():
    """Each says what was wrong and what to do."""
    model, x = small_model(), pyqref.randn(1, 1, 4, 4)
    with pytest.raises(LookupError, match="no layer 'l' ran; near it are"):
        explain(model, x, "l", 0)
    with pytest.raises(IndexError, match=r"give 2 integers within it"):
        explain(model, x, "4", (0, 3))
    with pytest.raises(TypeError, match="index must be an integer"):
        explain(model, x, "4", "a")
    with pytest.raises(TypeError, match="model must be a Module, got int"):
        explain(3, x)
    with pytest.raises(LookupError, match="works on real numbers"):
        explain(nn.Linear(2, 2), pyqref.randn(1, 2), index=(0, 0))
    with pytest.raises(RuntimeError, match=r"call model.eval\(\) first"):
        explain(nn.Dropout(0.5), x)
    with pytest.raises(LookupError, match="recorded"):
        pyqref.zeros(2).why(0)


@pytest.mark.parametrize(
    "index",
    [
        *(None, "a", 1.5, float("nan"), [[0]], (0, None), {}, object, pyqref.ones(2), 2**63),
        *(-(2**63), (True, 0), ..., slice(1), (0, slice(1)), range(2)),
    ],
)
def test_a_wrong_index_is_named(index):
    """``y.why`` and ``explain`` raise with the index, never with an error of NumPy."""
    x = pyqref.zeros(1, 2)
    with recording() as ran:
        y = pyqref.quantize_per_tensor(x, 0.1, 0, pyqref.quint8)
    for ask in (lambda: y.why(index), lambda: ran.explain(index=index)):
        with pytest.raises((TypeError, IndexError), match="explain: index"):
            ask()


def test_changes_in_place_are_seen():
    """A tensor that was changed is another one, and what was changed after the run says so."""
    x = pyqref.tensor([1.0, 2.0])
    with recording():
        first = pyqref.quantize_per_tensor(x, 0.5, 0, pyqref.quint8)
        x.mul_(2)
        second = pyqref.quantize_per_tensor(x, 0.5, 0, pyqref.quint8)
    assert (2, 4) == (first.why(0).value, second.why(0).value)
    assert (1.0, 2.0) == (first.why(0).inputs[0].value, second.why(0).inputs[0].value)
    second.relu_()
    with pytest.raises(LookupError, match="or was changed since"):
        second.why(0)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (lambda ran, found: ran.explain(3), "layer must be the path of a module"),
        (lambda ran, found: ran.explain(["0"]), "layer must be the path of a module"),
        (lambda ran, found: ran.explain("0", 0, "tflite"), "arithmetics must be a list of names"),
        (lambda ran, found: ran.explain("0", 0, None), "arithmetics must be a list of names"),
        (lambda ran, found: ran.explain("1", (0, 0), [3]), "name must be one of"),
        (lambda ran, found: found.inputs["a"], "inputs: the number must be an int"),
        (lambda ran, found: found.inputs[9], r"the number must be in \[-2, 1\], got 9"),
        (lambda ran, found: found.tree("a"), "tree: depth must be an int"),
        (lambda ran, found: found.tree(-1), "tree: depth must be at least 0"),
        (lambda ran, found: found.tree(1, -1), "tree: most must be at least 0"),
        (lambda ran, found: found.largest_inputs(-1), "largest_inputs: most must be at least 0"),
        (lambda ran, found: found.to_json("x"), "to_json: indent must be an int"),
        (lambda ran, found: found.step("x"), "there is no step 'x'; there are 'accumulator'"),
    ],
)
def test_wrong_arguments_are_named(asked, message):
    """Never an error of Python or NumPy: which argument, what it must be, what was got."""
    model = nn.Sequential(nn.quantized.Quantize(0.1, 0, pyqref.quint8), nn.quantized.Linear(2, 1))
    with recording() as ran:
        model(pyqref.rand(1, 2))
    found = ran.explain("1", (0, 0))
    with pytest.raises((TypeError, ValueError, LookupError), match=message):
        asked(ran, found)


def test_one_number_of_a_large_layer_is_quick():
    """Its own window is looked at, whatever the size of the layer: below 50 ms."""
    layer = nn.quantized.Conv2d(256, 256, 3, padding=1)
    model = nn.Sequential(nn.quantized.Quantize(0.1, 0, pyqref.quint8), layer)
    with recording() as ran:
        model(pyqref.rand(1, 256, 8, 8))
    times = []
    for _ in range(3):
        start = time.thread_time()
        found = ran.explain("1", (0, 5, 3, 3))
        times.append(time.thread_time() - start)
    assert found.check()
    assert min(times) < 0.05


def test_what_is_not_finite_is_written():
    """JSON has no infinity: the hexadecimal form says it, and can be read back."""
    with recording():
        y = pyqref.quantize_per_tensor(pyqref.tensor([float("inf")]), 0.1, 0, pyqref.quint8)
    text = y.why(0).to_json()
    written = json.loads(text, parse_constant=pytest.fail)
    assert "inf" in {each["value"]["value"] for each in written["steps"]}
    assert [each.value for each in y.why(0).steps] == [each.value for each in steps_of(text)]


def test_rich_shows_the_text():
    """Brackets of indices are no styles."""
    rich = pytest.importorskip("rich.console")
    found = explain(small_model(), pyqref.randn(1, 1, 4, 4), "4", (0, 1))
    console = rich.Console(file=io.StringIO(), width=80)
    console.print(found)
    assert str(found) == console.file.getvalue().rstrip("\n")


def test_nothing_stays_behind():
    """After a recording functions run their own code again."""
    code = pyqref.relu.__code__
    with recording():
        pass
    assert code is pyqref.relu.__code__
    with pytest.raises(ZeroDivisionError), recording():
        raise ZeroDivisionError
    assert code is pyqref.relu.__code__


def test_on_the_command_line(tmp_path, capsys, monkeypatch):
    """``pyqref explain`` prints the derivation of a saved model, and writes a page."""
    file, x = tmp_path / "model.pt", tmp_path / "x.npy"
    pyqref.save(small_model().state_dict(), file)
    maker = ModuleType("makes_a_small_model")
    maker.made = small_model
    monkeypatch.setitem(sys.modules, maker.__name__, maker)
    np.save(x, np.ones((1, 1, 4, 4), np.float32))
    page = tmp_path / "page.html"
    options = ["explain", str(file), "--input", str(x), "--layer", "4"]
    options += ["--model", "makes_a_small_model:made", "--index", "0,1"]
    assert 0 == main([*options, "--html", str(page)])
    assert "eq-linear-accumulator" in capsys.readouterr().out
    assert "<details" in page.read_text()
    assert 0 == main([*options, "--arithmetics", "qnnpack, tflite"])
    assert "\ntflite: " in capsys.readouterr().out
    assert 1 == main([*options[:-1], "9,9"])
    assert "does not fit the output" in capsys.readouterr().err
