"""Models as files: equal to the bit, small, by class name, and nothing that a file says is run."""

from __future__ import annotations

import contextlib
import io
import json
import sys
import warnings
from typing import Any

import numpy as np
import pytest
from jit.models import KINDS, Net, X, graph, net, prepared

import pyqref
from pyqref import jit, nn
from pyqref import quantization as q
from pyqref.serialization import FileError
from pyqref.serialization.container import pack, unpack


def saved(model: Any, **options: Any) -> io.BytesIO:
    file = io.BytesIO()
    jit.save(model if isinstance(model, jit.ScriptModule) else jit.script(model), file, **options)
    file.seek(0)
    return file


def bits(value: Any) -> Any:
    """Return everything that decides about a number: type, shape, integers, scales."""
    if isinstance(value, (tuple, list)):
        return [bits(each) for each in value]
    if not hasattr(value, "_array"):
        return value
    grid = repr(value._quantizer) if value.is_quantized else None
    return type(value), value.dtype, tuple(value.shape), value._array.tobytes(), grid


@pytest.mark.parametrize("kind", KINDS)
def test_a_loaded_model_is_the_model(kind: str) -> None:
    """State, mode, classes and results: equal to the bit, for models of every kind."""
    make, x = KINDS[kind]
    model = make()
    loaded = jit.load(saved(model))
    assert isinstance(loaded, jit.RecursiveScriptModule)
    assert type(model).__name__ == loaded.original_name
    assert model.training is loaded.training
    state, found = model.state_dict(), loaded.state_dict()
    assert {key: bits(each) for key, each in state.items()} == {
        key: bits(each) for key, each in found.items()
    }
    pairs = zip(model.named_modules(), loaded._model.named_modules(), strict=True)
    for (name, ours), (their_name, theirs) in pairs:
        assert (name, type(ours).__name__) == (their_name, type(theirs).__name__)
    pyqref.manual_seed(1)
    expected = model(x)
    pyqref.manual_seed(1)
    assert pyqref.equal(expected, loaded(x))


def test_a_prepared_model_goes_on() -> None:
    """Observers keep their ranges, their hooks and recipes: conversion gives the same model."""
    model = prepared()
    loaded = jit.load(saved(model))
    assert pyqref.equal(q.convert(model)(X), q.convert(loaded._model)(X))


def test_integers_take_a_byte() -> None:
    """The file of a converted model has the weights as int8, besides less than 40 KB of names."""

    def file_size(layer: Any) -> int:
        return len(saved(layer).getvalue())

    float_model = nn.Sequential(nn.Linear(400, 400), nn.ReLU(), nn.Linear(400, 400)).eval()
    dynamic = q.quantize_dynamic(float_model)
    weights = 2 * 400 * 400
    assert 4 * weights < file_size(float_model) < 4 * weights + 10_000
    assert weights < file_size(dynamic) < weights + 10_000
    assert len(saved(q.convert(prepared())).getvalue()) < 40_000


def test_paths_and_extra_files(tmp_path: Any) -> None:
    """``module.save(path)``, ``jit.load(path)``, and texts that are kept along."""
    path = tmp_path / "model.pt"
    jit.script(net().eval()).save(str(path), {"notes.txt": "first", "b": b"\x00\x01"})
    notes = {"notes.txt": "", "b": b""}
    loaded = jit.load(path, map_location="cpu", _extra_files=notes)
    assert {"notes.txt": b"first", "b": b"\x00\x01"} == notes
    assert pyqref.equal(net().eval()(X), loaded(X))
    with pytest.raises(ValueError, match="does not exist"):
        jit.load(tmp_path / "none.pt")
    with pytest.raises(FileError, match=r"read it with pyqref\.jit\.load"):
        pyqref.load(path)


def test_shared_things_stay_shared() -> None:
    """A module that is used twice, and a parameter that belongs to two, are one after loading."""
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 2))
    model.add_module("again", model[0])
    model[2].weight = model[0].weight
    loaded = jit.load(saved(model))
    assert loaded[0] is loaded.again
    assert loaded[2].weight is loaded[0].weight
    assert 3 == len(list(loaded.parameters()))


def test_a_class_is_looked_for_where_it_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """Among the classes passed, and in modules that are imported; nothing is imported."""

    class Local(nn.Module):
        def forward(self, x: Any) -> Any:
            return x + 1

    file = saved(nn.Sequential(Local()))
    with pytest.raises(FileError, match=r"the class Local .* pass it: .*classes=\[Local\]"):
        jit.load(file)
    file.seek(0)
    assert 2.0 == jit.load(file, classes=[Local])(pyqref.ones(1)).item()
    file = saved(net())
    monkeypatch.delitem(sys.modules, Net.__module__)
    with pytest.raises(FileError, match=r"run 'import jit\.models' before"):
        jit.load(file)
    assert Net.__module__ not in sys.modules


def helper(x: Any) -> Any:
    return 2 * x


def test_a_function_of_the_user_is_passed() -> None:
    """A graph that calls one, and a module that has one, need it; a lambda has no name."""
    traced = pyqref.fx.GraphModule(nn.Module(), _graph_that_calls(helper))
    file = saved(traced)
    with pytest.raises(FileError, match=r"pass it, if it is yours: .*classes=\[helper\]"):
        jit.load(file)
    file.seek(0)
    assert 2.0 == jit.load(file, classes=[helper])(pyqref.ones(1)).item()
    nameless = pyqref.fx.GraphModule(nn.Module(), _graph_that_calls(lambda x: x))
    with pytest.raises(TypeError, match="define it with def in a module"):
        saved(nameless)


def _graph_that_calls(function: Any, *more: Any) -> Any:
    made = pyqref.fx.Graph()
    x = made.placeholder("x")
    made.output(made.call_function(function, (x, *more)))
    return made


