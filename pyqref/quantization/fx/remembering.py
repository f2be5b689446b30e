"""Records in a converted graph about its former layers, for ``coverage``."""

from __future__ import annotations

from typing import Any

from pyqref.fx import GraphModule
from pyqref.nn.intrinsic.modules.fused import _FusedModule
from pyqref.quantization.eager.origins import (
    Origin,
    describe_qconfig,
    parameter_bytes,
    remember,
    type_name,
)

__all__ = ["layers_before", "remember_layers"]

_PACKAGES = ("nn.quantized.", "nn.intrinsic.quantized.")


def layers_before(model: GraphModule, qconfigs: dict[str, Any]) -> dict[str, Origin]:
    """Type, qconfig and size of the layers that the graph calls, by path.

    Parameters
    ----------
    model
        The prepared model.
    qconfigs
        Of its nodes by name.
    """
    found = {}
    for node in model.graph.nodes:
        if node.op == "call_module":
            module = model.get_submodule(node.target)
            kind = getattr(type(module), "_FLOAT_MODULE", type(module))
            described = describe_qconfig(qconfigs.get(node.name))
            size = parameter_bytes(module, whole=True)
            found[node.target] = Origin(type_name(kind), described, None, "static", size)
    return found


def remember_layers(model: GraphModule, before: dict[str, Origin]) -> None:
    """Keep what is known of the layers that are quantized now.

    Parameters
    ----------
    model
        The converted model.
    before
        What :func:`layers_before` gave.
    """
    modules = dict(model.named_modules(remove_duplicate=False))
    kept = {
        path: origin
        for path, origin in before.items()
        if path in modules and _is_quantized(modules[path])
    }
    remember(model, kept)


def _is_quantized(module: Any) -> bool:
    """Return True if a layer is quantized, or a reference layer, or fused with one."""
    first = module[0] if isinstance(module, _FusedModule) and len(module) else module
    return any(type_name(type(each)).startswith(_PACKAGES) for each in (module, first))
