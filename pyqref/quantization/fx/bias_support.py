"""Check that the bias of a pattern has the type that the back end takes.

A QConfig says nothing of the bias: it stays float32, or is float16 where activations and weights
are. A back end that wants another type, such as int32, gets no bias of it::

    DTypeConfig(quint8, quint8, qint8, bias_dtype=int32)
    linear with bias          float, with this reason
    linear without bias       quantized
"""

from __future__ import annotations

from typing import Any

from pyqref.dtypes import dtype as DType
from pyqref.fx import Node
from pyqref.nn.modules.container import Sequential
from pyqref.nn.modules.module import Module
from pyqref.quantization.backend_config import DTypeConfig

from .matching import Match

__all__ = ["bias_problem"]


def bias_problem(match: Match, given: DType, supported: DTypeConfig) -> str | None:
    """Why the bias of a pattern does not fit; None if it does.

    Parameters
    ----------
    match
        The pattern's nodes.
    given
        The type of the bias under the QConfig.
    supported
        What the back end says.
    """
    wanted = supported.bias_dtype
    if wanted is None or wanted is given or not _has_bias(match):
        return None
    return (
        f"the bias is {given}, supported is {wanted}, for which no QConfig can ask (leave "
        "bias_dtype out of the DTypeConfig, and quantize the bias where the reference model "
        "is lowered)"
    )


def _has_bias(match: Match) -> bool:
    root = match.root
    if root.op == "call_module":
        owner: Any = root.graph.owning_module
        return _module_has_bias(owner.get_submodule(root.target))
    index = match.roles.get("bias")
    if index is None:
        return False
    argument = root.args[index] if index < len(root.args) else root.kwargs.get("bias")
    return isinstance(argument, Node)


def _module_has_bias(module: Module) -> bool:
    """Return True if a layer adds a bias, its own or one from a batch norm that it will fold."""
    if hasattr(module, "bn"):
        return True
    layer: Any = module
    if isinstance(module, Sequential) and not hasattr(module, "weight"):
        layer = module[0]
    bias = getattr(layer, "bias", None)
    return bias is not None and bias is not False
