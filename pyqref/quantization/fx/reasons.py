"""Why a node stays float: kept where ``coverage`` finds it."""

from __future__ import annotations

from pyqref.fx import Node

__all__ = ["REASON", "keep_reason"]

#: The key in ``node.meta``.
REASON = "_quantization_reason"


def keep_reason(node: Node, reason: str) -> None:
    """Keep why a node is not quantized."""
    node.meta[REASON] = reason
