"""A trace records the operations of a function or model."""

from __future__ import annotations

import functools
import math
import operator
from typing import Any, NamedTuple

import numpy as np
import pytest

import pyqref
import pyqref.nn.functional as F
from pyqref import fx, nn


def _ops(graph: fx.Graph) -> list[Any]:
    return [(node.op, node.target) for node in graph.nodes if node.op.startswith("call")]


class Pair(NamedTuple):
    """Two results."""

    first: Any
    second: Any


class Model(nn.Module):
    """A submodule, a parameter, a buffer, and a tensor that is neither."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.gain = nn.Parameter(pyqref.ones(3))
        self.register_buffer("offset", pyqref.zeros(3))
        self.plain = pyqref.ones(3) * 2

    def forward(self, x, mode="fast"):
        y = self.layer(x) * self.gain
        if mode == "fast":
            y = y + self.gain
        return F.relu(y) + self.offset * 1 + self.plain


def test_attributes() -> None:
    """Parameters are fetched once; buffers and tensors where they meet a proxy."""
    model = Model()
    module = fx.symbolic_trace(model, {"mode": "fast"})
    fetched = [n.target for n in module.graph.nodes if n.op == "get_attr"]
    assert ["gain", "_tensor_constant0", "plain"] == fetched
    x = pyqref.ones(2, 3)
    assert pyqref.equal(model(x), module(x))
    assert module.gain is model.gain
    assert module.layer is model.layer


def test_concrete_arguments() -> None:
    """The trace is for that value, and the module says so when it is called with another."""
    module = fx.symbolic_trace(Model(), {"mode": "slow"})
    with pytest.raises(AssertionError, match="mode has been specialized to have value 'slow'"):
        module(pyqref.ones(3), "fast")
    assert 1 == len(module.graph.find_nodes(op="call_function", target=operator.mul))
    module(pyqref.ones(3), "slow")
    with pytest.raises(ValueError, match=r"names \['typo'\]"):
        fx.symbolic_trace(Model(), {"typo": 1})


def test_concrete_structures() -> None:
    """PH marks what stays an input within a structure."""

    def f(d, flag):
        return d["a"] + d["b"][0] if flag else d["a"] * d["n"]

    structure = {"a": fx.PH, "b": [fx.PH], "n": 2}
    one, two = pyqref.tensor(1), pyqref.tensor(2)
    module = fx.symbolic_trace(f, {"d": structure, "flag": True})
    assert 3 == module({"a": one, "b": [two], "n": 2}, True).item()
    with pytest.raises(AssertionError, match=r"d\['n'\] has been specialized"):
        module({"a": one, "b": [two], "n": 3}, True)


def test_concrete_arguments_survive_a_second_trace() -> None:
    """The check is a node like others, which nothing removes; equal numbers are the same value."""
    module = fx.symbolic_trace(Model(), {"mode": "slow"})
    again = fx.symbolic_trace(fx.symbolic_trace(module))
    assert str(module.graph) == str(again.graph)
    again.graph.eliminate_dead_code()
    again.recompile()
    with pytest.raises(AssertionError, match="mode has been specialized to have value 'slow'"):
        again(pyqref.ones(3), "fast")
    one = fx.symbolic_trace(lambda x, flag=True: x if flag else -x, {"flag": True})
    assert 2 == one(pyqref.tensor(2), 1).item()


def test_argument_kinds() -> None:
    """Defaults, keyword-only, *args and **kwargs; the traced function is called the same way."""

    def f(x, y=2, *rest, scale=3.0, **options):
        return x * y + rest[1] * scale - options["last"]

    module = fx.symbolic_trace(f)
    assert "def forward(self, x, y = 2, *rest, scale = 3.0, **options):" in module.code
    args = [pyqref.tensor(float(each)) for each in range(1, 5)]
    assert f(*args, last=1, scale=2.0).item() == module(*args, last=1, scale=2.0).item()

    def g(x, *, scale):
        return x * scale

    assert "def forward(self, x, *, scale):" in fx.symbolic_trace(g).code


def test_structures_of_results() -> None:
    """Tuples, named tuples, lists, dicts, ranges; constants among them."""

    def f(x):
        return Pair([x, {"k": (x + 1,)}], (None, 2.5, slice(1, x.size(0)), range(3)))

    module = fx.symbolic_trace(f)
    result = module(pyqref.ones(2))
    assert isinstance(result, Pair)
    assert (None, 2.5, slice(1, 2), range(3)) == result.second
    assert [2.0, 2.0] == result.first[1]["k"][0].tolist()


def test_functions_of_python() -> None:
    """Functions of math and operator functions, abs, and NumPy numbers and arrays with proxies."""

    def f(x):
        y = math.sqrt(x.sum()) + math.floor(2.5)
        return np.float32(2) * x + np.ones(2, np.float32) + operator.neg(abs(x)) * y

    module = fx.symbolic_trace(f)
    assert ("call_function", math.sqrt) in _ops(module.graph)
    x = pyqref.tensor([3.0, 13.0])
    assert f(x).tolist() == module(x).tolist()
    assert math.sqrt(4) == 2.0
    assert math.sqrt.__module__ == "math"


def test_unpacking() -> None:
    """A value unpacks into names by index; a loop is refused."""

    def f(x):
        (a, b), c = x.max(0), x
        return a + b + c

    assert 2 == len(
        fx.symbolic_trace(f).graph.find_nodes(op="call_function", target=operator.getitem)
    )


def test_attributes_of_proxies() -> None:
    """Fetched when used, called as methods."""

    def f(x):
        method = x.add
        return method(1), x.T, x.shape[0], hasattr(x, "__len__x__")

    graph = fx.symbolic_trace(f).graph
    names = ["x", "add", "getattr_1", "getitem", "getattr_2", "output"]
    assert names == [node.name for node in graph.nodes]


def test_module_paths() -> None:
    """Which modules a node was made in, and the user's line."""

    class Outer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Sequential(Model())

        def forward(self, x):
            return self.inner(x)

    tracer = fx.Tracer()
    graph = tracer.trace(Outer(), None)
    relu = graph.find_nodes(op="call_function", target=F.relu)[0]
    assert ("inner.0", Model) == tracer.node_name_to_scope[relu.name]
    assert ["inner", "inner.0"] == list(relu.meta["nn_module_stack"])
    assert "return F.relu(y) + self.offset * 1 + self.plain" in relu.stack_trace
    assert "test_trace.py" in relu.stack_trace


