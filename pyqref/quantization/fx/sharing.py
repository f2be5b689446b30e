r"""Pass: let the output of an operation have the observer of its input.

::

    a -> observer 0 \
                      cat -> observer 2 -> y         before
    b -> observer 1 /

    a -> observer 0 \
                      cat -> observer 0 -> y         after
    b -> observer 0 /
"""

from __future__ import annotations

from typing import Any

from pyqref.fx import GraphModule, Node

from .observed import is_observer_node
from .paths import replace_module

__all__ = ["remove_output_observer", "share_with_input"]


def share_with_input(model: GraphModule, root: Node, last: Node) -> bool:
    """Let all inputs and the output have the observer of the first input.

    Parameters
    ----------
    model
        The model.
    root
        The node with the inputs.
    last
        The node whose output is observed.

    Returns
    -------
    bool
        False if no observer was found before the first input.
    """
    modules = dict(model.named_modules(remove_duplicate=False))
    first = next((arg for arg in root.args if isinstance(arg, Node | list | tuple)), None)
    if first is None:
        return False
    inputs = list(first) if isinstance(first, list | tuple) else [first]
    before = [_observer_before(each, modules) for each in inputs]
    if not before or before[0] is None:
        return False
    observer = modules[before[0].target]
    for each in before[1:]:
        if each is None:
            return False
        replace_module(model, each.target, observer)
    for user in last.users:
        if is_observer_node(user, modules):
            replace_module(model, user.target, observer)
    return True


def _observer_before(node: Any, modules: dict[str, Any]) -> Node | None:
    """The observer nearest before a node, along first arguments."""
    while isinstance(node, Node) and not is_observer_node(node, modules):
        if node.op == "placeholder":
            return None
        node = next((arg for arg in node.args if isinstance(arg, Node)), None)
    return node if isinstance(node, Node) else None


def remove_output_observer(model: GraphModule, node: Node) -> None:
    """Take the observer behind a node away again."""
    modules = dict(model.named_modules(remove_duplicate=False))
    for user in list(node.users):
        if is_observer_node(user, modules):
            user.replace_all_uses_with(node)
            model.graph.erase_node(user)
