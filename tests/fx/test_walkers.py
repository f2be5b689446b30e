"""Walkers of graphs: Interpreter, Transformer, replace_pattern."""

from __future__ import annotations

import operator
from typing import Any

import pytest

import pyqref
import pyqref.nn.functional as F
from pyqref import fx, nn
from pyqref.fx import subgraph_rewriter
from pyqref.fx.subgraph_rewriter import replace_pattern_with_filters


class Net(nn.Module):
    """Every opcode."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.gain = nn.Parameter(pyqref.ones(2))

    def forward(self, x, y=3):
        return {"a": F.relu(self.layer(x)) * self.gain, "b": [x.neg(), y]}


def test_interpreter_gives_what_the_module_gives() -> None:
    """Defaults included; too few inputs are named."""
    module = fx.symbolic_trace(Net())
    x = pyqref.ones(1, 2)
    for keep in (True, False):
        ours = fx.Interpreter(module, garbage_collect_values=keep).run(x)
        assert pyqref.equal(module(x)["a"], ours["a"])
        assert 3 == ours["b"][1]
    with pytest.raises(RuntimeError, match="Expected positional argument for parameter x"):
        fx.Interpreter(module).run()


def test_interpreter_forgets() -> None:
    """Values are let go after their last use, unless they are to be kept."""
    module = fx.symbolic_trace(lambda x: ((x + 1) * 2) - 3)
    seen: list[int] = []

    class Count(fx.Interpreter):
        def run_node(self, n):
            seen.append(len(self.env))
            return super().run_node(n)

    Count(module).run(pyqref.tensor(1))
    assert [0, 1, 1, 1, 1] == seen
    seen.clear()
    Count(module, garbage_collect_values=False).run(pyqref.tensor(1))
    assert [0, 1, 2, 3, 4] == seen


def test_interpreter_methods_may_be_overridden() -> None:
    """One for each opcode."""

    class Own(fx.Interpreter):
        def call_function(self, target, args, kwargs):
            target = operator.sub if target is operator.add else target
            return super().call_function(target, args, kwargs)

        def call_method(self, target, args, kwargs):
            return super().call_method("abs" if target == "neg" else target, args, kwargs)

    module = fx.symbolic_trace(lambda x: x.neg() + 1)
    assert 4 == Own(module).run(pyqref.tensor(-5)).item()


def test_interpreter_errors() -> None:
    """The node and the user's line stand in the message."""
    module = fx.symbolic_trace(lambda x, y: pyqref.matmul(x, y))
    with pytest.raises(
        RuntimeError, match=r"While executing %matmul[\s\S]*Original line"
    ) as caught:
        fx.Interpreter(module).run(pyqref.ones(2, 3), pyqref.ones(2, 3))
    assert "pyqref.matmul(x, y)" in str(caught.value)
    graph = fx.Graph()
    graph.output(graph.get_attr("a.b"))
    with pytest.raises(RuntimeError, match="nonexistent target a"):
        fx.Interpreter(nn.Module(), graph=graph).run()


def test_interpreter_with_known_values() -> None:
    """A part of the graph can be given."""
    module = fx.symbolic_trace(lambda x: (x + 1) * 2)
    add = module.graph.find_nodes(op="call_function", target=operator.add)[0]
    placeholder = next(iter(module.graph.nodes))
    known = {placeholder: None, add: pyqref.tensor(10)}
    assert 20 == fx.Interpreter(module).run(initial_env=known).item()


def test_transformer_copies() -> None:
    """Without changes the new graph is the old one, annotations and lines included."""
    module = fx.symbolic_trace(Net())
    new = fx.Transformer(module).transform()
    assert str(module.graph) == str(new.graph)
    assert [n.stack_trace for n in module.graph.nodes] == [n.stack_trace for n in new.graph.nodes]
    assert new.layer is module.layer
    x = pyqref.ones(1, 2)
    assert pyqref.equal(module(x)["a"], new(x)["a"])


def test_transformer_changes() -> None:
    """Methods may call functions of the library, operators and methods on their arguments."""

    class Own(fx.Transformer):
        def call_function(self, target, args, kwargs):
            if target is F.relu:
                return F.hardtanh(args[0], 0.0, 6.0).neg() + 1
            return super().call_function(target, args, kwargs)

        def call_method(self, target, args, kwargs):
            return args[0] if target == "neg" else super().call_method(target, args, kwargs)

    new = Own(fx.symbolic_trace(Net())).transform()
    names = ["x", "y", "layer", "hardtanh", "neg", "add", "gain", "mul", "output"]
    assert names == [node.name for node in new.graph.nodes]


# replace_pattern


def _names(module: fx.GraphModule) -> list[str]:
    return [node.name for node in module.graph.nodes]


def test_replace() -> None:
    """Every occurrence, one after another; a replaced result may be the next one's input."""
    module = fx.symbolic_trace(lambda a, b: pyqref.relu(pyqref.relu(a + 1) + 1) + b)
    found = fx.replace_pattern(module, lambda x: pyqref.relu(x + 1), lambda x: F.relu(x) * 2)
    assert 2 == len(found)
    assert ["a", "b", "relu_2", "mul", "relu_3", "mul_1", "add_2", "output"] == _names(module)
    assert 8 == module(pyqref.tensor(2), pyqref.tensor(0)).item()
    assert {"relu", "add", "x"} == {node.name for node in found[0].nodes_map}
    assert found[0].anchor in found[0].nodes_map


