"""The tracer's refusals lead to the line, and to the ways out."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref import fx, nn


def test_modules_that_are_not_installed() -> None:
    """A module that no attribute holds cannot be named."""
    with pytest.raises(NameError, match="ReLU is not installed as a submodule"):
        fx.symbolic_trace(lambda x: nn.ReLU()(x))


def test_constants_a_graph_cannot_hold() -> None:
    """Any other object is refused by its type; a traced key of a dict as well."""
    with pytest.raises(NotImplementedError, match=r"collections\.deque cannot stand in a graph"):
        fx.symbolic_trace(lambda x: x.foo(collections.deque()))
    with pytest.raises(fx.TraceError, match="key of a dict"):
        fx.symbolic_trace(lambda x: {x: 1})


def branch(x):
    """Ask for the truth of a sum."""
    total = x.sum()
    if total > 0:
        return x
    return -x


def test_message_of_a_branch() -> None:
    """File, line and text; the value and how it came about; the ways out."""
    with pytest.raises(fx.TraceError) as caught:
        fx.symbolic_trace(branch)
    message = str(caught.value)
    assert isinstance(caught.value, ValueError)
    line = branch.__code__.co_firstlineno + 3
    assert f'test_trace_refusals.py", line {line}, in branch\n    if total > 0:' in message
    assert "The value is 'gt', the result of gt(sum_1, 0)." in message
    for way in (
        "pyqref.fx.wrap",
        "is_leaf_module",
        "set_non_traceable_module_names",
        "pyqref.where",
    ):
        assert way in message


def test_message_names_where_a_value_was_made() -> None:
    """The message names the line that made the value if it was another line."""

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(1, 1)

        def forward(self, x):
            y = self.layer(x)
            return x if y else y

    with pytest.raises(fx.TraceError) as caught:
        fx.symbolic_trace(Net())
    message = str(caught.value)
    assert "The value is 'layer', the result of the module 'layer', called with (x)." in message
    assert "It was made at\n" in message
    assert "y = self.layer(x)" in message


def _assign(x):
    x[0] = 1


def _constant_assign(x):
    pyqref.zeros(3)[0] = x


@pytest.mark.parametrize(
    ("function", "what"),
    [
        (lambda x: x and 1, "A branch"),
        (lambda x: not x, "A branch"),
        (lambda x: [each for each in x], "A loop"),  # noqa: C416
        (lambda x: print(*x), "A loop"),
        (lambda x: x.__len__(), "length"),
        (lambda x: 1 in x, "'in'"),
        (lambda x: int(x), r"int\(\.\.\.\)"),
        (lambda x: float(x), r"float\(\.\.\.\)"),
        (lambda x: complex(x), "complex"),
        (lambda x: round(x), "round"),
        (lambda x: range(x), "range"),
        (lambda x: [0, 1][x], "index"),
        (lambda x: np.asarray(x), "NumPy array"),
        (lambda x: np.exp(x), "NumPy's exp was called"),
        (lambda x: np.add(x, 1), "NumPy's add was called"),
        (lambda x: np.sum(x), "NumPy's sum was called"),
        (lambda x: np.concatenate([x, x]), "NumPy's concatenate was called"),
        (lambda x: [x for _ in range(x.shape[0])], "a setting of the module"),
        (_assign, "assigned in place"),
        (_constant_assign, "assigned in place"),
        (lambda x: x.relu().item().foo if x.relu() else 1, "the method .relu, called with"),
    ],
)
def test_refusals(function: Any, what: str) -> None:
    """Whatever asks for a value ends the trace with the line that asks."""
    with pytest.raises(fx.TraceError, match=what) as caught:
        fx.symbolic_trace(function)
    assert 'test_trace_refusals.py", line' in str(caught.value)


def test_message_names_the_module() -> None:
    """Its path and class, ready to be listed as not traceable."""

    class Gate(nn.Module):
        def forward(self, x):
            return x if x.max() > 1 else -x

    with pytest.raises(fx.TraceError) as caught:
        fx.symbolic_trace(nn.Sequential(nn.ReLU(), nn.Sequential(Gate())))
    message = str(caught.value)
    assert "This is in the module '1.0' (Gate)." in message
    assert "set_non_traceable_module_names(['1.0'])" in message
    assert "set_non_traceable_module_classes([Gate])" in message


def test_a_format_needs_a_value() -> None:
    """Without a specification a stand-in is written as what it is."""
    with pytest.raises(fx.TraceError, match=r"A traced value was formatted as '\.2f'"):
        fx.symbolic_trace(lambda x: f"{x.sum():.2f}")
    assert "x is Proxy(x)" == fx.symbolic_trace(lambda x: f"x is {x}").graph.output_node().args[0]


def test_the_tracer_of_proxies_made_by_hand() -> None:
    """It is found where torch has it, too."""
    assert fx.GraphAppendingTracer is fx.proxy.GraphAppendingTracer


@pytest.mark.parametrize(
    ("forward", "way"),
    [
        (lambda x, flag: x if flag else -x, r"concrete_args={'flag': \.\.\.}\); else compute both"),
        (lambda x, mode: x if mode == "a" else -x, r"concrete_args={'mode': \.\.\.}"),
        (lambda x: x if x.shape[0] % 2 else -x, "ask something fixed"),
        (lambda x: x if x.dim() == 4 else -x, "ask something fixed"),
        (lambda x: x if x.dtype == pyqref.float32 else -x, "ask something fixed"),
        (lambda x: x if x.sum() > 0 else -x, r"- compute both sides.*pyqref\.where"),
    ],
)
def test_the_way_out_of_a_branch_depends_on_what_it_asks_for(forward: Any, way: str) -> None:
    """A setting given as input, a shape or type, a computed value."""
    with pytest.raises(fx.TraceError, match=way):
        fx.symbolic_trace(forward)
