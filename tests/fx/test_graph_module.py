"""Graph modules: their code, their copies, their submodules, their errors."""

from __future__ import annotations

import copy
import gc
import linecache
import pickle
import traceback
from typing import Any

import pytest

import pyqref
import pyqref.nn.functional as F
from pyqref import fx, nn


class Net(nn.Module):
    """A model with an unused member."""

    def __init__(self) -> None:
        super().__init__()
        self.block = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
        self.unused = nn.Linear(5, 5)
        self.register_buffer("fleeting", pyqref.ones(2), persistent=False)

    def forward(self, x):
        y = self.block(x)
        return F.relu(y) + self.fleeting * y


def test_what_is_taken() -> None:
    """It takes only what the graph names, shared with the model; the class has its name."""
    net = Net().eval()
    module = fx.symbolic_trace(net)
    assert "Net" == type(module).__name__
    assert isinstance(module, fx.GraphModule)
    assert not hasattr(module, "unused")
    assert ["block.0.weight", "block.0.bias"] == list(module.state_dict())
    assert module.block[0] is net.block[0] if hasattr(module.block, "__getitem__") else True
    assert not module.training
    assert module.fleeting is net.fleeting
    x = pyqref.ones(3, 2)
    assert pyqref.equal(net(x), module(x))
    module.load_state_dict(net.state_dict(), strict=False)


def test_recompile() -> None:
    """A change of the graph counts after recompile, an assigned graph at once."""
    module = fx.symbolic_trace(lambda x: x + 1)
    add = module.graph.find_nodes(op="call_function")[0]
    add.update_arg(1, 5)
    assert 2 == module(pyqref.tensor(1)).item()
    code = module.recompile()
    assert "add = x + 5" in code.src
    assert 6 == module(pyqref.tensor(1)).item()
    module.graph = fx.symbolic_trace(lambda x: x * 10).graph
    assert 10 == module(pyqref.tensor(1)).item()
    with pytest.raises(TypeError, match=r"must be a pyqref\.fx\.Graph, got int"):
        module.graph = 3


def test_made_from_a_dict() -> None:
    """Paths with their modules and tensors."""
    graph = fx.Graph()
    x = graph.placeholder("x")
    y = graph.call_module("a.layer", (x,))
    graph.output(graph.call_function(pyqref.add, (y, graph.get_attr("a.b"))))
    module = fx.GraphModule({"a.layer": nn.Identity(), "a.b": pyqref.ones(1)}, graph, "Made")
    assert 3.0 == module(pyqref.tensor([2.0])).item()
    assert ["a.b"] == list(module.state_dict())
    with pytest.raises(RuntimeError, match=r"names 'a.layer', but root has only \['z'\]"):
        fx.GraphModule({"z": nn.Identity()}, graph)
    with pytest.raises(RuntimeError, match="must be a Module or a dict, got int"):
        fx.GraphModule(3, graph)
    with pytest.raises(RuntimeError, match="which the root module does not have"):
        fx.GraphModule(nn.Module(), graph)


def test_deepcopy() -> None:
    """Everything is copied: graph, parameters, attributes, meta; ties among parameters stay."""
    module = fx.symbolic_trace(Net())
    module.meta["k"] = [1]
    module.note = "here"
    copied = copy.deepcopy(module)
    assert "Net" == type(copied).__name__
    assert type(copied) is not type(module)
    assert copied.graph is not module.graph
    assert copied.graph.owning_module is copied
    assert [1] == copied.meta["k"]
    assert copied.meta["k"] is not module.meta["k"]
    assert "here" == copied.note
    x = pyqref.ones(1, 2)
    before = module(x)
    with pyqref.no_grad():
        for parameter in copied.parameters():
            parameter.fill_(0)
    assert pyqref.equal(before, module(x))
    assert not pyqref.equal(before, copied(x)) or not before.any()
    copied.graph.output_node().args = (next(iter(copied.graph.nodes)),)
    copied.recompile()
    assert pyqref.equal(x, copied(x))
    assert pyqref.equal(before, module(x))