def test_leaves() -> None:
    """Everything of pyqref.nn but containers; fused modules, too."""
    fused = nn.intrinsic.ConvReLU2d(nn.Conv2d(1, 1, 1), nn.ReLU())
    model = nn.Sequential(nn.Sequential(nn.Linear(1, 1)), fused, nn.quantized.DeQuantize())
    targets = [t for op, t in _ops(fx.symbolic_trace(model).graph) if op == "call_module"]
    assert ["0.0", "1", "2"] == targets


def test_custom_tracer() -> None:
    """A subclass decides about leaves, branches, loops, keys and attributes."""

    class Own(fx.Tracer):
        proxy_buffer_attributes = True

        def is_leaf_module(self, m, module_qualified_name):
            return False

        def to_bool(self, obj):
            return True

        def iter(self, obj):
            return iter([obj[0], obj[1]])

        def keys(self, obj):
            return ["k"]

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(2, 2)
            self.register_buffer("b", pyqref.ones(2))

        def forward(self, x):
            total = sum(each for each in x)
            return self.layer(total) + self.b if x else dict(**x)

    graph = Own().trace(Net())
    assert ["layer.weight", "layer.bias", "b"] == [
        n.target for n in graph.nodes if n.op == "get_attr"
    ]
    assert ("call_function", F.linear) in _ops(graph)
    assert {"k"} == set(dict(**fx.Proxy(fx.Graph().placeholder("x"), _With("keys", ["k"]))))


