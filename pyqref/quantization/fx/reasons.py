"""Why a node stays float: kept where ``coverage`` finds it."""

from __future__ import annotations

from typing import Any

from pyqref.fx import GraphModule, Node, check_specialized

__all__ = ["REASON", "keep_reason"]

#: The key in ``node.meta`` and the attribute of a called module.
REASON = "_quantization_reason"


def keep_reason(model: GraphModule, node: Node, reason: str) -> None:
    """Keep why a node is not quantized, in the node and in the module that it calls."""
    if node.target is check_specialized:
        return  # it computes nothing
    node.meta[REASON] = reason
    if node.op == "call_module":
        module: Any = model.get_submodule(node.target)
        module.__dict__[REASON] = reason
