"""Graphs: making, changing and checking them."""

from __future__ import annotations

import copy
import operator
from typing import Any

import pytest

import pyqref
import pyqref.nn.functional as F
from pyqref import fx, nn
from pyqref.fx.immutable_collections import immutable_dict, immutable_list


def _chain() -> tuple[fx.Graph, fx.Node, fx.Node, fx.Node]:
    graph = fx.Graph()
    x = graph.placeholder("x")
    relu = graph.call_function(pyqref.relu, (x,))
    neg = graph.call_method("neg", (relu,))
    graph.output(neg)
    return graph, x, relu, neg


def test_text() -> None:
    """One line a node, in torch's form."""
    graph, *_ = _chain()
    expected = """graph():
    %x : [num_users=1] = placeholder[target=x]
    %relu : [num_users=1] = call_function[target=pyqref.relu](args = (%x,), kwargs = {})
    %neg : [num_users=1] = call_method[target=neg](args = (%relu,), kwargs = {})
    return neg"""
    assert expected == str(graph)


def test_users_follow_the_arguments() -> None:
    """Every way of changing arguments keeps the users right."""
    graph, x, relu, neg = _chain()
    neg.args = (x, [relu, {"k": (relu, slice(x, None))}])
    assert [relu, neg] == list(x.users)
    assert [x, relu] == neg.all_input_nodes
    neg.update_arg(1, 3)
    assert [] == list(relu.users)
    neg.insert_arg(0, relu)
    neg.update_kwarg("other", x)
    assert (relu, x, 3) == neg.args
    assert {"other": x} == neg.kwargs
    neg.replace_input_with(x, relu)
    assert (relu, relu, 3) == neg.args
    assert [relu] == list(x.users)
    graph.lint()


def test_replace_all_uses_with() -> None:
    """All users, or those that are chosen, take another node; it may take the meta."""
    graph, x, relu, neg = _chain()
    with graph.inserting_after(relu):
        tanh = graph.call_function(pyqref.tanh, (x,))
    other = graph.output_node()
    other.args = ((neg, relu),)
    relu.meta["mark"] = 1
    changed = relu.replace_all_uses_with(
        tanh, delete_user_cb=lambda user: user is neg, propagate_meta=True
    )
    assert [neg] == changed
    assert (tanh,) == neg.args
    assert ((neg, relu),) == other.args
    assert {"mark": 1} == tanh.meta
    with pytest.raises(ValueError, match="has meta already"):
        relu.replace_all_uses_with(tanh, propagate_meta=True)


def test_places_of_insertion() -> None:
    """Nodes go before, after, to the start or the end; the place is restored after the ``with``."""
    graph, x, relu, neg = _chain()
    with graph.inserting_before(neg):
        a = graph.call_method("abs", (relu,))
    with graph.inserting_after(x):
        b = graph.call_method("sin", (x,))
    with graph.inserting_before():
        c = graph.placeholder("y")
    assert [c, x, b, relu, a, neg] == list(graph.nodes)[:-1]
    assert "output" == next(iter(reversed(graph.nodes))).op
    assert 7 == len(graph.nodes)
    graph.output_node().prepend(b)
    assert [c, x, relu, a, neg, b] == list(graph.nodes)[:-1]
    x.append(b)
    assert b is x.next
    assert x is b.prev
    assert x < b < neg
    other, *_ = _chain()
    with pytest.raises(ValueError, match="another graph"):
        other.inserting_after(x)
    with pytest.raises(ValueError, match="another graph"):
        x.append(next(iter(other.nodes)))


def test_erase() -> None:
    """A node without users; the list may be walked meanwhile."""
    graph, x, relu, neg = _chain()
    with pytest.raises(RuntimeError, match=r"still had 1 users.*replace_all_uses_with"):
        graph.erase_node(relu)
    graph.output_node().args = (x,)
    for node in graph.nodes:
        if node is neg:
            graph.erase_node(node)
    graph.erase_node(relu)
    assert ["x", "output"] == [node.name for node in graph.nodes]
    with pytest.warns(UserWarning, match="erased already"):
        graph.erase_node(relu)


