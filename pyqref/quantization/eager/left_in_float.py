"""Layers that were to be quantized and stay in float, because nothing stands for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyqref._typing import Module
from pyqref.nn import modules as nn
from pyqref.nn.intrinsic.modules.fused import _FusedModule
from pyqref.quantization.diagnostics import NotQuantizedWarning, warn
from pyqref.quantization.quantization_mappings import (
    get_default_dynamic_quant_module_mappings,
    get_default_static_quant_module_mappings,
)

from .observe import NAME
from .steps import listed

__all__ = ["warn_of_layers_left_in_float"]

_QUANTIZED = ("pyqref.nn.quantized.", "pyqref.nn.intrinsic.quantized.")


def warn_of_layers_left_in_float(
    asks: str,
    model: Module,
    mapping: Mapping[Any, Any],
    defaults: Mapping[Any, Any],
    kind: str = "static",
) -> None:
    """Warn of layers with weights and a qconfig that have no quantized form.

    Layers without parameters work on quantized tensors or say themselves that they do not;
    a module that holds others may own parameters besides, such as a class token.

    Parameters
    ----------
    asks
        Who asks.
    model
        The model, after the swaps.
    mapping
        From types to quantized types.
    defaults
        The default table. A type in it that the user's mapping leaves out stays by intention.
    kind
        ``"static"``, or ``"dynamic"``: a qconfig for part of a model is then meant for linear
        and recurrent layers alone.
    """
    intended = {*mapping, *defaults}
    if kind == "static":
        # A layer norm has a quantized form, but no reference form: it stays by intention, too.
        intended.update(get_default_static_quant_module_mappings())
    groups: dict[str, list[str]] = {}
    inside = ""
    for path, each in model.named_modules():
        if inside and path.startswith(inside):
            continue
        inside = ""
        if isinstance(each, _FusedModule) or _is_quantized(each):
            inside = f"{path}."
        if (
            getattr(each, "qconfig", None) is None
            or type(each) in intended
            or not path
            or not _holds_weights(each, mapping)
            or (kind == "dynamic" and not _is_meant(each, mapping))
        ):
            continue
        groups.setdefault(_why(each, mapping, kind), []).append(f"{path} ({type(each).__name__})")
    for why, places in groups.items():
        verbs = ("have", "stay") if len(places) > 1 else ("has", "stays")
        warn(
            f"{asks}: {listed(places)} {verbs[0]} a qconfig but {verbs[1]} in float: {why}, or set "
            "qconfig to None where this is intended",
            NotQuantizedWarning,
        )


def _is_quantized(module: Any) -> bool:
    return f"{type(module).__module__}.".startswith(_QUANTIZED)


def _holds_weights(module: Any, mapping: Mapping[Any, Any]) -> bool:
    """Return True if a module is a layer: it has parameters and no submodules with parameters."""
    if _is_quantized(module) or hasattr(module, "calculate_qparams"):
        return False
    if isinstance(module, _FusedModule):
        return any(True for _ in module.parameters())
    if not any(each is not None for each in module._parameters.values()):
        return False
    alone = not set(module._modules) - {NAME, "weight_fake_quant"}
    return alone or _base(module, mapping) is not None or type(module) is nn.MultiheadAttention


def _is_meant(module: Any, mapping: Mapping[Any, Any]) -> bool:
    """Return True if dynamic quantization is for layers such as this one."""
    return isinstance(module, nn.RNNBase) or _base(module, mapping) is not None


def _base(module: Any, mapping: Mapping[Any, Any]) -> Any:
    """Return the base of a module's type that has a quantized form."""
    return next((each for each in type(module).__mro__ if each in mapping), None)


def _why(module: Any, mapping: Mapping[Any, Any], kind: str) -> str:
    base = _base(module, mapping)
    observed = (
        ""
        if kind == "dynamic"
        else ", and pass allow_list=get_default_qconfig_propagation_list() | "
        f"{{{type(module).__name__}}} to prepare, so that it is observed"
    )
    if base is not None:
        return (
            f"only the very type {base.__name__} is swapped, no subclass of it; give mapping an "
            "entry for the subclass, with a quantized class whose from_float takes it"
            f"{observed}"
        )
    if isinstance(module, nn.BatchNorm1d | nn.BatchNorm2d | nn.BatchNorm3d):
        return (
            "this batch norm is quantized only together with the layer before it; fuse them with "
            "fuse_modules"
        )
    if isinstance(module, _FusedModule):
        return "this group is for prepare_qat; make it with fuse_modules to calibrate only"
    if type(module) in get_default_dynamic_quant_module_mappings():
        return "this type is quantized only by quantize_dynamic; use that for it"
    return (
        "this type has no quantized form; give mapping an entry for it, with a class of your own "
        f"whose from_float takes it{observed}"
    )
