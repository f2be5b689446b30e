"""Why a node stays float: kept where ``coverage`` finds it."""

from __future__ import annotations

from pyqref.fx import Node, check_specialized

__all__ = ["REASON", "keep_reason"]

#: The key in ``node.meta``.
REASON = "_quantization_reason"


def keep_reason(node: Node, reason: str) -> None:
    """Keep why a node is not quantized; one that computes nothing needs no reason."""
    if node.target is check_specialized:
        return
    node.meta[REASON] = reason
