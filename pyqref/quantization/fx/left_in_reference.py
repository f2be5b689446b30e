"""Layers that no pass of lowering took: they compute in float, on weights put on a grid."""

from __future__ import annotations

from pyqref.fx import GraphModule
from pyqref.quantization.diagnostics import NotQuantizedWarning, warn
from pyqref.quantization.eager.steps import listed

__all__ = ["warn_of_reference_layers"]


def warn_of_reference_layers(model: GraphModule) -> None:
    """Warn of the reference layers of a lowered model, by path.

    Parameters
    ----------
    model
        The model after all passes.
    """
    modules = dict(model.named_modules(remove_duplicate=False))
    places: dict[str, list[str]] = {}
    for node in model.graph.nodes:
        if node.op != "call_module" or node.target not in modules:
            continue
        layer = modules[node.target]
        # A group holds its layer first.
        parts = [layer, *layer.children()]
        if any(getattr(each, "_IS_REFERENCE", False) for each in parts):
            behind = ", ".join(sorted({f"'{user.name}'" for user in node.users})) or "nothing"
            places.setdefault(behind, []).append(f"{node.target} ({type(parts[0]).__name__})")
    for behind, paths in places.items():
        verb = "stay" if len(paths) > 1 else "stays"
        warn(
            f"convert_fx: {listed(paths)} {verb} in float, in the reference form: no quantized "
            f"layer computes it together with what follows, {behind}; change that (two batch norms "
            "in a row can be one), or set the qconfigs of these layers to None",
            NotQuantizedWarning,
        )
