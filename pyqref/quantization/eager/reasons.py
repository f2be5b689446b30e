"""Reasons why each module of a model is quantized or left alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from pyqref._typing import Module
from pyqref.nn import modules as nn
from pyqref.nn.intrinsic.modules.fused import _FusedModule
from pyqref.nn.quantized.modules.functional_modules import FXFloatFunctional
from pyqref.quantization.quantization_mappings import (
    get_default_dynamic_quant_module_mappings,
    get_default_static_quant_module_mappings,
)

from .origins import Origin, describe_qconfig, named_layers, parameter_bytes, type_name

__all__ = ["fates", "reason"]

#: Layers without parameters of quantization: on quantized tensors they work as they are.
WORKS_ON_INTEGERS: tuple[type, ...] = (
    *(nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d, nn.AdaptiveAvgPool3d),
    *(nn.AvgPool1d, nn.AvgPool2d, nn.AvgPool3d),
    *(nn.MaxPool1d, nn.MaxPool2d, nn.MaxPool3d),
    *(nn.ReLU, nn.Hardtanh, nn.Hardsigmoid, nn.LeakyReLU, nn.Sigmoid, nn.Tanh, nn.Threshold),
    *(nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.AlphaDropout),
    *(nn.ConstantPad1d, nn.ConstantPad2d, nn.ConstantPad3d),
    *(nn.ReflectionPad1d, nn.ReflectionPad2d, nn.ReplicationPad1d, nn.ReplicationPad2d),
    *(nn.ChannelShuffle, nn.PixelShuffle, nn.PixelUnshuffle),
    *(nn.Upsample, nn.UpsamplingBilinear2d, nn.UpsamplingNearest2d),
    *(nn.Flatten, nn.Unflatten, nn.Identity),
    FXFloatFunctional,
)


def fates(
    model: Module, mapping: Mapping[Any, Any], custom: Mapping[Any, Any], kind: str
) -> dict[str, Origin]:
    """Return what ``convert`` will do with each module, to be recorded.

    Parameters
    ----------
    model
        The model before its modules are swapped.
    mapping, custom
        The tables.
    kind
        ``"static"``, ``"dynamic"`` or ``"training"``.

    Returns
    -------
    dict
        From paths to origins.
    """
    layers = dict(named_layers(model))
    qconfigs = {path: each.qconfig for path, each in layers.items() if hasattr(each, "qconfig")}
    found = {}
    group = ""
    for path, each in layers.items():
        inside = bool(group) and path.startswith(f"{group}.")
        why = reason(each, path, qconfigs, {*mapping, *custom}, kind)
        whole = why is None or isinstance(each, _FusedModule) or type(each) in custom
        found[path] = Origin(
            type=type_name(type(each)),
            qconfig=describe_qconfig(qconfigs.get(path)),
            reason=f"part of {group}" if inside else why,
            kind=kind,
            weight_bytes=0 if inside else parameter_bytes(each, whole),
        )
        if not inside and path and whole:
            group = path
    return found


def reason(
    module: Module, path: str, qconfigs: Mapping[str, Any], known: Collection[Any], kind: str
) -> str | None:
    """Why a module is left alone, or None if it is swapped.

    Parameters
    ----------
    module, path
        The module and where it is.
    qconfigs
        From paths to qconfigs, of all modules that are reached.
    known
        The types that can be swapped.
    kind
        As for :func:`fates`.
    """
    swappable = type(module) in known
    if module._modules and not (path and swappable):
        return "holds the modules below"
    if swappable and qconfigs.get(path) is not None:
        return None if path else "is the model itself: only submodules are swapped"
    if swappable:
        return _no_qconfig(path, qconfigs, kind)
    if isinstance(module, WORKS_ON_INTEGERS):
        return "works on quantized tensors as it is"
    return _no_counterpart(module, kind)


def _no_counterpart(module: Any, kind: str) -> str:
    name = type(module).__name__
    if kind == "static" and type(module) in get_default_dynamic_quant_module_mappings():
        return f"no statically quantized counterpart for {name}; quantize_dynamic has one"
    if kind == "dynamic" and type(module) in get_default_static_quant_module_mappings():
        return f"no dynamically quantized counterpart for {name}; prepare and convert have one"
    return f"no quantized counterpart for {name}"


def _no_qconfig(path: str, qconfigs: Mapping[str, Any], kind: str) -> str:
    """Whose qconfig it is that is None."""
    if kind == "dynamic":
        return "not asked for: no entry of qconfig_spec fits it"
    parts = path.split(".")
    above = ["", *(".".join(parts[: depth + 1]) for depth in range(len(parts)))]
    for each in above:
        if each not in qconfigs:
            return f"not reached: prepare_custom_config_dict excludes {each}"
    first = next(index for index, each in enumerate(above) if qconfigs[each] is None)
    if first == 0:
        return "no qconfig was given"
    return "qconfig is None" + ("" if above[first] == path else f", from {above[first]}")
