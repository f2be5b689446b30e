"""Shapes, pictures and parts of whole graphs, and passes one after another."""

from __future__ import annotations

from typing import Any

import pytest

import pyqref
from pyqref import nn
from pyqref.fx.passes.graph_drawer import FxGraphDrawer
from pyqref.fx.passes.infra.pass_base import PassBase, PassResult
from pyqref.fx.passes.infra.pass_manager import PassManager
from pyqref.fx.passes.shape_prop import ShapeProp
from pyqref.fx.passes.split_module import split_module


def _model(torch: Any) -> Any:
    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(3, 3)
            self.p = torch.nn.Parameter(torch.zeros(3))
            self.register_buffer("b", torch.ones(3))

        def forward(self, x: Any, y: Any) -> Any:
            z = self.linear(x) + self.p
            first, _ = z.chunk(2, 1)
            return (first.sum() + y) * self.p.sum() + self.b, z

    return Model()


def _noted(torch: Any, shape_prop: Any) -> list[Any]:
    graph = torch.fx.symbolic_trace(_model(torch))
    shape_prop(graph).propagate(torch.ones(2, 3), torch.ones(3))

    def plain(value: Any) -> Any:
        if type(value) is tuple:
            return tuple(plain(each) for each in value)
        texts = [str(each).rpartition(".")[2] for each in (value.dtype, value.memory_format)]
        return (*value.shape, *texts, value.requires_grad, value.stride, value.qparams)

    return [(node.name, plain(node.meta["tensor_meta"])) for node in graph.graph.nodes]


def test_shapes_as_torch() -> None:
    """All that torch notes, of every node."""
    torch = pytest.importorskip("torch")
    from torch.fx.passes.shape_prop import ShapeProp as TorchShapeProp

    assert _noted(torch, TorchShapeProp) == _noted(pyqref, ShapeProp)


def test_shapes_of_a_quantized_model() -> None:
    """Scale and zero point are noted beside the shape."""

    class Model(nn.Module):
        def forward(self, x: Any) -> Any:
            return pyqref.quantize_per_tensor(x, 0.5, 3, pyqref.quint8)

    graph = pyqref.fx.symbolic_trace(Model())
    ShapeProp(graph).propagate(pyqref.ones(2, 1, 2, 2))
    noted = next(n for n in graph.graph.nodes if n.op == "call_function").meta["tensor_meta"]
    qparams = {"qscheme": pyqref.per_tensor_affine, "scale": 0.5, "zero_point": 3}
    assert (True, qparams, pyqref.quint8) == (noted.is_quantized, noted.qparams, noted.dtype)
    assert pyqref.contiguous_format is noted.memory_format


def _split(torch: Any, split: Any) -> list[str]:
    model, count, names = _model(torch), iter(range(99)), {}
    graph = torch.fx.symbolic_trace(model)
    parts = split(graph, model, lambda _: 0 if next(count) < 3 else 1, names)
    x, y = torch.ones(2, 3), torch.ones(3)
    for expected, actual in zip(model(x, y), parts(x, y), strict=True):
        assert expected.tolist() == actual.tolist()
    assert {"submod_0.linear": "linear"} == names
    assert sorted(model.state_dict()) == ["b", "linear.bias", "linear.weight", "p"]
    lines = str(parts.graph).splitlines() + parts.submod_0.code.splitlines()
    return [line.strip() for line in lines if line.strip()]


def test_parts_as_torch() -> None:
    """The parts make torch's calls with torch's inputs and outputs, and compute the same."""
    torch = pytest.importorskip("torch")
    from torch.fx.passes.split_module import split_module as torch_split

    expected, actual = _split(torch, torch_split), _split(pyqref, split_module)
    expected = [line.replace(" : 'Any'", " :").replace(" : _Any_", "") for line in expected]
    assert expected == [line.replace("pyqref.", "torch.") for line in actual]


def test_parts() -> None:
    """Every part is called after those that it needs, and computes what the whole does."""
    assert any("submod_1" in line for line in _split(pyqref, split_module))


def test_partitions_that_need_each_other() -> None:
    """They cannot be called one after the other."""
    model = nn.Sequential(nn.ReLU(), nn.Tanh(), nn.ReLU())
    graph = pyqref.fx.symbolic_trace(model)
    with pytest.raises(RuntimeError, match="cycle exists between partitions: a, b need"):
        split_module(graph, model, lambda node: "b" if node.target == "1" else "a")


def test_drawings() -> None:
    """The graph, and those of the parts that it calls."""
    model = nn.Sequential(nn.ReLU(), nn.Tanh())
    parts = split_module(pyqref.fx.symbolic_trace(model), model, lambda node: node.target)
    drawer = FxGraphDrawer(parts, "net")
    assert ["net", "net_submod_0", "net_submod_1"] == list(drawer.get_all_dot_graphs())
    assert "tanh" in drawer.get_dot_graph("submod_1").dot.lower()
    with pytest.raises(KeyError, match="net_submod_0"):
        drawer.get_submod_dot_graph("other")
    with pytest.raises(TypeError, match="must be a GraphModule, got a Sequential; symbolic_trace"):
        FxGraphDrawer(model, "net")


class _More(PassBase):
    """Adds one to the constant until it is 3."""

    def call(self, graph_module: Any) -> PassResult:
        node = next(n for n in graph_module.graph.nodes if n.op == "call_function")
        if node.args[1] >= 3:
            return PassResult(graph_module, False)
        node.args = (node.args[0], node.args[1] + 1)
        graph_module.recompile()
        return PassResult(graph_module, True)


def test_passes() -> None:
    """They run again while they change something, at most so many times, with their checks."""
    graph, seen = pyqref.fx.symbolic_trace(lambda x: x + 0), []
    manager = PassManager([_More()], steps=2)
    manager.add_checks(seen.append)
    assert manager(graph).modified
    assert (2, 3) == (graph(pyqref.tensor(0)).item(), len(seen))
    manager = PassManager([_More()], steps=9, run_checks_after_each_pass=True)
    assert manager(graph).modified
    assert 3 == graph(pyqref.tensor(0)).item()
    assert not manager(graph).modified


def test_passes_in_a_wrong_order() -> None:
    """The constraint names both; a pass that returns nothing is named too."""
    first, second = _More(), lambda _: None
    manager = PassManager([first, second], [lambda a, b: a is not first])
    graph = pyqref.fx.symbolic_trace(lambda x: x + 3)
    with pytest.raises(RuntimeError, match="_More comes in front of <lambda>"):
        manager(graph)
    with pytest.raises(TypeError, match="returned a NoneType; a pass returns PassResult"):
        PassManager([second])(graph)