class _With:
    """A tracer of which only one answer is asked."""

    def __init__(self, name: str, value: Any) -> None:
        setattr(self, name, lambda obj: value)

    def create_proxy(self, *args: Any) -> Any:
        return 1


def test_shapes_of_parameters() -> None:
    """Known on demand, so that code may branch on them."""

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = nn.Parameter(pyqref.ones(2, 3))

        def forward(self, x):
            w = self.w
            if w.shape[0] == 2 and w.dim() == w.ndim == 2 and w.numel() == w.nelement() == 6:
                return x + w.size(1) + w.sum()
            return x

    with pytest.raises(fx.TraceError):
        fx.Tracer().trace(Net())
    graph = fx.Tracer(param_shapes_constant=True).trace(Net())
    assert ("call_function", operator.add) in _ops(graph)


def test_decorated_forward() -> None:
    """The wrapper runs; the arguments are those of the function within."""

    def twice(function):
        @functools.wraps(function)
        def wrapper(*args):
            return function(*args) * 2

        return wrapper

    @twice
    def f(x, y):
        return x + y

    module = fx.symbolic_trace(f)
    assert 6 == module(pyqref.tensor(1), pyqref.tensor(2)).item()


def test_operators_with_numbers_of_numpy() -> None:
    """They are Python's operators, the proxy on the right."""

    def operators(x):
        y = np.float32(2) * x - np.float64(1)
        return (np.float32(3) < y, np.float32(2) ** y, np.int64(1) == x)

    graph = fx.symbolic_trace(operators).graph
    assert ["x", "mul", "sub", "gt", "pow_1", "eq", "output"] == [n.name for n in graph.nodes]


def test_the_line_that_asks_for_the_trace_is_no_line_of_the_model() -> None:
    """Layers of a Sequential are called by no line of the user's."""
    model = nn.Sequential(nn.Linear(1, 1), nn.ReLU())
    graph = fx.symbolic_trace(model).graph
    assert {None} == {node.stack_trace for node in graph.nodes}


@fx.wrap
def signed_root(x):
    """A function with a branch."""
    return x.sqrt() if x.sum() > 0 else (-x).sqrt()


def test_wrapped_function() -> None:
    """Recorded whole, run as it is, and kept when traced again."""
    module = fx.symbolic_trace(lambda x: signed_root(x) + 1)
    again = fx.symbolic_trace(module)
    assert [3.0] == again(pyqref.tensor([-4.0])).tolist()
    assert ("call_function", signed_root) == _ops(again.graph)[0]


fx.wrap("len")
fx.wrap(sum)


def test_wrapped_names() -> None:
    """A builtin by name; elsewhere it keeps working, and the code can be traced again."""
    module = fx.symbolic_trace(lambda x: x + len(x) + len([1]) + sum([1, 2]))
    assert ("call_function", len) in _ops(module.graph)
    assert [6.0] == fx.symbolic_trace(module)(pyqref.tensor([1.0])).tolist()
    assert ("call_function", len) in _ops(fx.symbolic_trace(module).graph)
    assert "len" not in globals()


def test_wrap_checks() -> None:
    """A name only at the top of a module; nothing but functions and names."""
    with pytest.raises(NotImplementedError, match="top level"):
        fx.wrap("len")
    with pytest.raises(RuntimeError, match="wrap takes a function or the name"):
        fx.wrap(3)


def test_autowrapped_functions() -> None:
    """Functions given to the tracer are recorded by it only."""
    tracer = fx.Tracer(autowrap_functions=(helper,))
    assert ("call_function", helper) in _ops(tracer.trace(lambda x: helper(x)))
    assert ("call_method", "neg") in _ops(fx.Tracer().trace(lambda x: helper(x)))


def helper(x):
    """Some function."""
    return x.neg()


def test_forward_of_the_instance() -> None:
    """A forward set on the model itself is the one that is traced."""
    model = nn.Sequential(nn.ReLU())
    model.forward = lambda x: x * 2
    assert ("call_function", operator.mul) in _ops(fx.symbolic_trace(model).graph)
