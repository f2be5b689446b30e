"""Pass: functions that have two names.

``torch`` matches ``torch.cat`` but not ``torch.concat``, and so leaves a model float that was
written with the second name. Here both are one operation, unless
``pyqref.backends.quantized.conventions`` is ``"torch"``.
"""

from __future__ import annotations

from typing import Any

from pyqref.backends import quantized as settings
from pyqref.fx import GraphModule
from pyqref.tensor import Tensor
from pyqref.tensor.aliases import canonical

__all__ = ["follow_aliases", "of_one_name"]


def of_one_name(operation: Any) -> Any:
    """Replace an alias of a function, or of a method's name, by the name that patterns use."""
    if settings.conventions == "torch":
        return operation
    if isinstance(operation, str):
        method = getattr(Tensor, operation, None)
        first = canonical(method)
        return operation if first is method else first.__name__
    return canonical(operation)


def follow_aliases(model: GraphModule) -> None:
    """Let nodes that call an alias call the function itself; their names stay."""
    for node in model.graph.nodes:
        if node.op in ("call_function", "call_method"):
            target = of_one_name(node.target)
            if target != node.target:
                node.target = target
