"""Calls with a proxy become nodes whose target is the very function that was called."""

from __future__ import annotations

import functools
import gc
import importlib
import inspect
import subprocess
import sys
import threading
import types
from typing import Any

import pytest

import pyqref
import pyqref.nn.functional as F
from pyqref import fx
from pyqref.fx.interception import ANSWERED, NAMESPACES, intercept, intercepting, plain
from pyqref.fx.recording import METHODS, OLD_NAMES
from pyqref.nn.functional import relu as imported_relu
from pyqref.ops import quantized as ops


def _public(module: Any) -> list[Any]:
    return [
        pytest.param(getattr(module, name), id=f"{module.__name__}.{name}")
        for name in sorted(module.__all__)
        if isinstance(getattr(module, name, None), types.FunctionType) and name not in ANSWERED
    ]


def _recorded(function: Any) -> Any:
    """Call a function with a proxy for every argument that it requires."""
    required = [
        each
        for each in inspect.signature(plain(function)).parameters.values()
        if each.default is each.empty and each.kind is not each.VAR_KEYWORD
    ]
    with_one = not required
    graph = fx.Graph()
    tracer = fx.GraphAppendingTracer(graph)
    args, kwargs = [], {}
    for index, each in enumerate(required):
        proxy = fx.Proxy(graph.placeholder(f"a{index}"), tracer)
        if each.kind is each.KEYWORD_ONLY:
            kwargs[each.name] = proxy
        else:
            args.append(proxy)
    if with_one:
        first = next(iter(inspect.signature(function).parameters.values()))
        if first.kind is first.VAR_POSITIONAL:
            args.append(fx.Proxy(graph.placeholder("a"), tracer))
            return function(*args).node
        kwargs[first.name] = fx.Proxy(graph.placeholder("a"), tracer)
    result = function(*args, **kwargs)
    assert isinstance(result, fx.Proxy)
    return result.node


SPECIAL = {getattr(F, name) for name in METHODS} | set(OLD_NAMES)


def _takes_arguments(parameter: Any) -> bool:
    return bool(inspect.signature(parameter.values[0]).parameters)


@pytest.mark.parametrize(
    "function",
    [
        each
        for module in map(importlib.import_module, NAMESPACES)
        for each in _public(module)
        if _takes_arguments(each) and each.values[0] not in SPECIAL
    ],
)
def test_every_public_function_is_recorded(function: Any) -> None:
    """The node's target is the function object, whatever its arguments."""
    node = _recorded(function)
    assert "call_function" == node.op
    assert function is node.target


def test_every_function_of_the_package_is_covered() -> None:
    """Every function that pyqref offers under its own name is in one of the namespaces."""
    with intercepting():
        missing = [
            name
            for name in sorted(pyqref.__all__)
            if isinstance(function := getattr(pyqref, name), types.FunctionType)
            and function.__module__.startswith(("pyqref.tensor.", "pyqref.nn."))
            and name not in ANSWERED
            and plain(function) is function
            and inspect.signature(function).parameters
        ]
    assert [] == missing


def test_the_namespaces_exist() -> None:
    """Each that is named can be imported."""
    for name in NAMESPACES:
        assert importlib.import_module(name).__all__


def test_sigmoid_and_tanh_are_methods() -> None:
    """F.sigmoid(x) is recorded as a call of x.sigmoid(), as in torch."""
    graph = fx.symbolic_trace(lambda x: F.tanh(F.sigmoid(x))).graph
    found = [(node.op, node.target) for node in graph.nodes if node.op == "call_method"]
    assert [("call_method", "sigmoid"), ("call_method", "tanh")] == found


def test_old_names_of_interpolate() -> None:
    """Upsampling is recorded as the interpolation that it is."""
    node = next(iter(fx.symbolic_trace(lambda x: F.upsample_bilinear(x, 4)).graph.nodes)).next
    assert F.interpolate is node.target
    assert ("bilinear", True) == (node.kwargs["mode"], node.kwargs["align_corners"])


TABLE = {"relu": F.relu}


@pytest.mark.parametrize(
    "call",
    [
        lambda x: F.relu(x),
        lambda x: imported_relu(x),
        lambda x: TABLE["relu"](x),
        lambda x: functools.partial(F.relu, inplace=False)(x),
        lambda x: (lambda act=F.relu: act(x))(),
        lambda x: pyqref.nn.functional.relu(input=x),
        lambda x: next(map(F.relu, [x])),
    ],
)
def test_however_it_is_reached(call: Any) -> None:
    """It is recorded as attribute, imported name, table entry, partial, default, and under map."""
    targets = [node.target for node in fx.symbolic_trace(call).graph.nodes]
    assert F.relu in targets


@pytest.mark.parametrize(
    "call",
    [
        lambda x: pyqref.cat([x, x]),
        lambda x: pyqref.cat(tensors=(pyqref.ones(1), x)),
        lambda x: pyqref.stack([pyqref.ones(2), x], 0),
        lambda x: pyqref.zeros(x.size(0), 3),
        lambda x: pyqref.ones(2, 3)[x],
        lambda x: pyqref.ones(2, 3).view(x.size(0), -1),
        lambda x: pyqref.ones(2, 3) + x,
        lambda x: pyqref.ones(2, 3).matmul(x),
        lambda x: ops.add(x, x, 0.1, 3),
        lambda x: pyqref.quantize_per_tensor(x, 0.1, 3, pyqref.quint8).dequantize(),
    ],
)
def test_proxies_anywhere_among_the_arguments(call: Any) -> None:
    """Proxies are found in lists and tuples, by name, as sizes and indices, in methods."""
    graph = fx.symbolic_trace(call).graph
    graph.lint()
    assert any(node.op.startswith("call") for node in graph.nodes)