def test_copy_and_pickle() -> None:
    """A shallow copy shares parameters; a pickle is refused with the way round."""
    module = fx.symbolic_trace(Net())
    assert copy.copy(module).block is not None
    assert str(module.graph) == str(copy.copy(module).graph)
    with pytest.raises(TypeError, match="save its state_dict"):
        pickle.dumps(module)


def test_submodules() -> None:
    """Added under a path, deleted one by one, or all that no node needs."""
    module = fx.symbolic_trace(Net())
    assert module.add_submodule("extra.deep", nn.Linear(1, 1))
    assert not module.add_submodule("fleeting.x", nn.ReLU())
    assert module.add_submodule("gone", nn.ReLU())
    assert module.delete_submodule("gone")
    assert not module.delete_submodule("gone")
    assert not module.delete_submodule("no.where")
    module.delete_all_unused_submodules()
    paths = [path for path, _ in module.named_modules()]
    assert ["", "block", "block.0", "block.1"] == paths


def test_printing(capsys: Any) -> None:
    """The modules, then the code; or the class with the user's lines."""
    module = fx.symbolic_trace(Net())
    text = str(module)
    assert text.startswith("Net(\n  (block): Module(")
    assert module.code in text
    readable = module.print_readable()
    assert readable + "\n" == capsys.readouterr().out
    assert readable == module.print_readable(print_output=False)
    lines = [line.strip() for line in readable.splitlines()]
    assert "class Net(pyqref.nn.Module):" == lines[0]
    where = [line for line in lines if line.startswith("# test_graph_module.py:")]
    assert where[0].endswith(": y = self.block(x)")
    assert where[1].endswith(": return F.relu(y) + self.fleeting * y")
    assert 2 == len(where)


def test_readable_holds_inner_graphs() -> None:
    """Graph modules within are printed within; traced again, lines stay the user's own."""
    inner = fx.symbolic_trace(Net())

    class Whole(fx.Tracer):
        def is_leaf_module(self, m, module_qualified_name):
            return isinstance(m, fx.GraphModule)

    outer = nn.Sequential(inner)
    module = fx.GraphModule(outer, Whole().trace(outer), "Outer")
    assert "    class Net(pyqref.nn.Module):" in module.print_readable(print_output=False)
    assert "y = self.block(x)" in fx.symbolic_trace(outer).print_readable(print_output=False)


def test_tracebacks_show_the_line() -> None:
    """An error within generated code shows its text."""
    module = fx.symbolic_trace(lambda x, y: pyqref.matmul(x, y) + 1)
    try:
        module(pyqref.ones(2, 3), pyqref.ones(2, 3))
    except RuntimeError:
        text = traceback.format_exc()
    assert "matmul = pyqref.matmul(x, y)" in text


def test_texts_are_dropped_only_when_another_is_made() -> None:
    """``linecache.checkcache`` fails if a name goes while it looks at the others."""
    traced = fx.symbolic_trace(nn.ReLU())
    file = traced.forward.__code__.co_filename
    entry = linecache.cache[file]
    del traced
    gc.collect()
    assert entry is linecache.cache[file]
    kept = fx.symbolic_trace(nn.ReLU())
    assert file not in linecache.cache
    assert linecache.getlines(kept.forward.__code__.co_filename)


def test_hooks_and_training() -> None:
    """It is a module like any other."""
    module = fx.symbolic_trace(nn.Sequential(nn.Dropout(0.5), nn.Linear(2, 1)))
    module.eval()
    x = pyqref.ones(1, 2)
    assert pyqref.equal(module(x), module(x))
    seen = []
    module.register_forward_hook(lambda module, args, result: seen.append(result))
    module(x).sum().backward()
    assert 1 == len(seen)
    assert [[1.0, 1.0]] == getattr(module, "1").weight.grad.tolist()
