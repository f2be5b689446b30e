"""Comparison of two forms of a model in graph mode, as torch's numeric suite for FX does it."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref.measure import layer_outputs, layer_sqnr, sqnr
from pyqref.quantization.fx.numeric_suite import compute_sqnr

#: 20 log10 of a ratio of two norms of at most 300 float32 numbers, each sum off by 300 half units.
DECIBELS = 20 * np.log10(1 + 4 * 300 * 2.0**-24)

#: What torch 2.13 leaves out: shadows of these, the second input of ``add_relu``, and methods.
MORE = {"adaptive", "add", "cat", "flatten", "hardswish", "mul"}


@contextmanager
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def suite(library: Any) -> Any:
    return import_module(f"{library.__name__}.ao.ns._numeric_suite_fx")


def given(library: Any, kind: str) -> tuple[Any, Any]:
    """A float model with known weights, and a batch."""
    nn, F = library.nn, library.nn.functional
    rng = np.random.default_rng(0)

    class Convolutions(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.relu, self.conv2 = nn.Conv2d(2, 4, 3), nn.ReLU(), nn.Conv2d(4, 4, 1)
            self.body = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Sigmoid())

        def forward(self, x: Any) -> Any:
            x = self.relu(self.conv(x))
            x = F.relu(x + self.conv2(x))
            x = library.flatten(F.adaptive_avg_pool2d(x, 1), 1)
            x = self.body(x)
            return library.cat([x, x], 1)

    class Functions(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = nn.Parameter(library.zeros(5, 2))
            self.b = nn.Parameter(library.zeros(5))

        def forward(self, x: Any) -> Any:
            return F.hardswish(F.linear(x.mean((2, 3)), self.w, self.b)) * 2.0

    class Recurrent(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lstm, self.fc = nn.LSTM(5, 4), nn.Linear(4, 2)

        def forward(self, x: Any) -> Any:
            return self.fc(self.lstm(x.flatten(0, 1))[0])

    model = {"convolutions": Convolutions, "functions": Functions, "recurrent": Recurrent}[kind]()
    model.load_state_dict(
        {
            key: library.from_numpy(rng.standard_normal(tuple(value.shape)).astype(np.float32))
            for key, value in model.state_dict().items()
        }
    )
    return model.eval(), library.from_numpy(rng.standard_normal((3, 2, 5, 5)).astype(np.float32))


def forms(library: Any, kind: str) -> tuple[Any, Any, Any]:
    """The prepared model, the converted one, and a batch."""
    quantization = library.ao.quantization
    model, x = given(library, kind)
    qconfig = quantization.default_qconfig
    if kind == "recurrent":
        qconfig = quantization.default_dynamic_qconfig
    mapping = quantization.QConfigMapping().set_global(qconfig)
    prepared = quantization.quantize_fx.prepare_fx(model, mapping, (x,))
    prepared(x)
    return prepared, quantization.quantize_fx.convert_fx(copy.deepcopy(prepared)), x


def compared(library: Any, kind: str) -> dict[str, dict[str, Any]]:
    """The ratios of all layers, by what was compared."""
    ns = suite(library)
    prepared, quantized, x = forms(library, kind)
    found = {"weights": ns.extract_weights("a", prepared, "b", quantized)}
    for inputs in (False, True):
        both = copy.deepcopy(prepared), copy.deepcopy(quantized)
        a, b = ns.add_loggers("a", both[0], "b", both[1], ns.OutputLogger, inputs)
        a(x), b(x)
        found[f"outputs {inputs}"] = ns.extract_logger_info(a, b, ns.OutputLogger, "b")
        if kind == "recurrent":
            continue  # torch 2.13 stops at an LSTM without a state
        both = copy.deepcopy(prepared), copy.deepcopy(quantized)
        shadows = ns.add_shadow_loggers("a", both[0], "b", both[1], ns.OutputLogger, inputs)
        shadows(x)
        found[f"shadows {inputs}"] = ns.extract_shadow_logger_info(shadows, ns.OutputLogger, "b")
    sqnr_of = import_module(f"{library.__name__}.ao.ns.fx.utils").compute_sqnr
    ratios: dict[str, dict[str, Any]] = {}
    for what, results in found.items():
        ns.extend_logger_results_with_comparison(results, "a", "b", sqnr_of, "sqnr")
        ratios[what] = {
            f"{layer} {kind} {entry['index_of_arg']} {entry['index_within_arg']}": entry["sqnr"]
            for layer, of_pair in results.items()
            for kind, by_model in of_pair.items()
            for entry in by_model["b"]
        }
    return ratios


def flat(ratios: Any) -> list[float]:
    if isinstance(ratios, (list, tuple)):
        return [each for ratio in ratios for each in flat(ratio)]
    return [float(ratios.detach())]


@pytest.mark.parametrize("kind", ["convolutions", "functions", "recurrent"])
def test_as_torch(kind: str) -> None:
    """Each ratio of torch is here; pools and sums have shadows, too, and all inputs of sums."""
    torch = pytest.importorskip("torch")
    with quiet():
        theirs, ours = compared(torch, kind), compared(pyqref, kind)
    for what, layers in theirs.items():
        assert layers, what
        assert set(layers) <= set(ours[what])
        assert {layer.split("_")[0].split()[0] for layer in set(ours[what]) - set(layers)} <= MORE
        for layer, ratios in layers.items():
            np.testing.assert_allclose(flat(ours[what][layer]), flat(ratios), atol=1e-3, rtol=0)


def trained(library: Any) -> tuple[Any, Any, Any]:
    """A model with batch norms prepared for training, the converted one, and a batch."""
    nn, quantization = library.nn, library.ao.quantization
    model = nn.Sequential(nn.Conv2d(2, 3, 2), nn.BatchNorm2d(3), nn.ReLU(), nn.Conv2d(3, 2, 1))
    rng = np.random.default_rng(0)
    for each in model.parameters():
        value = rng.standard_normal(tuple(each.shape)).astype(np.float32)
        each.data.copy_(library.from_numpy(value))
    x = library.from_numpy(rng.standard_normal((3, 2, 5, 5)).astype(np.float32))
    mapping = quantization.get_default_qat_qconfig_mapping("fbgemm")
    prepared = quantization.quantize_fx.prepare_qat_fx(model.train(), mapping, (x,))
    prepared(x)
    prepared.eval()
    return prepared, quantization.quantize_fx.convert_fx(copy.deepcopy(prepared)), x


def test_a_trained_model_as_torch() -> None:
    """Weights of fused layers with batch norm are compared as they stand, as torch does it."""
    torch = pytest.importorskip("torch")
    found = []
    for library in (torch, pyqref):
        ns = suite(library)
        with quiet():
            prepared, quantized, x = trained(library)
            a, b = ns.add_loggers("a", prepared, "b", quantized, ns.OutputLogger)
            a(x), b(x)
        both = [ns.extract_weights("a", prepared, "b", quantized)]
        both.append(ns.extract_logger_info(a, b, ns.OutputLogger, "b"))
        error = import_module(f"{library.__name__}.ao.ns.fx.utils").compute_sqnr
        for results in both:
            ns.extend_logger_results_with_comparison(results, "a", "b", error, "sqnr")
        found.append(
            {
                (layer, kind): flat(by_model["b"][0]["sqnr"])
                for results in both
                for layer, of_pair in results.items()
                for kind, by_model in of_pair.items()
            }
        )
    assert found[0].keys() == found[1].keys()
    for key, ratios in found[0].items():
        np.testing.assert_allclose(found[1][key], ratios, atol=1e-3, rtol=0)


def test_weights_of_a_reference_model() -> None:
    """They are those that it computes with: on the grid, and equal to the quantized ones."""
    ns, quantization = suite(pyqref), pyqref.ao.quantization
    with quiet():
        prepared, quantized, _ = forms(pyqref, "convolutions")
        reference = quantization.quantize_fx.convert_to_reference_fx(copy.deepcopy(prepared))
    results = ns.extract_weights("reference", reference, "int8", quantized)
    ns.extend_logger_results_with_comparison(results, "reference", "int8", compute_sqnr, "sqnr")
    assert 3 == len(results)
    assert all(np.isinf(flat(each["weight"]["int8"][0]["sqnr"])[0]) for each in results.values())


def test_outputs_are_those_of_the_layers() -> None:
    """Loggers hold the outputs that hooks on the modules see; :mod:`pyqref.measure` agrees."""
    ns = suite(pyqref)
    with quiet():
        prepared, quantized, x = forms(pyqref, "convolutions")
    ratios = layer_sqnr(prepared, quantized, x, ["conv2", "body.0", "body.2"])
    a, b = ns.add_loggers("a", prepared, "b", quantized, ns.OutputLogger)
    assert pyqref.equal(a(x), prepared(x))
    assert pyqref.equal(b(x), quantized(x))
    results = ns.extract_logger_info(a, b, ns.OutputLogger, "b")
    ns.extend_logger_results_with_comparison(results, "a", "b", compute_sqnr, "sqnr")
    for path, expected in ratios.items():
        entry = results[path.replace(".", "_")]["node_output"]["b"][0]
        assert path == entry["fqn"]
        assert abs(expected - float(entry["sqnr"][0])) <= DECIBELS


def test_a_shadow_has_the_input_of_its_counterpart() -> None:
    """The float layer runs on the dequantized input of the quantized one, and changes nothing."""
    ns = suite(pyqref)
    with quiet():
        prepared, quantized, x = forms(pyqref, "convolutions")
    layers = layer_outputs(quantized, x, ["conv"])
    both = ns.add_shadow_loggers("a", prepared, "b", quantized, ns.OutputLogger)
    assert pyqref.equal(both(x), quantized(x))
    entry = ns.extract_shadow_logger_info(both, ns.OutputLogger, "b")["conv2"]["node_output"]
    shadow = prepared.conv2(pyqref.from_numpy(layers["conv"].astype(np.float32)))
    assert np.isinf(sqnr(shadow, entry["a"][0]["values"][0]))


def test_an_integer_shadow_of_a_float_model() -> None:
    """The other way round: inputs are put on the grid that the integer layer expects."""
    ns = suite(pyqref)
    with quiet():
        prepared, quantized, x = forms(pyqref, "convolutions")
    both = ns.add_shadow_loggers("int8", quantized, "float", prepared, ns.OutputLogger)
    both(x)
    results = ns.extract_shadow_logger_info(both, ns.OutputLogger, "float")
    ns.extend_logger_results_with_comparison(results, "float", "int8", compute_sqnr, "sqnr")
    assert 8 == len(results)
    for of_pair in results.values():
        entry = of_pair["node_output"]["int8"][0]
        assert entry["values"][0].is_quantized
        assert float(entry["sqnr"][0]) > 25


def many(library: Any, **options: Any) -> tuple[Any, Any]:
    """The float model beside two quantized forms of each operation, run, and the batch."""
    ns, quantization = suite(library), library.ao.quantization
    multi = import_module(f"{library.__name__}.ao.ns.fx.qconfig_multi_mapping").QConfigMultiMapping
    model, x = given(library, "convolutions")
    both = [quantization.default_qconfig, quantization.default_dynamic_qconfig]
    mapping = multi().set_global(both).set_object_type(library.nn.Conv2d, both[:1])
    backend = quantization.backend_config.get_native_backend_config()
    made = ns.prepare_n_shadows_model(model, (x,), mapping, backend, **options)
    made(x)
    made = ns.convert_n_shadows_model(made)
    ns.loggers_set_enabled(made, True)
    made(x)
    return made, x


def test_many_forms_as_torch() -> None:
    """The copies have torch's names and ratios, and there is a table of them."""
    torch = pytest.importorskip("torch")
    found = []
    for library in (torch, pyqref):
        with quiet():
            made, _ = many(library)
        results = suite(library).extract_results_n_shadows_model(made)["model"]["node_output"]
        found.append({name: flat(each[0]["comparisons"]) for name, each in results.items()})
    assert found[0].keys() == found[1].keys()
    for name, ratios in found[0].items():
        np.testing.assert_allclose(found[1][name], ratios, atol=1e-3, rtol=0)


