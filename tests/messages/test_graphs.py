"""Following the messages of the tracer and of graphs works."""

from __future__ import annotations

import copy
import pickle
import shutil
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bad_input.engine import floats
from messages.following import says

import pyqref
from pyqref import fx, nn
from pyqref import quantization as q
from pyqref.fx.passes.split_module import split_module

X = floats(2, 3)


def traced(forward: str, *, top: str = "") -> Any:
    """The trace of a model whose forward is a text, in a file with this line at its top."""
    text = f"{top}\ndef forward(self, x):\n{textwrap.indent(forward, '    ')}"
    names: dict[str, Any] = {"pyqref": pyqref, "np": np, "__name__": "a_file"}
    exec(compile(text, "a_file.py", "exec"), names)
    model = type("Model", (nn.Module,), {"forward": names["forward"], "count": 2})()
    return fx.symbolic_trace(model)


@pytest.mark.parametrize(
    ("said", "wrong", "right"),
    [
        (
            says(
                "compute with the tensor itself; x.shape[0] and x.size(0) may be used as they are"
            ),
            "return x * float(x.shape[0])",
            ["return x * x.sum()", "return x * x.shape[0] * x.size(0)"],
        ),
        (
            says(
                "let loops and indices count something fixed, such as a setting of the module, "
                "or compute with the tensor as a whole"
            ),
            "return sum(x[i] for i in range(x.shape[0]))",
            ["return sum(x[i] for i in range(self.count))", "return x.sum(0)"],
        ),
        (
            says("let the branch ask something fixed, such as a setting of the module"),
            "return x if x.shape[0] > 2 else -x",
            ["return x if self.count > 2 else -x"],
        ),
        (
            says("call the functions of pyqref in NumPy's place, pyqref.exp for np.exp"),
            "return np.exp(x)",
            ["return pyqref.exp(x)"],
        ),
        (
            says(
                "use x.shape[0], which is recorded, or pyqref.fx.wrap('len') at the top of the file"
            ),
            "return x * len(x)",
            ["return x * x.shape[0]"],
        ),
        (
            says("write (x == item).any(), which is recorded"),
            "return x * (1.0 in x)",
            ["return x * (x == 1.0).any()"],
        ),
        (
            says("make a new tensor with pyqref.where, cat or masked_fill"),
            "x[0] = 0.0\nreturn x",
            [
                "return pyqref.where(x > 0, x, 0.0)",
                "return pyqref.cat([0 * x[:1], x[1:]])",
                "return x.masked_fill(x > 0, 0.0)",
            ],
        ),
        (says("use a str"), "return {x: 1}", ["return {'x': x}"]),
        (
            says("index it, x[0], x[1], ..., or unpack it into names, a, b = x.chunk(2)"),
            "return [each for each in x]",
            ["return x[0], x[1]", "a, b = x.chunk(2)\nreturn a + b"],
        ),
        (
            says("compute both sides and choose with pyqref.where(condition, a, b)"),
            "return x if x.sum() > 0 else -x",
            ["return pyqref.where(x.sum() > 0, x, -x)"],
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_line_that_cannot_be_recorded(said: says, wrong: str, right: list[str]) -> None:
    """The line that the message asks for can be."""
    with said:
        traced(wrong)
    for each in right:
        traced(each)(X)


def test_wrapping_a_function_of_python() -> None:
    """wrap('len') at the top of the file records its call."""
    assert 2 == traced("return len(x)", top="pyqref.fx.wrap('len')")(X)


def halve(x: Any) -> Any:
    return x / 2 if x.sum() > 0 else x


def halve_recorded(x: Any) -> Any:
    return x / 2 if x.sum() > 0 else x


fx.wrap(halve_recorded)


class Halving(nn.Module):
    def forward(self, x: Any) -> Any:
        return halve(x)


def test_the_ways_out_of_a_trace() -> None:
    """A function of its own, a leaf, and the two entries of PrepareCustomConfig."""
    model = nn.Sequential(nn.Linear(3, 3), Halving()).eval()
    with says(
        "put the lines into a function of their own and record its call as one node: "
        "pyqref.fx.wrap(function), before tracing;",
        "keep the module that holds them whole, as a leaf: a subclass of pyqref.fx.Tracer "
        "whose is_leaf_module returns True for it; when quantizing, list it with",
    ) as told:
        fx.symbolic_trace(model)
    fx.symbolic_trace(lambda x: halve_recorded(x))(X)

    class KeepsHalving(fx.Tracer):
        def is_leaf_module(self, m: Any, module_qualified_name: str) -> bool:
            return isinstance(m, Halving) or super().is_leaf_module(m, module_qualified_name)

    fx.GraphModule(model, KeepsHalving().trace(model))(X)
    mapping = q.get_default_qconfig_mapping("x86")
    start = "PrepareCustomConfig().set_non_traceable_module_names(['1'])"
    assert f"{start} or .set_non_traceable_module_classes([Halving])" in told.text
    names = {"PrepareCustomConfig": q.fx.custom_config.PrepareCustomConfig, "Halving": Halving}
    for custom in (start, start.replace("names(['1'])", "classes([Halving])")):
        q.quantize_fx.prepare_fx(copy.deepcopy(model), mapping, (X,), eval(custom, names))(X)


class Switched(nn.Module):
    def forward(self, x: Any, twice: Any) -> Any:
        return x * 2 if twice else x


def test_a_setting_among_the_inputs() -> None:
    """concrete_args fixes it; for another value the model is traced again."""
    with says("fix it: pyqref.fx.symbolic_trace(model, concrete_args={{}: ...}); else"):
        fx.symbolic_trace(Switched())
    model = fx.symbolic_trace(Switched(), concrete_args={"twice": True})
    assert (2 * X).equal(model(X, True))
    with says("trace again for another value"):
        model(X, False)
    assert X.equal(fx.symbolic_trace(Switched(), concrete_args={"twice": False})(X, False))


class Scale:
    """An object that is no constant of a graph."""

    def __init__(self, factor: float) -> None:
        self.factor = factor


def scaled(x: Any, scale: Scale) -> Any:
    return x * scale.factor


def scaled_by(x: Any, factor: float) -> Any:
    return scaled(x, Scale(factor))


fx.wrap(scaled)
fx.wrap(scaled_by)


def test_an_argument_that_no_graph_holds() -> None:
    """A wrapped function makes it."""
    with says("record the call of a function that makes it, with pyqref.fx.wrap"):
        fx.symbolic_trace(lambda x: scaled(x, Scale(2.0)))
    assert (2 * X).equal(fx.symbolic_trace(lambda x: scaled_by(x, 2.0))(X))


def test_a_module_outside_the_model() -> None:
    """An attribute of the model holds it."""
    inside = nn.Linear(3, 3)

    class Loose(nn.Module):
        def forward(self, x: Any) -> Any:
            return inside(x)

    with says("assign it to an attribute in __init__"):
        fx.symbolic_trace(Loose())
    model = Loose()
    model.inside = inside
    fx.symbolic_trace(model)(X)


def test_graphs() -> None:
    """Outputs, attributes, submodules and arguments are added as the messages say."""
    graph = fx.Graph()
    x = graph.placeholder("x")
    with says("add one with graph.output(value)"):
        graph.output_node()
    graph.output(x)
    assert "output" == graph.output_node().op
    with says("use copy.deepcopy(graph)"):
        copy.deepcopy(x)
    copy.deepcopy(graph)

    model = fx.symbolic_trace(nn.Sequential(nn.Linear(3, 3)))
    with model.graph.inserting_before(model.graph.output_node()):
        with says("add it before the graph is run"):
            scale = model.graph.get_attr("scale")
        with says("add it with GraphModule.add_submodule before the graph is run"):
            more = model.graph.call_module("more", (scale,))
    model.scale = floats(3)
    model.add_submodule("more", nn.ReLU())
    model.graph.output_node().args = (more,)
    model.recompile()
    assert model(X).equal(floats(3).relu())

    with says("Call {}.replace_all_uses_with(other) first"):
        model.graph.erase_node(scale)
    scale.replace_all_uses_with(next(iter(model.graph.nodes)))
    model.graph.erase_node(scale)
    model.recompile()
    model(X)


def test_arguments_of_nodes() -> None:
    """A changed copy takes the place of the arguments."""
    model = fx.symbolic_trace(lambda x: pyqref.cat([x, x]))
    x, cat, _ = model.graph.nodes
    with says("Change a copy and assign that to node.args or node.kwargs"):
        cat.args[0].append(x)
    cat.args = ([*cat.args[0], x],)
    model.recompile()
    assert (6, 3) == model(X).shape


def test_lint() -> None:
    """Nodes of other graphs are copied, and used after they are made."""
    one, two = fx.symbolic_trace(lambda x: x + 1).graph, fx.Graph()
    with says("Use graph.node_copy to bring it here"):
        two.output(next(iter(one.nodes)))
        two.lint()
    two = fx.Graph()
    two.output(two.node_copy(next(iter(one.nodes))))
    two.lint()

    graph = fx.symbolic_trace(lambda x: (x + 1) * 2).graph
    _, add, mul, _ = graph.nodes
    mul.append(add)
    with says("check that Nodes in the graph are topologically ordered"):
        graph.lint()
    mul.prepend(add)
    graph.lint()


def test_a_run_of_a_graph_out_of_order() -> None:
    """lint() tells which node is used too early."""
    model = fx.symbolic_trace(lambda x: (x + 1) * 2)
    _, add, mul, _ = model.graph.nodes
    mul.append(add)
    with says("Run Graph.lint() to diagnose"):
        fx.Interpreter(model).run(X)
    with says("Argument '{}' of Node '{}' was used before it has been defined"):
        model.graph.lint()


def test_graph_modules() -> None:
    """Code is written by recompile(), shown by print_readable(), and kept as a state dict."""
    model = fx.symbolic_trace(nn.Sequential(nn.Linear(3, 3)))
    bare = fx.GraphModule.__new__(fx.GraphModule)
    bare.__dict__.update({k: v for k, v in model.__dict__.items() if k != "_code"})
    with says("call recompile()"):
        bare.code  # noqa: B018
    bare.recompile()
    assert bare.code == model.code
    with says("use `graph_module.print_readable()`") as told:
        told(model)
    assert "class" in model.print_readable(print_output=False)
    with says("save its state_dict(), trace the model again and load_state_dict()"):
        pickle.dumps(model)
    again = fx.symbolic_trace(nn.Sequential(nn.Linear(3, 3)))
    again.load_state_dict(pickle.loads(pickle.dumps(model.state_dict())))
    assert again(X).equal(model(X))


def test_replacing_a_pattern() -> None:
    """Exactly one of the two arguments is given: a replacement, or what makes it."""
    model = fx.symbolic_trace(lambda x: x + 1)
    replace = fx.subgraph_rewriter.replace_pattern_with_filters
    with says("give exactly one of replacement and replacement_callback"):
        replace(model, lambda x: x + 1)
    replace(model, lambda x: x + 1, lambda x: x + 2)
    assert (X + 2).equal(model(X))


def test_drawing_without_graphviz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A .dot file needs no program."""
    monkeypatch.setattr(shutil, "which", lambda name: None)
    drawing = fx.draw(fx.symbolic_trace(lambda x: x + 1))
    with says("save as .dot, or install it from https://graphviz.org"):
        drawing.save(tmp_path / "graph.svg")
    assert (tmp_path / "graph.dot") == drawing.save(tmp_path / "graph.dot")


def test_a_graph_for_one_value_of_an_argument() -> None:
    """A graph holds for one value of the argument; another value needs another graph."""

    def scaled(x: Any, twice: bool) -> Any:
        return 2 * x if twice else x

    model = fx.symbolic_trace(scaled, concrete_args={"twice": True})
    with says("give it {}, or trace again for another value") as told:
        model(X, False)
    assert "give it True, or" in told.text
    assert model(X, True).equal(2 * X)
    assert fx.symbolic_trace(scaled, concrete_args={"twice": False})(X, False).equal(X)


def test_parts_that_need_each_other() -> None:
    """One part takes the node between them."""
    model = nn.Sequential(nn.ReLU(), nn.Tanh(), nn.ReLU())
    graph = fx.symbolic_trace(model)
    with says("let split_callback put the nodes between them into one"):
        split_module(graph, model, lambda node: "b" if node.target == "1" else "a")
    split_module(graph, model, lambda node: "a")(pyqref.ones(2))