def test_a_match_names_nodes_of_the_graph_as_it_is() -> None:
    """An input of a match that was another match's result is what replaced that."""
    module = fx.symbolic_trace(lambda x, y: pyqref.relu(pyqref.relu(x + y) + y))
    first, second = fx.replace_pattern(
        module, lambda a, b: pyqref.relu(a + b), lambda a, b: pyqref.maximum(a, b)
    )
    inputs = [[str(v) for k, v in m.nodes_map.items() if k.name == "a"] for m in (first, second)]
    assert [["x"], ["maximum"]] == inputs


def test_a_match_is_closed() -> None:
    """A value in its midst that is used elsewhere forbids it."""

    def f(x):
        y = x + 1
        return pyqref.relu(y) + y

    module = fx.symbolic_trace(f)
    assert [] == fx.replace_pattern(module, lambda x: pyqref.relu(x + 1), lambda x: x)


def test_constants_must_agree() -> None:
    """Unless they are ignored; both ways of writing an argument agree."""
    module = fx.symbolic_trace(lambda x: F.max_pool2d(x, kernel_size=2) + F.softplus(x, 2.0))
    assert [] == fx.replace_pattern(module, lambda x: F.max_pool2d(x, 3), lambda x: x)
    assert 1 == len(fx.replace_pattern(module, lambda x: F.softplus(x, beta=2.0), lambda x: x))
    loose = replace_pattern_with_filters(
        module, lambda x: F.max_pool2d(x, 3), lambda x: x, ignore_literals=True
    )
    assert 1 == len(loose)
    assert ["x", "add_1", "output"] == _names(module) or ["x", "add", "output"] == _names(module)


def test_several_results() -> None:
    """Results may lie apart, with their users in between."""

    def f(x):
        a = pyqref.sin(x)
        b = pyqref.cos(a)
        return a + b * 2

    def pattern(x):
        y = pyqref.sin(x)
        return y, pyqref.cos(y)

    module = fx.symbolic_trace(f)
    found = fx.replace_pattern(module, pattern, lambda x: (x, x + 1))
    assert 1 == len(found)
    module.graph.lint()
    assert 2 + 3 * 2 == module(pyqref.tensor(2)).item()
    with pytest.raises(ValueError, match="has 2 results, the replacement 1"):
        fx.replace_pattern(fx.symbolic_trace(f), pattern, lambda x: x)
    with pytest.raises(ValueError, match="has 1 inputs, the replacement 2"):
        fx.replace_pattern(fx.symbolic_trace(f), pattern, lambda x, y: (x, y))


def test_inputs_that_are_one() -> None:
    """An input that the pattern uses twice stands for one value; constants may stand for it."""
    module = fx.symbolic_trace(lambda a, b: (a + a) * (a + b) + (b + 3))
    found = fx.replace_pattern(module, lambda x: x + x, lambda x: x * 2)
    assert 1 == len(found)
    found = fx.replace_pattern(module, lambda x, y: pyqref.neg(x + y), lambda x, y: x)
    assert [] == found
    found = fx.replace_pattern(module, lambda x, y: x + y, lambda x, y: x - y)
    assert 3 == len(found)


def test_modules_come_along() -> None:
    """A replacement may bring modules; those that nobody calls any more go."""

    class Pattern(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(2, 2)

        def forward(self, x):
            return F.relu(self.layer(x))

    class Replacement(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.block = nn.Sequential(nn.Linear(2, 3), nn.Tanh())
            self.offset = nn.Parameter(pyqref.ones(3))

        def forward(self, x):
            return self.block(x) + self.offset

    module = fx.symbolic_trace(nn.Sequential(Pattern()))
    assert [] == fx.replace_pattern(module, Pattern(), Replacement())
    module = fx.symbolic_trace(Pattern())
    assert 1 == len(fx.replace_pattern(module, Pattern(), Replacement()))
    assert ["offset", "block.0.weight", "block.0.bias"] == list(module.state_dict())
    assert (1, 3) == tuple(module(pyqref.ones(1, 2)).shape)


def test_filters_and_callbacks() -> None:
    """Matches may be chosen, and each may get a replacement of its own."""
    module = fx.symbolic_trace(lambda a: pyqref.relu(a + 1) + pyqref.relu(a * 2))

    def after_add(match: Any, graph: Any, pattern: Any) -> bool:
        return match.placeholder_nodes[0].target is operator.add

    replaced = replace_pattern_with_filters(
        module, lambda x: pyqref.relu(x), lambda x: pyqref.tanh(x), [after_add]
    )
    assert [["tanh"]] == [[node.name for node in each.replacements] for each in replaced]

    def make(match: Any, graph: Any, pattern: Any) -> Any:
        assert ["relu_1"] == [node.name for node in match.returning_nodes]
        return fx.symbolic_trace(lambda x: pyqref.sigmoid(x)).graph

    replace_pattern_with_filters(module, lambda x: pyqref.relu(x), replacement_callback=make)
    assert ["a", "add", "mul", "tanh", "sigmoid", "add_1", "output"] == _names(module)
    with pytest.raises(ValueError, match="exactly one of replacement"):
        replace_pattern_with_filters(module, lambda x: pyqref.relu(x))
    with pytest.raises(ValueError, match="at least one computed value"):
        fx.replace_pattern(module, lambda x: 3, lambda x: x)
    assert subgraph_rewriter.replace_pattern is fx.replace_pattern


def test_slices_in_patterns() -> None:
    """Compared part by part."""
    module = fx.symbolic_trace(lambda x, n: x[:, 1:n])
    assert 1 == len(fx.replace_pattern(module, lambda x, n: x[:, 1:n], lambda x, n: x))