def test_dead_code() -> None:
    """Nodes without users disappear, unless they do something beside."""

    @fx.has_side_effect
    def log(value: Any) -> None:
        pass

    graph = fx.Graph()
    x = graph.placeholder("x")
    a = graph.call_function(pyqref.relu, (x,))
    graph.call_function(pyqref.tanh, (a,))
    graph.call_method("relu_", (x,))
    graph.call_function(F.relu, (x,), {"inplace": True})
    graph.call_function(operator.iadd, (x, 1))
    graph.call_function(operator.inv, (x,))
    graph.call_function(log, (x,))
    graph.output(x)
    assert graph.eliminate_dead_code()
    kept = ["x", "relu_", "relu_1", "iadd", "log", "output"]
    assert kept == [node.name for node in graph.nodes]
    assert not graph.eliminate_dead_code()
    assert graph.eliminate_dead_code(
        is_impure_node=lambda node: node.op in ("placeholder", "output")
    )
    assert ["x", "output"] == [node.name for node in graph.nodes]


def test_dead_calls_of_modules() -> None:
    """A module that works in place stays."""
    root = nn.ModuleDict({"a": nn.ReLU(inplace=True), "b": nn.ReLU()})
    graph = fx.Graph()
    x = graph.placeholder("x")
    graph.call_module("a", (x,))
    graph.call_module("b", (x,))
    graph.output(x)
    module = fx.GraphModule(root, graph)
    module.graph.eliminate_dead_code()
    assert ["a"] == [node.name for node in module.graph.find_nodes(op="call_module")]


def test_lint() -> None:
    """Order, belonging, the end, and what the module has."""
    graph, x, relu, neg = _chain()
    x.prepend(relu)
    with pytest.raises(RuntimeError, match="used before it has been defined"):
        graph.lint()
    graph, x, relu, neg = _chain()
    foreign, *_ = _chain()
    neg.args = (next(iter(foreign.nodes)),)
    with pytest.raises(RuntimeError, match="does not belong to this Graph"):
        graph.lint()
    graph, x, relu, neg = _chain()
    neg.name = "relu"
    with pytest.raises(RuntimeError, match="redefined name relu"):
        graph.lint()
    graph, x, relu, neg = _chain()
    graph.call_function(pyqref.abs, (x,))
    with pytest.raises(RuntimeError, match="after the output"):
        graph.lint()
    module = fx.symbolic_trace(nn.Sequential(nn.ReLU()))
    module.delete_submodule("0")
    with pytest.raises(RuntimeError, match=r"names '0', but Sequential has no such"):
        module.graph.lint()
    with pytest.warns(UserWarning, match="no submodule 'zz'"):
        module.graph.call_module("zz")
    with pytest.warns(UserWarning, match="no attribute 'a.b'"):
        module.graph.get_attr("a.b")


def test_lint_looks_at_opcodes_and_at_what_is_called() -> None:
    """An opcode that is none of the six; a call of what is no module."""
    module = fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2)))
    node = module.graph.find_nodes(op="call_module")[0]
    node.target = "0.weight"
    with pytest.raises(
        RuntimeError, match=r"names '0\.weight', which is not a module but a Parameter"
    ):
        module.graph.lint()
    node.target, node.op = "0", "call"
    with pytest.raises(RuntimeError, match="unknown opcode call"):
        module.graph.lint()


def test_nodes_check_their_targets() -> None:
    """An opcode that is none, and targets of the wrong kind."""
    graph = fx.Graph()
    with pytest.raises(ValueError, match=r"op must be one of placeholder, .*, got 'call'"):
        graph.create_node("call", "x")
    with pytest.raises(ValueError, match="must be callable, got 'relu'"):
        graph.create_node("call_function", "relu")
    with pytest.raises(ValueError, match="must be a str"):
        graph.create_node("call_method", pyqref.relu)
    with pytest.raises(RuntimeError, match="no output"):
        graph.output_node()