def test_the_float_model_stays_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    """The result is the float model's; a conv has one column of ratios, a linear layer two."""
    ns = suite(pyqref)
    with quiet():
        made, x = many(pyqref)
    model, _ = given(pyqref, "convolutions")
    assert pyqref.equal(model(x), made(x))
    ns.print_comparisons_n_shadows_model(ns.extract_results_n_shadows_model(made))
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["node_name", "node_type", "fqn", "0", "1"] == lines[0]
    assert [4, 5] == [len(line) for line in lines if line[0] in ("conv", "body_0")]


def test_loggers_are_switched() -> None:
    """Off, nothing is remembered; without values, only the comparison is."""
    ns = suite(pyqref)
    with quiet():
        made, x = many(pyqref)
    ns.loggers_set_enabled(made, False)
    made(x)
    assert all(1 == len(each.stats) for each in made.modules() if isinstance(each, ns.OutputLogger))
    ns.loggers_set_enabled(made, True)
    ns.loggers_set_save_activations(made, False)
    made(x)
    entry = ns.extract_results_n_shadows_model(made)["model"]["node_output"]["subgraph_0_1"][0]
    assert (1, 2) == (len(entry["values"]), len(entry["comparisons"]))


def test_custom_functions_prepare_and_convert() -> None:
    """They are given the copy, its inputs and its mapping, and what else was asked for."""
    ns, quantization = suite(pyqref), pyqref.ao.quantization
    model, x = given(pyqref, "functions")
    asked = []

    def prepare(module: Any, *, example_inputs: Any, qconfig_mapping: Any, mark: int) -> Any:
        asked.append(mark)
        return quantization.quantize_fx.prepare_fx(module, qconfig_mapping, example_inputs)

    def convert(module: Any, mark: int) -> Any:
        asked.append(mark)
        return quantization.quantize_fx.convert_fx(module)

    mapping = ns.QConfigMultiMapping().set_global([quantization.default_qconfig])
    backend = quantization.backend_config.get_native_backend_config()
    with quiet():
        made = ns.prepare_n_shadows_model(model, (x,), mapping, backend, prepare, {"mark": 1})
        made(x)
        ns.convert_n_shadows_model(made, convert, {"mark": 2})
    assert asked == [1] * (len(asked) // 2) + [2] * (len(asked) // 2)
    assert len(asked) >= 6


@pytest.mark.parametrize("name", ["sqnr", "normalized_l2_error", "cosine_similarity"])
def test_errors_as_torch(name: str) -> None:
    """Numbers of tensors, quantized tensors, tuples and nested tuples."""
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((2, 40)).astype(np.float32)
    found = []
    for library in (torch, pyqref):
        function = getattr(import_module(f"{library.__name__}.ao.ns.fx.utils"), f"compute_{name}")
        one, other = library.from_numpy(x), library.from_numpy(y)
        grid = library.quantize_per_tensor(one, 0.1, 3, library.qint8)
        pairs = [(one, other), (one, grid), ((one, (other,)), (grid, (one,))), (one, one)]
        found.append([flat(function(*pair)) for pair in pairs])
    for theirs, ours in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=DECIBELS, rtol=0)
