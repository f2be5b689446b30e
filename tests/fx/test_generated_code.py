"""Code that a graph writes, and ways to call it: code, arguments, a run from a list."""

from __future__ import annotations

import copy
import gc
import weakref
from typing import Any

import pytest

import pyqref
import pyqref.nn.functional as F
from pyqref import fx, nn


def added(module: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    """A node that calls a function of pyqref, before the output."""
    with module.graph.inserting_before(module.graph.output_node()):
        return module.graph.call_function(getattr(pyqref, name), args, kwargs)


def test_transformers_of_code_are_chained_and_put_back() -> None:
    """Within ``with`` the body has another first line; behind it the former text."""
    module = fx.symbolic_trace(lambda x: pyqref.relu(x) + 1)
    before = module.code
    seen: list[list[str]] = []

    def first(body: list[str]) -> list[str]:
        seen.append(body)
        return ["# first\n", *body]

    with module.graph.on_generate_code(lambda _: first):
        with module.graph.on_generate_code(lambda now: lambda body: ["# second\n", *now(body)]):
            module.recompile()
            assert ["    # second", "    # first"] == module.code.strip().splitlines()[1:3]
        module.recompile()
        copied = copy.deepcopy(module)
    assert ["relu = pyqref.relu(x);  x = None\n", "add = relu + 1;  relu = None\n"] == seen[0][:2]
    assert 2.0 == module(pyqref.ones(1)).item()
    module.recompile()
    assert before == module.code
    assert "# first" in copied.code
    copied.recompile()
    assert "# first" in copied.code


def test_transformed_code_keeps_the_lines_of_the_user() -> None:
    """``print_readable`` and tracebacks know where what is left came from."""
    module = fx.symbolic_trace(lambda x: x.missing() + 1)
    module.graph.on_generate_code(lambda _: lambda body: ["pass\n", *body])
    code = module.recompile()
    assert [None, "missing", "add", "output"] == [node and node.name for node, _ in code.lines]
    assert "test_generated_code.py" in module.print_readable(print_output=False)


@pytest.mark.parametrize("wrong", [None, "text", [1]])
def test_a_transformer_must_return_lines(wrong: Any) -> None:
    module = fx.symbolic_trace(lambda x: x + 1)
    with (
        module.graph.on_generate_code(lambda _: lambda body: wrong),
        pytest.raises(TypeError, match="must return a list of strings"),
    ):
        module.recompile()
    assert 2 == module(1)


def test_arguments_as_the_function_names_them() -> None:
    """Given by position they stay there, and defaults are added; or all go by name. As in torch."""
    module = fx.symbolic_trace(lambda x: F.dropout(pyqref.flatten(x, 1), 0.2))
    flatten, dropout = list(module.graph.nodes)[1:3]
    x = flatten.args[0]
    assert ((x, 1), {"end_dim": -1}) == flatten.normalized_arguments(module)
    named = {"input": flatten, "p": 0.2, "training": True, "inplace": False}
    found = dropout.normalized_arguments(module, normalize_to_only_use_kwargs=True)
    assert ((), named) == (found.args, found.kwargs)
    assert list(named) == list(found.kwargs)


def test_arguments_of_modules_and_of_what_has_no_names() -> None:
    """Arguments get the names of ``forward``; None where there are no names or none fit."""
    module = fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2)))
    layer = list(module.graph.nodes)[1]
    found = layer.normalized_arguments(module, normalize_to_only_use_kwargs=True)
    assert ((), {"input": layer.args[0]}) == found
    module = fx.symbolic_trace(lambda x: x.neg() + 1)
    assert [None] * 4 == [node.normalized_arguments(module) for node in module.graph.nodes]
    assert added(module, "flatten", 1, 2, 3, 4).normalized_arguments(module) is None
    assert added(module, "flatten", wrong=1).normalized_arguments(module) is None


def test_a_run_from_a_list_leaves_no_reference_behind() -> None:
    """The list is empty afterwards, and an input is gone after its last use."""
    alive: list[bool] = []

    class Watch(fx.Interpreter):
        def run_node(self, n: fx.Node) -> Any:
            gc.collect()
            alive.append(watched() is not None)
            return super().run_node(n)

    inputs = [pyqref.ones(2), 3]
    watched = weakref.ref(inputs[0])
    y = Watch(fx.symbolic_trace(lambda x, y: (x + y) * 2)).boxed_run(inputs)
    assert ([8.0, 8.0], []) == (y.tolist(), inputs)
    assert [True, True, True, False, False] == alive


def test_a_run_from_a_list_wants_a_list_of_all_inputs() -> None:
    """Defaults are not filled in, as in torch."""
    run = fx.Interpreter(fx.symbolic_trace(lambda x, y=2: x + y)).boxed_run
    with pytest.raises(RuntimeError, match="2 inputs, args_list 1 elements"):
        run([1])
    with pytest.raises(TypeError, match="takes a list, got a tuple"):
        run((1, 2))