def test_arguments_are_immutable() -> None:
    """A change in place would pass by the users."""
    _graph, x, relu, neg = _chain()
    neg.args = ([relu], {"k": relu})
    with pytest.raises(TypeError, match="does not support mutation"):
        neg.args[0].append(x)
    with pytest.raises(TypeError, match="does not support mutation"):
        neg.args[1]["k"] = x
    assert [1] == copy.deepcopy(immutable_list([1]))
    assert hash(immutable_dict(a=1)) == hash(immutable_dict(a=1))
    assert hash(immutable_list([1])) == hash(immutable_list([1]))


def test_copies() -> None:
    """A graph is copied into another graph, and deeply."""
    graph, _x, relu, neg = _chain()
    relu.meta["mark"] = 1
    new = fx.Graph()
    values: dict[fx.Node, fx.Node] = {}
    result = new.graph_copy(graph, values)
    assert values[neg] is result
    new.output(result)
    assert str(graph) == str(new)
    deep = copy.deepcopy(graph)
    assert str(graph) == str(deep)
    assert [{}, {"mark": 1}, {}, {}] == [node.meta for node in deep.nodes]
    assert all(node.graph is deep for node in deep.nodes)
    value, output = fx.Graph().graph_copy(graph, {}, return_output_node=True)
    assert ("neg", graph.output_node()) == (value.name, output)
    with pytest.raises(TypeError, match="copied with its graph"):
        copy.deepcopy(relu)


def test_find_nodes() -> None:
    """Nodes are found by opcode, and by target."""
    graph, x, relu, _neg = _chain()
    assert [x] == graph.find_nodes(op="placeholder")
    assert [relu] == graph.find_nodes(op="call_function", target=pyqref.relu)
    assert [] == graph.find_nodes(op="call_method", target="abs")


def test_table(capsys: Any) -> None:
    """Opcode, name, target, arguments in columns."""
    graph, *_ = _chain()
    graph.print_tabular()
    lines = capsys.readouterr().out.splitlines()
    assert ["opcode", "name", "target", "args", "kwargs"] == lines[0].split()
    assert lines[4].startswith("call_method    neg     neg")
    assert 6 == len(lines)


def test_python_code() -> None:
    """The text and its globals; operators, indices, constants and values that are let go."""

    def f(x: Any) -> Any:
        y = x[1:, ::2, None, ..., 0] ** -1.5 + float("inf")
        return -y, {"d": pyqref.float16, "r": (y.to(pyqref.qint8),)}, (-2) ** x, y[(0,)]

    code = fx.symbolic_trace(f).graph.python_code("module")
    expected = """def forward(module, x):
    getitem = x[1:, ::2, None, ..., 0]
    pow_1 = getitem ** (-1.5);  getitem = None
    add = pow_1 + float('inf');  pow_1 = None
    neg = -add
    to = add.to(pyqref.qint8)
    pow_2 = (-2) ** x;  x = None
    getitem_1 = add[0,];  add = None
    return (neg, {'d': pyqref.float16, 'r': (to,)}, pow_2, getitem_1)"""
    assert expected == code.src.strip()
    assert {"pyqref": pyqref} == code.globals


def test_annotations() -> None:
    """Annotations that say something are kept in graph and code."""

    def f(x: pyqref.Tensor, n: int = 3) -> pyqref.Tensor:
        return x * n

    f.__annotations__ = {"x": pyqref.Tensor, "n": int, "return": pyqref.Tensor}
    module = fx.symbolic_trace(f)
    assert "def forward(self, x : pyqref.Tensor, n : int = 3) -> pyqref.Tensor:" in module.code
    assert "%n : int [num_users=1] = placeholder[target=n](default=3)" in str(module.graph)
