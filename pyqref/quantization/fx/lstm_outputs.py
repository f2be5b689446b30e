"""Pass: what an LSTM that is observed by a class of its own gives.

Its value is ``(output, (hidden, cell))``, three tensors that are quantized inside. Each is
taken out and passed on as a value that needs no observer; the tuple is put together again
for users of the whole tuple::

    lstm -> getitem 0 -> linear                                            before
    lstm -> getitem 0 -> dequant_stub_0 -> linear                          after
         -> getitem 1 -> getitem 0 -> dequant_stub_1
                      -> getitem 1 -> dequant_stub_2
    tuple_2 = (dequant_stub_0, (dequant_stub_1, dequant_stub_2))

``convert`` makes ``dequantize`` nodes of the stubs.
"""

from __future__ import annotations

import operator
from typing import Any

from pyqref.fx import GraphModule, Node
from pyqref.quantization.stubs import DeQuantStub

from .paths import free_name

__all__ = ["take_outputs_apart"]


def take_outputs_apart(model: GraphModule, lstm: Node) -> tuple[list[Node], set[Node]]:
    """Insert the nodes, and let users of the elements use the stubs.

    Parameters
    ----------
    model
        The model that is prepared.
    lstm
        The node that calls the LSTM.

    Returns
    -------
    list, set
        The new nodes, and those that have no users any more.
    """
    users = list(lstm.users)
    graph = model.graph
    new: list[Node] = []

    def function(target: Any, *args: Any) -> Node:
        new.append(graph.create_node("call_function", target, args))
        return new[-1]

    def stub(value: Node) -> Node:
        name = free_name(model, "dequant_stub_")
        setattr(model, name, DeQuantStub())
        new.append(graph.call_module(name, (value,)))
        return new[-1]

    with graph.inserting_before(lstm.next):
        output = stub(function(operator.getitem, lstm, 0))
        pair = function(operator.getitem, lstm, 1)
        hidden = stub(function(operator.getitem, pair, 0))
        cell = stub(function(operator.getitem, pair, 1))
        state = function(tuple, [hidden, cell])
        whole = function(tuple, [output, state])
    for user in users:
        user.replace_input_with(lstm, whole)
    unused = _reroute(whole, [output, state]) | _reroute(state, [hidden, cell])
    return new, unused


def _reroute(joined: Node, elements: list[Node]) -> set[Node]:
    """Let the users of a tuple's elements use them directly; the nodes left without users."""
    unused = set()
    for user in list(joined.users):
        if user.target is operator.getitem and user.args[1] in (0, 1, -1, -2):
            user.replace_all_uses_with(elements[user.args[1]])
            unused.add(user)
    return unused