def test_what_a_file_cannot_hold() -> None:
    """An attribute is left out with a warning; a hook of the user's is refused."""
    with pytest.warns(q.NoEffectWarning, match=r"0\.reader \(BytesIO\): left out"):
        file = saved(nn.Sequential(_Keeps(io.BytesIO())))
    assert not hasattr(jit.load(file)[0], "reader")
    model = nn.Sequential(nn.ReLU())
    handle = model[0].register_forward_hook(lambda *_: None)
    with pytest.raises(TypeError, match="0 has the hook"):
        saved(model)
    handle.remove()
    saved(model)
    with pytest.raises(TypeError, match=r"got Sequential; call pyqref\.jit\.script"):
        jit.save(model, io.BytesIO())
    with pytest.raises(TypeError, match="helper is a function"):
        jit.save(jit.script(helper), io.BytesIO())


class _Keeps(nn.Module):
    def __init__(self, kept: Any) -> None:
        super().__init__()
        self.reader = kept

    def forward(self, x: Any) -> Any:
        return x


# Files that somebody made up


def structure_of(file: io.BytesIO) -> tuple[dict[str, Any], dict[str, str]]:
    return unpack(file, len(file.getvalue()), "file")


def changed(file: io.BytesIO, change: Any) -> io.BytesIO:
    arrays, texts = structure_of(file)
    structure = json.loads(texts["pyqref.module"])
    texts["pyqref.module"] = json.dumps(change(structure))
    return io.BytesIO(pack(arrays, texts))


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("os:system", "must name a subclass"),
        ("builtins:exec", "must name a subclass"),
        ("pyqref.serialization.files:save", "must name a subclass"),
        ("antigravity:Module", "which is not|there is none"),
        ("pyqref.nn.modules.linear:Linear.forward", "must name a subclass"),
    ],
)
def test_a_file_cannot_name_another_class(name: str, why: str) -> None:
    def change(structure: Any) -> Any:
        structure[2][2] = name
        return structure

    with pytest.raises(FileError, match=why):
        jit.load(changed(saved(nn.ReLU()), change))
    assert "antigravity" not in sys.modules


@pytest.mark.parametrize(
    ("node", "why"),
    [
        (["call_function", "f", "os:system"], "pass it, if it is yours"),
        (["call_function", "f", "builtins.exec"], "pass it, if it is yours"),
        (["call_function", "f", "operator.attrgetter"], "pass it, if it is yours"),
        (["call_function", "f", "operator.call"], "pass it, if it is yours"),
        (["call_function", "f", "pyqref.save"], "pass it, if it is yours"),
        (["call_method", "f", "__reduce_ex__"], "a node is 'call_method'"),
        (["call_method", "f", "tofile"], "a node is 'call_method'"),
        (["call_method", "f", "x); import os; ("], "a node is 'call_method'"),
        (["call_module", "f", "nothing"], "which the model does not have"),
        (["get_attr", "f", "__class__"], "which the model does not have"),
        (["placeholder", "f", "x): import os #"], "a node is 'placeholder'"),
        (["call_method", "f g", "abs"], "a node is named"),
        (["eval", "f", "x"], "a node is 'eval'"),
    ],
)
def test_a_file_cannot_make_a_graph_run_code(node: Any, why: str) -> None:
    def change(structure: Any) -> Any:
        nodes = structure[2][2][1]
        nodes[1] = [*node, ["tuple", [["node", "x"]]], ["dict", []]]
        nodes[2] = ["output", "output", "output", ["tuple", [["node", "x"]]], ["dict", []]]
        return structure

    file = saved(pyqref.fx.GraphModule(nn.Module(), _graph_that_calls(pyqref.relu)))
    with pytest.raises(FileError, match=why):
        jit.load(changed(file, change))


def test_a_file_cannot_take_private_attributes() -> None:
    """``getattr(x, "__class__")`` would lead everywhere; ``getattr(x, "shape")`` is fine."""
    good = pyqref.fx.GraphModule(nn.Module(), _graph_that_calls(getattr, "shape"))
    assert (1,) == jit.load(saved(good))(pyqref.ones(1))
    bad = pyqref.fx.GraphModule(nn.Module(), _graph_that_calls(getattr, "__class__"))
    with pytest.raises(FileError, match="takes the attribute"):
        jit.load(saved(bad))


@pytest.mark.parametrize("kind", ["converted", "dynamic", "graph"])
def test_mutated_files_are_refused_or_loaded(kind: str) -> None:
    """Any value of the structure replaced by any other: FileError, or a model; never a crash."""
    generator = np.random.default_rng(0)
    file = saved(KINDS[kind][0]())
    strange = (None, -1, 10**30, "x", [], ["again", 0], {}, 1.5, ["tensor", "x", False, None])
    arrays, texts = structure_of(file)
    for _ in range(150):
        structure = json.loads(texts["pyqref.module"])
        place = structure
        while True:
            at = int(generator.integers(len(place)))
            if not isinstance(place[at], list) or not place[at] or generator.random() < 0.1:
                break
            place = place[at]
        place[at] = strange[int(generator.integers(len(strange)))]
        text = {**texts, "pyqref.module": json.dumps(structure)}
        with warnings.catch_warnings(), contextlib.suppress(FileError):
            warnings.simplefilter("ignore")
            jit.load(io.BytesIO(pack(arrays, text)))


def test_graphs_keep_their_code() -> None:
    """The text of a graph module is the same after loading, and it can be traced on."""
    model = graph()
    loaded = jit.load(saved(model))
    assert model.code == loaded.code
    assert len(list(loaded.graph.nodes)) == len(list(model.graph.nodes))