def test_is_tensor_answers() -> None:
    """A proxy is no tensor, and the question is not recorded."""
    assert ["x", "output"] == [
        n.name for n in fx.symbolic_trace(lambda x: x if not pyqref.is_tensor(x) else 1).graph.nodes
    ]


def test_functions_get_their_code_back() -> None:
    """When the last proxy is gone, also after an error, nothing is left of the interception."""
    gc.collect()  # what earlier tests left behind
    before = F.relu.__code__
    fx.symbolic_trace(lambda x: F.relu(x))
    with pytest.raises(fx.TraceError):
        fx.symbolic_trace(lambda x: F.relu(x) if x else x)
    gc.collect()
    assert before is F.relu.__code__
    assert "arrive" not in F.relu.__code__.co_names


def test_proxies_without_a_tracer() -> None:
    """Functions called with a proxy made by hand append to its graph."""
    graph = fx.Graph()
    x = fx.Proxy(graph.placeholder("x"))
    before = F.gelu.__code__
    F.gelu(x)
    assert ["x", "gelu"] == [node.name for node in graph.nodes]
    assert before is F.gelu.__code__
    del x
    gc.collect()
    assert "arrive" not in F.gelu.__code__.co_names


def test_values_are_computed_while_tracing() -> None:
    """Calls without a proxy are carried out, with defaults and keyword-only arguments."""

    def forward(x: Any) -> Any:
        constant = pyqref.add(pyqref.ones(2), pyqref.ones(2), alpha=3)
        assert [4.0, 4.0] == constant.tolist()
        return x * F.hardtanh(constant, max_val=2.0).sum().item()

    module = fx.symbolic_trace(forward)
    assert [4.0] == module(pyqref.ones(1)).tolist()


def test_other_threads_compute() -> None:
    """A model that runs in another thread during a trace is not recorded."""
    results = []
    layer = pyqref.nn.Linear(2, 1)

    def compute() -> None:
        results.append(F.relu(layer(pyqref.ones(2))).shape)

    def forward(x: Any) -> Any:
        thread = threading.Thread(target=compute)
        thread.start()
        thread.join()
        return x + 1

    assert 3 == len(list(fx.symbolic_trace(forward).graph.nodes))
    assert [(1,)] == [tuple(shape) for shape in results]


def test_registered_operations() -> None:
    """An operation of a user's own, from pyqref.library, is one node."""
    space = pyqref.library.register("fxtest::halve", lambda q: q / 2)
    module = fx.symbolic_trace(lambda x: pyqref.ops.fxtest.halve(x))
    node = module.graph.find_nodes(op="call_function")[0]
    assert space is node.target
    assert [1.0] == module(pyqref.tensor([2.0])).tolist()
    assert "pyqref.ops.fxtest.halve(x)" in module.code


def test_signatures_can_be_read_meanwhile() -> None:
    """``inspect`` and ``help`` show the arguments that the function has, and its annotations."""
    before = inspect.signature(F.relu)
    with intercepting():
        assert plain(F.relu) is not F.relu
        assert before == inspect.signature(plain(F.relu)) == inspect.signature(F.relu)
    assert before == inspect.signature(F.relu)
    assert not hasattr(F.relu, "__wrapped__")


def _complaint(function: Any, *args: Any) -> str | None:
    try:
        function(*args)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


@pytest.mark.parametrize("module", [pyqref, F], ids=lambda each: each.__name__)
def test_errors_are_the_same_meanwhile(module: Any) -> None:
    """An error names the function that the user called, not one that this calls itself."""
    x = pyqref.quantize_per_tensor(pyqref.ones(2, 3), 0.1, 3, pyqref.quint8)
    given = [("wrong",), (x,), (x, x), (pyqref.ones(2, 3), "wrong"), (pyqref.ones(2, 3), x)]
    functions = {
        name: getattr(module, name)
        for name in module.__all__
        if isinstance(getattr(module, name), types.FunctionType)
        and not name.startswith(("set_", "manual_seed", "save"))
    }

    def complaints() -> dict[str, list[str | None]]:
        return {
            name: [_complaint(function, *args) for args in given]
            for name, function in functions.items()
        }

    before = complaints()
    with intercepting():
        meanwhile = complaints()
    assert [] == [
        (name, row, meanwhile[name]) for name, row in before.items() if row != meanwhile[name]
    ]
    assert sum(each is not None for row in before.values() for each in row) > len(functions)


def test_what_a_function_wraps_is_kept() -> None:
    """A user's function that wraps another one does so again when tracing is over."""

    @functools.wraps(F.relu)
    def wrapper(*args: Any) -> Any:
        return F.relu(*args)

    intercept(wrapper)
    with intercepting():
        assert ["input", "inplace"] == list(inspect.signature(wrapper).parameters)
    assert wrapper.__wrapped__ is F.relu


def test_what_is_imported_at_its_first_use() -> None:
    """Is recorded, too: a name of pyqref that is fetched while a model is traced."""
    program = """
import pyqref
from pyqref import fx
graph = fx.symbolic_trace(lambda x: pyqref.fused_moving_avg_obs_fake_quant(x, *[x] * 6, 0.1, 0, 9))
print([node.name for node in graph.graph.nodes])
"""
    made = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "['x', 'fused_moving_avg_obs_fake_quant', 'output']\n" == made.stdout, made.stderr
